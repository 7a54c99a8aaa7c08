/*
 * runs: figures of a study, of a file, and their comparison.
 */
#include "analysis/compare/runs.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/compare/ranksum.h"
#include "analysis/idle/bubbles.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"

#define LONGEST (INT64_MAX / 100000) /* a figure of a file: sums of all of them fit */
#define CHANCE  0.05                 /* a difference of this p, or less, is not by chance */

enum {
    KERNEL_PARTS = 1000,
    MOST_RUNS = 1000,
    MOST_FIGURES = 10000
}; /* a kernel counts from 0.1 % */

static struct field_items list_names(const void *record, const struct record_env *env)
{
    const struct runs *runs = record;
    struct str *list = ARENA_ARRAY(env->arena, struct str, runs->names.n);

    for (size_t i = 0; i < runs->names.n; i++)
        list[i] = str_of(runs->names.at[i]);
    return (struct field_items){list, runs->names.n};
}

static const struct field figure_fields[] = {
    FIELD(struct run_figure, name, "name"),
    FIELD_VALUES(struct run_figure, at, n, "ns", .about = "a step, by run"),
};
static const struct record figure_record = RECORD(struct run_figure, figure_fields);

static const struct field runs_fields[] = {
    FIELD_FIXED("schema", "strata.baseline/1"),
    FIELD_FIXED("version", STRATA_VERSION),
    FIELD_MADE(FIELD_STR, "runs", list_names, NULL),
    FIELD_VALUES(struct runs, ranks.at, ranks.n, "ranks", .about = "of each run; -1: not known"),
    FIELD_LIST(struct runs, figures.at, figures.n, "figures", &figure_record),
};
static const struct record runs_record = RECORD(struct runs, runs_fields);

const struct schema runs_schema = {
    .name = "strata.baseline/1",
    .title = "figures of repeated runs, for strata check --baseline",
    .record = &runs_record,
    .is_bare = true,
};

/* ---- figures ---- */

void runs_init(struct runs *runs, struct arena *arena)
{
    *runs = (struct runs){.arena = arena};
}

void runs_free(struct runs *runs)
{
    vec_free(&runs->names);
    vec_free(&runs->ranks);
    vec_free(&runs->figures);
}

static struct run_figure *figure_of(const struct runs *runs, struct str name)
{
    for (size_t i = 0; i < runs->figures.n; i++)
        if (str_equal(runs->figures.at[i].name, name))
            return &runs->figures.at[i];
    return NULL;
}

/* The value of the newest run. Earlier runs without the figure have 0. */
static void add_value(struct runs *runs, struct str name, nanos value)
{
    struct run_figure *figure = figure_of(runs, name);

    if (figure == NULL) {
        vec_push(&runs->figures, ((struct run_figure){.name = arena_str(runs->arena, name)}));
        figure = &runs->figures.at[runs->figures.n - 1];
    }
    nanos *values = ARENA_ARRAY(runs->arena, nanos, runs->names.n);
    if (figure->n > 0)
        memcpy(values, figure->at, figure->n * sizeof(*values));
    values[runs->names.n - 1] += value;
    figure->at = values;
    figure->n = runs->names.n;
}

/* All figures have a value for each run. */
static void fill_up(struct runs *runs)
{
    for (size_t i = 0; i < runs->figures.n; i++)
        if (runs->figures.at[i].n < runs->names.n)
            add_value(runs, runs->figures.at[i].name, 0);
}

static nanos middle(struct arena *arena, const struct step_metrics *m, size_t n, bool is_idle)
{
    nanos *list = ARENA_ARRAY(arena, nanos, n);

    for (size_t i = 0; i < n; i++)
        list[i] = is_idle ? m[i].underfeed : m[i].service;
    return (nanos)ranked_pick_middle(list, n);
}

bool runs_add(struct runs *runs, struct study *st)
{
    const struct steps *steps = study_steps(st);
    const struct step_metrics *m = study_bubbles(st)->metrics;
    nanos step = steps->n > 0 ? middle(runs->arena, m, steps->n, false) : 0, rest = 0;

    if (step <= 0)
        return false;
    vec_push(&runs->names, arena_cstr(runs->arena, str_of(st->cap->name)));
    vec_push(&runs->ranks, st->cap->facts.rank);
    add_value(runs, S(RUNS_STEP), step);
    add_value(runs, S(RUNS_IDLE), middle(runs->arena, m, steps->n, true));
    const struct ops *ops = ops_find(st, steps->kernels_before_first, study_kernels(st).n);
    for (size_t i = 0; i < ops->n; i++) {
        nanos each = ops->by_duration[i]->duration / (nanos)steps->n;
        if (each >= step / KERNEL_PARTS) {
            /* A kernel's name, which is not taken for another figure. */
            struct str key = ops->by_duration[i]->key;
            bool is_taken =
                str_equal(key, S(RUNS_STEP)) || str_equal(key, S(RUNS_IDLE)) || key.n == 0;
            add_value(runs,
                      is_taken ? arena_format(runs->arena, "kernel %.*s", STR_ARGS(key)) : key,
                      each);
        } else
            rest += each;
    }
    add_value(runs, S(RUNS_OTHER), rest);
    fill_up(runs);
    return true;
}

/* ---- files ---- */

/* Values of one figure, one for each of the file's runs. */
static bool read_figure(const struct tree *figure, size_t n, nanos least, nanos *values)
{
    const struct tree *one = tree_items(tree_get(figure, S("ns")));
    size_t i = 0;

    for (; one != NULL && i < n; one = one->next, i++)
        if (!tree_int(one, &values[i]) || values[i] < least || values[i] > LONGEST)
            return false;
    return i == n && one == NULL && tree_get_text(figure, S("name"), S("")).n > 0;
}

static bool is_ours(const struct tree *file)
{
    const struct tree *figures = tree_get(file, S("figures")), *names = tree_get(file, S("runs"));

    return str_equal(tree_get_text(file, S("schema"), S("")), S("strata.baseline/1")) &&
           names != NULL && names->kind == TREE_LIST && names->n > 0 && names->n <= MOST_RUNS &&
           figures != NULL && figures->kind == TREE_LIST && figures->n <= MOST_FIGURES &&
           str_equal(tree_get_text(figures->first, S("name"), S("")), S(RUNS_STEP));
}

/* One for each run; a file without them does not know them. */
static bool read_ranks(const struct tree *ranks, size_t n, int64_t *values)
{
    const struct tree *one = tree_items(ranks);

    for (size_t i = 0; i < n; i++, one = one != NULL ? one->next : NULL)
        if (ranks == NULL)
            values[i] = UNKNOWN;
        else if (one == NULL || !tree_int(one, &values[i]) || values[i] < UNKNOWN)
            return false;
    return one == NULL;
}

bool runs_read(struct runs *runs, const struct tree *file)
{
    if (!is_ours(file) || runs->names.n + tree_get(file, S("runs"))->n > MOST_RUNS)
        return false;
    const struct tree *figures = tree_get(file, S("figures")), *names = tree_get(file, S("runs"));
    size_t n = names->n, had = runs->names.n;
    nanos *values = ARENA_ARRAY(runs->arena, nanos, n);

    for (const struct tree *f = figures->first; f != NULL; f = f->next)
        if (!read_figure(f, n, f == figures->first, values)) /* a step takes time */
            return false;
    if (!read_ranks(tree_get(file, S("ranks")), n, values))
        return false;
    for (size_t i = 0; i < n; i++)
        vec_push(&runs->ranks, values[i]);
    for (const struct tree *name = names->first; name != NULL; name = name->next)
        vec_push(&runs->names, arena_cstr(runs->arena, tree_text(name)));
    for (const struct tree *f = figures->first; f != NULL; f = f->next) {
        struct str name = tree_get_text(f, S("name"), S(""));
        read_figure(f, n, 0, values);
        add_value(runs, name, 0);
        nanos *at = figure_of(runs, name)->at;
        for (size_t i = 0; i < n; i++)
            at[had + i] += values[i];
    }
    fill_up(runs);
    return true;
}

/* ---- ranks ---- */

ORDER_BY(by_rank, int64_t, ORDER(*x, *y));

struct run_ranks runs_ranks(const struct runs *runs)
{
    struct run_ranks out = {ARENA_ARRAY(runs->arena, int64_t, runs->ranks.n), 0};
    int64_t *all = ARENA_ARRAY(runs->arena, int64_t, runs->ranks.n);

    if (runs->ranks.n == 0)
        return out;
    memcpy(all, runs->ranks.at, runs->ranks.n * sizeof(*all));
    qsort(all, runs->ranks.n, sizeof(*all), by_rank);
    for (size_t i = 0; i < runs->ranks.n; i++)
        if (i == 0 || all[i] != all[i - 1])
            out.at[out.n++] = all[i];
    return out;
}

/* A figure of the runs of one rank; n is 0 when none has it. */
static struct run_figure compare_runs_part_of(const struct runs *runs,
                                              const struct run_figure *from, int64_t rank, size_t n)
{
    struct run_figure out = {.name = from->name, .at = ARENA_ARRAY(runs->arena, nanos, n)};
    bool has_any = false;

    for (size_t i = 0; i < from->n; i++)
        if (runs->ranks.at[i] == rank) {
            has_any |= from->at[i] > 0;
            out.at[out.n++] = from->at[i];
        }
    out.n = has_any ? out.n : 0;
    return out;
}

struct runs runs_of_rank(const struct runs *runs, int64_t rank)
{
    struct runs out;

    runs_init(&out, runs->arena);
    for (size_t i = 0; i < runs->names.n; i++)
        if (runs->ranks.at[i] == rank) {
            vec_push(&out.names, runs->names.at[i]);
            vec_push(&out.ranks, rank);
        }
    for (size_t i = 0; i < runs->figures.n; i++) {
        struct run_figure part =
            compare_runs_part_of(runs, &runs->figures.at[i], rank, out.names.n);
        if (part.n > 0)
            vec_push(&out.figures, part);
    }
    return out;
}

/* ---- comparison ---- */

static const struct field change_fields[] = {
    FIELD(struct run_change, name, "name", .head = "part"),
    FIELD(struct run_change, before, "before_ns", .head = "before ms", .unit = UNIT_MS),
    FIELD(struct run_change, after, "after_ns", .head = "after ms", .unit = UNIT_MS),
    FIELD(struct run_change, relative, "change", .head = "change %", .unit = UNIT_RATIO,
          .about = "of the step: median of the ratios of all pairs of runs, less 1"),
    FIELD(struct run_change, share, "share", .head = "share %", .unit = UNIT_RATIO,
          .about = "of the growth of the step"),
    FIELD(struct run_change, own, "own_growth", .head = "own growth %", .unit = UNIT_RATIO,
          .about = "of the step, by this part against the rest; null: by chance"),
    FIELD(struct run_change, p, "p", .about = "of chance alone; null: too few runs to tell"),
};
const struct record run_change_record = RECORD(struct run_change, change_fields);

static double *sorted_of(struct arena *arena, const struct run_figure *f, size_t n)
{
    double *list = ARENA_ARRAY(arena, double, n);

    for (size_t i = 0; i < n && f != NULL; i++)
        list[i] = (double)f->at[i];
    ranked_sort(list, n);
    return list;
}

/* The median of all ratios. */
static double ratio_of(struct arena *arena, const double *a, size_t n_a, const double *b,
                       size_t n_b)
{
    struct arena_mark mark = arena_mark(arena);
    double *ratios = ARENA_ARRAY(arena, double, n_a *n_b);
    size_t n = 0;

    for (size_t i = 0; i < n_a; i++)
        for (size_t k = 0; k < n_b; k++)
            if (a[i] > 0)
                ratios[n++] = b[k] / a[i];
    ranked_sort(ratios, n);
    double middle_ratio = ranked_middle(ratios, n);
    arena_rewind(arena, mark);
    return middle_ratio;
}

struct sides {
    const struct runs *before, *after;
    struct ranksum test;
};

static struct run_change runs_change_of(const struct sides *s, struct str name)
{
    struct arena *arena = s->after->arena;
    size_t n_a = s->before->names.n, n_b = s->after->names.n;
    double *a = sorted_of(arena, figure_of(s->before, name), n_a);
    double *b = sorted_of(arena, figure_of(s->after, name), n_b);
    double before = ranked_middle(a, n_a), after = ranked_middle(b, n_b);
    double part_ratio = before > 0 ? after / before : NAN;
    bool is_judged = ranksum_least(&s->test) <= CHANCE, is_step = str_equal(name, S(RUNS_STEP));

    return (struct run_change){.name = name,
                               .before = before,
                               .after = after,
                               .relative =
                                   is_step ? ratio_of(arena, a, n_a, b, n_b) - 1 : part_ratio - 1,
                               .p = is_judged ? ranksum_p(&s->test, a, b) : NAN,
                               .share = NAN,
                               .own = NAN};
}

/* Adds a part's shares of the step, by run. */
static void add_shares(const struct runs *runs, struct str name, double *list)
{
    const struct run_figure *part = figure_of(runs, name), *step = &runs->figures.at[0];

    for (size_t i = 0; i < runs->names.n && part != NULL; i++)
        list[i] += step->at[i] > 0 ? (double)part->at[i] / (double)step->at[i] : 0;
}

static double *rests_of(struct arena *arena, const double *shares, size_t n)
{
    double *list = ARENA_ARRAY(arena, double, n);

    for (size_t i = 0; i < n; i++)
        list[i] = 1 - shares[i];
    return list;
}

/* Shares of the step before and after. */
struct shares {
    double *before, *after;
};

static struct shares shares_new(const struct sides *s)
{
    struct arena *arena = s->after->arena;

    return (struct shares){ARENA_ARRAY(arena, double, s->before->names.n),
                           ARENA_ARRAY(arena, double, s->after->names.n)};
}

static void shares_add(const struct sides *s, struct shares *x, struct str name)
{
    add_shares(s->before, name, x->before);
    add_shares(s->after, name, x->after);
}

/* How much longer the step is if the rest of it stayed as it was: the median of all pairs of runs.
 * NAN: by chance. */
static double own_growth(const struct sides *s, struct shares x)
{
    struct arena *arena = s->after->arena;
    size_t n_a = s->before->names.n, n_b = s->after->names.n;
    bool is_judged = ranksum_least(&s->test) <= CHANCE;

    ranked_sort(x.before, n_a);
    ranked_sort(x.after, n_b);
    if (ranked_middle(x.before, n_a) >= 1 || ranked_middle(x.after, n_b) >= 1 ||
        (is_judged && ranksum_p(&s->test, x.before, x.after) > CHANCE))
        return NAN;
    return ratio_of(arena, rests_of(arena, x.after, n_b), n_b, rests_of(arena, x.before, n_a),
                    n_a) -
           1;
}

#define REFERENCE 0.5 /* of the step: what the others are held against is at least as much */

/* Of all parts that grew against the rest together; NAN: by chance, or too little is left. */
static double joint_growth(const struct sides *s, const struct run_changes *c)
{
    struct shares x = shares_new(s);

    if (isnan(c->step.p))
        return NAN;
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].own > 0)
            shares_add(s, &x, c->at[i].name);
    double growth = own_growth(s, x);
    return ranked_middle(x.before, s->before->names.n) <= 1 - REFERENCE ? growth : NAN;
}

ORDER_BY(by_growth, struct run_change,
         ORDER(y->after - y->before, x->after - x->before) ?: str_compare(x->name, y->name));

static double fastest(const struct runs *runs)
{
    const struct run_figure *step = &runs->figures.at[0];
    nanos least = step->at[0];

    for (size_t i = 1; i < step->n; i++)
        least = step->at[i] < least ? step->at[i] : least;
    return (double)least;
}

struct run_changes runs_compare(const struct runs *before, const struct runs *after)
{
    struct arena *arena = after->arena;
    struct run_changes out = {.runs = {before->names.n, after->names.n}};
    struct sides sides = {before, after, ranksum_of(arena, before->names.n, after->names.n)};

    out.step = runs_change_of(&sides, S(RUNS_STEP));
    out.best = fastest(after) / fastest(before) - 1;
    double growth = out.step.after - out.step.before;
    out.at = ARENA_ARRAY(arena, struct run_change, before->figures.n + after->figures.n);
    for (size_t i = 1; i < after->figures.n; i++)
        out.at[out.n++] = runs_change_of(&sides, after->figures.at[i].name);
    for (size_t i = 1; i < before->figures.n; i++)
        if (figure_of(after, before->figures.at[i].name) == NULL)
            out.at[out.n++] = runs_change_of(&sides, before->figures.at[i].name);
    for (size_t i = 0; i < out.n; i++) {
        struct shares x = shares_new(&sides);
        shares_add(&sides, &x, out.at[i].name);
        out.at[i].own = own_growth(&sides, x);
        if (growth > 0)
            out.at[i].share = (out.at[i].after - out.at[i].before) / growth;
    }
    out.joint = joint_growth(&sides, &out);
    if (out.n > 0)
        qsort(out.at, out.n, sizeof(*out.at), by_growth);
    return out;
}

#define NEARLY 0.6 /* of the limit: how much longer the step must be when a part is over it */

/* The part that grew most against the rest, by more than `limit`; NULL: none. */
static const struct run_change *single_of(const struct run_changes *c, double limit)
{
    const struct run_change *most = NULL;

    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].own > limit && (most == NULL || c->at[i].own > most->own))
            most = &c->at[i];
    return most;
}

static bool grew_apart(const struct run_changes *c, double limit)
{
    return (c->joint > limit || single_of(c, limit) != NULL) &&
           fmax(c->step.relative, c->best) > limit * NEARLY;
}

static bool is_by_chance(const struct run_changes *c)
{
    return !isnan(c->step.p) && c->step.p > CHANCE;
}

bool runs_are_slower(const struct run_changes *c, double limit)
{
    bool is_alike = (c->step.relative + c->best) / 2 > limit && c->best > limit / 2;

    return grew_apart(c, limit) || (is_alike && !is_by_chance(c));
}

bool runs_are_faster(const struct run_changes *c, double limit)
{
    return (c->step.relative + c->best) / 2 < -limit && !is_by_chance(c);
}

/* ---- what it was ---- */

#define ALL  0.9 /* of the time: parts that stand for all of them */
#define MOST 0.9 /* of the growth: no more parts are named */

/* Grew at least half as much as the step did; both by their medians. */
static bool is_with_step(const struct run_changes *c, const struct run_change *part)
{
    double step = c->step.after / c->step.before - 1;

    return !(part->relative <= step / 2) && part->after > part->before;
}

static bool has_grown(const struct run_changes *c, const struct run_change *part)
{
    return is_with_step(c, part) && !(part->p > CHANCE);
}

/* Whether nearly all time of kernels is in ones that grew with the step; and idle time. */
static bool is_all(const struct run_changes *c, bool *has_idle)
{
    double all = 0, grown = 0;

    *has_idle = false;
    for (size_t i = 0; i < c->n; i++)
        if (str_equal(c->at[i].name, S(RUNS_IDLE))) {
            *has_idle = is_with_step(c, &c->at[i]);
        } else {
            all += c->at[i].after;
            grown += is_with_step(c, &c->at[i]) ? c->at[i].after : 0;
        }
    return grown >= ALL * all;
}

/* As many of the parts as make up most of their growth; they are sorted by it. */
static void name_parts(const struct run_changes *c,
                       bool (*is_one)(const struct run_changes *, const struct run_change *),
                       struct run_cause *out)
{
    double all = 0;

    for (size_t i = 0; i < c->n; i++)
        all += is_one(c, &c->at[i]) ? fmax(0, c->at[i].after - c->at[i].before) : 0;
    for (size_t i = 0; i < c->n && out->growth < MOST * all && out->n < ARRAY_LEN(out->parts); i++)
        if (is_one(c, &c->at[i])) {
            out->parts[out->n++] = &c->at[i];
            out->growth += c->at[i].after - c->at[i].before;
        }
}

static bool is_apart(const struct run_changes *c, const struct run_change *part)
{
    (void)c;
    return part->own > 0;
}

struct run_cause runs_cause(const struct run_changes *c, double limit)
{
    const struct run_change *single = single_of(c, limit);
    struct run_cause out = {0};
    bool has_idle;

    if (grew_apart(c, limit) && !isnan(c->step.p)) {
        name_parts(c, is_apart, &out);
    } else if (grew_apart(c, limit)) {
        out =
            (struct run_cause){.parts = {single}, .n = 1, .growth = single->after - single->before};
    } else if (is_all(c, &has_idle)) {
        out = (struct run_cause){.is_alike = true, .is_kernels = !has_idle, .n = c->n > 0};
        out.parts[0] = c->at;
        out.growth = c->n > 0 ? c->at[0].after - c->at[0].before : 0;
    } else {
        name_parts(c, has_grown, &out);
    }
    return out;
}
