/*
 * The rows of a model. See build_rows.h.
 */
#include "flow/build_rows.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fs.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/table.h"

enum { BLOCK = 128 }; /* positions of a block of the cache */

/* A table that rows are added to. */
struct open_table {
    struct str op;
    struct op_table table;
    size_t added;
};

struct builder {
    struct arena arena;
    const char *dir;
    const struct grid_model *m;
    const struct build_sizes *sizes;
    VEC_OF(struct open_table *) tables;
    struct build_count *count;
    struct diag *d;
    enum status status;
};

/* One row: cells as they stand in the table; `lengths` of attention alone. */
struct cells {
    struct str in, types, out, out_types;
    struct str lengths, kv_lengths;
    int64_t kv_heads, sparse_mode;
};

static struct open_table *table_for(struct builder *b, const char *op)
{
    for (size_t i = 0; i < b->tables.n; i++)
        if (str_equal(b->tables.at[i]->op, str_of(op)))
            return b->tables.at[i];
    struct open_table *t = ARENA_NEW(&b->arena, struct open_table);
    const char *path = fs_join(&b->arena, b->dir, arena_printf(&b->arena, "%s.csv", op));
    t->op = str_of(op);
    if (fs_exists(path)) {
        b->status = table_read(&t->table, path, b->d);
    } else {
        table_init(&t->table, path);
        table_arrange(&t->table, column_identity, IDENTITY_N);
    }
    vec_push(&b->tables, t);
    b->count->tables++;
    return t;
}

static bool has_cell(const struct op_table *t, size_t row, struct str column, struct str text)
{
    return str_equal(cell_bare(table_cell(t, row, table_column(t, column))), text);
}

static bool has_row(const struct op_table *t, const struct cells *c)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (has_cell(t, i, COL_INPUT_SHAPES, c->in) && has_cell(t, i, COL_INPUT_DTYPES, c->types) &&
            (c->lengths.n == 0 ||
             (has_cell(t, i, column_runtime[RT_SEQ_VALUES], c->lengths) &&
              has_cell(t, i, column_runtime[RT_SEQ_KV_VALUES], c->kv_lengths))))
            return true;
    return false;
}

static void set_cell(struct op_table *t, size_t row, struct str column, struct str text)
{
    table_set(t, row, table_add_column(t, column), arena_str(&t->arena, text));
}

static struct str quoted(struct builder *b, struct str text)
{
    return arena_format(&b->arena, "\"%.*s\"", STR_ARGS(text));
}

static void add_cells(struct builder *b, const char *op, const struct cells *c)
{
    struct open_table *o = b->status == ST_OK ? table_for(b, op) : NULL;

    if (b->status != ST_OK)
        return;
    struct op_table *t = &o->table;
    b->count->rows++;
    if (has_row(t, c))
        return;
    size_t row = table_add_row(t);
    set_cell(t, row, COL_OP_STATE, S("static"));
    set_cell(t, row, COL_INPUT_SHAPES, quoted(b, c->in));
    set_cell(t, row, COL_INPUT_DTYPES, c->types);
    set_cell(t, row, COL_INPUT_FORMATS, S("ND"));
    set_cell(t, row, COL_OUTPUT_SHAPES, quoted(b, c->out));
    set_cell(t, row, COL_OUTPUT_DTYPES, c->out_types);
    set_cell(t, row, COL_OUTPUT_FORMATS, S("ND"));
    if (c->lengths.n > 0) {
        set_cell(t, row, column_runtime[RT_SEQ_VALUES], c->lengths);
        set_cell(t, row, column_runtime[RT_SEQ_KV_VALUES], c->kv_lengths);
        set_cell(t, row, column_runtime[RT_NUM_KV_HEADS],
                 arena_format(&b->arena, "%lld", (long long)c->kv_heads));
        set_cell(t, row, column_runtime[RT_SPARSE_MODE],
                 arena_format(&b->arena, "%lld", (long long)c->sparse_mode));
    }
    o->added++;
    b->count->added++;
}

/* "in | types | out | types of out" as printf makes it, numbers being int64_t. */
static void add(struct builder *b, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct builder *b, const char *op, const char *format, ...)
{
    struct cells c = {0};
    va_list args;

    va_start(args, format);
    struct str rest = arena_vformat(&b->arena, format, args);
    va_end(args);
    str_split(&rest, '|', &c.in);
    str_split(&rest, '|', &c.types);
    str_split(&rest, '|', &c.out);
    str_split(&rest, '|', &c.out_types);
    add_cells(b, op, &c);
}

#define BF16  "DT_BF16"
#define BF162 BF16 ";" BF16
#define BF163 BF162 ";" BF16

typedef long long count;

static void add_matmul(struct builder *b, count m, count n, count k)
{
    add(b, "MatMulV2", "%lld,%lld;%lld,%lld|" BF162 "|%lld,%lld|" BF16, m, k, n, k, m, n);
}

static count share(const struct builder *b, count whole)
{
    count part = whole / b->sizes->tp;

    return part > 0 ? part : 1;
}

/* Numbers with commas: the same one, or its multiples. */
static struct str list_of(struct builder *b, count n, count value, bool is_sums)
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

static struct str text_of(struct builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static struct str text_of(struct builder *b, const char *format, ...)
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
    count heads = share(b, m->heads), kv = share(b, m->kv_heads), d = m->head_dim;
    count tokens = is_decode ? batch : batch * length, width = (length + BLOCK - 1) / BLOCK;
    struct str n = text_of(b, "%lld", batch), none = S("");
    struct str query = text_of(b, "%lld,%lld,%lld", tokens, heads, d);
    struct str key = is_decode ? text_of(b, "%lld,%lld,%d,%lld", batch * width, kv, BLOCK, d)
                               : text_of(b, "%lld,%lld,%lld", tokens, kv, d);
    struct str table = is_decode ? text_of(b, "%lld,%lld", batch, width) : none;
    struct cells c = {
        .in = fia_slots(b, query, key, n, table, none, none),
        .types =
            fia_slots(b, S(BF16), S(BF16), S("INT64"), is_decode ? S("INT32") : none, none, none),
        .out = query,
        .out_types = S(BF16),
        .lengths = list_of(b, batch, is_decode ? 1 : length, true),
        .kv_lengths = list_of(b, batch, length, !is_decode),
        .kv_heads = kv,
        .sparse_mode = 3,
    };

    add_cells(b, "FusedInferAttentionScore", &c);
}

/* Latent attention of one more token each. */
static void add_latent(struct builder *b, count batch, count length)
{
    const struct grid_model *m = b->m;
    count heads = share(b, m->heads), width = (length + BLOCK - 1) / BLOCK;
    struct str n = text_of(b, "%lld", batch);
    struct cells c = {
        .in = fia_slots(b, text_of(b, "%lld,%lld,1,%lld", batch, heads, (count)m->kv_lora),
                        text_of(b, "%lld,1,%d,%lld", batch * width, BLOCK, (count)m->kv_lora), n,
                        text_of(b, "%lld,%lld", batch, width),
                        text_of(b, "%lld,%lld,1,%lld", batch, heads, (count)m->rope_dim),
                        text_of(b, "%lld,1,%d,%lld", batch * width, BLOCK, (count)m->rope_dim)),
        .types = fia_slots(b, S(BF16), S(BF16), S("INT64"), S("INT32"), S(BF16), S(BF16)),
        .out = text_of(b, "%lld,%lld,1,%lld", heads, batch, (count)m->kv_lora),
        .out_types = S(BF16),
        .lengths = list_of(b, batch, 1, false),
        .kv_lengths = list_of(b, batch, length, false),
        .kv_heads = 1,
    };

    add_cells(b, "FusedInferAttentionScore", &c);
}

static void add_norms(struct builder *b, count t, count hidden)
{
    add(b, "RmsNorm", "%lld,%lld;%lld|" BF162 "|%lld,%lld;%lld,1|" BF16 ";FLOAT", t, hidden, hidden,
        t, hidden, t);
    add(b, "AddRmsNormBias",
        "%lld,%lld;%lld,%lld;%lld;|" BF163 ";DT_UNDEFINED|%lld,%lld;%lld,1;%lld,%lld|" BF16
        ";FLOAT;" BF16,
        t, hidden, t, hidden, hidden, t, hidden, t, t, hidden);
}

/* Queries, keys and values of `t` tokens, and what follows attention. */
static void add_heads(struct builder *b, count t, count places)
{
    const struct grid_model *m = b->m;
    count q = share(b, m->heads) * m->head_dim, kv = share(b, m->kv_heads) * m->head_dim;
    count blocks = (places + BLOCK - 1) / BLOCK, heads = share(b, m->kv_heads), d = m->head_dim;

    add_matmul(b, t, q + 2 * kv, m->hidden);
    add(b, "split_qkv_rmsnorm_rope_kernel",
        "%lld,%lld;%lld|" BF162 "|%lld,%lld;%lld,%lld;%lld,%lld|" BF163, t, q + 2 * kv, d, t, q, t,
        kv, t, kv);
    add(b, "ReshapeAndCacheNdKernel",
        "%lld,%lld,%lld;%lld,%lld,%lld;%lld,%d,%lld,%lld;%lld,%d,%lld,%lld;%lld|" BF163 ";" BF16
        ";INT32|%lld,%d,%lld,%lld;%lld,%d,%lld,%lld|" BF162,
        t, heads, d, t, heads, d, blocks, BLOCK, heads, d, blocks, BLOCK, heads, d, t, blocks,
        BLOCK, heads, d, blocks, BLOCK, heads, d);
    add_matmul(b, t, m->hidden, q);
}

static void add_latent_heads(struct builder *b, count t)
{
    const struct grid_model *m = b->m;
    count heads = share(b, m->heads), q = heads * (m->nope_dim + m->rope_dim);
    count latent = m->kv_lora, rope = m->rope_dim, blocks = (t + BLOCK - 1) / BLOCK;

    add_matmul(b, t, m->q_lora > 0 ? m->q_lora : q, m->hidden);
    if (m->q_lora > 0)
        add_matmul(b, t, q, m->q_lora);
    add_matmul(b, t, latent + rope, m->hidden);
    add(b, "InterleaveRope",
        "%lld,%lld,1,%lld;%lld,1,1,%lld;%lld,1,1,%lld|" BF163 "|%lld,%lld,1,%lld|" BF16, t, heads,
        rope, t, rope, t, rope, t, heads, rope);
    add(b, "KvRmsNormRopeCache",
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
    add(b, "SwiGlu", "%lld,%lld|" BF16 "|%lld,%lld|" BF16, t, 2 * inter, t, inter);
    add_matmul(b, t, hidden, inter);
}

static void add_experts(struct builder *b, count t)
{
    const struct grid_model *m = b->m;
    count k = m->top_k > 0 ? m->top_k : 1, slots = t * k, h = m->hidden;
    count e = m->experts_per_card > 0 ? m->experts_per_card : m->experts, inter = m->expert_inter;

    add_matmul(b, t, m->experts, h);
    add(b, "MoeTokenPermute", "%lld,%lld;%lld,%lld|" BF16 ";INT32|%lld,%lld;%lld|" BF16 ";INT32", t,
        h, t, k, slots, h, slots);
    add(b, "GroupedMatmul",
        "%lld,%lld;%lld,%lld,%lld;;;;;;%lld|" BF162 ";;;;;;INT64|%lld,%lld|" BF16, slots, h, e, h,
        2 * inter, e, slots, 2 * inter);
    add(b, "SwiGlu", "%lld,%lld|" BF16 "|%lld,%lld|" BF16, slots, 2 * inter, slots, inter);
    add(b, "GroupedMatmul",
        "%lld,%lld;%lld,%lld,%lld;;;;;;%lld|" BF162 ";;;;;;INT64|%lld,%lld|" BF16, slots, inter, e,
        inter, h, e, slots, h);
    add(b, "MoeTokenUnpermute", "%lld,%lld;%lld;%lld,%lld|" BF16 ";INT32;" BF16 "|%lld,%lld|" BF16,
        slots, h, slots, t, k, t, h);
}

/* What a layer does with `t` tokens, but for attention itself. */
static void add_tokens(struct builder *b, count t, count places)
{
    const struct grid_model *m = b->m;

    add_norms(b, t, m->hidden);
    if (grid_model_is_mla(m))
        add_latent_heads(b, t);
    else
        add_heads(b, t, places);
    if (grid_model_is_moe(m))
        add_experts(b, t);
    if (m->ffn_inter > 0)
        add_ffn(b, t, share(b, m->ffn_inter));
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
    add(b, "GatherV2", "%lld,%lld;%lld|" BF16 ";INT64|%lld,%lld|" BF16, (count)b->sizes->vocab,
        (count)m->hidden, batch, batch, (count)m->hidden);
    add_matmul(b, batch, share(b, b->sizes->vocab), m->hidden);
    add(b, "ArgMaxV2", "%lld,%lld|" BF16 "|%lld|INT64", batch, (count)b->sizes->vocab, batch);
}

enum status build_rows(const char *dir, const struct grid_model *model,
                       const struct build_sizes *sizes, struct build_count *out, struct diag *d)
{
    struct builder b = {
        .dir = dir, .m = model, .sizes = sizes, .count = out, .d = d, .status = ST_OK};

    *out = (struct build_count){0};
    arena_init(&b.arena);
    for (size_t i = 0; i < sizes->n_batches; i++)
        for (size_t k = 0; k < sizes->n_lengths; k++)
            add_point(&b, sizes->batches[i], sizes->lengths[k]);
    for (size_t i = 0; i < b.tables.n && b.status == ST_OK; i++)
        if (b.tables.at[i]->added > 0)
            b.status =
                table_write(&b.tables.at[i]->table, b.tables.at[i]->table.path, TABLE_NO_BOM, d);
    for (size_t i = 0; i < b.tables.n; i++)
        table_free(&b.tables.at[i]->table);
    vec_free(&b.tables);
    arena_free(&b.arena);
    return b.status;
}
