#!/usr/bin/env python3
"""Compares work, rates and MFU with a hand calculation for one layer of a Llama-like model.

usage: work.py STRATA SHARED
The recording is of five passes through a layer on an H200 in bf16, two sequences of 2048 tokens. All
numbers follow from the layer's dimensions and the times in the recording. SHARED is not used.
"""
import gzip
import json
import os
import subprocess
import sys

PASSES = 5
BATCH, LENGTH, WIDTH, HEADS, KV_HEADS, HEAD, INNER = 2, 2048, 4096, 32, 8, 128, 14336
TOKENS = BATCH * LENGTH
PEAK, BANDWIDTH = 989.4e12, 4800e9  # of the H200's data sheet: dense bf16, HBM3e

RECORDING = os.path.join(os.path.dirname(__file__), "..", "data", "work", "llama_layer.json.gz")

problems = []


def close(what, want, got, part=1e-9):
    if got is None or abs(got - want) > part * abs(want):
        problems.append(f"{what}: want {want!r}, got {got!r}")


def flops_of_pass():
    """Two for each multiplication: four projections, three of the MLP, scores and their values."""
    attention = 2 * TOKENS * WIDTH * (2 * HEADS * HEAD + 2 * KV_HEADS * HEAD)
    mlp = 3 * 2 * TOKENS * WIDTH * INNER
    scores = 2 * 2 * BATCH * HEADS * LENGTH * LENGTH * HEAD
    return attention + mlp + scores


def run(strata, *args):
    out = subprocess.run([strata, "ops", RECORDING, "--json", *args], check=True,
                         capture_output=True).stdout
    return json.loads(out)["result"]


def main():
    strata = sys.argv[1]
    with gzip.open(RECORDING) as file:
        events = json.load(file)["traceEvents"]
    kernels = [e for e in events if e.get("cat") in ("kernel", "gpu_memset")]
    steps = [e for e in events if e["name"].startswith("ProfilerStep") and e["cat"] == "user_annotation"]
    begin = min(e["ts"] for e in steps)
    wall = (max(e["ts"] + e["dur"] for e in kernels) - begin) / 1e6

    result = run(strata, "--by", "shape")
    every = result["steps"][-1]
    if (result["device"], len(result["steps"]), every["step"]) != ("H200", PASSES + 1, "all"):
        problems.append(f"steps: {result['device']}, {len(result['steps'])}, {every['step']}")
    close("work of all steps", PASSES * flops_of_pass(), every["flops"])
    close("MFU", PASSES * flops_of_pass() / wall / PEAK, every["mfu"], 0.01)
    close("MFU from steps", every["mfu"] * every["duration_ns"],
          sum(s["mfu"] * s["duration_ns"] for s in result["steps"][:-1]))
    close("bandwidth", every["bytes"] / wall / BANDWIDTH, every["bandwidth_share"], 0.01)

    # The projections into the MLP: rate and bytes from the kernels' own times.
    row = next(r for r in result["rows"]
               if r["name"] == "aten::mm" and r["input_shapes"] == f"{TOKENS},{WIDTH};{WIDTH},{INNER}")
    flops = PASSES * 2 * 2 * TOKENS * WIDTH * INNER
    moved = PASSES * 2 * 2 * (TOKENS * WIDTH + WIDTH * INNER + TOKENS * INNER)
    close("work of a product", flops, row["flops"])
    close("bytes of a product", moved, row["bytes"])
    close("rate of a product", flops / row["device_ns"] / 1e3, row["tflops_per_s"])
    close("bandwidth of a product", moved / row["device_ns"], row["gb_per_s"])

    # A norm's square of floats: read and written once, at 85 % of the bandwidth.
    row = next(r for r in result["rows"] if r["name"] == "aten::pow")
    roof = 2 * 4 * TOKENS * WIDTH / (0.85 * BANDWIDTH) * 1e9
    close("roof of an elementwise operator", roof * row["kernels"] / row["device_ns"],
          row["roof_share"], 0.01)
    close("headroom", row["device_ns"] * (1 - row["roof_share"]), row["headroom_ns"], 1e-6)

    ranked = run(strata, "--by", "shape", "--sort", "headroom")["rows"]
    known = [r["headroom_ns"] for r in ranked if r["headroom_ns"] is not None]
    if known != sorted(known, reverse=True) or not known or any(r["own_kernels"] == 0 for r in ranked):
        problems.append("rows are not in the order of their headroom")

    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
