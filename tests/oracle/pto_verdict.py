#!/usr/bin/env python3
"""What bounds the public kernels agrees with their critical path and what-if.
Usage: pto_verdict.py STRATA SHARED"""
import json
import pathlib
import subprocess
import sys

from samples import Samples

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pto"))
from agree import problems  # noqa: E402

strata, samples = sys.argv[1], Samples(sys.argv[2])
files = list(map(str, [*samples.glob("pto/corpus/**/*.pto"), *samples.glob("incore/pto/*.pto")]))
if not files:
    sys.exit(samples.exit_code(False))


def sim(*argv):
    run = subprocess.run([strata, "pto", "sim", "--json", *argv, *files], capture_output=True, text=True)
    return json.loads(run.stdout)["result"]["kernels"]


whole, quick = sim("--what-if"), sim()
bad = [text for result in whole for text in problems(result)]
bad += ["%s: %s when all is tried, else %s" % (a["path"], a["bound"], b["bound"])
        for a, b in zip(whole, quick) if a["bound"] != b["bound"]]
for text in bad:
    print(text)
print("%d kernels, %d contradictions" % (len(whole), len(bad)))
sys.exit(1 if bad or len(whole) != len(quick) else 0)
