#!/usr/bin/env python3
"""Writes random rows of all operators that can be replayed, as a database: rows.py DIR [SEED [ROWS]].

A back end agrees with the reference when `strata db replay --database-path DIR --backend NAME` ends 0.
"""
import csv
import os
import random
import sys

HEAD = ["OP State", "Accelerator Core", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
        "Output Data Types", "Output Formats"]
FIA = ["Runtime actual_seq_lengths_values", "Runtime actual_seq_lengths_kv_values", "Runtime num_key_value_heads",
       "Runtime sparse_mode"]
HALF = ["DT_BF16", "FLOAT16"]
FLOATS = HALF + ["FLOAT"]


def shape(*dims):
    return ",".join(str(d) for d in dims)


class Rows:
    def __init__(self, seed, each):
        self.random = random.Random(seed)
        self.each = each
        self.tables = {}

    def n(self, least, most, step=1):
        return self.random.randint((least + step - 1) // step, most // step) * step

    def one(self, *of):
        return self.random.choice(of)

    def row(self, op, shapes, types, out, out_types, formats=None, **runtime):
        formats = formats or ["ND"] * len(shapes)
        cells = {"OP State": "static", "Accelerator Core": "", "Input Shapes": '"%s"' % ";".join(shapes),
                 "Input Data Types": ";".join(types), "Input Formats": ";".join(formats),
                 "Output Shapes": '"%s"' % ";".join(out), "Output Data Types": ";".join(out_types),
                 "Output Formats": ";".join(["ND"] * len(out))}
        cells.update(runtime)
        self.tables.setdefault(op, []).append(cells)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for op, rows in self.tables.items():
            head = HEAD + [c for c in FIA if any(c in r for r in rows)]
            with open(os.path.join(folder, op + ".csv"), "w", newline="") as f:
                w = csv.DictWriter(f, head, restval="")
                w.writeheader()
                w.writerows(rows)


def products(r):
    for op in ("MatMulV2", "MatMulV3", "MatMulCommon"):
        for _ in range(r.each):
            m, n, k, t = r.n(1, 300), r.n(8, 640, 8), r.n(8, 640, 8), r.one(*FLOATS)
            r.row(op, [shape(m, k), shape(n, k)], [t, t], [shape(m, n)], [t])
    for i in range(r.each):
        b, m, n, k, t = r.n(1, 8), r.n(1, 80), r.n(8, 128, 8), r.n(8, 128, 8), r.one(*FLOATS)
        other = shape(b, k, n) if i % 2 else shape(b, n, k)
        r.row("BatchMatMulV2", [shape(b, m, k), other], [t, t], [shape(b, m, n)], [t])
        k, n = r.n(128, 384, 128), r.n(128, 384, 128)
        r.row("TransposeBatchMatMul", [shape(b, m, k), shape(b, k, n)], [t, t], [shape(m, b, n)], [t])
        m, k, n = r.n(1, 128), r.n(32, 256, 32), r.n(32, 256, 32)
        fourth = [(shape(n), "INT32"), (shape(m), "FLOAT"), (shape(n), "FLOAT"), None][i % 4]
        if fourth and fourth[1] == "FLOAT" and m == n:
            fourth = None
        r.row("QuantBatchMatmulV3", [shape(m, k), shape(k, n), shape(n)] + ([fourth[0]] if fourth else []),
              ["INT8", "INT8", "FLOAT"] + ([fourth[1]] if fourth else []), [shape(m, n)], [r.one("FLOAT16", "DT_BF16")])
        t_, e, k, n, t = r.n(1, 96), r.n(1, 10), r.n(32, 256, 32), r.n(32, 256, 32), r.one("INT8", "DT_BF16")
        r.row("GroupedMatmul", [shape(t_, k), shape(e, k, n), "", shape(e, n), "", "", "", shape(e), shape(t_)],
              [t, t, "", "FLOAT", "", "", "", "INT64", "FLOAT"], [shape(t_, n)], ["DT_BF16"])
        r.row("GroupedMatmulSwigluQuant", [shape(t_, k), shape(e, n // 32, k // 16, 16, 32), shape(e, n), shape(t_), shape(e)],
              ["INT8", "INT8", "FLOAT", "FLOAT", "INT64"], [shape(t_, n // 2), shape(t_)], ["INT8", "FLOAT"],
              ["ND", "FRACTAL_NZ", "ND", "ND", "ND"])
        m, h, n, e, k = r.n(1, 48), r.n(32, 192, 32), r.n(32, 128, 32), r.n(1, 8), r.n(1, 2)
        r.row("DispatchFFNCombine", [shape(m, h), shape(e, h, n), shape(e, n // 2, h), shape(m, k), shape(e, n), shape(e, h), shape(m, k)],
              ["DT_BF16", "DT_BF16", "DT_BF16", "INT32", "FLOAT", "FLOAT", "FLOAT"], [shape(m, h), shape(e)], ["DT_BF16", "INT32"])


def fia_row(r, shapes, types, out, t, q, kv, kv_heads, mode):
    slots, kinds = [""] * 31, [""] * 31
    for i, s in shapes.items():
        slots[i], kinds[i] = s, types.get(i, t)
    r.row("FusedInferAttentionScore", slots, kinds, [out], [t], **dict(zip(FIA, [q, kv, kv_heads, mode])))


def lengths(list_):
    sums, at = [], 0
    for v in list_:
        at += v
        sums.append(str(at))
    return ";".join(sums)


def attention(r):
    for _ in range(r.each):
        t, d, kv_heads, group, b = r.one(*HALF), r.one(64, 128, 128), r.n(1, 4), r.one(1, 2, 4, 7, 8), r.n(1, 4)
        heads, int64 = kv_heads * group, {5: "INT64", 6: "INT64", 14: "INT32"}
        q = [r.n(1, 400) for _ in range(b)]  # prompts, one after the other
        fia_row(r, {0: shape(sum(q), heads, d), 1: shape(sum(q), kv_heads, d), 2: shape(sum(q), kv_heads, d), 5: shape(b), 6: shape(b)},
                int64, shape(sum(q), heads, d), t, lengths(q), lengths(q), kv_heads, r.one(0, 3))
        block, kv = r.one(16, 64, 128), [r.n(1, 900) for _ in range(b)]  # one token, or some, for each cache of pages
        width = max((n + block - 1) // block for n in kv)
        some = r.one(1, 1, 3, 70)
        kv = [max(n, some) for n in kv]
        width = max(width, max((n + block - 1) // block for n in kv))
        fia_row(r, {0: shape(b * some, heads, d), 1: shape(b * width, kv_heads, block, d), 2: shape(b * width, kv_heads, block, d),
                    5: shape(b), 6: shape(b), 14: shape(b, width)}, int64, shape(b * some, heads, d), t,
                lengths([some] * b), ";".join(map(str, kv)), kv_heads, 3)
        fia_row(r, {0: shape(b * some, heads, d), 1: shape(b * width, block, kv_heads * d), 2: shape(b * width, block, kv_heads * d),
                    5: shape(b), 6: shape(b), 14: shape(b, width)}, int64, shape(b * some, heads, d), t,
                lengths([some] * b), ";".join(map(str, kv)), kv_heads, 3)
        heads = r.one(8, 16, 32)  # latent keys
        fia_row(r, {0: shape(b, heads, 1, 512), 1: shape(b * width, 1, block, 512), 2: shape(b * width, 1, block, 512), 5: shape(b), 6: shape(b),
                    14: shape(b, width), 24: shape(b, heads, 1, 64), 25: shape(b * width, 1, block, 64)}, int64,
                shape(heads, b, 1, 512), t, ";".join(["1"] * b), ";".join(map(str, kv)), 1, 0)
        tq, h = r.n(16, 200), r.n(1, 4)
        is_first = r.one(True, False)
        tk = tq if is_first else r.n(16, 200)
        parts = [shape(tq, h, 128), shape(tq, h, 64), shape(tk, h, 128), shape(tk, h, 64), shape(tk, h, 128)] + [""] * 10
        kinds = ["DT_BF16"] * 5 + [""] * 10
        if not is_first:
            parts[13:], kinds[13:] = [shape(tq, h, 128), shape(h, tq)], ["DT_BF16", "FLOAT"]
        r.row("RINGMLAPrefillBF16Kernel", parts, kinds, [shape(tq, h, 128), shape(h, tq)], ["DT_BF16", "FLOAT"])
        tokens, g, seqs, w = r.n(4, 32), r.one(8, 16, 64), r.n(1, 4), r.n(3, 6)
        r.row("LightningIndexer", [shape(tokens, g, 128), shape(seqs * w, 16, 1, 128), shape(tokens, g), shape(seqs), shape(seqs), shape(seqs, w)],
              ["DT_BF16", "DT_BF16", "DT_BF16", "INT32", "INT32", "INT32"], [shape(tokens, 1, 16)], ["INT32"])
        r.row("SparseFlashAttention", [shape(tokens, 8, 512), shape(seqs * w, 16, 1, 512), shape(seqs * w, 16, 1, 512), shape(tokens, 1, 64),
                                       shape(seqs, w), shape(seqs), shape(seqs), shape(tokens, 8, 64), shape(seqs * w, 16, 1, 64)],
              ["DT_BF16"] * 3 + ["INT32"] * 4 + ["DT_BF16"] * 2, [shape(tokens, 8, 512)], ["DT_BF16"])


def norms(r):
    for i in range(r.each):
        m, n, t = r.n(1, 160), r.n(8, 8192, 8), r.one(*FLOATS)
        r.row("RmsNorm", [shape(m, n), shape(n)], [t, t], [shape(m, n), shape(m, 1)], [t, "FLOAT"])
        beta = [shape(n)] if i % 2 else [""]
        r.row("AddRmsNormBias", [shape(m, n), shape(m, n), shape(n)] + beta, [t, t, t, t if i % 2 else "DT_UNDEFINED"],
              [shape(m, n), shape(m, 1), shape(m, n)], [t, "FLOAT", t])
        r.row("SwiGlu", [shape(m, n * 2)], [t], [shape(m, n)], [t])
        r.row("SoftmaxV2", [shape(m, n)], [t], [shape(m, n)], [t])
        r.row("AscendQuantV2", [shape(m, n), shape(n), shape(n)], [t, t, t], [shape(m, n)], ["INT8"])
        r.row("DynamicQuant", [shape(m, n)], [r.one(*HALF)], [shape(m, n), shape(m)], ["INT8", "FLOAT"])
        b, h, s = r.n(1, 6), r.n(1, 16), r.n(1, 12)
        cos = shape(b, 1, s if i % 2 else 1, 64)
        r.row("InterleaveRope", [shape(b, h, s, 64), cos, cos], [t, t, t], [shape(b, h, s, 64)], [t])
        b, s, blocks = r.n(1, 18), r.n(1, 3), r.n(5, 18)
        r.row("KvRmsNormRopeCache", [shape(b, 1, s, 576), shape(512), shape(b, 1, s, 64), shape(b, 1, s, 64), shape(b * s), shape(blocks, 16, 1, 64),
                                     shape(blocks, 16, 1, 512), "", "", "", "", ""],
              ["DT_BF16"] * 4 + ["INT64"] + ["DT_BF16"] * 2 + [""] * 5,
              [shape(blocks, 16, 1, 64), shape(blocks, 16, 1, 512), shape(b, 1, s, 64), shape(b, 1, s, 512)], ["DT_BF16"] * 4)
        q, k, d = r.n(1, 16), r.n(1, 4), r.one(64, 128)
        r.row("split_qkv_rmsnorm_rope_kernel", [shape(m, (q + 2 * k) * d), shape(d)], [r.one(*HALF)] * 2,
              [shape(m, q * d), shape(m, k * d), shape(m, k * d)], [HALF[0]] * 3)
        last = r.tables["split_qkv_rmsnorm_rope_kernel"][-1]
        last["Output Data Types"] = ";".join([last["Input Data Types"].split(";")[0]] * 3)


def moves(r):
    for i in range(r.each):
        m, n, t = r.n(1, 200), r.n(1, 4000), r.one(*FLOATS)
        two = i % 2
        r.row("Add", [shape(m, n)] * (1 + two), [t] * (1 + two), [shape(m, n)], [t])
        r.row("MaskedFill", [shape(m, n), shape(m, n)], [t, "BOOL"], [shape(m, n)], [t])
        r.row("TensorMove", [shape(m, n)], [t], [shape(m, n)], [r.one(*FLOATS)])
        a, b, c = r.n(1, 40), r.n(1, 40), r.n(1, 90)
        r.row("Transpose", [shape(a, b, c)], [t], [shape(a, c, b) if two else shape(b, a, c)], [t])
        r.row("Slice", [shape(a, b, c)], [t], [shape(r.n(1, a), r.n(1, b), r.n(1, c))], [t])
        r.row("PadV3", [shape(a, b)], [t], [shape(a + r.n(0, 9), b + r.n(0, 9))], [t])
        v, d, k = r.n(8, 500), r.n(1, 400), r.n(1, 300)
        r.row("GatherV2", [shape(v, d), shape(k)], [t, r.one("INT32", "INT64")], [shape(k, d)], [t])
        rows = r.n(1, v)
        r.row("Index", [shape(v, d), "1", "2", shape(rows)], [t, "INT64", "INT64", r.one("INT32", "INT64")], [shape(rows, d)], [t])
        r.row("ScatterNdUpdate", [shape(v, d), shape(rows, 1), shape(rows, d)], [t, "INT32", t], [shape(v, d)], [t])
        heads, dim, blocks = r.n(1, 8), r.one(64, 96, 128), r.n(2, 20)
        tokens = r.n(1, blocks * 16)
        r.row("ReshapeAndCacheNdKernel", [shape(tokens, heads, dim)] * 2 + [shape(blocks, 16, heads, dim)] * 2 + [shape(tokens)], [t] * 4 + ["INT32"],
              [shape(blocks, 16, heads, dim)] * 2, [t] * 2)
        m, n = r.n(1, 100), r.n(2, 3000)
        r.row("Sort", [shape(m, n)], [t], [shape(m, n), shape(m, n)], [t, "INT64"])
        r.row("ArgMaxV2", [shape(m, n)], [t], [shape(m)], ["INT64"])
        k, h = r.n(1, 8), r.n(8, 400)
        r.row("MoeTokenPermute", [shape(m, h), shape(m, k)], [t, "INT32"], [shape(m * k, h), shape(m * k)], [t, "INT32"])
        if two:
            r.row("MoeTokenUnpermute", [shape(m * k, h), shape(m * k), shape(m, k)], [t, "INT32", t], [shape(m, h)], [t])
        else:
            r.row("MoeTokenUnpermute", [shape(m * k, h), shape(m * k)], [t, "INT32"], [shape(m * k, h)], [t])


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    r = Rows(seed, int(sys.argv[3]) if len(sys.argv) > 3 else 6)
    for family in (products, attention, norms, moves):
        family(r)
    r.write(sys.argv[1])
    print(len(r.tables), "operators,", sum(map(len, r.tables.values())), "rows")


main()
