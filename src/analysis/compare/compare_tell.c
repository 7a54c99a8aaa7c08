/*
 * A comparison as a report: the answer in one sentence, then the tables behind it.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/compare/compare_rows.h"
#include "report/report.h"
#include "text/diff.h"

enum { MAX_GROUP_ROWS = 12, MAX_METRIC_ROWS = 16, MAX_OP_ROWS = 15, MAX_NAMES = 6 };

static const struct column group_columns[] = {
    {"group", COLUMN_TEXT, UNIT_PLAIN},       {"steps A", COLUMN_NUMBER, UNIT_COUNT},
    {"steps B", COLUMN_NUMBER, UNIT_COUNT},   {"time A ms", COLUMN_NUMBER, UNIT_MS},
    {"time B ms", COLUMN_NUMBER, UNIT_MS},    {"change ms", COLUMN_NUMBER, UNIT_MS},
    {"change %", COLUMN_NUMBER, UNIT_RATIO},  {"scatter A ms", COLUMN_NUMBER, UNIT_MS},
    {"scatter B ms", COLUMN_NUMBER, UNIT_MS}, {"verdict", COLUMN_TEXT, UNIT_PLAIN},
};

static const struct column metric_columns[] = {
    {"group", COLUMN_TEXT, UNIT_PLAIN},    {"part of a step", COLUMN_TEXT, UNIT_PLAIN},
    {"A ms", COLUMN_NUMBER, UNIT_MS},      {"B ms", COLUMN_NUMBER, UNIT_MS},
    {"change ms", COLUMN_NUMBER, UNIT_MS}, {"change %", COLUMN_NUMBER, UNIT_RATIO},
    {"verdict", COLUMN_TEXT, UNIT_PLAIN},
};

static const struct column op_columns[] = {
    {"group", COLUMN_TEXT, UNIT_PLAIN},     {"operator", COLUMN_TEXT, UNIT_PLAIN},
    {"A us/step", COLUMN_NUMBER, UNIT_US},  {"B us/step", COLUMN_NUMBER, UNIT_US},
    {"change us", COLUMN_NUMBER, UNIT_US},  {"change %", COLUMN_NUMBER, UNIT_RATIO},
    {"each A us", COLUMN_NUMBER, UNIT_US},  {"each B us", COLUMN_NUMBER, UNIT_US},
    {"calls A", COLUMN_NUMBER, UNIT_COUNT}, {"calls B", COLUMN_NUMBER, UNIT_COUNT},
    {"verdict", COLUMN_TEXT, UNIT_PLAIN},
};

static const char *const metric_words[] = {
    "step time",
    "busy",
    "idle",
    "idle before the first kernel",
    "idle between kernels",
    "idle after the last kernel",
    "communication",
    "kernels",
};

struct teller {
    const struct comparison *c;
    struct report *r;
};

static struct str tell_word(const struct teller *t, const char *english)
{
    return message_word(t->r->lang, str_of(english));
}

/* `list` with one more item. */
static struct str tell_join(struct teller *t, struct str list, struct str item)
{
    struct str comma = report_message(t->r, &diff_text.comma);

    return list.n > 0 ? arena_format(&t->r->arena, "%.*s%.*s%.*s", STR_ARGS(list), STR_ARGS(comma),
                                     STR_ARGS(item))
                      : item;
}

/* "g0", or "g0/g2" when it is another group in B. */
static struct str group_name(struct teller *t, const struct compare_group *g)
{
    if (g->index[SIDE_A] == g->index[SIDE_B])
        return arena_format(&t->r->arena, "g%zu", g->index[SIDE_A]);
    return arena_format(&t->r->arena, "g%zu/g%zu", g->index[SIDE_A], g->index[SIDE_B]);
}

static bool is_change(const struct change *c)
{
    return c->kind == CHANGE_MORE || c->kind == CHANGE_LESS;
}

/* The group whose service changed most in all, in the direction asked for; NULL when none did. */
static const struct compare_group *main_group(const struct comparison *c, enum change_kind kind)
{
    const struct compare_group *best = NULL;
    double most = 0;

    for (size_t i = 0; i < c->n_groups; i++) {
        const struct change *change = &c->groups[i].metrics[COMPARE_SERVICE];
        double weight = fabs(change->delta) * (double)c->groups[i].steps[SIDE_A];
        if (change->kind == kind && weight > most) {
            most = weight;
            best = &c->groups[i];
        }
    }
    return best;
}

/* Busy and the three kinds of idle time add up to service: the one that moved it most. */
static enum compare_metric main_part(const struct compare_group *g)
{
    static const enum compare_metric parts[] = {COMPARE_BUSY, COMPARE_PRELAUNCH, COMPARE_INTERNAL,
                                                COMPARE_TAIL};
    bool is_up = g->metrics[COMPARE_SERVICE].delta > 0;
    enum compare_metric best = COMPARE_BUSY;
    double most = 0;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        double delta = g->metrics[parts[i]].delta;
        if ((is_up ? delta : -delta) > most) {
            most = is_up ? delta : -delta;
            best = parts[i];
        }
    }
    return best;
}

/* "g0 takes 12.61 ms instead of 12.10 ms a step (4.2 % slower), most of it busy: 0.4 ms" */
static struct str group_clause(struct teller *t, const struct compare_group *g)
{
    const struct change *s = &g->metrics[COMPARE_SERVICE];
    enum compare_metric part = main_part(g);
    double moved = g->metrics[part].delta;

    return REPORT_MESSAGE(t->r, moved > 0 ? &diff_text.clause_more : &diff_text.clause_less,
                          PLACE("group", group_name(t, g)),
                          place_quantity("a", s->median[SIDE_A], UNIT_NS),
                          place_quantity("b", s->median[SIDE_B], UNIT_NS),
                          place_quantity("change", fabs(s->relative), UNIT_RATIO),
                          PLACE("verdict", tell_word(t, change_name(s->kind, true))),
                          PLACE("part", tell_word(t, metric_words[part])),
                          place_quantity("moved", fabs(moved), UNIT_NS));
}

/* Not one median differs, of any metric or operator. */
static bool is_equal(const struct comparison *c)
{
    for (size_t i = 0; i < c->n_groups; i++) {
        for (int m = 0; m < COMPARE_METRICS; m++)
            if (c->groups[i].metrics[m].delta != 0)
                return false;
        for (size_t k = 0; k < c->groups[i].n_ops; k++)
            if (c->groups[i].ops[k].change.delta != 0)
                return false;
    }
    return c->n_unmatched[SIDE_A] + c->n_unmatched[SIDE_B] == 0;
}

static void tell_verdict(struct teller *t)
{
    const struct comparison *c = t->c;
    const struct compare_group *slower = main_group(c, CHANGE_MORE);
    const struct compare_group *faster = main_group(c, CHANGE_LESS);

    if (c->n_groups == 0) {
        report_text(t->r, report_message(t->r, &diff_text.nothing));
        return;
    }
    if (slower == NULL && faster == NULL) {
        report_text(t->r, report_message(t->r, is_equal(c) ? &diff_text.equal : &diff_text.same));
        return;
    }
    bool is_small = fabs(c->relative) < c->options.min_ratio;
    const struct compare_group *first = c->relative > 0 ? slower : faster;
    const struct compare_group *second = first == slower ? faster : slower;
    if (first == NULL) { /* the sum is moved by noise in other groups */
        first = second;
        second = NULL;
    }
    const struct message *head = is_small          ? &diff_text.head_same
                                 : c->relative > 0 ? &diff_text.head_slower
                                                   : &diff_text.head_faster;
    struct str all =
        REPORT_MESSAGE(t->r, head, place_quantity("change", fabs(c->relative), UNIT_RATIO));
    struct str clause = group_clause(t, first);
    if (second == NULL)
        report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.verdict, PLACE("head", all),
                                         PLACE("clause", clause)));
    else
        report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.verdict_but, PLACE("head", all),
                                         PLACE("clause", clause),
                                         PLACE("other", group_clause(t, second))));
}

/* The verdict, with the mark of one that noise could not be taken out of. */
static void put_verdict(struct teller *t, struct table *table, const struct change *c)
{
    struct str name = tell_word(t, change_name(c->kind, true));

    table_text(t->r, table,
               isnan(c->p) && is_change(c) ? arena_format(&t->r->arena, "%.*s?", STR_ARGS(name))
                                           : name);
    if (is_change(c))
        table_mark(table, isnan(c->p) ? MARK_DOUBT : c->kind == CHANGE_MORE ? MARK_BAD : MARK_GOOD);
}

static void tell_groups(struct teller *t)
{
    if (t->c->n_groups == 0)
        return;
    struct table *table = report_table(t->r, group_columns, ARRAY_LEN(group_columns));
    for (size_t i = 0; i < t->c->n_groups && i < MAX_GROUP_ROWS; i++) {
        const struct compare_group *g = &t->c->groups[i];
        const struct change *s = &g->metrics[COMPARE_SERVICE];
        table_text(t->r, table, group_name(t, g));
        table_number(table, (double)g->steps[SIDE_A]);
        table_number(table, (double)g->steps[SIDE_B]);
        table_number(table, s->median[SIDE_A]);
        table_number(table, s->median[SIDE_B]);
        table_number(table, s->delta);
        table_number(table, s->relative);
        table_number(table, g->samples[SIDE_A] > 1 ? s->spread[SIDE_A] : NAN);
        table_number(table, g->samples[SIDE_B] > 1 ? s->spread[SIDE_B] : NAN);
        put_verdict(t, table, s);
    }
    if (t->c->n_groups > MAX_GROUP_ROWS)
        report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.more_groups,
                                         PLACE("n", t->c->n_groups - MAX_GROUP_ROWS)));
}

/* A changed metric or operator of some group, to be put in order with others. */
struct row {
    const struct compare_group *group;
    const struct compare_op *op; /* NULL: a metric */
    enum compare_metric metric;
    double weight; /* change over all steps of A */
};

ORDER_BY(heaviest_first, struct row,
         ORDER(y->weight, x->weight) ?: ORDER(x->group, y->group) ?: ORDER(x->op, y->op)
         ?: ORDER(x->metric, y->metric));

/* Of many rows in order those in the middle, which changed least, are left out. */
static bool is_shown(size_t i, size_t n, size_t most)
{
    return n <= most || i < (most + 1) / 2 || i >= n - most / 2;
}

static void tell_metrics(struct teller *t)
{
    struct row *rows = ARENA_ARRAY(&t->r->arena, struct row, t->c->n_groups * COMPARE_METRICS);
    size_t n = 0;

    for (size_t i = 0; i < t->c->n_groups; i++)
        for (int m = COMPARE_BUSY; m < COMPARE_KERNELS; m++) {
            const struct compare_group *g = &t->c->groups[i];
            if (is_change(&g->metrics[m]))
                rows[n++] = (struct row){g, NULL, (enum compare_metric)m,
                                         g->metrics[m].delta * (double)g->steps[SIDE_A]};
        }
    if (n == 0)
        return;
    qsort(rows, n, sizeof(*rows), heaviest_first);
    struct table *table = report_table(t->r, metric_columns, ARRAY_LEN(metric_columns));
    for (size_t i = 0; i < n; i++) {
        const struct change *c = &rows[i].group->metrics[rows[i].metric];
        if (!is_shown(i, n, MAX_METRIC_ROWS))
            continue;
        table_text(t->r, table, group_name(t, rows[i].group));
        table_word(t->r, table, metric_words[rows[i].metric]);
        table_number(table, c->median[SIDE_A]);
        table_number(table, c->median[SIDE_B]);
        table_number(table, c->delta);
        table_number(table, c->relative);
        put_verdict(t, table, c);
    }
}

static double each(const struct compare_op *op, enum side side)
{
    return num_ratio(op->total[side], op->calls[side]);
}

static void put_op(struct teller *t, struct table *table, const struct row *row)
{
    const struct compare_op *op = row->op;

    table_text(t->r, table, group_name(t, row->group));
    table_text(t->r, table, op->key);
    table_number(table, op->change.median[SIDE_A]);
    table_number(table, op->change.median[SIDE_B]);
    table_number(table, op->change.delta);
    table_number(table, op->change.relative);
    table_number(table, each(op, SIDE_A));
    table_number(table, each(op, SIDE_B));
    table_number(table, (double)op->calls[SIDE_A]);
    table_number(table, (double)op->calls[SIDE_B]);
    if (op->calls[SIDE_A] == 0 || op->calls[SIDE_B] == 0)
        table_word(t->r, table, op->calls[SIDE_A] == 0 ? "new" : "gone");
    else
        put_verdict(t, table, &op->change);
}

static void tell_ops(struct teller *t)
{
    size_t room = 0, n = 0, shown = 0;

    for (size_t i = 0; i < t->c->n_groups; i++)
        room += t->c->groups[i].n_ops;
    struct row *rows = ARENA_ARRAY(&t->r->arena, struct row, room);
    for (size_t i = 0; i < t->c->n_groups; i++)
        for (size_t k = 0; k < t->c->groups[i].n_ops; k++) {
            const struct compare_group *g = &t->c->groups[i];
            if (is_change(&g->ops[k].change))
                rows[n++] = (struct row){g, &g->ops[k], COMPARE_SERVICE,
                                         g->ops[k].change.delta * (double)g->steps[SIDE_A]};
        }
    if (n == 0)
        return;
    qsort(rows, n, sizeof(*rows), heaviest_first);
    struct table *table = report_table(t->r, op_columns, ARRAY_LEN(op_columns));
    for (size_t i = 0; i < n; i++)
        if (is_shown(i, n, MAX_OP_ROWS)) {
            put_op(t, table, &rows[i]);
            shown++;
        }
    if (shown < n)
        report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.more_ops, PLACE("n", n - shown)));
}

/* Operators that only one side has: "New in B: X (12 calls, 1.2 ms), ..." */
static void tell_only(struct teller *t, const struct message *head, enum side side)
{
    struct str list = S("");
    size_t n = 0;

    for (size_t i = 0; i < t->c->n_totals; i++) {
        /* What was added stands first, what is gone last: the largest of either comes first. */
        size_t at = side == SIDE_B ? i : t->c->n_totals - 1 - i;
        const struct compare_total *op = &t->c->totals[at];
        if (op->calls[side] == 0 || op->calls[1 - side] != 0 || n++ >= MAX_NAMES)
            continue;
        list = tell_join(t, list,
                         REPORT_MESSAGE(t->r, &diff_text.op, PLACE("op", op->key),
                                        PLACE("calls", op->calls[side]),
                                        place_quantity("time", (double)op->total[side], UNIT_NS)));
    }
    if (n > MAX_NAMES)
        list = REPORT_MESSAGE(t->r, &diff_text.more_names, PLACE("list", list),
                              PLACE("n", n - MAX_NAMES));
    if (n > 0)
        report_text(t->r, REPORT_MESSAGE(t->r, head, PLACE("list", list)));
}

static void tell_unmatched(struct teller *t)
{
    static const char *const names[] = {"A", "B"};

    for (int side = 0; side < SIDES; side++) {
        size_t n = t->c->n_unmatched[side];
        struct str list = S("");
        for (size_t i = 0; i < n && i < MAX_NAMES; i++)
            list = tell_join(t, list, arena_format(&t->r->arena, "g%zu", t->c->unmatched[side][i]));
        if (n > MAX_NAMES)
            list = tell_join(t, list, S("..."));
        if (n > 0)
            report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.unmatched, PLACE("side", names[side]),
                                             PLACE("n", n), PLACE("groups", list)));
    }
    for (size_t i = 0; i < t->c->n_groups; i++) {
        const struct compare_group *g = &t->c->groups[i];
        if (!g->is_same_work)
            report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.other_kernels,
                                             PLACE("group", group_name(t, g)),
                                             place_quantity("share", g->similarity, UNIT_RATIO)));
    }
}

static void tell_statistics(struct teller *t)
{
    struct str counts = S(""), few = S("");

    for (size_t i = 0; i < t->c->n_groups && i < MAX_GROUP_ROWS; i++) {
        const struct compare_group *g = &t->c->groups[i];
        struct str name = group_name(t, g);
        counts = tell_join(t, counts,
                           REPORT_MESSAGE(t->r, &diff_text.samples, PLACE("group", name),
                                          PLACE("a", g->samples[SIDE_A]),
                                          PLACE("b", g->samples[SIDE_B])));
        if (!g->is_judged)
            few = tell_join(t, few, name);
    }
    if (t->c->n_groups > 0)
        report_text(
            t->r, REPORT_MESSAGE(t->r, &diff_text.statistics, PLACE("counts", counts),
                                 place_quantity("effect", t->c->options.min_ratio, UNIT_RATIO),
                                 place_quantity("time", (double)t->c->options.min_time, UNIT_NS)));
    if (few.n > 0)
        report_text(t->r, REPORT_MESSAGE(t->r, &diff_text.too_few, PLACE("groups", few)));
}

/* The shorter run spends at least half of its time in operators that the other has too. */
static bool is_like_work(const struct comparison *c)
{
    nanos common[SIDES] = {0}, all[SIDES] = {0};

    for (size_t i = 0; i < c->n_totals; i++) {
        const struct compare_total *t = &c->totals[i];
        for (int side = 0; side < SIDES; side++) {
            all[side] += t->total[side];
            common[side] += t->calls[!side] > 0 ? t->total[side] : 0;
        }
    }
    enum side shorter = all[SIDE_A] < all[SIDE_B] ? SIDE_A : SIDE_B;
    return common[shorter] >= all[shorter] / 2;
}

void compare_describe(const struct comparison *c, const struct diagnosis *const of[SIDES],
                      struct report *r)
{
    struct teller t = {.c = c, .r = r};

    report_summary(r, REPORT_MESSAGE(r, &diff_text.summary, PLACE("steps_a", c->steps[SIDE_A]),
                                     PLACE("kernels_a", c->kernels[SIDE_A]),
                                     PLACE("steps_b", c->steps[SIDE_B]),
                                     PLACE("kernels_b", c->kernels[SIDE_B])));
    if (c->by != NULL) {
        compare_rows_describe(c->by, r);
    } else {
        if (!is_like_work(c) || !compare_describe_steps(of, r))
            tell_verdict(&t);
        tell_groups(&t);
        tell_metrics(&t);
        tell_ops(&t);
        tell_only(&t, &diff_text.new_in_b, SIDE_B);
        tell_only(&t, &diff_text.gone_in_b, SIDE_A);
        tell_unmatched(&t);
        tell_statistics(&t);
    }
    compare_describe_causes(of, r);
}
