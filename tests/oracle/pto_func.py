#!/usr/bin/env python3
"""pto_func.py RUN_OPS SHARED: tile operations against the recorded bytes of functional_ops.jsonl.gz.

Integers, masks and layouts must be equal; f32 may differ by 2 units in the last place, f16 by 1.
"""
import gzip
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pto"))
from model import Runner, Tile, Value, View, hexed, is_float, ulps  # noqa: E402
from samples import OURS  # noqa: E402

TYPE = r"(f32|f16|bf16|i8|i16|i32|u8)"
CMP = ["eq", "ne", "lt", "le", "gt", "ge"]
ROUND = {"NONE": 0, "RINT": 1, "ROUND": 2, "FLOOR": 3, "CEIL": 4, "TRUNC": 5}
PATTERN = ["", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"]


def filled(t, rows, cols, data, **how):
    tile = Tile(t, rows, cols, **how)
    for k, code in enumerate(hexed(t, data)):
        tile.set_bits(k // cols, k % cols, code)
    return tile


def codes(tile):
    return [tile.bits(r, c) for r in range(tile.vr) for c in range(tile.vc)]


def column(t, rows, data=None):
    tile = Tile(t, rows, 1, layout="dn")
    for k, code in enumerate(hexed(t, data) if data else []):
        tile.set_bits(k, 0, code)
    return tile


def matmul(run, attrs, ins):
    t, m, k, n = re.match(TYPE + r" (\d+)x(\d+)x(\d+)", attrs).groups()
    m, k, n = int(m), int(k), int(n)
    mats = []
    for rows, cols, data in ((m, k, ins[0]), (k, n, ins[1])):
        view = View(t, [rows, cols])
        view.data = bytearray.fromhex(data)
        mat = Tile(t, rows, cols, layout="nz", space="mat")
        assert run.run("tload", [view], [mat]) is None
        mats.append(mat)
    left = Tile(t, m, k, layout="zz", space="left")
    right = Tile(t, k, n, layout="zn", space="right")
    acc = Tile("f32", m, n, layout="nz", space="acc", fractal=1024)
    out = View("f32", [m, n])
    for op, a, b in (("tmov", [mats[0]], left), ("tmov", [mats[1]], right),
                     ("tmatmul", [left, right], acc), ("tstore", [acc], out)):
        assert run.run(op, a, [b]) is None, op
    return "f32", hexed("f32", bytes(out.data).hex())


def one(run, op, attrs, ins):
    """Type and codes of the result."""
    if op == "tload_mat+tmov+tmatmul+tstore":
        return matmul(run, attrs, ins)
    if op == "tload_mat_layout":
        t, r, c = re.match(TYPE + r" (\d+)x(\d+)", attrs).groups()
        view, mat = View(t, [int(r), int(c)]), Tile(t, int(r), int(c), layout="nz", space="mat")
        view.data = bytearray.fromhex(ins[0])
        assert run.run("tload", [view], [mat]) is None
        return "ui8", list(mat.data)
    if op == "tci":
        out = Tile("i32", 1, 32)
        start = Value("i32", int(re.search(r"start=(-?\d+)", attrs).group(1)))
        assert run.run("tci", [start], [out], descending=int("desc" in attrs)) is None
        return "i32", codes(out)
    if op == "tgather_mask":
        t, r, c, pattern, r2, c2 = re.match(TYPE + r" (\d+)x(\d+) (P\d+) -> (\d+)x(\d+)", attrs).groups()
        out = Tile(t, int(r2), int(c2))
        src = filled(t, int(r), int(c), ins[0])
        assert run.run("tgather", [src], [out], mask_pattern=PATTERN.index(pattern)) is None
        return t, codes(out)
    if op == "tcvt":
        a, b, r, c, mode = re.match(TYPE + "->" + TYPE + r" (\d+)x(\d+) rmode=(\w+)", attrs).groups()
        out = Tile(b, int(r), int(c))
        src = filled(a, int(r), int(c), ins[0])
        assert run.run("tcvt", [src], [out], reference=True, round=ROUND[mode]) is None
        return b, codes(out)
    t, r, c = re.match(TYPE + r" (\d+)x(\d+)", attrs).groups()
    r, c = int(r), int(c)
    src = filled(t, r, c, ins[0])
    if op == "tcmp":
        out = Tile("ui8", r, 32)
        how = CMP.index(re.search(r"cmp=(\w+)", attrs).group(1))
        assert run.run("tcmp", [src, filled(t, r, c, ins[1])], [out], cmp=how) is None
        return "ui8", codes(out)
    reduced = re.search(r"->(\d+)x(\d+)", attrs)
    if reduced:
        out = column(t, r) if op.startswith("trow") else Tile(t, 1, c)
        assert run.run(op, [src], [out]) is None
        return t, codes(out)
    args = [src]
    if " with " in attrs:
        args.append(column(t, r, ins[1]) if op.startswith("trow") else filled(t, 1, c, ins[1]))
    elif "scalar=" in attrs:
        args.append(Value(t, int(re.search(r"scalar=(-?\d+)", attrs).group(1))))
    elif len(ins) > 1:
        args.append(filled(t, r, c, ins[1]))
    out = Tile(t, r, c)
    assert run.run(op, args, [out]) is None
    return t, codes(out)


def main():
    path = OURS / "pto/vectors/functional_ops.jsonl.gz"
    run, bad, count, worst = Runner(sys.argv[1]), 0, 0, {}
    for line in gzip.open(path, "rt", encoding="ascii"):
        case = json.loads(line)
        t, got = one(run, case["op"], case["attrs"], case["ins"])
        want = hexed(t, case["outs"][0])
        allowed = {"f32": 2, "f16": 1, "bf16": 1}.get(t, 0)
        count += 1
        if case["op"] == "tcmp":  # only the bytes that hold bits are compared
            got, want = ([v for k, v in enumerate(x) if k % 32 < 8] if len(x) == 64 else x
                         for x in (got, want))
        far = max((ulps(a, b, t) if is_float(t) else (a != b) * 10**9 for a, b in zip(got, want)),
                  default=0)
        worst[t] = max(worst.get(t, 0), far)
        if len(got) != len(want) or far > allowed:
            bad += 1
            print(f"{case['op']} {case['attrs']}: {far} off, {len(got)} of {len(want)} values")
    assert run.close() == 0
    print(f"{count} operations, {bad} wrong, largest difference in the last place: {worst}")
    return 1 if bad or count == 0 else 0


sys.exit(main())
