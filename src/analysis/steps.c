#include "analysis/steps.h"

#include <stdlib.h>

#include "analysis/study.h"

const char *step_source_name(enum step_source source)
{
    static const char *const names[] = {"profiler_step",  "iteration",  "marker",
                                        "step_id_column", "step_trace", "pseudo"};

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

static struct str mark_id(struct study *st, const struct mark *mark)
{
    struct str name = capture_text(st->cap, mark->name);

    if (mark->source == MARK_PROFILER_STEP || name.n == 0)
        return arena_format(&st->scratch, "ProfilerStep#%lld", (long long)mark->number);
    if (mark->source == MARK_STEP_TRACE)
        return arena_format(&st->scratch, "%.*s#%lld", STR_ARGS(name), (long long)mark->number);
    return name;
}

/* The marks of one source; of nested ones the outermost. They come in order of begin. */
static void take_marks(struct study *st, enum mark_source source, struct steps *steps)
{
    const struct capture *cap = st->cap;

    steps->at = ARENA_ARRAY(&st->scratch, struct step, cap->marks.n);
    for (size_t i = 0; i < cap->marks.n; i++) {
        const struct mark *mark = &cap->marks.at[i];
        const struct step *last = steps->n > 0 ? &steps->at[steps->n - 1] : NULL;
        if (mark->source != source)
            continue;
        if (last != NULL && mark->begin < last->window.end && mark->end <= last->window.end)
            continue;
        steps->at[steps->n++] = (struct step){
            .id = mark_id(st, mark),
            .number = mark->number,
            .window = {mark->begin, mark->end > mark->begin ? mark->end : mark->begin},
        };
    }
}

/* One step for every Step Id; kernels come in order of begin, so its first row is its mark. */
static void take_column(struct study *st, struct steps *steps)
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

/* Latest end of the kernels that begin at or after `from`; `none` when there is no such kernel. */
static nanos latest_end(struct study *st, nanos from, nanos none)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    nanos end = from;

    if (kernels.n == 0 || s->begin[kernels.at[kernels.n - 1]] < from)
        return none;
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
    last->window.end = latest_end(st, last->window.begin, last->window.end);
    while (steps->kernels_before_first < kernels.n &&
           s->begin[kernels.at[steps->kernels_before_first]] < first)
        steps->kernels_before_first++;
}

/* The first source that has marks wins. */
static void find_marks(struct study *st, struct steps *steps)
{
    static const struct {
        enum step_source source;
        enum mark_source marks;
    } order[] = {
        {STEPS_PROFILER, MARK_PROFILER_STEP}, {STEPS_ITERATION, MARK_ITERATION},
        {STEPS_MARKER, MARK_RANGE},           {STEPS_FROM_COLUMN, MARK_PROFILER_STEP},
        {STEPS_TRACE, MARK_STEP_TRACE},
    };

    for (size_t i = 0; i < ARRAY_LEN(order) && steps->n == 0; i++) {
        steps->source = order[i].source;
        if (order[i].source == STEPS_FROM_COLUMN)
            take_column(st, steps);
        else
            take_marks(st, order[i].marks, steps);
    }
}

const struct steps *steps_find(struct study *st)
{
    struct steps *steps = ARENA_NEW(&st->scratch, struct steps);
    struct kernel_order kernels = study_kernels(st);

    find_marks(st, steps);
    if (steps->n == 0)
        steps->source = STEPS_PSEUDO;
    if (steps->n == 0 && kernels.n > 0) {
        nanos begin = st->cap->slices.begin[kernels.at[0]];
        steps->at = ARENA_NEW(&st->scratch, struct step);
        steps->at[0] = (struct step){.id = S("pseudo"), .window = {begin, begin}};
        steps->n = 1;
    }
    if (steps->n > 0)
        set_windows(st, steps);
    return steps;
}
