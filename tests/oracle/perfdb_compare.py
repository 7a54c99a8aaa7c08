#!/usr/bin/env python3
"""Comparisons of the operator database and the validator of collectives against recorded cases.

usage: perfdb_compare.py STRATA PERFDB_EVAL SHARED [PART-OF-A-CASE-NAME]
A case is perfdb/oracles/<group>/<case>.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

from perfdb_functions import recorded
from samples import OURS

VERBS = {
    "trace_to_csv": ["db", "trace-csv"],
    "compute_m6": ["db", "m6"],
    "generate_per_shape_comparison": ["db", "compare-shapes"],
    "generate_op_comparison": ["db", "compare-ops"],
    "validate_comm_alignment": ["comm", "validate"],
}
GROUPS = ["trace_to_csv", "m6", "per_shape", "op_compare", "comm_validate"]
OUTPUTS = {"trace_to_csv": "out.csv", "m6": "m6.json", "per_shape": "out.csv",
           "op_compare": "op_comparison.json"}
# Decimals of a column or member; -1: all digits count.
DECIMALS = {"m6_ratio": -1, "empirical_hit_us": 2, "real_per_fwd_us": 2,
            "selected_fwd_compute_us": 2, "selected_fwd_hcom_us": 2, "tc_dur_us": 2,
            "prof_dur_us": 2, "delta_pct": 1, "tc_total_us": 1, "prof_per_fwd_us": 1,
            "error_pct": 1, "count_error_pct": 1}
# What an error must name, by case.
ESSENCE = {
    "m6/err_missing_trace": ["input/tc.json"],
    "per_shape/err_bad_duration": ["input/prof.csv", "abc"],
    "op_compare/err_ambiguous_pid": ["results/dsv3_pf_trace.json", "0, 1"],
    "comm_validate/err_not_dir": ["input", "not a directory"],
    "comm_validate/err_bad_tier": ["hcom_alltoallv_.csv", "7"],
}

problems = []


def complain(case, text):
    problems.append(f"{case}: {text}")


def same_number(key, want, got):
    want, got = float(want), float(got)
    if want == got:
        return True
    if DECIMALS[key] < 0:
        return abs(want - got) <= 1e-12 * abs(want)
    return abs(want - got) <= 0.5 * 10 ** -DECIMALS[key] + 1e-9


def same(key, want, got):
    if isinstance(want, dict):
        return (isinstance(got, dict) and list(want) == list(got)
                and all(same(k, want[k], got[k]) for k in want))
    if isinstance(want, list):
        return (isinstance(got, list) and len(want) == len(got)
                and all(same(key, w, g) for w, g in zip(want, got)))
    return same_number(key, want, got) if key in DECIMALS else want == got


def rows_of(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def compare_shapes(case, want, got):
    """Rows as a multiset, and sorted by the larger of the two times."""
    head, want = rows_of(want)[0], sorted(rows_of(want)[1:])
    if rows_of(got)[0] != head:
        complain(case, "another header")
    times = [max(float(r[2]), float(r[3])) for r in rows_of(got)[1:]]
    if any(a < b - 0.005 for a, b in zip(times, times[1:])):
        complain(case, "rows are not sorted by time")
    got = sorted(rows_of(got)[1:])
    if len(want) != len(got):
        complain(case, f"{len(got)} rows, expected {len(want)}")
    for w, g in zip(want, got):
        pairs = zip(head, w, g)
        if not all(same_number(k, a, b) if k in DECIMALS else a == b for k, a, b in pairs):
            complain(case, f"row {g}, expected {w}")


def compare_output(case, group, want, got):
    if group == "per_shape":
        compare_shapes(case, want, got)
    elif group == "trace_to_csv":
        if want != got:
            complain(case, "the table differs")
    elif not same("", json.loads(want), json.loads(got)):
        complain(case, "the document differs")


def compare_lines(case, want, got, stand_ins):
    for name, actual in stand_ins:
        want = want.replace(name, actual)
    if want.splitlines() != got.splitlines():
        complain(case, f"printed {got!r}, expected {want!r}")


def run_case(strata, group, folder):
    case = f"{group}/{folder.name}"
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
        record = json.load(f)
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, OUTPUTS.get(group, "out"))
        argv = [strata] + VERBS[record["tool"]]
        argv += [output if arg == "<OUT>" else arg for arg in record["args"]]
        run = subprocess.run(argv, cwd=os.path.join(folder, record.get("cwd", "")),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        stderr, stdout = run.stderr.decode("utf-8"), run.stdout.decode("utf-8")
        if run.returncode != record["exit_code"]:
            complain(case, f"exit {run.returncode}, expected {record['exit_code']}: {stderr}")
            return
        expected = os.path.join(folder, "expected")
        recorded = os.path.join(expected, OUTPUTS.get(group, "out"))
        if os.path.exists(recorded):
            if not os.path.exists(output):
                complain(case, "no output")
                return
            with open(recorded, "rb") as w, open(output, "rb") as g:
                compare_output(case, group, w.read(), g.read())
        stand_ins = [(f"{dots}expected/{OUTPUTS.get(group, 'out')}", output)
                     for dots in ("../", "")]
        texts = [record["stdout"]] if record.get("stdout") else []
        if os.path.exists(os.path.join(expected, "stdout.txt")):
            with open(os.path.join(expected, "stdout.txt"), encoding="utf-8") as f:
                texts.append(f.read())
        for text in texts:
            compare_lines(case, text, stdout, stand_ins)
    for word in ESSENCE.get(case, []):
        if word not in stderr:
            complain(case, f"the message does not name {word}: {stderr}")
    if record["exit_code"] == 0 and stderr:
        complain(case, f"stderr is not empty: {stderr}")


def run_functions(evaluate, folder):
    for call, wanted, got in recorded(evaluate, "comm_topology", folder):
        if got != wanted:
            complain("comm_topology/" + folder.name, f"{call}: {got}, expected {wanted}")


def main():
    strata, evaluate = os.path.abspath(sys.argv[1]), sys.argv[2]
    wanted = sys.argv[4] if len(sys.argv) > 4 else ""
    done = 0
    for group in [*GROUPS, "comm_topology"]:
        for folder in sorted(OURS.glob(f"perfdb/oracles/{group}/*")):
            if not re.search(wanted, f"{group}/{folder.name}"):
                continue
            if group in GROUPS:
                run_case(strata, group, folder)
            else:
                run_functions(evaluate, folder)
            done += 1
    for problem in problems:
        print(problem)
    print(f"{done} cases, {len(problems)} differences")
    return 1 if problems or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
