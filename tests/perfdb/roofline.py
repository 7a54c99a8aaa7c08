#!/usr/bin/env python3
"""roofline.py STRATA - db accuracy on rooflines in tiles that this script makes by formulas of its own: other tiles,
numbers of cores, grids and noises; edge tiles whole or cut. The error of rows that are left out and the share that
their interval holds must be what docs/perfdb.md promises."""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
HEAD = ["OP State", "Input Shapes", "Input Data Types", "Input Formats", "Average Duration(us)"]
# rows and columns of a tile, cores, cut at the edge, TFLOP/s, GB/s, launch in us, noise, bytes of a number and its type
DEVICES = [
    (128, 256, 132, False, 800, 4000, 3.0, 0.02, 2, "DT_BF16"),
    (256, 128, 24, True, 350, 1500, 8.0, 0.01, 2, "DT_FLOAT16"),
    (192, 128, 108, True, 600, 2000, 4.0, 0.03, 1, "INT8"),
]


def time(device, m, k, n):
    rows, columns, cores, is_cut, tflops, gbps, launch, _, size, _ = device
    tiles = math.ceil(m / rows) * math.ceil(n / columns)
    share = tiles / (math.ceil(tiles / cores) * cores)
    products = m * n if is_cut else tiles * rows * columns
    compute = 2 * products * k / (tflops * 1e6) / share
    memory = size * (m * k + k * n + m * n) / (gbps * 1e3)
    return launch + max(compute, memory)


def shapes(number, rnd):
    if number % 2 == 0:
        return [(2 ** i + 37 * (i % 3), k, n) for i in range(14) for k in (1024, 4096, 8192) for n in (1536, 4096, 11008)]
    return [tuple(int(2 ** rnd.uniform(low, high)) for low, high in ((0, 13), (8, 13), (8, 13.5))) for _ in range(250)]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as work:
        for number, device in enumerate(DEVICES):
            rnd = random.Random(number)
            folder = os.path.join(work, f"d{number}")
            os.mkdir(folder)
            with open(os.path.join(folder, "MatMulV2.csv"), "w", newline="") as f:
                out = csv.writer(f, lineterminator="\n")
                out.writerow(HEAD)
                for m, k, n in shapes(number, rnd):
                    us = time(device, m, k, n) * math.exp(rnd.gauss(0, device[7]))
                    kind = device[9]
                    out.writerow(["static", f'"{m},{k};{k},{n}"', f"{kind};{kind}", "ND;ND", f"{us:.4f}"])
            done = subprocess.run([STRATA, "db", "accuracy", "--database-path", folder, "--json"], capture_output=True)
            judged = json.loads(done.stdout)["result"]["leave_one_out"]
            median, p95, held = (judged[name] for name in ("median_error", "p95_error", "interval_coverage"))
            if not (median <= 0.05 and p95 <= 0.15 and 0.75 <= held <= 0.85):
                problems.append(f"{device}: median {median:.1%}, p95 {p95:.1%}, {held:.1%} inside")
    print("\n".join(problems) or f"{len(DEVICES)} rooflines")
    sys.exit(bool(problems))


main()
