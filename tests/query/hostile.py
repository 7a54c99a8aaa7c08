#!/usr/bin/env python3
"""Statements that are made to take long or much: each ends in time and in little memory.

usage: hostile.py STRATA [LATE_S]
Each statement runs with --timeout 0.25 and may take LATE_S (default 0.5, for an idle machine) longer; the
exit code is that of a result, an invalid statement or an exceeded limit. The largest values are printed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

STRATA = os.path.abspath(sys.argv[1])
LATE_S = float(sys.argv[2]) if len(sys.argv) > 2 else 0.5
TIMEOUT_S = 0.25
MEMORY_KB = 1 << 20
CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "ascend-small"

BIG = "zeroblob(60000000)"
TEXT = "hex(zeroblob(30000000))"
LOOP = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "

STATEMENTS = [
    # One function that works for long: the engine does not look at the clock inside.
    f"SELECT {TEXT} LIKE '%0%0%0%0%0%0%0%0%1'",
    f"SELECT {TEXT} LIKE '%_%_%_%_%_%_%_%_%1%'",
    f"SELECT {TEXT} GLOB '*0*0*0*0*0*0*0*0*1'",
    f"SELECT {TEXT} GLOB '*[0-9]*[0-9]*[0-9]*[a-f]'",
    f"SELECT instr({BIG}, CAST({BIG} || 'x' AS BLOB))",
    f"SELECT instr({BIG}, CAST(substr(zeroblob(30000000), 1) || x'01' AS BLOB))",
    "SELECT instr(hex(zeroblob(30000000)), hex(zeroblob(15000000)) || '1')",
    f"SELECT replace({TEXT}, '0', 'xy')",
    f"SELECT replace({TEXT}, hex(zeroblob(15000000)) || '1', '')",
    f"SELECT trim({TEXT}, '123456789abcdef0')",
    f"SELECT length(ltrim({TEXT}, hex(zeroblob(1000000)) || '0'))",
    f"SELECT upper(lower(upper(lower({TEXT}))))",
    f"SELECT hex({BIG})",
    f"SELECT quote({BIG})",
    "SELECT length(randomblob(64000000) || randomblob(64000000))",
    "SELECT printf('%60000000d', 1)",
    "SELECT printf('%.*c', 60000000, 'x') = printf('%.*c', 60000000, 'y')",
    "SELECT printf('%.60000000f', 1e300)",
    "SELECT length(zeroblob(2147483647))",
    f"SELECT json_array({TEXT}, {TEXT}, {TEXT}, {TEXT}, {TEXT}, {TEXT})",
    f"SELECT json_valid(replace({TEXT}, '0', '['))",
    f"SELECT json_extract('[' || replace(hex(zeroblob(8000000)), '0', '1,') || '1]', '$[15000000]')",
    "SELECT json_patch('{\"a\":' || replace(hex(zeroblob(400)), '0', '{\"a\":') || '1', '{}')",
    f"SELECT count(*) FROM json_each('[' || replace(hex(zeroblob(8000000)), '0', '1,') || '1]')",
    f"SELECT count(*) FROM json_tree('[' || replace(hex(zeroblob(8000000)), '0', '1,') || '1]')",
    f"SELECT strftime(replace({TEXT}, '0', '%J'), 'now')",
    # Values that grow.
    LOOP + "SELECT group_concat(i) FROM n",
    LOOP + "SELECT group_concat(hex(zeroblob(100000))) FROM n",
    LOOP + "SELECT json_group_array(hex(zeroblob(100000))) FROM n",
    "WITH RECURSIVE n(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n",
    "WITH RECURSIVE n(s, i) AS (SELECT 'x', 1 UNION SELECT s || 'x', i + 1 FROM n) SELECT count(*) FROM n",
    LOOP + f"SELECT i, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG} FROM n",
    f"SELECT {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}, {BIG}",
    # Rows without end, kept, sorted, grouped or joined.
    LOOP + "SELECT i FROM n",
    LOOP + "SELECT DISTINCT i % 1000003, randomblob(200) FROM n",
    LOOP + "SELECT i, count(*) FROM n GROUP BY randomblob(100)",
    LOOP + "SELECT i FROM n ORDER BY randomblob(1000) LIMIT 1",
    LOOP + "SELECT sum(i) OVER (ORDER BY random()) FROM n",
    LOOP + "SELECT max(i) FROM n",
    LOOP + "SELECT count(*) FROM n WHERE i IN (SELECT i FROM n)",
    "SELECT count(*) FROM slices a, slices b, slices c, slices d, slices e",
    "SELECT a.id FROM slices a, slices b, slices c, slices d ORDER BY a.dur * b.dur - c.dur, d.name",
    "SELECT * FROM slices a, slices b, slices c, slices d, slices e, slices f",
    "SELECT count(DISTINCT a.name || b.name || c.id || d.id) FROM slices a, slices b, slices c, slices d",
    "SELECT count(*) FROM slices a, slices b, slices c WHERE attrs(a.id) || attrs(b.id) = attrs(c.id)",
    # Statements that are large.
    "WITH " + ", ".join(["a0 AS (SELECT 1 AS x)"] +
                        [f"a{i} AS (SELECT p.x FROM a{i - 1} p, a{i - 1} q)" for i in range(1, 30)]) +
    " SELECT count(*) FROM a29",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT " + "+".join(["1"] * 50000),
    "SELECT " + " UNION ALL SELECT ".join(["1"] * 5000),
    "SELECT * FROM " + ", ".join(f"slices s{i}" for i in range(60)),
    "SELECT 1 WHERE 1 IN (" + ",".join(str(i) for i in range(100000)) + ")",
    "SELECT CASE " + " ".join(f"WHEN {i} THEN {i}" for i in range(40000)) + " END",
]


def run(statement, folder):
    """The exit code, seconds and KB of one statement, and what it said."""
    file, said = folder / "statement.sql", folder / "stderr"
    file.write_text(statement, encoding="utf-8")
    begin = time.monotonic()
    with open(said, "wb") as err:
        child = subprocess.Popen([STRATA, "query", CAPTURE, "--file", file, "--timeout", str(TIMEOUT_S), "--json"],
                                 stdout=subprocess.DEVNULL, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, time.monotonic() - begin, used.ru_maxrss, said.read_text(encoding="utf-8", errors="replace")


def main():
    faults, longest, largest = 0, 0.0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for statement in STATEMENTS:
            code, seconds, kb, said = run(statement, pathlib.Path(scratch))
            longest, largest = max(longest, seconds), max(largest, kb)
            good = code in (0, 2, 3) and seconds <= TIMEOUT_S + LATE_S and kb <= MEMORY_KB
            if not good or os.environ.get("HOSTILE_VERBOSE"):
                print("exit %d, %.2f s, %d MB: %.100s: %s" % (code, seconds, kb >> 10, statement, said.strip()[-200:]))
            faults += not good
    print("%d statements: at most %.2f s with --timeout %g, and %d MB"
          % (len(STATEMENTS), longest, TIMEOUT_S, largest >> 10))
    sys.exit(faults > 0)


main()
