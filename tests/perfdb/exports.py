#!/usr/bin/env python3
"""exports - `db parse` of the database of an Ascend run: the same rows as from its text, and nothing false.

usage: exports.py STRATA
A run is made in both forms. Then the database is damaged as exports have been seen: columns swapped, a product with the
shapes of another kernel, MemSet without shapes beside a product. No such time may reach a table, and each is counted.
"""
import csv
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

STRATA = str(pathlib.Path(sys.argv[1]).resolve())
KEY = ("Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats")
FIGURES = ("Profiling Average Duration(us)", "Profiling Median Duration(us)", "Profiling Std Duration(us)")


def parse(source, database):
    done = subprocess.run([STRATA, "db", "parse", "--profiling-path", source, "--database-path", database, "--json"],
                          capture_output=True, text=True, check=True)
    rows = {}
    for path in database.glob("*.csv"):
        with open(path, newline="", encoding="utf-8-sig") as f:
            for row in csv.DictReader(f):
                rows[(path.stem,) + tuple(row[c].strip('"') for c in KEY)] = tuple(row[c] for c in FIGURES)
    return rows, json.loads(done.stdout)["result"]


def damage(path):
    """Returns how many kernels became wrong in each way."""
    db = sqlite3.connect(path)

    def text(value):
        found = db.execute("SELECT id FROM STRING_IDS WHERE value = ?", (value,)).fetchone()
        if found is None:
            top = db.execute("SELECT max(id) FROM STRING_IDS").fetchone()[0]
            db.execute("INSERT INTO STRING_IDS (id, value) VALUES (?, ?)", (top + 1, value))
            return top + 1
        return found[0]

    products = [r[0] for r in db.execute(
        "SELECT c.rowid FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.opType WHERE s.value LIKE 'MatMulV%' "
        "ORDER BY c.rowid")]
    assert len(products) >= 6
    for row in products[:2]:
        db.execute("UPDATE COMPUTE_TASK_INFO SET inputShapes = inputDataTypes, inputDataTypes = inputShapes "
                   "WHERE rowid = ?", (row,))
    for row in products[2:4]:
        db.execute("UPDATE COMPUTE_TASK_INFO SET inputShapes = ?, outputShapes = ? WHERE rowid = ?",
                   (text("4096,7168;7168,64"), text("4096,65"), row))
    for row in products[4:6]:
        db.execute("UPDATE COMPUTE_TASK_INFO SET opType = ?, inputShapes = ?, outputShapes = ? WHERE rowid = ?",
                   (text("MemSet"), text("N/A"), text("N/A"), row))
    db.commit()
    db.close()
    return 6


def main():
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        here = pathlib.Path(scratch)
        subprocess.run([STRATA, "synth", "-q", "-o", here / "run", "--formats", "text,db", "--model", "deepseek",
                        "--layers", "2", "--steps", "2", "--mode", "train"], stdout=subprocess.DEVNULL, check=True)
        output = here / "run/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
        base = output / "ascend_pytorch_profiler_0.db"
        text, _ = parse(output / "kernel_details.csv", here / "text")
        database, told = parse(base, here / "base")
        if text != database:
            problems.append("text and database differ: %s" % sorted(text.items() ^ database.items())[:4])
        if len(text) < 10 or told["kernels_left_out"] != 0:
            problems.append("%d rows, %d kernels left out" % (len(text), told["kernels_left_out"]))
        wrong = damage(base)
        damaged, told = parse(base, here / "damaged")
        if told["kernels_left_out"] != wrong:
            problems.append("%d kernels are wrong, %d were left out" % (wrong, told["kernels_left_out"]))
        if told["kernels"] - wrong - told["kernels_in_rows"] != 4: # collectives have no recorded size
            problems.append("%(kernels)d kernels, %(kernels_in_rows)d in rows" % told)
        problems += ["not in the text: %s" % (key,) for key in damaged if key not in text]
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
