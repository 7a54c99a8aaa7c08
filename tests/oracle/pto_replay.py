#!/usr/bin/env python3
"""Recorded schedules: every start and end as recorded. Usage: pto_replay.py STRATA SHARED"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

from samples import OURS

strata, folder = sys.argv[1], OURS / "pto/vectors/replay"
scratch = tempfile.TemporaryDirectory()
path = os.path.join(scratch.name, "replay.csv")
bad = entries = 0
with open(folder / "index.csv") as f:
    rows = list(csv.DictReader(f))
for row in rows:
    with gzip.open(folder / ("replay_%s.csv.gz" % row["kernel"])) as f, open(path, "wb") as g:
        g.write(f.read())
    with open(path) as f:
        told = [(int(r["start"]), int(r["end"])) for r in csv.DictReader(f)]
    run = subprocess.run([strata, "pto", "replay", path, "--sync-base", row["sync_base"], "--json"],
                         capture_output=True, text=True)
    result = json.loads(run.stdout)["result"]
    got = [tuple(t) for t in result["times"]]
    entries += len(told)
    if got != told or result["cycles"] != int(row["total_cycles"]) or run.returncode != 0:
        wrong = sum(a != b for a, b in zip(got, told)) + abs(len(got) - len(told))
        print("%s: %d of %d entries differ, %d cycles, recorded %s"
              % (row["kernel"], wrong, len(told), result["cycles"], row["total_cycles"]))
        bad += 1
listed = {"replay_%s.csv.gz" % row["kernel"] for row in rows}
if listed != {p.name for p in folder.glob("replay_*")}:
    print("index.csv does not list the recordings that are there")
    bad += 1
print("%d recordings, %d entries, %d recordings differ" % (len(rows), entries, bad))
sys.exit(1 if bad or len(rows) == 0 else 0)
