/*
 * Matrix products: plain, batched, quantised, by groups of tokens, and the feed-forward of experts.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "opdb/measure/op_inside.h"

static int64_t product(int64_t a, int64_t b, int64_t c)
{
    return num_most_product(num_most_product(a, b), c);
}

static void set_sizes(struct op_call *c, int64_t batch, int64_t m, int64_t n, int64_t k)
{
    c->batch = batch;
    c->m = m;
    c->n = n;
    c->k = c->depth = k;
    c->units = num_most_product(batch, m);
    c->cost.cube = num_most_product(2, product(c->units, n, k));
}

/* Which way round the operands are stored, from the two sizes of the result. A right operand that
 * fits both ways is (N,K). */
static bool find_k(struct op_call *c, const int64_t *a, const int64_t *b, int64_t m, int64_t n)
{
    for (int ta = 0; ta < 2; ta++) {
        int64_t k = a[ta ? 0 : 1];
        if (a[ta ? 1 : 0] != m)
            continue;
        for (int tb = 1; tb >= 0; tb--)
            if (b[tb ? 0 : 1] == n && b[tb ? 1 : 0] == k) {
                c->is_a_transposed = ta;
                c->is_b_transposed = tb;
                c->k = k;
                return true;
            }
    }
    return false;
}

const char *op_matmul_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *a = op_in(c, &row->in[0]), *b = op_in(c, &row->in[1]);
    const struct tensor *out = &row->out[0].t;
    int64_t m, n;

    if (a->t.rank != 2 || b->t.rank != 2)
        return op_refuse(c, "%s needs matrices, not %zu-D and %zu-D inputs", c->op->name, a->t.rank,
                         b->t.rank);
    bool has_out = row->n_out > 0 && row->out[0].is_given && out->rank == 2;
    m = has_out ? out->dim[0] : a->t.dim[0];
    n = has_out ? out->dim[1] : b->t.dim[0];
    if (!find_k(c, a->t.dim, b->t.dim, m, n))
        return op_refuse(c, "(%lld,%lld) and (%lld,%lld) do not give (%lld,%lld)",
                         (long long)a->t.dim[0], (long long)a->t.dim[1], (long long)b->t.dim[0],
                         (long long)b->t.dim[1], (long long)m, (long long)n);
    set_sizes(c, 1, m, n, c->k);
    OP_OUT(c, row, a->t.dtype, m, n);
    return NULL;
}

const char *op_batch_matmul_prepare(struct op_call *c, const struct op_row *row)
{
    const struct tensor *out = &row->out[0].t;

    if (row->in[0].t.rank == 2)
        return op_matmul_prepare(c, row);
    struct op_arg *a = op_in(c, &row->in[0]), *b = op_in(c, &row->in[1]);
    if (a->t.rank != 3 || b->t.rank != 3 || row->n_out == 0 || out->rank != 3 ||
        a->t.dim[0] != b->t.dim[0] || out->dim[0] != a->t.dim[0] || out->dim[1] != a->t.dim[1])
        return op_refuse(c, "%s needs (B,M,K), (B,K,N) or (B,N,K), and (B,M,N)", c->op->name);
    int64_t n = out->dim[2], k = a->t.dim[2];
    c->is_b_transposed = !(b->t.dim[1] == k && b->t.dim[2] == n);
    if (c->is_b_transposed && (b->t.dim[1] != n || b->t.dim[2] != k))
        return op_refuse(c, "the second operand is neither (B,K,N) nor (B,N,K)");
    set_sizes(c, a->t.dim[0], a->t.dim[1], n, k);
    op_out(c, row, a->t.dtype, 3, out->dim);
    return NULL;
}

const char *op_transpose_matmul_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *a = op_in(c, &row->in[0]), *b = op_in(c, &row->in[1]);

    if (a->t.rank != 3 || b->t.rank != 3 || a->t.dim[0] != b->t.dim[0] ||
        a->t.dim[2] != b->t.dim[1])
        return op_refuse(c, "%s needs (B,M,K) and (B,K,N)", c->op->name);
    set_sizes(c, a->t.dim[0], a->t.dim[1], b->t.dim[2], a->t.dim[2]);
    if (c->k % 128 != 0 || c->n % 128 != 0)
        return op_refuse(c, "K and N must be multiples of 128");
    if (row->n_out > 0 && (row->out[0].t.rank != 3 || row->out[0].t.dim[0] != c->m ||
                           row->out[0].t.dim[1] != c->batch || row->out[0].t.dim[2] != c->n))
        return op_refuse(c, "the output must be (M,B,N)");
    OP_OUT(c, row, a->t.dtype, c->m, c->batch, c->n);
    return NULL;
}

/* `n` sums over k of x[k] * w[...]: weights from `from` on, (K,N) or, transposed, (N,K). */
static double *times(const double *x, const struct tensor *w, int64_t from, int64_t n, int64_t k,
                     bool is_transposed, struct arena *scratch)
{
    double *out = ARENA_ARRAY(scratch, double, (size_t)n);
    double *line = ARENA_ARRAY(scratch, double, (size_t)(is_transposed ? k : n));

    for (int64_t j = 0; j < n && is_transposed; j++) {
        tensor_load(w, from + j * k, k, line);
        for (int64_t i = 0; i < k; i++)
            out[j] += x[i] * line[i];
    }
    for (int64_t i = 0; i < k && !is_transposed; i++) {
        tensor_load(w, from + i * n, n, line);
        for (int64_t j = 0; j < n; j++)
            out[j] += x[i] * line[j];
    }
    return out;
}

static double *product_row(const struct op_call *c, int64_t batch, int64_t i, struct arena *scratch)
{
    double *row = ARENA_ARRAY(scratch, double, (size_t)c->k);

    if (!c->is_a_transposed)
        tensor_load(&c->in[0].t, (batch * c->m + i) * c->k, c->k, row);
    for (int64_t j = 0; j < c->k && c->is_a_transposed; j++)
        row[j] = tensor_at(&c->in[0].t, j * c->m + i);
    return times(row, &c->in[1].t, batch * c->n * c->k, c->n, c->k, c->is_b_transposed, scratch);
}

size_t op_matmul_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                      struct arena *scratch)
{
    return op_store(c, spans, 0, unit * c->n, c->n,
                    product_row(c, unit / c->m, unit % c->m, scratch));
}

size_t op_transpose_matmul_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                                struct arena *scratch)
{
    return op_store(c, spans, 0, unit * c->n, c->n,
                    product_row(c, unit % c->batch, unit / c->batch, scratch));
}

enum op_quant_role op_quant_role(int64_t m, int64_t n, const struct tensor *t)
{
    int64_t count = tensor_count(t);

    if (t->dtype == DTYPE_I32)
        return QUANT_BIAS;
    if (t->dtype == DTYPE_F32 && count == m)
        return QUANT_PERTOKEN;
    return t->dtype == DTYPE_F32 && (count == 1 || count == n) ? QUANT_OFFSET : QUANT_NONE;
}

const char *op_quant_matmul_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x = op_in(c, &row->in[0]), *w = op_in(c, &row->in[1]);
    struct op_arg *scale = op_in(c, &row->in[2]);

    if (x->t.rank != 2 || w->t.rank != 2 || row->n_out != 1)
        return op_refuse(c, "%s needs matrices and one output", c->op->name);
    int64_t m = x->t.dim[0], k = x->t.dim[1];
    c->is_b_transposed = w->t.dim[0] != k && w->t.dim[1] == k;
    int64_t n = w->t.dim[c->is_b_transposed ? 0 : 1];
    if (w->t.dim[c->is_b_transposed ? 1 : 0] != k)
        return op_refuse(c, "the weight has %lld rows, not %lld", (long long)w->t.dim[0],
                         (long long)k);
    set_sizes(c, 1, m, n, k);
    if (tensor_count(&scale->t) != 1 && tensor_count(&scale->t) != n)
        return op_refuse(c, "the scale has %lld values, not 1 or %lld",
                         (long long)tensor_count(&scale->t), (long long)n);
    if (row->n_in > 3) {
        struct op_arg *fourth = op_in(c, &row->in[3]);
        enum op_quant_role role = op_quant_role(m, n, &fourth->t);
        if (role == QUANT_NONE)
            return op_refuse(c, "the fourth input is no bias, offset or scale of tokens");
        c->has_bias = role == QUANT_BIAS;
        c->has_pertoken = role == QUANT_PERTOKEN;
        c->has_offset = role == QUANT_OFFSET;
    }
    c->cost.vector = product(m, n, (int64_t)row->n_in - 2);
    OP_OUT(c, row, DTYPE_BF16, m, n);
    return NULL;
}

static double cycled(const struct tensor *t, int64_t i)
{
    return tensor_at(t, tensor_count(t) == 1 ? 0 : i);
}

size_t op_quant_matmul_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                            struct arena *scratch)
{
    double *row = product_row(c, 0, unit, scratch);
    const struct tensor *extra = &c->in[3].t;

    for (int64_t j = 0; j < c->n; j++) {
        if (c->has_bias)
            row[j] += cycled(extra, j);
        row[j] *= cycled(&c->in[2].t, j);
        if (c->has_pertoken)
            row[j] *= tensor_at(extra, unit);
        if (c->has_offset)
            row[j] += cycled(extra, j);
    }
    return op_store(c, spans, 0, unit * c->n, c->n, row);
}

/* x (T,K) and weight (E,K,N), a list of where the tokens of each group end. Bytes of the weight are
 * those of the groups that can have a token. */
static const char *prepare_groups(struct op_call *c, const struct op_row *row, struct op_arg **x)
{
    struct op_arg *tokens = op_in(c, &row->in[0]), *w = op_in(c, &row->in[1]);

    *x = tokens;
    if (tokens->t.rank != 2 || w->t.rank != 3 || w->t.dim[1] != tokens->t.dim[1])
        return op_refuse(c, "%s needs (T,K) and (E,K,N)", c->op->name);
    c->experts = w->t.dim[0];
    set_sizes(c, 1, tokens->t.dim[0], w->t.dim[2], tokens->t.dim[1]);
    int64_t used = c->experts < c->m ? c->experts : c->m;
    c->cost.read -= (c->experts - used) * c->n * c->k * (int64_t)tensor_element(w->t.dtype);
    struct op_arg *list = OP_MADE(c, DTYPE_I64, c->experts);
    list->fill = FILL_VALUES;
    list->values = op_split_sums(c->arena, c->m, c->experts, 0);
    return list->values == NULL ? op_refuse(c, "too many groups") : NULL;
}

const char *op_grouped_prepare(struct op_call *c, const struct op_row *row)
{
    enum { SCALE = 3, PERTOKEN = 8 };
    struct op_arg *x;
    const char *problem = prepare_groups(c, row, &x);

    if (problem != NULL)
        return problem;
    c->has_scale = row->in[SCALE].is_given;
    c->has_pertoken = row->in[PERTOKEN].is_given;
    if (c->has_scale)
        OP_MADE(c, DTYPE_F32, c->experts, c->n)->fill = FILL_ONE;
    if (c->has_pertoken) {
        if (!c->has_scale)
            OP_MADE(c, DTYPE_F32, 0);
        OP_MADE(c, DTYPE_F32, c->m)->fill = FILL_ONE;
    }
    c->cost.vector = product(c->m, c->n, c->has_scale + c->has_pertoken);
    OP_OUT(c, row, x->t.dtype == DTYPE_I8 ? DTYPE_BF16 : x->t.dtype, c->m, c->n);
    return NULL;
}

/* The row of a token, times its scales. */
static double *grouped_row(const struct op_call *c, int64_t token, struct arena *scratch)
{
    double *x = op_load(&c->in[GROUPED_X].t, token * c->k, c->k, scratch);
    int64_t g = 0;

    while (g < c->experts - 1 && (int64_t)tensor_at(&c->in[GROUPED_LIST].t, g) <= token)
        g++;
    double *row = times(x, &c->in[GROUPED_WEIGHT].t, g * c->n * c->k, c->n, c->k, false, scratch);
    for (int64_t j = 0; j < c->n && c->has_scale; j++)
        row[j] *= tensor_at(&c->in[GROUPED_SCALE].t, g * c->n + j);
    double scale = c->has_pertoken ? tensor_at(&c->in[GROUPED_PERTOKEN].t, token) : 1;
    for (int64_t j = 0; j < c->n; j++)
        row[j] *= scale;
    return row;
}

size_t op_grouped_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                       struct arena *scratch)
{
    return op_store(c, spans, 0, unit * c->n, c->n, grouped_row(c, unit, scratch));
}

const char *op_grouped_swiglu_prepare(struct op_call *c, const struct op_row *row)
{
    struct op_arg *x;
    const char *problem = prepare_groups(c, row, &x);

    if (problem != NULL)
        return problem;
    if (c->n % 2 != 0)
        return op_refuse(c, "N must be even");
    c->has_scale = c->has_pertoken = true;
    OP_MADE(c, DTYPE_F32, c->experts, c->n);
    OP_MADE(c, DTYPE_F32, c->m);
    c->cost.vector =
        num_most_sum(product(2, c->m, c->n), num_most_product(8, product(c->m, c->n / 2, 1)));
    OP_OUT(c, row, DTYPE_I8, c->m, c->n / 2);
    OP_OUT(c, row, DTYPE_F32, c->m);
    return NULL;
}

static double swish(double x)
{
    return x / (1 + exp(-x));
}

size_t op_grouped_swiglu_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                              struct arena *scratch)
{
    double *row = grouped_row(c, unit, scratch), most = 0;
    int64_t half = c->n / 2;

    for (int64_t j = 0; j < half; j++) {
        row[j] = swish(row[j]) * row[half + j];
        most = fmax(most, fabs(row[j]));
    }
    double scale = most / 127;
    for (int64_t j = 0; j < half; j++)
        row[j] = scale > 0 ? row[j] / scale : 0;
    op_store(c, spans, 0, unit * half, half, row);
    return op_store(c, spans, 1, unit, 1, &scale);
}

static const char *check_dispatch(struct op_call *c, const struct op_row *row)
{
    const struct tensor *x = &row->in[0].t, *w1 = &c->in[DISPATCH_W1].t,
                        *w2 = &c->in[DISPATCH_W2].t;
    const struct tensor *index = &row->in[3].t, *probs = &row->in[6].t;

    for (size_t i = 0; i < row->n_in; i++)
        if (!row->in[i].is_given)
            return op_refuse(c, "input %zu is missing", i);
    if (x->rank != 2 || w1->rank != 3 || w2->rank != 3 || index->rank != 2 || probs->rank != 2)
        return op_refuse(c, "needs (M,H), (E,H,N), (E,N/2,H), (M,k) and (M,k)");
    if (w1->dim[0] != w2->dim[0] || w2->dim[2] != x->dim[1] || w1->dim[1] != x->dim[1] ||
        w2->dim[1] * 2 != w1->dim[2])
        return op_refuse(c, "the weights do not fit each other");
    if (index->dim[0] != probs->dim[0] || index->dim[1] != probs->dim[1] ||
        index->dim[0] != x->dim[0] || index->dim[1] < 1)
        return op_refuse(c, "the indices do not fit the tokens");
    for (int i = 0; i < 2; i++) { /* the scales of both weights */
        int64_t count = tensor_count(&row->in[4 + i].t);
        if (count != w1->dim[0] * (i == 0 ? w1->dim[2] : w2->dim[2]))
            return op_refuse(c, "scale %d has %lld values", i + 1, (long long)count);
    }
    return NULL;
}

const char *op_dispatch_prepare(struct op_call *c, const struct op_row *row)
{
    op_in(c, &row->in[0]);
    struct op_arg *w1 = op_in(c, &row->in[1]), *w2 = op_in(c, &row->in[2]);
    const char *problem = check_dispatch(c, row);

    if (problem != NULL)
        return problem;
    if (row->runtime.ep_size > 1)
        return op_refuse_here(
            c, op_refuse(c, "EP Size %lld needs as many devices", (long long)row->runtime.ep_size));
    c->m = row->in[0].t.dim[0];
    c->k = row->in[0].t.dim[1];
    c->n = w1->t.dim[2];
    c->depth = num_most_product(c->k, c->n / 2); /* two products in a row */
    c->experts = w1->t.dim[0];
    c->top_k = row->in[3].t.dim[1];
    c->units = c->m;
    int64_t slots = c->m * c->top_k, used = c->experts < slots ? c->experts : slots;
    int64_t idle = (c->experts - used) * c->k;
    c->cost.cube = 3 * product(slots, c->k, c->n); /* 2 * H * N and 2 * N/2 * H for each slot */
    c->cost.vector = 5 * slots * (c->n / 2) + 2 * slots * c->k;
    c->cost.read -= idle * c->n * (int64_t)tensor_element(w1->t.dtype) +
                    idle * (c->n / 2) * (int64_t)tensor_element(w2->t.dtype);
    struct op_arg *index = OP_MADE(c, DTYPE_I32, c->m, c->top_k);
    index->fill = row->is_random_routing ? FILL_RANDOM : FILL_COUNT;
    index->below = c->experts;
    OP_MADE(c, DTYPE_F32, c->m, c->top_k)->fill = row->is_random_routing ? FILL_RANDOM : FILL_ONE;
    c->scale = row->is_random_routing ? 1 : 1.0 / (double)c->top_k; /* balanced: 1/k each */
    op_out_like(c, row, &row->in[0].t);
    OP_OUT(c, row, DTYPE_I32, c->experts)->t.dtype = DTYPE_I32;
    return NULL;
}

/* One expert on one token, added to `sum`. */
static void add_expert(const struct op_call *c, const double *x, int64_t expert, double weight,
                       double *sum, struct arena *scratch)
{
    int64_t half = c->n / 2;
    double *up = times(x, &c->in[DISPATCH_W1].t, expert * c->k * c->n, c->n, c->k, false, scratch);

    for (int64_t j = 0; j < half; j++)
        up[j] = swish(up[j]) * up[half + j];
    double *down =
        times(up, &c->in[DISPATCH_W2].t, expert * half * c->k, c->k, half, false, scratch);
    for (int64_t j = 0; j < c->k; j++)
        sum[j] += weight * down[j];
}

size_t op_dispatch_unit(const struct op_call *c, int64_t unit, struct op_span *spans,
                        struct arena *scratch)
{
    double *x = op_load(&c->in[DISPATCH_X].t, unit * c->k, c->k, scratch);
    double *sum = ARENA_ARRAY(scratch, double, (size_t)c->k);

    for (int64_t j = 0; j < c->top_k; j++) {
        int64_t at = unit * c->top_k + j;
        add_expert(c, x, (int64_t)tensor_at(&c->in[DISPATCH_INDEX].t, at),
                   c->scale * tensor_at(&c->in[DISPATCH_PROBS].t, at), sum, scratch);
    }
    size_t n = op_store(c, spans, 0, unit * c->k, c->k, sum);
    if (unit > 0)
        return n;
    for (int64_t e = 0; e < c->experts; e++) { /* how many tokens each expert has */
        double count = 0;
        for (int64_t i = 0; i < c->m * c->top_k; i++)
            count += tensor_at(&c->in[DISPATCH_INDEX].t, i) == (double)e;
        tensor_put(&c->out[1].t, e, count);
    }
    return op_wrote(spans, 1, 0, c->experts);
}
