"""Number formats, layouts and the text protocol of run_ops, written apart from the C sources."""
import functools
import subprocess
from fractions import Fraction

SIZE = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "ui8": 1, "ui16": 2, "ui32": 4, "ui64": 8,
        "f16": 2, "bf16": 2, "f32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "!pto.hif8": 1,
        "!pto.f8E8M0": 1, "!pto.f4E2M1x2": 1, "!pto.f4E1M2x2": 1}
FLOAT = {"f32": (8, 23), "f16": (5, 10), "bf16": (8, 7), "f8E5M2": (5, 2), "f8E4M3FN": (4, 3)}
SPACE = {"mat": 2, "left": 3, "right": 4, "acc": 5, "vec": 6, "bias": 7, "scaling": 8}
LAYOUT = {"nd": (0, 0), "dn": (1, 0), "nz": (1, 1), "zn": (0, 2), "zz": (0, 1), "nn": (1, 2)}
RINT, AWAY, FLOOR, CEIL, TRUNC, ODD = 1, 2, 3, 4, 5, 6


def is_float(t):
    return t in FLOAT


def round_int(x, mode):
    """A Fraction to an integer."""
    low = x.numerator // x.denominator
    rest = x - low
    if rest == 0:
        return low
    if mode == FLOOR:
        return low
    if mode == CEIL:
        return low + 1
    if mode == TRUNC:
        return low if x > 0 else low + 1
    if mode == ODD:
        return low if low % 2 else low + 1
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    if mode == AWAY:
        return low + 1 if x > 0 else low
    return low + low % 2


@functools.cache
def encode(x, t, mode=RINT, negative_zero=False):
    """A number as the bits of type t; overflow as strata does by default."""
    if not is_float(t):
        bits = SIZE[t] * 8
        low, high = (0, 2**bits - 1) if t[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)
        n = round_int(Fraction(x), mode)
        return max(low, min(high, n)) % 2**bits
    ebits, man = FLOAT[t]
    bias = 2**(ebits - 1) - 1
    sign = 1 if x < 0 or (x == 0 and negative_zero) else 0
    top = sign << (ebits + man)
    x = abs(Fraction(x))
    if x == 0:
        return top
    e = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2)**e > x:
        e -= 1
    e = max(e, 1 - bias)
    n = round_int((-x if sign else x) / Fraction(2)**(e - man), mode)
    n = abs(n)
    code = ((e + bias - 1) << man) + n
    inf = (2**ebits - 1) << man
    if t == "f8E4M3FN":
        return top | min(code, 0x7e)
    if code >= inf:
        return top | (0x7b if t == "f8E5M2" else inf)
    return top | code


@functools.cache
def decode(bits, t):
    """The number of the bits: an int, or a Fraction; None for infinities and NaN."""
    if not is_float(t):
        n = SIZE[t] * 8
        return bits - 2**n if t[0] == "i" and t != "i1" and bits >> (n - 1) else bits
    ebits, man = FLOAT[t]
    bias = 2**(ebits - 1) - 1
    sign = -1 if bits >> (ebits + man) & 1 else 1
    e, f = bits >> man & (2**ebits - 1), bits & (2**man - 1)
    if e == 2**ebits - 1 and not (t == "f8E4M3FN" and f != 2**man - 1):
        return None
    return sign * (Fraction(f, 2**man) * Fraction(2)**(1 - bias) if e == 0
                   else (1 + Fraction(f, 2**man)) * Fraction(2)**(e - bias))


def f32(x):
    """Rounded to f32, as a Fraction."""
    return decode(encode(x, "f32"), "f32")


def as_type(x, t):
    return decode(encode(x, t), t)


def ulps(a, b, t):
    """Steps between two codes of a float type."""
    top = 1 << (SIZE[t] * 8 - 1)
    a, b = (-(v & (top - 1)) if v & top else v for v in (a, b))
    return abs(a - b)


class Tile:
    """A tile in a buffer of its own; `rows` of numbers or None for a zeroed destination."""

    def __init__(self, t, rows, cols, layout="nd", space="vec", valid=None, fractal=512, pad=0,
                 compact=0, fill=0):
        self.t, self.rows, self.cols = t, rows, cols
        self.layout, self.space, self.fractal = layout, space, fractal
        self.pad, self.compact = pad, compact
        self.vr, self.vc = valid if valid is not None else (rows, cols)
        self.alias = None
        self.data = bytearray([fill]) * (self.padded() * SIZE[t])

    def box(self):
        if LAYOUT[self.layout][1] == 0:
            return 1, 1
        wide = {1024: 16, 512: 32 // SIZE[self.t], 32: 2}[self.fractal]
        return (16, wide) if LAYOUT[self.layout][1] == 1 else (wide, 16)

    def shape(self):
        br, bc = self.box()
        r, c = (self.vr, self.vc) if self.compact == 1 and br * bc > 1 else (self.rows, self.cols)
        return -(-r // br) * br, -(-c // bc) * bc

    def padded(self):
        br, bc = self.box()
        return -(-self.rows // br) * br * (-(-self.cols // bc) * bc)

    def offset(self, r, c):
        rows, cols = self.shape()
        br, bc = self.box()
        if self.layout == "nd":
            return r * cols + c
        if self.layout == "dn":
            return c * rows + r
        r1, ri, c1, ci = r // br, r % br, c // bc, c % bc
        return {"nz": c1 * rows * bc + r1 * br * bc + ri * bc + ci,
                "zn": r1 * cols * br + c1 * br * bc + ci * br + ri,
                "zz": r1 * cols * br + c1 * br * bc + ri * bc + ci,
                "nn": c1 * rows * bc + r1 * br * bc + ci * br + ri}[self.layout]

    def set_bits(self, r, c, bits):
        s, at = SIZE[self.t], self.offset(r, c) * SIZE[self.t]
        self.data[at:at + s] = (bits % 256**s).to_bytes(s, "little")

    def bits(self, r, c):
        s, at = SIZE[self.t], self.offset(r, c) * SIZE[self.t]
        return int.from_bytes(self.data[at:at + s], "little")

    def num(self, r, c):
        return decode(self.bits(r, c), self.t)

    def put(self, values):
        """Row-major numbers of the valid part."""
        for k, x in enumerate(values):
            self.set_bits(k // self.vc, k % self.vc, encode(x, self.t))
        return self

    def text(self):
        b, s = LAYOUT[self.layout]
        data = self.data.hex() or "-"
        if self.alias is not None:
            data = f"alias {self.alias}"
        return (f"tile {self.t} {self.rows} {self.cols} {self.vr} {self.vc} {SPACE[self.space]} "
                f"{b} {s} {self.fractal} {self.compact} {self.pad} {data}")


class View:
    """A GM window; shape and strides in elements."""

    def __init__(self, t, shape, stride=None, layout=0, fill=0, count=None):
        self.t, self.shape_, self.layout = t, list(shape), layout
        if stride is None:
            stride, step = [0] * len(shape), 1
            for i in reversed(range(len(shape))):
                stride[i] = step
                step *= shape[i]
        self.stride = list(stride)
        n = count or 1 + sum((d - 1) * s for d, s in zip(self.shape_, self.stride))
        self.data = bytearray([fill]) * (n * SIZE[t])

    def set_at(self, index, bits):
        s = SIZE[self.t]
        at = sum(i * k for i, k in zip(index, self.stride)) * s
        self.data[at:at + s] = (bits % 256**s).to_bytes(s, "little")

    def bits_at(self, index):
        s = SIZE[self.t]
        at = sum(i * k for i, k in zip(index, self.stride)) * s
        return int.from_bytes(self.data[at:at + s], "little")

    def text(self):
        words = [self.t, self.layout, len(self.shape_)] + self.shape_ + self.stride
        return "view " + " ".join(map(str, words)) + " " + self.data.hex()


class Value:
    def __init__(self, t, x=0, bits=None):
        self.t = t
        self.raw = encode(x, t) if bits is None else bits
        if bits is None and t[0] == "i" and x < 0:
            self.raw = int(x) % 2**64  # integers travel sign-extended

    def text(self):
        return f"value {self.t} {self.raw}"


class Runner:
    """run_ops in one process."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def run(self, op, ins, outs, reference=False, **attrs):
        """None, with the outs updated; or the code of the failure."""
        lines = [f"op pto.{op}"] + (["reference"] if reference else [])
        lines += [f"attr {k} {v}" for k, v in attrs.items()]
        lines += ["in " + x.text() for x in ins] + ["out " + x.text() for x in outs] + ["run", ""]
        self.process.stdin.write("\n".join(lines))
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise SystemExit(f"run_ops ended in {op}")
        if answer[0] == "fail":
            return answer[1]
        for out, text in zip(outs, answer[1:]):
            if isinstance(out, Value):
                out.raw = int(text)
            else:
                out.data = bytearray.fromhex("" if text == "-" else text)
        return None

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def hexed(t, data):
    """Codes of a row-major hex string."""
    s = SIZE[t]
    raw = bytes.fromhex(data)
    return [int.from_bytes(raw[i:i + s], "little") for i in range(0, len(raw), s)]

