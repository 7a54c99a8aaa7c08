/*
 * The rows of a model. See build_rows.h.
 */
#include "opdb/rows/build_rows.h"

#include <stdarg.h>

enum { BLOCK = 128 }; /* positions of a block of the cache */

struct builder {
    struct arena arena;
    const struct grid_model *m;
    const struct build_sizes *sizes;
    build_emit *emit;
    void *ctx;
    const char *layer; /* of what is emitted, and how often it runs */
    int64_t times;
};

static void add_cells(struct builder *b, const char *op, struct op_cells c)
{
    c.op = op;
    c.layer = b->layer;
    c.times = b->times;
    b->emit(b->ctx, &c);
}

/* "in | types | out | types of out" as printf makes it, numbers being int64_t. */
static void rows_add(struct builder *b, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void rows_add(struct builder *b, const char *op, const char *format, ...)
{
    struct op_cells c = {0};
    va_list args;

    va_start(args, format);
    struct str rest = arena_vformat(&b->arena, format, args);
    va_end(args);
    str_split(&rest, '|', &c.in);
    str_split(&rest, '|', &c.types);
    str_split(&rest, '|', &c.out);
    str_split(&rest, '|', &c.out_types);
    add_cells(b, op, c);
}

#define BF16  "DT_BF16"
#define BF162 BF16 ";" BF16
#define BF163 BF162 ";" BF16

typedef long long count;

static void add_matmul(struct builder *b, count m, count n, count k)
{
    rows_add(b, "MatMulV2", "%lld,%lld;%lld,%lld|" BF162 "|%lld,%lld|" BF16, m, k, n, k, m, n);
}

static count rows_share(const struct builder *b, count whole)
{
    count part = whole / b->sizes->tp;

    return part > 0 ? part : 1;
}

/* Numbers with commas: the same one, or its multiples. */
static struct str rows_list_of(struct builder *b, count n, count value, bool is_sums)
{
    struct str text = S("");

    for (count i = 0; i < n; i++)
        text = arena_format(&b->arena, "%.*s%s%lld", STR_ARGS(text), i > 0 ? "," : "",
                            is_sums ? value * (i + 1) : value);
    return text;
}

/* 31 slots: query, key, value, the lengths, and where they are given the table and rotated parts.
 */
static struct str fia_slots(struct builder *b, struct str query, struct str key, struct str n,
                            struct str table, struct str q_rope, struct str k_rope)
{
    return arena_format(&b->arena, "%.*s;%.*s;%.*s;;;%.*s;%.*s;;;;;;;;%.*s;;;;;;;;;;%.*s;%.*s;;;;;",
                        STR_ARGS(query), STR_ARGS(key), STR_ARGS(key), STR_ARGS(n), STR_ARGS(n),
                        STR_ARGS(table), STR_ARGS(q_rope), STR_ARGS(k_rope));
}

static struct str build_rows_text_of(struct builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static struct str build_rows_text_of(struct builder *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vformat(&b->arena, format, args);
    va_end(args);
    return text;
}

/* Attention of `batch` sequences over `length` keys: all of a prompt, or one more token. */
static void add_attention(struct builder *b, count batch, count length, bool is_decode)
{
    const struct grid_model *m = b->m;
    count heads = rows_share(b, m->heads), kv = rows_share(b, m->kv_heads), d = m->head_dim;
    count tokens = is_decode ? batch : batch * length, width = (length + BLOCK - 1) / BLOCK;
    struct str n = build_rows_text_of(b, "%lld", batch), none = S("");
    struct str query = build_rows_text_of(b, "%lld,%lld,%lld", tokens, heads, d);
    struct str key = is_decode
                         ? build_rows_text_of(b, "%lld,%lld,%d,%lld", batch * width, kv, BLOCK, d)
                         : build_rows_text_of(b, "%lld,%lld,%lld", tokens, kv, d);
    struct str table = is_decode ? build_rows_text_of(b, "%lld,%lld", batch, width) : none;
    struct op_cells c = {
        .in = fia_slots(b, query, key, n, table, none, none),
        .types =
            fia_slots(b, S(BF16), S(BF16), S("INT64"), is_decode ? S("INT32") : none, none, none),
        .out = query,
        .out_types = S(BF16),
        .lengths = rows_list_of(b, batch, is_decode ? 1 : length, true),
        .kv_lengths = rows_list_of(b, batch, length, !is_decode),
        .kv_heads = kv,
        .sparse_mode = 3,
    };

    add_cells(b, "FusedInferAttentionScore", c);
}

/* Latent attention of one more token each. */
static void add_latent(struct builder *b, count batch, count length)
{
    const struct grid_model *m = b->m;
    count heads = rows_share(b, m->heads), width = (length + BLOCK - 1) / BLOCK;
    struct str n = build_rows_text_of(b, "%lld", batch);
    struct op_cells c = {
        .in = fia_slots(
            b, build_rows_text_of(b, "%lld,%lld,1,%lld", batch, heads, (count)m->kv_lora),
            build_rows_text_of(b, "%lld,1,%d,%lld", batch * width, BLOCK, (count)m->kv_lora), n,
            build_rows_text_of(b, "%lld,%lld", batch, width),
            build_rows_text_of(b, "%lld,%lld,1,%lld", batch, heads, (count)m->rope_dim),
            build_rows_text_of(b, "%lld,1,%d,%lld", batch * width, BLOCK, (count)m->rope_dim)),
        .types = fia_slots(b, S(BF16), S(BF16), S("INT64"), S("INT32"), S(BF16), S(BF16)),
        .out = build_rows_text_of(b, "%lld,%lld,1,%lld", heads, batch, (count)m->kv_lora),
        .out_types = S(BF16),
        .lengths = rows_list_of(b, batch, 1, false),
        .kv_lengths = rows_list_of(b, batch, length, false),
        .kv_heads = 1,
    };

    add_cells(b, "FusedInferAttentionScore", c);
}

static void add_norm(struct builder *b, count t, count hidden)
{
    rows_add(b, "RmsNorm", "%lld,%lld;%lld|" BF162 "|%lld,%lld;%lld,1|" BF16 ";FLOAT", t, hidden,
             hidden, t, hidden, t);
}

static void add_add_norm(struct builder *b, count t, count hidden)
{
    rows_add(b, "AddRmsNormBias",
             "%lld,%lld;%lld,%lld;%lld;|" BF163 ";DT_UNDEFINED|%lld,%lld;%lld,1;%lld,%lld|" BF16
             ";FLOAT;" BF16,
             t, hidden, t, hidden, hidden, t, hidden, t, t, hidden);
}

static void add_pick(struct builder *b, count rows, count width, count picked)
{
    rows_add(b, "GatherV2", "%lld,%lld;%lld|" BF16 ";INT64|%lld,%lld|" BF16, rows, width, picked,
             picked, width);
}

/* Queries, keys and values of `t` tokens, and what follows attention. */
static void add_heads(struct builder *b, count t, count places)
{
    const struct grid_model *m = b->m;
    count q = rows_share(b, m->heads) * m->head_dim, kv = rows_share(b, m->kv_heads) * m->head_dim;
    count blocks = (places + BLOCK - 1) / BLOCK, heads = rows_share(b, m->kv_heads),
          d = m->head_dim;

    add_matmul(b, t, q + 2 * kv, m->hidden);
    rows_add(b, "split_qkv_rmsnorm_rope_kernel",
             "%lld,%lld;%lld|" BF162 "|%lld,%lld;%lld,%lld;%lld,%lld|" BF163, t, q + 2 * kv, d, t,
             q, t, kv, t, kv);
    rows_add(b, "ReshapeAndCacheNdKernel",
             "%lld,%lld,%lld;%lld,%lld,%lld;%lld,%d,%lld,%lld;%lld,%d,%lld,%lld;%lld|" BF163
             ";" BF16 ";INT32|%lld,%d,%lld,%lld;%lld,%d,%lld,%lld|" BF162,
             t, heads, d, t, heads, d, blocks, BLOCK, heads, d, blocks, BLOCK, heads, d, t, blocks,
             BLOCK, heads, d, blocks, BLOCK, heads, d);
    add_matmul(b, t, m->hidden, q);
}

static void add_latent_heads(struct builder *b, count t)
{
    const struct grid_model *m = b->m;
    count heads = rows_share(b, m->heads), q = heads * (m->nope_dim + m->rope_dim);
    count latent = m->kv_lora, rope = m->rope_dim, blocks = (t + BLOCK - 1) / BLOCK;

    add_matmul(b, t, m->q_lora > 0 ? m->q_lora : q, m->hidden);
    if (m->q_lora > 0)
        add_matmul(b, t, q, m->q_lora);
    add_matmul(b, t, latent + rope, m->hidden);
    rows_add(b, "InterleaveRope",
             "%lld,%lld,1,%lld;%lld,1,1,%lld;%lld,1,1,%lld|" BF163 "|%lld,%lld,1,%lld|" BF16, t,
             heads, rope, t, rope, t, rope, t, heads, rope);
    rows_add(
        b, "KvRmsNormRopeCache",
        "%lld,1,1,%lld;%lld;%lld,1,1,%lld;%lld,1,1,%lld;%lld;%lld,%d,1,%lld;%lld,%d,1,%lld;;;;;"
        "|" BF163 ";" BF16 ";INT64;" BF162
        ";;;;;|%lld,%d,1,%lld;%lld,%d,1,%lld;%lld,1,1,%lld;%lld,1,1,%lld|" BF163 ";" BF16,
        t, latent + rope, latent, t, rope, t, rope, t, blocks, BLOCK, rope, blocks, BLOCK, latent,
        blocks, BLOCK, rope, blocks, BLOCK, latent, t, rope, t, latent);
    add_matmul(b, t, m->hidden, heads * m->nope_dim);
}

static void add_ffn(struct builder *b, count t, count inter)
{
    count hidden = b->m->hidden;

    add_matmul(b, t, 2 * inter, hidden);
    rows_add(b, "SwiGlu", "%lld,%lld|" BF16 "|%lld,%lld|" BF16, t, 2 * inter, t, inter);
    add_matmul(b, t, hidden, inter);
}

static void add_experts(struct builder *b, count t)
{
    const struct grid_model *m = b->m;
    count k = m->top_k > 0 ? m->top_k : 1, slots = t * k, h = m->hidden;
    count e = m->experts_per_card > 0 ? m->experts_per_card : m->experts, inter = m->expert_inter;

    add_matmul(b, t, m->experts, h);
    rows_add(b, "MoeTokenPermute",
             "%lld,%lld;%lld,%lld|" BF16 ";INT32|%lld,%lld;%lld|" BF16 ";INT32", t, h, t, k, slots,
             h, slots);
    rows_add(b, "GroupedMatmul",
             "%lld,%lld;%lld,%lld,%lld;;;;;;%lld|" BF162 ";;;;;;INT64|%lld,%lld|" BF16, slots, h, e,
             h, 2 * inter, e, slots, 2 * inter);
    rows_add(b, "SwiGlu", "%lld,%lld|" BF16 "|%lld,%lld|" BF16, slots, 2 * inter, slots, inter);
    rows_add(b, "GroupedMatmul",
             "%lld,%lld;%lld,%lld,%lld;;;;;;%lld|" BF162 ";;;;;;INT64|%lld,%lld|" BF16, slots,
             inter, e, inter, h, e, slots, h);
    rows_add(b, "MoeTokenUnpermute",
             "%lld,%lld;%lld;%lld,%lld|" BF16 ";INT32;" BF16 "|%lld,%lld|" BF16, slots, h, slots, t,
             k, t, h);
}

/* What a layer does with `t` tokens, but for attention itself. */
static void add_tokens(struct builder *b, count t, count places)
{
    const struct grid_model *m = b->m;

    add_norm(b, t, m->hidden);
    add_add_norm(b, t, m->hidden);
    if (grid_model_is_mla(m))
        add_latent_heads(b, t);
    else
        add_heads(b, t, places);
    if (grid_model_is_moe(m))
        add_experts(b, t);
    if (m->ffn_inter > 0)
        add_ffn(b, t, rows_share(b, m->ffn_inter));
}

static void add_point(struct builder *b, count batch, count length)
{
    const struct grid_model *m = b->m;

    add_tokens(b, batch * length, batch * length);
    add_tokens(b, batch, batch * length);
    if (grid_model_is_mla(m)) {
        add_latent(b, batch, length);
    } else {
        add_attention(b, batch, length, false);
        add_attention(b, batch, length, true);
    }
    add_pick(b, b->sizes->vocab, m->hidden, batch);
    add_matmul(b, batch, rows_share(b, b->sizes->vocab), m->hidden);
    rows_add(b, "ArgMaxV2", "%lld,%lld|" BF16 "|%lld|INT64", batch, (count)b->sizes->vocab, batch);
}

/* The rows of a model go into tables. */
struct filling {
    struct op_tables tables;
    struct build_count *count;
};

static void rows_fill(void *ctx, const struct op_cells *c)
{
    struct filling *f = ctx;
    size_t row;

    f->count->rows++;
    f->count->added += op_tables_row(&f->tables, c, &row) != NULL && f->tables.is_new;
}

enum status build_rows(const char *dir, const struct grid_model *model,
                       const struct build_sizes *sizes, struct build_count *out, struct diag *d)
{
    struct filling filling = {.count = out};
    struct builder b = {.m = model, .sizes = sizes, .emit = rows_fill, .ctx = &filling, .times = 1};

    *out = (struct build_count){0};
    arena_init(&b.arena);
    op_tables_init(&filling.tables, dir, d);
    for (size_t i = 0; i < sizes->n_batches; i++)
        for (size_t k = 0; k < sizes->n_lengths; k++)
            add_point(&b, sizes->batches[i], sizes->lengths[k]);
    out->tables = filling.tables.tables.n;
    enum status st = op_tables_write(&filling.tables);
    op_tables_free(&filling.tables);
    arena_free(&b.arena);
    return st;
}

/* Where a layer is shared by `n` cards: their parts are added up. */
static void add_collective(struct builder *b, const char *name, count n, double bytes)
{
    struct op_cells c = {.comm = name, .devices = n, .bytes = bytes};

    if (n > 1)
        add_cells(b, "", c);
}

/* Bytes: two for each hidden value (BF16). Two all-reduces a layer, after attention and after
 * the feed-forward part; experts exchange top_k copies of each token, there and back. */
static void add_layer(struct builder *b, count t, count batch, count length, bool is_decode)
{
    const struct grid_model *m = b->m;
    double bytes = 2.0 * (double)t * (double)m->hidden;

    if (grid_model_is_mla(m)) {
        add_latent_heads(b, t);
        add_latent(b, is_decode ? batch : t, length);
    } else {
        add_heads(b, t, batch * length);
        add_attention(b, batch, length, is_decode);
    }
    add_collective(b, "all_reduce", b->sizes->tp, bytes);
    add_add_norm(b, t, m->hidden);
    if (grid_model_is_moe(m)) {
        double slots = bytes * (double)(m->top_k > 0 ? m->top_k : 1);
        add_collective(b, "all_to_all", b->sizes->ep, slots);
        add_experts(b, t);
        add_collective(b, "all_to_all", b->sizes->ep, slots);
    }
    if (m->ffn_inter > 0)
        add_ffn(b, t, rows_share(b, m->ffn_inter));
    add_collective(b, "all_reduce", b->sizes->tp, bytes);
}

void build_step(const struct grid_model *model, const struct build_sizes *sizes,
                const struct build_step *step, build_emit *emit, void *ctx)
{
    struct builder b = {.m = model, .sizes = sizes, .emit = emit, .ctx = ctx};
    count t = step->is_decode ? step->batch : step->batch * step->length, h = model->hidden;

    arena_init(&b.arena);
    b.layer = "embedding";
    b.times = 1;
    add_pick(&b, sizes->vocab, h, t);
    b.layer = "layer";
    add_norm(&b, t, h);
    b.times = step->layers;
    add_layer(&b, t, step->batch, step->length, step->is_decode);
    add_add_norm(&b, t, h); /* of the next layer; the last one is the model's own */
    b.layer = "head";
    b.times = 1;
    if (!step->is_decode)
        add_pick(&b, t, h, step->batch);
    add_matmul(&b, step->batch, rows_share(&b, sizes->vocab), h);
    rows_add(&b, "ArgMaxV2", "%lld,%lld|" BF16 "|%lld|INT64", (count)step->batch,
             (count)sizes->vocab, (count)step->batch);
    arena_free(&b.arena);
}
