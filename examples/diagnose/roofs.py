#!/usr/bin/env python3
"""Measures what well-written kernels reach: convolutions, attention, sorting, types, optimizers, fusion.

usage: roofs.py OUT.json
Every row has the time of one call, or of the slow way and of its repair. `strata whatif` takes the roofs
of its changes from the rows (docs/whatif.md); no row is a program that predictions are judged by.
"""
import json
import statistics
import sys

import torch
import torch.nn.functional as F

DEVICE = "cuda"


def device_us(fn, repeats=15, calls=5):
    """Time of one call on the device."""
    for _ in range(3):
        fn()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            fn()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def products():
    """Odd sizes against the next multiples of 64."""
    for n in (1021, 1535, 2047, 3001, 5119, 6143):
        even = (n + 63) // 64 * 64
        row = {"n": n}
        for name, size in (("odd_us", n), ("even_us", even)):
            a, b = randn(size, size, dtype=torch.bfloat16), randn(size, size, dtype=torch.bfloat16)
            row[name] = device_us(lambda: a @ b)
        row["even_tflops"] = 2e-6 * even ** 3 / row["even_us"]
        yield row


def convolutions():
    shapes = ((64, 64, 112, 3, 1), (32, 128, 64, 3, 1), (16, 512, 28, 3, 1), (64, 256, 28, 3, 1),
              (32, 256, 64, 1, 1), (32, 192, 48, 5, 1), (64, 128, 56, 3, 2), (128, 512, 14, 3, 1))
    for batch, channels, size, kernel, stride in shapes:
        for dtype, tf32, channels_last in ((torch.float32, False, False), (torch.float32, True, False),
                                           (torch.bfloat16, True, True)):
            torch.backends.cudnn.allow_tf32 = tf32
            conv = torch.nn.Conv2d(channels, channels, kernel, stride, kernel // 2, bias=False).to(DEVICE, dtype)
            x = randn(batch, channels, size, size, dtype=dtype)
            if channels_last:
                conv, x = conv.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
            with torch.no_grad():
                out = conv(x)
                us = device_us(lambda: conv(x))
            flops = 2.0 * out.numel() * channels * kernel * kernel
            yield {"batch": batch, "channels": channels, "size": size, "kernel": kernel, "stride": stride,
                   "dtype": str(dtype), "tf32": tf32, "channels_last": channels_last, "us": us,
                   "tflops": flops / us * 1e-6}


def attention():
    for batch, heads, length, depth in ((2, 16, 1024, 64), (8, 12, 512, 64), (1, 32, 4096, 128),
                                        (4, 32, 1024, 128), (16, 8, 768, 96), (2, 8, 3072, 64)):
        for dtype in (torch.bfloat16, torch.float32):
            q, k, v = (randn(batch, heads, length, depth, dtype=dtype) for _ in range(3))

            def by_hand():
                return torch.softmax(q @ k.transpose(-1, -2) / depth ** 0.5, -1) @ v
            us = device_us(lambda: F.scaled_dot_product_attention(q, k, v))
            yield {"batch": batch, "heads": heads, "length": length, "depth": depth, "dtype": str(dtype),
                   "us": us, "by_hand_us": device_us(by_hand),
                   "tflops": 4e-6 * batch * heads * length * length * depth / us}


def sorting():
    for rows, columns in ((64, 32000), (128, 50257), (512, 65536), (32, 151936), (4096, 4096)):
        x = randn(rows, columns)
        mask = x > 1
        yield {"rows": rows, "columns": columns,
               "sort_us": device_us(lambda: x.sort(-1)),
               "topk_us": device_us(lambda: x.topk(50)),
               "masked_select_us": device_us(lambda: x[mask]),
               "where_us": device_us(lambda: torch.where(mask, x, 0.0)),
               "cumsum_us": device_us(lambda: x.cumsum(-1))}


def types():
    for rows, columns in ((8192, 2048), (16384, 4096), (4096, 1024)):
        row = {"rows": rows, "columns": columns}
        for name, dtype in (("fp32", torch.float32), ("fp64", torch.float64)):
            x, y, line = randn(rows, columns, dtype=dtype), randn(rows, columns, dtype=dtype), randn(columns, dtype=dtype)
            for op, fn in (("add", lambda: x + y), ("mul_row", lambda: x * line), ("div_column", lambda: x / x[:, :1]),
                           ("exp", lambda: torch.exp(x)), ("sum", lambda: x.sum(-1)), ("norm", lambda: x.norm(dim=-1)),
                           ("roll", lambda: x.roll(1, -1)), ("softmax", lambda: torch.softmax(x, -1)),
                           ("layer_norm", lambda: F.layer_norm(x, (columns,)))):
                row["%s_%s_us" % (op, name)] = device_us(fn)
        yield row


def optimizers():
    import time
    for count, elements in ((40, 65536), (80, 1 << 20), (200, 16384), (400, 65536)):
        for momentum in (0.0, 0.9):
            params = [torch.nn.Parameter(randn(elements)) for _ in range(count)]
            for p in params:
                p.grad = torch.randn_like(p)
            opt = torch.optim.SGD(params, lr=1e-3, momentum=momentum, fused=True)
            for _ in range(5):
                opt.step()
            torch.cuda.synchronize()
            host, whole = [], []
            for _ in range(20):
                begin = time.perf_counter()
                opt.step()
                host.append(time.perf_counter() - begin)
                torch.cuda.synchronize()
                whole.append(time.perf_counter() - begin)
            yield {"params": count, "elements": elements, "momentum": momentum,
                   "host_us": statistics.median(host) * 1e6, "bare_us": statistics.median(whole) * 1e6,
                   "device_us": device_us(opt.step, 5, 2)}


def chains():
    def short(x, y):
        return (x * 1.5 + y).relu()

    def silu(x, y):
        return x * torch.sigmoid(x) * y + x

    def rotary(x, y):
        return x * torch.cos(y) + torch.flip(x, (-1,)) * torch.sin(y)

    def long(x, y):
        for _ in range(4):
            x = torch.tanh(x) * y + torch.sigmoid(x)
        return x
    for n in (1 << 22, 1 << 25):
        x, y = randn(n // 1024, 1024, dtype=torch.bfloat16), randn(n // 1024, 1024, dtype=torch.bfloat16)
        one = device_us(lambda: x * y)
        for fn in (short, silu, rotary, long):
            compiled = torch.compile(fn)
            yield {"elements": n, "chain": fn.__name__, "eager_us": device_us(lambda: fn(x, y)),
                   "fused_us": device_us(lambda: compiled(x, y)), "one_kernel_us": one}


def main():
    out = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0)}
    for part in (products, convolutions, attention, sorting, types, optimizers, chains):
        out[part.__name__] = list(part())
        json.dump(out, open(sys.argv[1], "w"), indent=1)


main()
