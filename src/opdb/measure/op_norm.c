/*
 * Normalisation, activation, quantisation and rotary positions: operators that work row by row.
 */
#include <math.h>

#include "base/text/num.h"
#include "opdb/measure/op_inside.h"

/* The rows of the first input, whose last dimension is `n`. */
static struct op_arg *by_rows(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);

    c->n = tensor_back(&x->t, 0);
    c->m = c->units = tensor_rows(&x->t);
    return x;
}

static void set_vector(struct op_call *c, int64_t per_element, int64_t per_row)
{
    c->cost.vector = num_most_sum(num_most_product(per_element, num_most_product(c->m, c->n)),
                                  num_most_product(per_row, c->m));
}

/* One number for each row: the shape of `x` with 1 at its end. */
static void put_row_numbers(struct op_call *c, const struct op_row *row, const struct tensor *x)
{
    int64_t dim[TENSOR_RANK];

    memcpy(dim, x->dim, sizeof(dim));
    if (x->rank > 0)
        dim[x->rank - 1] = 1;
    op_out(c, row, DTYPE_F32, x->rank, dim)->t.dtype = DTYPE_F32;
}

const char *op_rms_norm_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row), *gamma = op_in(c, &row->in[1]);

    if (tensor_count(&gamma->t) != c->n)
        return op_refuse(c, "gamma has %lld values, not %lld", (long long)tensor_count(&gamma->t),
                         (long long)c->n);
    c->eps = 1e-6;
    set_vector(c, 4, 3);
    op_out_like(c, row, &x->t);
    put_row_numbers(c, row, &x->t);
    return NULL;
}

/* x times its inverse root mean square, 1 / sqrt(mean of squares + eps), times gamma; that root. */
static double normalise(double *x, int64_t n, const struct tensor *gamma, double eps)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    double rstd = 1 / sqrt(sum / (double)n + eps);
    for (int64_t i = 0; i < n; i++)
        x[i] *= rstd * tensor_at(gamma, i);
    return rstd;
}

size_t op_rms_norm_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                        struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * c->n, c->n, scratch);
    double rstd = normalise(x, c->n, &c->in[1].t, c->eps);

    op_store(c, spans, 0, unit * c->n, c->n, x);
    return op_store(c, spans, 1, unit, 1, &rstd);
}

const char *op_add_rms_norm_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row), *y = op_in(c, &row->in[1]), *gamma = op_in(c, &row->in[2]);

    c->has_bias = row->in[3].is_given && row->in[3].t.dtype != DTYPE_NONE;
    if (tensor_count(&x->t) != tensor_count(&y->t) || tensor_count(&gamma->t) != c->n ||
        (c->has_bias && tensor_count(&row->in[3].t) != c->n))
        return op_refuse(c, "%s needs (T,D), (T,D), (D) and (D) or nothing", c->op->name);
    if (c->has_bias)
        op_in(c, &row->in[3]);
    c->eps = 1e-6;
    set_vector(c, c->has_bias ? 6 : 5, 3);
    op_out_like(c, row, &x->t);
    put_row_numbers(c, row, &x->t);
    op_out_like(c, row, &x->t);
    return NULL;
}

size_t op_add_rms_norm_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                            struct arena *scratch)
{
    int64_t from = unit * c->n;
    double *x = op_load(&c->in[0].t, from, c->n, scratch);
    double *y = op_load(&c->in[1].t, from, c->n, scratch);

    for (int64_t i = 0; i < c->n; i++)
        x[i] += y[i];
    size_t n = op_store(c, spans, 2, from, c->n, x);
    double rstd = normalise(x, c->n, &c->in[2].t, c->eps);
    op_store(c, spans, 1, unit, 1, &rstd);
    for (int64_t i = 0; i < c->n && c->has_bias; i++)
        x[i] += tensor_at(&c->in[3].t, i);
    op_store(c, spans, 0, from, c->n, x);
    return n;
}

const char *op_swiglu_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row);
    int64_t dim[TENSOR_RANK];

    if (c->n % 2 != 0)
        return op_refuse(c, "the last dimension must be even");
    memcpy(dim, x->t.dim, sizeof(dim));
    c->n /= 2;
    dim[x->t.rank - 1] = c->n;
    set_vector(c, 5, 0);
    op_out(c, row, x->t.dtype, x->t.rank, dim);
    return NULL;
}

size_t op_swiglu_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                      struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * 2 * c->n, 2 * c->n, scratch);

    for (int64_t i = 0; i < c->n; i++)
        x[i] = x[i] / (1 + exp(-x[i])) * x[c->n + i];
    return op_store(c, spans, 0, unit * c->n, c->n, x);
}

const char *op_softmax_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row);

    set_vector(c, 5, 0);
    op_out_like(c, row, &x->t);
    return NULL;
}

size_t op_softmax_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                       struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * c->n, c->n, scratch), most = -INFINITY, sum = 0;

    for (int64_t i = 0; i < c->n; i++)
        most = fmax(most, x[i]);
    for (int64_t i = 0; i < c->n; i++)
        sum += x[i] = exp(x[i] - most);
    for (int64_t i = 0; i < c->n; i++)
        x[i] /= sum;
    return op_store(c, spans, 0, unit * c->n, c->n, x);
}

const char *op_quant_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row), *scale = op_in(c, &row->in[1]);
    int64_t n = tensor_count(&scale->t);
    enum dtype type = row->out[0].t.dtype;

    if (row->n_out != 1 || (type != DTYPE_I8 && type != DTYPE_U8 && type != DTYPE_I32))
        return op_refuse(c, "the output must be one INT8, UINT8 or INT32");
    if (n != 1 && n != c->n)
        return op_refuse(c, "the scale has %lld values, not 1 or %lld", (long long)n,
                         (long long)c->n);
    c->has_offset = row->n_in > 2;
    if (c->has_offset && tensor_count(&op_in(c, &row->in[2])->t) != n)
        return op_refuse(c, "the offset is not as long as the scale");
    set_vector(c, c->has_offset ? 3 : 2, 0);
    op_out_like(c, row, &x->t);
    return NULL;
}

size_t op_quant_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                     struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * c->n, c->n, scratch);
    bool is_one = tensor_count(&c->in[1].t) == 1;

    for (int64_t i = 0; i < c->n; i++) {
        x[i] *= tensor_at(&c->in[1].t, is_one ? 0 : i);
        if (c->has_offset)
            x[i] += tensor_at(&c->in[2].t, is_one ? 0 : i);
    }
    return op_store(c, spans, 0, unit * c->n, c->n, x);
}

const char *op_dynamic_quant_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row);

    set_vector(c, 4, 1);
    op_out(c, row, DTYPE_I8, x->t.rank, x->t.dim);
    op_out(c, row, DTYPE_F32, x->t.rank > 0 ? x->t.rank - 1 : 0, x->t.dim);
    return NULL;
}

size_t op_dynamic_quant_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                             struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * c->n, c->n, scratch), most = 0;

    for (int64_t i = 0; i < c->n; i++)
        most = fmax(most, fabs(x[i]));
    double scale = most / 127;
    for (int64_t i = 0; i < c->n; i++)
        x[i] = scale > 0 ? x[i] / scale : 0;
    op_store(c, spans, 0, unit * c->n, c->n, x);
    return op_store(c, spans, 1, unit, 1, &scale);
}

const char *op_rope_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = by_rows(c, row), *cosine = op_in(c, &row->in[1]);
    struct op_arg *sine = op_in(c, &row->in[2]);

    if (x->t.rank != 4 || cosine->t.rank != 4 ||
        tensor_count(&cosine->t) != tensor_count(&sine->t) || c->n % 2 != 0 ||
        cosine->t.dim[0] != x->t.dim[0] || cosine->t.dim[3] != c->n ||
        (cosine->t.dim[2] != 1 && cosine->t.dim[2] != x->t.dim[2]))
        return op_refuse(c, "%s needs (B,N,S,D) and (B,1,S or 1,D) twice", c->op->name);
    set_vector(c, 3, 0);
    op_out_like(c, row, &x->t);
    return NULL;
}

/* The last axis taken apart into even and odd places, then rotated by the angles from `at` on. */
static void interleave_rope(double *x, int64_t n, const struct tensor *cosine,
                            const struct tensor *sine, int64_t at, struct arena *scratch)
{
    double *q = ARENA_ARRAY(scratch, double, (size_t)n);
    int64_t half = n / 2;

    for (int64_t i = 0; i < half; i++) {
        q[i] = x[2 * i];
        q[half + i] = x[2 * i + 1];
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = q[i] * tensor_at(cosine, at + i) +
               (i < half ? -q[half + i] : q[i - half]) * tensor_at(sine, at + i);
}

size_t op_rope_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                    struct arena *scratch)
{
    const struct tensor *x = &c->in[0].t, *cosine = &c->in[1].t;
    int64_t s = unit % x->dim[2], b = unit / x->dim[2] / x->dim[1], length = cosine->dim[2];
    double *row = op_load(x, unit * c->n, c->n, scratch);

    interleave_rope(row, c->n, cosine, &c->in[2].t, (b * length + (length > 1 ? s : 0)) * c->n,
                    scratch);
    return op_store(c, spans, 0, unit * c->n, c->n, row);
}

/* RMS norm: 4 operations a value and 3 a row; rotation: 3 a value. The caches are written in a
 * few places and not read. */
const char *op_kv_cache_prepare(struct op_call *c, const struct op_row *row)
{
    enum { INDEX = 4, K_CACHE = 5, CKV_CACHE = 6 };
    const struct tensor *index = &row->in[INDEX].t, *k = &row->in[K_CACHE].t;
    const struct tensor *ckv = &row->in[CKV_CACHE].t;
    struct op_arg *kv = op_in(c, &row->in[0]), *gamma = op_in(c, &row->in[1]);

    op_in(c, &row->in[2]);
    op_in(c, &row->in[3]);
    if (kv->t.rank != 4 || index->rank != 1 || k->rank != 4 || ckv->rank != 4)
        return op_refuse(c, "needs kv (B,1,S,D), a list of places and two 4-D caches");
    c->n = tensor_count(&gamma->t);
    c->rotary = tensor_back(k, 0);
    c->m = c->units = tensor_rows(&kv->t);
    int64_t places = ckv->dim[0] * ckv->dim[1], e = (int64_t)tensor_element(kv->t.dtype);
    if (tensor_back(&kv->t, 0) != c->n + c->rotary || tensor_back(ckv, 0) != c->n ||
        index->dim[0] != c->m || k->dim[0] * k->dim[1] != places || c->m > places ||
        tensor_count(&c->in[KV_COS].t) != c->m * c->rotary ||
        tensor_count(&c->in[KV_SIN].t) != c->m * c->rotary || c->rotary % 2 != 0)
        return op_refuse(c, "the operands do not fit each other");
    OP_MADE(c, DTYPE_I64, c->m)->fill = FILL_COUNT;
    c->eps = 1e-5;
    c->cost.vector = 4 * c->m * c->n + 3 * c->m + 3 * c->m * c->rotary;
    c->cost.read -= tensor_bytes(k) + tensor_bytes(ckv);
    c->cost.written = 2 * c->m * (c->n + c->rotary) * e;
    op_out_like(c, row, k);
    op_out_like(c, row, ckv);
    OP_OUT(c, row, kv->t.dtype, kv->t.dim[0], 1, kv->t.dim[2], c->rotary);
    OP_OUT(c, row, kv->t.dtype, kv->t.dim[0], 1, kv->t.dim[2], c->n);
    return NULL;
}

size_t op_kv_cache_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                        struct arena *scratch)
{
    int64_t from = unit * (c->n + c->rotary), place = (int64_t)tensor_at(&c->in[KV_INDEX].t, unit);
    double *latent = op_load(&c->in[KV_IN].t, from, c->n, scratch);
    double *k = op_load(&c->in[KV_IN].t, from + c->n, c->rotary, scratch);
    size_t n = 0;

    normalise(latent, c->n, &c->in[KV_GAMMA].t, c->eps);
    interleave_rope(k, c->rotary, &c->in[KV_COS].t, &c->in[KV_SIN].t, unit * c->rotary, scratch);
    for (size_t i = 0; i < 4; i++) { /* both caches, then both results */
        int64_t size = i % 2 == 0 ? c->rotary : c->n, at = (i < 2 ? place : unit) * size;
        n = op_store(c, spans, i, at, size, i % 2 == 0 ? k : latent);
    }
    return n;
}

/* A row of the table has the width of all query heads and of all key heads together, but not the
 * size of one head. That divides both widths, so it divides their greatest common divisor, and the
 * rotated part fits into it. Of such numbers the least is taken: most models rotate whole heads. */
int64_t op_head_dim(int64_t q, int64_t k, int64_t rope)
{
    int64_t a = q, b = k;

    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    for (int64_t d = rope > 0 ? rope : 1; d <= a; d++)
        if (a % d == 0)
            return d;
    return 0;
}

/* 7 operations a value: 4 of its RMS norm, 3 of the rotation. */
const char *op_split_qkv_prepare(struct op_call *c, const struct op_row *row)
{
    enum { CACHE_ROWS = 2048 };
    struct op_arg *x = op_in(c, &row->in[0]);
    const struct tensor *q = &row->out[0].t, *k = &row->out[1].t;

    if (x->t.rank != 2 || row->n_out < 2 || row->n_out > 3 || q->rank < 1 || k->rank < 1)
        return op_refuse(c, "needs (T,q+2k) and two or three outputs");
    c->m = c->units = x->t.dim[0];
    c->n = tensor_back(q, 0);
    c->k = tensor_back(k, 0);
    c->rotary = tensor_back(&row->in[1].t, 0);
    int64_t rows = row->n_in == 3 ? row->in[1].t.dim[0] : c->m > CACHE_ROWS ? c->m : CACHE_ROWS;
    if (x->t.dim[1] != c->n + 2 * c->k || c->rotary < 2 || c->rotary % 2 != 0 || rows < 1)
        return op_refuse(c, "a row of %lld does not split into %lld and twice %lld",
                         (long long)x->t.dim[1], (long long)c->n, (long long)c->k);
    c->head = op_head_dim(c->n, c->k, c->rotary);
    if (c->head == 0)
        return op_refuse(c, "no size of a head fits q %lld, k %lld and %lld rotated",
                         (long long)c->n, (long long)c->k, (long long)c->rotary);
    OP_MADE(c, x->t.dtype, rows, c->rotary);
    OP_MADE(c, DTYPE_I64, c->m)->below = rows;
    OP_MADE(c, x->t.dtype, c->head);
    OP_MADE(c, x->t.dtype, c->head);
    int64_t e = (int64_t)tensor_element(x->t.dtype);
    c->eps = 1e-6;
    c->cost.vector = 7 * c->m * (c->n + c->k);
    c->cost.read = tensor_bytes(&x->t) + c->m * c->rotary * e + 8 * c->m;
    c->cost.written = c->m * (c->n + 2 * c->k) * e;
    OP_OUT(c, row, x->t.dtype, c->m, c->n);
    OP_OUT(c, row, x->t.dtype, c->m, c->k);
    OP_OUT(c, row, x->t.dtype, c->m, c->k);
    return NULL;
}

size_t op_split_qkv_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                         struct arena *scratch)
{
    int64_t width = c->n + 2 * c->k, half = c->rotary / 2;
    int64_t at = (int64_t)tensor_at(&c->in[SPLIT_POSITIONS].t, unit) * c->rotary;
    double *x = op_load(&c->in[SPLIT_IN].t, unit * width, width, scratch);

    /* Heads are normalised, then their first `rotary` places turned by halves. */
    for (double *y = x; y < x + c->n + c->k; y += c->head) {
        bool is_q = y < x + c->n;
        normalise(y, c->head, &c->in[is_q ? SPLIT_Q_WEIGHT : SPLIT_K_WEIGHT].t, c->eps);
        for (int64_t i = 0; i < half; i++) {
            double cosine = tensor_at(&c->in[SPLIT_CACHE].t, at + i);
            double sine = tensor_at(&c->in[SPLIT_CACHE].t, at + half + i);
            double a = y[i], b = y[half + i];
            y[i] = a * cosine - b * sine;
            y[half + i] = b * cosine + a * sine;
        }
    }
    op_store(c, spans, 0, unit * c->n, c->n, x);
    op_store(c, spans, 1, unit * c->k, c->k, x + c->n);
    return op_store(c, spans, 2, unit * c->k, c->k, x + c->n + c->k);
}
