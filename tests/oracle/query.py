#!/usr/bin/env python3
"""Compares `strata query` with sums that Python makes of the same files.

usage: query.py STRATA SHARED
Counts and nanoseconds must agree exactly.
"""
import collections
import csv
import decimal
import json
import sqlite3
import subprocess
import sys

from samples import Samples

TABLES = ("ascend/text_level0/rank0_ascend_pt", "ascend/text_level1/rank0_ascend_pt",
          "ascend/text_level1/rank1_ascend_pt", "ascend/text_level2/rank0_ascend_pt",
          "synthetic/arch_small/host0_424242_20250701000000000_ascend_pt")
DATABASES = ("db_level0/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
             "db_level1/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db")
problems = []


def query(strata, path, sql):
    run = subprocess.run([strata, "query", path, "--json", sql], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True)
    return [tuple(row) for row in json.loads(run.stdout)["result"]["rows"]]


def check(what, want, got):
    if want != got:
        odd = sorted(set(want) ^ set(got), key=str)[:3]
        problems.append("%s: %d rows, %d wanted, such as %r" % (what, len(got), len(want), odd))


def by_name(rows):
    """[(name, ns)] to sorted (name, count, sum)."""
    sums = collections.defaultdict(lambda: [0, 0])
    for name, ns in rows:
        sums[name][0] += 1
        sums[name][1] += ns
    return sorted((name, *pair) for name, pair in sums.items())


def table_rows(path):
    with open(path, newline="", encoding="utf-8-sig") as f:
        for row in csv.DictReader(f):
            yield row["Name"].strip(), int(decimal.Decimal(row["Duration(us)"].strip()) * 1000)


def database_rows(path):
    db = sqlite3.connect("file:%s?immutable=1" % path, uri=True)
    yield from db.execute("SELECT s.value, a.endNs - a.startNs FROM PYTORCH_API a "
                          "JOIN STRING_IDS s ON s.id = a.name")
    db.close()


def main():
    strata, shared = sys.argv[1:]
    samples = Samples(shared)
    count = 0
    for name in TABLES:
        path = samples.path("captures/%s/ASCEND_PROFILER_OUTPUT/kernel_details.csv" % name)
        if path is None:
            continue
        count += 1
        want = by_name(table_rows(path))
        check(name, want, query(strata, path, "SELECT name, count(*), sum(dur) FROM kernels GROUP BY name"))
        check(name + " sorted by SQLite", want, query(
            strata, path, "SELECT name, count(*), sum(dur) FROM kernels GROUP BY +name ORDER BY 1"))
    for name in DATABASES:
        path = samples.path("captures/ascend/" + name)
        if path is None:
            continue
        count += 1
        want = by_name(database_rows(path))
        names = {row[0] for row in want}
        got = query(strata, path, "SELECT name, count(*), sum(dur) FROM host_events GROUP BY name")
        check(name, want, [row for row in got if row[0] in names])
    print("\n".join(problems))
    print("%d files, %d differences" % (count, len(problems)))
    sys.exit(samples.exit_code(problems or count == 0))


main()
