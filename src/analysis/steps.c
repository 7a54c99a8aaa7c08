#include "analysis/steps.h"

#include <stdlib.h>

#include "analysis/study.h"

const char *step_source_name(enum step_source source)
{
    static const char *const names[] = {"step_id_column", "pseudo"};

    return names[source];
}

static int by_begin(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->window.begin != y->window.begin)
        return x->window.begin < y->window.begin ? -1 : 1;
    return str_compare(x->id, y->id);
}

static struct step column_step(struct study *st, struct str id, nanos begin)
{
    struct step step = {
        .id = arena_format(&st->scratch, "Step#%.*s", STR_ARGS(id)),
        .number = -1,
        .window = {begin, begin},
    };

    num_i64(id, &step.number);
    return step;
}

/* One step for every Step Id; kernels come in order of begin, so its first row is its mark. */
static void find_marks(struct study *st, struct steps *steps)
{
    const struct capture *cap = st->cap;
    struct kernel_order kernels = study_kernels(st);
    VEC_OF(struct step) found = {0};
    struct hash seen = {0};

    for (size_t i = 0; i < kernels.n; i++) {
        struct attr id = capture_slice_attr(cap, kernels.at[i], KEY_STEP);
        if (id.type != ATTR_TEXT || id.text == 0)
            continue;
        uint32_t fresh = (uint32_t)found.n;
        if (hash_add(&seen, id.text, fresh) == fresh)
            vec_push(&found,
                     column_step(st, capture_text(cap, id.text), cap->slices.begin[kernels.at[i]]));
    }
    hash_free(&seen);
    steps->n = found.n;
    steps->at = ARENA_ARRAY(&st->scratch, struct step, found.n);
    if (found.n > 0) {
        memcpy(steps->at, found.at, sizeof(*found.at) * found.n);
        qsort(steps->at, steps->n, sizeof(*steps->at), by_begin);
    }
    vec_free(&found);
}

/* Latest end of the kernels that begin at or after `from`. */
static nanos latest_end(struct study *st, nanos from)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    nanos end = from;

    for (size_t i = kernels.n; i > 0 && s->begin[kernels.at[i - 1]] >= from; i--)
        if (slices_end(s, kernels.at[i - 1]) > end)
            end = slices_end(s, kernels.at[i - 1]);
    return end;
}

static void set_windows(struct study *st, struct steps *steps)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    nanos first = steps->at[0].window.begin;

    for (size_t i = 0; i + 1 < steps->n; i++)
        steps->at[i].window.end = steps->at[i + 1].window.begin;
    struct step *last = &steps->at[steps->n - 1];
    last->window.end = latest_end(st, last->window.begin);
    while (steps->kernels_before_first < kernels.n &&
           s->begin[kernels.at[steps->kernels_before_first]] < first)
        steps->kernels_before_first++;
}

const struct steps *steps_find(struct study *st)
{
    struct steps *steps = ARENA_NEW(&st->scratch, struct steps);
    struct kernel_order kernels = study_kernels(st);

    find_marks(st, steps);
    if (steps->n == 0 && kernels.n > 0) {
        nanos begin = st->cap->slices.begin[kernels.at[0]];
        steps->source = STEPS_PSEUDO;
        steps->at = ARENA_NEW(&st->scratch, struct step);
        steps->at[0] = (struct step){.id = S("pseudo"), .window = {begin, begin}};
        steps->n = 1;
    }
    if (steps->n > 0)
        set_windows(st, steps);
    return steps;
}
