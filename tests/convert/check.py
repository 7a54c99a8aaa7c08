#!/usr/bin/env python3
"""Reads what the timeline writers wrote with readers that share nothing with them.

usage: check.py WRITE_SAMPLE PROTO
WRITE_SAMPLE fills a folder with all.* and cut.* and truth.json; every format must hold the slices,
arrows and samples of the truth, the cut ones clipped to the windows by the rule told in
src/capture/cut.h, worked out here again. PROTO is the message description for protoc.
"""
import csv
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from decimal import Decimal

sys.dont_write_bytecode = True
from decode_perfetto import Trace  # noqa: E402

problems = []
# What a slice without a category of its own is called in a trace from a GPU.
CATEGORIES = {"compute": "kernel", "comm": "kernel", "comm_part": "kernel", "aicpu": "kernel",
              "copy": "gpu_memcpy", "wait": "cuda_sync", "host_op": "cpu_op",
              "python": "python_function", "annotation": "user_annotation",
              "runtime": "cuda_runtime", "step": "user_annotation"}
TO_UNIX = 1700000000000000000


def check(what, good):
    if not good:
        problems.append(what)


def frozen(process, lane, begin, dur, name, cat, args):
    args = {k: int(v) if isinstance(v, float) and v == int(v) else v for k, v in args.items()}
    return (process, lane, begin, dur, name, cat, json.dumps(args, sort_keys=True))


def truth_of(truth, windows):
    """The slices a cut must have by number, its arrows and samples."""
    slices = {}
    for i, s in enumerate(truth["slices"]):
        begin, end = s["begin"], s["begin"] + s["dur"]
        touched = [w for w in windows
                   if (w[0] < end and begin < w[1] if s["dur"] > 0 else w[0] <= begin < w[1])]
        if windows and not touched:
            continue
        if windows and s["dur"] > 0:
            begin, end = max(begin, touched[0][0]), min(end, touched[-1][1])
        args = {k: v for k, v in s["args"].items() if v != ""}  # an empty text is no value
        cat = args.pop("cat", CATEGORIES.get(s["kind"], s["kind"]))
        slices[i] = frozen(s["process"], s["lane"], begin, end - begin, s["name"], cat, args)
    flows = [(slices[a], slices[b]) for a, b in truth["flows"] if a in slices and b in slices]
    samples = [tuple(s) for s in truth["samples"]
               if not windows or any(w[0] <= s[1] < w[1] for w in windows)]
    return slices, flows, samples


def nanoseconds(value):
    ns = Decimal(value) * 1000
    check("a time is not a whole number of ns: %s" % value, ns == int(ns))
    return int(ns)


def row_name(name):
    return re.sub(r" \(\d+\)$", "", name)


def check_nesting(label, row, slices):
    """Slices of a row, in order of begin and longest first, must lie inside one another."""
    stack = []
    for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while stack and stack[-1] <= begin:
            stack.pop()
        check("%s: slices overlap on row %s" % (label, row), not stack or end <= stack[-1])
        stack.append(end)


def read_chrome(label, data):
    document = json.loads(data, parse_float=Decimal)
    lines = data.decode().splitlines()
    check(label + ": an event is not alone on its line",
          len(lines) == len(document["traceEvents"]) + 2 and
          all(json.loads(line.rstrip(",")) for line in lines[1:-1]))
    check(label + ": unit", document["displayTimeUnit"] == "ns")
    check(label + ": clock", document["baseTimeNanoseconds"] == TO_UNIX)
    names, slices, samples, rows = {}, [], [], {}
    arrows = {"s": {}, "f": {}}
    for e in document["traceEvents"]:
        if e["ph"] == "M" and e["name"].endswith("_name"):
            key = (e["pid"], e.get("tid"))
            check(label + ": a row has two names", key not in names)
            names[key] = e["args"]["name"]
        elif e["ph"] == "X":
            begin, dur = nanoseconds(e["ts"]), nanoseconds(e["dur"])
            args = {k: float(v) if isinstance(v, Decimal) else v
                    for k, v in e.get("args", {}).items()}
            s = frozen(names[e["pid"], None], row_name(names[e["pid"], e["tid"]]), begin, dur,
                       e["name"], e["cat"], args)
            slices.append(s)
            rows.setdefault((e["pid"], e["tid"]), []).append(s)
        elif e["ph"] in "sf":
            check(label + ": f without bp", e["ph"] == "s" or e["bp"] == "e")
            check(label + ": two ends of one kind", e["id"] not in arrows[e["ph"]])
            arrows[e["ph"]][e["id"]] = (e["pid"], e["tid"], nanoseconds(e["ts"]))
        elif e["ph"] == "C":
            (value,) = e["args"].values()
            samples.append((e["name"], nanoseconds(e["ts"]), float(value)))
    for row, on_row in rows.items():
        check_nesting(label, row, [(s[2], s[2] + s[3]) for s in on_row])
    return slices, arrows, rows, samples


def check_arrows(label, want, arrows, rows):
    """An arrow of this format stands at the begin of a slice on its row."""
    check(label + ": arrows without two ends", set(arrows["s"]) == set(arrows["f"]))
    check(label + ": number of arrows", len(want) == len(arrows["s"]))
    at = {}
    for row, slices in rows.items():
        for s in slices:
            at.setdefault((*row, s[2]), set()).add(s)
    for flow, (a, b) in zip(sorted(arrows["s"]), want):
        check("%s: arrow %d" % (label, flow),
              a in at[arrows["s"][flow]] and b in at[arrows["f"][flow]])


def check_chrome(label, data, want):
    slices, arrows, rows, samples = read_chrome(label, data)
    check(label + ": slices", sorted(slices) == sorted(want[0].values()))
    check(label + ": samples", sorted(samples) == sorted(want[2]))
    check_arrows(label, want[1], arrows, rows)


def check_perfetto(label, data, want):
    trace = Trace(data)
    # A category of its own stands before the kind; without one the kind is alone.
    mine = {id(s): frozen(*trace.place(s["track"]), s["begin"], s["dur"], s["name"],
                          s["categories"][0] if len(s["categories"]) == 2 else
                          CATEGORIES.get(s["categories"][0], s["categories"][0]),
                          s["args"]) for s in trace.slices}
    check(label + ": slices",
          sorted((*s[:1], row_name(s[1]), *s[2:]) for s in mine.values()) ==
          sorted(want[0].values()))
    check(label + ": arrows",
          [(mine[id(a)], mine[id(b)]) for _, (a, b) in sorted(trace.flows.items())] == want[1])
    check(label + ": samples", sorted(trace.samples) == sorted(want[2]))
    check(label + ": one writer that says where it begins",
          trace.sequences == {1} and trace.first_flags == 1)
    check(label + ": clocks", trace.clocks[1] - trace.clocks[6] == TO_UNIX)
    kinds = {t["kind"] for t in trace.tracks.values()}
    check(label + ": kinds of tracks", kinds == {"process", "thread", "child", "counter"})
    return trace


def check_protoc(label, path, proto, trace):
    """protoc must read the same: it refuses what is no message, and its text has the same counts."""
    with open(path, "rb") as f:
        text = subprocess.run(["protoc", "--proto_path", os.path.dirname(proto),
                               "--decode=strata.perfetto.Trace", os.path.basename(proto)],
                              stdin=f, stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = text.splitlines()
    check(label + ": protoc's packets", lines.count("packet {") == trace.packets)
    check(label + ": fields that protoc does not know",
          not any(re.match(r"\s*\d+[:{ ]", line) for line in lines))
    count = lines.count
    check(label + ": protoc's slices", count("    type: 1") == len(trace.slices) ==
          count("    type: 2"))
    check(label + ": protoc's samples", count("    type: 4") == len(trace.samples))
    check(label + ": protoc's tracks", count("  track_descriptor {") == len(trace.tracks))
    begins = [int(m) for m in re.findall(r"timestamp: (\d+)\n[^}]*\n  track_event \{\n(?:    .*\n)*?"
                                         r"    type: 1\n", text)]
    check(label + ": protoc's begins", sorted(begins) == sorted(s["begin"] for s in trace.slices))


def check_csv(label, path, want):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    got = [frozen(r["process"], r["lane"], int(r["start_ns"]), int(r["dur_ns"]), r["name"],
                  r["cat"] or CATEGORIES.get(r["kind"], r["kind"]), json.loads(r["args"] or "{}")) for r in rows]
    check(label + ": slices", sorted(got) == sorted(want[0].values()))
    begins = [int(r["start_ns"]) for r in rows]
    check(label + ": order", begins == sorted(begins))


def check_db(label, path, truth, want):
    numbers = {i: w[2:5] for i, w in want[0].items()}  # begin, dur, name
    with sqlite3.connect(path) as db:
        rows = {r[0]: r[1:] for r in db.execute("SELECT id, ts, dur, name FROM slices")}
        check(label + ": slices", rows == numbers)
        check(label + ": ends", all(e == t + d for t, d, e in db.execute("SELECT ts, dur, end_ts FROM slices")))
        arrows = [[a, b] for a, b in truth["flows"] if a in numbers and b in numbers]
        check(label + ": arrows", sorted(map(list, db.execute("SELECT from_id, to_id FROM flows"))) == sorted(arrows))
        kernels = {i for i in numbers if truth["slices"][i]["kind"] in ("compute", "comm", "comm_part", "aicpu")}
        check(label + ": kernels", kernels <= {r[0] for r in db.execute("SELECT id FROM kernels")} <= set(numbers))
    db.close()


def check_speedscope(label, path, want):
    with open(path) as f:
        document = json.load(f)
    got = []
    for profile in document["profiles"]:
        stack = []
        for event in profile["events"]:
            if event["type"] == "O":
                stack.append(event)
            else:
                begin = stack.pop()
                check(label + ": nesting", begin["frame"] == event["frame"])
                got.append((document["shared"]["frames"][event["frame"]]["name"], event["at"] - begin["at"]))
        check(label + ": open slices", not stack)
    check(label + ": slices", sorted(got) == sorted((w[4] or "(no name)", w[3]) for w in want[0].values()))


def main():
    write_sample, proto = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([write_sample, folder], check=True)
        with open(os.path.join(folder, "truth.json")) as f:
            truth = json.load(f)
        w = truth["windows"]
        cuts = {"all": [], "cut": [(w[i], w[i + 1]) for i in range(0, len(w), 2)]}
        for name, windows in cuts.items():
            want = truth_of(truth, windows)
            path = os.path.join(folder, name)
            with open(path + ".json", "rb") as f:
                plain = f.read()
            check_chrome(name + ".json", plain, want)
            with gzip.open(path + ".json.gz") as f:
                check(name + ".json.gz: not the same as plain", f.read() == plain)
            with open(path + ".pftrace", "rb") as f:
                trace = check_perfetto(name + ".pftrace", f.read(), want)
            check_protoc(name + ".pftrace", path + ".pftrace", proto, trace)
            check_csv(name + ".csv", path + ".csv", want)
            check_db(name + ".db", path + ".db", truth, want)
            check_speedscope(name + ".speedscope.json", path + ".speedscope.json", want)
            print("%s: %d slices, %d arrows, %d samples" % (name, *map(len, want)))
    for problem in problems[:20]:
        print(problem)
    print("%d problems" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
