#!/usr/bin/env python3
"""Compares captures from SQLite files with numbers that were computed apart from strata.

usage: databases.py STRATA SHARED
Times agree to 1 ns, ratios to 1e-9, counts exactly.
"""
import json
import subprocess
import sys
import tempfile

from samples import Samples

ASCEND = {
    "db_level0_rank0":
        "ascend/db_level0/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
    "db_level1_rank0":
        "ascend/db_level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
    "db_level1_rank1":
        "ascend/db_level1/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db",
    "misc_msprof_0_db": "ascend/misc/msprof_0.db",
}
NSYS = ("nsys_synth_a", "nsys_synth_b")

problems = []


def check(what, want, got, tolerance=0):
    same = abs(want - got) <= tolerance if isinstance(want, float) else want == got
    if not same:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def anomaly(strata, path):
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run([strata, "anomaly", path, "--json", "-q", "-o", out,
                              "--max-bubbles", "100000"], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def ascend(strata, name, path, expected):
    want = json.loads(expected.read_text())
    got = anomaly(strata, path)
    check(f"{name} steps", len(want["steps"]), len(got["steps"]))
    for w, g in zip(want["steps"], got["steps"]):
        for key, value in w["inventory"].items():
            key = {"core_count": "ai_core_count"}.get(key, key)
            check(f"{name} {key}", value, g["inventory"][key], 1e-6)
        for key in ("device_busy_union_ms", "internal_bubble_total_ms",
                    "largest_internal_bubble_ms", "bubble_count"):
            check(f"{name} {key}", w["metrics"][key], g[key], 1e-6)


def nsys(strata, name, path):
    want = json.loads(path.with_suffix(".expected.json").read_text())
    got = anomaly(strata, path)
    mine = got["anomaly_discovery"]["global_device_gap_analysis"]
    lead = got["steps"][0]["prelaunch_gap_ms"]  # the expected span begins with the first kernel
    check(f"{name} span", want["span_ns"] / 1e6, mine["capture_span_ms"] - lead, 1e-6)
    check(f"{name} busy", want["busy_ns"] / 1e6, mine["device_busy_union_ms"], 1e-6)
    check(f"{name} idle", want["idle_ns"] / 1e6, mine["device_gap_ms"] - lead, 1e-6)
    check(f"{name} largest gap", want["gap_max_ns"] / 1e6, mine["largest_gap_ms"], 1e-6)


def main():
    strata, shared = sys.argv[1:3]
    samples = Samples(shared)
    for name, path in ASCEND.items():
        place = samples.path("captures/" + path)
        if place is not None:
            ascend(strata, name, place, samples.path("captures/expected/%s.json" % name))
    for name in NSYS:
        nsys(strata, name, samples.path("gpu/nsys_synth/%s.sqlite" % name))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} differences")
    return samples.exit_code(problems)


if __name__ == "__main__":
    sys.exit(main())
