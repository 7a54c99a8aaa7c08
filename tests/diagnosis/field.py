#!/usr/bin/env python3
"""Compares the verdicts of `strata diagnose` with what independent readers found in captures of others.

usage: field.py STRATA FOLDER
Where FOLDER is not there, recordings of ours stand in: tests/diagnosis/field.tsv, paths below tests/data.
FOLDER has captures and truth.tsv: the file, then what may be named first, as a regular expression over ids of causes
and their plain words. `unknown` is right only where it is written; elsewhere it is vague. Bars: none wrong, two vague.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys

VAGUE_MOST = 2
OURS = pathlib.Path(__file__).resolve().parent / "field.tsv"


def asked(strata, path, *words):
    done = subprocess.run([strata, "diagnose", str(path), "--json", *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def verdict_of(strata, path):
    """Of the slowest rank where the capture has several."""
    document = asked(strata, path)
    if "ranks" in document["schema"]:
        document = asked(strata, path, "--rank", str(document["result"]["captures"][0]["rank"]))
    verdict = document["result"]["verdict"]
    return verdict, verdict["text"]


def judge(truth, cause, text):
    plain = text.split(":")[0].split(".")[0]
    if re.search(truth, cause, re.I) or re.search(truth, plain, re.I):
        return "right"
    return "vague" if cause == "unknown" else "WRONG"


def main():
    strata, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    truths = folder / "truth.tsv"
    if not truths.exists():
        print("left out (third-party, not there): %s" % folder)
        folder, truths = OURS.parents[1] / "data", OURS
    count = {"right": 0, "vague": 0, "WRONG": 0}
    for row in csv.DictReader(open(truths), delimiter="\t"):
        file, truth = list(row.values())[:2]
        verdict, text = verdict_of(strata, folder / file)
        found = judge(truth, verdict["cause"], text)
        count[found] += 1
        print("%-24s %-22s %-9s %-6s %s" % (file, verdict["cause"], verdict["confidence"], found, truth))
    print(", ".join("%d %s" % (n, word.lower()) for word, n in count.items()))
    return 1 if count["WRONG"] > 0 or count["vague"] > VAGUE_MOST else 0


if __name__ == "__main__":
    sys.exit(main())
