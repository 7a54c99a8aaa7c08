/*
 * Rows of Parquet files as rows of tables.
 */
#include <math.h>

#include "base/formats/parquet_read.h"
#include "base/run/cancel.h"
#include "base/text/char.h"
#include "base/text/text_out.h"
#include "opdb/aic/aic.h"
#include "opdb/rows/columns.h"

enum { COLUMNS = 12, SAMPLE_COLUMNS = 40 };

/* A row group of a file on its way. */
struct rowing {
    struct aic_file *f;
    const struct aic_system *system;
    struct parquet *p;
    struct parquet_values *values; /* of the columns that are read */
    const struct aic_kind *kind;
    struct text_out *out;
    size_t row;
};

enum row_verdict { KEPT, BELOW_FLOP, BELOW_MEMORY, UNUSABLE, ELSEWHERE };

/* How a table becomes rows: columns by name, '?' in front of one that may be missing. */
struct aic_kind {
    struct str table;
    const char *op, *head;
    const char *columns[COLUMNS];
    enum row_verdict (*put)(struct rowing *r);
};

/* ---- values ---- */

static int64_t whole_at(const struct rowing *r, size_t column)
{
    const struct parquet_values *v = &r->values[column];

    if (v->n == 0)
        return 0;
    return v->kind == VALUES_INT    ? v->numbers[r->row]
           : v->kind == VALUES_REAL ? num_i64_of(v->reals[r->row])
                                    : 0;
}

static double real_at(const struct rowing *r, size_t column)
{
    const struct parquet_values *v = &r->values[column];

    if (v->n == 0 || !parquet_has(v, r->row))
        return NAN;
    return v->kind == VALUES_REAL  ? v->reals[r->row]
           : v->kind == VALUES_INT ? (double)v->numbers[r->row]
                                   : NAN;
}

static struct str text_at(const struct rowing *r, size_t column)
{
    const struct parquet_values *v = &r->values[column];

    return v->n > 0 && v->kind == VALUES_TEXT ? v->texts[r->row] : S("");
}

/* Sizes beyond this are damage. */
static bool is_size(int64_t value)
{
    return value >= 1 && value <= (int64_t)1 << 40;
}

/* ---- writing ---- */

/* Six digits: no measurement has more. */
static void put_us(struct text_out *out, double us)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    size_t decimals = 0;
    char digits[16];

    while (decimals + 1 < ARRAY_LEN(powers) && us * powers[decimals] < 1e5)
        decimals++;
    if (!(us < 1e15)) {
        text_out_f64(out, us);
        return;
    }
    uint64_t all = num_u64_of(us * powers[decimals] + 0.5), scale = num_u64_of(powers[decimals]);
    text_out_u64(out, all / scale);
    uint64_t rest = all % scale;
    if (rest == 0)
        return;
    for (size_t i = decimals; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    while (digits[decimals - 1] == '0')
        decimals--;
    text_out_put(out, S("."));
    text_out_put(out, (struct str){digits, decimals});
}

/* Numbers with a separator between. */
static void put_dims(struct text_out *out, struct str before, size_t n, const int64_t *dims)
{
    text_out_put(out, before);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            text_out_put(out, S(","));
        text_out_i64(out, dims[i]);
    }
}
#define PUT_DIMS(out, before, ...)                                                                 \
    put_dims((out), (before), ARRAY_LEN(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

/* A text as a cell; what would need quotes is quoted. */
static void put_text(struct text_out *out, struct str text)
{
    bool is_bare = str_find_char(text, ',') == text.n && str_find_char(text, '"') == text.n &&
                   str_find_char(text, '\n') == text.n && str_find_char(text, '\r') == text.n;

    if (is_bare) {
        text_out_put(out, text);
        return;
    }
    text_out_put(out, S("\""));
    for (size_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (c == '\n' || c == '\r')
            c = ' ';
        text_out_put(out, c == '"' ? S("\"\"") : (struct str){&c, 1});
    }
    text_out_put(out, S("\""));
}

static void put_end(struct rowing *r, double us, struct str source)
{
    text_out_put(r->out, S(","));
    put_us(r->out, us);
    text_out_put(r->out, S(","));
    put_text(r->out, source);
    text_out_put(r->out, S("\r\n"));
}

/* ---- what is impossible ---- */

static const double flop_slack = 1.1, memory_slack = 1.02, cache_times = 2;

static bool is_below_flop(const struct rowing *r, enum quant_peak peak, double flops, double us)
{
    double rate = r->system->flops[peak];

    if (rate <= 0)
        rate = r->system->flops[QUANT_BF16];
    return r->system->has_limits && us * 1e-6 < flops / (flop_slack * rate);
}

static bool is_below_memory(const struct rowing *r, double bytes, double us)
{
    const struct aic_system *s = r->system;

    return s->has_limits && s->cache > 0 && bytes > cache_times * s->cache &&
           us * 1e-6 < bytes / (memory_slack * s->speed);
}

/* ---- kinds of tables ---- */

#define HEAD "Input Shapes,Input Data Types,Variant," PROFILED_DURATION ",Kernel Source\r\n"

static enum row_verdict put_gemm(struct rowing *r)
{
    int64_t m = whole_at(r, 0), n = whole_at(r, 1), k = whole_at(r, 2);
    const struct quant *type = quant_find(text_at(r, 3));
    double us = real_at(r, 4) * 1e3, rows = (double)m, cols = (double)n, depth = (double)k;

    if (m < 0 || !is_size(n) || !is_size(k) || type == NULL || !(us > 0) || !isfinite(us))
        return UNUSABLE;
    if (is_below_flop(r, type->peak, 2 * rows * cols * depth, us))
        return BELOW_FLOP;
    double bytes = cols * depth * dtype_bytes(type->weight) +
                   rows * depth * dtype_bytes(type->input) + 2 * rows * cols;
    if (is_below_memory(r, bytes, us))
        return BELOW_MEMORY;
    if (!is_size(m))
        return UNUSABLE;
    PUT_DIMS(r->out, S("\""), m, k);
    PUT_DIMS(r->out, S(";"), n, k);
    text_out_put(r->out, S("\","));
    text_out_put(r->out, dtype_ascend(type->input));
    text_out_put(r->out, S(";"));
    text_out_put(r->out, dtype_ascend(type->weight));
    text_out_put(r->out, S(","));
    text_out_put(r->out, type->scales);
    put_end(r, us, text_at(r, 5));
    return KEPT;
}

/* Types of queries and of what the cache holds; the window is the variant. */
static void put_attention_types(struct rowing *r, enum dtype query, enum dtype cache, int n,
                                int64_t window)
{
    text_out_put(r->out, dtype_ascend(query));
    for (int i = 0; i < n; i++) {
        text_out_put(r->out, S(";"));
        text_out_put(r->out, dtype_ascend(cache));
    }
    text_out_put(r->out, S(","));
    if (window > 0)
        PUT_DIMS(r->out, S("window "), window);
}

enum {
    A_BATCH,
    A_LENGTH,
    A_HEADS,
    A_KEYS,
    A_SIZE,
    A_WINDOW,
    A_STEP,
    A_TYPE,
    A_CACHE,
    A_US,
    A_SOURCE
};
#define ATTENTION_COLUMNS                                                                          \
    {                                                                                              \
        "batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "?window_size",       \
            "?step", "attn_dtype", "kv_cache_dtype", "latency", "kernel_source"                    \
    }

/* Prompts are held against the rate of products, decodes against that of memory: few are the bytes
 * of a prompt and the FLOP of a decode, and decide nothing. */
static enum row_verdict put_attention(struct rowing *r, bool is_decode)
{
    int64_t b = whole_at(r, A_BATCH), s = whole_at(r, A_LENGTH), h = whole_at(r, A_HEADS);
    int64_t kv = whole_at(r, A_KEYS), size = whole_at(r, A_SIZE), window = whole_at(r, A_WINDOW);
    int64_t step = whole_at(r, A_STEP), keys = s + step, queries = is_decode ? 1 : s;
    const struct quant *type = quant_find(text_at(r, A_TYPE)),
                       *cache = quant_find(text_at(r, A_CACHE));
    double us = real_at(r, A_US) * 1e3, w = (double)window;

    kv = kv == 0 ? h : kv;
    if (!is_size(b) || !is_size(s) || !is_size(h) || !is_size(kv) || !is_size(size) || step < 0 ||
        !is_size(keys) || window < 0 || type == NULL || cache == NULL || !(us > 0) || !isfinite(us))
        return UNUSABLE;
    double n = (double)s, batch = (double)b;
    double pairs = n * (n + 1) / 2 + n * (double)step;
    if (window > 0 && window < s)
        pairs = w * n - w * (w - 1) / 2;
    double flops = 4 * batch * (double)h * (double)size * pairs;
    if (!is_decode && is_below_flop(r, type->peak, flops, us))
        return BELOW_FLOP;
    double seen = window > 0 ? fmin((double)keys, w) : (double)keys;
    double bytes = 2 * batch * (double)kv * seen * (double)size * dtype_bytes(cache->weight);
    if (is_decode && is_below_memory(r, bytes, us))
        return BELOW_MEMORY;
    PUT_DIMS(r->out, S("\""), b, h, queries, size);
    PUT_DIMS(r->out, S(";"), b, kv, keys, size);
    text_out_put(r->out, S("\","));
    put_attention_types(r, type->input, cache->weight, 1, window);
    put_end(r, us, text_at(r, A_SOURCE));
    return KEPT;
}

static enum row_verdict put_context(struct rowing *r)
{
    return put_attention(r, false);
}

static enum row_verdict put_generation(struct rowing *r)
{
    return put_attention(r, true);
}

enum { L_BATCH, L_LENGTH, L_HEADS, L_STEP, L_TYPE, L_CACHE, L_US, L_SOURCE };
#define LATENT_COLUMNS                                                                             \
    {                                                                                              \
        "batch_size", "isl", "num_heads", "?step", "mla_dtype", "kv_cache_dtype", "latency",       \
            "kernel_source"                                                                        \
    }

/* The kernels of DeepSeek's attention alone: 128 + 64 values of a key, 128 of a value; over the
 * cache 512 + 64 and 512. */
static enum row_verdict put_latent(struct rowing *r, bool is_decode)
{
    enum { NOPE = 128, ROPE = 64, VALUE = 128, LATENT = 512 };
    int64_t b = whole_at(r, L_BATCH), s = whole_at(r, L_LENGTH), h = whole_at(r, L_HEADS);
    int64_t keys = s + whole_at(r, L_STEP);
    const struct quant *type = quant_find(text_at(r, L_TYPE)),
                       *cache = quant_find(text_at(r, L_CACHE));
    double us = real_at(r, L_US) * 1e3;

    if (!is_size(b) || !is_size(s) || !is_size(h) || !is_size(keys) || type == NULL ||
        cache == NULL || !(us > 0) || !isfinite(us))
        return UNUSABLE;
    if (is_decode) {
        PUT_DIMS(r->out, S("\""), b, h, 1, LATENT);
        PUT_DIMS(r->out, S(";"), b, 1, keys, LATENT);
        PUT_DIMS(r->out, S(";"), b, 1, keys, LATENT);
        PUT_DIMS(r->out, S(";"), b, h, 1, ROPE);
        PUT_DIMS(r->out, S(";"), b, 1, keys, ROPE);
    } else {
        PUT_DIMS(r->out, S("\""), b, h, s, NOPE + ROPE);
        PUT_DIMS(r->out, S(";"), b, h, keys, NOPE + ROPE);
        PUT_DIMS(r->out, S(";"), b, h, keys, VALUE);
    }
    text_out_put(r->out, S("\","));
    put_attention_types(r, type->input, cache->weight, is_decode ? 4 : 2, 0);
    put_end(r, us, text_at(r, L_SOURCE));
    return KEPT;
}

static enum row_verdict put_context_latent(struct rowing *r)
{
    return put_latent(r, false);
}

static enum row_verdict put_generation_latent(struct rowing *r)
{
    return put_latent(r, true);
}

enum {
    E_TOKENS,
    E_HIDDEN,
    E_INTER,
    E_TOP,
    E_EXPERTS,
    E_TP,
    E_EP,
    E_TYPE,
    E_SPREAD,
    E_US,
    E_SOURCE
};

/* Tokens and their experts; the weights that one card has: gate and up beside one another unless
 * the kernel has no gate, then down. */
static enum row_verdict put_experts(struct rowing *r)
{
    int64_t t = whole_at(r, E_TOKENS), h = whole_at(r, E_HIDDEN), i = whole_at(r, E_INTER);
    int64_t top = whole_at(r, E_TOP), experts = whole_at(r, E_EXPERTS), tp = whole_at(r, E_TP);
    int64_t ep = whole_at(r, E_EP);
    const struct quant *type = quant_find(text_at(r, E_TYPE));
    double us = real_at(r, E_US) * 1e3;

    if (!is_size(t) || !is_size(h) || !is_size(i) || !is_size(top) || !is_size(experts) ||
        !is_size(tp) || !is_size(ep) || type == NULL || !(us > 0) || !isfinite(us) ||
        experts % ep != 0 || i / tp < 1)
        return UNUSABLE;
    bool is_gated = !str_contains(text_at(r, E_SOURCE), S("nongated"));
    PUT_DIMS(r->out, S("\""), t, h);
    PUT_DIMS(r->out, S(";"), experts / ep, h, (is_gated ? 2 : 1) * (i / tp));
    PUT_DIMS(r->out, S(";"), experts / ep, i / tp, h);
    PUT_DIMS(r->out, S(";"), t, experts);
    PUT_DIMS(r->out, S(";"), t, top);
    text_out_put(r->out, S("\","));
    text_out_put(r->out, dtype_ascend(type->input));
    for (int k = 0; k < 2; k++) {
        text_out_put(r->out, S(";"));
        text_out_put(r->out, dtype_ascend(type->weight));
    }
    text_out_put(r->out, S(";FLOAT;INT32,"));
    put_text(r->out, text_at(r, E_SPREAD));
    if (type->scales.n > 0) {
        text_out_put(r->out, S(" "));
        text_out_put(r->out, type->scales);
    }
    put_end(r, us, text_at(r, E_SOURCE));
    return KEPT;
}

enum { C_CARDS, C_ELEMENTS, C_TYPE, C_US, C_SOURCE, C_NAME };

/* Bytes are those of one rank: of a gather what it gives, of a scatter what it keeps. Without a
 * graph the host launches each call, which engines do not do for decodes. */
static enum row_verdict put_collective(struct rowing *r)
{
    int64_t cards = whole_at(r, C_CARDS), elements = whole_at(r, C_ELEMENTS);
    struct str name = text_at(r, C_TYPE), source = text_at(r, C_SOURCE);
    const struct quant *type = name.n > 0 ? quant_find(name) : quant_bf16;
    bool is_shared =
        str_equal(r->f->part, S("all_gather")) || str_equal(r->f->part, S("reduce_scatter"));
    double us = real_at(r, C_US) * 1e3;

    if (r->f->part.n > 0 && !str_equal(text_at(r, C_NAME), r->f->part))
        return ELSEWHERE;
    if (!is_size(cards) || !is_size(elements) || type == NULL || !(us > 0) || !isfinite(us))
        return UNUSABLE;
    double bytes = (double)elements * type->input_bytes / (is_shared ? (double)cards : 1);
    text_out_i64(r->out, num_i64_of(bytes));
    text_out_put(r->out, S(","));
    text_out_i64(r->out, cards);
    text_out_put(r->out, str_ends(source, S("eager")) ? S(",eager") : S(","));
    put_end(r, us, source);
    return KEPT;
}

#define COMM_HEAD "message_bytes,num_devices,Variant," PROFILED_DURATION ",Kernel Source\r\n"
#define NCCL_COLUMNS                                                                               \
    {                                                                                              \
        "num_gpus", "message_size", "nccl_dtype", "latency", "?kernel_source", "op_name"           \
    }

static const struct aic_kind kinds[] = {
    {S_INIT("gemm_perf"),
     "MatMulV2",
     HEAD,
     {"m", "n", "k", "gemm_dtype", "latency", "?kernel_source"},
     put_gemm},
    {S_INIT("context_attention_perf"), "FusedInferAttentionScore", HEAD, ATTENTION_COLUMNS,
     put_context},
    {S_INIT("generation_attention_perf"), "FusedInferAttentionScore", HEAD, ATTENTION_COLUMNS,
     put_generation},
    {S_INIT("context_mla_perf"), "FusedInferAttentionScore", HEAD, LATENT_COLUMNS,
     put_context_latent},
    {S_INIT("generation_mla_perf"), "FusedInferAttentionScore", HEAD, LATENT_COLUMNS,
     put_generation_latent},
    {S_INIT("moe_perf"),
     "FusedMoe",
     HEAD,
     {"num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size",
      "moe_ep_size", "moe_dtype", "distribution", "latency", "?kernel_source"},
     put_experts},
    {S_INIT("custom_allreduce_perf"),
     "hcom_allReduce_",
     COMM_HEAD,
     {"num_gpus", "message_size", "?allreduce_dtype", "latency", "?kernel_source"},
     put_collective},
    {S_INIT("nccl_perf"), NULL, COMM_HEAD, NCCL_COLUMNS, put_collective},
    {S_INIT("oneccl_perf"), NULL, COMM_HEAD, NCCL_COLUMNS, put_collective},
};

static const struct aic_kind *kind_of(struct str table)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_equal(kinds[i].table, table))
            return &kinds[i];
    return NULL;
}

const struct aic_part aic_parts[AIC_PARTS] = {
    {S_INIT("all_reduce"), S_INIT("hcom_allReduce_")},
    {S_INIT("all_gather"), S_INIT("hcom_allGather_")},
    {S_INIT("reduce_scatter"), S_INIT("hcom_reduceScatter_")},
    {S_INIT("alltoall"), S_INIT("hcom_alltoall_")},
};

bool aic_has_parts(struct str table)
{
    const struct aic_kind *kind = kind_of(table);

    return kind != NULL && kind->op == NULL;
}

/* "mla_context_module_perf" is called MlaContextModule. */
struct str aic_op(struct arena *arena, struct str table)
{
    const struct aic_kind *kind = kind_of(table);
    struct str stem = str_ends(table, S("_perf")) ? str_part(table, 0, table.n - 5) : table;
    char *at = arena_alloc(arena, stem.n + 1);
    size_t n = 0;

    if (kind != NULL && kind->op != NULL)
        return str_of(kind->op);
    for (size_t i = 0; i < stem.n; i++) {
        bool is_first = i == 0 || stem.at[i - 1] == '_';
        if (stem.at[i] != '_')
            at[n++] = is_first ? char_upper(stem.at[i]) : stem.at[i];
    }
    return (struct str){at, n};
}

/* ---- reading ---- */

static void count(struct aic_file *f, enum row_verdict v)
{
    if (v == ELSEWHERE)
        return;
    f->rows++;
    *(v == KEPT           ? &f->kept
      : v == BELOW_FLOP   ? &f->below_flop
      : v == BELOW_MEMORY ? &f->below_memory
                          : &f->unusable) += 1;
}

static enum status read_columns(struct rowing *r, size_t group, const int *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (columns[i] < 0)
            continue;
        TRY(parquet_read(r->p, group, (size_t)columns[i], &r->values[i]));
    }
    return ST_OK;
}

static enum status rows_of_kind(struct rowing *r, struct diag *d)
{
    int columns[COLUMNS];
    size_t n = 0;

    for (; n < COLUMNS && r->kind->columns[n] != NULL; n++) {
        const char *name = r->kind->columns[n];
        bool is_optional = *name == '?';
        columns[n] = parquet_find(r->p, str_of(name + is_optional));
        if (columns[n] < 0 && !is_optional)
            return diag_fail(d, ST_FORMAT, "aic.no-column", (struct where){.path = r->f->path},
                             "the column \"%s\" is missing", name);
    }
    for (size_t g = 0; g < r->p->n_groups; g++) {
        TRY(read_columns(r, g, columns, n));
        for (r->row = 0; r->row < r->p->groups[g].rows; r->row++)
            count(r->f, r->kind->put(r));
        if (cancelled())
            return ST_CANCELLED;
    }
    return ST_OK;
}

/* Columns that say the same for all rows of a file, which its folder says, too. */
static bool is_dropped(struct str name)
{
    static const struct str dropped[] = {S_INIT("framework"), S_INIT("version"),
                                         S_INIT("device"),    S_INIT("op_name"),
                                         S_INIT("power"),     S_INIT("power_limit")};

    return str_is_one_of(name, dropped, ARRAY_LEN(dropped));
}

static void put_value(struct rowing *r, size_t column, bool is_time)
{
    const struct parquet_values *v = &r->values[column];

    if (!parquet_has(v, r->row))
        return;
    if (is_time)
        put_us(r->out, real_at(r, column) * 1e3);
    else if (v->kind == VALUES_TEXT)
        put_text(r->out, v->texts[r->row]);
    else if (v->kind == VALUES_INT)
        text_out_i64(r->out, v->numbers[r->row]);
    else
        put_us(r->out, v->reals[r->row]);
}

/* A table that has no operator keeps its columns; "latency" is the duration. */
static enum status rows_as_they_are(struct rowing *r, bool is_first)
{
    int columns[SAMPLE_COLUMNS];
    size_t n = 0, time = SIZE_MAX;

    for (size_t i = 0; i < r->p->n && n < SAMPLE_COLUMNS; i++)
        if (!is_dropped(r->p->columns[i].name) && r->p->columns[i].why == NULL) {
            time = str_equal(r->p->columns[i].name, S("latency")) ? n : time;
            columns[n++] = (int)i;
        }
    for (size_t i = 0; i < n && is_first; i++) {
        text_out_put(r->out, i > 0 ? S(",") : S(""));
        put_text(r->out, i == time ? S(PROFILED_DURATION) : r->p->columns[columns[i]].name);
    }
    text_out_put(r->out, is_first ? S("\r\n") : S(""));
    for (size_t g = 0; g < r->p->n_groups; g++) {
        TRY(read_columns(r, g, columns, n));
        for (r->row = 0; r->row < r->p->groups[g].rows; r->row++) {
            double us = time < n ? real_at(r, time) : 1;
            bool is_bad = !(us > 0) || !isfinite(us);
            count(r->f, is_bad ? UNUSABLE : KEPT);
            for (size_t i = 0; i < n && !is_bad; i++) {
                text_out_put(r->out, i > 0 ? S(",") : S(""));
                put_value(r, i, i == time);
            }
            text_out_put(r->out, is_bad ? S("") : S("\r\n"));
        }
        if (cancelled())
            return ST_CANCELLED;
    }
    return ST_OK;
}

enum status aic_rows(struct aic_file *f, const struct aic_system *system, bool is_first,
                     struct text_out *out, struct diag *d)
{
    struct parquet p;
    struct parquet_values values[SAMPLE_COLUMNS] = {0};
    struct rowing r = {
        .f = f, .system = system, .p = &p, .values = values, .kind = kind_of(f->table), .out = out};

    TRY(parquet_open(&p, f->path, (struct str){0}, d));
    if (r.kind != NULL && is_first)
        text_out_put(out, str_of(r.kind->head));
    enum status st = r.kind != NULL ? rows_of_kind(&r, d) : rows_as_they_are(&r, is_first);
    for (size_t i = 0; i < SAMPLE_COLUMNS; i++)
        parquet_values_free(&values[i]);
    parquet_close(&p);
    return st;
}
