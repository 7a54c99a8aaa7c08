/*
 * Communication as one rank sees it: all views are local, so transfers are copies. Operands are in
 * the order of the text, views before and after the staging tiles, which are not touched.
 */
#include "kernels/pto/values/func_call.h"

static enum status signal_of(struct func_call *c, struct pto_view *v, struct pto_scalar *value)
{
    TRY(func_in_view(c, 0, v));
    TRY(func_value(c, 1, value));
    if (pto_view_rows(v) > 0 && pto_view_cols(v) > 0 && !pto_dtype_is_float(v->dtype))
        return ST_OK;
    return func_bad_shape(c, "the signal is not an integer in GM");
}

enum status func_notify(struct func_call *c)
{
    struct pto_view v;
    struct pto_scalar value;
    TRY(signal_of(c, &v, &value));
    uint64_t old = c->attrs->notify == PTO_NOTIFY_ADD ? func_view_at(&v, 0, 0) : 0;
    func_view_set(&v, 0, 0, pto_elem_from_i64((int64_t)(old + value.bits), v.dtype));
    return ST_OK;
}

/* The numbers of wait_cmp are in another order than those of cmp. */
static const enum pto_cmp as_cmp[] = {
    [PTO_WAIT_EQ] = PTO_CMP_EQ, [PTO_WAIT_NE] = PTO_CMP_NE, [PTO_WAIT_GT] = PTO_CMP_GT,
    [PTO_WAIT_GE] = PTO_CMP_GE, [PTO_WAIT_LT] = PTO_CMP_LT, [PTO_WAIT_LE] = PTO_CMP_LE,
};

/* Whether the signal compares true now; the caller decides what an unmet wait means. */
enum status func_test(struct func_call *c)
{
    struct pto_view v;
    struct pto_scalar value;
    TRY(signal_of(c, &v, &value));
    bool met = func_compare(as_cmp[(size_t)c->attrs->wait_cmp % ARRAY_LEN(as_cmp)],
                            func_view_at(&v, 0, 0), v.dtype, value.bits, value.dtype);
    if (c->args->n_outs > 0 && c->args->outs[0].kind == PTO_OPERAND_VALUE &&
        c->args->outs[0].u.value != NULL)
        *c->args->outs[0].u.value = (struct pto_scalar){PTO_I1, met};
    return ST_OK;
}

/* The numbers of reduce are the first ones of func_join. */
_Static_assert((int)PTO_REDUCE_SUM == FUNC_SUM && (int)PTO_REDUCE_MAX == FUNC_MAX &&
                   (int)PTO_REDUCE_MIN == FUNC_MIN,
               "reductions");

enum rule { COPY, ADD, REDUCE };

/* n elements of src from number `s` to those of dst from `d`, both counted through their rows. */
static enum status transfer(struct func_call *c, const struct pto_view *dst, int64_t d,
                            const struct pto_view *src, int64_t s, int64_t n, enum rule rule)
{
    int64_t to = pto_view_cols(dst), from = pto_view_cols(src);
    TRY(func_same_size(c, dst->dtype, src->dtype));
    for (int64_t k = 0; k < n; k++) {
        int64_t y = (d + k) / to, x = (d + k) % to;
        uint64_t bits = func_view_at(src, (s + k) / from, (s + k) % from);
        if (rule == ADD)
            bits = func_add(func_view_at(dst, y, x), bits, dst->dtype);
        else if (rule == REDUCE)
            bits = func_joined((enum func_join)c->attrs->reduce, func_view_at(dst, y, x), bits,
                               dst->dtype);
        func_view_set(dst, y, x, bits);
    }
    return ST_OK;
}

static int64_t count_of(const struct pto_view *v)
{
    return pto_view_rows(v) * pto_view_cols(v);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum status func_put(struct func_call *c)
{
    struct pto_view dst, src;
    TRY(func_in_view(c, 0, &dst));
    TRY(func_in_view(c, 1, &src));
    return transfer(c, &dst, 0, &src, 0, smaller(count_of(&dst), count_of(&src)),
                    c->attrs->atomic == 1 ? ADD : COPY);
}

/* The first operand is the whole; the later views are the members of the group in order. */
enum status func_collect(struct func_call *c)
{
    int how = c->how;
    struct pto_view whole, part;
    int64_t done = 0;
    TRY(func_in_view(c, 0, &whole));
    int64_t total = count_of(&whole);
    for (size_t i = 1; i < c->args->n_ins; i++) {
        if (c->args->ins[i].kind != PTO_OPERAND_VIEW)
            continue;
        TRY(func_in_view(c, i, &part));
        bool shared = how == FUNC_BROADCAST || how == FUNC_REDUCTION;
        int64_t n = smaller(count_of(&part), shared ? total : total - done);
        int64_t at = shared ? 0 : done;
        if (how == FUNC_BROADCAST || how == FUNC_SCATTER)
            TRY(transfer(c, &part, 0, &whole, at, n, COPY));
        else
            TRY(transfer(c, &whole, at, &part, 0, n,
                         how == FUNC_GATHER || done == 0 ? COPY : REDUCE));
        done += count_of(&part);
        done = smaller(done, total);
    }
    return ST_OK;
}
