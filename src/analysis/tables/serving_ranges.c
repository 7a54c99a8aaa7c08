/* Iterations that a serving engine marks on its threads. */
#include <stdlib.h>

#include "analysis/tables/serving.h"

ORDER_BY(by_begin, struct serving_range,
         ORDER(x->at.begin, y->at.begin) ?: ORDER(y->at.end, x->at.end)
         ?: ORDER(x->name, y->name));

/* Leaves the outer one of nested ranges; gives how many there are. */
static size_t keep_outer(struct serving_range *list, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && list[i].at.begin < list[kept - 1].at.end) {
            /* An inner range may say what an outer one leaves open. */
            struct serving_name *outer = &list[kept - 1].what;
            if (outer->kind == SERVING_UNKNOWN && list[i].what.kind != SERVING_UNKNOWN)
                *outer = list[i].what;
        } else
            list[kept++] = list[i];
    }
    return kept;
}

struct serving_ranges serving_ranges_find(struct study *st)
{
    const struct capture *cap = st->cap;
    const struct slices *s = &cap->slices;
    bool *is_other = mem_grow(NULL, sizeof(bool), cap->strings.strings.n + 1); /* by name */
    VEC_OF(struct serving_range) found = {0};
    struct serving_ranges out = {0};
    bool has_marks = false;

    memset(is_other, 0, cap->strings.strings.n + 1);
    for (size_t i = 0; i < s->n; i++) {
        strid name = s->name[i];
        struct serving_range range = {{s->begin[i], slices_end(s, i)}, name, {0}};
        if (s->kind[i] < SLICE_HOST_OP || s->kind[i] > SLICE_STEP || s->kind[i] == SLICE_RUNTIME ||
            is_other[name])
            continue;
        is_other[name] = !serving_name_parse(capture_text(cap, name), &range.what);
        if (is_other[name])
            continue;
        has_marks = has_marks || !range.what.is_frame;
        vec_push(&found, range);
    }
    mem_free(is_other);
    out.at = ARENA_ARRAY(&st->scratch, struct serving_range, found.n);
    for (size_t i = 0; i < found.n; i++)
        if (!has_marks || !found.at[i].what.is_frame)
            out.at[out.n++] = found.at[i];
    vec_free(&found);
    if (out.n > 1)
        qsort(out.at, out.n, sizeof(*out.at), by_begin);
    out.n = keep_outer(out.at, out.n);
    return out;
}
