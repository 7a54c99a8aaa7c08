#!/usr/bin/env python3
"""simulate.py STRATA [PAIRS [SEED]] - how often the gate errs on whole recordings.

Pairs of recordings with thirty units a side are written in each layout (Kineto with marks and without, Ascend, nsys) and
compared by the command. Lengths of units are those that captures have (step_lengths.h), some with neighbours correlated by
0.6; B takes as long, 5 % or 10 % longer. PAIRS is the number of pairs for each layout, set-up and change; a few are part
of the tests. gate_errors has the same rule with more trials and without files. Ends with 1 when more err than is promised.
"""
import concurrent.futures
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from recordings import LAYER, ascend, kineto, nsys

STRATA = os.path.abspath(sys.argv[1])
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 20261119
UNITS = 30
HERE = os.path.dirname(os.path.abspath(__file__))


def read_lengths():
    with open(os.path.join(HERE, "step_lengths.h"), encoding="utf-8") as f:
        found = re.findall(r'\{"([^"]*)",\s*(true|false),\s*\d+,\s*\{([^}]*)\}', f.read())
    return {name: (kind == "true", [float(x) for x in numbers.split(",")]) for name, kind, numbers in found}


LENGTHS = read_lengths()
LAYOUTS = [
    # name, how it is written, marked, whose lengths
    ("Kineto, steps", kineto, True, "Kineto, steps"),
    ("Kineto, unmarked", lambda path, rows: kineto(path, rows, False), False, "Kineto, layers unmarked"),
    ("Ascend, unmarked", ascend, False, "Ascend, of kernels"),
    ("nsys, unmarked", nsys, False, "nsys, training unmarked"),
]
# name, correlation of neighbours, options; promised: 5 % of steps found in, 10 % of all and of steps
SET_UPS = [("allowance 1 %", 0.0, [], 0, 0.90, 0.90), ("correlated 0.6", 0.6, [], 0, 0, 0.90),
           ("--noise 0", 0.0, ["--noise", "0"], 0.95, 0.90, 0.95)]
CHANGES = (0.0, 0.05, 0.10)
KERNELS = 16  # of a unit that is made of them, half as slow as the unit, half by themselves


def units(rng, source, rho, factor, n):
    is_kernels, lengths = source

    def by_rank(z):
        return lengths[min(int(statistics.NormalDist().cdf(z) * len(lengths)), len(lengths) - 1)]

    z, out = rng.gauss(0, 1), []
    for _ in range(n):
        own = [by_rank(math.sqrt(0.5) * (z + rng.gauss(0, 1))) for _ in range(KERNELS)] if is_kernels else [by_rank(z)]
        out.append(factor * sum(own) / len(own))
        z = rho * z + math.sqrt(1 - rho * rho) * rng.gauss(0, 1)
    return out


def rows_of(rng, lengths, is_marked):
    """Kernels of one layer a unit; with marks one unit more, as the first is left out, else the begin of one more."""
    at, rows = 1000.0, []
    for step, length in enumerate(lengths):
        begin = at
        for name, each in [("embedding", 15)] + LAYER:
            each *= length * rng.gauss(1, 0.002)
            rows.append((name, at, at + each, step, "step"))
            at += each + 3 * length
        at += 20 * length
        rows[-1] += (begin,)
    if not is_marked:
        rows.append(("embedding", at, at + 15, len(lengths), "step", at))
    return rows


def one_pair(task):
    layout, set_up, change, seed = task
    name, write, is_marked, source = LAYOUTS[layout]
    rng = random.Random(seed)
    folder = tempfile.mkdtemp()
    try:
        paths = [os.path.join(folder, side + (".json" if write not in (ascend, nsys) else "")) for side in "ab"]
        for path, factor in zip(paths, (1, 1 + change)):
            write(path, rows_of(rng, units(rng, LENGTHS[source], SET_UPS[set_up][1], factor, UNITS + is_marked), is_marked))
        done = subprocess.run([STRATA, "diff", *paths, "--json", "--jobs", "1", *SET_UPS[set_up][2]], capture_output=True,
                              text=True, check=True)
        found = json.loads(done.stdout)["result"]["comparisons"][0]
        counted = found["kinds"][0]["units_a"] if found["kinds"] else 0
        if counted != UNITS:
            return f"{name}: {counted} units: {found['text']}"
        return found["gate"]
    finally:
        shutil.rmtree(folder)


def over(count, promise):
    """More than a share of `promise` explains, by three standard deviations and one."""
    return count > PAIRS * promise + 3 * math.sqrt(PAIRS * promise * (1 - promise)) + 1


def main():
    print(f"{PAIRS} pairs each, seed {SEED}; {UNITS} units a side, limit 5 %")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for set_up, (set_name, _, _, found5, found10, steps10) in enumerate(SET_UPS):
            for layout, (name, *_) in enumerate(LAYOUTS):
                counts = {}
                for change in CHANGES:
                    seeds = [(layout, set_up, change, f"{SEED}/{layout}/{set_up}/{change}/{i}") for i in range(PAIRS)]
                    verdicts = list(pool.map(one_pair, seeds))
                    for strange in {v for v in verdicts if v not in ("pass", "fail", "cannot tell")}:
                        print("failed: " + strange)
                        bad += 1
                    counts[change] = [verdicts.count(v) for v in ("pass", "fail")]
                lost5, lost10 = PAIRS - counts[0.05][1], PAIRS - counts[0.10][1]
                is_bad = (over(counts[0.0][1], 0.01) or over(counts[0.05][0], 0.01) or over(lost10, 1 - found10) or
                          (layout == 0 and (over(lost10, 1 - steps10) or over(lost5, 1 - found5))))
                bad += is_bad
                print(f"{set_name:16} {name:18} alarms {counts[0.0][1]:4}  5 % passes {counts[0.05][0]:4}"
                      f"  5 % found {counts[0.05][1]:4}  10 % found {counts[0.10][1]:4}{'  <--' if is_bad else ''}", flush=True)
    return bad > 0


sys.exit(main())
