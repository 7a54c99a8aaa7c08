#!/usr/bin/env python3
"""exponents.py STRATA [--table] [--large] - how the time of each main command grows with each size of its input.

For each kind of size an input is made at n and at 4n; the exponent is log4 of the ratio of the processor times, less
that of a small input. 1 is linear. Above LIMIT a test fails; below LEAST seconds at 4n a time is too short to have one.
Each time is the least of three. --table prints the rows of docs/performance.md; --large takes sizes 4 times as large.
"""
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
LIMIT, LEAST, RUNS = 1.15, 0.12, 3
SCALE = 4 if "--large" in sys.argv else 1
COMMANDS = {"diagnose": "F", "page": "F -o o.html", "anomaly": "anomaly F", "ops": "ops F", "arch": "arch F",
            "whatif": "whatif F", "diff": "diff F F", "convert": "convert F -o o.pftrace", "timeline": "gpu timeline F",
            "check": "check F --baseline F --max-idle 99%"}


def trace(path, steps, kernels, lanes=1, names=8, nested=1, flows=True, seed=0):
    """Steps of operators that launch kernels, on lanes in turn; operators are nested, names repeat."""
    out, t, c = [], 1000.0, 0

    def event(cat, name, pid, tid, at, dur, args, ph="X"):
        out.append(json.dumps({"ph": ph, "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(at, 3),
                               "dur": round(dur, 3), "args": args}, separators=(",", ":")))
    for step in range(steps):
        begin = t
        for i in range(kernels):
            c += 1
            name, lane = f"{(c * 7919) % names}", c % lanes
            for level in range(nested):
                event("cpu_op", f"aten::op{level}_{name}", 1, 1 + lane, t + level * 0.01, 8 - level * 0.02 if nested < 300 else
                      8 - level * 7 / nested, {"External id": c})
            link = {"correlation": c} if flows else {}
            event("cuda_runtime", "cudaLaunchKernel", 1, 1 + lane, t + 4, 1, {**link, "External id": c})
            event("kernel", f"gemm_{name}", 0, 7 + lane, t + 6 + (i * 13 + seed) % 3, 5 + (c * 31) % 3,
                  {**link, "External id": c, "device": 0, "stream": 7 + lane})
            t += 10
        event("user_annotation", f"ProfilerStep#{step}", 1, 1, begin, t - begin, {})
        t += 5
    path.write_text('{"deviceProperties":[{"id":0,"name":"NVIDIA H100"}],"traceEvents":[\n' + ",\n".join(out) + "]}\n")


def rows(path, n):
    head = "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes,Input Data Types,Step Id"
    lines = [head] + [f"op{i % 50},MatMulV2,AI_CORE,{1000 + i * 10}.000\t,{5 + i % 3}.125,0.5,24,\"16,{i % 9 + 1};8,16\","
                      f"FLOAT;FLOAT,{i * 20 // n}" for i in range(n)]
    path.mkdir(parents=True, exist_ok=True)
    (path / "kernel_details.csv").write_text("\n".join(lines) + "\n")
    return path


def one(folder, **more):
    trace(folder / "t.json", **more)
    return folder / "t.json"


def ranks(folder, n):
    for rank in range(n):
        trace(folder / f"rank{rank}.pt.trace.json", 6, 40, seed=rank)
    return folder


# size: (n, how an input of that size is made, commands)
SIZES = {
    "events": (16000, lambda f, n: one(f, steps=10, kernels=n // 10), list(COMMANDS)),
    "lanes": (1000, lambda f, n: one(f, steps=10, kernels=n, lanes=n), list(COMMANDS)),
    "steps": (3000, lambda f, n: one(f, steps=n, kernels=4), list(COMMANDS)),
    "names": (16000, lambda f, n: one(f, steps=10, kernels=n // 10, names=n), list(COMMANDS)),
    "flows": (16000, lambda f, n: one(f, steps=10, kernels=n // 10, names=4, lanes=4), list(COMMANDS)),
    "nesting": (500, lambda f, n: one(f, steps=10, kernels=10, nested=n), list(COMMANDS)),
    "rows": (50000, rows, ["diagnose", "page", "anomaly", "ops", "arch", "diff", "convert"]),
    "ranks": (32, ranks, ["cluster"]),
}
COMMANDS["cluster"] = "cluster F"


def seconds(command, path, folder):
    words = [str(path) if w == "F" else w for w in COMMANDS[command].split()]
    least = math.inf
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([STRATA, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode in (0, 1), (command, done.stderr[-500:])
        least = min(least, after.ru_utime - before.ru_utime)
    return least


def main():
    worst, bad, table = 0, [], {}
    with tempfile.TemporaryDirectory() as name:
        for size, (n, make, commands) in SIZES.items():
            paths = []
            for at, count in enumerate((max(n // 16, 2), n * SCALE, 4 * n * SCALE)):
                folder = pathlib.Path(name) / f"{size}-{at}"
                folder.mkdir()
                paths.append(make(folder, count))
            for command in commands:
                small, a, b = (seconds(command, p, name) for p in paths)
                short = b < LEAST or a <= small or b <= a
                exponent = 0 if short else math.log((b - small) / (a - small), 4)
                table[size, command] = "-" if short else f"{exponent:.2f}"
                worst = max(worst, exponent)
                if exponent > LIMIT:
                    bad.append((size, command, round(exponent, 2), round(a, 2), round(b, 2)))
            print(size, {c: table[size, c] for c in commands}, flush=True)
    if "--table" in sys.argv:
        heads = [c for c in COMMANDS]
        print("| size | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
        for size in SIZES:
            print(f"| {size} | " + " | ".join(table.get((size, c), "") for c in heads) + " |")
    print("largest exponent", round(worst, 2), "above the limit:", bad or "none")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
