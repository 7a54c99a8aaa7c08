/*
 * The comparison job: two captures in, what changed out.
 */
#include "answers/answer_diff.h"

#include <math.h>

#include "analysis/compare/compare_rows.h"
#include "analysis/study.h"
#include "base/run/pool.h"
#include "capture/fleet.h"
#include "report/report.h"
#include "text/diff.h"

bool diff_percent(struct str text, double *out)
{
    struct str number = str_trim(text);
    double value;

    if (number.n > 0 && number.at[number.n - 1] == '%')
        number = str_part(number, 0, number.n - 1);
    if (!num_f64(number, &value) || value < 0)
        return false;
    *out = value / 100;
    return true;
}

bool diff_gate_parse(struct arena *arena, const char *text, struct diff_gate *out,
                     const char **problem)
{
    struct str all = str_of(text);
    size_t at = str_find_char(all, '>');
    struct str name = str_trim(str_part(all, 0, at));
    size_t dot = str_find_char(name, '.');
    uint64_t n;

    *out = (struct diff_gate){.kind = S("")};
    *problem = "expected a metric, > and a percentage";
    if (at == all.n || !diff_percent(str_part(all, at + 1, all.n), &out->limit))
        return false;
    if (dot < name.n) {
        out->kind = arena_str(arena, str_part(name, 0, dot));
        if (out->kind.n < 2 || out->kind.at[0] != 'g' || !num_u64(str_part(out->kind, 1, dot), &n))
            return false;
        name = str_part(name, dot + 1, name.n);
    }
    for (int m = 0; m < UNIT_METRICS; m++)
        if (str_equal(name, str_of(unit_metric_name((enum unit_metric)m)))) {
            out->metric = (enum unit_metric)m;
            return true;
        }
    struct str list = S("");
    for (int m = 0; m < UNIT_METRICS; m++)
        list = arena_format(arena, "%.*s%s%s", STR_ARGS(list), m > 0 ? ", " : "",
                            unit_metric_name((enum unit_metric)m));
    *problem = arena_format(arena, "unknown metric; choose from %.*s", STR_ARGS(list)).at;
    return false;
}

struct loader {
    const struct diff_job *job;
    struct diff_result *out;
    struct diag diag[SIDES];
    enum status status[SIDES];
};

static void load_side(void *ctx, size_t side)
{
    struct loader *l = ctx;

    l->status[side] =
        input_load_all(l->job->path[side], &l->job->input, &l->diag[side], &l->out->fleet[side]);
}

/* ---- gates ---- */

/* "a decode step", "a unit" */
static const char *one_of(struct arena *arena, const struct compare_kind *k)
{
    return arena_printf(arena, "a %.*s", STR_ARGS(k->label));
}

static const char *amount(struct arena *arena, enum unit_metric metric, double value)
{
    return metric == UNIT_KERNELS ? arena_printf(arena, "%g", value)
                                  : quantity_text(arena, value, UNIT_NS);
}

/* "a decode step takes 48.8 ms instead of 2.5 ms" */
static struct str took(struct arena *arena, const struct compare_kind *k, enum unit_metric metric)
{
    static const char *const words[UNIT_METRICS] = {"takes",
                                                    "is busy for",
                                                    "is idle for",
                                                    "is idle before its first kernel for",
                                                    "is idle between kernels for",
                                                    "is idle after its last kernel for",
                                                    "communicates for",
                                                    "launches"};
    const struct noise_change *m = &k->metrics[metric];

    return arena_format(arena, "%s %s %s instead of %s", one_of(arena, k), words[metric],
                        amount(arena, metric, m->mean[SIDE_B]),
                        amount(arena, metric, m->mean[SIDE_A]));
}

/* "+12.0 %, 99 % interval +9.0 to +15.1 %" */
static struct str how_much(struct arena *arena, const struct noise_change *m)
{
    struct str by = compare_share(arena, m->relative).english;

    if (isnan(m->relative))
        return S("from nothing");
    if (isnan(m->low))
        return arena_format(arena, "%.*s; %zu and %zu units: too few to judge noise", STR_ARGS(by),
                            m->units[SIDE_A], m->units[SIDE_B]);
    struct str interval = m->is_typical
                              ? compare_interval(arena, m->typical_low, m->typical_high).english
                              : compare_interval(arena, m->low, m->high).english;
    if (m->is_typical)
        return arena_format(arena, "%.*s; the %s %.*s, %g %% interval %.*s", STR_ARGS(by),
                            noise_part_name(m->part),
                            STR_ARGS(compare_share(arena, m->typical_relative).english),
                            100 * m->typical_sure, STR_ARGS(interval));
    return arena_format(arena, "%.*s, 99 %% interval %.*s", STR_ARGS(by), STR_ARGS(interval));
}

static struct str explain_gate(struct arena *arena, const struct comparison *c,
                               const struct compare_kind *k, const struct diff_gate *gate,
                               enum gate_verdict verdict)
{
    const struct noise_change *m = &k->metrics[gate->metric];
    struct str text = took(arena, k, gate->metric);

    if (c->is_equal)
        return arena_format(arena, "%.*s: the same recording", STR_ARGS(text));
    text = arena_format(arena, "%.*s (%.*s; limit %g %%)", STR_ARGS(text),
                        STR_ARGS(how_much(arena, m)), 100 * gate->limit);
    if (verdict != GATE_PASS && k->reason.english.n > 0)
        text = arena_format(arena, "%.*s: %.*s", STR_ARGS(text), STR_ARGS(k->reason.english));
    if (verdict == GATE_UNKNOWN)
        text = arena_format(arena, "cannot tell: %.*s. %.*s", STR_ARGS(text),
                            STR_ARGS(c->record.english));
    return text;
}

enum gate_verdict diff_gate_decide(struct arena *arena, const struct comparison *c,
                                   const struct diff_gate *gate, struct str *text)
{
    const struct compare_kind *k = c->worst;
    enum gate_verdict verdict = c->gate;

    if (gate->metric != UNIT_LENGTH || gate->kind.n > 0)
        verdict = compare_metric_gate(c, gate->kind, gate->metric, gate->limit, &k);
    if (k == NULL || (!c->likeness.is_comparable && !c->is_equal)) {
        *text = arena_format(arena, "c%.*s %.*s", /* "Cannot be compared" */
                             STR_ARGS(str_part(c->text.english, 1, c->text.english.n)),
                             STR_ARGS(c->record.english));
        return GATE_UNKNOWN;
    }
    *text = explain_gate(arena, c, k, gate, verdict);
    return verdict;
}

static void check_gates(const struct diff_job *job, struct arena *arena, const struct comparison *c,
                        struct diag *d, struct diff_result *out)
{
    struct where where = {.path = arena_cstr(arena, c->name[SIDE_B])};

    for (size_t i = 0; i < job->n_gates; i++) {
        struct str text;
        if (diff_gate_decide(arena, c, &job->gates[i], &text) == GATE_PASS)
            continue;
        diag_add(d, SEV_WARN, "diff.gate", where, "%.*s", STR_ARGS(text));
        out->gates_reached++;
    }
}

/* ---- ranks ---- */

struct diff_sides {
    struct study studies[SIDES];
    const struct profile *profiles[SIDES];
    struct arena arenas[SIDES];
    bool is_unmarked;
};

static void profile_side(void *ctx, size_t side)
{
    struct diff_sides *s = ctx;

    s->profiles[side] = profile_make(&s->studies[side], s->is_unmarked, &s->arenas[side]);
}

static struct comparison *diff_compare(const struct diff_job *job, const struct capture *a,
                                       const struct capture *b, struct arena *arena)
{
    const struct capture *caps[SIDES] = {a, b};
    struct diff_sides s = {.is_unmarked = false};

    for (int side = 0; side < SIDES; side++) {
        arena_init(&s.arenas[side]);
        study_begin(&s.studies[side], caps[side], study_defaults());
    }
    pool_for(job->input.pool, SIDES, profile_side, &s);
    /* Where one side has no marks, neither uses them. */
    if ((s.profiles[SIDE_A]->source == UNITS_MARKED) !=
        (s.profiles[SIDE_B]->source == UNITS_MARKED)) {
        s.is_unmarked = true;
        pool_for(job->input.pool, SIDES, profile_side, &s);
    }
    struct comparison *out =
        compare_find((struct profile_list){&s.profiles[SIDE_A], 1},
                     (struct profile_list){&s.profiles[SIDE_B], 1}, job->compare, arena);
    if (job->compare.by > 0)
        out->by = compare_rows_find(&s.studies[SIDE_A], &s.studies[SIDE_B],
                                    (enum op_by)(job->compare.by - 1), arena);
    for (int side = 0; side < SIDES; side++) {
        out->name[side] = arena_str(arena, out->name[side]);
        study_end(&s.studies[side]);
        arena_free(&s.arenas[side]);
    }
    return out;
}

static void warn_unmatched(const struct capture *cap, char side, struct diag *d)
{
    diag_add(d, SEV_WARN, "diff.rank", (struct where){.path = cap->name},
             "rank %lld is only in %c; skipped", (long long)cap->facts.rank, side);
}

static void compare_ranks(const struct diff_job *job, struct arena *arena, struct diag *d,
                          struct diff_result *out)
{
    const struct fleet *a = out->fleet[SIDE_A], *b = out->fleet[SIDE_B];
    size_t i = 0, j = 0;

    out->at = ARENA_ARRAY(arena, struct comparison *, a->ranks.n + 1);
    while (i < a->ranks.n && j < b->ranks.n) {
        /* Ranks are compared with the same rank where both sides know theirs, else in order. */
        int64_t x = a->ranks.at[i]->facts.rank, y = b->ranks.at[j]->facts.rank;
        if (x == y || x == UNKNOWN || y == UNKNOWN || (a->ranks.n == 1 && b->ranks.n == 1)) {
            out->at[out->n] = diff_compare(job, a->ranks.at[i++], b->ranks.at[j++], arena);
            check_gates(job, arena, out->at[out->n++], d, out);
        } else if (x < y)
            warn_unmatched(a->ranks.at[i++], 'A', d);
        else
            warn_unmatched(b->ranks.at[j++], 'B', d);
    }
    while (i < a->ranks.n)
        warn_unmatched(a->ranks.at[i++], 'A', d);
    while (j < b->ranks.n)
        warn_unmatched(b->ranks.at[j++], 'B', d);
}

enum status answer_diff(const struct diff_job *job, struct arena *arena, struct diag *d,
                        struct diff_result *out)
{
    *out = (struct diff_result){.path = {job->path[SIDE_A], job->path[SIDE_B]},
                                .options = job->compare};
    /* Two threads read a side each; more of them read one after the other, all at one. */
    struct loader l = {.job = job, .out = out};
    struct pool *pool = job->input.pool;
    bool is_split = pool != NULL && pool_width(pool) == 2;
    for (int side = 0; side < SIDES; side++)
        diag_init(&l.diag[side]);
    pool_for(is_split ? pool : NULL, SIDES, load_side, &l);
    for (int side = 0; side < SIDES; side++) {
        diag_merge(d, &l.diag[side]);
        diag_fini(&l.diag[side]);
    }
    TRY(l.status[SIDE_A] != ST_OK ? l.status[SIDE_A] : l.status[SIDE_B]);
    compare_ranks(job, arena, d, out);
    if (out->n == 0)
        return diag_fail(d, ST_NOT_FOUND, "diff.no-partner", (struct where){0},
                         "no rank is in both captures");
    return ST_OK;
}

void diff_result_free(struct diff_result *result)
{
    fleet_free(result->fleet[SIDE_A]);
    fleet_free(result->fleet[SIDE_B]);
}

void diff_describe(const void *result, struct report *r)
{
    const struct diff_result *d = result;

    for (size_t i = 0; i < d->n; i++) {
        if (d->n > 1)
            report_heading(r, REPORT_MESSAGE(r, &diff_text.rank, PLACE("rank", d->at[i]->rank)));
        compare_describe(d->at[i], r);
    }
}

static const struct field statistics_fields[] = {
    FIELD_FIXED("location", "mean"),
    FIELD_FIXED("spread", "1.4826 * MAD"),
    FIELD_FIXED("interval", "99 %, block bootstrap"),
    FIELD(struct diff_result, options.between, "noise_between_runs"),
    FIELD(struct diff_result, options.limit, "limit"),
    FIELD(struct diff_result, options.min_ratio, "min_effect_ratio"),
    FIELD(struct diff_result, options.min_time, "min_effect_us", .scale = 1e3),
};
static const struct record statistics_record = RECORD(struct diff_result, statistics_fields);

static const struct field diff_fields[] = {
    FIELD(struct diff_result, path[SIDE_A], "a"),
    FIELD(struct diff_result, path[SIDE_B], "b"),
    FIELD_GROUP("statistics", &statistics_record),
    FIELD(struct diff_result, gates_reached, "gates_reached"),
    FIELD_POINTERS(struct diff_result, at, n, "comparisons", &comparison_record),
};
static const struct record diff_record = RECORD(struct diff_result, diff_fields);

const struct schema diff_schema = {
    .name = "strata.diff/2",
    .title = "changes between two captures",
    .record = &diff_record,
};
