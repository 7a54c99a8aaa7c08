/*
 * Two captures compared: groups matched, samples tested, operators summed.
 */
#include "analysis/compare/compare_rows.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/compare/ranksum.h"
#include "analysis/idle/bubbles.h"
#include "analysis/ops/ops.h"
#include "analysis/steps/groups.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "base/tables/ranked.h"

/* Groups beyond these, by service time, are listed and not compared. */
enum { MAX_GROUPS = 64 };

static const double chance_limit = 0.05; /* of a rank-sum test, two-sided */
static const double least_alike = 0.5;   /* of the kernels of two steps, to be compared at all */

struct compare_options compare_defaults(void)
{
    return (struct compare_options){.min_ratio = 0.01, .min_time = 10000};
}

ENUM_NAMES(compare_metric_name, enum compare_metric, "service_ms", "device_busy_union_ms",
           "underfeed_ms", "prelaunch_gap_ms", "internal_bubble_total_ms", "tail_gap_ms",
           "communication_ms", "total_kernel_count")

const char *change_name(enum change_kind kind, bool is_time)
{
    switch (kind) {
    case CHANGE_NONE:
        return "same";
    case CHANGE_NOISE:
        return "noise";
    case CHANGE_MORE:
        return is_time ? "slower" : "more";
    case CHANGE_LESS:
        break;
    }
    return is_time ? "faster" : "fewer";
}

void compare_prepare(struct study *st)
{
    ops_names(st);
    study_groups(st);
}

/* Calls of one operator in a step. */
struct op_count {
    uint32_t key;
    uint32_t calls;
};

/* A group as it is matched and sampled. */
struct side_group {
    const struct group *group;
    size_t *steps; /* that count */
    size_t n;
    struct op_count *ops; /* of one of them, by key */
    size_t n_ops;
    size_t kernels;
    bool is_taken;
};

struct one_side {
    struct study *st;
    uint32_t *key_of;         /* from the number of an operator in the study to the common one */
    struct interval_set comm; /* all collectives, merged */
    struct side_group *groups;
    size_t n; /* of them */
};

struct comparer {
    struct arena *arena; /* of the result */
    struct arena scratch;
    struct intern keys; /* operators of both sides */
    struct one_side sides[SIDES];
    struct comparison *out;
};

ORDER_BY(by_key, struct op_count, ORDER(x->key, y->key));

/* The operators of one step, each once. */
static void count_ops(struct comparer *c, struct one_side *side, struct side_group *g)
{
    const struct op_names *names = ops_names(side->st);
    struct kernel_range range = study_step_kernels(side->st, g->steps[0]);

    g->kernels = range.to - range.from;
    g->ops = ARENA_ARRAY(&c->scratch, struct op_count, g->kernels);
    for (size_t i = 0; i < g->kernels; i++)
        g->ops[i] = (struct op_count){side->key_of[names->of_kernel[range.from + i]], 1};
    if (g->kernels > 0)
        qsort(g->ops, g->kernels, sizeof(*g->ops), by_key);
    for (size_t i = 0; i < g->kernels; i++)
        if (g->n_ops > 0 && g->ops[g->n_ops - 1].key == g->ops[i].key)
            g->ops[g->n_ops - 1].calls++;
        else
            g->ops[g->n_ops++] = g->ops[i];
}

static void open_side(struct comparer *c, enum side which, struct study *st)
{
    struct one_side *side = &c->sides[which];
    const struct groups *groups = study_groups(st);
    const struct op_names *names = ops_names(st);

    side->st = st;
    side->key_of = ARENA_ARRAY(&c->scratch, uint32_t, names->n);
    for (size_t i = 0; i < names->n; i++)
        side->key_of[i] = intern_put(&c->keys, names->text[i]);
    side->comm = study_gather(st, study_is_comm);
    side->n = groups->n;
    side->groups = ARENA_ARRAY(&c->scratch, struct side_group, groups->n);
    for (size_t i = 0; i < groups->n && i < MAX_GROUPS; i++) {
        struct side_group *g = &side->groups[i];
        g->group = &groups->at[i];
        g->steps = ARENA_ARRAY(&c->scratch, size_t, g->group->n);
        g->n = group_counted_steps(st, g->group, g->steps);
        count_ops(c, side, g);
    }
}

/* Kernels of two steps that are of the same operators. */
static size_t common_kernels(const struct side_group *a, const struct side_group *b)
{
    size_t common = 0;

    for (size_t i = 0, j = 0; i < a->n_ops && j < b->n_ops;)
        if (a->ops[i].key < b->ops[j].key)
            i++;
        else if (a->ops[i].key > b->ops[j].key)
            j++;
        else {
            common += a->ops[i].calls < b->ops[j].calls ? a->ops[i].calls : b->ops[j].calls;
            i++;
            j++;
        }
    return common;
}

struct pairing {
    size_t a, b;
    size_t common;
    double similarity;
};

/* Pairs that are alike in the order of their groups: those with the most time. */
ORDER_BY(likest_first, struct pairing,
         ORDER(y->similarity, x->similarity) ?: ORDER(x->a + x->b, y->a + y->b)
                                             ?: ORDER(x->a, y->a));
ORDER_BY(by_place, struct pairing, ORDER(x->a, y->a));

/* All pairs of groups, the most alike first; and each group taken once. */
static size_t pair_groups(struct comparer *c, struct pairing *pairs)
{
    struct one_side *a = &c->sides[SIDE_A], *b = &c->sides[SIDE_B];
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < a->n && i < MAX_GROUPS; i++)
        for (size_t j = 0; j < b->n && j < MAX_GROUPS; j++) {
            const struct side_group *x = &a->groups[i], *y = &b->groups[j];
            size_t larger = x->kernels > y->kernels ? x->kernels : y->kernels;
            size_t common = common_kernels(x, y);
            double similarity = larger > 0 ? (double)common / (double)larger : 1;
            if (similarity >= least_alike || (a->n == 1 && b->n == 1 && common > 0))
                pairs[n++] = (struct pairing){i, j, common, similarity};
        }
    if (n > 0)
        qsort(pairs, n, sizeof(*pairs), likest_first);
    for (size_t i = 0; i < n; i++) {
        struct pairing p = pairs[i];
        if (a->groups[p.a].is_taken || b->groups[p.b].is_taken)
            continue;
        a->groups[p.a].is_taken = b->groups[p.b].is_taken = true;
        pairs[kept++] = p;
    }
    if (kept > 0)
        qsort(pairs, kept, sizeof(*pairs), by_place);
    return kept;
}

/* Samples of one quantity on both sides; `work` has room for the larger of them. */
struct samples {
    double *at[SIDES];
    size_t n[SIDES];
    double *work;
};

static struct samples samples_new(struct comparer *c, size_t n_a, size_t n_b)
{
    return (struct samples){
        .at = {ARENA_ARRAY(&c->scratch, double, n_a), ARENA_ARRAY(&c->scratch, double, n_b)},
        .n = {n_a, n_b},
        .work = ARENA_ARRAY(&c->scratch, double, n_a > n_b ? n_a : n_b),
    };
}

/* Sorts the samples. */
static double median_of(double *at, size_t n)
{
    if (n == 0)
        return 0;
    ranked_sort(at, n);
    return ranked_at(at, n, 0.5);
}

static struct change compare_judge(struct samples *s, const struct ranksum *ranks,
                                   const struct compare_options *options, bool is_time)
{
    struct change out = {.p = NAN};

    for (int side = 0; side < SIDES; side++) {
        out.median[side] = median_of(s->at[side], s->n[side]);
        for (size_t i = 0; i < s->n[side]; i++)
            s->work[i] = fabs(s->at[side][i] - out.median[side]);
        out.spread[side] = 1.4826 * median_of(s->work, s->n[side]);
    }
    out.delta = out.median[SIDE_B] - out.median[SIDE_A];
    out.relative = out.median[SIDE_A] != 0 ? out.delta / out.median[SIDE_A]
                   : out.delta == 0        ? 0
                                           : NAN;
    bool is_judged = ranksum_least(ranks) <= chance_limit;
    if (is_judged)
        out.p = ranksum_p(ranks, s->at[SIDE_A], s->at[SIDE_B]);
    if (out.delta == 0 || fabs(out.delta) < options->min_ratio * out.median[SIDE_A] ||
        (is_time && fabs(out.delta) < (double)options->min_time))
        out.kind = CHANGE_NONE;
    else if (is_judged && out.p > chance_limit)
        out.kind = CHANGE_NOISE;
    else
        out.kind = out.delta > 0 ? CHANGE_MORE : CHANGE_LESS;
    return out;
}

static double metric_of(struct one_side *side, size_t step, enum compare_metric metric,
                        struct interval *room)
{
    const struct bubbles *b = study_bubbles(side->st);
    const struct step_metrics *m = &b->metrics[step];
    const nanos all[COMPARE_METRICS] = {
        [COMPARE_SERVICE] = m->service,
        [COMPARE_BUSY] = m->busy,
        [COMPARE_UNDERFEED] = m->underfeed,
        [COMPARE_PRELAUNCH] = m->prelaunch,
        [COMPARE_INTERNAL] = m->internal,
        [COMPARE_TAIL] = m->tail,
        [COMPARE_KERNELS] = (nanos)b->inventory[step].kernels,
    };

    if (metric == COMPARE_COMM)
        return (double)interval_length(
            interval_clip(side->comm, study_steps(side->st)->at[step].window, room));
    return (double)all[metric];
}

static void compare_metrics(struct comparer *c, struct compare_group *out,
                            const struct side_group *const *pair, const struct ranksum *ranks)
{
    struct samples s = samples_new(c, pair[SIDE_A]->n, pair[SIDE_B]->n);
    size_t widest = 0;

    for (int side = 0; side < SIDES; side++)
        if (c->sides[side].comm.n > widest)
            widest = c->sides[side].comm.n;
    struct interval *room = ARENA_ARRAY(&c->scratch, struct interval, widest);
    for (int metric = 0; metric < COMPARE_METRICS; metric++) {
        for (int side = 0; side < SIDES; side++)
            for (size_t i = 0; i < pair[side]->n; i++)
                s.at[side][i] = metric_of(&c->sides[side], pair[side]->steps[i],
                                          (enum compare_metric)metric, room);
        out->metrics[metric] =
            compare_judge(&s, ranks, &c->out->options, metric != COMPARE_KERNELS);
    }
}

/* The time of one operator in one step. */
struct op_time {
    uint32_t key;
    uint32_t calls;
    nanos time;
};

struct op_times {
    VEC_OF(struct op_time) all; /* step by step */
    struct op_time *sorted;     /* by key */
    size_t *first;              /* of each key in `sorted`, and one more */
};

/* Sums up the kernels of each step by operator, then puts the sums in order of the operators. */
static void time_ops(struct comparer *c, struct one_side *side, const struct side_group *g,
                     struct op_times *out)
{
    const struct op_names *names = ops_names(side->st);
    struct kernel_order kernels = study_kernels(side->st);
    size_t n_keys = c->keys.strings.n;
    size_t *place = ARENA_ARRAY(&c->scratch, size_t, n_keys); /* in `all`, plus one */

    for (size_t i = 0; i < g->n; i++) {
        struct kernel_range range = study_step_kernels(side->st, g->steps[i]);
        size_t base = out->all.n;
        for (size_t k = range.from; k < range.to; k++) {
            uint32_t key = side->key_of[names->of_kernel[k]];
            if (place[key] <= base) {
                vec_push(&out->all, ((struct op_time){.key = key}));
                place[key] = out->all.n;
            }
            struct op_time *t = &out->all.at[place[key] - 1];
            t->calls++;
            t->time = nanos_add(t->time, side->st->cap->slices.dur[kernels.at[k]]);
        }
    }
    out->first = ARENA_ARRAY(&c->scratch, size_t, n_keys + 2);
    out->sorted = ARENA_ARRAY(&c->scratch, struct op_time, out->all.n);
    for (size_t i = 0; i < out->all.n; i++)
        out->first[out->all.at[i].key + 2]++;
    for (size_t key = 2; key < n_keys + 2; key++)
        out->first[key] += out->first[key - 1];
    for (size_t i = 0; i < out->all.n; i++)
        out->sorted[out->first[out->all.at[i].key + 1]++] = out->all.at[i];
    vec_free(&out->all);
}

/* Fills the samples of one operator: its time in each step, 0 where it is missing. */
static void sample_op(const struct op_times *times, uint32_t key, struct compare_op *op,
                      struct samples *s, enum side side)
{
    size_t from = times->first[key], n = times->first[key + 1] - from;

    for (size_t i = 0; i < s->n[side]; i++)
        s->at[side][i] = i < n ? (double)times->sorted[from + i].time : 0;
    for (size_t i = 0; i < n; i++) {
        op->calls[side] += times->sorted[from + i].calls;
        op->total[side] = nanos_add(op->total[side], times->sorted[from + i].time);
    }
}

ORDER_BY(slower_first, struct compare_op,
         ORDER(y->change.delta, x->change.delta) ?: str_compare(x->key, y->key));

/* Operators that occur on either side. */
static size_t count_keys(const struct op_times *times, size_t n_keys)
{
    size_t n = 0;

    for (size_t key = 0; key < n_keys; key++)
        n += times[SIDE_A].first[key] < times[SIDE_A].first[key + 1] ||
             times[SIDE_B].first[key] < times[SIDE_B].first[key + 1];
    return n;
}

static void compare_ops(struct comparer *c, struct compare_group *out,
                        const struct side_group *const *pair, const struct ranksum *ranks)
{
    struct op_times times[SIDES] = {0};
    struct samples s = samples_new(c, pair[SIDE_A]->n, pair[SIDE_B]->n);
    size_t n_keys = c->keys.strings.n;

    for (int side = 0; side < SIDES; side++)
        time_ops(c, &c->sides[side], pair[side], &times[side]);
    out->ops = ARENA_ARRAY(c->arena, struct compare_op, count_keys(times, n_keys));
    for (uint32_t key = 0; key < n_keys; key++) {
        struct compare_op op = {.key = intern_get(&c->keys, key)};
        for (int side = 0; side < SIDES; side++)
            sample_op(&times[side], key, &op, &s, (enum side)side);
        if (op.calls[SIDE_A] + op.calls[SIDE_B] == 0)
            continue;
        op.key = arena_str(c->arena, op.key);
        op.change = compare_judge(&s, ranks, &c->out->options, true);
        op.per_step_calls = num_share(op.calls[SIDE_B], out->samples[SIDE_B]) -
                            num_share(op.calls[SIDE_A], out->samples[SIDE_A]);
        out->ops[out->n_ops++] = op;
    }
    if (out->n_ops > 0)
        qsort(out->ops, out->n_ops, sizeof(*out->ops), slower_first);
}

static struct compare_group compare_pair(struct comparer *c, const struct pairing *p)
{
    const struct side_group *pair[SIDES] = {&c->sides[SIDE_A].groups[p->a],
                                            &c->sides[SIDE_B].groups[p->b]};
    struct arena_mark mark = arena_mark(&c->scratch);
    struct ranksum ranks = ranksum_of(&c->scratch, pair[SIDE_A]->n, pair[SIDE_B]->n);
    struct compare_group out = {
        .index = {p->a, p->b},
        .similarity = p->similarity,
        .is_same_work = group_same_work(p->common, pair[SIDE_A]->kernels, pair[SIDE_B]->kernels),
        .is_judged = ranksum_least(&ranks) <= chance_limit,
    };

    for (int side = 0; side < SIDES; side++) {
        out.steps[side] = pair[side]->group->n;
        out.samples[side] = pair[side]->n;
    }
    compare_metrics(c, &out, pair, &ranks);
    compare_ops(c, &out, pair, &ranks);
    arena_rewind(&c->scratch, mark);
    return out;
}

static int most_added_first(const void *a, const void *b)
{
    const struct compare_total *x = a, *y = b;
    nanos dx = nanos_sub(x->total[SIDE_B], x->total[SIDE_A]);
    nanos dy = nanos_sub(y->total[SIDE_B], y->total[SIDE_A]);

    return ORDER(dy, dx) ?: str_compare(x->key, y->key);
}

static void compare_totals(struct comparer *c)
{
    size_t n_keys = c->keys.strings.n;
    struct compare_total *all = ARENA_ARRAY(c->arena, struct compare_total, n_keys);
    nanos sum[SIDES] = {0};

    for (int i = 0; i < SIDES; i++) {
        struct one_side *side = &c->sides[i];
        struct kernel_order kernels = study_kernels(side->st);
        const struct op_names *names = ops_names(side->st);
        for (size_t k = 0; k < kernels.n; k++) {
            struct compare_total *t = &all[side->key_of[names->of_kernel[k]]];
            nanos time = side->st->cap->slices.dur[kernels.at[k]];
            t->calls[i]++;
            t->total[i] = nanos_add(t->total[i], time);
            sum[i] = nanos_add(sum[i], time);
        }
    }
    c->out->totals = all;
    for (uint32_t key = 0; key < n_keys; key++) {
        struct compare_total t = all[key];
        if (t.calls[SIDE_A] + t.calls[SIDE_B] == 0)
            continue;
        t.key = arena_str(c->arena, intern_get(&c->keys, key));
        for (int i = 0; i < SIDES; i++)
            t.share[i] = num_share(t.total[i], sum[i]);
        all[c->out->n_totals++] = t;
    }
    if (c->out->n_totals > 0)
        qsort(all, c->out->n_totals, sizeof(*all), most_added_first);
}

static void list_unmatched(struct comparer *c, enum side which)
{
    struct one_side *side = &c->sides[which];

    c->out->unmatched[which] = ARENA_ARRAY(c->arena, size_t, side->n);
    for (size_t i = 0; i < side->n; i++)
        if (!side->groups[i].is_taken)
            c->out->unmatched[which][c->out->n_unmatched[which]++] = i;
}

/* The time of A's steps as they were, and as they would be at B's pace. */
static void sum_up(struct comparison *out)
{
    for (size_t i = 0; i < out->n_groups; i++)
        for (int side = 0; side < SIDES; side++)
            out->service[side] += (double)out->groups[i].steps[SIDE_A] *
                                  out->groups[i].metrics[COMPARE_SERVICE].median[side];
    out->relative =
        out->service[SIDE_A] > 0 ? out->service[SIDE_B] / out->service[SIDE_A] - 1 : NAN;
}

const struct comparison *compare_find(struct study *a, struct study *b,
                                      struct compare_options options, struct arena *arena)
{
    struct study *studies[SIDES] = {a, b};
    struct comparer c = {.arena = arena, .out = ARENA_NEW(arena, struct comparison)};

    arena_init(&c.scratch);
    intern_init(&c.keys);
    c.out->options = options;
    c.out->rank = a->cap->facts.rank;
    for (int side = 0; side < SIDES; side++) {
        c.out->name[side] = arena_cstr(arena, str_of(studies[side]->cap->name));
        c.out->kernels[side] = study_kernels(studies[side]).n;
        c.out->steps[side] = study_steps(studies[side])->n;
        open_side(&c, (enum side)side, studies[side]);
    }
    struct pairing *pairs = ARENA_ARRAY(&c.scratch, struct pairing, MAX_GROUPS * MAX_GROUPS);
    size_t n = pair_groups(&c, pairs);
    c.out->groups = ARENA_ARRAY(arena, struct compare_group, n);
    for (size_t i = 0; i < n; i++)
        c.out->groups[c.out->n_groups++] = compare_pair(&c, &pairs[i]);
    list_unmatched(&c, SIDE_A);
    list_unmatched(&c, SIDE_B);
    compare_totals(&c);
    sum_up(c.out);
    if (options.by > 0)
        c.out->by = compare_rows_find(a, b, (enum op_by)(options.by - 1), arena);
    intern_fini(&c.keys);
    arena_free(&c.scratch);
    return c.out;
}

const struct compare_group *compare_gate(const struct comparison *c, size_t group,
                                         enum compare_metric metric, double limit)
{
    const struct compare_group *worst = NULL;

    for (size_t i = 0; i < c->n_groups; i++) {
        const struct compare_group *g = &c->groups[i];
        const struct change *change = &g->metrics[metric];
        if (change->kind != CHANGE_MORE || (group != SIZE_MAX && g->index[SIDE_A] != group))
            continue;
        bool is_over = isnan(change->relative) || change->relative > limit; /* NAN: from nothing */
        if (is_over && (worst == NULL || change->relative > worst->metrics[metric].relative))
            worst = g;
    }
    return worst;
}
