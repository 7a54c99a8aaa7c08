"""Kernels of our own in PTO text: those of the tree, and some written here from their sizes.

write(FOLDER) leaves what is written here in a folder and returns all paths: {name: path}.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Text:
    """The body of one kernel; constants are declared when they are first named."""

    def __init__(self):
        self.constants, self.lines, self.depth = {}, [], 0

    def c(self, value, kind="index"):
        name = "%%%s%d" % ("c" if kind == "index" else "a", value)
        self.constants[name] = "    %s = arith.constant %d : %s" % (name, value, kind)
        return name

    def put(self, line, *values):
        self.lines.append("  " * (self.depth + 2) + line % values)

    def view(self, name, pointer, shape, strides, dtype, layout="nd"):
        self.put("%s = pto.make_tensor_view %s, shape = [%s], strides = [%s] {layout = #pto.layout<%s>} : "
                 "!pto.tensor_view<?x?x%s>", name, pointer, ", ".join(map(self.c, shape)),
                 ", ".join(map(self.c, strides)), layout, dtype)

    def tile(self, name, address, kind):
        self.put("%s = pto.alloc_tile addr = %s : %s", name, self.c(address, "i64"), kind)

    def part(self, name, view, offsets, sizes, dtype):
        kind = "!pto.partition_tensor_view<%dx%dx%s>" % (*sizes, dtype)
        self.put("%s = pto.partition_view %s, offsets = [%s], sizes = [%s] : !pto.tensor_view<?x?x%s> -> %s", name, view,
                 ", ".join(offsets), ", ".join(map(self.c, sizes)), dtype, kind)
        return "%s : %s" % (name, kind)

    def load(self, view, offsets, sizes, dtype, tile, kind):
        name = "%%p%d" % len(self.lines)
        self.put("pto.tload ins(%s) outs(%s : %s)", self.part(name, view, offsets, sizes, dtype), tile, kind)

    def store(self, tile, kind, view, offsets, sizes, dtype):
        name = "%%p%d" % len(self.lines)
        self.put("pto.tstore ins(%s : %s) outs(%s)", tile, kind, self.part(name, view, offsets, sizes, dtype))

    def flags(self, what, from_pipe, to_pipe, event=0):
        for one in what.split():
            self.put("pto.%s_flag[<PIPE_%s>, <PIPE_%s>, <EVENT_ID%d>]", one, from_pipe, to_pipe, event)

    def begin(self, variable, end, step):
        self.put("scf.for %s = %s to %s step %s {", variable, self.c(0), self.c(end), self.c(step))
        self.depth += 1

    def end(self):
        self.depth -= 1
        self.put("}")

    def text(self, name, arguments, core, types, arch="a2a3"):
        return "\n".join([
            *("%s = %s" % item for item in types.items()),
            'module attributes {pto.target_arch = "%s"} {' % arch,
            "  func.func @%s(%s) attributes {pto.kernel_kind = #pto.kernel_kind<%s>} {" % (
                name, ", ".join("%%%s: !pto.ptr<%s>" % a for a in arguments), core),
            *self.constants.values(), *self.lines, "    return", "  }", "}", ""])


def stream(rows, cols):
    """One of 48 vector cores reads 256 rows of a 12288 x 12288 matrix in f16 once, rows x cols elements a load."""
    t = Text()
    t.view("%v", "%x", (256, 12288), (12288, 1), "f16")
    t.tile("%t", 0, "!t")
    t.begin("%i", 256, rows)
    t.begin("%j", 12288, cols)
    t.load("%v", ("%i", "%j"), (rows, cols), "f16", "%t", "!t")
    t.end()
    t.end()
    return t.text("stream", [("x", "f16")], "vector", {"!t": "!pto.tile_buf<vec, %dx%dxf16>" % (rows, cols)})


def add(tile, buffers=1, elements=1400832, flags=False):
    """z = x + y in f16: the share of one of 48 vector cores, `tile` elements at a time; with flags, those that the
    order of its loads, sums and stores needs."""
    t, size = Text(), tile * 2
    for name in "xyz":
        t.view("%%%sv" % name, "%" + name, (1, elements), (elements, 1), "f16")
    for b in range(buffers):
        for k, name in enumerate("xyz"):
            t.tile("%%t%s%d" % (name, b), (k * buffers + b) * size, "!t")
    if flags:
        for b in range(buffers):
            t.flags("set", "V", "MTE2", b)
            t.flags("set", "MTE3", "V", b)
    t.begin("%i", elements, tile * buffers)
    for b in range(buffers):
        at = "%i"
        if b:
            at = "%%i%d" % b
            t.put("%s = arith.addi %%i, %s : index", at, t.c(b * tile))
        x, y, z = ("%%t%s%d" % (name, b) for name in "xyz")
        if flags:
            t.flags("wait", "V", "MTE2", b)
        for name, into in (("x", x), ("y", y)):
            t.load("%%%sv" % name, (t.c(0), at), (1, tile), "f16", into, "!t")
        if flags:
            t.flags("set wait", "MTE2", "V", b)
            t.flags("wait", "MTE3", "V", b)
        t.put("pto.tadd ins(%s, %s : !t, !t) outs(%s : !t)", x, y, z)
        if flags:
            t.flags("set", "V", "MTE2", b)
            t.flags("set wait", "V", "MTE3", b)
        t.store(z, "!t", "%zv", (t.c(0), at), (1, tile), "f16")
        if flags:
            t.flags("set", "MTE3", "V", b)
    t.end()
    if flags:
        for b in range(buffers):
            t.flags("wait", "V", "MTE2", b)
            t.flags("wait", "MTE3", "V", b)
    return t.text("add", [(name, "f16") for name in "xyz"], "vector", {"!t": "!pto.tile_buf<vec, 1x%dxf16>" % tile})


def gemm(size):
    """c = a b in f16 for square matrices: the share of one of 4 x 6 cube cores. 128 x 256 of the result at a time;
    panels of 256 along k in two buffers, of which products take 64 at a time, in two buffers too."""
    m, n, k, t = size // 4, size // 6, size, Text()
    t.view("%av", "%a", (m, k), (k, 1), "f16")
    t.view("%bv", "%b", (k, n), (1, k), "f16", "dn")
    t.view("%cv", "%c", (m, n), (n, 1), "f32")
    for i in (0, 1):
        t.tile("%%ma%d" % i, i * 65536, "!ma")
        t.tile("%%mb%d" % i, 131072 + i * 131072, "!mb")
        t.tile("%%l%d" % i, i * 16384, "!l")
        t.tile("%%r%d" % i, i * 32768, "!r")
    t.tile("%acc", 0, "!acc")
    t.begin("%i", m, 128)
    t.begin("%j", n, 256)
    t.begin("%k0", k, 512)
    for panel in (0, 1):
        if panel:
            t.put("%%k1 = arith.addi %%k0, %s : index", t.c(256))
        t.load("%av", ("%i", "%%k%d" % panel), (128, 256), "f16", "%%ma%d" % panel, "!ma")
        t.load("%bv", ("%%k%d" % panel, "%j"), (256, 256), "f16", "%%mb%d" % panel, "!mb")
        for slice_ in range(4):
            at, b = t.c(slice_ * 64), slice_ % 2
            t.put("pto.textract ins(%%ma%d, %s, %s : !ma, index, index) outs(%%l%d : !l)", panel, t.c(0), at, b)
            t.put("pto.textract ins(%%mb%d, %s, %s : !mb, index, index) outs(%%r%d : !r)", panel, at, t.c(0), b)
            more = "pto.tmatmul.acc ins(%%acc, %%l%d, %%r%d : !acc, !l, !r) outs(%%acc : !acc)" % (b, b)
            if panel or slice_:
                t.put("%s", more)
                continue
            t.put("%%first = arith.cmpi eq, %%k0, %s : index", t.c(0))
            t.put("scf.if %%first {")
            t.put("  pto.tmatmul ins(%%l0, %%r0 : !l, !r) outs(%%acc : !acc)")
            t.put("} else {")
            t.put("  %s", more)
            t.put("}")
    t.end()
    t.store("%acc", "!acc", "%cv", ("%i", "%j"), (128, 256), "f32")
    t.end()
    t.end()
    return t.text("gemm", [("a", "f16"), ("b", "f16"), ("c", "f32")], "cube", {
        "!ma": "!pto.tile_buf<mat, 128x256xf16, blayout=col_major, slayout=row_major>",
        "!mb": "!pto.tile_buf<mat, 256x256xf16, blayout=row_major, slayout=col_major>",
        "!l": "!pto.tile_buf<left, 128x64xf16, blayout=row_major, slayout=row_major>",
        "!r": "!pto.tile_buf<right, 64x256xf16, blayout=row_major, slayout=col_major>",
        "!acc": "!pto.tile_buf<acc, 128x256xf32, blayout=col_major, slayout=row_major, fractal=1024>"})


def attention(keys):
    return (ROOT / "examples/pto-templates/flash_attention.pto").read_text().replace("${S1}", str(keys))


WRITTEN = {
    "stream_1x64": lambda: stream(1, 64), "stream_64x64": lambda: stream(64, 64),
    "stream_64x1024": lambda: stream(64, 1024), "add_4096": lambda: add(4096), "add_16384": lambda: add(16384),
    "gemm_3072": lambda: gemm(3072), "gemm_6144": lambda: gemm(6144), "attention_2048": lambda: attention(2048),
    "flags_1": lambda: add(256, 1, 256 * 6, True), "flags_2": lambda: add(256, 2, 256 * 8, True),
    "flags_4": lambda: add(128, 4, 128 * 16, True)}


def write(folder):
    paths = {}
    for name, text in WRITTEN.items():
        paths[name] = pathlib.Path(folder) / (name + ".pto")
        paths[name].write_text(text(), encoding="utf-8")
    for pattern in ("pto/*.pto", "pto-cpp/*.pto", "replay/**/*.pto"):
        for path in sorted((ROOT / "examples").glob(pattern)):
            paths[str(path.relative_to(ROOT))] = path
    for name in ("add", "fine"):
        paths["tests/data/pto/%s.pto" % name] = ROOT / ("tests/data/pto/%s.pto" % name)
    return paths
