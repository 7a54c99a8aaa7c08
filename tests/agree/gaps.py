#!/usr/bin/env python3
"""Idle time by cause: `strata gpu timeline` has the pieces that SQL lists, and they add up to its idle time; so do
those inside each bubble of the document of `strata anomaly`.

usage: gaps.py STRATA
The timeline begins with the first work of the device; what SQL has of a step before that is cut away.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATHS = ["examples/kineto-small", "examples/unpinned/before.pt.trace.json.gz", "examples/nsys", "examples/serving/sglang.pt.trace.json",
         "examples/ascend-small", "examples/ranks/rank4.pt.trace.json.gz", *sorted(ROOT.glob("tests/data/graphs/*.json.gz")),
         *sorted(ROOT.glob("tests/data/planted/*/*.json.gz"))[::5]]


def result(strata, *words):
    done = subprocess.run([strata, *map(str, words), "--json"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    document = json.loads(done.stdout) if done.returncode == 0 else None
    return document and document.get("result", document)


def bubbles(strata, path, pieces):
    """(bubble, its length, that of the pieces inside) where they differ; and how many were asked."""
    document = result(strata, "anomaly", path)
    begin = result(strata, "query", path, "SELECT min(ts) FROM steps")["rows"][0][0]
    last = result(strata, "query", path, "SELECT max(window_end_ts) FROM accounting")["rows"][0][0]
    windows = document["anomaly_discovery"]["bubble_windows"] if document else []
    if document and [x["step_id"] for x in document["steps"]] == ["pseudo"]:
        return [], 0 # without marks that document has one step, SQL what repeats
    if document and document["steps"] and begin is not None: # times count from the beginning of the recording
        begin -= round(document["steps"][0]["start_rel_us"] * 1000)
    wrong = []
    for w in windows if begin is not None else []:
        since, until = (begin + round(w[key] * 1000) for key in ("start_rel_us", "end_rel_us"))
        if until > last: # work that no step launched ends it
            continue
        inside = sum(max(0, min(until, e) - max(since, b)) for _, _, b, e in pieces["rows"])
        if inside != until - since:
            wrong.append((w["bubble_id"], until - since, inside))
    return wrong, len(windows)


def main(strata):
    wrong = asked = 0
    for path in PATHS:
        timeline = result(strata, "gpu", "timeline", path)
        pieces = result(strata, "query", path, "SELECT coalesce(device, -1), cause, ts, end_ts FROM gaps")
        if timeline is None or pieces is None:
            print(f"{path}: no answer")
            wrong += 1
            continue
        different, n = bubbles(strata, path, pieces)
        asked += n
        for bubble, length, inside in different:
            print(f"{path}: {bubble} of {length} ns, gaps of {inside} ns")
            wrong += 1
        for device in timeline["devices"]:
            begin, end = device["window_ns"]
            listed = {}
            for number, cause, since, until in pieces["rows"]:
                length = min(until, end) - max(since, begin)
                if number == device["device"] and length > 0:
                    listed[cause] = listed.get(cause, 0) + length
            told = {c["cause"]: c["total_ns"] for c in device["gap_causes"]}
            asked += len(told)
            if sum(told.values()) != device["idle_ns"]:
                print(f"{path}: causes add up to {sum(told.values())} ns, idle are {device['idle_ns']}")
                wrong += 1
            told.pop("outside_steps", None)
            if told != listed:
                print(f"{path}: timeline {told}, SQL {listed}")
                wrong += 1
    print(f"{asked} causes and bubbles of {len(PATHS)} captures, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
