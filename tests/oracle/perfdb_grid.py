#!/usr/bin/env python3
"""Runs `strata db grid` over the recorded cases of shape grids and compares every byte.

usage: perfdb_grid.py STRATA PERFDB_EVAL SHARED
Large tables are compared by their SHA-256, the functions behind the grids through perfdb-eval.
"""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from perfdb_functions import recorded
from samples import OURS

STRATA = pathlib.Path(sys.argv[1]).resolve()
EVAL = sys.argv[2]
FUNCTION_GROUPS = ("grid_expr", "grid_memory", "grid_models")
failures = []


def check(case, ok, what):
    if not ok:
        failures.append("%s: %s" % (case, what))


def in_order(wanted, text):
    """All wanted lines are lines of the text, in that order."""
    lines = iter(text.splitlines())
    return all(any(line == want for line in lines) for want in wanted)


def run_grid(case, scratch, extra=()):
    """The command of a case on a copy of its database; the copy's path is the returned one."""
    db = scratch / "db"
    if (case / "input/db").is_dir():
        shutil.copytree(case / "input/db", db)
        for path in db.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        db.chmod(0o755)
    else:
        db.mkdir()
    spec = json.loads((case / "case.json").read_text())
    args = [str(db) if a == "<DBCOPY>" else a for a in spec["args"]]
    done = subprocess.run([STRATA, "db", "grid", *args, *extra], capture_output=True, text=True)
    return spec, db, done


def compare_files(case, spec, db):
    for name, want in spec["files"].items():
        data = (db / name).read_bytes()
        check(case.name, len(data) == want["bytes"], "%s has %d bytes, not %d" % (
            name, len(data), want["bytes"]))
        check(case.name, data.count(b"\n") == want["lines"], "%s has %d lines" % (name, data.count(b"\n")))
        check(case.name, hashlib.sha256(data).hexdigest() == want["sha256"], name + " differs")
    for path in (case / "expected/db").rglob("*"):
        if path.is_file() and path.suffix != ".head_tail":
            name = path.relative_to(case / "expected/db")
            check(case.name, path.read_bytes() == (db / name).read_bytes(), "%s differs" % name)
    extra = {str(p.relative_to(db)) for p in db.rglob("*.csv")} - set(spec["files"])
    check(case.name, not extra, "unexpected tables: %s" % sorted(extra))


def grid_case(case):
    is_legacy = case.name == "err_legacy_model"
    with tempfile.TemporaryDirectory() as folder:
        spec, db, done = run_grid(case, pathlib.Path(folder),
                                  ["--strict-model-ids"] if is_legacy else [])
        check(case.name, done.returncode == spec["exit_code"],
              "exit %d\n%s" % (done.returncode, done.stderr))
        if spec["stdout"] is not None:
            wanted = [line.replace("expected/db", str(db)) for line in spec["stdout"]]
            check(case.name, in_order(wanted, done.stdout), "stdout:\n" + done.stdout)
        check(case.name, in_order(spec["memory_lines"], done.stderr), "stderr:\n" + done.stderr)
        memory = [line for line in done.stderr.splitlines() if line.startswith("[MEMORY]")]
        check(case.name, memory == spec["memory_lines"], "memory lines: %s" % memory)
        if done.returncode != 0:
            check(case.name, "error" in done.stderr, "no message")
            for word in re.findall(r"expected/db|'[^']+'", spec["error"]):
                word = word.strip("'").replace("expected/db", str(db))
                check(case.name, word in done.stderr, "the message lacks %s: %s" % (word, done.stderr))
        compare_files(case, spec, db)
    if is_legacy:  # accepted, unless it is asked to be strict
        with tempfile.TemporaryDirectory() as folder:
            spec, db, done = run_grid(case, pathlib.Path(folder), ["--seed", "1"])
            check(case.name, done.returncode == 0, done.stderr)
            check(case.name, "['deepseek-ai/DeepSeek-V3']" in done.stdout, done.stdout)


def same(a, b):
    """Equal, and of the same kind: true is not 1 here, but 3 is 3.0."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def function_case(group):
    for call, wanted, got in recorded(EVAL, group, OURS / "perfdb/oracles" / group / "functions"):
        check(group, got.keys() == wanted.keys() and all(same(got[k], wanted[k]) for k in wanted),
              "%s\n  got %s" % (json.dumps(call), json.dumps(got)))


cases = [p.parent for p in sorted(OURS.glob("perfdb/oracles/grid/*/case.json"))]
for one in cases:
    grid_case(one)
for group_name in FUNCTION_GROUPS:
    function_case(group_name)
for failure in failures:
    print(failure)
print("%d cases, %d groups of functions: %d failures" % (
    len(cases), len(FUNCTION_GROUPS), len(failures)))
sys.exit(1 if failures or not cases else 0)
