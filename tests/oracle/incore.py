#!/usr/bin/env python3
"""Compares `strata incore clean --compat` with what the public cleaner made of the same files.

usage: incore.py STRATA SHARED [PART-OF-A-CASE-NAME]
A case is incore/clean/<case>: visualize_data.bin, case.json and expected/. Files must be the same in
number and, parsed, in value; exit codes and messages too, but for the words of a JSON parser.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from samples import Samples

FREE = (": TRACE block: ", ": API_INSTR block: ")  # what follows is the parser's own


def told(case, key):
    return case["expected_" + key if "expected_" + key in case else "reference_" + key]


def free_words(text):
    lines = []
    for line in text.splitlines():
        for mark in FREE:
            if mark in line:
                line = line[:line.index(mark) + len(mark)]
        lines.append(line)
    return lines


def compare(folder, strata, scratch):
    case = json.loads((folder / "case.json").read_text())
    out = scratch / "out"
    binary = folder / "visualize_data.bin"
    done = subprocess.run([strata, "incore", "clean", "--compat", "--no-copy-raw", str(binary), "-o", str(out),
                           *case["flags"]], capture_output=True, text=True)
    wrong = []
    if done.returncode != told(case, "rc"):
        wrong.append("exit code %d, not %d" % (done.returncode, told(case, "rc")))
    for key, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        expected = told(case, key).replace("<OUT>", str(out)).replace("<BIN>", str(binary))
        if free_words(text) != free_words(expected):
            wrong.append("%s is %r, not %r" % (key, text, expected))
    names = {p.name for p in (folder / "expected").glob("*")}
    made = {p.name for p in out.glob("*")}
    if names != made:
        wrong.append("files %s, not %s" % (sorted(made), sorted(names)))
    for name in names & made:
        expected, actual = (p.read_bytes() for p in (folder / "expected" / name, out / name))
        if "--raw-metrics" in case["flags"] and name == "instr_metrics.json":
            if expected != actual:
                wrong.append(name + " is not the same bytes")
        elif json.loads(expected) != json.loads(actual):
            wrong.append(name + " differs")
    shutil.rmtree(out, ignore_errors=True)
    return wrong


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    cases = samples.glob("incore/clean/c*/case.json")
    bad = tried = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in cases:
            if wanted not in path.parent.name:
                continue
            wrong = compare(path.parent, os.path.abspath(strata), pathlib.Path(scratch))
            tried += 1
            bad += bool(wrong)
            print("%s %s" % ("bad " if wrong else "good", path.parent.name))
            for line in wrong:
                print("    " + line[:600])
    print("%d of %d cases agree" % (tried - bad, tried))
    sys.exit(samples.exit_code(bad or not tried))


main()
