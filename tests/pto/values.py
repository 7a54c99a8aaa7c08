#!/usr/bin/env python3
"""values.py STRATA - what instructions of C++ kernels compute, against models in plain Python.

values_vec.cpp, values_cube.cpp and values_mix.cpp hold many small kernels each, which run one after the other and
write their results to consecutive parts of output tensors; the models are here in the same order. They work on
Python numbers (doubles), so that results differ from them by the rounding of the element types.
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

STRATA, HERE = sys.argv[1], pathlib.Path(__file__).resolve().parent
ROWS, COLS = 16, 64
AREA = ROWS * COLS
failures = []
checked = 0

FORMS = {"FLOAT32": "f", "INT32": "i", "FLOAT16": "e", "BFLOAT16": "H", "INT8": "b"}
TOLERANCE = {"FLOAT32": 2e-6, "INT32": 0, "FLOAT16": 1e-3, "BFLOAT16": 8e-3, "INT8": 0}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def f16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def to_bf16(x):
    """The 16 bits of a number, rounded to the nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def bf16(x):
    return from_bf16(to_bf16(x))


def pack(dtype, values):
    if dtype == "BFLOAT16":
        values = [to_bf16(v) for v in values]
    return struct.pack(f"<{len(values)}{FORMS[dtype]}", *values)


def unpack(dtype, data):
    values = struct.unpack(f"<{len(data) // struct.calcsize(FORMS[dtype])}{FORMS[dtype]}", data)
    return [from_bf16(v) for v in values] if dtype == "BFLOAT16" else list(values)


def check(name, dtype, got, expected, tolerance=None):
    global checked
    checked += 1
    tolerance = TOLERANCE[dtype] if tolerance is None else tolerance
    for i, (a, b) in enumerate(zip(got, expected)):
        if not abs(a - b) <= tolerance * max(1.0, abs(b)):
            failures.append(name)
            print(f"FAILED {name}: element {i} is {a}, not {b}")
            return


def run(source, tensors, outputs, folder, *options):
    """Runs a file of kernels. tensors: slot: (dtype, values); outputs: slots to read back."""
    args = []
    for slot, (dtype, values) in tensors.items():
        path = folder / f"{slot}.bin"
        path.write_bytes(pack(dtype, values))
        args.append({"kind": "tensor", "index": slot, "name": f"t{slot}", "dtype": dtype, "shape": [len(values)],
                     "role": "inout", "fill": f"file:{path}"})
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"args": args}))
    wanted = [x for s in outputs for x in ("--output", f"{s}={folder / f'{s}.out'}")]
    done = subprocess.run([STRATA, "pto", "cc", str(HERE / source), "--arg-spec", str(spec), "-q", *wanted, *options],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print("FAILED", source, done.stderr)
        failures.append(source)
        return {s: [] for s in outputs}
    return {s: unpack(tensors[s][0], (folder / f"{s}.out").read_bytes()) for s in outputs}


class Results:
    """The outputs of one run, taken in the order in which the kernels wrote them."""

    def __init__(self, tensors, got, part):
        self.got, self.part, self.next = got, part, {s: 0 for s in got}
        self.by_type = {tensors[s][0]: s for s in got}

    def expect(self, dtype, name, expected, tolerance=None):
        slot = self.by_type[dtype]
        at = self.next[slot] * self.part
        self.next[slot] += 1
        if self.got[slot]:
            check(name, dtype, self.got[slot][at:at + len(expected)], expected, tolerance)


def rows_of(x, cols=COLS):
    return [x[i:i + cols] for i in range(0, len(x), cols)]


def flat(rows):
    return [v for r in rows for v in r]


def half_away(x):
    return math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)


def clamp(x):
    return max(-128, min(127, x))


def vector(folder):
    rng = random.Random(11)
    a = [f32(rng.uniform(-3, 3)) for _ in range(AREA)]
    b = [f32(rng.uniform(-3, 3)) for _ in range(AREA)]
    p = [f32(rng.uniform(0.5, 4)) for _ in range(AREA)]
    i = [rng.randrange(-1000, 1000) for _ in range(AREA)]
    j = [rng.randrange(0, AREA) for _ in range(AREA)]
    h = [f16(rng.uniform(-3, 3)) for _ in range(AREA)]
    tensors = {0: ("FLOAT32", a), 1: ("FLOAT32", b), 2: ("FLOAT32", p), 3: ("INT32", i), 4: ("INT32", j),
               5: ("FLOAT16", h), 6: ("FLOAT32", [0.0] * 80 * AREA), 7: ("INT32", [0] * 16 * AREA),
               8: ("FLOAT16", [0.0] * 8 * AREA), 9: ("BFLOAT16", [0.0] * 4 * AREA), 10: ("INT8", [0] * 4 * AREA)}
    results = Results(tensors, run("values_vec.cpp", tensors, [6, 7, 8, 9, 10], folder), AREA)

    def f(name, expected, tolerance=None):
        results.expect("FLOAT32", name, expected, tolerance)

    def n(name, expected):
        results.expect("INT32", name, expected)

    elements(a, b, p, i, j, h, f, n, results)
    reductions(a, p, f)
    conversions(a, i, h, f, n, results)
    shapes(a, f)
    choices(a, j, f, n)
    combinations(a, b, p, f, n)


def elements(a, b, p, i, j, h, f, n, results):
    pairs = list(zip(a, b))
    f("tadd", [x + y for x, y in pairs])
    f("tsub", [x - y for x, y in pairs])
    f("tmul", [x * y for x, y in pairs])
    f("tdiv", [x / y for x, y in zip(a, p)])
    f("tmax", [max(q) for q in pairs])
    f("tmin", [min(q) for q in pairs])
    f("tadds", [x + 1.5 for x in a])
    f("tsubs", [x - 1.5 for x in a])
    f("tmuls", [x * 1.5 for x in a])
    f("tdivs", [x / 1.5 for x in a])
    f("tdivs of a number", [1.5 / x for x in p])
    f("tmaxs", [max(x, 0.25) for x in a])
    f("tmins", [min(x, 0.25) for x in a])
    f("texp", [math.exp(x) for x in a])
    f("tlog", [math.log(x) for x in p])
    f("tsqrt", [math.sqrt(x) for x in p])
    f("trsqrt", [1 / math.sqrt(x) for x in p])
    f("trecip", [1 / x for x in p])
    f("tabs", [abs(x) for x in a])
    f("tneg", [-x for x in a])
    f("trelu", [max(x, 0) for x in a])
    f("tlrelu", [x if x > 0 else x * 0.125 for x in a])
    f("texpands", [2.5] * AREA)
    f("taxpy", [1 + 3 * x for x in a])
    n("tadd i32", [x + y for x, y in zip(i, j)])
    n("tmul i32", [x * y for x, y in zip(i, j)])
    n("tmax i32", [max(x, y) for x, y in zip(i, j)])
    n("tadds i32", [x - 7 for x in i])
    results.expect("FLOAT16", "tadd f16", [x + x for x in h])
    results.expect("FLOAT16", "tmuls f16", [x / 2 for x in h])


def reductions(a, p, f):
    rows, columns = rows_of(a), list(zip(*rows_of(a)))
    f("trowsum", [sum(r) for r in rows], 1e-5)
    f("trowmax", [max(r) for r in rows])
    f("trowmin", [min(r) for r in rows])
    f("tcolsum", [sum(c) for c in columns], 1e-5)
    f("tcolmax", [max(c) for c in columns])
    f("tcolmin", [min(c) for c in columns])
    most = [max(r) for r in rows_of(p)]
    f("trowexpand", [m for m in most for _ in range(COLS)])
    f("trowexpandadd", [x + m for r, m in zip(rows, most) for x in r])
    f("trowexpandsub", [x - m for r, m in zip(rows, most) for x in r])
    f("trowexpandmul", [x * m for r, m in zip(rows, most) for x in r])
    f("trowexpanddiv", [x / m for r, m in zip(rows, most) for x in r])
    f("trowexpanddiv of a column", [m / x for r, m in zip(rows_of(p), most) for x in r])
    top = [max(c) for c in zip(*rows_of(p))]
    f("tcolexpand", top * ROWS)
    f("tcolexpandadd", [x + t for r in rows for x, t in zip(r, top)])
    f("tcolexpandsub", [x - t for r in rows for x, t in zip(r, top)])
    f("tcolexpandmul", [x * t for r in rows for x, t in zip(r, top)])
    f("tcolexpanddiv", [x / t for r in rows for x, t in zip(r, top)])


def conversions(a, i, h, f, n, results):
    tens = [f32(x * 10) for x in a]
    n("tcvt rint", [round(x) for x in tens])
    n("tcvt round", [half_away(x) for x in tens])
    n("tcvt floor", [math.floor(x) for x in tens])
    n("tcvt ceil", [math.ceil(x) for x in tens])
    n("tcvt trunc", [math.trunc(x) for x in tens])
    results.expect("FLOAT16", "tcvt f16", [f16(x) for x in a], 0)
    results.expect("BFLOAT16", "tcvt bf16", [bf16(x) for x in a], 0)
    f("tcvt from bf16", [bf16(x) for x in a], 0)
    f("tcvt from f16", h, 0)
    f("tcvt from i32", i, 0)
    results.expect("INT8", "tcvt i8 saturates", [clamp(round(f16(x * 100))) for x in h])
    results.expect("INT8", "quantised to i8", [clamp(round(f32(x * 40))) for x in a])


def shapes(a, f):
    rows, columns = rows_of(a), list(zip(*rows_of(a)))
    corner = [r[3:53] for r in rows[2:12]]
    f("part of a tile", [x + 1 for x in flat(corner)])
    f("valid shape set later", [2 * x for r in corner[:3] for x in r[:7]])
    padded = [r + [0.0] * 14 for r in corner] + [[0.0] * COLS] * 6
    f("tfillpad zero", flat(padded))
    f("tfillpad least", flat([r + [-100.0] * 14 for r in corner] + [[-100.0] * COLS] * 6))
    f("tfillpad_inplace", flat(padded))
    f("treshape", [sum(r) + 1 for r in rows], 1e-5)
    f("rows far apart", flat(rows[::2]))
    f("columns one after the other", [x + 1 for x in a])
    f("ttrans", flat(columns))
    f("textract", flat(r[32:] for r in rows))
    f("tconcat", flat(r[32:] + r[:32] for r in rows))


def choices(a, j, f, n):
    f("tgather", [a[k] for k in j])
    line = a[:64]
    f("tgather by mask", line[::2])

    def ordered(numbers):
        return sorted(numbers, key=lambda k: -line[k])

    def pairs(numbers):
        return [v for k in numbers for v in (line[k], struct.unpack("<f", struct.pack("<I", k))[0])]

    f("tsort32", pairs(ordered(range(32)) + ordered(range(32, 64))))
    f("tmrgsort", pairs(ordered(range(64))))
    n("tci", list(range(5, 69)))
    f("tsetval", a[:3] + [a[0] + 1] + a[4:])


def combinations(a, b, p, f, n):
    rows = rows_of(a)
    powers = [[math.exp(x - max(r)) for x in r] for r in rows]
    f("softmax", [x / sum(r) for r in powers for x in r], 1e-5)
    top = [max(c) for c in zip(*rows_of(p))]
    norm = [1 / math.sqrt(sum(x * x for x in r) / COLS + 1e-5) for r in rows]
    f("rms norm", [x * s * t for r, s in zip(rows, norm) for x, t in zip(r, top)], 1e-5)
    f("silu", [x / (1 + math.exp(-x)) for x in a], 1e-5)
    n("quantised by rows", [round(f32(x / f32(max(map(abs, r)) * f32(1 / 127)))) for r in rows for x in r])
    most = [max(r + q) for r, q in zip(rows, rows_of(b))]
    f("running maximum", [math.exp(x - m) + math.exp(y - m) for r, q, m in zip(rows, rows_of(b), most)
                          for x, y in zip(r, q)], 1e-5)
    f("atomic add", [x + y for x, y in zip(a, b)])
    f("tput", [2 * x for x in a])
    n("tnotify", [7])
    n("ttest", [1, -1])


def product(a, b, m=32, k=64, n=32, b_at=lambda t, j, n=32: t * n + j):
    return [sum(a[i * k + t] * b[b_at(t, j)] for t in range(k)) for i in range(m) for j in range(n)]


def boxes(c, m=32, n=32, width=8):
    """A matrix in boxes of 16 rows and `width` columns, column by column of boxes."""
    return [c[(box_row + i) * n + box_col + j] for box_col in range(0, n, width) for box_row in range(0, m, 16)
            for i in range(16) for j in range(width)]


def cube(folder):
    rng = random.Random(12)
    ha, hb = ([f16(rng.uniform(-1, 1)) for _ in range(2048)] for _ in range(2))
    ba, bb = ([bf16(rng.uniform(-1, 1)) for _ in range(2048)] for _ in range(2))
    fa, fb = ([f32(rng.uniform(-1, 1)) for _ in range(2048)] for _ in range(2))
    ia, ib = ([rng.randrange(-128, 128) for _ in range(2048)] for _ in range(2))
    tensors = {0: ("FLOAT16", ha), 1: ("FLOAT16", hb), 2: ("BFLOAT16", ba), 3: ("BFLOAT16", bb), 4: ("FLOAT32", fa),
               5: ("FLOAT32", fb), 6: ("INT8", ia), 7: ("INT8", ib), 8: ("FLOAT32", [0.0] * 16 * 1024),
               9: ("INT32", [0] * 2048), 10: ("FLOAT16", [0.0] * 4096), 11: ("BFLOAT16", [0.0] * 2048)}
    got = run("values_cube.cpp", tensors, [8, 9, 10, 11], folder, "--core", "aic")
    results = Results(tensors, got, 1024)
    c, quantity = product(ha, hb), product(ia, ib)

    def f(name, expected, tolerance=1e-5):
        results.expect("FLOAT32", name, expected, tolerance)

    f("matmul f16", c)
    f("matmul bf16", product(ba, bb))
    f("matmul f32", product(fa, fb))
    results.expect("INT32", "matmul i8", quantity)
    f("matmul of a part", flat(r[:20] for r in rows_of(c, 32)[:10]))
    results.expect("FLOAT16", "matmul stored as f16", c)
    results.expect("BFLOAT16", "matmul stored as bf16", c)
    f("matmul by halves of K", c)
    f("matmul with turned factor", product(ha, hb, b_at=lambda t, j: j * 64 + t))
    f("matmul with bias", [x + bias for r in rows_of(c, 32) for x, bias in zip(r, fa)])
    f("matmul twice", product([f16(x) for x in c], hb, k=32), 1e-4)
    f("matmul accumulated", [2 * x for x in c])
    f("matmul stored with relu", [max(x, 0.0) for x in c])
    f("matmul stored with atomic add", [2 * x for x in c])
    results.expect("FLOAT16", "matmul stored with a scale", [f16(x / 128) for x in quantity])
    f("matmul stored by boxes", boxes(c))


def mixed(folder):
    rng = random.Random(13)
    a, b = ([f32(rng.uniform(-1, 1)) for _ in range(1024)] for _ in range(2))
    empty = ("FLOAT32", [0.0] * 1024)
    tensors = {0: ("FLOAT32", a), 1: ("FLOAT32", b), 2: empty, 3: empty, 4: ("FLOAT32", [0.0] * 8192),
               5: ("FLOAT32", [0.0] * 2048), 6: ("FLOAT32", [0.0] * 3072)}
    got = run("values_mix.cpp", tensors, [2, 3, 6], folder, "--core", "mix")
    scores = [max(x, 0.0) for x in product(a, b, k=32)]
    out = product(scores, b, k=32)
    for slot, name, expected in ((3, "to the vector cores", scores), (2, "to the cube core", out),
                                 (6, "through slots that are views", out * 3)):
        if got[slot]:
            check(name, "FLOAT32", got[slot], expected, 1e-5)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["STRATA_CACHE"] = str(folder / "cache")
        vector(folder)
        cube(folder)
        mixed(folder)
    print(f"{checked} kernels, failed:", ", ".join(failures) if failures else "none")
    return 1 if failures or checked < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
