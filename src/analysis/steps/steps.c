/*
 * Where steps begin and end.
 */
#include "analysis/steps/steps.h"

#include <stdlib.h>

#include "analysis/arch/arch.h"
#include "analysis/steps/step_units.h"
#include "analysis/study.h"
#include "analysis/tables/serving.h"
#include "base/text/pattern.h"

ENUM_NAMES(step_source_name, enum step_source, "profiler_step", "iteration", "marker",
           "step_id_column", "step_trace", "fia_pass", "pseudo")

ORDER_BY(by_begin, struct step,
         ORDER(x->window.begin, y->window.begin) ?: str_compare(x->id, y->id));

/* One step for every Step Id; kernels come in order of begin, so its first row is its mark. */
static bool take_ids(struct study *st, struct steps *steps)
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
        if (hash_add(&seen, id.text, fresh) == fresh) {
            struct str text = capture_text(cap, id.text);
            nanos begin = cap->slices.begin[kernels.at[i]];
            struct step step = {
                .id = arena_format(&st->scratch, "Step#%.*s", STR_ARGS(text)),
                .number = -1,
                .window = {begin, begin},
            };
            num_i64(text, &step.number);
            vec_push(&found, step);
        }
    }
    hash_free(&seen);
    steps->n = found.n;
    steps->at = STUDY_KEEP(&st->scratch, found);
    if (steps->n > 0)
        qsort(steps->at, steps->n, sizeof(*steps->at), by_begin);
    vec_free(&found);
    steps->source = STEPS_FROM_COLUMN;
    return steps->n > 0;
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

/* The steps of one source of marks. Of marks inside one another the outer one counts. */
static bool take_marks(struct study *st, struct steps *steps, enum mark_source source,
                       enum step_source told)
{
    const struct capture *cap = st->cap;

    steps->at = ARENA_ARRAY(&st->scratch, struct step, cap->marks.n);
    for (size_t i = 0; i < cap->marks.n; i++) {
        const struct mark *m = &cap->marks.at[i];
        const struct step *last = steps->n > 0 ? &steps->at[steps->n - 1] : NULL;
        if (m->source != source ||
            (last != NULL && m->begin < last->window.end && m->end <= last->window.end))
            continue;
        steps->at[steps->n++] = (struct step){
            .id = mark_id(st, m),
            .number = m->number,
            .window = {m->begin, m->end},
        };
    }
    steps->source = told;
    return steps->n > 0;
}

static void set_windows(struct study *st, struct steps *steps)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    nanos first = steps->at[0].window.begin;

    for (size_t i = 0; i + 1 < steps->n; i++)
        steps->at[i].window.end = steps->at[i + 1].window.begin;
    struct step *last = &steps->at[steps->n - 1];
    nanos end = INT64_MIN;
    /* A step is as long whether copies of an Ascend device are work or idle time. */
    bool has_idle_copies = capture_is_ascend(st->cap) && !st->options.busy_copies;
    for (size_t i = kernels.n; i > 0 && s->begin[kernels.at[i - 1]] >= last->window.begin; i--)
        if (!(has_idle_copies && s->kind[kernels.at[i - 1]] == SLICE_COPY))
            end = slices_end(s, kernels.at[i - 1]) > end ? slices_end(s, kernels.at[i - 1]) : end;
    if (end != INT64_MIN)
        last->window.end = end;
    while (steps->kernels_before_first < kernels.n &&
           s->begin[kernels.at[steps->kernels_before_first]] < first)
        steps->kernels_before_first++;
}

/* Host ranges whose names match the user's pattern; the outer one of nested ones. */
static bool take_ranges(struct study *st, struct steps *steps)
{
    const struct slices *s = &st->cap->slices;
    VEC_OF(struct step) found = {0};
    uint8_t *match = ARENA_ARRAY(&st->scratch, uint8_t, st->cap->strings.strings.n);
    const char *marker = st->options.step_marker;
    char why[PATTERN_WHY];
    struct pattern *pattern = marker != NULL ? pattern_new(marker, PATTERN_EXACT, why) : NULL;

    if (pattern == NULL)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        strid name = s->name[i];
        if (s->kind[i] < SLICE_HOST_OP || s->kind[i] > SLICE_STEP)
            continue;
        if (match[name] == 0) /* 1 no, 2 yes */
            match[name] = pattern_finds(pattern, capture_text(st->cap, name)) ? 2 : 1;
        if (match[name] == 2)
            vec_push(&found, ((struct step){.id = capture_text(st->cap, name),
                                            .window = {s->begin[i], slices_end(s, i)}}));
    }
    pattern_free(pattern);
    steps->at = ARENA_ARRAY(&st->scratch, struct step, found.n);
    if (found.n > 0)
        qsort(found.at, found.n, sizeof(*found.at), by_begin);
    for (size_t i = 0; i < found.n; i++) {
        const struct step *last = steps->n > 0 ? &steps->at[steps->n - 1] : NULL;
        if (last != NULL && found.at[i].window.begin < last->window.end)
            continue;
        struct str id = found.at[i].id;
        found.at[i].number = (int64_t)steps->n; /* unless its name ends with one */
        num_i64(str_part(id, id.n - str_last_digits(id), id.n), &found.at[i].number);
        steps->at[steps->n++] = found.at[i];
    }
    vec_free(&found);
    steps->source = STEPS_MARKER;
    return steps->n > 0;
}

/* Iterations of a serving engine. */
static bool take_serving(struct study *st, struct steps *steps)
{
    struct serving_ranges ranges = serving_ranges_find(st);

    steps->at = ARENA_ARRAY(&st->scratch, struct step, ranges.n);
    for (size_t i = 0; i < ranges.n; i++)
        steps->at[i] = (struct step){.id = capture_text(st->cap, ranges.at[i].name),
                                     .number = (int64_t)i,
                                     .window = ranges.at[i].at};
    steps->n = ranges.n;
    steps->source = STEPS_MARKER;
    return steps->n > 0;
}

static bool take_passes(struct study *st, struct steps *steps)
{
    struct interval_set passes = st->options.passes;

    steps->at = ARENA_ARRAY(&st->scratch, struct step, passes.n);
    for (size_t i = 0; i < passes.n; i++)
        steps->at[i] = (struct step){.id = arena_format(&st->scratch, "pass#%zu", i),
                                     .number = (int64_t)i,
                                     .window = passes.at[i]};
    steps->n = passes.n;
    steps->source = STEPS_PASS;
    return steps->n > 0;
}

/* What repeats. */
static bool take_units(struct study *st, struct steps *steps)
{
    const struct step_units *units = study_step_units(st);

    steps->at = ARENA_ARRAY(&st->scratch, struct step, units->n);
    for (size_t i = 0; i < units->n; i++)
        steps->at[i] = (struct step){.id = arena_format(&st->scratch, "unit#%zu", i),
                                     .number = (int64_t)i,
                                     .window = {units->at[i], units->at[i]}};
    steps->n = units->n;
    steps->source = STEPS_MARKER;
    steps->found = units->by;
    return steps->n > 0;
}

/* Passes through the model, as its layers tell them: a few alike and whole ones at least. */
static bool find_passes(struct study *st, struct steps *steps)
{
    enum { LEAST_PASSES = 3 };
    static const double least_confidence = 0.6;
    struct study_options options = study_defaults();
    struct study whole;

    options.step_choice = STEP_CHOICE_NONE;
    study_begin(&whole, st->cap, options);
    const struct arch *arch = arch_find(&whole, &(struct arch_options){0});
    const struct arch_layers *layers = arch->layers;
    if (layers->complete >= LEAST_PASSES && arch->confidence >= least_confidence) {
        struct interval *windows = ARENA_ARRAY(&st->scratch, struct interval, layers->n_passes);
        for (size_t i = 0; i < layers->n_passes; i++)
            windows[i] = layers->passes[i].at;
        st->options.passes = (struct interval_set){windows, layers->n_passes};
    }
    study_end(&whole);
    if (!take_passes(st, steps))
        return false;
    steps->found = FOUND_PASSES;
    return true;
}

static bool steps_by_first_source(struct study *st, struct steps *steps)
{
    enum step_choice choice = st->options.step_choice;

    if (choice == STEP_CHOICE_NONE)
        return false;
    if (choice == STEP_CHOICE_PASSES)
        return take_passes(st, steps);
    return take_marks(st, steps, MARK_PROFILER_STEP, STEPS_PROFILER) ||
           take_marks(st, steps, MARK_ITERATION, STEPS_ITERATION) || take_ranges(st, steps) ||
           (choice != STEP_CHOICE_MARKERS && take_ids(st, steps)) ||
           take_marks(st, steps, MARK_STEP_TRACE, STEPS_TRACE) || take_serving(st, steps) ||
           (choice == STEP_CHOICE_FOUND && (take_units(st, steps) || find_passes(st, steps)));
}

/* Moves each begin to the first kernel that was launched in the step's host window. */
static void use_device_clock(struct study *st, struct steps *steps)
{
    const struct slices *s = &st->cap->slices;
    nanos *first = ARENA_ARRAY(&st->scratch, nanos, steps->n);

    for (size_t i = 0; i < steps->n; i++)
        first[i] = INT64_MAX;
    for (size_t i = 0; i < st->cap->flows.n; i++) {
        const struct flow *f = &st->cap->flows.at[i];
        size_t place;
        if (f->kind != FLOW_LAUNCH || !study_is_kernel(st, f->to))
            continue;
        vec_bisect(place, steps->n, k, steps->at[k].window.begin <= s->begin[f->from]);
        if (place > 0 && s->begin[f->to] < first[place - 1])
            first[place - 1] = s->begin[f->to];
    }
    for (size_t i = 0; i < steps->n; i++)
        if (first[i] != INT64_MAX && (i == 0 || first[i] >= steps->at[i - 1].window.begin))
            steps->at[i].window.begin = first[i];
}

const struct steps *steps_find(struct study *st)
{
    struct steps *steps = ARENA_NEW(&st->scratch, struct steps);
    struct kernel_order kernels = study_kernels(st);

    bool is_told = steps_by_first_source(st, steps);
    for (size_t i = 0; i < steps->n; i++)
        steps->at[i].mark = steps->at[i].window.begin;
    if (is_told && st->options.device_windows)
        use_device_clock(st, steps);
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
