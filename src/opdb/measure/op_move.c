/*
 * Elementwise operators, copies in another order, sorting, and the way of tokens to experts and
 * back.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "opdb/measure/op_inside.h"

enum { CHUNK = 4096 }; /* elements of a unit where there are no rows */

static void by_chunks(struct op_call *c, int64_t n)
{
    c->n = n;
    c->units = (n + CHUNK - 1) / CHUNK;
}

static int64_t chunk_size(const struct op_call *c, int64_t unit)
{
    int64_t left = c->n - unit * CHUNK;

    return left < CHUNK ? left : CHUNK;
}

static size_t store_chunk(const struct op_call *c, int64_t unit, const double *x,
                          struct op_span *spans)
{
    return op_store(c, spans, 0, unit * CHUNK, chunk_size(c, unit), x);
}

/* `small` is the last dimensions of `large`, with ones before them: it repeats. */
static bool repeats(const struct tensor *small, const struct tensor *large)
{
    int64_t n = tensor_count(small), same = 1;

    for (size_t i = 0; i < small->rank && tensor_back(small, i) == tensor_back(large, i); i++)
        same *= tensor_back(small, i);
    return n == same || n == 1;
}

/* One operation for each element of `x`. */
static const char *by_elements(struct op_call *c, const struct op_row *row, const struct tensor *x)
{
    by_chunks(c, tensor_count(x));
    c->cost.vector = c->n;
    op_out_like(c, row, x);
    return NULL;
}

const char *op_add_prepare(struct op_call *c, const struct op_row *row)
{
    const struct op_slot *a = &row->in[0], *b = &row->in[1];
    bool is_two = row->n_in > 1;

    if (is_two && tensor_count(&b->t) > tensor_count(&a->t)) {
        a = &row->in[1];
        b = &row->in[0];
    }
    struct op_arg *x = op_in(c, a);
    if (is_two && !repeats(&op_in(c, b)->t, &x->t))
        return op_refuse(c, "the shapes do not fit each other");
    return by_elements(c, row, &x->t);
}

size_t op_add_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                   struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * CHUNK, chunk_size(c, unit), scratch);
    int64_t m = c->n_in > 1 ? tensor_count(&c->in[1].t) : 1;

    for (int64_t i = 0; i < chunk_size(c, unit); i++)
        x[i] += c->n_in > 1 ? tensor_at(&c->in[1].t, (unit * CHUNK + i) % m) : 1;
    return store_chunk(c, unit, x, spans);
}

const char *op_masked_fill_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]), *mask = op_in(c, &row->in[1]);

    mask->t.dtype = DTYPE_BOOL;
    if (!repeats(&mask->t, &x->t))
        return op_refuse(c, "the mask does not fit the shape");
    return by_elements(c, row, &x->t);
}

size_t op_masked_fill_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                           struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * CHUNK, chunk_size(c, unit), scratch);
    int64_t m = tensor_count(&c->in[1].t);

    for (int64_t i = 0; i < chunk_size(c, unit); i++)
        if (tensor_at(&c->in[1].t, (unit * CHUNK + i) % m) != 0)
            x[i] = 0;
    return store_chunk(c, unit, x, spans);
}

const char *op_tensor_move_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);

    by_chunks(c, tensor_count(&x->t));
    c->cost.read = c->cost.written = tensor_bytes(&x->t);
    op_out_like(c, row, &x->t);
    return NULL;
}

size_t op_tensor_move_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                           struct arena *scratch)
{
    return store_chunk(c, unit, op_load(&c->in[0].t, unit * CHUNK, chunk_size(c, unit), scratch),
                       spans);
}

void op_transpose_axes(const struct tensor *in, const struct tensor *out, int64_t axis[2])
{
    size_t n = 0;

    for (size_t i = 0; i < in->rank && i < out->rank && n < 2; i++)
        if (in->dim[i] != out->dim[i])
            axis[n++] = (int64_t)i;
    if (n < 2) {
        axis[0] = 0;
        axis[1] = in->rank > 1 ? 1 : 0;
    }
}

const char *op_transpose_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);
    int64_t dim[TENSOR_RANK];

    if (x->t.rank == 0)
        return op_refuse(c, "the input has no dimensions");
    op_transpose_axes(&x->t, &row->out[0].t, c->axis);
    memcpy(dim, x->t.dim, sizeof(dim));
    dim[c->axis[0]] = x->t.dim[c->axis[1]];
    dim[c->axis[1]] = x->t.dim[c->axis[0]];
    by_chunks(c, tensor_count(&x->t));
    c->cost.read = c->cost.written = tensor_bytes(&x->t);
    op_out(c, row, x->t.dtype, x->t.rank, dim)->t.dtype = x->t.dtype;
    return NULL;
}

size_t op_transpose_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                         struct arena *scratch)
{
    const struct tensor *in = &c->in[0].t, *out = &c->out[0].t;
    double *x = ARENA_ARRAY(scratch, double, CHUNK);
    int64_t step[TENSOR_RANK] = {0}, size = 1;

    for (size_t i = in->rank; i-- > 0; size *= in->dim[i])
        step[i] = size;
    int64_t swapped = step[c->axis[0]];
    step[c->axis[0]] = step[c->axis[1]];
    step[c->axis[1]] = swapped;
    for (int64_t i = 0; i < chunk_size(c, unit); i++) {
        int64_t rest = unit * CHUNK + i, from = 0;
        for (size_t k = out->rank; k-- > 0; rest /= out->dim[k])
            from += rest % out->dim[k] * step[k];
        x[i] = tensor_at(in, from);
    }
    return store_chunk(c, unit, x, spans);
}

/* Both have one rank, and the first is nowhere larger. */
static bool fits_in(const struct tensor *small, const struct tensor *large)
{
    for (size_t i = 0; i < small->rank && small->rank == large->rank; i++)
        if (small->dim[i] > large->dim[i])
            return false;
    return small->rank == large->rank && small->rank > 0;
}

const char *op_slice_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);

    if (row->n_out == 0 || !fits_in(&row->out[0].t, &x->t))
        return op_refuse(c, "the output is no part of the input");
    struct op_arg *out = op_out_like(c, row, &row->out[0].t);
    out->t.dtype = x->t.dtype;
    c->units = tensor_rows(&out->t);
    c->cost.read = c->cost.written = tensor_bytes(&out->t);
    return NULL;
}

/* Where row `unit` of a part begins in the whole, both counted in elements; false: outside. */
static bool row_in(const struct tensor *part, const struct tensor *whole, int64_t unit, int64_t *at)
{
    int64_t step = tensor_back(whole, 0);

    *at = 0;
    for (size_t k = part->rank - 1; k-- > 0; unit /= part->dim[k]) {
        int64_t place = unit % part->dim[k];
        if (place >= whole->dim[k])
            return false;
        *at += place * step;
        step *= whole->dim[k];
    }
    return true;
}

size_t op_slice_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                     struct arena *scratch)
{
    const struct tensor *in = &c->in[0].t, *out = &c->out[0].t;
    int64_t n = tensor_back(out, 0), from = 0;

    row_in(out, in, unit, &from);
    return op_store(c, spans, 0, unit * n, n, op_load(in, from, n, scratch));
}

const char *op_pad_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);

    if (row->n_out == 0 || !fits_in(&x->t, &row->out[0].t))
        return op_refuse(c, "the output is smaller than the input");
    struct op_arg *out = op_out_like(c, row, &row->out[0].t);
    out->t.dtype = x->t.dtype;
    c->units = tensor_rows(&out->t);
    c->cost.read = tensor_bytes(&x->t);
    c->cost.written = tensor_bytes(&out->t);
    return NULL;
}

size_t op_pad_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                   struct arena *scratch)
{
    const struct tensor *in = &c->in[0].t, *out = &c->out[0].t;
    int64_t n = tensor_back(out, 0), m = tensor_back(in, 0), from;
    double *x = ARENA_ARRAY(scratch, double, (size_t)n);

    if (row_in(out, in, unit, &from))
        tensor_load(in, from, m, x);
    return op_store(c, spans, 0, unit * n, n, x);
}

/* Rows of the source: all but its first dimension. */
static int64_t row_size(const struct tensor *t)
{
    return t->rank > 0 && t->dim[0] > 0 ? tensor_count(t) / t->dim[0] : 0;
}

const char *op_gather_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *weight = op_in(c, &row->in[0]), *index = op_in(c, &row->in[1]);
    int64_t dim[TENSOR_RANK];
    size_t rank = index->t.rank;

    if (weight->t.rank < 1 || rank + weight->t.rank - 1 > TENSOR_RANK ||
        dtype_is_float(index->t.dtype) || weight->t.dim[0] < 1)
        return op_refuse(c, "%s needs a table and whole numbers", c->op->name);
    memcpy(dim, index->t.dim, rank * sizeof(*dim));
    memcpy(dim + rank, weight->t.dim + 1, (weight->t.rank - 1) * sizeof(*dim));
    c->n = row_size(&weight->t);
    c->units = tensor_count(&index->t);
    index->below = weight->t.dim[0] < 8 ? weight->t.dim[0] : 8;
    struct op_arg *out = op_out(c, row, weight->t.dtype, rank + weight->t.rank - 1, dim);
    out->t.dtype = weight->t.dtype;
    c->cost.written = tensor_bytes(&out->t);
    c->cost.read = c->cost.written + tensor_bytes(&index->t);
    return NULL;
}

const char *op_index_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);
    enum dtype type = row->in[row->n_in - 1].t.dtype;
    int64_t dim[TENSOR_RANK], r = row->out[0].t.rank > 0 ? row->out[0].t.dim[0] : 0;

    if (row->n_in != 4 || (type != DTYPE_I32 && type != DTYPE_I64))
        return op_refuse(c, "Index expects 4 inputs, the last INT32 or INT64");
    if (row->n_out == 0 || x->t.rank < 1 || r <= 0 || r > x->t.dim[0])
        return op_refuse(c, "the output has %lld rows", (long long)r);
    OP_MADE(c, type, r)->fill = FILL_COUNT;
    memcpy(dim, x->t.dim, sizeof(dim));
    dim[0] = r;
    c->n = row_size(&x->t);
    c->units = r;
    struct op_arg *out = op_out(c, row, x->t.dtype, x->t.rank, dim);
    out->t.dtype = x->t.dtype;
    c->cost.written = tensor_bytes(&out->t);
    c->cost.read = c->cost.written + r * (int64_t)tensor_element(type);
    return NULL;
}

size_t op_gather_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                      struct arena *scratch)
{
    int64_t from = (int64_t)tensor_at(&c->in[1].t, unit) * c->n;

    return op_store(c, spans, 0, unit * c->n, c->n, op_load(&c->in[0].t, from, c->n, scratch));
}

const char *op_scatter_prepare(struct op_call *c, const struct op_row *row)
{
    const struct tensor *data = &row->in[0].t;
    struct op_arg *index = op_in(c, &row->in[1]), *updates = op_in(c, &row->in[2]);

    c->n = row_size(data);
    c->m = c->units = tensor_count(&index->t);
    if (data->rank < 1 || row_size(&updates->t) != c->n || updates->t.dim[0] != c->m ||
        c->m > data->dim[0] || dtype_is_float(index->t.dtype) || tensor_back(&index->t, 0) != 1)
        return op_refuse(c, "needs (S,D), (N,1) and (N,D) with N at most S");
    index->fill = FILL_DISTINCT;
    index->below = data->dim[0];
    c->cost.written = tensor_bytes(&updates->t);
    c->cost.read = tensor_bytes(&index->t) + c->cost.written;
    struct op_arg *out = op_out_like(c, row, data);
    out->t.dtype = data->dtype;
    out->fill = FILL_RANDOM;
    return NULL;
}

size_t op_scatter_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                       struct arena *scratch)
{
    int64_t to = (int64_t)tensor_at(&c->in[0].t, unit) * c->n;

    return op_store(c, spans, 0, to, c->n, op_load(&c->in[1].t, unit * c->n, c->n, scratch));
}

const char *op_reshape_cache_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *key = op_in(c, &row->in[0]), *value = op_in(c, &row->in[1]);
    struct op_arg *slots = op_in(c, &row->in[4]);
    const struct tensor *caches[] = {&row->in[2].t, &row->in[3].t};

    c->m = c->units = tensor_count(&slots->t);
    if (key->t.rank != 3 || value->t.rank != 3 || slots->t.rank != 1 || key->t.dim[0] != c->m ||
        value->t.dim[0] != c->m || caches[0]->rank != 4 || caches[1]->rank != 4)
        return op_refuse(c, "needs (T,h,d) twice, two 4-D caches and (T)");
    c->n = row_size(&key->t);
    c->k = row_size(&value->t);
    int64_t places = caches[0]->dim[0] * caches[0]->dim[1];
    if (tensor_count(caches[0]) != places * c->n || tensor_count(caches[1]) != places * c->k ||
        c->m > places)
        return op_refuse(c, "the caches do not fit the keys and values");
    slots->t.dtype = DTYPE_I32;
    slots->fill = FILL_DISTINCT;
    slots->below = places;
    c->cost.written = tensor_bytes(&key->t) + tensor_bytes(&value->t);
    c->cost.read = c->cost.written + tensor_bytes(&row->in[4].t);
    for (size_t i = 0; i < 2; i++)
        op_out_like(c, row, caches[i])->t.dtype = caches[i]->dtype;
    return NULL;
}

size_t op_reshape_cache_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                             struct arena *scratch)
{
    int64_t place = (int64_t)tensor_at(&c->in[2].t, unit);
    size_t n = 0;

    for (size_t i = 0; i < 2; i++) {
        int64_t size = i == 0 ? c->n : c->k;
        n = op_store(c, spans, i, place * size, size,
                     op_load(&c->in[i].t, unit * size, size, scratch));
    }
    return n;
}

static struct op_arg *last_axis(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]);

    c->n = tensor_back(&x->t, 0);
    c->units = tensor_rows(&x->t);
    return x;
}

const char *op_sort_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = last_axis(c, row);
    int64_t levels = 0;

    while (levels < 62 && (INT64_C(1) << levels) < c->n)
        levels++;
    c->cost.vector = num_most_product(tensor_count(&x->t), levels);
    op_out_like(c, row, &x->t)->t.dtype = x->t.dtype;
    op_out(c, row, DTYPE_I32, x->t.rank, x->t.dim);
    return NULL;
}

struct ranked_value {
    double value;
    int64_t at;
};

ORDER_BY(by_value, struct ranked_value, ORDER(y->value, x->value) ?: ORDER(x->at, y->at));

size_t op_sort_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                    struct arena *scratch)
{
    struct ranked_value *list = ARENA_ARRAY(scratch, struct ranked_value, (size_t)c->n);

    for (int64_t i = 0; i < c->n; i++)
        list[i] = (struct ranked_value){tensor_at(&c->in[0].t, unit * c->n + i), i};
    qsort(list, (size_t)c->n, sizeof(*list), by_value);
    for (int64_t i = 0; i < c->n; i++) {
        tensor_put(&c->out[0].t, unit * c->n + i, list[i].value);
        tensor_put(&c->out[1].t, unit * c->n + i, (double)list[i].at);
    }
    op_wrote(spans, 0, unit * c->n, c->n);
    return op_wrote(spans, 1, unit * c->n, c->n);
}

double op_sort_worth(const struct op_call *c, int64_t unit, int64_t place,
                     struct arena *scratch __attribute__((unused)))
{
    return place >= 0 && place < c->n ? tensor_at(&c->in[0].t, unit * c->n + place) : NAN;
}

const char *op_argmax_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = last_axis(c, row);

    c->cost.vector = tensor_count(&x->t);
    op_out(c, row, DTYPE_I64, x->t.rank > 0 ? x->t.rank - 1 : 0, x->t.dim);
    return c->n > 0 ? NULL : op_refuse(c, "the last dimension is empty");
}

size_t op_argmax_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                      struct arena *scratch)
{
    double *x = op_load(&c->in[0].t, unit * c->n, c->n, scratch);
    int64_t best = 0;

    for (int64_t i = 1; i < c->n; i++)
        if (x[i] > x[best])
            best = i;
    return op_store(c, spans, 0, unit, 1, &(double){(double)best});
}

const char *op_permute_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *tokens = op_in(c, &row->in[0]), *index = op_in(c, &row->in[1]);

    c->m = c->units = tensor_count(&index->t);
    if (tokens->t.rank != 2 || tokens->t.dim[0] < 1 || c->m % tokens->t.dim[0] != 0 ||
        dtype_is_float(index->t.dtype))
        return op_refuse(c, "needs tokens (T,H) and indices (T,k)");
    c->n = tokens->t.dim[1];
    c->top_k = c->m / tokens->t.dim[0];
    c->cost.read = tensor_bytes(&tokens->t) + tensor_bytes(&index->t);
    c->cost.written = c->m * c->n * (int64_t)tensor_element(tokens->t.dtype) + 4 * c->m;
    OP_OUT(c, row, tokens->t.dtype, c->m, c->n)->t.dtype = tokens->t.dtype;
    OP_OUT(c, row, DTYPE_I32, c->m);
    return NULL;
}

size_t op_permute_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                       struct arena *scratch)
{
    double own = tensor_at(&c->in[1].t, unit);
    int64_t to = 0; /* the place of its index among all, by value and then by order */

    for (int64_t k = 0; k < c->m; k++) {
        double other = tensor_at(&c->in[1].t, k);
        to += other < own || (other == own && k < unit);
    }
    op_store(c, spans, 0, to * c->n, c->n,
             op_load(&c->in[0].t, unit / c->top_k * c->n, c->n, scratch));
    return op_store(c, spans, 1, unit, 1, &(double){(double)to});
}

const char *op_unpermute_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]), *sorted = op_in(c, &row->in[1]);

    c->has_scale = row->n_in > 2 && row->in[2].t.dtype != DTYPE_NONE;
    c->m = tensor_count(&sorted->t);
    if (x->t.rank != 2 || x->t.dim[0] != c->m || dtype_is_float(sorted->t.dtype))
        return op_refuse(c, "needs (T*k,H) and (T*k)");
    c->n = x->t.dim[1];
    c->units = c->m;
    sorted->fill = FILL_DISTINCT;
    sorted->below = c->m;
    if (c->has_scale) {
        struct op_arg *probs = op_in(c, &row->in[2]);
        c->units = probs->t.rank == 2 ? probs->t.dim[0] : 0;
        if (c->units < 1 || tensor_count(&probs->t) != c->m)
            return op_refuse(c, "needs probabilities (T,k)");
        c->cost.vector = 2 * c->m * c->n;
    }
    c->top_k = c->m / (c->units > 0 ? c->units : 1);
    OP_OUT(c, row, x->t.dtype, c->units, c->n);
    return NULL;
}

size_t op_unpermute_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                         struct arena *scratch)
{
    double *sum = ARENA_ARRAY(scratch, double, (size_t)c->n);

    for (int64_t j = 0; j < c->top_k; j++) {
        int64_t at = unit * c->top_k + j, from = (int64_t)tensor_at(&c->in[1].t, at);
        double weight = c->has_scale ? tensor_at(&c->in[2].t, at) : 1;
        double *x = op_load(&c->in[0].t, from * c->n, c->n, scratch);
        for (int64_t i = 0; i < c->n; i++)
            sum[i] += weight * x[i];
    }
    return op_store(c, spans, 0, unit * c->n, c->n, sum);
}
