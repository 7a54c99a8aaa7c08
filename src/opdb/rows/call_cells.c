/*
 * Calls as cells. See call_cells.h.
 */
#include "opdb/rows/call_cells.h"

#include <math.h>
#include <stdarg.h>

#include "base/text/num.h"
#include "base/text/text.h"

ENUM_NAMES(call_comm_name, enum model_comm, "all_reduce", "all_to_all", "all_to_all", "all_gather",
           "reduce_scatter", "send")

enum { BLOCK = 128 }; /* positions of a block of the cache */

#define BF16  "DT_BF16"
#define BF162 BF16 ";" BF16
#define BF163 BF162 ";" BF16

typedef long long count;

struct celling {
    struct arena *arena;
    const struct model_call *c;
    struct op_cells *out;
};

static count whole(double value)
{
    count n = num_i64_of(round(value));

    return n > 0 ? n : 1;
}

static struct str cell_text(struct celling *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static struct str cell_text(struct celling *x, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vformat(x->arena, format, args);
    va_end(args);
    return text;
}

/* "in | types | out | types of out" as printf makes it, numbers being long long. */
static void set_cells(struct celling *x, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set_cells(struct celling *x, const char *op, const char *format, ...)
{
    struct op_cells *c = x->out;
    va_list args;

    va_start(args, format);
    struct str rest = arena_vformat(x->arena, format, args);
    va_end(args);
    c->op = op;
    str_split(&rest, '|', &c->in);
    str_split(&rest, '|', &c->types);
    str_split(&rest, '|', &c->out);
    str_split(&rest, '|', &c->out_types);
}

static void cells_pick(struct celling *x, count rows, count width, count picked)
{
    set_cells(x, "GatherV2", "%lld,%lld;%lld|" BF16 ";INT64|%lld,%lld|" BF16, rows, width, picked,
              picked, width);
}

static void cells_product(struct celling *x)
{
    const struct model_call *c = x->c;
    count m = whole(c->m), n = whole(c->n), k = whole(c->k);

    set_cells(x, "MatMulV2", "%lld,%lld;%lld,%lld|%.*s;%.*s|%lld,%lld|" BF16, m, k, n, k,
              STR_ARGS(dtype_ascend(c->type->input)), STR_ARGS(dtype_ascend(c->type->weight)), m,
              n);
}

static void cells_absorb(struct celling *x)
{
    const struct model_call *c = x->c;
    count m = whole(c->m), n = whole(c->n), k = whole(c->k), a = whole(c->units);

    set_cells(x, "BatchMatMulV2", "%lld,%lld,%lld;%lld,%lld,%lld|" BF162 "|%lld,%lld,%lld|" BF16, a,
              m, k, a, k, n, a, m, n);
}

static void cells_grouped(struct celling *x)
{
    const struct model_call *c = x->c;
    count m = whole(c->m), n = whole(c->n), k = whole(c->k), e = whole(c->units);

    set_cells(x, "GroupedMatmul",
              "%lld,%lld;%lld,%lld,%lld;;;;;;%lld|%.*s;%.*s;;;;;;INT64|%lld,%lld|" BF16, m, k, e, k,
              n, e, STR_ARGS(dtype_ascend(c->type->input)), STR_ARGS(dtype_ascend(c->type->weight)),
              m, n);
}

/* ---- attention ---- */

/* Numbers with commas: the same one, or its multiples. */
static struct str cells_list(struct celling *x, count n, count value, bool is_sums)
{
    struct text text = {0};

    for (count i = 0; i < n; i++)
        text_format(&text, "%s%lld", i > 0 ? "," : "", is_sums ? value * (i + 1) : value);
    return text_keep(&text, x->arena);
}

/* 31 slots: query, key, value, the lengths, and where they are given the table and rotated parts.
 */
struct fia_slots {
    struct str query, key, value, n, table, query_rope, key_rope;
};

static struct str fia_text(struct celling *x, struct fia_slots s)
{
    return cell_text(x, "%.*s;%.*s;%.*s;;;%.*s;%.*s;;;;;;;;%.*s;;;;;;;;;;%.*s;%.*s;;;;;",
                     STR_ARGS(s.query), STR_ARGS(s.key), STR_ARGS(s.value), STR_ARGS(s.n),
                     STR_ARGS(s.n), STR_ARGS(s.table), STR_ARGS(s.query_rope),
                     STR_ARGS(s.key_rope));
}

enum { CAUSAL = 3 };

/* Whole prompts, one behind the other. */
static void cells_prefill(struct celling *x)
{
    const struct model_attention_call *a = &x->c->attention;
    count seqs = whole(a->seqs), each = whole(a->queries), heads = whole(a->heads);
    count kv = whole(a->key_heads), size = whole(a->size), out = whole(a->out_size);
    count keys = whole(a->queries + a->context), t = seqs * each;
    struct fia_slots shapes = {.query = cell_text(x, "%lld,%lld,%lld", t, heads, size),
                               .key = cell_text(x, "%lld,%lld,%lld", seqs * keys, kv, size),
                               .value = cell_text(x, "%lld,%lld,%lld", seqs * keys, kv, out),
                               .n = cell_text(x, "%lld", seqs)};
    struct fia_slots types = {.query = S(BF16), .key = S(BF16), .value = S(BF16), .n = S("INT64")};

    *x->out = (struct op_cells){.op = "FusedInferAttentionScore",
                                .in = fia_text(x, shapes),
                                .types = fia_text(x, types),
                                .out = cell_text(x, "%lld,%lld,%lld", t, heads, out),
                                .out_types = S(BF16),
                                .lengths = cells_list(x, seqs, each, true),
                                .kv_lengths = cells_list(x, seqs, keys, true),
                                .kv_heads = kv,
                                .sparse_mode = CAUSAL};
}

/* One more token each, over a cache in blocks. */
static void cells_decode(struct celling *x)
{
    const struct model_attention_call *a = &x->c->attention;
    count seqs = whole(a->seqs), each = whole(a->queries), heads = whole(a->heads);
    count kv = whole(a->key_heads), size = whole(a->size);
    double seen = a->window > 0 ? fmin((double)a->window, a->context) : a->context;
    count keys = whole(seen), width = (keys + BLOCK - 1) / BLOCK;
    struct str cache = cell_text(x, "%lld,%lld,%d,%lld", seqs * width, kv, BLOCK, size);
    struct fia_slots shapes = {.query = cell_text(x, "%lld,%lld,%lld", seqs * each, heads, size),
                               .key = cache,
                               .value = cache,
                               .n = cell_text(x, "%lld", seqs),
                               .table = cell_text(x, "%lld,%lld", seqs, width)};
    struct fia_slots types = {
        .query = S(BF16), .key = S(BF16), .value = S(BF16), .n = S("INT64"), .table = S("INT32")};

    *x->out = (struct op_cells){.op = "FusedInferAttentionScore",
                                .in = fia_text(x, shapes),
                                .types = fia_text(x, types),
                                .out = shapes.query,
                                .out_types = S(BF16),
                                .lengths = cells_list(x, seqs, each, true),
                                .kv_lengths = cells_list(x, seqs, keys, false),
                                .kv_heads = kv,
                                .sparse_mode = CAUSAL};
}

/* One more token each, over the latent vectors. */
static void cells_latent(struct celling *x)
{
    const struct model_attention_call *a = &x->c->attention;
    count seqs = whole(a->seqs), each = whole(a->queries), heads = whole(a->heads);
    count latent = whole(a->out_size), rope = whole(a->size - a->out_size);
    double seen = a->window > 0 ? fmin((double)a->window, a->context) : a->context;
    count keys = whole(seen), width = (keys + BLOCK - 1) / BLOCK;
    struct str cache = cell_text(x, "%lld,1,%d,%lld", seqs * width, BLOCK, latent);
    struct fia_slots shapes = {
        .query = cell_text(x, "%lld,%lld,%lld,%lld", seqs, heads, each, latent),
        .key = cache,
        .value = cache,
        .n = cell_text(x, "%lld", seqs),
        .table = cell_text(x, "%lld,%lld", seqs, width),
        .query_rope = cell_text(x, "%lld,%lld,%lld,%lld", seqs, heads, each, rope),
        .key_rope = cell_text(x, "%lld,1,%d,%lld", seqs * width, BLOCK, rope)};
    struct fia_slots types = {.query = S(BF16),
                              .key = S(BF16),
                              .value = S(BF16),
                              .n = S("INT64"),
                              .table = S("INT32"),
                              .query_rope = S(BF16),
                              .key_rope = S(BF16)};

    *x->out =
        (struct op_cells){.op = "FusedInferAttentionScore",
                          .in = fia_text(x, shapes),
                          .types = fia_text(x, types),
                          .out = cell_text(x, "%lld,%lld,%lld,%lld", heads, seqs, each, latent),
                          .out_types = S(BF16),
                          .lengths = cells_list(x, seqs, each, false),
                          .kv_lengths = cells_list(x, seqs, keys, false),
                          .kv_heads = 1};
}

static void cells_store(struct celling *x)
{
    const struct model_call *c = x->c;
    count t = whole(c->m), size = whole(c->k), kv = whole(c->n / (2 * c->k));
    count blocks = (whole(c->units) + BLOCK - 1) / BLOCK;

    set_cells(x, "ReshapeAndCacheNdKernel",
              "%lld,%lld,%lld;%lld,%lld,%lld;%lld,%d,%lld,%lld;%lld,%d,%lld,%lld;%lld|" BF163
              ";" BF16 ";INT32|%lld,%d,%lld,%lld;%lld,%d,%lld,%lld|" BF162,
              t, kv, size, t, kv, size, blocks, BLOCK, kv, size, blocks, BLOCK, kv, size, t, blocks,
              BLOCK, kv, size, blocks, BLOCK, kv, size);
}

static void cells_latent_store(struct celling *x)
{
    const struct model_call *c = x->c;
    count t = whole(c->m), latent = whole(c->k), rope = whole(c->n - c->k);
    count blocks = (whole(c->units) + BLOCK - 1) / BLOCK;

    set_cells(
        x, "KvRmsNormRopeCache",
        "%lld,1,1,%lld;%lld;%lld,1,1,%lld;%lld,1,1,%lld;%lld;%lld,%d,1,%lld;%lld,%d,1,%lld;;;;;"
        "|" BF163 ";" BF16 ";INT64;" BF162
        ";;;;;|%lld,%d,1,%lld;%lld,%d,1,%lld;%lld,1,1,%lld;%lld,1,1,%lld|" BF163 ";" BF16,
        t, latent + rope, latent, t, rope, t, rope, t, blocks, BLOCK, rope, blocks, BLOCK, latent,
        blocks, BLOCK, rope, blocks, BLOCK, latent, t, rope, t, latent);
}

static void cells_latent_heads(struct celling *x)
{
    count t = whole(x->c->m), rope = whole(x->c->k), heads = whole(x->c->n / x->c->k);

    set_cells(x, "InterleaveRope",
              "%lld,%lld,1,%lld;%lld,1,1,%lld;%lld,1,1,%lld|" BF163 "|%lld,%lld,1,%lld|" BF16, t,
              heads, rope, t, rope, t, rope, t, heads, rope);
}

/* Queries, keys and values beside one another; keys have as many heads as values. */
static void cells_heads(struct celling *x)
{
    count t = whole(x->c->m), n = whole(x->c->n), size = whole(x->c->k);
    count q = whole(x->c->units), kv = (n - q) / 2;

    set_cells(x, "split_qkv_rmsnorm_rope_kernel",
              "%lld,%lld;%lld|" BF162 "|%lld,%lld;%lld,%lld;%lld,%lld|" BF163, t, n, size, t, q, t,
              kv, t, kv);
}

/* ---- the others ---- */

static void cells_norm(struct celling *x)
{
    count t = whole(x->c->m), n = whole(x->c->n);

    if (x->c->op == MODEL_NORM)
        set_cells(x, "RmsNorm", "%lld,%lld;%lld|" BF162 "|%lld,%lld;%lld,1|" BF16 ";FLOAT", t, n, n,
                  t, n, t);
    else
        set_cells(x, "AddRmsNormBias",
                  "%lld,%lld;%lld,%lld;%lld;|" BF163
                  ";DT_UNDEFINED|%lld,%lld;%lld,1;%lld,%lld|" BF16 ";FLOAT;" BF16,
                  t, n, t, n, n, t, n, t, t, n);
}

static void cells_activation(struct celling *x)
{
    count t = whole(x->c->m), n = whole(x->c->n), k = whole(x->c->k);

    set_cells(x, n == k ? "Relu" : "SwiGlu", "%lld,%lld|" BF16 "|%lld,%lld|" BF16, t, n, t, k);
}

static void cells_permute(struct celling *x)
{
    count t = whole(x->c->m), slots = whole(x->c->n), h = whole(x->c->k);
    count k = slots > t ? slots / t : 1;

    if (x->c->op == MODEL_PERMUTE)
        set_cells(x, "MoeTokenPermute",
                  "%lld,%lld;%lld,%lld|" BF16 ";INT32|%lld,%lld;%lld|" BF16 ";INT32", t, h, t, k,
                  slots, h, slots);
    else
        set_cells(x, "MoeTokenUnpermute",
                  "%lld,%lld;%lld;%lld,%lld|" BF16 ";INT32;" BF16 "|%lld,%lld|" BF16, slots, h,
                  slots, t, k, t, h);
}

static void cells_index(struct celling *x)
{
    const struct model_call *c = x->c;
    count m = whole(c->m), n = whole(c->n), k = whole(c->k), heads = whole(c->units);

    if (c->op == MODEL_INDEX)
        set_cells(x, "LightningIndexer",
                  "%lld,%lld,%lld;%lld,%lld;%lld,%lld|" BF163 "|%lld,%lld|FLOAT", m, heads, k, n, k,
                  m, heads, m, n);
    else
        set_cells(x, "TopKV2", "%lld,%lld|FLOAT|%lld,%lld;%lld,%lld|FLOAT;INT32", m, n, m,
                  n < k ? n : k, m, n < k ? n : k);
}

static void cells_state(struct celling *x)
{
    const struct model_call *c = x->c;
    count m = whole(c->m), n = whole(c->n), k = whole(c->k);
    bool is_prompt = c->units > 1;

    if (c->op == MODEL_CONV)
        set_cells(x, "CausalConv1d", "%lld,%lld;%lld,%lld|" BF162 "|%lld,%lld|" BF16, m, n, n, k, m,
                  n);
    else
        set_cells(x,
                  c->op == MODEL_DELTA
                      ? is_prompt ? "ChunkGatedDeltaRule" : "RecurrentGatedDeltaRule"
                  : is_prompt ? "MambaChunkScan"
                              : "MambaStateUpdate",
                  "%lld,%lld;%lld|" BF16 ";FLOAT|%lld,%lld|" BF16, m, n, k, m, n);
}

bool call_cells(struct arena *arena, const struct model_call *c, struct op_cells *out)
{
    struct celling x = {arena, c, out};

    *out = (struct op_cells){0};
    switch (c->op) {
    case MODEL_EMBED:
        cells_pick(&x, whole(c->n), whole(c->k), whole(c->m));
        break;
    case MODEL_PICK:
        cells_pick(&x, whole(c->n), whole(c->k), whole(c->m));
        break;
    case MODEL_NORM:
    case MODEL_ADD_NORM:
        cells_norm(&x);
        break;
    case MODEL_PRODUCT:
        cells_product(&x);
        break;
    case MODEL_ABSORB:
        cells_absorb(&x);
        break;
    case MODEL_GROUPED:
        cells_grouped(&x);
        break;
    case MODEL_HEADS:
        cells_heads(&x);
        break;
    case MODEL_STORE:
        cells_store(&x);
        break;
    case MODEL_LATENT_HEADS:
        cells_latent_heads(&x);
        break;
    case MODEL_LATENT_STORE:
        cells_latent_store(&x);
        break;
    case MODEL_PREFILL:
    case MODEL_LATENT_PREFILL:
        cells_prefill(&x);
        break;
    case MODEL_DECODE:
        cells_decode(&x);
        break;
    case MODEL_LATENT_DECODE:
        cells_latent(&x);
        break;
    case MODEL_INDEX:
    case MODEL_TOP:
        cells_index(&x);
        break;
    case MODEL_CONV:
    case MODEL_DELTA:
    case MODEL_SCAN:
        cells_state(&x);
        break;
    case MODEL_ACTIVATION:
        cells_activation(&x);
        break;
    case MODEL_PERMUTE:
    case MODEL_UNPERMUTE:
        cells_permute(&x);
        break;
    case MODEL_ARGMAX:
        set_cells(&x, "ArgMaxV2", "%lld,%lld|" BF16 "|%lld|INT64", whole(c->m), whole(c->n),
                  whole(c->m));
        break;
    case MODEL_COMM:
        out->op = "";
        out->comm = call_comm_name(c->comm);
        out->devices = c->devices;
        out->bytes = c->sent;
        break;
    case MODEL_MODULE:
        return false;
    }
    out->layer = c->part;
    out->times = c->times;
    return true;
}
