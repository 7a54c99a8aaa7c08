#!/usr/bin/env python3
"""Compares what the trace importers read with counts made apart from strata.

usage: traces.py IMPORT_COUNTS SHARED [--damage]
Every trace is also read by Python's own JSON reader, and
events, device work, flows and steps are counted by the rules of docs/formats. With --damage each
sample is also cut and changed at random places: the importer must end with 0 or 3.
"""
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from samples import Samples

BUSY = {"ai_core", "ai_vector_core", "aic", "aiv", "aiv_sqe", "mix_aic", "mix_aiv", "ffts_plus", "fusion",
        "kernel_aicore", "kernel_aivec", "kernel_mix_aic", "kernel_mix_aiv", "kernel_aicpu", "ai_cpu",
        "dsa_sqe", "dsa", "dvpp", "vpc_sqe", "jpege_sqe", "jpegd_sqe", "other"}
GPU_BUSY = {"kernel", "concurrent_kernel", "gpu_memcpy", "gpu_memset"}
STEP = re.compile(r"(ProfilerStep#|Iteration#|Step#|Iteration |Step )\d+$")
problems = []


def ns(text):
    """Exact nanoseconds of microseconds as they are printed, a fourth digit rounding."""
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    whole, _, part = text.partition(".")
    part = (part + "0000")[:4]
    return sign * (int(whole) * 1000 + int(part[:3]) + (part[3] >= "5"))


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        data = json.loads(f.read().decode("utf-8", "replace"), strict=False, parse_float=str)
    return data if isinstance(data, dict) else {"traceEvents": data}


def expected(path):
    data = load(path)
    events = data["traceEvents"]
    process, row = {}, {}
    for e in events:
        if e.get("ph") == "M" and e["name"] == "process_name":
            process[e["pid"]] = e["args"]["name"]
        if e.get("ph") == "M" and e["name"] == "thread_name":
            row[e["pid"], e["tid"]] = e["args"]["name"]
    kernels, total, steps = 0, 0, set()
    for e in events:
        if e.get("ph") != "X":
            continue
        cat, name = e.get("cat", "").lower(), process.get(e["pid"])
        task = str((e.get("args") or {}).get("Task Type", "")).lower()
        is_group = name in ("HCCL", "Communication") and not row.get((e["pid"], e["tid"]), "").startswith("Plane")
        busy = cat in GPU_BUSY or (name == "Ascend Hardware" and task in BUSY) or (
            is_group and e["name"].lower().startswith(("hcom_", "hccl"))) or (
            name == "Ascend Hardware" and e["name"].startswith("MEMCPY_ASYNC"))
        if busy:
            kernels += 1
            total += ns(str(e["dur"]))
        if STEP.match(e["name"]) and cat in ("cpu_op", "user_annotation", ""):
            steps.add(e["name"])
    return {"rows": len(events), "kernels": kernels, "kernel_ns": total, "steps": len(steps),
            "rank": data.get("distributedInfo", {}).get("rank", -1),
            "to_unix": data.get("baseTimeNanoseconds", 0)}


def read(program, path, threads=2):
    done = subprocess.run([program, path, str(threads)], stdout=subprocess.PIPE, timeout=120)
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else None


def check(program, path):
    code, got = read(program, path)
    name = os.path.basename(path)
    if code != 0:
        problems.append(f"{name}: exit {code}")
        return
    if got != read(program, path, 1)[1]:
        problems.append(f"{name}: one thread and two differ")
    mine = {"rows": got["sources"][0]["rows"], "kernels": sum(got["kinds"][:5]),
            "kernel_ns": got["kernel_ns"], "steps": got["steps"], "rank": got["rank"],
            "to_unix": got["to_unix"]}
    want = expected(path)
    for key, value in want.items():
        if key == "rank" and value < 0:
            continue  # the folder may tell what the trace does not
        if mine[key] != value:
            problems.append(f"{name}: {key}: want {value}, got {mine[key]}")
    if got["sources"][0]["lost"] != 0:
        problems.append(f"{name}: lost {got['sources'][0]['lost']}: {got['diagnostics']}")


def damage(program, path, folder, rng):
    with open(path, "rb") as f:
        data = f.read()
    hurt = os.path.join(folder, "hurt.json.gz" if path.endswith(".gz") else "hurt.json")
    for _ in range(20):
        cut = bytearray(data[:rng.randrange(len(data))])
        flipped = bytearray(data)
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        for what, variant in (("cut", cut), ("flipped", flipped)):
            with open(hurt, "wb") as f:
                f.write(variant)
            code, got = read(program, hurt)
            if code not in (0, 3):
                problems.append(f"{path}: {what}: exit {code}")
            if what == "cut" and code == 0 and not got["diagnostics"]:
                problems.append(f"{path}: cut at {len(cut)} and nothing said")


def main():
    program, shared = sys.argv[1:3]
    samples = Samples(shared)
    public = ("captures/ascend/*/*/*/trace_view.json", "captures/ascend/misc/trace_view*.json",
              "captures/kineto/*.json.gz", "gpu/kineto/*.json.gz")
    ours = ("captures/synthetic/*/*/*/trace_view.json", "gpu/kineto-h200/*.json.gz")
    paths = [str(p) for pattern in public for p in samples.glob(pattern)]
    paths += [str(p) for pattern in ours for p in samples.ours(pattern)]
    rng = random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            check(program, path)
            if "--damage" in sys.argv:
                damage(program, path, folder, rng)
    print("\n".join(problems + [f"{len(paths)} traces, {len(problems)} problems"]))
    sys.exit(samples.exit_code(problems or not paths))


main()
