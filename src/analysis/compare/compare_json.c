/*
 * The document strata.diff/1, described. Keys and their order are a contract; times carry their
 * unit in the key, and what cannot be told is null.
 */
#include <math.h>

#include "analysis/compare/compare_rows.h"

/* Both sides, the change and how sure it is, in the unit that is printed. */
struct doc_change {
    const char *metric, *verdict;
    double a, b, change, ratio, spread_a, spread_b, p;
};

static const struct field change_fields[] = {
    FIELD(struct doc_change, metric, "metric"),
    FIELD(struct doc_change, a, "a"),
    FIELD(struct doc_change, b, "b"),
    FIELD(struct doc_change, change, "change"),
    FIELD(struct doc_change, ratio, "change_ratio"),
    FIELD(struct doc_change, spread_a, "spread_a"),
    FIELD(struct doc_change, spread_b, "spread_b"),
    FIELD(struct doc_change, p, "p"),
    FIELD(struct doc_change, verdict, "verdict"),
};
static const struct record change_record = RECORD(struct doc_change, change_fields);

/* `unit` nanoseconds are one of what is printed. */
static struct doc_change json_change_of(const struct change *c, const char *metric, double unit,
                                        bool is_time)
{
    return (struct doc_change){
        .metric = metric,
        .verdict = change_name(c->kind, is_time),
        .a = c->median[SIDE_A] / unit,
        .b = c->median[SIDE_B] / unit,
        .change = c->delta / unit,
        .ratio = c->relative,
        .spread_a = c->spread[SIDE_A] / unit,
        .spread_b = c->spread[SIDE_B] / unit,
        .p = c->p,
    };
}

/* Calls and time of an operator on both sides. */
struct doc_calls {
    struct str name;
    size_t calls[SIDES];
    nanos total[SIDES];
    double each[SIDES];
};

static struct doc_calls calls_of(struct str name, const size_t *calls, const nanos *total)
{
    struct doc_calls out = {.name = name};

    for (int side = 0; side < SIDES; side++) {
        out.calls[side] = calls[side];
        out.total[side] = total[side];
        out.each[side] = calls[side] > 0 ? (double)total[side] / (double)calls[side] / 1e3 : NAN;
    }
    return out;
}

static const struct field calls_fields[] = {
    FIELD(struct doc_calls, calls[SIDE_A], "calls_a"),
    FIELD(struct doc_calls, calls[SIDE_B], "calls_b"),
    FIELD(struct doc_calls, total[SIDE_A], "total_ms_a", .scale = 1e6),
    FIELD(struct doc_calls, total[SIDE_B], "total_ms_b", .scale = 1e6),
    FIELD(struct doc_calls, each[SIDE_A], "per_call_us_a"),
    FIELD(struct doc_calls, each[SIDE_B], "per_call_us_b"),
};
static const struct record calls_record = RECORD(struct doc_calls, calls_fields);

struct doc_op {
    struct doc_change change;
    struct doc_calls calls;
    const char *presence;
    double per_step_calls, share_a, share_b;
};

static const struct field op_fields[] = {
    FIELD(struct doc_op, calls.name, "operator"),
    FIELD_SPLICE(struct doc_op, change, &change_record),
    FIELD_SPLICE(struct doc_op, calls, &calls_record),
    FIELD(struct doc_op, per_step_calls, "calls_per_step_change"),
};
static const struct record op_record = RECORD(struct doc_op, op_fields);

static const struct field total_fields[] = {
    FIELD(struct doc_op, calls.name, "operator"),      FIELD(struct doc_op, presence, "presence"),
    FIELD_SPLICE(struct doc_op, calls, &calls_record), FIELD(struct doc_op, share_a, "share_a"),
    FIELD(struct doc_op, share_b, "share_b"),
};
static const struct record total_record = RECORD(struct doc_op, total_fields);

static struct field_items list_metrics(const void *record, const struct record_env *env)
{
    const struct compare_group *g = record;
    struct doc_change *list = ARENA_ARRAY(env->arena, struct doc_change, COMPARE_METRICS);

    for (int m = 0; m < COMPARE_METRICS; m++)
        list[m] = json_change_of(&g->metrics[m], compare_metric_name((enum compare_metric)m),
                                 m != COMPARE_KERNELS ? 1e6 : 1, m != COMPARE_KERNELS);
    return (struct field_items){list, COMPARE_METRICS};
}

static struct field_items list_ops(const void *record, const struct record_env *env)
{
    const struct compare_group *g = record;
    struct doc_op *list = ARENA_ARRAY(env->arena, struct doc_op, g->n_ops);

    for (size_t i = 0; i < g->n_ops; i++)
        list[i] = (struct doc_op){
            .change = json_change_of(&g->ops[i].change, "us_per_step", 1e3, true),
            .calls = calls_of(g->ops[i].key, g->ops[i].calls, g->ops[i].total),
            .per_step_calls = g->ops[i].per_step_calls,
        };
    return (struct field_items){list, g->n_ops};
}

static struct field_items list_totals(const void *record, const struct record_env *env)
{
    const struct comparison *c = record;
    struct doc_op *list = ARENA_ARRAY(env->arena, struct doc_op, c->n_totals);

    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->totals[i];
        list[i] = (struct doc_op){
            .calls = calls_of(t->key, t->calls, t->total),
            .presence = t->calls[SIDE_A] == 0   ? "new"
                        : t->calls[SIDE_B] == 0 ? "gone"
                                                : "both",
            .share_a = t->share[SIDE_A],
            .share_b = t->share[SIDE_B],
        };
    }
    return (struct field_items){list, c->n_totals};
}

static struct str group_name(struct arena *arena, size_t index)
{
    return arena_format(arena, "g%zu", index);
}

static struct field_value group_on(const void *record, const char *side,
                                   const struct record_env *env)
{
    return value_text(
        group_name(env->arena, ((const struct compare_group *)record)->index[side[0] - 'a']));
}

static const struct field group_fields[] = {
    FIELD_LOOKED_UP(FIELD_STR, "group_a", group_on, "a"),
    FIELD_LOOKED_UP(FIELD_STR, "group_b", group_on, "b"),
    FIELD(struct compare_group, steps[SIDE_A], "steps_a"),
    FIELD(struct compare_group, steps[SIDE_B], "steps_b"),
    FIELD(struct compare_group, samples[SIDE_A], "samples_a"),
    FIELD(struct compare_group, samples[SIDE_B], "samples_b"),
    FIELD(struct compare_group, similarity, "similarity"),
    FIELD(struct compare_group, is_same_work, "same_work"),
    FIELD(struct compare_group, is_judged, "noise_judged"),
    FIELD_MADE(FIELD_OBJECT, "metrics", list_metrics, &change_record),
    FIELD_MADE(FIELD_OBJECT, "operators", list_ops, &op_record),
};
static const struct record group_record = RECORD(struct compare_group, group_fields);

static struct field_items unmatched(const struct comparison *c, enum side side, struct arena *arena)
{
    struct str *list = ARENA_ARRAY(arena, struct str, c->n_unmatched[side]);

    for (size_t i = 0; i < c->n_unmatched[side]; i++)
        list[i] = group_name(arena, c->unmatched[side][i]);
    return (struct field_items){list, c->n_unmatched[side]};
}

static struct field_items unmatched_a(const void *record, const struct record_env *env)
{
    return unmatched(record, SIDE_A, env->arena);
}

static struct field_items unmatched_b(const void *record, const struct record_env *env)
{
    return unmatched(record, SIDE_B, env->arena);
}

static const struct field unmatched_fields[] = {
    FIELD_MADE(FIELD_STR, "a", unmatched_a, NULL),
    FIELD_MADE(FIELD_STR, "b", unmatched_b, NULL),
};
static const struct record unmatched_record = RECORD(struct comparison, unmatched_fields);

#define SIDE_FIELDS(side)                                                                          \
    FIELD(struct comparison, name[side], "name"), FIELD(struct comparison, steps[side], "steps"),  \
        FIELD(struct comparison, kernels[side], "kernels")

static const struct field a_fields[] = {SIDE_FIELDS(SIDE_A)};
static const struct record a_record = RECORD(struct comparison, a_fields);
static const struct field b_fields[] = {SIDE_FIELDS(SIDE_B)};
static const struct record b_record = RECORD(struct comparison, b_fields);

static const struct field comparison_fields[] = {
    FIELD(struct comparison, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD_GROUP("a", &a_record),
    FIELD_GROUP("b", &b_record),
    FIELD(struct comparison, service[SIDE_A], "service_ms_a", .scale = 1e6),
    FIELD(struct comparison, service[SIDE_B], "service_ms_b", .scale = 1e6),
    FIELD(struct comparison, relative, "service_change_ratio"),
    FIELD_LIST(struct comparison, groups, n_groups, "groups", &group_record),
    FIELD_GROUP("unmatched_groups", &unmatched_record),
    FIELD_MADE(FIELD_OBJECT, "operators", list_totals, &total_record),
    FIELD_POINTER(struct comparison, by, "by", &compare_rows_record, .is_optional = true),
};
const struct record comparison_record = RECORD(struct comparison, comparison_fields);
