#!/usr/bin/env python3
"""Compares `strata anomaly` with numbers that were computed apart from strata.

usage: anomaly.py STRATA SHARED
SHARED holds data/captures (samples and expected/*.json). Times agree to 1 ns, ratios to 1e-9,
counts, tags and ids exactly. Exit 77 when SHARED is not there: the test is skipped.
"""
import json
import os
import subprocess
import sys
import tempfile

CASES = {
    "db_level0_rank0": "ascend/db_level0/rank0_ascend_pt",
    "db_level1_rank0": "ascend/db_level1/rank0_ascend_pt",
    "db_level1_rank1": "ascend/db_level1/rank1_ascend_pt",
    "misc_kernel_details_591": "ascend/misc/kernel_details_591rows_aicpu.csv",
    "misc_msprof_0_db": "ascend/misc/msprof_0.db",
    "misc_no_step": "ascend/misc/kernel_details_no_step_no_stream.csv",
    "misc_old_rank0": "ascend/misc/old_rank0_ascend_pt",
    "text_level1_rank1_csv_only": "ascend/text_level1/rank1_ascend_pt",
}
COUNTS = {"bubble_count"}
INVENTORY = {"core_count": "ai_core_count"}  # where the two documents differ in spelling

problems = []


def check(what, want, got, tolerance):
    same = abs(want - got) <= tolerance if isinstance(want, float) else want == got
    if not same:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def metrics(where, want, got):
    for name, value in want.items():
        tolerance = 1e-9 if name.endswith("ratio") else 1e-6
        check(f"{where}.{name}", value if name in COUNTS else float(value), got[name], tolerance)


def windows(where, want, got):
    check(f"{where}: number of windows", len(want), len(got), 0)
    for i, (w, g) in enumerate(zip(want, got)):
        for name in ("start_rel_us", "end_rel_us"):
            check(f"{where}[{i}].{name}", w[name], g[name], 1e-3)
        check(f"{where}[{i}].duration_ms", w["duration_ms"], g["duration_ms"], 1e-6)


def step(name, want, got, bubbles):
    where = f"{name} {want['step_id']}"
    check(f"{where} id", want["step_id"], got["step_id"], 0)
    check(f"{where} number", want["number"], got["number"], 0)
    metrics(where, want["metrics"], got)
    check(f"{where} tags", want["tags_rulebook"], got["anomaly_tags"], 0)
    for key, value in want["inventory"].items():
        check(f"{where} inventory.{key}", value, got["inventory"][INVENTORY.get(key, key)], 1e-6)
    mine = sorted((b for b in bubbles if b["step_id"] == want["step_id"]),
                  key=lambda b: b["start_rel_us"])
    windows(f"{where} bubbles", sorted(want["bubbles"], key=lambda b: b["start_rel_us"]), mine)


def case(strata, captures, name, path):
    with open(os.path.join(captures, "expected", name + ".json")) as f:
        want = json.load(f)
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run([strata, "anomaly", os.path.join(captures, path), "--json", "-q",
                              "-o", out, "--max-bubbles", "100000"],
                             stdout=subprocess.PIPE, check=True)
    got = json.loads(run.stdout)
    for key in ("source", "step_source", "time_origin_us", "rows_read", "rows_after_dedup"):
        check(f"{name} {key}", want[key], got["capture"][key], 0)
    check(f"{name}: number of steps", len(want["steps"]), len(got["steps"]), 0)
    bubbles = got["anomaly_discovery"]["bubble_windows"]
    for w, g in zip(want["steps"], got["steps"]):
        step(name, w, g, bubbles)
    want_global = want["global_device_gap_analysis"]
    got_global = got["anomaly_discovery"]["global_device_gap_analysis"]
    windows(f"{name} global", want_global.pop("top_gap_windows"), got_global["top_gap_windows"])
    metrics(f"{name} global", want_global, got_global)


def main():
    strata, shared = sys.argv[1:3]
    captures = os.path.join(shared, "data", "captures")
    if not os.path.isdir(captures):
        print("skipped: no folder of shared samples beside this checkout")
        return 77
    for name, path in CASES.items():
        case(strata, captures, name, path)
    for problem in problems:
        print(problem)
    print(f"{len(CASES)} captures, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
