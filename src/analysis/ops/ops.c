/*
 * Kernels put together by operator, and ranked.
 */
#include "analysis/ops/ops.h"

#include <stdlib.h>

#include "analysis/idle/waits.h"
#include "analysis/study.h"

__extension__ typedef __int128 wide; /* products of two times */

enum { ANCHOR_RANK = 10 };

struct str op_without_number(struct str name)
{
    size_t n = name.n - str_last_digits(name);

    if (n < name.n && n > 0 && name.at[n - 1] == '_')
        n--;
    return n > 0 ? str_part(name, 0, n) : name;
}

static struct str ops_key_of(const struct capture *cap, size_t slice, bool is_ascend)
{
    struct str type = capture_slice_text(cap, slice, KEY_TYPE);
    struct str name = capture_text(cap, cap->slices.name[slice]);

    if (!is_ascend)
        return name;
    return num_is_missing(type) ? op_without_number(name) : type;
}

const struct op_names *ops_names(struct study *st)
{
    struct kernel_order kernels = study_kernels(st);
    bool is_ascend = capture_is_ascend(st->cap);
    struct intern keys;

    if (st->op_names != NULL)
        return st->op_names;
    struct op_names *names = ARENA_NEW(&st->scratch, struct op_names);
    names->of_kernel = ARENA_ARRAY(&st->scratch, uint32_t, kernels.n);
    intern_init(&keys);
    for (size_t i = 0; i < kernels.n; i++)
        names->of_kernel[i] = intern_put(&keys, ops_key_of(st->cap, kernels.at[i], is_ascend));
    names->n = keys.strings.n;
    names->text = ARENA_ARRAY(&st->scratch, struct str, names->n);
    names->place = ARENA_ARRAY(&st->scratch, uint32_t, names->n);
    for (size_t i = 0; i < names->n; i++)
        names->text[i] = arena_str(&st->scratch, keys.strings.at[i]);
    intern_fini(&keys);
    st->op_names = names;
    return names;
}

static void ops_count(struct study *st, struct op *op, size_t kernel)
{
    size_t slice = study_kernels(st).at[kernel];
    const struct waits *waits = study_waits(st);
    nanos duration = st->cap->slices.dur[slice];

    op->calls++;
    op->duration = nanos_add(op->duration, duration);
    if (waits->at[kernel] < 0)
        return;
    op->waited_calls++;
    op->waited_duration = nanos_add(op->waited_duration, duration);
    op->wait = nanos_add(op->wait, waits->at[kernel]);
    op->polluted_wait = nanos_add(op->polluted_wait, waits->polluted[kernel]);
    op->is_polluted |= waits->polluted[kernel] > 0;
}

/* wait ratio above 0.95, duration below 10 us, among the ten costliest; on integers, so that the
 * limits themselves are not flagged. */
static bool is_anchor(const struct op *op)
{
    nanos cost = nanos_add(op->waited_duration, op->wait);

    return op->cost_rank <= ANCHOR_RANK && op->waited_calls > 0 &&
           (wide)op->wait * 100 > (wide)cost * 95 &&
           op->waited_duration < (nanos)op->waited_calls * 10000;
}

ORDER_BY(costliest_first, struct op,
         ORDER(y->total_cost_us_avg, x->total_cost_us_avg) ?: str_compare(x->key, y->key));

static int longest_first(const void *a, const void *b)
{
    const struct op *x = *(const struct op *const *)a, *y = *(const struct op *const *)b;

    return ORDER(y->duration, x->duration) ?: str_compare(x->key, y->key);
}

static void rank(struct study *st, struct ops *ops)
{
    if (ops->n == 0)
        return;
    qsort(ops->by_cost, ops->n, sizeof(*ops->by_cost), costliest_first);
    ops->by_duration = ARENA_ARRAY(&st->scratch, const struct op *, ops->n);
    for (size_t i = 0; i < ops->n; i++) {
        ops->by_cost[i].cost_rank = i + 1;
        ops->by_cost[i].is_anchor = is_anchor(&ops->by_cost[i]);
        ops->by_duration[i] = &ops->by_cost[i];
    }
    qsort(ops->by_duration, ops->n, sizeof(*ops->by_duration), longest_first);
    for (size_t i = 0; i < ops->n; i++)
        ops->by_cost[ops->by_duration[i] - ops->by_cost].duration_rank = i + 1;
}

/* The entry of a kernel's operator, added when it is new. */
static struct op *ops_op_of(struct study *st, struct ops *ops, uint32_t *place, size_t kernel)
{
    const struct op_names *names = ops_names(st);
    uint32_t name = names->of_kernel[kernel];

    if (place[name] == 0) {
        size_t slice = study_kernels(st).at[kernel];
        struct attr core = capture_slice_attr(st->cap, slice, KEY_CORE);
        ops->by_cost[ops->n++] = (struct op){
            .key = names->text[name],
            .core = core.type == ATTR_TEXT ? core.text : 0,
            .example = slice,
        };
        place[name] = (uint32_t)ops->n;
    }
    return &ops->by_cost[place[name] - 1];
}

const struct ops *ops_find(struct study *st, size_t from, size_t to)
{
    const struct op_names *names = ops_names(st);
    struct kernel_order kernels = study_kernels(st);
    struct ops *ops = ARENA_NEW(&st->scratch, struct ops);
    size_t most = to - from < names->n ? to - from : names->n;

    ops->by_cost = ARENA_ARRAY(&st->scratch, struct op, most);
    for (size_t i = from; i < to; i++) {
        ops_count(st, ops_op_of(st, ops, names->place, i), i);
        ops->kernel_sum = nanos_add(ops->kernel_sum, st->cap->slices.dur[kernels.at[i]]);
    }
    for (size_t i = from; i < to; i++)
        names->place[names->of_kernel[i]] = 0;
    for (size_t i = 0; i < ops->n; i++) {
        struct op *op = &ops->by_cost[i];
        double calls = (double)op->waited_calls;
        nanos cost = nanos_add(op->waited_duration, op->wait);
        if (op->waited_calls == 0)
            continue;
        op->duration_us_avg = (double)op->waited_duration / calls / 1000;
        op->wait_us_avg = (double)op->wait / calls / 1000;
        op->total_cost_us_avg = (double)cost / calls / 1000;
        op->wait_ratio = num_share(op->wait, cost);
    }
    rank(st, ops);
    return ops;
}
