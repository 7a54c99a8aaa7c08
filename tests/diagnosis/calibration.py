#!/usr/bin/env python3
"""How often verdicts are right, by the word they are told with.

usage: calibration.py STRATA [FIELD]
All captures with a known truth: recordings of programs with one planted problem each and their sets (tests/data), and,
where FIELD is given, captures of others with the truth written by independent readers (see field.py). Prints the table
of docs/diagnosis.md. Bars: 95 % of what is called sure, 80 % of likely and 50 % of possible is right.
"""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from field import judge, verdict_of  # noqa: E402 (beside this file)

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
SETS = ("planted", "planted/later", "planted/third", "planted/fourth", "diagnosis")
BARS = {"sure": 95, "likely": 80, "possible": 50, "unknown": 0}


def planted(strata):
    for name in SETS:
        folder = DATA / name
        for row in csv.DictReader(open(folder / "savings.tsv"), delimiter="\t"):
            path = folder / (row["case"] + ".json.gz")
            if path.exists():
                verdict, _ = verdict_of(strata, path)
                yield name, verdict, verdict["cause"] in row["expected_first_cause"].split("|")


def others(strata, folder):
    for row in csv.DictReader(open(folder / "truth.tsv"), delimiter="\t"):
        file, truth = list(row.values())[:2]
        verdict, text = verdict_of(strata, folder / file)
        yield "others", verdict, judge(truth, verdict["cause"], text) == "right"


def main():
    strata = sys.argv[1]
    found = list(planted(strata))
    if len(sys.argv) > 2:
        found += others(strata, pathlib.Path(sys.argv[2]))
    bad = []
    print("| called | verdicts | right | % | of these in captures of others |\n|---|---|---|---|---|")
    for word, least in BARS.items():
        mine = [(where, right) for where, verdict, right in found if verdict["confidence"] == word]
        right = sum(r for _, r in mine)
        foreign = [r for where, r in mine if where == "others"]
        share = 100 * right / len(mine) if mine else 100
        print("| %s | %d | %d | %.0f | %d of %d |" % (word, len(mine), right, share, sum(foreign), len(foreign)))
        if share < least:
            bad.append("%s: %.0f %% right, %d wanted" % (word, share, least))
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main())
