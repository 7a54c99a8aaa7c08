#!/usr/bin/env python3
"""splits - predictions of rows that are left out of examples/perfdb/h200.

usage: splits.py STRATA [-v]
30 % of the rows of each table are removed and asked of the rest: at random, SEEDS times, and the longest. The bars are
those that docs/perfdb.md promises, with room for nothing but rounding. With -v every operator is listed.
"""
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples/perfdb/h200"
DURATION, SHAPES, TYPES = "Profiling Average Duration(us)", "Input Shapes", "Input Data Types"
SEEDS, SHARE = 20, 0.3


def read_tables():
    tables = {}
    for path in sorted(SOURCE.glob("*.csv")):
        with open(path, newline="", encoding="utf-8-sig") as f:
            rows = list(csv.DictReader(f))
        tables[path.stem] = rows
    return tables


def ask(strata, tables, removed):
    """(operator, measured, answer) of every removed row."""
    lines, measured = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "h200"
        folder.mkdir()
        for name, rows in tables.items():
            with open(folder / (name + ".csv"), "w", newline="", encoding="utf-8") as f:
                out = csv.DictWriter(f, rows[0].keys())
                out.writeheader()
                out.writerows(r for i, r in enumerate(rows) if i not in removed[name])
            for i in sorted(removed[name]):
                lines.append(json.dumps({"kernel": name, "shapes": rows[i][SHAPES].strip('"'),
                                         "dtypes": rows[i][TYPES]}))
                measured.append((name, float(rows[i][DURATION])))
        done = subprocess.run([strata, "db", "query", "--database-path", folder, "--stdin"], text=True,
                              input="\n".join(lines) + "\n", capture_output=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines), done.stderr
    return [(name, us, answer) for (name, us), answer in zip(measured, answers)]


def judge(trials):
    """Median, 90th percentile of the errors in %, share inside the interval in %; a miss is an error of 100 %."""
    errors = sorted(abs(a["latency_us"] / us - 1) if "latency_us" in a else 1.0 for _, us, a in trials)
    inside = sum("latency_us" in a and a["interval_low_us"] <= us <= a["interval_high_us"] for _, us, a in trials)
    return (100 * errors[len(errors) // 2], 100 * errors[math.ceil(0.9 * len(errors)) - 1], 100 * inside / len(errors))


def report(title, trials, names):
    print("%-32s %5s %8s %8s %8s" % (title, "rows", "median", "p90", "inside"))
    for name in [None] + names:
        own = [t for t in trials if name in (None, t[0])]
        print("  %-30s %5d %7.1f%% %7.1f%% %7.1f%%" % ((name or "all", len(own)) + judge(own)))


def main():
    strata = str(pathlib.Path(sys.argv[1]).resolve())
    tables, at_random, longest = read_tables(), [], {}
    for seed in range(SEEDS):
        dice = random.Random(seed)
        removed = {n: set(dice.sample(range(len(r)), round(SHARE * len(r)))) for n, r in tables.items()}
        at_random += ask(strata, tables, removed)
    for name, rows in tables.items():
        order = sorted(range(len(rows)), key=lambda i: -float(rows[i][DURATION]))
        longest[name] = set(order[:round(SHARE * len(rows))])
    beyond = ask(strata, tables, longest)
    if "-v" in sys.argv:
        report("at random", at_random, list(tables))
        report("longest", beyond, list(tables))
    good = True
    for title, trials, median, p90, low, high in (("at random", at_random, 2.25, 14, 78, 88),
                                                  ("longest", beyond, 9, 40, 75, 100)):
        got = judge(trials)
        print("%s: median %.1f %%, 90th percentile %.1f %%, %.1f %% inside" % ((title,) + got))
        good &= got[0] <= median and got[1] <= p90 and low <= got[2] <= high
    sys.exit(0 if good else "worse than docs/perfdb.md says")


if __name__ == "__main__":
    main()
