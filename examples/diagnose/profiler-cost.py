#!/usr/bin/env python3
"""Measures what torch.profiler adds to a host-bound loop: the same loop bare and recorded.

usage: profiler-cost.py OUT.json
Every row has the time of one pass through a loop, bare and recorded, and how many operators, runtime
calls and graph nodes the recording holds. `strata` takes its constants from the fit over the rows
(examples/diagnose/profiler-cost.json); no row is a program that predictions are judged by.
"""
import collections
import json
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule

DEVICE = "cuda"
REPEATS = 30


def timed(fn, repeats=REPEATS):
    for _ in range(5):
        fn()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        fn()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def recorded(fn, shapes=True, steps=6):
    """Median time of a pass under the profiler, and the events of one."""
    times = []
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=shapes,
                 schedule=schedule(wait=1, warmup=2, active=steps)) as prof:
        for i in range(3 + steps):
            begin = time.perf_counter()
            fn()
            torch.cuda.synchronize()
            if i >= 3:
                times.append(time.perf_counter() - begin)
            prof.step()
    path = os.path.join(tempfile.mkdtemp(), "t.json")
    prof.export_chrome_trace(path)
    events = json.load(open(path))["traceEvents"]
    counts, durations = collections.Counter(), collections.defaultdict(list)
    for e in events:
        cat = e.get("cat")
        if e.get("ph") == "X" and cat in ("cpu_op", "cuda_runtime", "cuda_driver", "kernel",
                                          "gpu_memcpy", "gpu_memset"):
            counts[cat] += 1
            if cat.startswith("cuda_"):
                durations[e["name"]].append(e["dur"])
    return (statistics.median(times) * 1e6, {k: v / steps for k, v in counts.items()},
            {k: {"n": len(v) / steps, "us": statistics.median(v)} for k, v in durations.items()})


def graph_of(fn):
    fn()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        fn()
    return graph


def loops():
    x = torch.randn(64, 64, device=DEVICE)
    w = torch.randn(64, 64, device=DEVICE)
    h = torch.randn(8, 32, 64, device=DEVICE, dtype=torch.bfloat16)
    hw = torch.randn(64, 64, device=DEVICE, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    index = torch.randint(0, 64, (32,), device=DEVICE)
    host = torch.randn(64, 64).pin_memory()
    params = [torch.nn.Parameter(torch.randn(64, 64, device=DEVICE)) for _ in range(20)]
    mlp = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(10)]).to(DEVICE)

    def many(fn, n):
        def run():
            for _ in range(n):
                fn()
        return run

    def train():
        mlp(x).sum().backward()

    yield "add_out", many(lambda: torch.add(x, w, out=out), 300)
    yield "mul", many(lambda: x * 2, 300)
    yield "view", many(lambda: x.view(4096), 600)
    yield "transpose", many(lambda: x.t(), 600)
    yield "chunk", many(lambda: x.chunk(4), 200)
    yield "mm", many(lambda: torch.mm(x, w, out=out), 200)
    yield "linear_bf16", many(lambda: F.linear(h, hw), 200)
    yield "softmax", many(lambda: F.softmax(x, -1), 200)
    yield "layer_norm", many(lambda: F.layer_norm(x, (64,)), 200)
    yield "zero_", many(lambda: out.zero_(), 300)
    yield "copy_h2d_pinned", many(lambda: out.copy_(host, non_blocking=True), 200)
    yield "index_select", many(lambda: x.index_select(0, index), 200)
    yield "cat", many(lambda: torch.cat([x, w]), 200)
    yield "sum", many(lambda: x.sum(), 200)
    yield "sdpa", many(lambda: F.scaled_dot_product_attention(h, h, h), 100)
    yield "gelu_add", many(lambda: F.gelu(x + w), 200)
    yield "train_mlp", many(train, 10)
    yield "addcmul_params", many(lambda: [p.data.addcmul_(x, w) for p in params], 10)
    yield "item", many(lambda: x[0, 0].item(), 100)

    def storm():
        a = torch.empty(32 << 20, device=DEVICE, dtype=torch.uint8)
        del a
        torch.cuda.empty_cache()
    yield "malloc_free_32MB", many(storm, 20)

    def storm3():
        a = [torch.empty(n << 20, device=DEVICE, dtype=torch.uint8) for n in (24, 48, 96)]
        del a
        torch.cuda.empty_cache()
    yield "malloc_free_3", many(storm3, 10)
    for nodes in (100, 400, 1500):
        graph = graph_of(many(lambda: torch.add(x, w, out=out), nodes))
        yield "graph_%d" % nodes, graph.replay


def optimizers():
    for count, elements in ((40, 65536), (80, 1 << 20), (200, 16384), (300, 262144)):
        for kind in ({"fused": True}, {"foreach": True}, {"foreach": False}):
            params = [torch.nn.Parameter(torch.randn(elements, device=DEVICE)) for _ in range(count)]
            for p in params:
                p.grad = torch.randn_like(p)
            opt = torch.optim.Adam(params, **kind)
            bare = timed(opt.step, 20)
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            host = time.perf_counter()
            begin.record()
            opt.step()
            end.record()
            host = (time.perf_counter() - host) * 1e6
            torch.cuda.synchronize()
            took, counts, _ = recorded(opt.step)
            yield {"params": count, "elements": elements, **kind, "bare_us": bare, "host_us": host,
                   "device_us": begin.elapsed_time(end) * 1e3, "recorded_us": took, **counts}


def copies():
    for mb in (16, 64, 256, 1024):
        n = mb << 20
        pinned = torch.empty(n, dtype=torch.uint8).pin_memory()
        pageable = torch.ones(n, dtype=torch.uint8)
        device = torch.empty(n, dtype=torch.uint8, device=DEVICE)
        yield {"mb": mb,
               "h2d_pinned_gbps": n / timed(lambda: device.copy_(pinned, non_blocking=True), 10) / 1e3,
               "d2h_pinned_gbps": n / timed(lambda: pinned.copy_(device, non_blocking=True), 10) / 1e3,
               "h2d_pageable_gbps": n / timed(lambda: device.copy_(pageable), 5) / 1e3}


def products():
    for dtype, tf32 in ((torch.bfloat16, False), (torch.float32, True), (torch.float32, False)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        for m, n, k in ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 1024, 4096),
                        (8192, 4096, 1024), (512, 8192, 2048), (16384, 2048, 2048), (256, 4096, 4096)):
            a = torch.randn(m, k, device=DEVICE, dtype=dtype)
            b = torch.randn(k, n, device=DEVICE, dtype=dtype)
            us = timed(lambda: [torch.mm(a, b) for _ in range(10)], 10) / 10
            yield {"m": m, "n": n, "k": k, "dtype": str(dtype), "tf32": tf32, "us": us,
                   "tflops": 2e-6 * m * n * k / us}


def main():
    rows = []
    for name, fn in loops():
        bare = timed(fn)
        took, counts, calls = recorded(fn)
        plain, _, _ = recorded(fn, shapes=False)
        rows.append({"loop": name, "bare_us": bare, "recorded_us": took, "no_shapes_us": plain,
                     **counts, "calls": calls})
        print(name, round(bare), round(took), round(plain), counts, flush=True)
    out = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0), "loops": rows,
           "optimizers": list(optimizers()), "copies": list(copies()), "products": list(products())}
    json.dump(out, open(sys.argv[1], "w"), indent=1)
    for part in ("optimizers", "copies", "products"):
        for row in out[part]:
            print({k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()})


main()
