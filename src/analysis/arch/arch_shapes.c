/*
 * What the few telling shapes say.
 */
#include "analysis/arch/arch_shapes.h"

#include <stdlib.h>

#include "analysis/arch/arch_markers.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"
#include "base/text/char.h"

bool arch_shapes_read(struct str text, struct tensor_shapes *out)
{
    *out = tensor_shapes_read(text);
    return out->n > 0 && !out->is_damaged;
}

/* [B, N, S, D] has S tokens a sequence, [B, S, N, D] of one token is told by its 1. */
static struct arch_query query_of(const struct tensor_shapes *shapes)
{
    const struct tensor_shape *q = &shapes->at[0];
    int64_t sequences = 0;

    if (shapes->n == 0 || q->n < 3 || q->n > 4)
        return (struct arch_query){0};
    if (q->n == 4) {
        int64_t length = q->dim[1] == 1 ? 1 : q->dim[2];
        return (struct arch_query){q->dim[0] * length, q->dim[0]};
    }
    /* Keys of another width: [S, B, heads x size] or [B, S, heads x size], and which is not known.
     */
    if (shapes->n > 1 && shapes->at[1].n == 3 && shapes->at[1].dim[2] != q->dim[2])
        return (struct arch_query){0};
    /* [tokens, heads, size]: the sequence lengths are the only list beside it */
    for (size_t i = 1; i < shapes->n && sequences == 0; i++)
        if (shapes->at[i].n == 1)
            sequences = shapes->at[i].dim[0];
    return (struct arch_query){q->dim[0], sequences};
}

static bool is_attention_call(struct str name)
{
    return str_equal(name, S("aten::scaled_dot_product_attention")) ||
           str_equal(name, S("flash_attn::_flash_attn_forward")) ||
           str_equal(name, S("vllm::unified_attention"));
}

/* Host calls of attention launch the markers in order: when there are as many of both, the n-th
 * call is the n-th marker's. */
static void from_host(struct study *st, const struct arch_markers *m, struct arch_queries out)
{
    const struct capture *cap = st->cap;
    VEC_OF(uint32_t) calls = {0};
    struct tensor_shapes shapes;

    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.kind[i] == SLICE_HOST_OP &&
            is_attention_call(capture_text(cap, cap->slices.name[i])))
            vec_push(&calls, (uint32_t)i);
    if (calls.n == m->n && calls.n > 0) {
        qsort_r(calls.at, calls.n, sizeof(*calls.at), study_by_begin, (void *)&cap->slices);
        for (size_t i = 0; i < m->n; i++)
            if (arch_shapes_read(capture_slice_text(cap, calls.at[i], KEY_INPUT_SHAPES), &shapes))
                out.at[i] = query_of(&shapes);
    }
    vec_free(&calls);
}

struct arch_queries arch_queries_of(struct study *st, const struct arch_markers *m)
{
    struct kernel_order kernels = study_kernels(st);
    struct arch_queries out = {ARENA_ARRAY(&st->scratch, struct arch_query, m->n)};
    struct tensor_shapes shapes;
    bool any = false;

    for (size_t i = 0; i < m->n; i++) {
        struct str text =
            capture_slice_text(st->cap, kernels.at[m->at[i].kernel], KEY_INPUT_SHAPES);
        if (text.n > 0 && arch_shapes_read(text, &shapes)) {
            out.at[i] = query_of(&shapes);
            any = true;
        }
    }
    if (!any)
        from_host(st, m, out);
    return out;
}

int64_t arch_rows_between(struct study *st, const struct arch_ops *ops, size_t from, size_t to)
{
    struct kernel_order kernels = study_kernels(st);
    struct tensor_shapes shapes;

    for (size_t i = from; i < to; i++)
        if (ops->at[ops->of_kernel[i]].family == KERNEL_ROLE_MATMUL &&
            arch_shapes_read(capture_slice_text(st->cap, kernels.at[i], KEY_INPUT_SHAPES),
                             &shapes) &&
            shapes.at[0].n >= 2)
            return shapes.at[0].dim[shapes.at[0].n - 2];
    return 0;
}

enum { ROWS_SEEN = 4096 }; /* more of them do not move the middle */

int64_t arch_matmul_rows(struct study *st, const struct arch_ops *ops)
{
    const struct capture *cap = st->cap;
    struct kernel_order kernels = study_kernels(st);
    VEC_OF(int64_t) rows = {0};
    struct tensor_shapes shapes;

    for (size_t i = 0; i < kernels.n && rows.n < ROWS_SEEN; i++)
        if (ops->at[ops->of_kernel[i]].family == KERNEL_ROLE_MATMUL &&
            arch_shapes_read(capture_slice_text(cap, kernels.at[i], KEY_INPUT_SHAPES), &shapes) &&
            shapes.at[0].n >= 2)
            vec_push(&rows, shapes.at[0].dim[shapes.at[0].n - 2]);
    for (size_t i = 0; i < cap->slices.n && rows.n < ROWS_SEEN; i++) {
        if (cap->slices.kind[i] != SLICE_HOST_OP)
            continue;
        struct str name = capture_text(cap, cap->slices.name[i]);
        if ((str_equal(name, S("aten::mm")) || str_equal(name, S("aten::addmm"))) &&
            arch_shapes_read(capture_slice_text(cap, i, KEY_INPUT_SHAPES), &shapes)) {
            const struct tensor_shape *a = &shapes.at[str_equal(name, S("aten::mm")) ? 0 : 1];
            if (a->n == 2)
                vec_push(&rows, a->dim[0]);
        }
    }
    int64_t middle = rows.n > 0 ? ranked_pick(rows.at, rows.n, rows.n / 2) : 0;
    vec_free(&rows);
    return middle;
}
