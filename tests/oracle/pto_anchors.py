#!/usr/bin/env python3
"""Hardware anchors of whole kernels: GEMM on 24 cores. Usage: pto_anchors.py STRATA SHARED"""
import csv
import json
import os
import subprocess
import sys

from samples import Samples

strata, samples = sys.argv[1], Samples(sys.argv[2])
folder = samples.path("pto/anchors")
if folder is None:
    sys.exit(samples.exit_code(False))

MHZ = 1850
bad = 0


def check(what, got, measured, bar):
    global bad
    error = got / measured - 1
    bad += abs(error) > bar
    print("  %-12s %12.1f  measured %12.1f  %+6.1f %%  %s"
          % (what, got, measured, 100 * error, "" if abs(error) <= bar else "too far"))


with open(os.path.join(folder, "gemm_hardware.csv")) as f:
    for row in csv.DictReader(f):
        path = os.path.join(folder, row["kernel"] + "_core.pto")
        run = subprocess.run([strata, "pto", "sim", path, "--target", "a2a3", "--cores",
                              row["cores"], "--sync", "dep", "--json"],
                             capture_output=True, text=True, check=True)
        result = json.loads(run.stdout)["result"]["kernels"][0]
        busy = {p["pipe"]: p["busy_cycles"] for p in result["pipes"]}
        total = float(row["time_ms"]) * 1000 * MHZ
        print(row["kernel"])
        check("total", result["cycles"], total, 0.15)
        for pipe, column, bar in (("CUBE", "tmatmul", 0.05), ("MTE1", "textract", 0.05),
                                  ("FIXP", "tstore", 0.05), ("MTE2", "tload", 0.15)):
            check(pipe, busy[pipe], total * float(row[column + "_busy_pct"]) / 100, bar)
sys.exit(1 if bad else 0)
