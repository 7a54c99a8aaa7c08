#!/usr/bin/env python3
"""Records programs with one planted problem and their repaired twins, and times both bare.

usage: planted.py FOLDER
Leaves CASE.json.gz and fixed_CASE.json.gz of six steps each and savings.tsv: the time of a step
without any profiler, each followed by a synchronise.
"""
import gzip
import os
import shutil
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule

D = "cuda"


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, w // self.heads).unbind(2)
        a = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(x)))


def blocks(n=3, width=768, heads=12, dtype=torch.bfloat16):
    return torch.nn.Sequential(*[Block(width, heads) for _ in range(n)]).to(D, dtype).eval()


def item_sync(sick):
    model, x = blocks(6), torch.randn(4, 512, 768, device=D, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        y = x
        for layer in model:
            y = layer(y)
            if sick:
                y.float().mean().item()
    return step


def small_kernels(sick):
    xs = [torch.randn(128, 128, device=D) for _ in range(8)]

    def work():
        for _ in range(60):
            for x in xs:
                x.mul_(1.0001).add_(0.001)
    if not sick:
        work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return graph.replay
    return work


def cpu_augment(sick):
    model = blocks(2)
    ready = torch.randn(8, 256, 768).to(torch.bfloat16).pin_memory()
    raw = torch.randn(8, 256, 768)

    @torch.no_grad()
    def step():
        if sick:
            y = raw
            for _ in range(20):
                y = torch.sin(y) * 1.01 + 0.1
            batch = y.to(torch.bfloat16).to(D)
        else:
            batch = ready.to(D, non_blocking=True)
        model(batch)
    return step


def pageable(sick):
    model = blocks(1)
    hosts = [torch.ones(48 << 20, dtype=torch.uint8) for _ in range(3)]
    if not sick:
        hosts = [h.pin_memory() for h in hosts]
    x = torch.randn(4, 256, 768, device=D, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        for h in hosts:
            h.to(D, non_blocking=not sick)
            model(x)
    return step


def allocator(sick):
    model, x = blocks(2), torch.randn(4, 1024, 768, device=D, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        for _ in range(2):
            model(x)
            if sick:
                torch.cuda.empty_cache()
    return step


def fp32_gemm(sick):
    torch.backends.cuda.matmul.allow_tf32 = not sick
    a = [torch.randn(3072, 3072, device=D) for _ in range(4)]

    def step():
        torch.backends.cuda.matmul.allow_tf32 = not sick
        y = a[0]
        for b in a:
            y = torch.tanh(y @ b)
    return step


def adam_loop(sick):
    net = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(30)]).to(D)
    opt = torch.optim.Adam(net.parameters(), foreach=False) if sick else \
        torch.optim.Adam(net.parameters(), fused=True)
    x = torch.randn(512, 1024, device=D)

    def step():
        opt.zero_grad(set_to_none=True)
        net(x).square().mean().backward()
        opt.step()
    return step


def stream_waits(sick):
    model = blocks(4)
    host = [torch.ones(64 << 20, dtype=torch.uint8).pin_memory() for _ in range(4)]
    x = torch.randn(8, 1024, 768, device=D, dtype=torch.bfloat16)
    side = torch.cuda.Stream()
    buffers = [torch.empty(64 << 20, dtype=torch.uint8, device=D) for _ in range(4)]

    @torch.no_grad()
    def step():
        main = torch.cuda.current_stream()
        for h, b in zip(host, buffers):
            if sick:
                side.wait_stream(main)
            with torch.cuda.stream(side):
                b.copy_(h, non_blocking=True)
            if sick:
                main.wait_stream(side)
            model(x)
        main.wait_stream(side)
    return step


def file_write(sick):
    model, x = blocks(2), torch.randn(2, 512, 768, device=D, dtype=torch.bfloat16)
    data = os.urandom(3 << 20)

    @torch.no_grad()
    def step():
        model(x)
        torch.cuda.synchronize()
        if sick:
            with open("/tmp/planted.bin", "wb") as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
    return step


def logits_d2h(sick):
    model = blocks(3)
    x = torch.randn(8, 512, 768, device=D, dtype=torch.bfloat16)
    head = torch.randn(768, 16384, device=D, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        y = model(x)[:, -64:] @ head
        if sick:
            y.cpu().argmax(-1)
        else:
            y.argmax(-1).cpu()
    return step


CASES = [item_sync, small_kernels, cpu_augment, pageable, allocator, fp32_gemm, adam_loop, stream_waits,
         file_write, logits_d2h]


def bare(step, n=15):
    for _ in range(4):
        step()
        torch.cuda.synchronize()
    times = []
    for _ in range(n):
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times), statistics.fmean(times)


def record(step, path, sync):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=2, active=6)) as prof:
        for _ in range(9):
            step()
            if sync:
                torch.cuda.synchronize()
            prof.step()
    prof.export_chrome_trace(path)
    with open(path, "rb") as raw, gzip.open(path + ".gz", "wb") as packed:
        shutil.copyfileobj(raw, packed)
    os.remove(path)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    rows = ["case\tsick_median_ms\tsick_mean_ms\tfixed_median_ms\tfixed_mean_ms"]
    for case in CASES:
        row = [case.__name__]
        for sick in (True, False):
            step = case(sick)
            row += ["%.4f" % t for t in bare(step)]
            record(step, f"{folder}/{'' if sick else 'fixed_'}{case.__name__}.json", not sick)
            del step
            torch.cuda.empty_cache()
        rows.append("\t".join(row))
        print(rows[-1], flush=True)
    open(folder + "/savings.tsv", "w").write("\n".join(rows) + "\n")


main()
