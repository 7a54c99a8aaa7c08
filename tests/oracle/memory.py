#!/usr/bin/env python3
"""Compares memory curves with torch.cuda.memory_stats and with tables worked out by hand.

usage: memory.py STRATA SHARED
The recordings and what the allocator itself counted are in tests/data/memory/truth.tsv; each is converted
once, and the copy must tell the same. SHARED is not used.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MIB = 1048576

problems = []


def check(what, want, got):
    if want != got:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def pools(strata, path):
    out = subprocess.run([strata, "memory", path, "--json"], check=True, capture_output=True).stdout
    return {p["pool"]: p for p in json.loads(out)["result"]["pools"]}


def live_at_peak(path):
    """Bytes of all allocations that live at the first peak, counted one by one."""
    with gzip.open(path) as file:
        events = [e for e in json.load(file)["traceEvents"] if e["name"] == "[memory]"]
    events.sort(key=lambda e: e["ts"])
    totals = [e["args"]["Total Allocated"] for e in events]
    live = {}
    for event in events[:totals.index(max(totals)) + 1]:
        args = event["args"]
        if args["Bytes"] > 0:
            live[args["Addr"]] = args["Bytes"]
        else:
            live.pop(args["Addr"], None)
    return sum(live.values()), len(live)


def check_recording(strata, row, folder):
    name, path = row["recording"], os.path.join(ROOT, row["recording"])
    pool = pools(strata, path)["device 0"]
    check(f"{name}: first", int(row["allocated_before"]), pool["first_bytes"])
    check(f"{name}: peak", int(row["allocated_peak"]), pool["peak_bytes"])
    check(f"{name}: last", int(row["allocated_after"]), pool["last_bytes"])
    check(f"{name}: reserved", int(row["reserved_peak"]), pool["peak_reserved_bytes"])
    alive, n = live_at_peak(path)
    for by in ("peak_by_operator", "peak_by_module"):
        check(f"{name}: bytes {by}", alive, sum(u["bytes"] for u in pool[by]))
        check(f"{name}: allocations {by}", n, sum(u["allocations"] for u in pool[by]))
    check(f"{name}: before", pool["peak_bytes"] - alive, pool["before_bytes"])
    copy = os.path.join(folder, os.path.basename(name)[:-3])
    subprocess.run([strata, "convert", path, "-o", copy], check=True, capture_output=True)
    again = pools(strata, copy)["device 0"]
    for key in ("events", "allocations", "peak_bytes", "peak_reserved_bytes", "peak_by_operator"):
        check(f"{name}: {key} of the copy", pool[key], again[key])


def check_ascend(strata):
    """1 MB and 3 MB live at the peak of 104 MB; 0.5 MB stays in the second step."""
    found = pools(strata, os.path.join(ROOT, "tests", "data", "memory", "ascend"))
    check("pools", ["APP", "PTA", "operators"], sorted(found))
    check("APP reserved", 512 * MIB, found["APP"]["peak_bytes"])
    check("PTA peak", 104 * MIB, found["PTA"]["peak_bytes"])
    check("PTA unused", 27.5 * MIB, found["PTA"]["unused_bytes"])
    ops = found["operators"]
    check("peak", 104 * MIB, ops["peak_bytes"])
    check("at the peak", [("aten::mm", 3 * MIB), ("aten::empty", MIB)],
          [(u["name"], u["bytes"]) for u in ops["peak_by_operator"]])
    check("before", 100 * MIB, ops["before_bytes"])
    check("allocations by step", [2, 1], [s["allocations"] for s in ops["steps"]])


def main():
    strata = sys.argv[1]
    with open(os.path.join(ROOT, "tests", "data", "memory", "truth.tsv")) as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            check_recording(strata, row, folder)
    check_ascend(strata)
    for problem in problems:
        print(problem)
    return 1 if problems or len(rows) < 3 else 0


sys.exit(main())
