#!/usr/bin/env python3
"""Sizes of the buffers behind pointer arguments. Usage: pto_sizes.py STRATA SHARED"""
import json
import os
import subprocess
import sys

from samples import Samples

strata, samples = sys.argv[1], Samples(sys.argv[2])
folder = samples.path("incore/pto")
if folder is None:
    sys.exit(samples.exit_code(False))

with open(os.path.join(folder, "expected_sizes.json")) as f:
    expected = json.load(f)
bad = pointers = 0
for name, kernel in sorted(expected.items()):
    run = subprocess.run([strata, "pto", "sim", os.path.join(folder, name), "--json"],
                         capture_output=True, text=True)
    got = json.loads(run.stdout)["result"][0]["arguments"]
    for arg in kernel["args"]:
        mine = got[arg["index"]]
        if not arg["pointer"]:
            bad += "elements" in mine
            continue
        pointers += 1
        if mine.get("elements") != arg["elements"] or mine["dynamic"] != arg["has_dynamic_dim"]:
            print("%s: %s: %s, expected %d" % (name, arg["ssa"], mine, arg["elements"]))
            bad += 1
print("%d kernels, %d pointers, %d wrong" % (len(expected), pointers, bad))
sys.exit(1 if bad or pointers == 0 else 0)
