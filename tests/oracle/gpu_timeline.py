#!/usr/bin/env python3
"""Timelines of the GPU samples against their exact results and a brute-force union.

usage: gpu_timeline.py STRATA SHARED [PART-OF-A-NAME]
"""
import gzip
import json
import subprocess
import sys

from samples import OURS

STRATA = sys.argv[1]
DATA = OURS / "gpu"
WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
bad = 0


def check(what, found, expected, near=0):
    global bad
    if found is None or abs(found - expected) > near if isinstance(expected, float) \
            else found != expected:
        print("%s: %r, expected %r" % (what, found, expected))
        bad += 1


def wanted(pattern):
    return [p for p in sorted(DATA.glob(pattern)) if WANTED in p.name]


def timeline(path, *more):
    text = subprocess.run([STRATA, "gpu", "timeline", "--json", str(path), *more], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text)["result"]["devices"]


def flat(d):
    """The result under the names of the expected values."""
    return {
        **{k: v for k, v in d.items() if not isinstance(v, (dict, list)) or k == "window_ns"},
        "gap_count": d["gaps"]["count"],
        "gap_max_ns": d["gaps"]["max_ns"],
        "per_stream_busy_ns": {s["stream"]: s["busy_ns"] for s in d["streams"] if s["kernels"]},
        "launches_with_latency": d["launches"]["latency"]["count"],
        "launch_latency_median_ns": d["launches"]["latency"]["median_ns"],
        "launch_overlapped_api_count": d["launches"]["overlapped_api"],
        "host_bound_gap_ns": d["launches"]["host_bound_gap_ns"],
        "host_bound_gap_count": d["launches"]["host_bound_gaps"],
        "graph_launches_with_nodes": d["graphs"]["launches_with_nodes"],
        "graph_level_rows": d["graphs"]["graph_level_rows"],
        "graph_level_busy_ns": d["graphs"]["graph_level_busy_ns"],
    }


def ns(text):
    """Decimal microseconds, exactly."""
    whole, _, part = text.partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def union(ranges):
    total, end = 0, None
    for a, b in sorted(ranges):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total


def check_synthetic():
    for path in wanted("nsys_synth/*.sqlite"):
        expected = json.loads(path.with_suffix(".expected.json").read_text())
        devices = timeline(path)
        check(path.name + ": devices", len(devices), 1)
        found = flat(devices[0])
        for key, value in expected.items():
            check("%s: %s" % (path.name, key), found.get(key), value, 1e-9)
        causes = {c["cause"]: c for c in devices[0]["gap_causes"]}
        check(path.name + ": causes", sum(c["total_ns"] for c in causes.values()), found["idle_ns"])


def check_kineto():
    for path in wanted("kineto-h200/*.json.gz"):
        with gzip.open(path) as f:
            events = json.load(f, parse_float=str, parse_int=str)["traceEvents"]
        of = {}
        for e in events:
            if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                begin = ns(e["ts"])
                of.setdefault(e["cat"], []).append((begin, begin + ns(e["dur"])))
        called = {e["args"].get("correlation") for e in events
                  if e.get("cat") in ("cuda_runtime", "cuda_driver")}
        unlinked = sum(e.get("cat") == "kernel" and e["args"]["correlation"] not in called
                       for e in events)
        d = timeline(path)[0]
        name = path.name
        check(name + ": kernels", d["kernel_count"], len(of["kernel"]))
        check(name + ": copies", d["memcpy_count"], len(of.get("gpu_memcpy", [])))
        check(name + ": kernel_busy", d["kernel_busy_ns"], union(of["kernel"]))
        check(name + ": busy", d["busy_ns"], union(sum(of.values(), [])))
        check(name + ": kernel_sum", d["kernel_sum_ns"], sum(b - a for a, b in of["kernel"]))
        check(name + ": gaps", d["gaps"]["total_ns"], d["idle_ns"])
        check(name + ": unlinked", d["launches"]["unlinked_kernels"], unlinked)
        if name == "llama16_decode.json.gz":
            check(name + ": kernels", d["kernel_count"], 8340)
            check(name + ": copies", d["memcpy_count"], 12)


check_synthetic()
check_kineto()
sys.exit(bad > 0)
