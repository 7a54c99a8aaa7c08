#!/usr/bin/env python3
"""Holds `strata synth` against its own ground truth, and strata's readers against both.

usage: check.py STRATA [CASE...]
CASE is a name below, or random-N for options drawn with the seed N.
Every case is generated twice (same bytes), its JSON is read by Python, its kernel table and its
database are compared row by row, and figures are computed from the table by code of this script.
`strata anomaly` must then find, to the nanosecond, what ground_truth.json says, through every
format that `strata formats` lists.
"""
import csv
import filecmp
import gzip
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from decimal import Decimal

CASES = {
    "small": "--steps 6",
    "seed": "--steps 6 --seed 77 --bubbles 2 --bubble-ms 1.5 --formats all",
    "moe": "--model deepseek --layers 5 --steps 3 --formats text,db,kineto --flavor mid",
    "dense-old": "--model llama-8b --layers 3 --flavor old --steps 3 --formats text,db --no-stacks",
    "level0": "--level 0 --flavor mid --formats text,db",
    "level2": "--level 2 --flavor mid --formats text,db --mode decode",
    "train": "--mode train --steps 3 --formats all --tokens 2048",
    "partial": "--partial --steps 4 --formats text,db,kineto",
    "calm": "--bubbles 0 --aicpu 0 --layers 1 --steps 2 --formats all",
    "job": "--ranks 3 --straggler 1 --slow 1.5 --skew-us -75.25 --formats text,db --steps 3",
    "sized": "--target-mb 1.5 --formats text --no-stacks",
    "cut": "--truncate 60k --formats text,kineto,chrome",
}
DATABASE = "ascend-db"  # the names of formats, as `strata formats` prints them
TIMELINE, KINETO = "trace-view", "kineto"
OUTPUT = "ASCEND_PROFILER_OUTPUT"

problems = []
counts = {}


def check(what, want, got):
    counts["compared"] = counts.get("compared", 0) + 1
    if want != got:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def ns(text):
    return int(Decimal(text.strip()) * 1000)


def generate(strata, folder, options):
    subprocess.run([strata, "synth", "-q", "-o", folder, *options.split()], check=True,
                   stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "ground_truth.json"), encoding="utf-8") as f:
        return json.load(f)


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder)
                  for d, _, names in os.walk(folder) for f in names)


def same_bytes(name, a, b):
    check(f"{name}: files", files_of(a), files_of(b))
    for path in files_of(a):
        check(f"{name}: {path} made twice", True,
              filecmp.cmp(os.path.join(a, path), os.path.join(b, path), shallow=False))


def events_of(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as f:
        data = json.load(f)
    return data if isinstance(data, list) else data.get("traceEvents")


def listed_files(name, folder, rank):
    """The files are there, are JSON where they say so, and have as many records as told."""
    for f in rank["files"]:
        path = os.path.join(folder, f["path"])
        if "complete_records" in f:
            check(f"{name}: {f['path']} size", f["bytes"], os.path.getsize(path))
            continue
        if not f["path"].endswith((".gz", ".db")):
            check(f"{name}: {f['path']} size", f["bytes"], os.path.getsize(path))
        if f["path"].endswith((".json", ".json.gz")):
            events = events_of(path)
            if f["records"] and "communication" not in f["path"]:
                check(f"{name}: {f['path']} events", f["records"], len(events))
        elif f["path"].endswith(".csv"):
            with open(path, newline="", encoding="utf-8") as c:
                check(f"{name}: {f['path']} rows", f["records"], len(list(csv.DictReader(c))))


def complete_events(name, folder, rank):
    """A cut file begins with exactly the number of whole events that the truth tells."""
    for f in rank["files"]:
        if "complete_records" not in f:
            continue
        with open(os.path.join(folder, f["path"]), encoding="utf-8") as text:
            data = text.read()
        start = data.index("[", data.find('"traceEvents"') + 1) + 1
        decoder, n = json.JSONDecoder(), 0
        while True:
            while start < len(data) and data[start] in ", \n":
                start += 1
            try:
                _, start = decoder.raw_decode(data, start)
            except ValueError:
                break
            n += 1
        check(f"{name}: {f['path']} whole events", f["complete_records"], n)


class Row:
    def __init__(self, name, kind, step, begin, dur, wait):
        self.name, self.kind, self.step = name, kind, step
        self.begin, self.dur, self.wait = begin, dur, wait

    def key(self):
        return (self.name, self.begin, self.dur)


def table_rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return [Row(r["Name"], r["Type"], r["Step Id"], ns(r["Start Time(us)"]),
                    ns(r["Duration(us)"]), ns(r["Wait Time(us)"])) for r in csv.DictReader(f)]


def covered(rows, begin, end):
    """The pieces of [begin, end) in which some row runs."""
    pieces = []
    for r in sorted(rows, key=lambda r: r.begin):
        a, b = max(r.begin, begin), min(r.begin + r.dur, end)
        if a >= b:
            continue
        if pieces and a <= pieces[-1][1]:
            pieces[-1][1] = max(pieces[-1][1], b)
        else:
            pieces.append([a, b])
    return pieces


def window(where, rows, view):
    pieces = covered(rows, view["begin_ns"], view["end_ns"])
    gaps = [b[0] - a[1] for a, b in zip(pieces, pieces[1:])]
    busy = sum(b - a for a, b in pieces)
    check(f"{where} busy", view["busy_union_ns"], busy)
    check(f"{where} underfeed", view["underfeed_ns"], view["end_ns"] - view["begin_ns"] - busy)
    check(f"{where} internal", view["internal_ns"], sum(gaps))
    check(f"{where} largest", view["largest_internal_ns"], max(gaps, default=0))
    check(f"{where} bubbles", view["bubble_count"], len(gaps))
    check(f"{where} prelaunch", view["prelaunch_ns"], pieces[0][0] - view["begin_ns"])
    check(f"{where} tail", view["tail_ns"], view["end_ns"] - pieces[-1][1])


def totals(where, rows, key, want):
    sums = {}
    for r in rows:
        one = sums.setdefault(key(r), [0, 0, 0])
        one[0] += 1
        one[1] += r.dur
        one[2] += r.wait
    check(where, {w["name"]: [w["count"], w["dur_ns"], w["wait_ns"]] for w in want}, sums)


def kernel_table(name, rank, rows, level):
    check(f"{name}: kernels", rank["kernels"], len(rows))
    if level > 0:
        totals(f"{name}: totals by type", rows, lambda r: r.kind, rank["by_type"])
    totals(f"{name}: totals by name", rows,
           lambda r: r.name.split("__")[0] + "_" if r.name.startswith("hcom_") else r.name,
           rank["by_name"])
    for a, b in zip(rows, rows[1:]):
        if max(0, b.begin - a.begin - a.dur) != b.wait:
            check(f"{name}: wait of the row at {b.begin}", max(0, b.begin - a.begin - a.dur), b.wait)
    for s in rank["steps"]:
        mine = [r for r in rows if r.step == str(s["step"])]
        check(f"{name}: step {s['step']} kernels", s["kernels"], len(mine))
        check(f"{name}: step {s['step']} duration", s["kernel_dur_ns"], sum(r.dur for r in mine))
        for view in ("host", "table"):
            window(f"{name}: step {s['step']} {view}", rows, s["windows"][view])


def database(name, path, rank, rows):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    ask = lambda sql: db.execute(sql).fetchall()
    kernels = ask("SELECT s.value, t.startNs, t.endNs - t.startNs FROM COMPUTE_TASK_INFO c "
                  "JOIN TASK t USING (globalTaskId) JOIN STRING_IDS s ON s.id = c.name")
    kernels += ask("SELECT s.value, o.startNs, o.endNs - o.startNs FROM COMMUNICATION_OP o "
                   "JOIN STRING_IDS s ON s.id = o.opName")
    check(f"{name}: kernels of the database", rank["kernels"], len(kernels))
    if rows is not None:
        check(f"{name}: the database has the table's kernels", True,
              sorted(kernels) == sorted(r.key() for r in rows))
    host = rank["host_events"]
    check(f"{name}: framework events", sum(host[k] for k in
          ("cpu_op", "step_mark", "python_function", "enqueue", "dequeue")),
          ask("SELECT count(*) FROM PYTORCH_API")[0][0])
    check(f"{name}: CANN events", host["acl"] + host["node"] + host["hccl"] + host["runtime"],
          ask("SELECT count(*) FROM CANN_API")[0][0])
    check(f"{name}: steps", [(s["step"], s["begin_ns"], s["mark_end_ns"]) for s in rank["steps"]],
          ask("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY id"))
    check(f"{name}: kernels with their launch", rank["kernels"],
          ask("SELECT count(*) FROM PYTORCH_API p JOIN CONNECTION_IDS k ON k.id = p.connectionId "
              "JOIN CANN_API a ON a.connectionId = k.connectionId JOIN (SELECT connectionId FROM "
              "TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) UNION ALL SELECT connectionId FROM "
              "COMMUNICATION_OP) t ON t.connectionId = a.connectionId WHERE p.type = 50001")[0][0])
    db.close()


def kineto(name, path, rank):
    events = events_of(path)
    device = [e for e in events if e.get("cat") == "kernel"]
    copies = [e for e in events if e.get("cat") == "gpu_memcpy"]
    check(f"{name}: kineto kernels", rank["kernels"], len(device))
    check(f"{name}: kineto time", sum(t["dur_ns"] for t in rank["by_type"]),
          sum(round(e["dur"] * 1000) for e in device))
    launches = {e["args"]["correlation"] for e in events if e.get("cat") == "cuda_runtime"}
    check(f"{name}: kineto copies", rank["copies"], len(copies))
    rows = [Row("", "", "", round(Decimal(str(e["ts"])) * 1000), round(Decimal(str(e["dur"])) * 1000),
                0) for e in device + copies]
    check(f"{name}: kineto busy time", rank["busy_with_copies_ns"],
          sum(b - a for a, b in covered(rows, 0, 1 << 62)))
    check(f"{name}: kineto launches", True,
          all(e["args"]["correlation"] in launches for e in device + copies))
    check(f"{name}: kineto steps", [s["step"] for s in rank["steps"]],
          sorted(int(e["name"].split("#")[1]) for e in events
                 if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")))


METRICS = {"service_ms": "service_ns", "device_busy_union_ms": "busy_union_ns",
           "underfeed_ms": "underfeed_ns", "prelaunch_gap_ms": "prelaunch_ns",
           "tail_gap_ms": "tail_ns", "internal_bubble_total_ms": "internal_ns",
           "largest_internal_bubble_ms": "largest_internal_ns"}
SEVERITY = ("DEVICE_IDLE_GAP_HEAVY", "PRELAUNCH_GAP_HEAVY", "TAIL_GAP_HEAVY",
            "INTERNAL_BUBBLE_HEAVY")
INVENTORY = {"total_kernel_count": "kernels", "ai_core_count": "ai_core_count",
             "ai_cpu_count": "ai_cpu_count", "comm_count": "comm_count"}


def anomaly(strata, where, path, rank, view, has_types, has_host):
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([strata, "anomaly", path, "--json", "-o", out], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        problems.append(f"{where}: strata anomaly ended with {done.returncode}: "
                        f"{done.stderr.decode()}")
        return
    document = json.loads(done.stdout)
    steps = {s["number"]: s for s in document["steps"]}
    check(f"{where}: steps", [s["step"] for s in rank["steps"]], sorted(steps))
    for s in rank["steps"]:
        got, want = steps.get(s["step"]), s["windows"][view]
        if got is None:
            continue
        for metric, key in METRICS.items():
            check(f"{where}: step {s['step']} {metric}", want[key], round(got[metric] * 1e6))
        check(f"{where}: step {s['step']} bubbles", want["bubble_count"], got["bubble_count"])
        check(f"{where}: step {s['step']} tags", want["tags"],
              [t for t in got["anomaly_tags"] if t in SEVERITY])
        if has_types:
            for metric, key in INVENTORY.items():
                check(f"{where}: step {s['step']} {metric}", s[key], got["inventory"][metric])
    if has_types:
        anchors(where, document, rank)
    if has_host:
        bubbles(where, document, rank)


def anchors(where, document, rank):
    flagged = sorted(o["op_name"] for o in document["anomaly_discovery"]["wait_anchor_ops"]
                     if o["is_false_hotspot_risk"])
    check(f"{where}: wait anchors",
          sorted(t["name"] for t in rank["by_type"] if t["is_wait_anchor"]), flagged)


def bubbles(where, document, rank):
    origin = ns(document["capture"]["time_origin_us"])
    found = {(origin + round(b["start_rel_us"] * 1000), origin + round(b["end_rel_us"] * 1000)):
             b["candidate_labels"] for b in document["anomaly_discovery"]["bubble_windows"]}
    for b in rank["bubbles"]:
        if b["end_ns"] - b["begin_ns"] < 100000:
            continue
        check(f"{where}: labels of the {b['cause']} bubble of step {b['step']}", b["labels"],
              found.get((b["begin_ns"], b["end_ns"])))


def injected(name, rank, options):
    """Each injected cause leads to its label, where launches around it do not blur it."""
    whole = {s["step"] for s in rank["steps"][:-1]}
    for b in rank["bubbles"]:
        if b["end_ns"] - b["begin_ns"] < 800000 or b["step"] not in whole:
            continue
        check(f"{name}: expected label of the {b['cause']} bubble of step {b['step']}", True,
              b["expected_label"] in b["labels"])
    check(f"{name}: stacks", options["stacks"], rank["host_events"]["python_function"] > 0)


def case(strata, formats, name, options):
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "a")
        truth = generate(strata, folder, options)
        generate(strata, os.path.join(scratch, "b"), options)
        same_bytes(name, folder, os.path.join(scratch, "b"))
        level = truth["options"]["level"]
        for rank in truth["ranks"]:
            where = f"{name} rank {rank['rank']}"
            output = os.path.join(folder, f"rank{rank['rank']}_ascend_pt", OUTPUT)
            table = os.path.join(output, "kernel_details.csv")
            base = os.path.join(output, f"ascend_pytorch_profiler_{rank['rank']}.db")
            traces = os.path.join(folder, "kineto", f"rank{rank['rank']}.pt.trace.json")
            rows = None
            listed_files(where, folder, rank)
            complete_events(where, folder, rank)
            injected(where, rank, truth["options"])
            if os.path.exists(table):
                rows = table_rows(table)
                kernel_table(where, rank, rows, level)
                anomaly(strata, f"{where} table", table, rank, "table", level > 0, False)
            if os.path.exists(base):
                database(where, base, rank, rows)
                if DATABASE in formats:
                    anomaly(strata, f"{where} database", base, rank, "host", level > 0, True)
            if os.path.exists(traces) and not truth["options"]["truncate"]:
                kineto(where, traces, rank)
                if KINETO in formats:
                    anomaly(strata, f"{where} kineto", traces, rank, "host_with_copies", False,
                            False)
            timeline = os.path.join(output, "trace_view.json")
            if os.path.exists(timeline) and not truth["options"]["truncate"] and \
                    TIMELINE in formats:
                anomaly(strata, f"{where} timeline", timeline, rank, "host", False, True)
                anomaly(strata, f"{where} folder", os.path.dirname(output), rank, "host", level > 0,
                        True)


def random_options(seed):
    """Any mixture of options, small enough to be quick."""
    r = random.Random(seed)
    options = {
        "--model": r.choice(["tiny", "llama-8b", "llama-70b", "qwen-moe", "deepseek"]),
        "--layers": r.randint(1, 5), "--steps": r.randint(1, 9), "--seed": r.randint(0, 10 ** 9),
        "--mode": r.choice(["prefill", "decode", "mixed", "train"]), "--ranks": r.randint(1, 4),
        "--tokens": r.choice([1, 128, 4096]), "--batch": r.choice([1, 7, 64]),
        "--bubbles": r.randint(0, 4), "--bubble-ms": r.choice(["0.2", "1", "7.5"]),
        "--aicpu": r.randint(0, 6), "--level": r.randint(0, 2), "--straggler": r.randint(-1, 2),
        "--flavor": r.choice(["new", "mid", "old"]), "--skew-us": r.choice(["0", "-1.5", "333.333"]),
        "--prefill-every": r.randint(0, 3), "--formats": r.choice(["all", "text,db", "text,kineto"]),
    }
    flags = [f for f in ("--partial", "--no-stacks") if r.random() < 0.4]
    return " ".join([f"{k} {v}" for k, v in options.items()] + flags)


def main():
    strata = os.path.abspath(sys.argv[1])
    listing = subprocess.run([strata, "formats"], check=True, text=True, stdout=subprocess.PIPE)
    formats = [line.split()[0] for line in listing.stdout.splitlines() if line.split()]
    for name in sys.argv[2:] or [*CASES, "random-1", "random-2", "random-3"]:
        options = CASES.get(name) or random_options(int(name.removeprefix("random-")))
        case(strata, formats, name, options)
    for line in problems[:60]:
        print(line)
    print(f"{counts.get('compared', 0)} figures compared, {len(problems)} differ")
    return 1 if problems else 0


sys.exit(main())
