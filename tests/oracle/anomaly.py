#!/usr/bin/env python3
"""Compares `strata anomaly` with numbers that were computed apart from strata.

usage: anomaly.py STRATA SHARED [PART-OF-A-CASE-NAME]
Samples are captures/**, their numbers captures/expected/*.json. Times agree to 1 ns, ratios to 1e-9,
counts, tags and ids exactly.
"""
import json
import subprocess
import sys
import tempfile

from samples import Samples

CASES = {
    "db_level0_rank0": "ascend/db_level0/rank0_ascend_pt",
    "db_level1_rank0": "ascend/db_level1/rank0_ascend_pt",
    "db_level1_rank1": "ascend/db_level1/rank1_ascend_pt",
    "kineto_alexnet_a100_intts": "kineto/alexnet_a100_intts.json.gz",
    "kineto_amd_mi250": "kineto/amd_mi250.json.gz",
    "kineto_cpu_only_rank34": "kineto/cpu_only_rank34.json.gz",
    "kineto_cuda_event_sync": "kineto/cuda_event_sync.json.gz",
    "kineto_legacy_categories_rank1": "kineto/legacy_categories_rank1.json.gz",
    "kineto_nccl_resnet_2rank": "kineto/nccl_resnet_2rank.json.gz",
    "kineto_ns_resolution_v100": "kineto/ns_resolution_v100.json.gz",
    "kineto_rank_non_gpu": "kineto/rank_non_gpu.json.gz",
    "kineto_sampled_rank-0": "kineto/sampled_rank-0.json.gz",
    "kineto_triton_example": "kineto/triton_example.json.gz",
    "misc_kernel_details_591": "ascend/misc/kernel_details_591rows_aicpu.csv",
    "misc_msprof_0_db": "ascend/misc/msprof_0.db",
    "misc_no_step": "ascend/misc/kernel_details_no_step_no_stream.csv",
    "misc_old_rank0": "ascend/misc/old_rank0_ascend_pt",
    "synthetic_arch_small": "synthetic/arch_small",
    "synthetic_bubbles_small": "synthetic/bubbles_small",
    "text_level0_rank0": "ascend/text_level0/rank0_ascend_pt",
    "text_level1_rank0": "ascend/text_level1/rank0_ascend_pt",
    "text_level1_rank1_csv_only": "ascend/text_level1/rank1_ascend_pt",
    "text_level2_rank0": "ascend/text_level2/rank0_ascend_pt",
}
SEVERITY_TAGS = ["DEVICE_IDLE_GAP_HEAVY", "PRELAUNCH_GAP_HEAVY", "TAIL_GAP_HEAVY",
                 "INTERNAL_BUBBLE_HEAVY"]
RATIOS = ["host_visible_coverage_ratio", "sync_marker_overlap_ratio", "comm_marker_overlap_ratio",
          "host_parallelism"]
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


def evidence(where, want, got, has_host):
    for i, (w, g) in enumerate(zip(want, got)):
        for name in RATIOS:
            # Without host events a share is not known, which the reference prints as 0.
            value = w[name] if has_host or w[name] != 0 else None
            if value is None or g[name] is None:
                check(f"{where}[{i}].{name}", value, g[name], 0)
            else:
                check(f"{where}[{i}].{name}", float(value), g[name], 1e-9)
        check(f"{where}[{i}] labels", w["soft_root_cause_labels"], g["candidate_labels"], 0)
        check(f"{where}[{i}] scope", w["scope"], g["scope"], 0)


def operators(name, want, got):
    found = {op["op_name"]: op for op in got["anomaly_discovery"]["wait_anchor_ops"]}
    for w in want["wait_anchor_table"][:10]:
        g = found.get(w["op_name"])
        if g is None:
            problems.append(f"{name}: operator {w['op_name']} is not among the ten costliest")
            continue
        for key in ("duration_us_avg", "wait_us_avg", "total_cost_us_avg"):
            check(f"{name} {w['op_name']}.{key}", float(w[key]), g[key], 1e-3)
        check(f"{name} {w['op_name']}.wait_ratio", float(w["wait_ratio"]), g["wait_ratio"], 1e-9)
        for key in ("total_cost_rank", "call_count", "is_false_hotspot_risk"):
            check(f"{name} {w['op_name']}.{key}", w[key], g[key], 0)
    flagged = sorted(op for op, g in found.items() if g["is_false_hotspot_risk"])
    check(f"{name} flagged", sorted(want["wait_anchor_flagged"]), flagged, 0)
    aicpu = {op["op_name"]: op for op in got["aicpu_ops"]}
    check(f"{name} AICPU operators", sorted(op["op_name"] for op in want["aicpu_ops"]),
          sorted(aicpu), 0)
    for w in want["aicpu_ops"]:
        g = aicpu.get(w["op_name"], {})
        for key, tolerance in (("duration_ms", 1e-6), ("masked_ratio", 1e-9)):
            check(f"{name} AICPU {w['op_name']}.{key}", float(w[key]), g.get(key, -1), tolerance)
        for key in ("count", "classification"):
            check(f"{name} AICPU {w['op_name']}.{key}", w[key], g.get(key), 0)


def step(name, want, got, bubbles, has_host):
    where = f"{name} {want['step_id']}"
    check(f"{where} id", want["step_id"], got["step_id"], 0)
    check(f"{where} number", want["number"], got["number"], 0)
    for key in ("start_rel_us", "end_rel_us"):
        check(f"{where} {key}", want[key], got[key], 1e-3)
    metrics(where, want["metrics"], got)
    tags = [t for t in got["anomaly_tags"] if t in SEVERITY_TAGS]
    check(f"{where} tags", want["tags_rulebook"], tags, 0)
    for key, value in want["inventory"].items():
        check(f"{where} inventory.{key}", value, got["inventory"][INVENTORY.get(key, key)], 1e-6)
    mine = sorted((b for b in bubbles if b["step_id"] == want["step_id"]),
                  key=lambda b: b["start_rel_us"])
    theirs = sorted(want["bubbles"], key=lambda b: b["start_rel_us"])
    windows(f"{where} bubbles", theirs, mine)
    evidence(f"{where} bubbles", theirs, mine, has_host)


def quantile(values, share):
    """With linear interpolation between the two nearest."""
    at = share * (len(values) - 1)
    low, high = sorted(values)[int(at)], sorted(values)[min(int(at) + 1, len(values) - 1)]
    return low + (high - low) * (at - int(at))


def aggregate(name, want, got):
    """All steps as one group: of strata's steps, and as strata says where they are one group."""
    steps, groups = got["steps"], got["anomaly_discovery"]["step_group_anomalies"]
    check(f"{name} steps of all", want["group_size"], len(steps), 0)
    for key, value in want.items():
        metric, _, what = key.rpartition("_")
        if what in ("avg", "median", "p95"):
            values = [s[metric] for s in steps]
            mine = sum(values) / len(values) if what == "avg" else quantile(
                values, 0.5 if what == "median" else 0.95)
            check(f"{name} {key} of steps", float(value), mine, 1e-6)
        if len(groups) == 1:
            group = dict(groups[0], dominant_idle_pattern=groups[0]["dominant_idle_pattern_raw"])
            check(f"{name} {key}", value, group[key], 1e-6)


def case(strata, samples, name, path):
    with open(samples.path("captures/expected/%s.json" % name)) as f:
        want = json.load(f)
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run([strata, "anomaly", path, "--json", "-q",
                              "-o", out, "--max-bubbles", "100000"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        problems.append(f"{name}: exit {run.returncode}: {run.stderr.decode().strip()}")
        return
    got = json.loads(run.stdout)
    # The reference counts time on the file's own clock.
    if name.startswith("kineto_"):
        del want["time_origin_us"]
    for key in ("source", "step_source", "time_origin_us", "rows_read", "rows_after_dedup"):
        if key in want:
            check(f"{name} {key}", want[key], got["capture"][key], 0)
    check(f"{name}: number of steps", len(want["steps"]), len(got["steps"]), 0)
    bubbles = got["anomaly_discovery"]["bubble_windows"]
    for w, g in zip(want["steps"], got["steps"]):
        step(name, w, g, bubbles, got["capture"]["host_events"] > 0)
    operators(name, want, got)
    if want["steps"]:
        aggregate(name, want["all_steps_aggregate"], got)
    want_global = want["global_device_gap_analysis"]
    got_global = got["anomaly_discovery"]["global_device_gap_analysis"]
    windows(f"{name} global", want_global.pop("top_gap_windows"), got_global["top_gap_windows"])
    metrics(f"{name} global", want_global, got_global)


def main():
    strata, shared = sys.argv[1:3]
    samples = Samples(shared)
    done = 0
    for name, path in CASES.items():
        place = samples.path("captures/" + path)
        if place is not None and (len(sys.argv) < 4 or sys.argv[3] in name):
            case(strata, samples, name, place)
            done += 1
    for problem in problems:
        print(problem)
    print(f"{done} captures, {len(problems)} differences")
    return samples.exit_code(problems)


if __name__ == "__main__":
    sys.exit(main())
