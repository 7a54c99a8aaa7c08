/*
 * Tables as points. See opset.h.
 */
#include "opdb/rows/opset.h"

#include <math.h>
#include <stdlib.h>

#include "opdb/predict/query.h"
#include "opdb/rows/columns.h"

struct opset_columns {
    int shapes, dtypes, formats, ep, variant, queries, keys, average, sparse, kv_heads;
    int bytes, devices, tier;
    struct latency_columns latency;
};

static struct opset_columns columns_of(const struct op_table *t)
{
    int average = table_column(t, column_runtime[RT_AVG_SEQ_LEN]);

    return (struct opset_columns){
        .shapes = table_column(t, COL_INPUT_SHAPES),
        .dtypes = table_column(t, COL_INPUT_DTYPES),
        .formats = table_column(t, COL_INPUT_FORMATS),
        .ep = table_column(t, COL_EP_SIZE),
        .variant = table_column(t, COL_VARIANT),
        .queries = table_column(t, column_runtime[RT_SEQ_VALUES]),
        .keys = table_column(t, column_runtime[RT_SEQ_KV_VALUES]),
        .average = average >= 0 ? average : table_column(t, S("avg_seq_len")),
        .sparse = table_column(t, column_runtime[RT_SPARSE_MODE]),
        .kv_heads = table_column(t, column_runtime[RT_NUM_KV_HEADS]),
        .bytes = table_column(t, S("message_bytes")),
        .devices = table_column(t, S("num_devices")),
        .tier = table_column(t, S("topology_tier")),
        .latency = latency_columns(t),
    };
}

enum { SLOT_TABLE = 14, SPARSE_CAUSAL = 3 };

/* Lengths of a row of attention: as listed, else equal ones by its shapes and average. */
static bool row_lengths(const struct op_table *t, size_t row, const struct opset_columns *c,
                        struct cell_slots slots, struct arena *scratch, struct work_lengths *out)
{
    struct str queries = cell_bare(table_cell(t, row, c->queries));
    struct str keys = cell_bare(table_cell(t, row, c->keys));
    enum { LATENT_SLOTS = 5 }; /* without the 26 others: over latent vectors, which sees all keys */
    double average = cell_f64(table_cell(t, row, c->average));
    double sparse = slots.n == LATENT_SLOTS ? 0 : SPARSE_CAUSAL;
    bool is_paged = slots.n > SLOT_TABLE && slots.at[SLOT_TABLE].n > 0;
    struct cell_dims q, k = {0};

    cell_number(table_cell(t, row, c->sparse), &sparse);
    if (!cell_dims(scratch, slots.at[0], &q) || q.n < 2 ||
        (slots.n > 1 && !cell_dims(scratch, slots.at[1], &k)))
        return false;
    if (queries.n == 0 || keys.n == 0 ||
        !work_lengths_read(queries, keys, is_paged, sparse > 0, out)) {
        double seqs = (double)q.at[0];
        if (!(average > 0) && k.n == 4 && !is_paged)
            average = (double)k.at[2];
        if (q.n != 4 && seqs == average)
            seqs = 1; /* a whole prompt; else there is one more token for each of them */
        double each = q.n == 4 ? (double)q.at[2] : (double)q.at[0] / seqs;
        *out = work_lengths(seqs, each, average, sparse > 0);
    }
    out->sparse = num_i64_of(sparse);
    out->kv_heads = num_i64_of(cell_f64(table_cell(t, row, c->kv_heads)));
    if (out->kv_heads <= 0 && k.n >= 3)
        out->kv_heads = k.at[1];
    return true;
}

/* What parts calls of equal shapes: the ranks of an exchange, and a variant. */
static struct str row_extra(const struct op_table *t, size_t row, const struct opset_columns *c,
                            struct arena *scratch)
{
    struct str ep = cell_trim(table_cell(t, row, c->ep));
    struct str variant = cell_trim(table_cell(t, row, c->variant));

    if (variant.n == 0 || ep.n == 0)
        return variant.n > 0 ? variant : ep;
    return arena_format(scratch, "%.*s %.*s", STR_ARGS(ep), STR_ARGS(variant));
}

static bool row_work(const struct opset *s, size_t row, const struct opset_columns *c,
                     struct arena *scratch, struct call_work *out)
{
    const struct op_table *t = &s->table;
    struct query_row stored;
    struct work_lengths lengths;
    bool is_attention = work_is_attention(s->kernel);

    if (s->is_comm) {
        double bytes = cell_f64(table_cell(t, row, c->bytes)), tier = -1;
        double devices = cell_f64(table_cell(t, row, c->devices));
        cell_number(table_cell(t, row, c->tier), &tier);
        struct str variant = cell_trim(table_cell(t, row, c->variant));
        work_of_comm(bytes, devices, work_comm_regime(num_i64_of(tier), variant), out);
        return bytes > 0 && devices >= 1 && isfinite(bytes) && isfinite(devices);
    }
    if (!query_row_read(scratch, table_cell(t, row, c->shapes), table_cell(t, row, c->dtypes),
                        table_cell(t, row, c->formats), -1, &stored))
        return false;
    if (is_attention && (stored.inputs.n == 0 ||
                         !row_lengths(t, row, c, cell_slots(scratch, table_cell(t, row, c->shapes)),
                                      scratch, &lengths)))
        return false;
    return work_of(scratch, s->kernel, stored.inputs, stored.formats,
                   is_attention ? &lengths : NULL, row_extra(t, row, c, scratch), out);
}

/* A row that was read: its call and its time. */
struct opset_row {
    struct call_work work;
    double us;
    uint32_t row, call;
};

ORDER_BY(by_call, struct opset_row,
         ORDER(x->call, y->call) ?: ORDER(x->us, y->us) ?: ORDER(x->row, y->row));

static void add_call(struct opset *s, const struct opset_row *rows, size_t n)
{
    const struct call_work *w = &rows[0].work;
    double us = n % 2 == 1 ? rows[n / 2].us : (rows[n / 2 - 1].us + rows[n / 2].us) / 2;
    uint32_t regime = hash_add(&s->regime_of, w->regime, (uint32_t)s->regimes.n),
             first = UINT32_MAX;

    for (size_t i = 0; i < n; i++)
        first = rows[i].row < first ? rows[i].row : first;
    if (regime == s->regimes.n)
        vec_push(&s->regimes, (struct opset_regime){.key = w->regime});
    struct opset_regime *r = &s->regimes.at[regime];
    vec_push(&s->calls, ((struct opset_call){regime, (uint32_t)r->points.n}));
    vec_push(&r->points, ((struct estimate_point){*w, us}));
    vec_push(&r->rows, first);
}

/* Rows of one exact call are one point: `call` numbers them by first appearance, sorting brings
 * them together. */
static void opset_gather(struct opset *s)
{
    struct opset_columns c = columns_of(&s->table);
    VEC_OF(struct opset_row) rows = {0};
    struct arena scratch;
    uint32_t n_calls = 0;
    int column;

    arena_init(&scratch);
    for (size_t row = 0; row < s->table.n_rows; row++) {
        struct arena_mark mark = arena_mark(&scratch);
        struct opset_row one = {.row = (uint32_t)row};
        if (latency_of(&s->table, row, &c.latency, &one.us, &column) &&
            row_work(s, row, &c, &scratch, &one.work)) {
            one.call = hash_add(&s->exact, one.work.exact, n_calls);
            n_calls += one.call == n_calls;
            vec_push(&rows, one);
        }
        arena_rewind(&scratch, mark);
    }
    arena_free(&scratch);
    if (rows.n > 0)
        qsort(rows.at, rows.n, sizeof(*rows.at), by_call);
    for (size_t i = 0, next; i < rows.n; i = next) {
        for (next = i; next < rows.n && rows.at[next].call == rows.at[i].call;)
            next++;
        add_call(s, &rows.at[i], next - i);
    }
    vec_free(&rows);
}

enum status opset_read(struct opset *s, struct str kernel, const char *path, struct diag *d)
{
    *s = (struct opset){.kernel = kernel};
    TRY(table_read(&s->table, path, d));
    s->is_comm = table_column(&s->table, S("message_bytes")) >= 0;
    opset_gather(s);
    return ST_OK;
}

void opset_free(struct opset *s)
{
    for (size_t i = 0; i < s->regimes.n; i++) {
        estimate_free(&s->regimes.at[i].model);
        vec_free(&s->regimes.at[i].points);
        vec_free(&s->regimes.at[i].rows);
    }
    vec_free(&s->regimes);
    vec_free(&s->calls);
    hash_free(&s->regime_of);
    hash_free(&s->exact);
    table_free(&s->table);
}

struct estimate_chip opset_chip(const struct opset *s, const struct call_work *w)
{
    const struct device *d = s->device;

    if (d == NULL)
        return (struct estimate_chip){0};
    return (struct estimate_chip){.cores = d->cores,
                                  .rate = query_peak(d, w->type) * 1e6,
                                  .speed = d->gbps * 1e3,
                                  .cache = d->l2_mb * 1e6};
}

const struct estimate_point *opset_exact(const struct opset *s, const struct call_work *w,
                                         uint32_t *row)
{
    uint32_t call;

    if (!hash_get(&s->exact, w->exact, &call))
        return NULL;
    const struct opset_regime *r = &s->regimes.at[s->calls.at[call].regime];
    *row = r->rows.at[s->calls.at[call].point];
    return &r->points.at[s->calls.at[call].point];
}

const struct opset_regime *opset_find(const struct opset *s, const struct call_work *w)
{
    uint32_t regime;

    return hash_get(&s->regime_of, w->regime, &regime) ? &s->regimes.at[regime] : NULL;
}

struct opset_regime *opset_regime(struct opset *s, const struct call_work *w)
{
    uint32_t regime;

    if (!hash_get(&s->regime_of, w->regime, &regime))
        return NULL;
    struct opset_regime *r = &s->regimes.at[regime];
    if (!r->is_fitted) {
        struct estimate_chip chip = opset_chip(s, &r->points.at[0].work);
        estimate_fit(&r->model, r->points.at, r->points.n, &chip);
    }
    r->is_fitted = true;
    return r;
}
