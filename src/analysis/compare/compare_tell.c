/*
 * A comparison as a report: whether the two can be compared, the answer, then what it is made of.
 */
#include <math.h>

#include "analysis/compare/compare_rows.h"
#include "ops/short_name.h"
#include "report/report.h"
#include "text/diff.h"

enum { MOST_KINDS_SHOWN = 12, MOST_PARTS_SHOWN = 12, MOST_KERNELS_SHOWN = 2 };

static const struct column kind_columns[] = {
    {"kind", COLUMN_TEXT, UNIT_PLAIN},
    {"A ms", COLUMN_NUMBER, UNIT_MS},
    {"B ms", COLUMN_NUMBER, UNIT_MS},
    {"change", COLUMN_RIGHT, UNIT_PLAIN},
    {"99 % interval", COLUMN_RIGHT, UNIT_PLAIN},
    {"verdict", COLUMN_TEXT, UNIT_PLAIN},
    {"units A", COLUMN_NUMBER, UNIT_COUNT},
    {"units B", COLUMN_NUMBER, UNIT_COUNT},
};

static const struct column part_columns[] = {
    {"part of a unit", COLUMN_TEXT, UNIT_PLAIN},
    {"A us", COLUMN_NUMBER, UNIT_US},
    {"B us", COLUMN_NUMBER, UNIT_US},
    {"change us", COLUMN_NUMBER, UNIT_US},
    {"calls", COLUMN_RIGHT, UNIT_PLAIN},
    {"what", COLUMN_TEXT, UNIT_PLAIN},
};

static void tell_likeness(const struct comparison *c, struct report *r)
{
    const struct likeness *l = &c->likeness;
    struct str list = S("");

    for (int i = 0; i < LIKENESS_PARTS; i++) {
        const struct likeness_part *p = &l->parts[i];
        struct str name = message_word(r->lang, str_of(p->name));
        struct str state = message_word(r->lang, str_of(likeness_state_name(p->state))), one;
        if (isfinite(p->share))
            one = REPORT_MESSAGE(r, &diff_text.like_share, PLACE("name", name),
                                 place_quantity("share", p->share, UNIT_RATIO));
        else
            one = REPORT_MESSAGE(r, &diff_text.like_state, PLACE("name", name),
                                 PLACE("state", state));
        if (i > 0)
            one = arena_format(&r->arena, "%.*s%.*s%.*s", STR_ARGS(list),
                               STR_ARGS(report_message(r, &diff_text.comma)), STR_ARGS(one));
        list = one;
    }
    report_text(r, REPORT_MESSAGE(r, &diff_text.likeness,
                                  place_quantity("score", l->score, UNIT_RATIO),
                                  PLACE("parts", list)));
    for (int i = 0; i < LIKENESS_PARTS; i++)
        if (l->parts[i].state == LIKENESS_DIFFERENT && l->parts[i].text[SIDE_A].n > 0)
            report_text(
                r, REPORT_MESSAGE(r, &diff_text.setup,
                                  PLACE("name", message_word(r->lang, str_of(l->parts[i].name))),
                                  PLACE("a", l->parts[i].text[SIDE_A]),
                                  PLACE("b", l->parts[i].text[SIDE_B])));
}

/* A share of NOISE_DRAWS draws: none or all of them is no certainty. */
static struct str tell_probability(double probability, struct report *r)
{
    const double least = 1e-3;

    if (probability < least)
        return REPORT_MESSAGE(r, &diff_text.under, place_quantity("share", least, UNIT_RATIO));
    if (probability > 1 - least)
        return REPORT_MESSAGE(r, &diff_text.over, place_quantity("share", 1 - least, UNIT_RATIO));
    return str_of(quantity_text(&r->arena, probability, UNIT_RATIO));
}

/* Why, and how sure that is. */
static void tell_reason(const struct compare_kind *k, struct report *r)
{
    const struct noise_change *n = &k->change;
    struct str label = message_word(r->lang, k->label);
    bool is_open = n->verdict == NOISE_UNKNOWN && n->slow[SIDE_A] != n->slow[SIDE_B];

    if (k->reason.english.n > 0)
        report_text(r, REPORT_MESSAGE(
                           r, n->verdict == NOISE_UNKNOWN ? &diff_text.mostly : &diff_text.because,
                           PLACE("reason", wording_text(r->lang, &r->arena, k->reason))));
    if (noise_tail_grew(n) || is_open)
        report_text(r, REPORT_MESSAGE(r, &diff_text.tail, PLACE("label", label),
                                      PLACE("a", n->slow[SIDE_A]), PLACE("b", n->slow[SIDE_B]),
                                      PLACE("n_a", n->units[SIDE_A]),
                                      PLACE("n_b", n->units[SIDE_B]), PLACE("p", n->slow_chance)));
    if (isfinite(n->probability))
        report_text(r, REPORT_MESSAGE(
                           r, &diff_text.probability, PLACE("label", label),
                           PLACE("probability", tell_probability(n->probability, r)),
                           place_quantity("limit", n->limit, UNIT_RATIO),
                           place_quantity("spread_a", n->spread[SIDE_A], UNIT_NS),
                           place_quantity("spread_b", n->spread[SIDE_B], UNIT_NS),
                           PLACE("rho", n->autocorrelation),
                           place_quantity("between", n->between, UNIT_RATIO),
                           PLACE("how", report_message(r, n->is_measured ? &diff_text.measured
                                                                         : &diff_text.allowed))));
}

static void put_wording(struct wording w, struct table *table, struct report *r)
{
    table_text(r, table, wording_text(r->lang, &r->arena, w));
}

static void describe_kinds(const struct comparison *c, struct report *r)
{
    struct table *table = report_table(r, kind_columns, ARRAY_LEN(kind_columns));

    for (size_t i = 0; i < c->n_kinds && i < MOST_KINDS_SHOWN; i++) {
        const struct compare_kind *k = &c->kinds[i];
        const struct noise_change *n = &k->change;
        double low = n->is_typical ? n->typical_low : n->low,
               high = n->is_typical ? n->typical_high : n->high;
        struct str name = message_word(r->lang, k->name); /* "all" is no name */
        table_text(r, table, c->method == METHOD_UNITS ? short_name_bare(&r->arena, name) : name);
        table_number(table, n->is_typical ? n->typical[SIDE_A] : n->mean[SIDE_A]);
        table_number(table, n->is_typical ? n->typical[SIDE_B] : n->mean[SIDE_B]);
        put_wording(compare_share(&r->arena, n->is_typical ? n->typical_relative : n->relative),
                    table, r);
        if (isnan(low))
            table_text(r, table, S("-"));
        else
            put_wording(compare_interval(&r->arena, low, high), table, r);
        table_word(r, table, c->is_equal ? "same" : noise_verdict_name(n->verdict));
        table_mark(table, n->verdict == NOISE_SLOWER   ? MARK_BAD
                          : n->verdict == NOISE_FASTER ? MARK_GOOD
                                                       : MARK_NONE);
        table_number(table, (double)k->units[SIDE_A]);
        table_number(table, (double)k->units[SIDE_B]);
    }
}

static bool is_shown(const struct comparison *c, const struct compare_part *p,
                     const struct compare_kind *k)
{
    double by = fabs((double)p->delta);

    return by >= c->options.min_ratio * (double)k->time[SIDE_A] && by > 0 &&
           by >= (double)c->options.min_time;
}

/* Nothing is "-": a column of numbers is read faster. */
static void put_time(nanos time, struct table *table)
{
    table_number(table, time != 0 ? (double)time : NAN);
}

static void put_calls(const struct compare_part *p, struct table *table, struct report *r)
{
    struct str a = compare_calls(&r->arena, p->calls[SIDE_A]),
               b = compare_calls(&r->arena, p->calls[SIDE_B]);

    if (p->class == PART_IDLE)
        table_text(r, table, S("-"));
    else if (str_equal(a, b))
        table_text(r, table, a);
    else
        table_text(r, table, REPORT_MESSAGE(r, &diff_text.from_to, PLACE("a", a), PLACE("b", b)));
}

static void put_part(const struct compare_part *p, bool is_kernel, struct table *table,
                     struct report *r)
{
    struct str kernel = p->class == PART_COPY ? p->name : short_name_bare(&r->arena, p->name);
    struct str name = is_kernel ? arena_format(&r->arena, "  %.*s", STR_ARGS(kernel))
                      : p->class == PART_IDLE
                          ? wording_text(r->lang, &r->arena, compare_part_name(&r->arena, p))
                          : p->name;

    table_text(r, table, name);
    put_time(p->time[SIDE_A], table);
    put_time(p->time[SIDE_B], table);
    table_number(table, (double)p->delta);
    put_calls(p, table, r);
    table_word(r, table, part_change_name(p->change));
}

/* What changed in a kind of units, largest first; below an operator its kernels. */
static void tell_parts(const struct comparison *c, const struct compare_kind *k, struct report *r)
{
    struct table *table = NULL;
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < k->n_parts; i++) {
        const struct compare_part *p = &k->parts[i];
        if (!is_shown(c, p, k))
            continue;
        if (shown++ >= MOST_PARTS_SHOWN) {
            more++;
            continue;
        }
        if (table == NULL)
            table = report_table(r, part_columns, ARRAY_LEN(part_columns));
        put_part(p, false, table, r);
        for (size_t j = 0; j < p->n_kernels && j < MOST_KERNELS_SHOWN && p->n_kernels > 1; j++)
            if (is_shown(c, &p->kernels[j], k))
                put_part(&p->kernels[j], true, table, r);
    }
    if (more > 0)
        report_text(r, REPORT_MESSAGE(r, &diff_text.more_parts, PLACE("n", more)));
}

static void tell_unmatched(const struct comparison *c, struct report *r)
{
    static const char *const names[] = {"A", "B"};

    for (int side = 0; side < SIDES; side++)
        if (c->n_unmatched[side] > 0)
            report_text(r,
                        REPORT_MESSAGE(r, &diff_text.unmatched, PLACE("side", names[side]),
                                       PLACE("kinds", arena_join(&r->arena, c->unmatched[side],
                                                                 c->n_unmatched[side], S(", ")))));
}

void compare_describe(const struct comparison *c, struct report *r)
{
    bool is_told = c->likeness.is_comparable || c->is_equal;

    report_summary(r, REPORT_MESSAGE(r, &diff_text.summary, PLACE("steps_a", c->steps[SIDE_A]),
                                     PLACE("kernels_a", c->kernels[SIDE_A]),
                                     PLACE("steps_b", c->steps[SIDE_B]),
                                     PLACE("kernels_b", c->kernels[SIDE_B])));
    tell_likeness(c, r);
    if (c->by != NULL) {
        compare_rows_describe(c->by, r);
        return;
    }
    report_text(r, wording_text(r->lang, &r->arena, c->text));
    if (is_told && c->worst != NULL && !c->is_equal)
        tell_reason(c->worst, r);
    if (c->record.english.n > 0)
        report_text(r, wording_text(r->lang, &r->arena, c->record));
    if (is_told && c->n_kinds > 0)
        describe_kinds(c, r);
    if (is_told && c->worst != NULL && !c->is_equal)
        tell_parts(c, c->worst, r);
    if (is_told)
        tell_unmatched(c, r);
    if (c->method == METHOD_RATES)
        report_records(r, &compare_family_record, c->families, c->n_families, NULL);
}
