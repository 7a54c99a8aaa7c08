/*
 * Steps that do the same work, and statistics over them.
 */
#include "analysis/steps/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/idle/bubbles.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/boundary.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"

ENUM_NAMES(idle_pattern_name, enum idle_pattern, "prelaunch", "tail", "internal_bubble",
           "inter_step", "mixed", "none")

enum idle_pattern idle_pattern_raw(double prelaunch, double tail, double internal)
{
    enum idle_pattern best = IDLE_PRELAUNCH;
    double most = prelaunch;

    if (tail > most) {
        best = IDLE_TAIL;
        most = tail;
    }
    if (internal > most) {
        best = IDLE_INTERNAL;
        most = internal;
    }
    return most > 0 ? best : IDLE_NONE;
}

enum idle_pattern idle_pattern_of(double service, double prelaunch, double tail, double internal)
{
    double most = fmax(prelaunch, fmax(tail, internal)), edges = prelaunch + tail;

    if (most <= 0 || most < service / 100)
        return IDLE_NONE;
    if (edges >= 3 * internal && prelaunch >= edges / 5 && tail >= edges / 5)
        return IDLE_INTER_STEP;
    if (fmax(fmin(prelaunch, tail), fmin(fmax(prelaunch, tail), internal)) >= most * 4 / 5)
        return IDLE_MIXED;
    return idle_pattern_raw(prelaunch, tail, internal);
}

#define SPREAD(metric, stat, key_, unit_)                                                          \
    FIELD(struct group, metrics[metric].stat, key_, .scale = (unit_))
#define SPREADS(metric, key_, unit_)                                                               \
    SPREAD(metric, median, key_ "_median", unit_), SPREAD(metric, p90, key_ "_p90", unit_),        \
        SPREAD(metric, p95, key_ "_p95", unit_)

static const struct field average_fields[] = {
    SPREAD(GROUP_SERVICE, avg, "service_ms_avg", 1e6),
    SPREAD(GROUP_BUSY, avg, "device_busy_union_ms_avg", 1e6),
    SPREAD(GROUP_UNDERFEED_RATIO, avg, "underfeed_ratio_avg", 1),
    SPREAD(GROUP_PRELAUNCH, avg, "prelaunch_gap_ms_avg", 1e6),
    SPREAD(GROUP_TAIL, avg, "tail_gap_ms_avg", 1e6),
    SPREAD(GROUP_INTERNAL, avg, "internal_bubble_total_ms_avg", 1e6),
};
const struct record group_averages_record = RECORD(struct group, average_fields);

static const struct field spread_fields[] = {
    SPREADS(GROUP_SERVICE, "service_ms", 1e6),
    SPREADS(GROUP_BUSY, "device_busy_union_ms", 1e6),
    SPREADS(GROUP_UNDERFEED_RATIO, "underfeed_ratio", 1),
    SPREADS(GROUP_PRELAUNCH, "prelaunch_gap_ms", 1e6),
    SPREADS(GROUP_TAIL, "tail_gap_ms", 1e6),
    SPREADS(GROUP_INTERNAL, "internal_bubble_total_ms", 1e6),
    SPREAD(GROUP_LARGEST, avg, "largest_internal_bubble_ms_avg", 1e6),
    SPREADS(GROUP_LARGEST, "largest_internal_bubble_ms", 1e6),
    FIELD(struct group, underfeed_of_sums, "underfeed_ratio_of_sums",
          .about = "idle time of all steps over their time; underfeed_ratio_avg is the mean of the "
                   "steps' ratios"),
};
const struct record group_spreads_record = RECORD(struct group, spread_fields);

struct spread spread_of(double *values, size_t n)
{
    struct spread s = {0};

    if (n == 0)
        return s;
    for (size_t i = 0; i < n; i++)
        s.avg += values[i];
    s.avg /= (double)n;
    ranked_sort(values, n);
    s.median = ranked_at(values, n, 0.5);
    s.p90 = ranked_at(values, n, 0.9);
    s.p95 = ranked_at(values, n, 0.95);
    return s;
}

/* What two steps are compared by. */
struct step_mix {
    size_t from, to;    /* its kernels in study_kernels() */
    uint64_t signature; /* of the sequence of operators */
    uint64_t shapes;    /* of the sequence of input shapes */
    double core_share[SLICE_COPY + 4];
    size_t dominant_core;
};

/* Cores that templates tell apart. */
static const struct str cores[] = {S_INIT("AI_CORE"), S_INIT("AI_VECTOR_CORE"), S_INIT("MIX_AIC"),
                                   S_INIT("MIX_AIV"), S_INIT("AI_CPU")};
enum { CORE_COMM = ARRAY_LEN(cores), CORE_OTHER, CORES };

static size_t core_of(const struct capture *cap, size_t slice)
{
    enum slice_kind kind = (enum slice_kind)cap->slices.kind[slice];
    struct str core = capture_slice_text(cap, slice, KEY_CORE);

    if (slice_is_comm(kind))
        return CORE_COMM;
    for (size_t i = 0; i < ARRAY_LEN(cores); i++)
        if (str_equal(core, cores[i]))
            return i;
    return CORE_OTHER;
}
_Static_assert(CORES <= sizeof((struct step_mix){0}.core_share) / sizeof(double), "room for cores");

static struct step_mix groups_describe(struct study *st, size_t from, size_t to)
{
    const struct op_names *names = ops_names(st);
    struct kernel_order kernels = study_kernels(st);
    struct step_mix p = {.from = from, .to = to};

    for (size_t i = from; i < to; i++) {
        struct attr shape = capture_slice_attr(st->cap, kernels.at[i], KEY_INPUT_SHAPES);
        p.signature = hash_mix(p.signature, names->of_kernel[i]);
        p.shapes = hash_mix(p.shapes, shape.type == ATTR_TEXT ? shape.text : 0);
        p.core_share[core_of(st->cap, kernels.at[i])] += 1.0 / (double)(to - from);
    }
    for (size_t c = 1; c < CORES; c++)
        if (p.core_share[c] > p.core_share[p.dominant_core])
            p.dominant_core = c;
    return p;
}

static bool sizes_fit(size_t a, size_t b)
{
    size_t larger = a > b ? a : b, apart = a > b ? a - b : b - a;

    return apart <= 2 || apart * 100 <= larger * 5;
}

static bool ops_fit(size_t common, size_t a, size_t b)
{
    return common * 100 >= (a > b ? a : b) * 95;
}

bool group_same_work(size_t common, size_t kernels_a, size_t kernels_b)
{
    return sizes_fit(kernels_a, kernels_b) && ops_fit(common, kernels_a, kernels_b);
}

/* Calls by operator of two steps that are compared; all zero in between. */
struct tally {
    uint32_t *step, *other;
};

/* Sum over operators of the smaller count, by the larger number of kernels. */
static bool shares_ops(struct study *st, const struct step_mix *a, const struct step_mix *b,
                       struct tally tally)
{
    const struct op_names *names = ops_names(st);
    size_t common = 0;

    for (size_t i = a->from; i < a->to; i++)
        tally.step[names->of_kernel[i]]++;
    for (size_t i = b->from; i < b->to; i++) {
        uint32_t key = names->of_kernel[i];
        if (tally.other[key]++ < tally.step[key])
            common++;
    }
    for (size_t i = a->from; i < a->to; i++)
        tally.step[names->of_kernel[i]] = 0;
    for (size_t i = b->from; i < b->to; i++)
        tally.other[names->of_kernel[i]] = 0;
    return ops_fit(common, a->to - a->from, b->to - b->from);
}

static bool same_template(struct study *st, const struct step_mix *a, const struct step_mix *b,
                          struct tally tally)
{
    size_t size_a = a->to - a->from, size_b = b->to - b->from;
    double distance = 0;

    if (size_a == size_b && a->signature == b->signature)
        return true;
    if (size_a == 0 || size_b == 0 || !sizes_fit(size_a, size_b) ||
        a->dominant_core != b->dominant_core)
        return false;
    for (size_t c = 0; c < CORES; c++)
        distance += fabs(a->core_share[c] - b->core_share[c]);
    return distance <= 0.10 + 1e-12 && shares_ops(st, a, b, tally);
}

/* Steps are compared with this many templates; one that fits none of them is a group of its own. */
enum { MAX_TEMPLATES = 1000 };

struct sorter {
    struct study *st;
    struct step_mix *profiles;
    VEC_OF(size_t) first; /* the representative step of each group */
    size_t *of_step;
    struct hash seen; /* the group of steps that were exactly like this */
    struct tally tally;
};

/* Greedy in step order: the first group whose representative fits. A step like one before goes
 * where that went: the templates before it are the same. */
static void place_step(struct sorter *s, size_t step)
{
    const struct step_mix *p = &s->profiles[step];
    uint64_t key = hash_mix(p->signature, p->to - p->from); /* of what same_template() looks at */
    size_t group = 0, most = s->first.n < MAX_TEMPLATES ? s->first.n : MAX_TEMPLATES;
    uint32_t known;

    for (size_t c = 0; c < CORES; c++) {
        uint64_t bits;
        memcpy(&bits, &p->core_share[c], sizeof(bits));
        key = hash_mix(key, bits);
    }
    if (hash_get(&s->seen, key, &known)) {
        s->of_step[step] = known;
        return;
    }
    while (group < most && !same_template(s->st, &s->profiles[s->first.at[group]], p, s->tally))
        group++;
    s->of_step[step] = group < most ? group : s->first.n;
    if (group == most)
        vec_push(&s->first, step);
    hash_put(&s->seen, key, (uint32_t)s->of_step[step]);
}

static double metric_of(const struct step_metrics *m, enum group_metric metric)
{
    const double all[GROUP_METRICS] = {
        [GROUP_SERVICE] = (double)m->service,
        [GROUP_BUSY] = (double)m->busy,
        [GROUP_UNDERFEED_RATIO] = m->underfeed_ratio,
        [GROUP_PRELAUNCH] = (double)m->prelaunch,
        [GROUP_TAIL] = (double)m->tail,
        [GROUP_INTERNAL] = (double)m->internal,
        [GROUP_LARGEST] = (double)m->largest_internal,
    };

    return all[metric];
}

size_t group_counted_steps(struct study *st, const struct group *g, size_t *out)
{
    const struct boundary *edge = study_boundary(st);
    size_t whole = 0, n = 0;

    for (size_t i = 0; i < g->n; i++)
        whole += !edge->is_partial[g->steps[i]];
    for (size_t i = 0; i < g->n; i++)
        if (whole < 2 || !edge->is_partial[g->steps[i]])
            out[n++] = g->steps[i];
    return n;
}

static void groups_measure(struct study *st, struct group *g)
{
    const struct bubbles *b = study_bubbles(st);
    double *values = ARENA_ARRAY(&st->scratch, double, g->n);
    size_t *counted = ARENA_ARRAY(&st->scratch, size_t, g->n);
    size_t with_bubbles = 0;

    g->counted = group_counted_steps(st, g, counted);
    for (size_t metric = 0; metric < GROUP_METRICS; metric++) {
        for (size_t i = 0; i < g->counted; i++)
            values[i] = metric_of(&b->metrics[counted[i]], (enum group_metric)metric);
        g->metrics[metric] = spread_of(values, g->counted);
    }
    nanos idle = 0, time = 0;
    for (size_t i = 0; i < g->counted; i++) {
        idle = nanos_add(idle, b->metrics[counted[i]].underfeed);
        time = nanos_add(time, b->metrics[counted[i]].service);
    }
    g->underfeed_of_sums = num_share(idle, time);
    for (size_t i = 0; i < g->n; i++) {
        g->service_sum = nanos_add(g->service_sum, b->metrics[g->steps[i]].service);
        with_bubbles += b->metrics[g->steps[i]].bubble_count > 0;
    }
    g->has_bubbles = with_bubbles * 10 >= g->n * 6;
    g->pattern_raw = idle_pattern_raw(g->metrics[GROUP_PRELAUNCH].avg, g->metrics[GROUP_TAIL].avg,
                                      g->metrics[GROUP_INTERNAL].avg);
    g->pattern = idle_pattern_of(g->metrics[GROUP_SERVICE].avg, g->metrics[GROUP_PRELAUNCH].avg,
                                 g->metrics[GROUP_TAIL].avg, g->metrics[GROUP_INTERNAL].avg);
}

/* At least 60 % of the steps have their longest gap between the same two operators. */
static bool same_neighbours(struct study *st, const uint64_t *pairs, size_t n)
{
    struct hash seen = {0};
    uint32_t *votes = ARENA_ARRAY(&st->scratch, uint32_t, n);
    uint32_t n_kinds = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t kind = hash_add(&seen, pairs[i], n_kinds);
        n_kinds += kind == n_kinds;
        if (++votes[kind] > most)
            most = votes[kind];
    }
    hash_free(&seen);
    return (uint64_t)most * 10 >= (uint64_t)n * 6;
}

/* The operators before and after the longest gap of a step, as one number. */
static uint64_t neighbours(struct study *st, struct interval gap)
{
    const struct op_names *names = ops_names(st);
    size_t after = study_first_kernel(st, gap.end), before = study_first_kernel(st, gap.begin);
    struct kernel_order kernels = study_kernels(st);
    uint32_t key_before = 0, key_after = 0;
    nanos latest = INT64_MIN;

    for (size_t i = before; i > 0 && i + 64 > before; i--) { /* the last of a few that end there */
        nanos end = slices_end(&st->cap->slices, kernels.at[i - 1]);
        if (end > latest && end <= gap.begin) {
            latest = end;
            key_before = names->of_kernel[i - 1];
        }
    }
    if (after < kernels.n)
        key_after = names->of_kernel[after];
    return (uint64_t)key_before << 32 | key_after;
}

static bool is_stable(struct study *st, const struct group *g)
{
    const struct bubbles *b = study_bubbles(st);
    const struct steps *steps = study_steps(st);
    uint64_t *pairs = ARENA_ARRAY(&st->scratch, uint64_t, g->n);
    double sum = 0, squares = 0;
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        const struct step_metrics *m = &b->metrics[g->steps[i]];
        if (m->significant_count == 0)
            continue;
        /* Where in its step the longest gap lies, 0 to 1. */
        nanos before = nanos_sub(m->largest.begin, steps->at[g->steps[i]].window.begin);
        double place = ((double)before + (double)m->largest_internal / 2) / (double)m->service;
        sum += place;
        squares += place * place;
        pairs[n++] = neighbours(st, m->largest);
    }
    if (n == 0)
        return false;
    double mean = sum / (double)n, variance = squares / (double)n - mean * mean;
    return variance <= 0.05 * 0.05 || same_neighbours(st, pairs, n);
}

static bool has_shape_variants(struct study *st, const struct group *g,
                               const struct step_mix *profiles)
{
    if (!(st->cap->has & HAS_SHAPES))
        return false;
    for (size_t i = 1; i < g->n; i++) {
        const struct step_mix *a = &profiles[g->steps[0]], *b = &profiles[g->steps[i]];
        if (a->signature == b->signature && a->shapes != b->shapes)
            return true;
    }
    return false;
}

ORDER_BY(longest_first, struct group,
         ORDER(y->service_sum, x->service_sum) ?: ORDER(x->steps[0], y->steps[0]));

static void groups_collect(struct study *st, struct groups *out, const struct sorter *s,
                           size_t n_steps)
{
    out->n = s->first.n;
    out->at = ARENA_ARRAY(&st->scratch, struct group, out->n);
    for (size_t i = 0; i < n_steps; i++)
        out->at[s->of_step[i]].n++;
    size_t **members = ARENA_ARRAY(&st->scratch, size_t *, out->n);
    for (size_t g = 0; g < out->n; g++) {
        members[g] = ARENA_ARRAY(&st->scratch, size_t, out->at[g].n);
        out->at[g].steps = members[g];
    }
    for (size_t i = 0; i < n_steps; i++)
        *members[s->of_step[i]]++ = i;
    for (size_t g = 0; g < out->n; g++) {
        groups_measure(st, &out->at[g]);
        out->at[g].is_stable = out->at[g].has_bubbles && is_stable(st, &out->at[g]);
        out->at[g].has_shape_variants = has_shape_variants(st, &out->at[g], s->profiles);
    }
    if (out->n > 0)
        qsort(out->at, out->n, sizeof(*out->at), longest_first);
    for (size_t g = 0; g < out->n; g++)
        for (size_t i = 0; i < out->at[g].n; i++)
            out->of_step[out->at[g].steps[i]] = g;
}

static size_t dominant_of(const struct groups *groups, const struct step_mix *profiles)
{
    for (size_t g = 0; g < groups->n; g++)
        for (size_t i = 0; i < groups->at[g].n; i++) {
            const struct step_mix *p = &profiles[groups->at[g].steps[i]];
            if (p->to > p->from)
                return g;
        }
    return SIZE_MAX;
}

const struct groups *groups_find(struct study *st)
{
    const struct steps *steps = study_steps(st);
    const struct op_names *names = ops_names(st);
    struct groups *out = ARENA_NEW(&st->scratch, struct groups);
    struct sorter s = {.st = st};

    out->of_step = ARENA_ARRAY(&st->scratch, size_t, steps->n);
    s.of_step = ARENA_ARRAY(&st->scratch, size_t, steps->n);
    s.profiles = ARENA_ARRAY(&st->scratch, struct step_mix, steps->n);
    s.tally.step = ARENA_ARRAY(&st->scratch, uint32_t, names->n);
    s.tally.other = ARENA_ARRAY(&st->scratch, uint32_t, names->n);
    for (size_t i = 0; i < steps->n; i++) {
        struct kernel_range range = study_step_kernels(st, i);
        s.profiles[i] = groups_describe(st, range.from, range.to);
        place_step(&s, i);
    }
    groups_collect(st, out, &s, steps->n);
    out->dominant = dominant_of(out, s.profiles);
    vec_free(&s.first);
    hash_free(&s.seen);
    return out;
}
