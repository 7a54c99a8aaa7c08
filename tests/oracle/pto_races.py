#!/usr/bin/env python3
"""Races: none in the public kernels; all that a missing flag makes are found. Usage: pto_races.py STRATA MUTANTS SHARED"""
import subprocess
import sys

from samples import Samples

strata, mutants, samples = sys.argv[1], sys.argv[2], Samples(sys.argv[3])
files = sorted(map(str, samples.glob("pto/corpus/**/*.pto")))
if not files:
    sys.exit(samples.exit_code(False))
check = subprocess.run([strata, "pto", "check", "--races"] + files, capture_output=True, text=True)
print(*(line for line in check.stdout.splitlines() if "   ok: " not in line), sep="\n")
judged = subprocess.run([mutants, "2"] + files[::4], capture_output=True, text=True)
print(judged.stdout, end="")
sys.exit(1 if check.returncode or "pto-race" in check.stdout or judged.returncode else 0)
