#!/usr/bin/env python3
"""A folder of ranks becomes one timeline on one clock: the clock of `strata cluster`.

usage: ranks.py STRATA
"""
import collections
import csv
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RANKS = ROOT / "examples/ranks"
UNPINNED = ROOT / "examples/unpinned"
problems = []


def check(what, good):
    if not good:
        problems.append(what)


def trace(rank, base):
    """A rank of two with a step, without any collective."""
    out = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 3,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm_bf16", "pid": 0, "tid": 7, "ts": 20, "dur": 50,
         "args": {"device": rank, "stream": 7, "correlation": 1}}]}
    if base is not None:
        out["baseTimeNanoseconds"] = base
    return json.dumps(out)


def main(strata):
    def asked(*words):
        return subprocess.run([strata, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)

    def result(*words):
        return json.loads(asked(*words, "--json").stdout)["result"]

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for ending in ("csv", "db", "json", "pftrace"):
            done = asked("convert", RANKS, "-o", folder / ("all." + ending))
            check("%s: exit %d, %s" % (ending, done.returncode, done.stderr), done.returncode == 0)
        db = sqlite3.connect(folder / "all.db")
        of = collections.defaultdict(list)
        for rank, ts, dur in db.execute("SELECT rank, ts, dur FROM kernels ORDER BY rank, ts, stream"):
            of[rank].append((ts, dur))
        of_csv = collections.defaultdict(list)
        with open(folder / "all.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                of_csv[int(row["rank"])].append((int(row["start_ns"]), int(row["dur_ns"])))
        for clock in result("cluster", RANKS)["clock"]:
            rank = clock["rank"]
            raw = result("query", RANKS, "SELECT ts, dur FROM kernels WHERE rank = %d ORDER BY ts, stream" % rank)["rows"]
            check("rank %d: the table and the database have the same rows" % rank, sorted(of[rank]) == sorted(of_csv[rank]))
            check("rank %d: all %d kernels are there" % (rank, len(raw)), len(of[rank]) == len(raw) > 0)
            check("rank %d: its clock is that of strata cluster" % rank,
                  abs(raw[0][0] - of[rank][0][0] - clock["offset_ns"]) < 1000)
            check("rank %d: kernels last as long as recorded, to the drift of its clock" % rank,
                  all(abs(a[1] - b[1]) <= 1 + a[1] * 1e-3 for a, b in zip(raw, of[rank])))
        back, was = result("diagnose", folder / "all.json"), result("diagnose", RANKS)
        check("read back: the same culprits in the same order",
              [(c["kind"], c["rank"]) for c in back["culprits"]] == [(c["kind"], c["rank"]) for c in was["culprits"]])

        jobs = folder / "jobs"
        jobs.mkdir()
        for path in UNPINNED.glob("*.json.gz"):
            shutil.copy(path, jobs)
        for kind, base, code, said in (("wall", 1700000000000000000, 0, "convert.wall-clock"), ("none", None, 3, "convert.clocks")):
            (folder / kind).mkdir()
            for rank in range(2):
                (folder / kind / ("rank%d.json" % rank)).write_text(trace(rank, base and base + rank))
            done = asked("convert", folder / kind, "-o", folder / (kind + ".csv"))
            check("%s: %s, exit %d: %s" % (kind, said, done.returncode, done.stderr),
                  done.returncode == code and said in done.stderr and (folder / (kind + ".csv")).exists() == (code == 0))
        done = asked("convert", jobs, "-o", folder / "jobs.csv")
        check("several jobs are not joined", done.returncode == 3 and "convert.several-jobs" in done.stderr)
        done = asked("convert", RANKS, "-o", RANKS / "rank3.pt.trace.json.gz", "--to", "chrome-gz")
        check("no input is overwritten", done.returncode != 0 and "convert.onto-input" in done.stderr)
    for what in problems:
        print("wrong: " + what)
    print("%d ranks, %d wrong" % (len(of), len(problems)))
    return len(problems)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
