#!/usr/bin/env python3
"""The work of operators, counted by hand: `strata ops`, SQL and the page give it, by operator and by kernel.

usage: operators.py STRATA
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FLOAT, BF16 = ("float", 4), ("c10::BFloat16", 2)


def convolution(stride, padding, dilation, transposed=False, groups=1):
    two = lambda n: f"[{n}, {n}]"
    return ["", "", "", two(stride), two(padding), two(dilation), str(transposed), "[0, 0]", str(groups)]


# (operator, type, shapes, values, FLOP as PyTorch counts them, elements read and written); None: not said here
OPERATORS = [
    ("aten::mm", FLOAT, [[64, 128], [128, 256]], [], 2 * 64 * 128 * 256, 64 * 128 + 128 * 256 + 64 * 256),
    ("aten::addmm", FLOAT, [[256], [64, 128], [128, 256]], [], 2 * 64 * 128 * 256, None),
    ("aten::bmm", BF16, [[8, 32, 64], [8, 64, 16]], [], 2 * 8 * 32 * 64 * 16, 8 * (32 * 64 + 64 * 16 + 32 * 16)),
    ("aten::baddbmm", BF16, [[8, 32, 16], [8, 32, 64], [8, 64, 16]], [], 2 * 8 * 32 * 64 * 16, None),
    # plain; every second place; holes between the taps; each channel by itself
    ("aten::convolution", FLOAT, [[2, 16, 32, 32], [32, 16, 3, 3]], [], 0, 0),  # its stride is not recorded
    ("aten::convolution", FLOAT, [[2, 16, 32, 32], [32, 16, 3, 3]], convolution(1, 1, 1),
     2 * (2 * 32 * 32 * 32) * 16 * 9, 2 * 16 * 32 * 32 + 32 * 16 * 9 + 2 * 32 * 32 * 32),
    ("aten::convolution", FLOAT, [[2, 16, 64, 64], [32, 16, 3, 3]], convolution(2, 1, 1),
     2 * (2 * 32 * 32 * 32) * 16 * 9, 2 * 16 * 64 * 64 + 32 * 16 * 9 + 2 * 32 * 32 * 32),
    ("aten::convolution", FLOAT, [[2, 16, 32, 32], [48, 16, 3, 3]], convolution(1, 2, 2),
     2 * (2 * 48 * 32 * 32) * 16 * 9, 2 * 16 * 32 * 32 + 48 * 16 * 9 + 2 * 48 * 32 * 32),
    ("aten::convolution", FLOAT, [[2, 64, 32, 32], [64, 1, 3, 3]], convolution(1, 1, 1, groups=64),
     2 * (2 * 64 * 32 * 32) * 9, 2 * 64 * 32 * 32 + 64 * 9 + 2 * 64 * 32 * 32),
    # transposed: every element of the input is spread over a kernel; 16 places become 32
    ("aten::convolution", FLOAT, [[2, 32, 16, 16], [32, 16, 4, 4]], convolution(2, 1, 1, transposed=True),
     2 * (2 * 32 * 16 * 16) * 16 * 16, 2 * 32 * 16 * 16 + 32 * 16 * 16 + 2 * 16 * 32 * 32),
    ("aten::_scaled_dot_product_flash_attention", BF16, [[2, 8, 128, 64]] * 3, ["", "", "", "0.", "True"],
     2 * 2 * (2 * 8 * 128 * 128 * 64), 4 * 2 * 8 * 128 * 64),
    ("aten::add", FLOAT, [[64, 1, 32], [1, 128, 32]], ["", "", "1"], None, 64 * 32 + 128 * 32 + 64 * 128 * 32),
]


def capture():
    """One kernel for each operator, in a step."""
    events = [{"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "args": {"labels": "CPU"}}]
    def event(cat, name, ts, dur, pid=1, tid=1, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
    for i, (name, (kind, _), shapes, values, _, _) in enumerate(OPERATORS):
        at, n = 1000 + 100 * i, max(len(shapes), len(values or []))
        event("cpu_op", f"{name}", at, 50, **{
            "Input Dims": shapes + [[]] * (n - len(shapes)), "Input type": [kind] * len(shapes) + ["Scalar"] * (n - len(shapes)),
            **({"Concrete Inputs": values} if values else {})})
        event("cuda_runtime", "cudaLaunchKernel", at + 10, 5, correlation=i + 1)
        event("kernel", f"kernel_{i}", at + 20, 60 + i, pid=0, tid=7, device=0, stream=7, correlation=i + 1)
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events}


def asked(strata, *words):
    done = subprocess.run([strata, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def work_of(row):
    """FLOP and bytes of a call, 0 for what is not known."""
    calls = row.get("count") or row.get("kernels") or 1
    part = 1 if "count" in row else calls
    return (row["flops"] or 0) / part, (row["bytes"] or 0) / part


def records(table):
    """Rows of a query, by the names of their columns."""
    names = [c["name"] if isinstance(c, dict) else c for c in table["columns"]]
    return [r if isinstance(r, dict) else dict(zip(names, r)) for r in table["rows"]]


def main(strata):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path, page = pathlib.Path(folder, "operators.json"), pathlib.Path(folder, "page.html")
        path.write_text(json.dumps(capture()))
        asked(strata, path, "-o", page)
        model = json.loads(re.search(r'id="model">(.*?)</script>', page.read_text(), re.S)[1])
        rows = json.loads(asked(strata, "ops", path, "--by", "shape", "--json"))["result"]["rows"]
        doors = {"page": {k["total"]: work_of(k) for k in model["sets"][model["lead"]]["kernels"]},
                 "ops": {r["device_ns"]: work_of(r) for r in rows if r["kernels"]}}
        tables = json.loads(asked(strata, "query", path, "SELECT device_ns, flops, bytes FROM ops WHERE kernels > 0", "--json"))
        doors["sql"] = {r["device_ns"]: work_of(dict(r, kernels=1)) for r in records(tables["result"])}
    for i, (name, (_, size), shapes, _, flops, elements) in enumerate(OPERATORS):
        for door, known in doors.items():
            found = known.get((60 + i) * 1000, (None, None))
            for what, got, want in (("FLOP", found[0], flops), ("bytes", found[1], elements and elements * size)):
                if got is None or (want is not None and round(got) != want):
                    print(f"{door}: {name} {shapes}: {what}: {got}, by hand {want}")
                    wrong += 1
        if len({doors[door].get((60 + i) * 1000) for door in doors}) != 1:
            print(f"{name} {shapes}: " + ", ".join(f"{d} {doors[d].get((60 + i) * 1000)}" for d in doors))
            wrong += 1
    print(f"{len(OPERATORS)} operators at {len(doors)} doors, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
