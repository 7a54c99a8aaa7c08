#!/usr/bin/env python3
"""step-lengths.py STRATA NAME CAPTURE... - lengths of units that captures have, as a list for step_lengths.h.

Of each kind of units with at least five, or with --kernels of each kernel with as many calls, the lengths over their
mean; of all of them together 100 quantiles, scaled to mean 1. Kinds that vary by more than 6 % stay out:
no rule tells 5 % with thirty such units.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

MOST = 0.06


def ratios(lengths, most):
    mean = sum(lengths) / len(lengths)
    if len(lengths) < 5 or mean <= 0:
        return []
    spread = math.sqrt(sum((x - mean) ** 2 for x in lengths) / len(lengths)) / mean
    return [x / mean for x in lengths] if 0 < spread <= most else []


def of_units(strata, path):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "runs.json")
        subprocess.run([strata, "check", path, "--record", file, "--quiet"], capture_output=True, check=False)
        if not os.path.exists(file):
            return []
        with open(file, encoding="utf-8") as f:
            runs = json.load(f)["runs"]
    return [x for run in runs for x in ratios(run["kinds"][0]["length_ns"], MOST)]


def of_kernels(strata, path):
    query = "select coalesce(type, name) || coalesce(input_shapes, ''), dur from kernels"
    done = subprocess.run([strata, "query", path, query, "--json"], capture_output=True, text=True, check=True)
    lengths = {}
    for name, duration in json.loads(done.stdout)["result"]["rows"]:
        lengths.setdefault(name, []).append(duration)
    return [x for values in lengths.values() for x in ratios(values, 2.5 * MOST)]


def main():
    strata, name, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    read = of_units
    if paths[0] == "--kernels":
        read, paths = of_kernels, paths[1:]
    pool = sorted(x for path in paths for x in read(strata, path))
    quantiles = [pool[int((i + 0.5) * len(pool) / 100)] for i in range(100)]
    mean = sum(quantiles) / len(quantiles)
    print(f"/* {name}: {len(pool)} lengths */")
    print(", ".join(f"{x / mean:.4f}" for x in quantiles))


main()
