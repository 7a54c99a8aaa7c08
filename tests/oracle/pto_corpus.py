#!/usr/bin/env python3
"""The public kernels: all are read, nearly all run, in one second. Usage: pto_corpus.py STRATA SHARED"""
import json
import resource
import subprocess
import sys

from samples import Samples

strata, samples = sys.argv[1], Samples(sys.argv[2])
files = list(map(str, samples.glob("pto/corpus/**/*.pto")))
if not files:
    sys.exit(samples.exit_code(False))

check = subprocess.run([strata, "pto", "check", "--json"] + files, capture_output=True, text=True)
refused = [f for f in json.loads(check.stdout)["result"] if not f["ok"]]
before = resource.getrusage(resource.RUSAGE_CHILDREN)
first = subprocess.run([strata, "pto", "sim"] + files, capture_output=True, text=True)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
again = subprocess.run([strata, "pto", "sim"] + files, capture_output=True, text=True)
stuck = [line for line in first.stdout.splitlines() if line.split()[:1] == ["-"]]
for line in stuck:
    print(line)
print("%d kernels: %d refused, %d did not run, %.2f s" % (len(files), len(refused), len(stuck), seconds))
bad = refused or len(stuck) > 0.05 * len(files) or first.stdout != again.stdout
# A build with sanitizers or without optimisation is slower: the bar is for a plain one.
if seconds > 10:
    print("too slow")
    bad = True
sys.exit(1 if bad else 0)
