/*
 * Attention: what counts is tokens, heads, the size of a head, and how long the cache is on
 * average.
 */
#include <math.h>
#include <stdlib.h>

#include "opdb/predict/query.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

enum { SEQ_TOLERANCE = 16, SPARSE_DENSE = 3 };

/* (tokens, heads, head size) of a query tensor. */
struct head_shape {
    int64_t tokens, heads, size;
    int64_t batch; /* of (B,N,1,D); 0: not told */
};

static bool normal_query(struct cell_dims d, int64_t head_size, struct head_shape *out)
{
    if (d.n == 3)
        *out = (struct head_shape){d.at[0], d.at[1], d.at[2], 0};
    else if (d.n == 4 && d.at[2] == 1)
        *out = (struct head_shape){d.at[0], d.at[1], d.at[3], d.at[0]};
    else if (d.n == 2 && head_size > 0 && d.at[1] % head_size == 0)
        *out = (struct head_shape){d.at[0], d.at[1] / head_size, head_size, 0};
    else
        return false;
    return true;
}

struct columns {
    int shapes, dtypes, seq, sparse, kv_heads;
    struct latency_columns latency;
};

static struct columns attention_find_columns(const struct op_table *t)
{
    int seq = table_column(t, column_runtime[RT_AVG_SEQ_LEN]);

    return (struct columns){
        .shapes = table_column(t, COL_INPUT_SHAPES),
        .dtypes = table_column(t, COL_INPUT_DTYPES),
        .seq = seq >= 0 ? seq : table_column(t, S("avg_seq_len")), /* older exports */
        .sparse = table_column(t, column_runtime[RT_SPARSE_MODE]),
        .kv_heads = table_column(t, column_runtime[RT_NUM_KV_HEADS]),
        .latency = latency_columns(t),
    };
}

/* A runtime value is compared when the table has its column and the question names it. */
static bool agrees(const struct op_table *t, size_t row, int column, int64_t wanted)
{
    double value;

    if (column < 0 || wanted < 0)
        return true;
    return cell_number(table_cell(t, row, column), &value) && value == (double)wanted;
}

struct row {
    struct head_shape shape;
    double seq, latency;
    int rank;
};

static bool read_row(struct query_db *db, struct str kernel, const struct op_table *t, size_t at,
                     const struct columns *c, const struct query *q, int64_t head_size,
                     struct row *out)
{
    struct cell_slots slots = cell_slots(&db->arena, table_cell(t, at, c->shapes));
    struct cell_slots types = cell_slots(&db->arena, table_cell(t, at, c->dtypes));
    struct cell_dims dims;
    double seq;

    if (slots.n == 0 || types.n == 0 || !cell_dims(&db->arena, slots.at[0], &dims) ||
        !normal_query(dims, head_size, &out->shape) ||
        !cell_number(table_cell(t, at, c->seq), &seq) || !(seq >= 0) || !isfinite(seq))
        return false;
    out->seq = floor(seq);
    return query_same_dtype(kernel, q->inputs.at[0].dtype, types.at[0]) &&
           query_latency(db, kernel, t, at, &c->latency, &out->latency, &out->rank);
}

static bool attention_fits(const struct op_table *t, size_t at, const struct columns *c,
                           const struct query *q, const struct head_shape *want,
                           const struct row *row)
{
    int64_t sparse = q->sparse_mode >= 0 ? q->sparse_mode : SPARSE_DENSE;

    return row->shape.heads == want->heads && row->shape.size == want->size &&
           agrees(t, at, c->sparse, sparse) && agrees(t, at, c->kv_heads, q->kv_heads);
}

/* The nearest row within the tolerance. */
static void find_nearest(struct query_db *db, const struct query *q, struct str kernel,
                         const struct op_table *t, const struct head_shape *want, double *nearest,
                         struct query_result *out)
{
    struct columns c = attention_find_columns(t);

    for (size_t at = 0; at < t->n_rows; at++) {
        struct row row;
        if (!read_row(db, kernel, t, at, &c, q, want->size, &row) ||
            !attention_fits(t, at, &c, q, want, &row) ||
            (want->tokens != row.shape.tokens && !query_is_padded(want->tokens, row.shape.tokens) &&
             !query_is_padded(row.shape.tokens, want->tokens)))
            continue;
        double gap = fabs(row.seq - (double)q->avg_seq);
        if (gap > SEQ_TOLERANCE || gap >= *nearest)
            continue;
        *nearest = gap;
        *out = (struct query_result){.latency_us = row.latency,
                                     .confidence = 0.9,
                                     .source = QUERY_MEASURED,
                                     .kernel = kernel,
                                     .rule = S("attention")};
    }
}

/* The batch, where the layout tells it, or the number of tokens; and the length of the cache. */
static double size_axis(const struct head_shape *s)
{
    return (double)(s->batch > 0 ? s->batch : s->tokens);
}

static bool uses_root(const struct query_db *db, struct str kernel)
{
    struct str transform = query_policy(db, kernel, "interpolation_policy.axis_transform");

    if (transform.n == 0)
        transform = query_policy(db, kernel, "interpolation_policy.shape_transform");
    return transform.n == 0 || str_equal(transform, S("sqrt")) ||
           str_equal(transform, S("sqrt_seq"));
}

static void find_between(struct query_db *db, const struct query *q, struct str kernel,
                         const struct op_table *t, const struct head_shape *want,
                         struct query_result *out)
{
    static const unsigned masks[] = {2, 1, 3}; /* the length, the batch, both */
    struct columns c = attention_find_columns(t);
    struct query_points points = {0};
    bool has_root = uses_root(db, kernel);
    double seq = has_root ? sqrt((double)q->avg_seq) : (double)q->avg_seq, latency;
    const double target[POINT_AXES] = {size_axis(want), seq};

    for (size_t at = 0; at < t->n_rows; at++) {
        struct row row;
        if (!read_row(db, kernel, t, at, &c, q, want->size, &row) ||
            !attention_fits(t, at, &c, q, want, &row) || (row.shape.batch > 0) != (want->batch > 0))
            continue;
        struct query_point p = {{size_axis(&row.shape), has_root ? sqrt(row.seq) : row.seq},
                                row.latency};
        vec_push(&points.points, p);
    }
    for (size_t i = 0; i < ARRAY_LEN(masks) && out->miss != NULL; i++) {
        int dims = __builtin_popcount(masks[i]);
        if (dims > q->max_dims ||
            !query_points_value(&points, (struct query_axes){masks[i], 2}, target, &latency))
            continue;
        *out = query_interpolated(kernel, latency, dims);
    }
    vec_free(&points.points);
}

enum status query_attention(struct query_db *db, const struct query *q, const struct str *kernels,
                            size_t n, struct query_result *out, struct diag *d)
{
    /* The size of a head is told by the key when there is one. */
    struct cell_dims key = q->inputs.n > 1 ? q->inputs.at[1].dims : (struct cell_dims){0};
    struct head_shape want;
    double nearest = INFINITY;
    const struct op_table *t;

    *out = (struct query_result){.miss = "invalid_args"};
    if (q->inputs.n == 0 || q->avg_seq < 0 ||
        !normal_query(q->inputs.at[0].dims, key.n > 0 ? key.at[key.n - 1] : 0, &want))
        return ST_OK;
    out->miss = "csv_not_found";
    for (size_t i = 0; i < n; i++) {
        TRY(query_table(db, kernels[i], &t, d));
        if (t == NULL)
            continue;
        out->miss = out->miss != NULL ? "shape_mismatch" : NULL;
        find_nearest(db, q, kernels[i], t, &want, &nearest, out);
    }
    for (size_t i = 0; i < n && out->miss != NULL && !q->is_exact; i++) {
        TRY(query_table(db, kernels[i], &t, d));
        if (t != NULL)
            find_between(db, q, kernels[i], t, &want, out);
    }
    return ST_OK;
}
