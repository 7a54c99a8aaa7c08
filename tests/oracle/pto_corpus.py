#!/usr/bin/env python3
"""Kernels, ours and public ones: all are read, nearly all run, in seconds, twice the same.
Usage: pto_corpus.py STRATA SHARED"""
import json
import resource
import subprocess
import sys
import tempfile

import kernels
from samples import Samples

strata, samples = sys.argv[1], Samples(sys.argv[2])
public = list(map(str, samples.glob("pto/corpus/**/*.pto")))
SECONDS = 10  # for a plain build; one with sanitizers is slower


def judge(what, files, stuck_share):
    check = subprocess.run([strata, "pto", "check", "--json", *files], capture_output=True, text=True)
    read = json.loads(check.stdout)["result"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    first = subprocess.run([strata, "pto", "sim", *files], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    again = subprocess.run([strata, "pto", "sim", *files], capture_output=True, text=True)
    refused = [f["path"] for f in read if not f["ok"]]
    stuck = [line for line in first.stdout.splitlines() if line.split()[:1] == ["-"]]
    for line in refused + stuck:
        print(line)
    print("%d %s kernels: %d refused, %d did not run, %.2f s" % (len(read), what, len(refused), len(stuck), seconds))
    problems = {
        "some were refused": refused,
        "%d were asked for" % len(files): len(read) != len(files),
        "too many did not run": len(stuck) > stuck_share * len(files),
        "the second run differs": first.stdout != again.stdout,
        "too slow": seconds > SECONDS,
    }
    print("".join("  %s\n" % text for text, is_so in problems.items() if is_so), end="")
    return any(problems.values())


with tempfile.TemporaryDirectory() as folder:
    ours = list(map(str, kernels.write(folder).values()))
    bad = judge("of our", ours, 0)
if public:
    bad |= judge("public", public, 0.05)
samples.found += len(ours)
sys.exit(samples.exit_code(bad))
