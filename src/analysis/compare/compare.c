/*
 * Two sides compared: kinds matched, units judged, time divided.
 */
#include "analysis/compare/compare.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PAIRS = 64 * 64 };

#define KINDS_ALIKE 0.80 /* kernels of a unit that both kinds run, to be of the same work */
#define KINDS_COVER 0.90 /* of the time of either side: less, and all units are compared as one */
#define TOLD_FIRST  1e30 /* more than any time: changes come before noise */
#define RARE_EFFECT                                                                                \
    0.50 /* of the limit: what a kind too rare to judge, or alone, may move all by */

ENUM_NAMES(compare_method_name, enum compare_method, "steps", "units", "rates", "none")
ENUM_NAMES(part_change_name, enum part_change, "same", "added", "removed", "other calls",
           "other kernels", "slower", "faster", "less overlapped", "more overlapped",
           "waited longer", "waited less", "idle")

struct compare_options compare_defaults(void)
{
    return (struct compare_options){
        .min_ratio = 0.01, .min_time = 10000, .between = NOISE_BETWEEN, .limit = NOISE_LIMIT};
}

struct comparer {
    struct arena *arena;
    struct arena scratch;
    struct profile_list sides[SIDES];
    struct comparison *out;
};

/* ---- samples ---- */

static struct noise_side samples_of(struct comparer *c, const struct runs_kind *k,
                                    enum unit_metric metric)
{
    size_t n = 0, *first = ARENA_ARRAY(&c->scratch, size_t, k->n + 1);

    for (size_t r = 0; r < k->n; r++)
        first[r + 1] = n += k->runs[r]->n;
    double *at = ARENA_ARRAY(&c->scratch, double, n + 1);
    for (size_t r = 0; r < k->n; r++)
        for (size_t i = 0; i < k->runs[r]->n; i++)
            at[first[r] + i] = (double)k->runs[r]->metrics[metric][i];
    return (struct noise_side){at, first, k->n};
}

static void judge_metrics(struct comparer *c, const struct runs_kind *sides,
                          struct compare_kind *out)
{
    const struct noise_options options = {.between = c->out->options.between,
                                          .limit = c->out->options.limit};

    for (int metric = 0; metric < UNIT_METRICS; metric++) {
        struct arena_mark mark = arena_mark(&c->scratch);
        out->metrics[metric] =
            noise_judge(&c->scratch, samples_of(c, &sides[SIDE_A], (enum unit_metric)metric),
                        samples_of(c, &sides[SIDE_B], (enum unit_metric)metric), options);
        arena_rewind(&c->scratch, mark);
    }
    out->change = out->metrics[UNIT_LENGTH];
}

/* ---- kinds ---- */

static bool is_equal(const struct runs_kind *sides)
{
    const struct runs_kind *a = &sides[SIDE_A], *b = &sides[SIDE_B];

    for (size_t r = 0; r < a->n && r < b->n; r++) {
        if (a->runs[r]->n != b->runs[r]->n)
            return false;
        for (int m = 0; m < UNIT_METRICS; m++)
            if (a->runs[r]->n > 0 && memcmp(a->runs[r]->metrics[m], b->runs[r]->metrics[m],
                                            a->runs[r]->n * sizeof(nanos)) != 0)
                return false;
    }
    return a->n == b->n;
}

static void add_kind(struct comparer *c, const struct runs_kind *sides)
{
    struct compare_kind kind = {
        .similarity = likeness_of_kernels(sides[SIDE_A].runs[0], sides[SIDE_B].runs[0])};

    for (int side = 0; side < SIDES; side++)
        for (size_t r = 0; r < sides[side].n; r++)
            kind.units[side] += sides[side].runs[r]->n;
    if (kind.units[SIDE_A] == 0 || kind.units[SIDE_B] == 0)
        return;
    kind.name = arena_str(c->arena, sides[SIDE_A].runs[0]->name);
    kind.label = arena_str(c->arena, sides[SIDE_A].runs[0]->label);
    judge_metrics(c, sides, &kind);
    compare_divide(c->arena, &c->scratch, sides, &kind);
    c->out->is_equal = c->out->is_equal && is_equal(sides);
    c->out->kinds[c->out->n_kinds++] = kind;
}

static double work_shared(const struct profile_kind *a, const struct profile_kind *b)
{
    return profile_work_shared(a->work, b->work);
}

/* Kernels that both run; of other work none count. */
static double likeness_of_kind(const struct profile_kind *a, const struct profile_kind *b)
{
    return work_shared(a, b) < PROFILE_SAME_WORK ? 0 : likeness_of_kernels(a, b);
}

/* In each run of a side the kind that is most like one of its first run. */
static struct runs_kind in_all_runs(struct comparer *c, enum side side,
                                    const struct profile_kind *first)
{
    const struct profile_list *runs = &c->sides[side];
    struct runs_kind out = {ARENA_ARRAY(&c->scratch, const struct profile_kind *, runs->n), 0};

    out.runs[out.n++] = first;
    for (size_t r = 1; r < runs->n; r++) {
        const struct profile_kind *best = NULL;
        double most = KINDS_ALIKE;
        for (size_t k = 0; k < runs->at[r]->n_kinds; k++) {
            double like = likeness_of_kind(first, &runs->at[r]->kinds[k]);
            if (like >= most && (best == NULL || like > most)) {
                most = like;
                best = &runs->at[r]->kinds[k];
            }
        }
        if (best != NULL)
            out.runs[out.n++] = best;
    }
    return out;
}

static nanos time_of(const struct profile_kind *k)
{
    nanos sum = 0;

    for (size_t i = 0; i < k->n; i++)
        sum += k->metrics[UNIT_LENGTH][i];
    return sum;
}

struct pairing {
    size_t a, b;
    double like;
};

ORDER_BY(likest_first, struct pairing,
         ORDER(y->like, x->like) ?: ORDER(x->a + x->b, y->a + y->b) ?: ORDER(x->a, y->a));
ORDER_BY(by_place, struct pairing, ORDER(x->a, y->a));

/* Kinds of the first runs, the most alike first, each once. */
static size_t pair_kinds(struct comparer *c, struct pairing *pairs)
{
    const struct profile *a = c->sides[SIDE_A].at[0], *b = c->sides[SIDE_B].at[0];
    bool *taken_a = ARENA_ARRAY(&c->scratch, bool, a->n_kinds + 1);
    bool *taken_b = ARENA_ARRAY(&c->scratch, bool, b->n_kinds + 1);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < a->n_kinds && i < 64; i++)
        for (size_t k = 0; k < b->n_kinds && k < 64; k++) {
            double like = likeness_of_kind(&a->kinds[i], &b->kinds[k]);
            if (like >= KINDS_ALIKE)
                pairs[n++] = (struct pairing){i, k, like};
        }
    if (n > 1)
        qsort(pairs, n, sizeof(*pairs), likest_first);
    for (size_t i = 0; i < n; i++) {
        struct pairing p = pairs[i];
        if (taken_a[p.a] || taken_b[p.b])
            continue;
        taken_a[p.a] = taken_b[p.b] = true;
        pairs[kept++] = p;
    }
    if (kept > 1)
        qsort(pairs, kept, sizeof(*pairs), by_place);
    return kept;
}

/* Of pairs the least of what is common of their work. */
static double work_of_pairs(struct comparer *c, const struct pairing *pairs, size_t n)
{
    const struct profile *a = c->sides[SIDE_A].at[0], *b = c->sides[SIDE_B].at[0];
    double least = NAN;

    for (size_t i = 0; i < n; i++)
        least = fmin(least, work_shared(&a->kinds[pairs[i].a], &b->kinds[pairs[i].b]));
    return least;
}

/* Which part of each side's time the pairs have that can be judged: the smaller one. */
static double cover_of(struct comparer *c, const struct pairing *pairs, size_t n)
{
    const struct profile *a = c->sides[SIDE_A].at[0], *b = c->sides[SIDE_B].at[0];
    double in_a = 0, in_b = 0;

    for (size_t i = 0; i < n; i++) {
        const struct profile_kind *x = &a->kinds[pairs[i].a], *y = &b->kinds[pairs[i].b];
        if (x->n < NOISE_UNITS || y->n < NOISE_UNITS)
            continue;
        in_a += (double)time_of(x);
        in_b += (double)time_of(y);
    }
    return fmin(num_share(in_a, (double)time_of(&a->all)),
                num_share(in_b, (double)time_of(&b->all)));
}

static bool is_paired(const struct pairing *pairs, size_t n, enum side side, size_t kind)
{
    for (size_t i = 0; i < n; i++)
        if ((side == SIDE_A ? pairs[i].a : pairs[i].b) == kind)
            return true;
    return false;
}

/* By how much steps that B has alone make its steps longer than those of A, if all others are as
 * long: in relation to A. */
static double added_alone(struct comparer *c, const struct pairing *pairs, size_t n)
{
    const struct profile *a = c->sides[SIDE_A].at[0], *b = c->sides[SIDE_B].at[0];
    double mean = num_share((double)time_of(&a->all), (double)a->all.n), added = 0;

    for (size_t k = 0; k < b->n_kinds; k++)
        if (!is_paired(pairs, n, SIDE_B, k))
            added += (double)time_of(&b->kinds[k]) - mean * (double)b->kinds[k].n;
    return num_share(added, mean * (double)b->all.n);
}

static void list_unmatched(struct comparer *c, enum side side, const struct pairing *pairs,
                           size_t n)
{
    const struct profile *p = c->sides[side].at[0];

    c->out->unmatched[side] = ARENA_ARRAY(c->arena, struct str, p->n_kinds + 1);
    for (size_t k = 0; k < p->n_kinds; k++)
        if (!is_paired(pairs, n, side, k))
            c->out->unmatched[side][c->out->n_unmatched[side]++] =
                arena_str(c->arena, p->kinds[k].name);
}

static void judge_likeness(struct comparer *c, const struct profile_kind *unit_a,
                           const struct profile_kind *unit_b, double work)
{
    c->out->likeness =
        likeness_of(c->sides[SIDE_A].at[0], c->sides[SIDE_B].at[0], unit_a, unit_b, work, c->arena);
}

static void compare_all(struct comparer *c)
{
    const struct profile_kind *a = &c->sides[SIDE_A].at[0]->all, *b = &c->sides[SIDE_B].at[0]->all;
    struct runs_kind sides[SIDES];

    judge_likeness(c, a, b, work_shared(a, b));

    for (int side = 0; side < SIDES; side++) {
        sides[side].n = 0;
        sides[side].runs = ARENA_ARRAY(&c->scratch, const struct profile_kind *, c->sides[side].n);
        for (size_t r = 0; r < c->sides[side].n; r++)
            sides[side].runs[sides[side].n++] = &c->sides[side].at[r]->all;
    }
    c->out->kinds = ARENA_ARRAY(c->arena, struct compare_kind, 1);
    add_kind(c, sides);
}

/* Kinds of steps in pairs; where these leave out too much of the time, all steps as one kind. */
static void compare_marked(struct comparer *c)
{
    struct pairing *pairs = ARENA_ARRAY(&c->scratch, struct pairing, MOST_PAIRS);
    size_t n = pair_kinds(c, pairs);

    c->out->method = METHOD_STEPS;
    if (cover_of(c, pairs, n) < KINDS_COVER ||
        added_alone(c, pairs, n) > RARE_EFFECT * c->out->options.limit) {
        compare_all(c);
        return;
    }
    judge_likeness(c, &c->sides[SIDE_A].at[0]->all, &c->sides[SIDE_B].at[0]->all,
                   work_of_pairs(c, pairs, n));
    c->out->kinds = ARENA_ARRAY(c->arena, struct compare_kind, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct runs_kind sides[SIDES] = {
            in_all_runs(c, SIDE_A, &c->sides[SIDE_A].at[0]->kinds[pairs[i].a]),
            in_all_runs(c, SIDE_B, &c->sides[SIDE_B].at[0]->kinds[pairs[i].b])};
        add_kind(c, sides);
    }
    list_unmatched(c, SIDE_A, pairs, n);
    list_unmatched(c, SIDE_B, pairs, n);
}

static const struct profile_kind *anchor_named(const struct profile *p, struct str name)
{
    for (size_t k = 0; k < p->n_kinds; k++)
        if (str_equal(p->kinds[k].name, name))
            return &p->kinds[k];
    return NULL;
}

/* An anchor of the first run of A in all runs. */
struct anchored {
    struct runs_kind sides[SIDES];
    double varies;    /* at its worst */
    int64_t distance; /* over all runs, which hold so many units */
    size_t units;
};

static bool find_common(struct comparer *c, struct str name, struct anchored *out)
{
    *out = (struct anchored){.units = 0};
    for (int side = 0; side < SIDES; side++) {
        const struct profile_list *runs = &c->sides[side];
        struct runs_kind *found = &out->sides[side];
        found->runs = ARENA_ARRAY(&c->scratch, const struct profile_kind *, runs->n);
        for (size_t r = 0; r < runs->n; r++) {
            const struct profile_kind *a = anchor_named(runs->at[r], name);
            if (a == NULL)
                return false;
            found->runs[found->n++] = a;
            out->varies = fmax(out->varies, a->variation);
            out->distance += a->distance;
            out->units += a->n;
        }
    }
    return true;
}

/* The one that varies least, of equals the one with the longest unit, then with most units: the
 * same whichever side is A. */
static bool is_better(const struct anchored *x, const struct anchored *than)
{
    struct str name = x->sides[SIDE_A].runs[0]->name;
    int order = ORDER(x->varies, than->varies)
                    ?: ORDER(than->distance, x->distance) ?: ORDER(than->units, x->units);

    return order < 0 || (order == 0 && str_compare(name, than->sides[SIDE_A].runs[0]->name) < 0);
}

static bool common_anchor(struct comparer *c, struct runs_kind *sides)
{
    const struct profile *first = c->sides[SIDE_A].at[0];
    struct anchored best = {.units = 0}, found;
    bool is_found = false;

    for (size_t k = 0; k < first->n_kinds; k++)
        if (find_common(c, first->kinds[k].name, &found) &&
            (!is_found || is_better(&found, &best))) {
            best = found;
            is_found = true;
        }
    for (int side = 0; side < SIDES; side++)
        sides[side] = best.sides[side];
    return is_found;
}

static void compare_rates(struct comparer *c)
{
    c->out->method = METHOD_RATES;
    for (int f = 0; f < KERNEL_FAMILIES; f++) {
        struct compare_family row = {.name = kernel_family_name((enum kernel_family)f)};
        int64_t calls = 0;
        for (int side = 0; side < SIDES; side++) {
            const struct profile *p = c->sides[side].at[0];
            row.rate[side] = num_share((double)p->families[f].calls, (double)p->span / 1e9);
            row.each[side] = num_ratio((double)p->families[f].time, (double)p->families[f].calls);
            calls += p->families[f].calls;
        }
        if (calls > 0)
            c->out->families[c->out->n_families++] = row;
    }
}

/* ---- the verdict ---- */

static void sum_up(struct comparison *out)
{
    double before = 0, after = 0;

    for (size_t i = 0; i < out->n_kinds; i++) {
        before += (double)out->kinds[i].units[SIDE_A] * out->kinds[i].change.mean[SIDE_A];
        after += (double)out->kinds[i].units[SIDE_A] * out->kinds[i].change.mean[SIDE_B];
    }
    out->relative = before > 0 ? after / before - 1 : NAN;
}

/* A kind that is too rare to judge: what it can move the whole by at most. */
static bool is_negligible(const struct comparison *c, const struct compare_kind *k)
{
    double all = 0, worst = k->change.slowest[SIDE_B] - k->change.fastest[SIDE_A];

    for (size_t i = 0; i < c->n_kinds; i++)
        all += (double)c->kinds[i].units[SIDE_A] * c->kinds[i].change.mean[SIDE_A];
    return c->n_kinds > 1 && k->change.gate == GATE_UNKNOWN && isnan(k->change.probability) &&
           worst * (double)k->units[SIDE_A] <= RARE_EFFECT * c->options.limit * all;
}

static bool is_worse(const struct compare_kind *k, const struct compare_kind *than)
{
    static const int order[] = {[GATE_PASS] = 0, [GATE_UNKNOWN] = 1, [GATE_FAIL] = 2};

    if (than == NULL || k->change.gate != than->change.gate)
        return than == NULL || order[k->change.gate] > order[than->change.gate];
    double x = (k->change.mean[SIDE_B] - k->change.mean[SIDE_A]) * (double)k->units[SIDE_A];
    double y =
        (than->change.mean[SIDE_B] - than->change.mean[SIDE_A]) * (double)than->units[SIDE_A];
    return x > y;
}

/* The worst kind decides the gate; the verdict is that of the kind that moved the whole most. */
static void decide(struct comparison *out)
{
    const struct compare_kind *main = NULL;
    double most = -1;

    out->verdict = NOISE_UNKNOWN;
    out->gate = GATE_UNKNOWN;
    for (size_t i = 0; i < out->n_kinds; i++) {
        const struct compare_kind *k = &out->kinds[i];
        double moved =
            fabs(k->change.mean[SIDE_B] - k->change.mean[SIDE_A]) * (double)k->units[SIDE_A];
        bool is_told = k->change.verdict == NOISE_SLOWER || k->change.verdict == NOISE_FASTER;
        moved += is_told ? TOLD_FIRST : 0;
        if (moved > most) {
            most = moved;
            main = k;
        }
        if (!is_negligible(out, k) && is_worse(k, out->worst))
            out->worst = k;
    }
    out->worst = out->worst != NULL ? out->worst : main;
    if (main != NULL)
        out->verdict = main->change.verdict;
    if (out->worst != NULL)
        out->gate = out->worst->change.gate;
    if (out->is_equal) {
        out->verdict = NOISE_NOTHING;
        out->gate = GATE_PASS;
    } else if (out->gate == GATE_FAIL && out->worst->change.is_doubled)
        out->verdict = NOISE_SLOWER;
}

/* Lengths of other work stand side by side without a verdict. */
static void forbid(struct comparison *out)
{
    for (size_t i = 0; i < out->n_kinds; i++) {
        struct compare_kind *k = &out->kinds[i];
        for (int m = 0; m < UNIT_METRICS; m++) {
            k->metrics[m].verdict = NOISE_UNKNOWN;
            k->metrics[m].gate = GATE_UNKNOWN;
        }
        k->change = k->metrics[UNIT_LENGTH];
    }
    out->verdict = NOISE_UNKNOWN;
    out->gate = GATE_UNKNOWN;
    out->is_equal = false;
    out->relative = NAN;
}

/* Steps where every run marks them, repeating units where none does, else rates. */
static void match_units(struct comparer *c)
{
    struct runs_kind sides[SIDES];
    bool is_marked = true, is_unmarked = true;

    for (int side = 0; side < SIDES; side++)
        for (size_t r = 0; r < c->sides[side].n; r++) {
            is_marked = is_marked && c->sides[side].at[r]->source == UNITS_MARKED;
            is_unmarked = is_unmarked && c->sides[side].at[r]->source == UNITS_REPEATED;
        }
    c->out->is_equal = true;
    if (is_marked) {
        compare_marked(c);
    } else if (is_unmarked && common_anchor(c, sides)) {
        judge_likeness(c, sides[SIDE_A].runs[0], sides[SIDE_B].runs[0],
                       work_shared(sides[SIDE_A].runs[0], sides[SIDE_B].runs[0]));
        c->out->method = METHOD_UNITS;
        c->out->kinds = ARENA_ARRAY(c->arena, struct compare_kind, 1);
        add_kind(c, sides);
    } else {
        judge_likeness(c, NULL, NULL, NAN);
        compare_rates(c);
        c->out->is_equal = false;
    }
}

struct comparison *compare_find(struct profile_list a, struct profile_list b,
                                struct compare_options options, struct arena *arena)
{
    struct comparer c = {
        .arena = arena, .sides = {a, b}, .out = ARENA_NEW(arena, struct comparison)};

    arena_init(&c.scratch);
    c.out->options = options;
    c.out->rank = a.at[0]->rank;
    c.out->relative = NAN;
    for (int side = 0; side < SIDES; side++) {
        const struct profile *p = c.sides[side].at[0];
        c.out->name[side] = p->name;
        c.out->runs[side] = c.sides[side].n;
        c.out->kernels[side] = p->kernels;
        c.out->steps[side] = p->steps;
    }
    match_units(&c);
    sum_up(c.out);
    decide(c.out);
    if (c.out->n_kinds == 0 || !(c.out->likeness.is_comparable || c.out->is_equal))
        forbid(c.out);
    if (c.out->n_kinds == 0 && c.out->method != METHOD_RATES)
        c.out->method = METHOD_NONE;
    compare_explain(c.out, arena);
    arena_free(&c.scratch);
    return c.out;
}

enum gate_verdict compare_metric_gate(const struct comparison *c, struct str kind,
                                      enum unit_metric metric, double limit,
                                      const struct compare_kind **which)
{
    enum gate_verdict out = c->is_equal ? GATE_PASS : GATE_UNKNOWN;
    double most = -INFINITY;

    *which = NULL;
    if (!c->likeness.is_comparable && !c->is_equal)
        return GATE_UNKNOWN;
    for (size_t i = 0; i < c->n_kinds; i++) {
        const struct compare_kind *k = &c->kinds[i];
        const struct noise_change *m = &k->metrics[metric];
        if (kind.n > 0 && !str_equal(k->name, kind))
            continue;
        bool is_from_nothing = isnan(m->relative);
        bool is_over = is_from_nothing || m->relative > limit;
        bool is_told = is_from_nothing || m->low > 0 || m->is_doubled;
        bool is_still = c->is_equal || (m->mean[SIDE_A] == 0 && m->mean[SIDE_B] == 0);
        enum gate_verdict gate = is_still                           ? GATE_PASS
                                 : is_over && is_told               ? GATE_FAIL
                                 : is_over || isnan(m->probability) ? GATE_UNKNOWN
                                                                    : GATE_PASS;
        double size = is_from_nothing ? INFINITY : m->relative;
        if (*which == NULL || (gate == GATE_FAIL) > (out == GATE_FAIL) ||
            ((gate == GATE_FAIL) == (out == GATE_FAIL) && size > most)) {
            out = gate;
            most = size;
            *which = k;
        }
    }
    return out;
}
