#!/usr/bin/env python3
"""ops.py RUN_OPS: every tile operation on random tiles against plain rules written here."""
import math
import random
import sys
from fractions import Fraction as F

from model import (AWAY, CEIL, FLOOR, ODD, RINT, TRUNC, Runner, Tile, Value, View, as_type, decode,
                   encode, f32, is_float, ulps)

RUN = Runner(sys.argv[1])
RNG = random.Random(7)
TESTS = []
PLAIN = ["nd", "dn", "nz", "zn", "zz", "nn"]


def test(fn):
    TESTS.append(fn)
    return fn


def rand(t, n, positive=False):
    if is_float(t):
        low = 1 if positive else -400
        return [F(RNG.randint(low, 400), 100) for _ in range(n)]
    return [RNG.randint(1 if positive or t[0] == "u" else -9, 9) for _ in range(n)]


def tile(t, rows, cols, positive=False, **how):
    x = Tile(t, rows, cols, **how)
    return x.put(rand(t, x.vr * x.vc, positive))


def run(op, ins, outs, **attrs):
    code = RUN.run(op, ins, outs, **attrs)
    assert code is None, f"{op} failed: {code}"


def same(out, want, slack=0, what=""):
    """`want(r, c)` gives the number of each valid element."""
    for r in range(out.vr):
        for c in range(out.vc):
            a, b = out.bits(r, c), encode(want(r, c), out.t)
            zero = decode(a, out.t) == 0 and decode(b, out.t) == 0  # signs of zeros are not modelled
            far = ulps(a, b, out.t) if is_float(out.t) else (a != b) * 99
            assert zero or far <= slack, f"{what} ({r},{c}): {decode(a, out.t)} not {want(r, c)}"


def same_bits(out, want, what=""):
    for r in range(out.vr):
        for c in range(out.vc):
            assert out.bits(r, c) == want(r, c), f"{what} ({r},{c})"


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def wrap(x, t):
    return decode(int(x) % 256**{"i8": 1, "i16": 2, "i32": 4, "ui8": 1, "ui16": 2, "ui32": 4}[t], t)


def fmod(a, b):
    return a - b * (int(a / b) if is_number(a / b) else 0)


def is_number(x):
    return isinstance(x, (int, F))


BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "max": max, "min": min,
    "div": lambda a, b: F(a) / b, "rem": fmod, "fmod": fmod,
}


@test
def binary():
    for t in ("f32", "f16", "bf16", "i32", "i16", "i8", "ui8"):
        for name, fn in BINARY.items():
            for layout in ("nd", "dn", "nz"):
                a, b = tile(t, 16, 32, layout=layout), tile(t, 16, 32, True, layout=layout)
                out = Tile(t, 16, 32, layout="nd" if layout == "nz" else layout, valid=(15, 29))
                run("t" + name, [a, b], [out])

                def want(r, c, fn=fn, name=name, a=a, b=b, t=t):
                    x, y = a.num(r, c), b.num(r, c)
                    if is_float(t):
                        return as_type(f32(fn(x, y)), t)
                    q = {"div": trunc_div, "rem": lambda p, q: p - q * trunc_div(p, q),
                         "fmod": lambda p, q: p - q * trunc_div(p, q)}.get(name, fn)(x, y)
                    return wrap(q, t)
                same(out, want, what=f"t{name} {t} {layout}")


@test
def outside_of_the_valid_part_stays():
    a, out = tile("f32", 8, 16), Tile("f32", 8, 16, valid=(3, 5), fill=0xab)
    run("tadd", [a, a], [out])
    for r in range(8):
        for c in range(16):
            assert (out.bits(r, c) == 0xabababab) == (r >= 3 or c >= 5)


@test
def in_place():
    a, b = tile("f32", 4, 16), tile("f32", 4, 16)
    before = [[a.num(r, c) for c in range(16)] for r in range(4)]
    out = Tile("f32", 4, 16)
    out.alias = 0
    run("tsub", [a, b], [out])
    same(out, lambda r, c: f32(before[r][c] - b.num(r, c)), what="in place")


@test
def scalars():
    for t in ("f32", "f16", "i32"):
        for name in ("add", "sub", "mul", "max", "min", "div", "rem", "fmod"):
            a, s = tile(t, 4, 40), Value(t, 3)
            out = Tile(t, 4, 40)
            run(f"t{name}s", [a, s], [out])
            fn = BINARY[name]
            if not is_float(t) and name in ("div", "rem", "fmod"):
                fn = trunc_div if name == "div" else lambda p, q: p - q * trunc_div(p, q)
            same(out, lambda r, c: as_type(f32(fn(a.num(r, c), 3)), t) if is_float(t)
                 else fn(a.num(r, c), 3), what=f"t{name}s {t}")
    a, out = tile("f32", 4, 8, True), Tile("f32", 4, 8)
    run("tdivs", [Value("f32", 7), a], [out])
    same(out, lambda r, c: f32(F(7) / a.num(r, c)), what="tdivs, scalar first")
    assert RUN.run("tdivs", [tile("i32", 1, 8), Value("i32", 0)], [Tile("i32", 1, 8)]) == "pto-run.div-zero"


@test
def bits():
    ops = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
           "shl": lambda a, b: a << b, "shr": lambda a, b: a >> b}
    for t in ("i32", "ui16", "i8"):
        for name, fn in ops.items():
            a, b, out = tile(t, 4, 32), Tile(t, 4, 32), Tile(t, 4, 32)
            b.put([RNG.randint(0, 12) for _ in range(128)])
            run("t" + name, [a, b], [out])
            same(out, lambda r, c: wrap(fn(a.num(r, c), b.num(r, c)), t), what=f"t{name} {t}")
            run(f"t{name}s", [a, Value(t, 2)], [out])
            same(out, lambda r, c: wrap(fn(a.num(r, c), 2), t), what=f"t{name}s {t}")
    a, out = tile("i16", 2, 16), Tile("i16", 2, 16)
    run("tnot", [a], [out])
    same(out, lambda r, c: ~a.num(r, c), what="tnot")


@test
def unary():
    fns = {"abs": abs, "neg": lambda x: -x, "relu": lambda x: max(x, 0)}
    for t in ("f32", "f16", "bf16", "i32"):
        for name, fn in fns.items():
            a, out = tile(t, 3, 24), Tile(t, 3, 24)
            run("t" + name, [a], [out])
            same(out, lambda r, c: fn(a.num(r, c)), what=f"t{name} {t}")
    real = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt,
            "rsqrt": lambda x: 1 / math.sqrt(x), "recip": lambda x: 1 / x}
    for t in ("f32", "f16", "bf16"):
        for name, fn in real.items():
            a, out = tile(t, 3, 24, True), Tile(t, 3, 24)
            run("t" + name, [a], [out])
            same(out, lambda r, c: F(fn(float(a.num(r, c)))), 2 if t == "f32" else 1, f"t{name} {t}")
    assert RUN.run("texp", [tile("i32", 1, 8)], [Tile("i32", 1, 8)]) == "pto-run.func-dtype"


@test
def three_sources():
    a, b, d = (tile("f32", 4, 16) for _ in range(3))
    out, s = Tile("f32", 4, 16), Value("f32", F(5, 4))
    n = F(5, 4)
    for op, ins, fn in (("taddc", [a, b, d], lambda x, y, z: f32(f32(x + y) + z)),
                        ("tsubc", [a, b, d], lambda x, y, z: f32(f32(x - y) + z)),
                        ("taddsc", [a, s, b], lambda x, y, z: f32(f32(x + n) + y)),
                        ("tsubsc", [a, s, b], lambda x, y, z: f32(f32(x - n) + y)),
                        ("taddrelu", [a, b], lambda x, y, z: max(f32(x + y), 0)),
                        ("tlrelu", [a, s], lambda x, y, z: x if x > 0 else f32(x * n)),
                        ("tprelu", [a, b], lambda x, y, z: x if x > 0 else f32(x * y))):
        run(op, ins, [out])
        same(out, lambda r, c: fn(a.num(r, c), b.num(r, c), d.num(r, c)), what=op)
    half, out = tile("f16", 4, 16), tile("f32", 4, 16)
    before = [[out.num(r, c) for c in range(16)] for r in range(4)]
    run("taxpy", [half, s], [out])
    same(out, lambda r, c: f32(before[r][c] + f32(half.num(r, c) * n)), what="taxpy")


@test
def powers():
    a, b, out = tile("f32", 2, 16, True), tile("f32", 2, 16), Tile("f32", 2, 16)
    run("tpow", [a, b], [out])
    same(out, lambda r, c: F(float(a.num(r, c))**float(b.num(r, c))), 2, "tpow")
    a, out = tile("i32", 2, 16), Tile("i32", 2, 16)
    run("tpows", [a, Value("i32", 3)], [out])
    same(out, lambda r, c: a.num(r, c)**3, what="tpows")


@test
def conversions():
    modes = (RINT, AWAY, FLOOR, CEIL, TRUNC, ODD)
    floats = ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
    for a in floats:
        for b in floats + ("i32", "i16", "i8", "ui8"):
            for mode in modes:
                src, out = Tile(a, 4, 32), Tile(b, 4, 32)
                src.put([F(RNG.randint(-2000, 2000), 2**RNG.randint(0, 16)) for _ in range(128)])
                run("tcvt", [src], [out], round=mode)
                same(out, lambda r, c: decode(encode(src.num(r, c), b, mode), b)
                     if decode(encode(src.num(r, c), b, mode), b) is not None else 0,
                     what=f"tcvt {a} {b} {mode}")
    for a in ("i32", "i16", "i8", "ui8"):
        for b in ("f32", "f16", "bf16", "i8", "i32"):
            src, out = tile(a, 4, 32), Tile(b, 4, 32)
            src.set_bits(0, 0, 0x7fffff)
            if b == "f16":
                src.set_bits(0, 0, 2049)
            run("tcvt", [src], [out], round=CEIL)
            same(out, lambda r, c: src.num(r, c), what=f"tcvt {a} {b}")
    src, out = Tile("f32", 1, 8).put([F(300), F(-300), F(5, 2), 0, 1, 2, 3, 4]), Tile("i8", 1, 8)
    run("tcvt", [src], [out], round=RINT, saturation=1)
    assert out.num(0, 0) == 300 - 256 and out.num(0, 1) == -300 + 256 and out.num(0, 2) == 2


@test
def pairs_of_four_bits():
    values = [0, F(1, 2), 1, F(3, 2), 2, 3, 4, 6]
    src, out = Tile("f32", 1, 32), Tile("!pto.f4E2M1x2", 1, 16)
    order = [RNG.randrange(16) for _ in range(32)]
    src.put([values[k & 7] * (-1 if k & 8 else 1) for k in order])
    run("tcvt", [src], [out])
    for i in range(16):
        low, high = (k if k != 8 else 0 for k in order[2 * i:2 * i + 2])
        got = out.bits(0, i)
        assert (got & 15) % 8 == low % 8 and (got >> 4) % 8 == high % 8, i
    back = Tile("f32", 1, 32)
    run("tcvt", [out], [back])
    same(back, lambda r, c: src.num(r, c), what="f4 to f32")


def reduce_f32(xs, fn):
    acc = xs[0]
    for x in xs[1:]:
        acc = f32(fn(acc, x))
    return acc


@test
def row_reductions():
    fns = {"sum": lambda a, b: a + b, "prod": lambda a, b: a * b, "max": max, "min": min}
    for t in ("f32", "f16", "bf16", "i32"):
        for name, fn in fns.items():
            src, out = tile(t, 9, 24, valid=(9, 21)), Tile(t, 9, 1, layout="dn")
            if name == "prod" and is_float(t):  # stays in the range of f16
                src.put([F(RNG.randint(-150, 150), 128) for _ in range(9 * 21)])
            run("trow" + name, [src, Tile(t, 9, 24)], [out])

            def want(r, c):
                xs = [src.num(r, k) for k in range(21)]
                if is_float(t):
                    return as_type(reduce_f32(xs, fn), t)
                acc = xs[0]
                for x in xs[1:]:
                    acc = wrap(fn(acc, x), t)
                return acc
            same(out, want, what=f"trow{name} {t}")
    src, out = tile("i32", 5, 40), Tile("i32", 5, 1, layout="dn")
    for op, pick in (("trowargmax", max), ("trowargmin", min)):
        run(op, [src], [out])
        rows = [[src.num(r, c) for c in range(40)] for r in range(5)]
        same(out, lambda r, c: rows[r].index(pick(rows[r])), what=op)


@test
def column_reductions():
    fns = {"sum": lambda a, b: a + b, "prod": lambda a, b: a * b, "max": max, "min": min}
    for t in ("f32", "f16", "i32"):
        for name, fn in fns.items():
            src, out = tile(t, 7, 24), Tile(t, 1, 24)
            if name == "prod" and is_float(t):
                src.put([F(RNG.randint(-150, 150), 128) for _ in range(7 * 24)])
            run("tcol" + name, [src], [out])

            def want(r, c):
                acc = src.num(0, c)
                for k in range(1, 7):
                    acc = as_type(f32(fn(acc, src.num(k, c))), t) if is_float(t) \
                        else wrap(fn(acc, src.num(k, c)), t)
                return acc
            same(out, want, what=f"tcol{name} {t}")
    src, out = tile("i16", 30, 16), Tile("i32", 1, 16)
    for op, pick in (("tcolargmax", max), ("tcolargmin", min)):
        run(op, [src], [out])
        cols = [[src.num(r, c) for r in range(30)] for c in range(16)]
        same(out, lambda r, c: cols[c].index(pick(cols[c])), what=op)


@test
def broadcasts():
    col, row, out = tile("f32", 8, 1, layout="dn"), tile("f32", 1, 16), Tile("f32", 8, 16)
    run("trowexpand", [col], [out])
    same(out, lambda r, c: col.num(r, 0), what="trowexpand")
    run("tcolexpand", [row], [out])
    same(out, lambda r, c: row.num(0, c), what="tcolexpand")
    for t in ("f32", "f16"):
        for name in ("add", "sub", "mul", "div", "max", "min", "expdif"):
            fn = BINARY.get(name, lambda a, b: F(math.exp(float(f32(a - b)))))
            slack = 1 if name == "expdif" else 0
            a = tile(t, 8, 16)
            for b in (tile(t, 8, 1, True, layout="dn"), tile(t, 8, 32 // (4 if t == "f32" else 2), True)):
                out = Tile(t, 8, 16)
                run("trowexpand" + name, [a, b], [out])
                same(out, lambda r, c: as_type(f32(fn(a.num(r, c), b.num(r, 0))), t), slack, name)
            b, out = tile(t, 1, 16, True), Tile(t, 8, 16)
            run("tcolexpand" + name, [a, b], [out])
            same(out, lambda r, c: as_type(f32(fn(a.num(r, c), b.num(0, c))), t), slack, name)


@test
def compare_and_select():
    fns = [lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b,
           lambda a, b: a > b, lambda a, b: a >= b]
    for t in ("f32", "i32", "f16"):
        for how, fn in enumerate(fns):
            a, b, mask = tile(t, 3, 40), tile(t, 3, 40), Tile("ui8", 3, 32)
            b.set_bits(0, 0, a.bits(0, 0))
            run("tcmp", [a, b], [mask], cmp=how)
            for r in range(3):
                for c in range(40):
                    assert mask.bits(r, c // 8) >> c % 8 & 1 == fn(a.num(r, c), b.num(r, c)), (t, how)
            out = Tile(t, 3, 40)
            run("tsel", [mask, a, b, Tile(t, 1, 8)], [out])
            same(out, lambda r, c: a.num(r, c) if fn(a.num(r, c), b.num(r, c)) else b.num(r, c))
            run("tsels", [mask, a, Tile(t, 1, 8), Value(t, 7)], [out])
            same(out, lambda r, c: a.num(r, c) if fn(a.num(r, c), b.num(r, c)) else 7)
            run("tcmps", [a, Value(t, 1)], [mask], cmp=how)
            for c in range(40):
                assert mask.bits(1, c // 8) >> c % 8 & 1 == fn(a.num(1, c), 1)


@test
def parts():
    fns = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min}
    for name, fn in fns.items():
        a, b = tile("i32", 8, 16, valid=(8, 10)), tile("i32", 8, 16, valid=(5, 12))
        out = Tile("i32", 8, 16, valid=(8, 14))
        run("tpart" + name, [a, b], [out])

        def want(r, c):
            x = a.num(r, c) if c < 10 else None
            y = b.num(r, c) if r < 5 and c < 12 else None
            return fn(x, y) if x is not None and y is not None else x if x is not None else y or 0
        same(out, want, what="tpart" + name)
    a, b, ia, ib = (tile("i32", 4, 8) for _ in range(4))
    out, at = Tile("i32", 4, 8), Tile("i32", 4, 8)
    run("tpartargmax", [a, b, ia, ib], [out, at])
    same(out, lambda r, c: max(a.num(r, c), b.num(r, c)))
    same(at, lambda r, c: (ib if b.num(r, c) > a.num(r, c) else ia).num(r, c))
    run("tpartargmin", [a, b, ia, ib], [out, at])
    same(at, lambda r, c: (ib if b.num(r, c) < a.num(r, c) else ia).num(r, c))


@test
def loads_and_stores():
    for t in ("f32", "f16", "i8"):
        for layout in PLAIN:
            for dn in (False, True):
                view = View(t, [32, 64], [1, 40] if dn else [70, 1])
                view.data = bytearray(RNG.randbytes(len(view.data)))
                out = Tile(t, 32, 64, layout=layout, space="mat", valid=(29, 60))
                run("tload", [view], [out])
                same_bits(out, lambda r, c: view.bits_at((r, c)), f"tload {layout}")
                back = View(t, [29, 60])
                run("tstore", [out], [back])
                for r in range(29):
                    for c in range(60):
                        assert back.bits_at((r, c)) == out.bits(r, c)
    view, out = View("f32", [2, 3, 2, 5, 8]), Tile("f32", 60, 8)
    view.data = bytearray(RNG.randbytes(len(view.data)))
    run("tload", [view], [out])
    same_bits(out, lambda r, c: view.bits_at((r // 30, r // 10 % 3, r // 5 % 2, r % 5, c)))
    view, out = View("f16", [2, 2, 16, 16], layout=2), Tile("f16", 32, 32)
    view.data = bytearray(RNG.randbytes(len(view.data)))
    run("tload", [view], [out])
    same_bits(out, lambda r, c: view.bits_at((c // 16, r // 16, r % 16, c % 16)), "nz view")
    assert RUN.run("tload", [View("f32", [4, 8], count=20)], [Tile("f32", 4, 8)]) == "pto-run.gm-range"
    out = Tile("f32", 2, 16, valid=(2, 5), pad=3, fill=1)
    run("tload", [View("f32", [2, 5])], [out])
    assert [out.bits(1, c) for c in range(4, 9)] == [0, 0xff800000, 0xff800000, 0xff800000, 0x01010101]


@test
def stores_from_the_accumulator():
    acc = tile("f32", 16, 32, layout="nz", space="acc", fractal=1024)
    for t in ("f32", "f16", "bf16"):
        view = View(t, [16, 32])
        run("tstore", [acc], [view], relu=1)
        for r in range(16):
            for c in range(32):
                assert decode(view.bits_at((r, c)), t) == as_type(max(acc.num(r, c), 0), t)
    view = View("f32", [16, 32])
    for k in range(2):
        run("tstore", [acc], [view], atomic=1)
    assert decode(view.bits_at((3, 4)), "f32") == f32(acc.num(3, 4) * 2)
    view, scale = View("i8", [16, 32]), Value("i64", bits=encode(F(8), "f32"))
    run("tstore", [acc, scale], [view])
    assert all(view.bits_at((r, c)) == encode(f32(acc.num(r, c) * 8), "i8")
               for r in range(16) for c in range(32))


@test
def moves():
    for a in PLAIN:
        for b in PLAIN:
            src, out = tile("bf16", 32, 48, layout=a, space="mat"), Tile("bf16", 32, 48, layout=b)
            run("tmov", [src], [out])
            same_bits(out, lambda r, c: src.bits(r, c), f"tmov {a} {b}")
    src, out = tile("i8", 64, 64, layout="zn", space="mat"), Tile("i8", 32, 32, layout="zn")
    run("textract", [src, Value("i64", 32), Value("i64", 16)], [out])
    same_bits(out, lambda r, c: src.bits(r + 32, c + 16), "textract")
    part = tile("f32", 4, 8)
    run("tinsert", [part, Value("i64", 2), Value("i64", 8)], [big := Tile("f32", 8, 16, fill=7)])
    same_bits(big, lambda r, c: part.bits(r - 2, c - 8) if 2 <= r < 6 and c >= 8 else 0x07070707)
    far = [part, Value("i64", 6), Value("i64", 0)]
    assert RUN.run("tinsert", far, [Tile("f32", 8, 16)]) == "pto-run.func-shape"
    src = tile("f16", 16, 64, layout="zz", space="left", valid=(5, 40), compact=1)
    out = Tile("f16", 16, 64, valid=(5, 40))
    run("tmov", [src], [out])
    same_bits(out, lambda r, c: src.bits(r, c), "compact")


@test
def shapes():
    a, b, out = tile("f32", 4, 8, valid=(4, 5)), tile("f32", 4, 8), Tile("f32", 4, 16, valid=(4, 13))
    run("tconcat", [a, b], [out])
    same_bits(out, lambda r, c: a.bits(r, c) if c < 5 else b.bits(r, c - 5), "tconcat")
    n, m = Tile("i32", 4, 8).put([2] * 32), Tile("i32", 4, 8).put([3] * 32)
    run("tconcatidx", [a, b, n, m], [out := Tile("f32", 4, 16)])
    assert [out.bits(1, c) for c in range(5)] == [a.bits(1, 0), a.bits(1, 1)] + [b.bits(1, c) for c in range(3)]
    for t in ("f32", "bf16", "i8"):
        src, out = tile(t, 16, 24), Tile(t, 24, 16)
        run("ttrans", [src, Tile(t, 1, 8)], [out])
        same_bits(out, lambda r, c: src.bits(c, r), "ttrans")
    square, out = tile("i32", 8, 8), Tile("i32", 8, 8)
    before = [[square.bits(r, c) for c in range(8)] for r in range(8)]
    out.alias = 0
    run("ttrans", [square], [out])
    same_bits(out, lambda r, c: before[c][r], "ttrans in place")
    src, out = tile("i32", 4, 8), Tile("i16", 4, 8)
    run("tpack", [src], [out])
    same_bits(out, lambda r, c: src.bits(r, c) & 0xffff, "tpack")


@test
def padding():
    pads = {1: 0, 2: 0x7f800000, 3: 0xff800000, (1 << 32) | encode(F(3), "f32"): encode(F(3), "f32")}
    for pad, bits in pads.items():
        src, out = tile("f32", 8, 16, valid=(5, 9)), Tile("f32", 8, 16, pad=pad, fill=9)
        run("tfillpad", [src], [out])
        same_bits(out, lambda r, c: src.bits(r, c) if r < 5 and c < 9 else bits, "tfillpad")
    src, out = tile("i16", 4, 16), Tile("i16", 8, 32, pad=2)
    run("tfillpad_expand", [src], [out])
    same_bits(out, lambda r, c: src.bits(r, c) if r < 4 and c < 16 else 0x7fff, "tfillpad_expand")
    src, out = tile("f32", 64, 8, valid=(20, 8)), Tile("f32", 64, 8, pad=1, compact=3, fill=5)
    run("tfillpad", [src], [out])
    assert out.bits(31, 0) == 0 and out.bits(32, 0) == 0x05050505
    run("tfillpad_inplace", [a := tile("f32", 4, 8, valid=(2, 3))], [out := Tile("f32", 4, 8, pad=1)])
    same_bits(out, lambda r, c: a.bits(r, c) if r < 2 and c < 3 else 0)


@test
def fills():
    run("texpands", [Value("f32", F(5, 2))], [out := Tile("bf16", 4, 8)])
    same(out, lambda r, c: F(5, 2), what="texpands")
    run("tci", [Value("i32", 5)], [out := Tile("i16", 1, 16)], descending=1)
    same(out, lambda r, c: 5 - c, what="tci")
    for diag in (-2, 0, 3):
        for upper in (0, 1):
            run("ttri", [Value("i32", diag)], [out := Tile("f32", 8, 8)], upper=upper)
            same(out, lambda r, c: int(c >= r + diag if upper else c <= r + diag), what="ttri")
    outs = [Tile("ui32", 4, 8), Tile("ui32", 4, 8), Tile("ui32", 4, 8)]
    for out, key in zip(outs, (1, 1, 2)):
        run("trandom", [Value("i32", key)], [out])
    assert outs[0].data == outs[1].data and outs[0].data != outs[2].data


@test
def gathers():
    src, idx, out = tile("f32", 4, 16), Tile("i32", 4, 8), Tile("f32", 4, 8)
    idx.put([RNG.randint(-3, 70) for _ in range(32)])
    run("tgather", [src, idx, Tile("i32", 4, 8)], [out])
    same_bits(out, lambda r, c: src.bits(idx.num(r, c) // 16, idx.num(r, c) % 16)
              if 0 <= idx.num(r, c) < 64 else 0, "tgather")
    keep = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}
    for pattern, (step, at) in keep.items():
        out = Tile("f32", 4, 16 // step)
        run("tgather", [src], [out], mask_pattern=pattern)
        same_bits(out, lambda r, c: src.bits(r, c * step + at), f"pattern {pattern}")
        wide = Tile("f32", 4, 16, fill=3)
        run("tscatter", [out], [wide], mask_pattern=pattern)
        same_bits(wide, lambda r, c: src.bits(r, c) if c % step == at else 0)
    out, count = Tile("i32", 4, 16, fill=1), Tile("i32", 4, 8)
    run("tgather", [src, Value("f32", 1), Tile("f32", 1, 8)], [out, count], cmp=4, offset=100)
    for r in range(4):
        want = [100 + c for c in range(16) if src.num(r, c) > 1]
        assert count.num(r, 0) == len(want) and [out.num(r, c) for c in range(len(want))] == want
    offs, out = Tile("ui32", 4, 8).put([4 * RNG.randrange(64) for _ in range(32)]), Tile("f32", 4, 8)
    run("tgatherb", [src, offs], [out])
    same_bits(out, lambda r, c: src.bits(offs.num(r, c) // 64, offs.num(r, c) // 4 % 16), "tgatherb")
    order = list(range(32))
    RNG.shuffle(order)
    src, idx, out = tile("i16", 2, 16), Tile("i16", 2, 16).put(order), Tile("i16", 2, 16)
    run("tscatter", [src, idx], [out])
    same_bits(out, lambda r, c: src.bits(order.index(r * 16 + c) // 16, order.index(r * 16 + c) % 16))
    idx.put([32] * 32)
    assert RUN.run("tscatter", [src, idx], [out]) == "pto-run.index-range"


@test
def memory_gathers():
    mem = View("f32", [10, 8])
    mem.data = bytearray(RNG.randbytes(len(mem.data)))
    idx, out = Tile("i32", 1, 8, valid=(1, 4)).put([3, 9, 0, 3]), Tile("f32", 4, 8)
    run("mgather", [mem, idx], [out])
    same_bits(out, lambda r, c: mem.bits_at((idx.num(0, r), c)), "mgather rows")
    idx, out = Tile("i32", 2, 8).put([RNG.randrange(80) for _ in range(16)]), Tile("f32", 2, 8)
    run("mgather", [mem, idx], [out], coalesce=1)
    same_bits(out, lambda r, c: mem.bits_at((idx.num(r, c) // 8, idx.num(r, c) % 8)), "mgather elem")
    idx.put([-1, 80, 85] + [0] * 13)
    assert RUN.run("mgather", [mem, idx], [out], coalesce=1) == "pto-run.index-range"
    for oob, places in ((1, (0, 79, 79)), (2, (79, 0, 5))):
        run("mgather", [mem, idx], [out], coalesce=1, gather_oob=oob)
        assert [out.bits(0, c) for c in range(3)] == [mem.bits_at((k // 8, k % 8)) for k in places]
    run("mgather", [mem, idx], [out], coalesce=1, gather_oob=3)
    assert [out.bits(0, c) for c in range(3)] == [0, 0, 0]
    for op, fn in enumerate((lambda a, b: b, lambda a, b: a + b, max, min)):
        mem, src = View("i32", [6, 8]), tile("i32", 3, 8)
        idx = Tile("i32", 3, 1, layout="dn").put([5, 0, 5])
        want = [[0] * 8 for _ in range(6)]
        for r, k in enumerate((5, 0, 5)):
            want[k] = [fn(want[k][c], src.num(r, c)) for c in range(8)]
        run("mscatter", [src, idx], [mem], scatter_op=op)
        assert all(decode(mem.bits_at((r, c)), "i32") == want[r][c] for r in range(6) for c in range(8))
    idx.put([5, 6, -1])
    assert RUN.run("mscatter", [src, idx], [mem]) == "pto-run.index-range"
    run("mscatter", [src, idx], [mem], scatter_oob=1)


@test
def products():
    for t, m, k, n in (("f16", 7, 40, 19), ("bf16", 16, 32, 33), ("f32", 13, 9, 16)):
        left = tile(t, 16, 64, layout="zz", space="left", valid=(m, k))
        right = tile(t, 64, 48, layout="zn", space="right", valid=(k, n))
        acc = Tile("f32", 16, 48, layout="nz", space="acc", fractal=1024, valid=(m, n))
        bias = tile("f32", 1, 48, space="bias")

        def dot(r, c):
            s = F(0)
            for i in range(k):
                s = f32(left.num(r, i) * right.num(i, c) + s)
            return s
        run("tmatmul", [left, right], [acc])
        same(acc, dot, what=f"tmatmul {t}")
        first = [[acc.num(r, c) for c in range(n)] for r in range(m)]
        acc.alias = None
        cin = Tile("f32", 16, 48, layout="nz", space="acc", fractal=1024, valid=(m, n))
        cin.data = bytearray(acc.data)
        run("tmatmul.acc", [cin, left, right], [acc])
        same(acc, lambda r, c: f32(first[r][c] + first[r][c]), what="tmatmul.acc")
        run("tmatmul.bias", [left, right, bias], [acc])
        same(acc, lambda r, c: f32(first[r][c] + bias.num(0, c)), what="tmatmul.bias")
    left, right = tile("i8", 16, 32, layout="zz"), tile("i8", 32, 32, layout="zn")
    acc = Tile("i32", 16, 32, layout="nz", fractal=1024)
    run("tmatmul", [left, right], [acc])
    same(acc, lambda r, c: sum(left.num(r, i) * right.num(i, c) for i in range(32)), what="i8")
    row = tile("f32", 1, 16)
    run("tgemv", [row, b := tile("f32", 16, 16)], [out := Tile("f32", 1, 16)])

    def gemv(r, c):
        s = F(0)
        for i in range(16):
            s = f32(row.num(0, i) * b.num(i, c) + s)
        return s
    same(out, gemv, what="tgemv")
    assert RUN.run("tmatmul", [row, tile("f32", 8, 16)], [out]) == "pto-run.func-shape"


@test
def scaled_products():
    a, b = tile("f8E4M3FN", 16, 64), tile("f8E4M3FN", 64, 16)
    sa, sb = Tile("!pto.f8E8M0", 16, 2), Tile("!pto.f8E8M0", 2, 16)
    for r in range(16):
        for g in range(2):
            sa.set_bits(r, g, 124 + (r + g) % 5)
            sb.set_bits(g, r, 125 + (r * g) % 4)
    run("tmatmul.mx", [a, sa, b, sb], [out := Tile("f32", 16, 16)])

    def want(r, c):
        total = F(0)
        for g in range(2):
            s = F(0)
            for i in range(32 * g, 32 * g + 32):
                s = f32(a.num(r, i) * b.num(i, c) + s)
            total = f32(total + s * F(2)**(sa.bits(r, g) + sb.bits(g, c) - 254))
        return total
    same(out, want, what="tmatmul.mx")


@test
def quantisation():
    src, out = tile("f32", 4, 32), Tile("i8", 4, 32)
    scale = Tile("f32", 2, 1, layout="dn").put([F(20), F(60)])
    run("tquant", [src, scale], [out])
    same(out, lambda r, c: decode(encode(f32(src.num(r, c) * scale.num(min(r, 1), 0)), "i8"), "i8"))
    offset = Tile("f32", 2, 1, layout="dn").put([F(128), F(3)])
    run("tquant", [src, scale, offset], [out := Tile("ui8", 4, 32)])
    same(out, lambda r, c: decode(encode(f32(f32(src.num(r, c) * scale.num(min(r, 1), 0)) +
                                             offset.num(min(r, 1), 0)), "ui8"), "ui8"))
    run("tdequant", [q := tile("i8", 4, 32), scale, offset], [out := Tile("f32", 4, 32)])
    same(out, lambda r, c: f32((q.num(r, c) - offset.num(min(r, 1), 0)) * scale.num(min(r, 1), 0)))
    src = tile("f32", 2, 64)
    outs = [Tile("f8E4M3FN", 2, 64), Tile("!pto.f8E8M0", 2, 2), Tile("f32", 2, 2), Tile("f32", 2, 2)]
    run("tquant.mx", [src], outs)
    for r in range(2):
        for g in range(2):
            most = max(abs(src.num(r, c)) for c in range(32 * g, 32 * g + 32))
            assert outs[2].num(r, g) == most
            scale = F(2)**(outs[1].bits(r, g) - 127)
            assert outs[3].num(r, g) == 1 / scale and 256 <= most / scale < 512
            for c in range(32 * g, 32 * g + 32):
                assert outs[0].num(r, c) == as_type(src.num(r, c) / scale, "f8E4M3FN")


@test
def histograms():
    src, out = Tile("ui16", 2, 64).put([RNG.randrange(65536) & 0x3ff for _ in range(128)]), Tile("ui32", 2, 256)
    run("thistogram", [src], [out])
    same(out, lambda r, b: sum(src.num(r, c) >> 8 <= b for c in range(64)), what="thistogram")
    idx = Tile("ui8", 2, 1, layout="dn").put([1, 2])
    run("thistogram", [src, idx], [out])
    same(out, lambda r, b: sum(src.num(r, c) >> 8 == r + 1 and src.num(r, c) & 255 <= b
                               for c in range(64)), what="thistogram of a byte")


def records(t, tile_, r, n):
    step = 2 if t == "f32" else 4
    out = []
    for k in range(n):
        raw = bytes(tile_.data[(r * tile_.cols + k * step) * (8 // step):])[:8]
        out.append((decode(int.from_bytes(raw[:8 // step], "little"), t), int.from_bytes(raw[4:], "little")))
        assert t == "f32" or raw[2:4] == b"\0\0"
    return out


def to_records(t, pairs):
    step = 2 if t == "f32" else 4
    out = Tile(t, 1, len(pairs) * step)
    for k, (x, i) in enumerate(pairs):
        out.data[8 * k:8 * k + 8] = encode(x, t).to_bytes(4, "little") + i.to_bytes(4, "little")
    return out


@test
def sorting():
    for t in ("f32", "f16"):
        step = 2 if t == "f32" else 4
        src = Tile(t, 2, 96).put([F(RNG.randint(0, 9), 2) for _ in range(192)])
        idx = Tile("ui32", 2, 96).put(list(range(192)))
        out = Tile(t, 2, 96 * step)
        run("tsort32", [src, idx], [out])
        for r in range(2):
            got = records(t, out, r, 96)
            for b in range(0, 96, 32):
                want = sorted(((src.num(r, c), idx.num(r, c)) for c in range(b, b + 32)), key=lambda p: -p[0])
                assert got[b:b + 32] == want, t
        # runs of 64 elements: 32 records in f32, 16 in f16
        per = 64 // step
        pairs = [(F(RNG.randint(0, 30), 4), i) for i in range(8 * per)]
        runs = [sorted(pairs[i:i + per], key=lambda p: -p[0]) for i in range(0, 8 * per, per)]
        src = to_records(t, sum(runs, []))
        run("tmrgsort", [src, Value("i32", 64)], [out := Tile(t, 1, src.cols)])
        want = sum((sorted(sum(runs[i:i + 4], []), key=lambda p: -p[0]) for i in (0, 4)), [])
        assert records(t, out, 0, 8 * per) == want
        for n in (2, 3, 4):
            lists = [sorted(((F(RNG.randint(0, 9)), 100 * i + k) for k in range(7 + 4 * i)), key=lambda p: -p[0])
                     for i in range(n)]
            total = sum(map(len, lists))
            out, done = Tile(t, 1, total * step), Value("i64", 0)
            run("tmrgsort", [to_records(t, x) for x in lists], [out, Tile(t, 1, 8), done])
            want = sorted(sum(lists, []), key=lambda p: -p[0])
            assert records(t, out, 0, total) == want
            assert [done.raw >> 16 * i & 0xffff for i in range(n)] == [len(x) for x in lists]
            out, done = Tile(t, 1, total * step), Value("i64", 0)
            run("tmrgsort", [to_records(t, x) for x in lists], [out, done], exhausted=1)
            used = [done.raw >> 16 * i & 0xffff for i in range(n)]
            assert any(u == len(x) for u, x in zip(used, lists))
            assert records(t, out, 0, sum(used)) == want[:sum(used)]
    assert RUN.run("tmrgsort", [src, Value("i32", 63)], [out]) == "pto-run.func-shape"


@test
def single_values():
    src = tile("i32", 4, 8)
    run("tgetval", [src, Value("i64", 13)], [got := Value("i32", 0)])
    assert got.raw % 2**32 == src.bits(1, 5)
    run("tsetval", [Value("i64", 9), Value("i32", -4)], [out := Tile("i32", 4, 8)])
    assert out.num(1, 1) == -4
    assert RUN.run("tgetval", [src, Value("i64", 32)], [got]) == "pto-run.index-range"
    col = tile("f32", 8, 1, layout="dn")
    run("tgetval", [col, Value("i64", 5)], [got])
    assert got.raw == col.bits(5, 0)


@test
def communication():
    sig, one = View("i32", [1]), Value("i32", 3)
    # what a comm operation writes is among its ins, so it is seen by a later one on the same buffer
    assert RUN.run("comm.ttest", [sig, Value("i32", 0)], [got := Value("i1", 0)], wait_cmp=0) is None
    assert got.raw == 1
    assert RUN.run("comm.ttest", [sig, one], [got], wait_cmp=3) is None and got.raw == 0
    assert RUN.run("comm.twait", [sig, one], [got], wait_cmp=4) is None and got.raw == 1
    assert RUN.run("comm.tput", [View("f32", [4]), View("f16", [4])], []) == "pto-run.func-dtype"


@test
def nothing_valid_moves_nothing():
    a, b = tile("f32", 4, 8), tile("f32", 4, 8)
    for op, ins in (("tadd", [a, b]), ("tmov", [a]), ("texp", [a]), ("trowexpand", [a]),
                    ("tcvt", [a]), ("tsel", [Tile("ui8", 4, 32), a, b]), ("ttrans", [a])):
        out = Tile("f32", 4, 8, valid=(0, 0), fill=3)
        run(op, ins, [out])
        assert set(out.data) == {3}, op


@test
def what_cannot_be_is_refused():
    a = tile("f32", 4, 8)
    big = Tile("f32", 4, 8)
    big.rows = big.cols = 2**31 - 1
    big.vr = big.vc = 2**31 - 1
    for bad in (big, short := Tile("f32", 4, 8)):
        short.data = short.data[:100]
        for op in ("tadd", "tmul"):
            assert RUN.run(op, [a, a], [bad]) in ("pto-run.tile-shape", "pto-run.tile-range"), op
            assert RUN.run(op, [a, bad], [Tile("f32", 4, 8)]) in ("pto-run.tile-shape", "pto-run.tile-range")
    assert RUN.run("tadd", [a], [Tile("f32", 4, 8)]) == "pto-run.func-operand"
    assert RUN.run("tadd", [a, tile("f32", 2, 8)], [Tile("f32", 4, 8)]) == "pto-run.func-shape"
    assert RUN.run("tload", [View("f16", [4, 8])], [Tile("f32", 4, 8)]) == "pto-run.func-dtype"
    assert RUN.run("barrier", [], []) == "pto-run.func-unknown"


def main():
    bad = 0
    for fn in TESTS:
        try:
            fn()
        except AssertionError as e:
            bad += 1
            print(f"{fn.__name__}: {e}", file=sys.stderr)
            if "-v" in sys.argv:
                raise
    assert RUN.close() == 0
    print(f"{len(TESTS)} groups, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
