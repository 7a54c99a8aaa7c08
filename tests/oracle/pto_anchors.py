#!/usr/bin/env python3
"""Hardware anchors of a whole kernel: GEMM on 24 cores, by time and by busy share of each pipe.

usage: pto_anchors.py STRATA
The figures are those that the PTO-ISA repository publishes for its hand-written kernel
(kernels/manual/a2a3/gemm_performance); the kernel is written here with the same schedule.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import kernels

MHZ = 1850
SHARES = (("CUBE", 0.05), ("MTE1", 0.05), ("MTE2", 0.15), ("FIXP", 0.05))
# size: milliseconds, and the busy share of CUBE, MTE1, MTE2 and FIXP in percent
MEASURED = {3072: (0.2067, 79.0, 62.0, 90.9, 5.8), 6144: (1.506, 86.7, 68.1, 95.2, 3.1)}

strata = sys.argv[1]
bad = 0


def check(what, got, measured, bar):
    global bad
    error = got / measured - 1
    bad += abs(error) > bar
    print("  %-12s %12.1f  measured %12.1f  %+6.1f %%  %s"
          % (what, got, measured, 100 * error, "" if abs(error) <= bar else "too far"))


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "gemm.pto"
    for size, (milliseconds, *shares) in MEASURED.items():
        path.write_text(kernels.gemm(size), encoding="utf-8")
        run = subprocess.run([strata, "pto", "sim", str(path), "--target", "a2a3", "--cores", "24", "--sync", "dep", "--json"],
                             capture_output=True, text=True, check=True)
        result = json.loads(run.stdout)["result"]["kernels"][0]
        busy = {p["pipe"]: p["busy_cycles"] for p in result["pipes"]}
        total = milliseconds * 1000 * MHZ
        print("%d x %d x %d" % (size, size, size))
        check("total", result["cycles"], total, 0.15)
        for (pipe, bar), share in zip(SHARES, shares):
            check(pipe, busy[pipe], total * share / 100, bar)
sys.exit(1 if bad else 0)
