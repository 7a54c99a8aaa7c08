#!/usr/bin/env python3
"""What bounds a kernel, ours and public ones, agrees with its critical path and what-if.
Usage: pto_verdict.py STRATA SHARED"""
import json
import pathlib
import subprocess
import sys
import tempfile

import kernels
from samples import Samples

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pto"))
from agree import problems  # noqa: E402

strata, samples = sys.argv[1], Samples(sys.argv[2])
public = [*samples.glob("pto/corpus/**/*.pto"), *samples.glob("incore/pto/*.pto")]


def sim(files, *argv):
    run = subprocess.run([strata, "pto", "sim", "--json", *argv, *files], capture_output=True, text=True)
    return json.loads(run.stdout)["result"]["kernels"]


with tempfile.TemporaryDirectory() as folder:
    ours = kernels.write(folder).values()
    files = list(map(str, [*ours, *public]))
    whole, quick = sim(files, "--what-if"), sim(files)
bad = [text for result in whole for text in problems(result)]
bad += ["%s: %s when all is tried, else %s" % (a["path"], a["bound"], b["bound"])
        for a, b in zip(whole, quick) if a["bound"] != b["bound"]]
if len(whole) != len(quick) or len(whole) < len(ours):
    bad.append("%d kernels with what-if, %d without, %d of ours" % (len(whole), len(quick), len(ours)))
for text in bad:
    print(text)
print("%d kernels, %d contradictions; bound by %s" % (
    len(whole), len(bad), ", ".join(sorted({result["bound"] for result in whole}))))
samples.found += len(ours)
sys.exit(samples.exit_code(bad))
