#!/usr/bin/env python3
"""Compares in-core artifacts with facts that were computed apart from strata.

usage: insight.py STRATA SHARED
Simulator logs with the merge worked out, and containers with and without faults.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

from samples import Samples


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def blocks(path):
    """The blocks of a container, by the layout that leaves out the path of sources."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + 12 <= len(data):
        size, kind, pad, _version, _mark = struct.unpack_from("<QBBBB", data, at)
        at += 12 + (4096 if kind == 1 else 0)
        yield kind, data[at:at + size - pad]
        at += size


def trace(path):
    return json.loads(next(p for kind, p in blocks(path) if kind == 2))["traceEvents"]


def table(path):
    return json.loads(next(p for kind, p in blocks(path) if kind == 4))


def close(a, b):
    return abs(a - b) < 0.0006  # microseconds: one rounding to a nanosecond


def check_dump(strata, folder, work):
    """The trace made of the logs holds the instructions, misses and marks that were worked out."""
    with open(os.path.join(folder, "expected_merge.json")) as f:
        want = json.load(f)
    out = os.path.join(work, "dump.bin")
    code, _, err = run(strata, "convert", folder, "-o", out)
    assert code == 0, err
    events = trace(out)
    begins = {e["id"]: e for e in events if e["ph"] == "B"}
    got = [(e["pid"], e["tid"], e["name"], e["ts"], e["ts"] + e["dur"], e["args"]["detail"],
            e["args"]["pc_addr"]) for e in events if e["ph"] == "X"]
    for e in events:
        if e["ph"] == "E":
            b = begins[e["id"]]
            got.append((b["pid"], b["tid"], b["name"], b["ts"], e["ts"], b["args"]["detail"],
                        b["args"]["pc_addr"]))
    expected = []
    for core, c in want["cores"].items():
        for i in c["instructions"] + c["cache_miss"]:
            start = i["end"] - 1 if i["name"] in ("SET_FLAG", "BAR") else i["start"]
            expected.append((core, i["pipe"], i["name"], start / want["clock_mhz"],
                             i["end"] / want["clock_mhz"], i["detail"], i["pc"]))
        for m in c["user_marks"]:
            expected.append((core, "USERMARK", m["name"], m["start"] / want["clock_mhz"],
                             m["end"] / want["clock_mhz"], "", None))
    assert len(got) == len(expected), (len(got), len(expected))
    for g, w in zip(sorted(got, key=lambda x: x[:5]), sorted(expected, key=lambda x: x[:5])):
        assert g[:3] == w[:3] and close(g[3], w[3]) and close(g[4], w[4]) and g[5] == w[5], (g, w)
        assert w[6] is None or g[6] == w[6], (g, w)
    arrows = [e for e in events if e["ph"] in "st"]
    assert len(arrows) == 2 * len(want["cores"])


def check_again(strata, path, work):
    """Written again: opens, and holds the same slices."""
    out = os.path.join(work, "again.bin")
    code, _, err = run(strata, "convert", path, "-o", out)
    assert code == 0, err
    code, text, _ = run(strata, "incore", "lint", out)
    assert code == 0, text

    def slices(events):
        return sorted((e["pid"], e["tid"], e["name"], round(e["ts"], 3), round(e["dur"], 3),
                       e["args"].get("pc_addr"), e["args"].get("detail"))
                      for e in events if e["ph"] == "X")

    assert slices(trace(path)) == slices(trace(out)), path
    for row in table(out)["Instructions"]:
        assert len(row["Cycles"]) == len(table(out)["Cores"])


REFUSED = {"c12": "source-counts-path", "c14": "first-version", "c15": "block-mark",
           "c16": "block-size", "c17": "block-padding", "c18": "trace-events"}


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        logs = samples.path("incore/camodel_dump/910B")
        if logs is not None:
            check_dump(strata, logs, work)
        for path in samples.glob("incore/clean/*/visualize_data.bin"):
            case = path.parent.name
            code, text, _ = run(strata, "incore", "lint", path, "--json")
            result = json.loads(text)["result"][0]
            rule = REFUSED.get(case[:3])
            assert result["opens"] == (rule is None), (case, result)
            assert rule is None or rule in [p["rule"] for p in result["problems"]], (case, result)
            if case[:3] in ("c01", "c04", "c05", "c06", "c11", "c13"):
                check_again(strata, path, work)
    print("in-core artifacts as expected")
    return samples.exit_code(False)


if __name__ == "__main__":
    sys.exit(main())
