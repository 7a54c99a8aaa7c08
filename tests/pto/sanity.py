#!/usr/bin/env python3
"""sanity.py STRATA - kernels of many sizes behave as hardware must.

Streams, element-wise kernels and matrix products of other sizes, tiles, buffers and numbers of cores than the cost
model was fitted to: more work takes longer, nothing beats memory or the cube, a second buffer and further cores
never hurt.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

CORES = {"a2a3": 24, "a5": 32}
HBM = {"a2a3": 805, "a5": 978}  # bytes a cycle, data/pto/cost.csv
PRODUCTS = 4096                 # of f16 a cycle
SLACK = 1.01                    # cycles are rounded for each instruction


class Text:
    """A kernel under construction."""

    def __init__(self, arch, kind, args):
        self.head = 'module attributes {pto.target_arch = "%s"} {\nfunc.func @k(%s) attributes {pto.kernel_kind = ' \
            '#pto.kernel_kind<%s>} {' % (arch, ", ".join("%%%s: !pto.ptr<%s>" % a for a in args), kind)
        self.constants, self.lines, self.types = {}, [], []

    def number(self, n, kind="index"):
        name = "%%%s%d" % (kind, n)
        self.constants[name] = "%s = arith.constant %d : %s" % (name, n, kind)
        return name

    def type(self, name, what):
        self.types.append("!%s = !pto.tile_buf<%s>" % (name, what))

    def tile(self, name, kind, at):
        self.lines.append("%%%s = pto.alloc_tile addr = %s : !%s" % (name, self.number(at, "i64"), kind))

    def view(self, name, rows, cols, dtype):
        self.lines.append("%%%sv = pto.make_tensor_view %%%s, shape = [%s, %s], strides = [%s, %s] : "
                          "!pto.tensor_view<?x?x%s>" % (name, name, self.number(rows), self.number(cols),
                                                        self.number(cols), self.number(1), dtype))

    def cut(self, view, row, col, rows, cols, dtype):
        """Names a part of a view; returns it with its type."""
        part, kind = "%%part%d" % len(self.lines), "!pto.partition_tensor_view<%dx%dx%s>" % (rows, cols, dtype)
        self.lines.append("%s = pto.partition_view %%%sv, offsets = [%s, %s], sizes = [%s, %s] : "
                          "!pto.tensor_view<?x?x%s> -> %s" % (part, view, row, col, self.number(rows),
                                                              self.number(cols), dtype, kind))
        return "%s : %s" % (part, kind)

    def loop(self, name, end, step):
        self.lines.append("scf.for %s = %s to %s step %s {"
                          % (name, self.number(0), self.number(end), self.number(step)))

    def __str__(self):
        return "\n".join([*self.types, self.head, *self.constants.values(), *self.lines, "return\n}\n}\n"])


def stream(arch, space, rows, cols, tile_rows, tile_cols):
    """Reads a matrix of f16 once."""
    t = Text(arch, "vector" if space == "vec" else "cube", [("x", "f16")])
    t.type("t", "%s, %dx%dxf16%s" % (space, tile_rows, tile_cols,
                                     "" if space == "vec" else ", blayout=col_major, slayout=row_major"))
    t.view("x", rows, cols, "f16")
    t.tile("t", "t", 0)
    t.loop("%i", rows, tile_rows)
    t.loop("%j", cols, tile_cols)
    t.lines.append("pto.tload ins(%s) outs(%%t : !t)" % t.cut("x", "%i", "%j", tile_rows, tile_cols, "f16"))
    t.lines.append("}\n}")
    return str(t)


def add(arch, n, tile, buffers, dtype):
    """z = x + y."""
    t, size = Text(arch, "vector", [(name, dtype) for name in "xyz"]), 4 if dtype == "f32" else 2
    t.type("t", "vec, 1x%dx%s" % (tile, dtype))
    for name in "xyz":
        t.view(name, 1, n, dtype)
    for i in range(buffers):
        for k, name in enumerate("xyz"):
            t.tile("%s%d" % (name, i), "t", (3 * i + k) * tile * size)
    t.loop("%i", n, tile * buffers)
    for i in range(buffers):
        t.lines.append("%%o%d = arith.addi %%i, %s : index" % (i, t.number(i * tile)))
        where = (t.number(0), "%%o%d" % i, 1, tile, dtype)
        for name in "xy":
            t.lines.append("pto.tload ins(%s) outs(%%%s%d : !t)" % (t.cut(name, *where), name, i))
        t.lines.append("pto.tadd ins(%%x%d, %%y%d : !t, !t) outs(%%z%d : !t)" % (i, i, i))
        t.lines.append("pto.tstore ins(%%z%d : !t) outs(%s)" % (i, t.cut("z", *where)))
    t.lines.append("}")
    return str(t)


def product(arch, m, n, k, base, step, buffers, out="f32"):
    """c = a b in f16."""
    (bm, bk, bn), t = base, Text(arch, "cube", [("a", "f16"), ("b", "f16"), ("c", out)])
    deep, zero = bk * step, t.number(0)
    for name, what in (("am", "mat, %dx%dxf16, blayout=col_major, slayout=row_major" % (bm, deep)),
                       ("bm", "mat, %dx%dxf16, blayout=col_major, slayout=row_major" % (deep, bn)),
                       ("l", "left, %dx%dxf16, blayout=%s_major, slayout=row_major"
                        % (bm, bk, "row" if arch == "a2a3" else "col")),
                       ("r", "right, %dx%dxf16, blayout=row_major, slayout=col_major" % (bk, bn)),
                       ("acc", "acc, %dx%dxf32, blayout=col_major, slayout=row_major, fractal=1024" % (bm, bn))):
        t.type(name, what)
    for name, rows, cols, dtype in (("a", m, k, "f16"), ("b", k, n, "f16"), ("c", m, n, out)):
        t.view(name, rows, cols, dtype)
    for i in range(buffers):
        t.tile("a%d" % i, "am", 2 * deep * (bm + bn) * i)
        t.tile("b%d" % i, "bm", 2 * deep * (bm + bn) * i + 2 * deep * bm)
    for i in range(2):
        t.tile("l%d" % i, "l", 32768 * i)
        t.tile("r%d" % i, "r", 32768 * i)
    t.tile("acc", "acc", 0)
    t.loop("%m", m, bm)
    t.loop("%n", n, bn)
    t.loop("%k", k, deep * buffers)
    for i in range(buffers):
        t.lines.append("%%k%d = arith.addi %%k, %s : index" % (i, t.number(i * deep)))
        t.lines.append("pto.tload ins(%s) outs(%%a%d : !am)" % (t.cut("a", "%m", "%%k%d" % i, bm, deep, "f16"), i))
        t.lines.append("pto.tload ins(%s) outs(%%b%d : !bm)" % (t.cut("b", "%%k%d" % i, "%n", deep, bn, "f16"), i))
        for s in range(step):
            at, k0 = (i * step + s) % 2, t.number(s * bk)
            t.lines.append("pto.textract ins(%%a%d, %s, %s : !am, index, index) outs(%%l%d : !l)" % (i, zero, k0, at))
            t.lines.append("pto.textract ins(%%b%d, %s, %s : !bm, index, index) outs(%%r%d : !r)" % (i, k0, zero, at))
            t.lines.append("pto.tmatmul.acc ins(%%acc, %%l%d, %%r%d : !acc, !l, !r) outs(%%acc : !acc)" % (at, at))
    t.lines.append("}")
    t.lines.append("pto.tstore ins(%%acc : !acc) outs(%s)\n}\n}" % t.cut("c", "%m", "%n", bm, bn, out))
    return str(t)


class Runs:
    """Kernels that are simulated together, a call for each number of cores."""

    def __init__(self):
        self.texts, self.cycles = {}, {}

    def ask(self, cores, text):
        self.texts.setdefault(cores, {}).setdefault(text, len(self.texts[cores]))

    def run(self, strata, folder):
        for cores, texts in self.texts.items():
            paths = [folder / ("%d_%d.pto" % (cores, i)) for i in texts.values()]
            for path, text in zip(paths, texts):
                path.write_text(text)
            done = subprocess.run([strata, "pto", "sim", "--json", "--sync", "dep", "--cores", str(cores),
                                   *map(str, paths)], capture_output=True, text=True, check=True)
            for text, result in zip(texts, json.loads(done.stdout)["result"]["kernels"]):
                self.cycles[cores, text] = result["cycles"]

    def of(self, cores, text):
        return self.cycles[cores, text]


def rules(runs):
    """Yields what must not be more than what, and why. The first pass only asks for the runs."""
    def less(why, a, b):
        for case in (a, b):
            if isinstance(case, tuple):
                runs.ask(*case)
        yield why, a, b

    for arch, most in CORES.items():
        for space in ("vec", "mat"):
            for tile in ((1, 64), (16, 64), (64, 256), (8, 1024)):
                sizes = [stream(arch, space, rows, 4096, *tile) for rows in (64, 192, 640)]
                for cores in (1, most):
                    for small, large in zip(sizes, sizes[1:]):
                        yield from less("%s: a longer stream of %s into %s" % (arch, tile, space),
                                        (cores, small), (cores, large))
                yield from less("%s: alone and with others, %s into %s" % (arch, tile, space),
                                (1, sizes[1]), (most, sizes[1]))
                yield from less("%s: memory, %s into %s" % (arch, tile, space),
                                192 * 8192 * most * (2 if space == "vec" else 1) / HBM[arch], (most, sizes[1]))
            yield from less("%s: long rows into %s" % (arch, space),
                            (most, stream(arch, space, 256, 4096, 16, 512)),
                            (most, stream(arch, space, 256, 4096, 128, 64)))
        for dtype in ("f16", "f32"):
            for tile in (1024, 4096):
                for cores in (1, 5, most):
                    yield from less("%s: a second buffer, %d of %s" % (arch, tile, dtype),
                                    (cores, add(arch, 1 << 17, tile, 2, dtype)),
                                    (cores, add(arch, 1 << 17, tile, 1, dtype)))
                for few, many in ((1, 2), (2, 8), (8, 16)):
                    yield from less("%s: the same sum on more cores" % arch,
                                    (many, add(arch, (1 << 20) // many, tile, 2, dtype)),
                                    (few, add(arch, (1 << 20) // few, tile, 2, dtype)))
        for base, step in (((128, 64, 256), 2), ((64, 64, 64), 4), ((128, 128, 128), 1)):
            for cores in (1, 6, most):
                yield from less("%s: a second panel %s" % (arch, base),
                                (cores, product(arch, 256, 256, 1024, base, step, 2)),
                                (cores, product(arch, 256, 256, 1024, base, step, 1)))
            yield from less("%s: the cube %s" % (arch, base), 256 * 256 * 1024 / PRODUCTS,
                            (1, product(arch, 256, 256, 1024, base, step, 2)))
            yield from less("%s: a deeper product %s" % (arch, base),
                            (most, product(arch, 256, 256, 1024, base, step, 1)),
                            (most, product(arch, 256, 256, 2048, base, step, 1)))
            yield from less("%s: a shorter result %s" % (arch, base),
                            (most, product(arch, 256, 256, 512, base, step, 1, "f16")),
                            (most, product(arch, 256, 256, 512, base, step, 1)))
            yield from less("%s: a product on more cores %s" % (arch, base),
                            (8, product(arch, 256, 256, 1024, base, step, 1)),
                            (2, product(arch, 1024, 256, 1024, base, step, 1)))


def value(runs, case):
    return runs.of(*case) if isinstance(case, tuple) else case


def main(strata):
    runs = Runs()
    every = list(rules(runs))
    with tempfile.TemporaryDirectory() as folder:
        runs.run(strata, pathlib.Path(folder))
    bad = [(why, value(runs, a), value(runs, b)) for why, a, b in every
           if value(runs, a) > SLACK * value(runs, b)]
    for why, a, b in bad:
        print("%s: %.0f cycles, more than %.0f" % (why, a, b))
    print("%d comparisons of %d kernels, %d wrong" % (len(every), len(runs.cycles), len(bad)))
    return 1 if bad or not every else 0


sys.exit(main(sys.argv[1]))
