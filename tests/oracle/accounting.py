#!/usr/bin/env python3
"""Compares `strata query` tables accounting and gaps with a slow evaluation of the same captures.

usage: accounting.py STRATA SHARED
Every border of every task cuts the time line; at each piece the classes are asked in order. Sums
agree to the nanosecond, and the pieces of idle time tile it.
"""
import collections
import json
import subprocess
import sys

from samples import Samples

CLASSES = {"compute": "compute", "aicpu": "compute", "comm": "comm_exposed",
           "comm_part": "comm_exposed", "copy": "copy_exposed"}
ORDER = ["compute", "comm_exposed", "copy_exposed"]


def query(strata, path, sql):
    out = subprocess.run([strata, "query", str(path), sql, "--json"], capture_output=True, text=True)
    if out.returncode != 0:
        return None
    result = json.loads(out.stdout)["result"]
    return [dict(zip(result["columns"], row)) for row in result["rows"]]


def evaluate(tasks, windows):
    """Time of each class in each window, by a sweep over all borders."""
    borders = collections.defaultdict(list)
    for begin, end, name in tasks:
        borders[begin].append((1, name))
        borders[end].append((-1, name))
    for begin, end in windows:
        borders[begin], borders[end]
    times = sorted(borders)
    sums = {w: collections.Counter() for w in windows}
    idle = []
    running = collections.Counter()
    for now, after in zip(times, times[1:] + times[-1:]):
        for step, name in borders[now]:
            running[name] += step
        owner = next((name for name in ORDER if running[name] > 0), "idle")
        for w in windows:
            if w[0] <= now and after <= w[1]:
                sums[w][owner] += after - now
                if owner == "idle" and after > now:
                    idle.append((now, after))
    return sums, idle


def join(pieces):
    out = []
    for begin, end in sorted(pieces):
        if out and out[-1][1] == begin:
            out[-1] = (out[-1][0], end)
        else:
            out.append((begin, end))
    return out


def check(strata, path):
    rows = query(strata, path, "SELECT device, step, class, sum(ns) AS ns, window_ts, window_end_ts "
                 "FROM accounting GROUP BY 1, 2, 3, 5, 6")
    if not rows:
        return None
    kernels = query(strata, path, "SELECT ts, dur, kind, device FROM kernels UNION ALL SELECT ts, dur, 'copy', "
                    "device FROM slices WHERE kind = 'control' AND name LIKE '%MEMCPY%'")
    gaps = query(strata, path, "SELECT device, ts, end_ts FROM gaps")
    for device in {r["device"] for r in rows}:
        mine = [r for r in rows if r["device"] == device]
        windows = sorted({(r["window_ts"], r["window_end_ts"]) for r in mine})
        tasks = [(k["ts"], k["ts"] + k["dur"], CLASSES[k["kind"]]) for k in kernels
                 if k["device"] in (device, None) or device is None]
        sums, idle = evaluate(tasks, windows)
        for w in windows:
            told = {r["class"]: r["ns"] for r in mine if (r["window_ts"], r["window_end_ts"]) == w}
            want = {name: ns for name, ns in sums[w].items() if ns > 0}
            if told != want:
                return f"{path}: window {w}: {told} instead of {want}"
            if sum(told.values()) != w[1] - w[0]:
                return f"{path}: window {w} has {sum(told.values())} ns"
        if join((g["ts"], g["end_ts"]) for g in gaps if g["device"] == device) != join(idle):
            return f"{path}: the gaps are not the idle time"
    return ""


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    paths = samples.ours("diagnosis/*.json.gz") + samples.ours("captures/synthetic/*")
    paths += samples.glob("captures/kineto/*.json.gz") + samples.glob("captures/ascend/*/*_ascend_pt")
    told = [check(strata, p) for p in paths]
    wrong = [t for t in told if t]
    print("\n".join(wrong))
    print(f"{sum(t == '' for t in told)} captures agree, {len(wrong)} do not")
    return samples.exit_code(wrong or sum(t == "" for t in told) < 15)


sys.exit(main())
