/*
 * Shapes as profilers print them, and what the few telling ones say.
 */
#include "analysis/arch/arch_shapes.h"

#include <stdlib.h>

#include "analysis/arch/arch_markers.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"
#include "base/text/char.h"

static bool shapes_take_number(struct str *rest, int64_t *out)
{
    int64_t value = 0;
    size_t n = 0;

    while (n < rest->n && char_is_digit(rest->at[n]) && n < 15) {
        value = value * 10 + (rest->at[n] - '0');
        n++;
    }
    *rest = str_part(*rest, n, rest->n);
    *out = value;
    return n > 0;
}

/* "[[4, 512], [], [[4, 1], [4, 2]]]": depth 2 is one input; a list of tensors gives its first. */
static bool read_brackets(struct str text, struct shapes *out)
{
    struct arch_shape *shape = NULL;
    int depth = 0, first_at = 0;

    while (text.n > 0) {
        char c = text.at[0];
        if (char_is_digit(c)) {
            int64_t value;
            if (!shapes_take_number(&text, &value))
                return false;
            if (shape != NULL && shape->n < SHAPE_DIMS && (first_at == 0 || first_at == depth)) {
                first_at = depth;
                shape->dim[shape->n++] = value;
            }
            continue;
        }
        if (c == '[' && ++depth == 2) {
            if (out->n == SHAPE_INPUTS)
                return true;
            shape = &out->at[out->n++];
            first_at = 0;
        } else if (c == ']') {
            if (depth-- == 3)
                first_at = -1; /* later tensors of the list */
        } else if (c != '[' && c != ',' && c != ' ' && c != '-') {
            return false;
        }
        text = str_part(text, 1, text.n);
    }
    return depth == 0;
}

static bool shapes_read_table(struct str text, struct shapes *out)
{
    struct str input, dim;

    while (str_split(&text, ';', &input)) {
        if (out->n == SHAPE_INPUTS)
            return true;
        struct arch_shape *shape = &out->at[out->n++];
        input = str_trim(input);
        while (input.n > 0 && str_split(&input, ',', &dim))
            if (shape->n == SHAPE_DIMS || !num_i64(dim, &shape->dim[shape->n++]))
                return false;
    }
    return true;
}

bool shapes_read(struct str text, struct shapes *out)
{
    *out = (struct shapes){0};
    text = str_trim(text);
    if (text.n == 0)
        return false;
    return text.at[0] == '[' ? read_brackets(text, out) : shapes_read_table(text, out);
}

/* [B, N, S, D] has S tokens a sequence, [B, S, N, D] of one token is told by its 1. */
static struct arch_query query_of(const struct shapes *shapes)
{
    const struct arch_shape *q = &shapes->at[0];
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
    struct shapes shapes;

    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.kind[i] == SLICE_HOST_OP &&
            is_attention_call(capture_text(cap, cap->slices.name[i])))
            vec_push(&calls, (uint32_t)i);
    if (calls.n == m->n && calls.n > 0) {
        qsort_r(calls.at, calls.n, sizeof(*calls.at), study_by_begin, (void *)&cap->slices);
        for (size_t i = 0; i < m->n; i++)
            if (shapes_read(capture_slice_text(cap, calls.at[i], KEY_INPUT_SHAPES), &shapes))
                out.at[i] = query_of(&shapes);
    }
    vec_free(&calls);
}

struct arch_queries arch_queries_of(struct study *st, const struct arch_markers *m)
{
    struct kernel_order kernels = study_kernels(st);
    struct arch_queries out = {ARENA_ARRAY(&st->scratch, struct arch_query, m->n)};
    struct shapes shapes;
    bool any = false;

    for (size_t i = 0; i < m->n; i++) {
        struct str text =
            capture_slice_text(st->cap, kernels.at[m->at[i].kernel], KEY_INPUT_SHAPES);
        if (text.n > 0 && shapes_read(text, &shapes)) {
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
    struct shapes shapes;

    for (size_t i = from; i < to; i++)
        if (ops->at[ops->of_kernel[i]].family == ARCH_FAMILY_MATMUL &&
            shapes_read(capture_slice_text(st->cap, kernels.at[i], KEY_INPUT_SHAPES), &shapes) &&
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
    struct shapes shapes;

    for (size_t i = 0; i < kernels.n && rows.n < ROWS_SEEN; i++)
        if (ops->at[ops->of_kernel[i]].family == ARCH_FAMILY_MATMUL &&
            shapes_read(capture_slice_text(cap, kernels.at[i], KEY_INPUT_SHAPES), &shapes) &&
            shapes.at[0].n >= 2)
            vec_push(&rows, shapes.at[0].dim[shapes.at[0].n - 2]);
    for (size_t i = 0; i < cap->slices.n && rows.n < ROWS_SEEN; i++) {
        if (cap->slices.kind[i] != SLICE_HOST_OP)
            continue;
        struct str name = capture_text(cap, cap->slices.name[i]);
        if ((str_equal(name, S("aten::mm")) || str_equal(name, S("aten::addmm"))) &&
            shapes_read(capture_slice_text(cap, i, KEY_INPUT_SHAPES), &shapes)) {
            const struct arch_shape *a = &shapes.at[str_equal(name, S("aten::mm")) ? 0 : 1];
            if (a->n == 2)
                vec_push(&rows, a->dim[0]);
        }
    }
    int64_t middle = rows.n > 0 ? ranked_pick(rows.at, rows.n, rows.n / 2) : 0;
    vec_free(&rows);
    return middle;
}
