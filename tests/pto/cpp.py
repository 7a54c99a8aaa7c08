#!/usr/bin/env python3
"""cpp.py STRATA EXAMPLES - kernels in C++: what they compute, and what stops them.

The examples run with random data and are compared with a model of their own in plain Python. Kernels that
loop, leave their memory, divide by zero, call what there is not, start processes or open sockets must end
with a message that names the line, and nothing else happens.
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

STRATA, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def check(name, ok, *told):
    if not ok:
        failures.append(name)
        print("FAILED", name, *told)


def run(*args, **more):
    return subprocess.run([STRATA, "pto", "cc", *map(str, args)], capture_output=True, text=True, **more)


def floats(n, rng, form="f"):
    values = [rng.uniform(-1, 1) for _ in range(n)]
    data = struct.pack(f"<{n}{form}", *values)
    return list(struct.unpack(f"<{n}{form}", data)), data


def tensor(index, name, dtype, shape, data, folder):
    path = folder / f"{name}.bin"
    path.write_bytes(data)
    return {"kind": "tensor", "index": index, "name": name, "dtype": dtype, "shape": shape,
            "role": "inout", "fill": f"file:{path}"}


def example(name, args, out, expected, folder):
    spec = folder / f"{name}.json"
    spec.write_text(json.dumps({"args": args}))
    result = folder / f"{name}.out"
    done = run(EXAMPLES / f"{name}.cpp", "--arg-spec", spec, "--output", f"{out}={result}", "-q")
    check(name, done.returncode == 0, done.stderr)
    if done.returncode == 0:
        got = struct.unpack(f"<{len(expected)}f", result.read_bytes())
        worst = max(abs(a - b) for a, b in zip(got, expected))
        check(f"{name} values", worst < 1e-4, worst)


def softmax(row):
    top = max(row)
    weights = [math.exp(x - top) for x in row]
    return [w / sum(weights) for w in weights]


def product(a, b, m, k, n):
    return [sum(a[i * k + t] * b[t * n + j] for t in range(k)) for i in range(m) for j in range(n)]


def examples(folder):
    rng = random.Random(3)
    a, a_data = floats(64 * 128, rng)
    b, b_data = floats(64 * 128, rng)
    none = bytes(64 * 128 * 4)
    example("add", [tensor(0, "a", "FLOAT32", [64, 128], a_data, folder),
                    tensor(1, "b", "FLOAT32", [64, 128], b_data, folder),
                    tensor(2, "c", "FLOAT32", [64, 128], none, folder)], 2,
            [struct.unpack("<f", struct.pack("<f", x + y))[0] for x, y in zip(a, b)], folder)
    a, a_data = floats(64 * 256, rng, "e")
    b, b_data = floats(256 * 64, rng, "e")
    example("matmul", [tensor(0, "a", "FLOAT16", [64, 256], a_data, folder),
                       tensor(1, "b", "FLOAT16", [256, 64], b_data, folder),
                       tensor(2, "c", "FLOAT32", [64, 64], none[:64 * 64 * 4], folder)], 2,
            product(a, b, 64, 256, 64), folder)
    rows = 40
    x, x_data = floats(rows * 128, rng)
    example("softmax", [tensor(0, "x", "FLOAT32", [rows, 128], x_data, folder),
                        tensor(1, "y", "FLOAT32", [rows, 128], bytes(rows * 512), folder)], 1,
            [v for i in range(rows) for v in softmax(x[i * 128:i * 128 + 128])], folder)
    q, q_data = floats(32 * 64, rng, "e")
    k, k_data = floats(4 * 64 * 64, rng, "e")
    block = k[3 * 64 * 64:]
    turned = [block[j * 64 + t] for t in range(64) for j in range(64)]
    scores = product(q, turned, 32, 64, 64)
    example("attention_block",
            [tensor(0, "q", "FLOAT16", [32, 64], q_data, folder),
             tensor(1, "k", "FLOAT16", [4, 64, 64], k_data, folder),
             tensor(2, "blocks", "INT32", [1], struct.pack("<i", 3), folder),
             tensor(3, "weights", "FLOAT32", [32, 64], bytes(32 * 64 * 4), folder),
             tensor(4, "slots", "FLOAT32", [2, 32, 64], bytes(2 * 32 * 64 * 4), folder)], 3,
            [v for i in range(32) for v in softmax([s / 8 for s in scores[i * 64:i * 64 + 64]])], folder)


HEAD = """#include <pto/pto-inst.hpp>
#include "tensor.h"
#include <sys/socket.h>
#include <unistd.h>
using namespace pto;
extern "C" void kernel_entry(int64_t *args)
{
    auto *x_tensor = reinterpret_cast<ChipTensor *>(args[0]);
    auto *x = reinterpret_cast<float *>(x_tensor->buffer.addr);
    GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> g(x);
    Tile<TileType::Vec, float, 16, 64> t;
    TASSIGN(t, 0);
    TLOAD(t, g);
"""  # the last line is the 13th
BAD = {
    "loop": ("    for (volatile int i = 0;; i++) {}\n", 13, "did not end in time"),
    "outside": ("    x[1 << 20] = 1;\n", 13, "touches memory outside"),
    "below": ("    x[-100000] = 1;\n", 13, "touches memory outside"),
    "tile": ("    TASSIGN(t, 196608); TADD(t, t, t);\n", 14, "196608"),
    "unassigned": ("    Tile<TileType::Vec, float, 16, 64> u;\n    TADD(t, t, u);\n", 15, "TASSIGN"),
    "zero": ("    volatile int z = 0; x[0] = 7 / z;\n", 13, "divides by zero"),
    "unknown": ("    TFOO(t, t);\n", 14, "TFOO"),
    "fork": ("    if (fork() == 0) _exit(0);\n", 13, "starts a process"),
    "socket": ("    socket(AF_INET, SOCK_STREAM, 0);\n", 13, "opens a socket"),
    "write": ("    (void)!write(1, \"hello\", 5);\n", 13, "writes to a file"),
}


def hostile(folder):
    spec = folder / "x.json"
    spec.write_text(json.dumps({"args": [tensor(0, "x", "FLOAT32", [16, 64], bytes(4096), folder)]}))
    for name, (line, number, words) in BAD.items():
        source = folder / f"{name}.cpp"
        source.write_text(HEAD + line + "}\n")
        done = run(source, "--arg-spec", spec, "--timeout", "20" if name != "loop" else "2", timeout=60)
        told = f"{source}:{number}: error:"
        check(name, done.returncode not in (0, -6, -11) and told in done.stderr and words in done.stderr,
              done.returncode, done.stderr)
        check(f"{name} prints nothing", "hello" not in done.stdout)


def constructor(folder):
    """What runs while the object is loaded is held back, too."""
    source = folder / "constructor.cpp"
    source.write_text("#include <unistd.h>\nstatic int made = fork();\n" + HEAD + "}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("constructor", done.returncode not in (0, -6, -11) and "starts a process" in done.stderr, done.stderr)


def race(folder):
    source = folder / "race.cpp"
    source.write_text(HEAD + "    TADDS(t, t, 1.0f);\n    pipe_barrier(PIPE_ALL);\n    TSTORE(g, t);\n}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("race", "race" in done.stdout + done.stderr and ":14" in done.stdout + done.stderr,
          done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["STRATA_CACHE"] = str(folder / "cache")
        examples(folder)
        hostile(folder)
        constructor(folder)
        race(folder)
        made = sorted(p.name for p in (folder / "cache").iterdir())
        check("cache", made and not any(p.endswith(".ii") for p in made), made)
    print("failed:", ", ".join(failures) if failures else "none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
