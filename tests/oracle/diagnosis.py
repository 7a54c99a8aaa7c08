#!/usr/bin/env python3
"""Compares the verdicts of `strata diagnose` with the problems that recordings were planted with.

usage: diagnosis.py STRATA SHARED [--markdown]
Reads SHARED/data/diagnosis, tests/data/planted and its later/, third/, fourth/ and fifth/ (each recorded once every
limit was fixed): programs with one planted problem each, their repaired twins, and programs without one. A
verdict is right when it is one of `expected_first_cause`. Bars: all of the first set and nine of ten of the
others; healthy programs are never accused; of what is called sure, 95 % is right, and of its savings 95 % hold:
"about" within 12 points, "up to" and "at least" on their side, with 6 points for the error. The share of a slow
step depends on how often it comes and is not compared. `--markdown` prints the table of docs/diagnosis.md.
"""
import csv
import json
import pathlib
import subprocess
import sys

from samples import Samples

PLANTED = pathlib.Path(__file__).resolve().parent.parent / "data" / "planted"
SETS = (("samples", 1.0), ("planted", 0.9), ("later", 0.9), ("third", 0.9), ("fourth", 0.9), ("fifth", 0.9))
HEAD = ["set", "case", "right causes", "verdict", "saves %", "true %", "confidence", ""]
WORDS = {"about": "", "at_most": "≤ ", "at_least": "≥ ", "in_recording": "once "}


def diagnose(strata, path):
    command = [strata, "diagnose", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result"]


def true_saving(row):
    if not row["fixed_mean_ms"]:
        return ""
    return "%.0f" % (100 * (1 - float(row["fixed_mean_ms"]) / float(row["sick_mean_ms"])))


def is_far(verdict, true):
    """Whether a saving is not what its wording says."""
    off = 100 * verdict["saving_share"] - float(true)
    return {"about": abs(off) > 12, "at_most": off < -6, "at_least": off > 6, "in_recording": False}[
        verdict["saving_bound"]]


def judge(strata, name, folder):
    """One list of cells for each case of a folder, and the twins whose planted cause is still named."""
    rows, accused = [], []
    for row in csv.DictReader(open(folder / "savings.tsv"), delimiter="\t"):
        if not (folder / (row["case"] + ".json.gz")).exists():
            continue  # too large to be kept
        verdict = diagnose(strata, folder / (row["case"] + ".json.gz"))["verdict"]
        right, true = row["expected_first_cause"].split("|"), true_saving(row)
        rows.append([name, row["case"], ", ".join(right), verdict["cause"],
                     WORDS[verdict["saving_bound"]] + "%.0f" % (100 * verdict["saving_share"]), true,
                     verdict["confidence"], ("right" if verdict["cause"] in right else "WRONG") +
                     (", saving far off" if true and is_far(verdict, true) else "")])
        twin = folder / ("fixed_%s.json.gz" % row["case"])
        if twin.exists():
            after = diagnose(strata, twin)["verdict"]
            if after["cause"] == verdict["cause"] and after["confidence"] == "sure":
                accused.append("%s: the repaired twin is still %s (%.0f %%)" %
                               (row["case"], after["cause"], 100 * after["saving_share"]))
    return rows, accused


def is_right(row):
    return row[7].startswith("right")


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
    for name, _ in SETS:
        where = folder if name == "samples" else PLANTED / ("" if name == "planted" else name)
        if where is None:
            continue
        more, accused = judge(strata, name, where)
        rows += more
        twins += accused
    show(rows, "--markdown" in sys.argv)
    print("\n".join(twins))
    for name, least in SETS:
        mine = [r for r in rows if r[0] == name]
        right = sum(is_right(r) for r in mine)
        print("%s: %d of %d right" % (name, right, len(mine)))
        if mine and right < least * len(mine):
            wrong.append("%s: only %d of %d right" % (name, right, len(mine)))
    sure = [r for r in rows if r[6] == "sure"]
    valued = [r for r in sure if r[5] and not r[4].startswith("once")]
    far = sum("far off" in r[7] for r in valued)
    print("sure: %d of %d right, %d of %d savings hold" %
          (sum(map(is_right, sure)), len(sure), len(valued) - far, len(valued)))
    if sum(not is_right(r) for r in sure) > 0.05 * len(sure):
        wrong.append("too much is called sure")
    if far > 0.05 * len(valued):
        wrong.append("too many savings of what is called sure are far off")
    for r in rows:
        if r[1].startswith("healthy") and not is_right(r):
            wrong.append("%s is called %s" % (r[1], r[3]))
    print("\n".join(wrong))
    return samples.exit_code(wrong)


sys.exit(main())
