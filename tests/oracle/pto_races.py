#!/usr/bin/env python3
"""Races: none in correct kernels, ours and public ones; all that a missing flag makes are found.
Usage: pto_races.py STRATA MUTANTS SHARED"""
import re
import subprocess
import sys
import tempfile

import kernels
from samples import Samples

strata, mutants, samples = sys.argv[1], sys.argv[2], Samples(sys.argv[3])
bad = False


def judge(files, mutated, most):
    """Checks `files` and up to `most` mutants of each kind of `mutated`; how many were races."""
    global bad
    check = subprocess.run([strata, "pto", "check", "--races", *files], capture_output=True, text=True)
    judged = subprocess.run([mutants, str(most), *mutated], capture_output=True, text=True)
    print("".join(line + "\n" for line in check.stdout.splitlines() if "   ok: " not in line) + judged.stdout, end="")
    rows = [tuple(map(int, row)) for row in re.findall(r"(\d+) not redundant, +(\d+) found", judged.stdout)]
    bad |= bool(check.returncode or "pto-race" in check.stdout or judged.returncode)
    bad |= len(rows) != 3 or any(races != found for races, found in rows)
    return sum(found for _, found in rows)


with tempfile.TemporaryDirectory() as folder:
    # It reads a tile that nothing writes, on purpose.
    ours = [str(path) for name, path in kernels.write(folder).items() if name != "tests/data/pto/fine.pto"]
    if judge(ours, ours, 60) < 100:
        print("too few races to judge by")
        bad = True
public = list(map(str, samples.glob("pto/corpus/**/*.pto")))
if public:
    judge(public, public[::4], 2)
samples.found += len(ours)
sys.exit(samples.exit_code(bad))
