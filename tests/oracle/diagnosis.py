#!/usr/bin/env python3
"""Compares the verdicts of `strata diagnose` with the problems that recordings were planted with.

usage: diagnosis.py STRATA SHARED [--markdown]
Reads SHARED/data/diagnosis, tests/data/planted and its later/ (recorded once every limit was fixed):
programs with one planted problem each, their repaired
twins, and programs without one. A verdict is right when it is one of `expected_first_cause`. Bars:
all of the first set and nine of ten of the others; healthy programs are never accused; of what is called
sure, 95 % is right. `--markdown` prints the table of docs/diagnosis.md.
"""
import csv
import json
import pathlib
import subprocess
import sys

from samples import Samples

PLANTED = pathlib.Path(__file__).resolve().parent.parent / "data" / "planted"
HEAD = ["set", "case", "right causes", "verdict", "saves %", "true %", "confidence", ""]


def diagnose(strata, path):
    command = [strata, "diagnose", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result"]


def true_saving(row):
    if not row["fixed_mean_ms"]:
        return ""
    return "%.0f" % (100 * (1 - float(row["fixed_mean_ms"]) / float(row["sick_mean_ms"])))


def judge(strata, name, folder):
    """One list of cells for each case of a folder, and the twins whose planted cause is still named."""
    rows, accused = [], []
    for row in csv.DictReader(open(folder / "savings.tsv"), delimiter="\t"):
        if not (folder / (row["case"] + ".json.gz")).exists():
            continue  # too large to be kept
        verdict = diagnose(strata, folder / (row["case"] + ".json.gz"))["verdict"]
        right = row["expected_first_cause"].split("|")
        rows.append([name, row["case"], ", ".join(right), verdict["cause"],
                     "%.0f" % (100 * verdict["saving_share"]), true_saving(row), verdict["confidence"],
                     "right" if verdict["cause"] in right else "WRONG"])
        twin = folder / ("fixed_%s.json.gz" % row["case"])
        if twin.exists():
            after = diagnose(strata, twin)["verdict"]
            if after["cause"] == verdict["cause"] and after["confidence"] == "sure":
                accused.append("%s: the repaired twin is still %s (%.0f %%)" %
                               (row["case"], after["cause"], 100 * after["saving_share"]))
    return rows, accused


def show(rows, is_markdown):
    if is_markdown:
        print("| %s |\n|%s" % (" | ".join(HEAD), "---|" * len(HEAD)))
        for row in rows:
            print("| %s |" % " | ".join(row))
        return
    widths = [max(len(r[i]) for r in rows + [HEAD]) for i in range(len(HEAD))]
    for row in [HEAD] + rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    folder = samples.path("diagnosis")
    rows, twins, wrong = [], [], []
    for name, where in (("samples", folder), ("planted", PLANTED), ("later", PLANTED / "later")):
        if where is None:
            continue
        more, accused = judge(strata, name, where)
        rows += more
        twins += accused
    show(rows, "--markdown" in sys.argv)
    print("\n".join(twins))
    for name, least in (("samples", 1.0), ("planted", 0.9), ("later", 0.9)):
        mine = [r for r in rows if r[0] == name]
        right = sum(r[7] == "right" for r in mine)
        print("%s: %d of %d right" % (name, right, len(mine)))
        if mine and right < least * len(mine):
            wrong.append("%s: only %d of %d right" % (name, right, len(mine)))
    sure = [r for r in rows if r[6] == "sure"]
    print("sure: %d of %d right" % (sum(r[7] == "right" for r in sure), len(sure)))
    if sum(r[7] != "right" for r in sure) > 0.05 * len(sure):
        wrong.append("too much is called sure")
    for r in rows:
        if r[1].startswith("healthy") and r[7] != "right":
            wrong.append("%s is called %s" % (r[1], r[3]))
    print("\n".join(wrong))
    return samples.exit_code(wrong)


sys.exit(main())
