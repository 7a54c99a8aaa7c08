#!/usr/bin/env python3
"""Takes the files out of a full capture, one at a time, and looks at what `strata anomaly` still says.

usage: missing.py STRATA
Each time: exit 0, the gap is named, and every number that does not depend on the file is unchanged.
"""
import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

STRATA = sys.argv[1]


problems = []


def anomaly(folder, out):
    done = subprocess.run([STRATA, "anomaly", folder, "-o", out, "--json"], capture_output=True,
                          text=True)
    if done.returncode != 0:
        problems.append("%s: exit %d: %s" % (folder, done.returncode, done.stderr))
        return None
    return json.loads(done.stdout)


def without(value, keys):
    """A copy without some keys, at any depth."""
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys}
    if isinstance(value, list):
        return [without(v, keys) for v in value]
    return value


def expect(name, what, full, less):
    if full != less:
        problems.append("without %s: %s changed:\n  %s\n  %s" % (name, what, str(full)[:400],
                                                                  str(less)[:400]))


METRICS = ["step_id", "number", "start_us", "end_us", "service_ms", "device_busy_union_ms",
           "underfeed_ms", "underfeed_ratio", "prelaunch_gap_ms", "tail_gap_ms",
           "internal_bubble_total_ms", "largest_internal_bubble_ms", "bubble_count",
           "significant_bubble_count", "partial"]
COUNTS = ["total_kernel_count", "ai_core_count", "ai_cpu_count", "comm_count",
          "kernel_duration_sum_ms"]  # a timeline puts collectives on lanes of their own: no streams
WINDOW = ["bubble_id", "scope", "step_id", "start_us", "end_us", "duration_ms"]
EVIDENCE = ["candidate_labels", "host_visible_coverage_ratio", "sync_marker_overlap_ratio",
            "comm_marker_overlap_ratio", "evidence_ops", "host_parallelism", "boundary"]


def pick(rows, keys):
    return [{k: r[k] for k in keys} for r in rows]


def no_kernel_table(full, less):
    """Kernels come from the timeline: same steps, same gaps, same evidence; no types and waits."""
    expect("kernel table", "steps", pick(full["steps"], METRICS), pick(less["steps"], METRICS))
    expect("kernel table", "counts", pick([s["inventory"] for s in full["steps"]], COUNTS),
           pick([s["inventory"] for s in less["steps"]], COUNTS))
    expect("kernel table", "AICPU", [without(s["aicpu"], ()) for s in full["steps"]],
           [without(s["aicpu"], ()) for s in less["steps"]])
    a, b = full["anomaly_discovery"], less["anomaly_discovery"]
    expect("kernel table", "global gaps", a["global_device_gap_analysis"],
           b["global_device_gap_analysis"])
    expect("kernel table", "gaps", pick(a["bubble_windows"], WINDOW + EVIDENCE),
           pick(b["bubble_windows"], WINDOW + EVIDENCE))
    expect("kernel table", "source", (less["capture"]["source"], less["capture"]["step_source"]),
           ("trace_view", full["capture"]["step_source"]))


def no_timeline(full, less):
    """Steps begin with the first kernel of their id: what is between kernels stays."""
    a, b = full["anomaly_discovery"], less["anomaly_discovery"]
    expect("timeline", "step source", less["capture"]["step_source"], "step_id_column")
    expect("timeline", "numbers of steps", [s["number"] for s in full["steps"]],
           [s["number"] for s in less["steps"]])
    expect("timeline", "counts", pick([s["inventory"] for s in full["steps"]], COUNTS),
           pick([s["inventory"] for s in less["steps"]], COUNTS))
    expect("timeline", "busy, internal",
           pick(full["steps"], ["device_busy_union_ms", "internal_bubble_total_ms",
                                "largest_internal_bubble_ms", "bubble_count"]),
           pick(less["steps"], ["device_busy_union_ms", "internal_bubble_total_ms",
                                "largest_internal_bubble_ms", "bubble_count"]))
    expect("timeline", "operators", full["ops"], less["ops"])
    expect("timeline", "anchors", a["wait_anchor_ops"], b["wait_anchor_ops"])
    expect("timeline", "AICPU operators", full["aicpu_ops"], less["aicpu_ops"])
    expect("timeline", "shares", {w["host_visible_coverage_ratio"] for w in b["bubble_windows"]},
           {None})
    expect("timeline", "the device's gaps",
           [(w["start_us"], w["end_us"]) for w in a["bubble_windows"]
            if w["scope"] == "step_internal"],
           [(w["start_us"], w["end_us"]) for w in b["bubble_windows"]
            if w["scope"] == "step_internal"])


def nothing_else(full, less):
    """A file beside the timeline: nothing but what is said about the capture may change."""
    drop = {"capture", "limitations"}
    for key in full:
        if key not in drop:
            expect("a sidecar", key, full[key], less[key])


FILES = {
    "kernel_details.csv": (no_kernel_table, "kernel_details.csv"),
    "trace_view.json": (no_timeline, "trace_view.json"),
    "communication.json": (nothing_else, "communication.json"),
    "communication_matrix.json": (nothing_else, "communication_matrix.json"),
    "step_trace_time.csv": (nothing_else, "step_trace_time.csv"),
    "op_statistic.csv": (nothing_else, "op_statistic.csv"),
    "profiler_info_0.json": (nothing_else, "profiler_info.json"),
    "profiler_metadata.json": (nothing_else, "profiler_metadata.json"),
    "memory_record.csv": (nothing_else, None),     # no question of this analysis
    "operator_details.csv": (nothing_else, None),  # likewise
}


def main():
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        subprocess.run([STRATA, "synth", "-o", tmp / "cap", "--steps", "6", "--bubbles", "2", "-q"],
                       check=True, stdout=subprocess.DEVNULL)
        full = anomaly(tmp / "cap", tmp / "res")
        files = sorted(p for p in (tmp / "cap" / "rank0_ascend_pt").rglob("*") if p.is_file())
        seen = set()
        for path in files:
            look, gap = FILES[path.name]
            seen.add(path.name)
            shutil.move(path, tmp / "away")
            less = anomaly(tmp / "cap", tmp / "res")
            shutil.move(tmp / "away", path)
            if less is None:
                continue
            new = [x for x in less["limitations"] if x not in full["limitations"]]
            if gap is not None and not any(gap in x for x in new):
                problems.append("without %s: the gap is not named: %s" % (path.name, new))
            look(copy.deepcopy(full), less)
        if seen != set(FILES):
            problems.append("the full capture lacks " + ", ".join(set(FILES) - seen))
        print("%d files taken out one at a time" % len(seen))
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
