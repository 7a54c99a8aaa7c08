#!/usr/bin/env python3
"""Compares strata with the ground truth of an independent capture generator, to the nanosecond.

usage: truth.py STRATA SHARED [CAPTURE]
Without CAPTURE small ones are generated with gen_capture.py: one rank and several, both column
generations, with clock skew, and with a trace of another profiler beside. Every step metric must be
0 ns off, every injected bubble of 1 ms or more found with its labels. SHARED is not used.
"""
import json
import os
import subprocess
import sys
import tempfile

VARIANTS = [
    ["--target-mb", "6"],
    ["--target-mb", "4", "--flavor", "old", "--no-stack"],
    ["--target-mb", "3", "--ranks", "3", "--straggler", "1", "--skew-us", "250"],
    ["--steps", "2", "--layers", "5", "--ranks", "2", "--kineto"],  # the same run told twice
    ["--steps", "2", "--layers", "3", "--ranks", "8", "--flavor", "old", "--prefill-every", "0"],
]
METRICS = {
    "service_ns": "service_ms",
    "busy_union_ns": "device_busy_union_ms",
    "underfeed_ns": "underfeed_ms",
    "prelaunch_ns": "prelaunch_gap_ms",
    "tail_ns": "tail_gap_ms",
    "internal_bubble_ns": "internal_bubble_total_ms",
    "largest_internal_ns": "largest_internal_bubble_ms",
}
SEVERITY_TAGS = ["DEVICE_IDLE_GAP_HEAVY", "PRELAUNCH_GAP_HEAVY", "TAIL_GAP_HEAVY",
                 "INTERNAL_BUBBLE_HEAVY"]

EITHER = ["possible_python_serialization_or_lock", "insufficient_evidence"]

# The generator counts waits from the latest end of all rows, profilers from the previous row.
KNOWN_DOUBTS = ["rows whose wait is the gap to the previous row"]

problems = []


def check(what, want, got):
    if want != got:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def ns(ms):
    return round(ms * 1e6)


def check_steps(name, want, got):
    check(f"{name}: number of steps", len(want["steps"]), len(got["steps"]))
    for w, g in zip(want["steps"], got["steps"]):
        where = f"{name} step {w['step']}"
        check(f"{where} number", w["step"], g["number"])
        for truth, metric in METRICS.items():
            check(f"{where} {metric}", w[truth], ns(g[metric]))
        check(f"{where} bubble_count", w["bubble_count"], g["bubble_count"])
        check(f"{where} kernels", w["kernels"], g["inventory"]["total_kernel_count"])
        tags = [t for t in g["anomaly_tags"] if t in SEVERITY_TAGS]
        # A heavy gap makes the step's idle time heavy; the generator looks at the ratio alone.
        wanted = {t for t in w["tags"] if t in SEVERITY_TAGS} | ({SEVERITY_TAGS[0]} if w["tags"] else set())
        check(f"{where} tags", sorted(wanted), sorted(tags))


def micros(text):
    whole, fraction = text.split(".")
    return int(whole) * 1000 + int(fraction)


def check_bubbles(name, want, got):
    origin = micros(got["capture"]["time_origin_us"])
    found = {(origin + round(b["start_rel_us"] * 1000), origin + round(b["end_rel_us"] * 1000)): b
             for b in got["anomaly_discovery"]["bubble_windows"]}
    for w in want["injected_bubbles"]:
        if w["dur_ns"] < 1000000:
            continue
        b = found.get((micros(w["start_us"]), micros(w["end_us"])))
        where = f"{name} bubble of step {w['step']} at {w['start_us']}"
        if b is None:
            problems.append(f"{where}: not found")
            continue
        if w["labels"] == ["possible_python_serialization_or_lock_or_insufficient"]:
            check(f"{where} label", True, b["candidate_labels"][0] in EITHER)
        else:
            check(f"{where} labels", w["labels"], b["candidate_labels"])


def check_ops(name, want, got):
    found = {op["op_name"]: op for op in got["ops"]["by_duration"]}
    for op, truth in want["by_type"].items():
        if op not in found:
            problems.append(f"{name}: operator {op} is missing")
            continue
        check(f"{name} {op} calls", truth["count"], found[op]["call_count"])
        check(f"{name} {op} time", truth["dur_ns"], round(found[op]["duration_us_total"] * 1000))


def check_rank(name, want, got):
    check(f"{name} kernel rows", want["kernel_rows"], got["capture"]["rows_read"])
    bad = [c["name"] for c in got["capture"]["self_checks"]
           if not c["ok"] and c["name"] not in KNOWN_DOUBTS]
    check(f"{name} self-checks", [], bad)
    check_steps(name, want, got)
    check_bubbles(name, want, got)
    check_ops(name, want, got)


def check_capture(strata, folder):
    with open(os.path.join(folder, "ground_truth.json")) as f:
        truth = json.load(f)
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run([strata, "anomaly", folder, "--json", "-o", out, "--max-bubbles",
                              "1000000"], stdout=subprocess.PIPE, check=True)
    got = json.loads(run.stdout)
    ranks = got["captures"] if "captures" in got else [got]
    check("number of ranks", len(truth["ranks"]), len(ranks))
    for want, rank in zip(truth["ranks"], ranks):
        check_rank(f"rank {want['rank']}", want, rank)


def main():
    strata = sys.argv[1]
    generator = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen_capture.py")
    if len(sys.argv) > 3:
        check_capture(strata, sys.argv[3])
    else:
        for variant in VARIANTS:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, generator, "-o", folder, *variant],
                               stdout=subprocess.DEVNULL, check=True)
                check_capture(strata, folder)
    for problem in problems[:40]:
        print(problem)
    print(f"{len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
