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
    result = json.loads(run.stdout)["result"]["kernels"][0]
    if (result["kernel"], result["arch"]) != (kernel["func"], kernel["target_arch"]):
        print("%s: %s of %s" % (name, result["kernel"], result["arch"]))
        bad += 1
    for arg in kernel["args"]:
        mine = result["arguments"][arg["index"]]
        got = [mine["name"], "elements" in mine]
        want = [arg["ssa"].lstrip("%"), arg["pointer"]]
        if arg["pointer"]:
            pointers += 1
            got += ["!pto.ptr<%s>" % mine["type"], mine["elements"], mine["dynamic"]]
            want += [arg["type"], arg["elements"], arg["has_dynamic_dim"]]
        if got != want:
            print("%s: %s, expected %s" % (name, got, want))
            bad += 1
print("%d kernels, %d pointers, %d wrong" % (len(expected), pointers, bad))
sys.exit(1 if bad or pointers == 0 else 0)
