/*
 * A simulated kernel as a report, and as records for programs.
 */
#include "cli/kernel/pto_sim_show.h"

#include "capture/capture.h"

#include <inttypes.h>

#include "kernels/pto/pto_judge.h"
#include "report/report.h"
#include "text/pto.h"

/* ---- tables ---- */

static void put_place(struct report *r, struct table *t, uint32_t core, enum pto_pipe pipe)
{
    table_text(r, t, arena_format(&r->arena, "%s %s", pto_core_name(core), pto_pipe_short(pipe)));
}

static void put_percent(struct report *r, struct table *t, const struct pto_outcome *o, int64_t n)
{
    double percent = o->total > 0 ? 100.0 * (double)n / (double)o->total : 0;

    table_text(r, t, arena_format(&r->arena, "%.1f", percent));
}

static struct str text_word(const struct report *r, const char *english)
{
    return message_word(r->lang, str_of(english));
}

/* "flag 1200, scalar 34" */
static struct str causes(struct report *r, const struct pto_unit *u)
{
    struct str text = S("");
    bool done[PTO_CAUSE_COUNT] = {0};

    for (int k = 0; k < 3; k++) {
        int best = 0;
        for (int i = 1; i < PTO_CAUSE_COUNT; i++)
            if (!done[i] && u->stall[i] > 0 && (best == 0 || u->stall[i] > u->stall[best]))
                best = i;
        if (best == 0)
            break;
        done[best] = true;
        struct str cause = text_word(r, pto_cause_name((enum pto_cause)best));
        text = arena_format(&r->arena, "%.*s%s%.*s %" PRId64, STR_ARGS(text),
                            text.n > 0 ? ", " : "", STR_ARGS(cause), u->stall[best]);
    }
    return text;
}

static void add_pipes(struct report *r, const struct pto_outcome *o)
{
    static const struct column columns[] = {{"pipe", COLUMN_TEXT, 0},
                                            {"instructions", COLUMN_NUMBER, UNIT_COUNT},
                                            {"busy", COLUMN_NUMBER, UNIT_COUNT},
                                            {"busy %", COLUMN_RIGHT, 0},
                                            {"stalled", COLUMN_NUMBER, UNIT_COUNT},
                                            {"by cause", COLUMN_TEXT, 0}};
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < o->units.n; i++) {
        const struct pto_unit *u = &o->units.at[i];
        int64_t stalled = 0;
        for (int c = 1; c < PTO_CAUSE_COUNT; c++)
            stalled += u->stall[c];
        put_place(r, t, u->core, u->pipe);
        table_number(t, (double)u->count);
        table_number(t, (double)u->busy);
        put_percent(r, t, o, u->busy);
        table_number(t, (double)stalled);
        table_text(r, t, causes(r, u));
    }
}

static void add_stalls(struct report *r, const struct pto_outcome *o, size_t top)
{
    static const struct column columns[] = {{"stalled", COLUMN_TEXT, 0},
                                            {"waiting for", COLUMN_TEXT, 0},
                                            {"cause", COLUMN_TEXT, 0},
                                            {"times", COLUMN_NUMBER, UNIT_COUNT},
                                            {"cycles", COLUMN_NUMBER, UNIT_COUNT},
                                            {"%", COLUMN_RIGHT, 0}};
    struct table *t = NULL;

    for (size_t i = 0; i < o->stalls.n && (t == NULL || table_rows(t) < top); i++) {
        const struct pto_stall *x = &o->stalls.at[i];
        if (x->pipe == PTO_PIPE_S && x->cause == PTO_CAUSE_BARRIER)
            continue; /* at the last barrier of every kernel */
        if (t == NULL)
            t = report_table(r, columns, ARRAY_LEN(columns));
        put_place(r, t, x->core, x->pipe);
        put_place(r, t, x->from_core, x->from);
        table_word(r, t, pto_cause_name(x->cause));
        table_number(t, (double)x->count);
        table_number(t, (double)x->cycles);
        put_percent(r, t, o, x->cycles);
    }
}

static void add_path(struct report *r, const struct pto_outcome *o, size_t top)
{
    static const struct column columns[] = {{"critical path", COLUMN_TEXT, 0},
                                            {"spent on", COLUMN_TEXT, 0},
                                            {"pieces", COLUMN_NUMBER, UNIT_COUNT},
                                            {"cycles", COLUMN_NUMBER, UNIT_COUNT},
                                            {"%", COLUMN_RIGHT, 0}};
    static const char *const sorts[] = {"work", "latency", "sync"};

    if (o->path.n == 0)
        return;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < o->path.n && i < top; i++) {
        const struct pto_path_part *p = &o->path.at[i];
        put_place(r, t, p->core, p->pipe);
        if (p->is_sync && p->cause != PTO_CAUSE_NONE)
            table_text(r, t,
                       REPORT_MESSAGE(r, &pto_text.sync_for,
                                      PLACE("cause", text_word(r, pto_cause_name(p->cause)))));
        else
            table_word(r, t, sorts[p->sort]);
        table_number(t, (double)p->count);
        table_number(t, (double)p->cycles);
        put_percent(r, t, o, p->cycles);
    }
}

static void add_what_ifs(struct report *r, const struct pto_outcome *o,
                         const struct pto_what_ifs *list)
{
    static const struct column columns[] = {{"gain %", COLUMN_RIGHT, 0},
                                            {"cycles", COLUMN_NUMBER, UNIT_COUNT},
                                            {"what if", COLUMN_TEXT, 0},
                                            {"because", COLUMN_TEXT, 0}};
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < list->n; i++) {
        const struct pto_what_if *w = &list->at[i];
        put_percent(r, t, o, o->total - w->cycles);
        table_number(t, (double)w->cycles);
        table_text(r, t, pto_what_if_title(w->what, r->lang, &r->arena));
        table_text(r, t, pto_what_if_evidence(w, r->lang, &r->arena));
    }
}

static void add_changes(struct report *r, const struct pto_advices *a)
{
    static const struct column columns[] = {{"change", COLUMN_RIGHT, 0},
                                            {"gain %", COLUMN_RIGHT, 0},
                                            {"cycles", COLUMN_NUMBER, UNIT_COUNT},
                                            {"what to change", COLUMN_TEXT, 0}};

    if (a->list.n == 0)
        return;
    report_text(r, report_message(r, &pto_text.changes));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < a->list.n; i++) {
        const struct pto_advice *x = &a->list.at[i];
        table_text(r, t, arena_format(&r->arena, "%zu", i + 1));
        table_text(r, t, arena_format(&r->arena, "%.1f", 100 * x->gain));
        table_number(t, (double)x->cycles);
        table_text(r, t, pto_advice_text(x, r->lang, &r->arena));
    }
}

/* ---- lines ---- */

static void add_verdict(struct report *r, const struct pto_outcome *o)
{
    const struct limit_list *l = &o->limits;
    struct str verdict = limits_text(l, r->lang, &r->arena);
    struct str others = limits_others(l, r->lang, &r->arena);

    if (o->is_degenerate || l->bound == LIMIT_NOTHING) {
        report_line_text(
            r, report_message(r, o->is_degenerate ? &pto_text.not_judged : &pto_text.no_work));
        return;
    }
    if (o->has_bound_pipe && l->bound != LIMIT_LAUNCH)
        verdict = REPORT_MESSAGE(r, &pto_text.verdict_pipe, PLACE("verdict", verdict),
                                 PLACE("core", pto_core_name(o->bound_core)),
                                 PLACE("pipe", pto_pipe_short(o->bound_pipe)));
    report_line_text(r, REPORT_MESSAGE(r, &pto_text.verdict, PLACE("verdict", verdict)));
    if (others.n > 0)
        report_line_text(r, REPORT_MESSAGE(r, &pto_text.others, PLACE("others", others)));
    if (limits_first(l) != NULL)
        report_line_text(r, REPORT_MESSAGE(r, &pto_text.advice,
                                           PLACE("advice", text_word(r, limit_advice(l->bound)))));
}

/* "data 61.2 %, busy 20.0 %" */
static void add_reasons(struct report *r, const struct pto_outcome *o)
{
    struct str list = S("");

    for (size_t i = 0; i < o->n_reasons && o->reasons[i].share >= 0.001; i++) {
        struct str one =
            REPORT_MESSAGE(r, &pto_text.reason,
                           PLACE("reason", text_word(r, pto_reason_name(o->reasons[i].reason))),
                           PLACE("share", 100 * o->reasons[i].share));
        list =
            arena_format(&r->arena, "%.*s%s%.*s", STR_ARGS(list), i > 0 ? ", " : "", STR_ARGS(one));
    }
    if (list.n > 0)
        report_text(r, REPORT_MESSAGE(r, &pto_text.reasons, PLACE("list", list)));
}

static void add_head(struct report *r, const struct pto_kernel *k)
{
    const struct pto_outcome *o = &k->outcome;

    report_summary(r, REPORT_MESSAGE(r, &pto_text.summary, PLACE("arch", pto_arch_name(o->arch)),
                                     PLACE("chip", o->chip.name), PLACE("mhz", o->chip.mhz),
                                     PLACE("sync", o->sync)));
    add_verdict(r, o);
    if (k->blocks.n > 1)
        report_line_text(r, REPORT_MESSAGE(r, &pto_text.blocks, PLACE("cycles", k->total),
                                           PLACE("us", k->total_us), PLACE("blocks", k->blocks.n),
                                           PLACE("cores", k->cores), PLACE("longest", k->longest)));
    report_line_text(r, REPORT_MESSAGE(r, o->is_complete ? &pto_text.time : &pto_text.time_partial,
                                       PLACE("cycles", o->total), PLACE("us", o->us),
                                       PLACE("launch", o->us_with_launch), PLACE("start", o->start),
                                       PLACE("n", o->instructions)));
}

static void add_work(struct report *r, const struct pto_outcome *o)
{
    struct str moved = S("");

    for (size_t i = 0; i < o->flows.n; i++) {
        struct str one = REPORT_MESSAGE(
            r, &pto_text.moved_one, PLACE("from", pto_space_name(o->flows.at[i].src)),
            PLACE("to", pto_space_name(o->flows.at[i].dst)), PLACE("bytes", o->flows.at[i].bytes));
        moved = arena_format(&r->arena, "%.*s%s%.*s", STR_ARGS(moved), i > 0 ? ", " : "",
                             STR_ARGS(one));
    }
    if (o->flows.n > 0)
        report_text(r, REPORT_MESSAGE(r, &pto_text.moved, PLACE("list", moved)));
    if (o->gm_read > 0)
        report_line_text(
            r, REPORT_MESSAGE(r, o->is_l2_assumed ? &pto_text.memory_given : &pto_text.memory,
                              PLACE("hit", 100 * o->l2_hit), PLACE("cores", o->cores)));
    if (o->macs > 0)
        report_line_text(r, REPORT_MESSAGE(r, &pto_text.multiplied, PLACE("pairs", o->macs),
                                           PLACE("share", 100.0 * (double)o->macs /
                                                              (o->peak_macs * (double)o->total))));
    if (o->inserted_barriers > 0)
        report_line_text(r,
                         REPORT_MESSAGE(r, &pto_text.barriers, PLACE("n", o->inserted_barriers)));
}

/* Assumptions about the same argument. */
static bool is_same_argument(const struct pto_assumed *a, const struct pto_assumed *b)
{
    return a->name.n > 0 && str_equal(a->name, b->name) && a->is_pointer == b->is_pointer;
}

/* `more`: places besides this one where the same argument decides. */
static struct str assumed_text(struct report *r, const struct pto_assumed *a, size_t more)
{
    struct str kind = text_word(r, pto_assumed_kind((unsigned)a->kind));

    if (a->kind == PTO_ASSUMED_WAIT)
        return REPORT_MESSAGE(r, &pto_text.assumed_wait, PLACE("line", a->line));
    if (a->name.n == 0)
        return REPORT_MESSAGE(r, &pto_text.assumed_tile, PLACE("kind", kind),
                              PLACE("line", a->line));
    if (more > 0)
        return REPORT_MESSAGE(
            r, a->is_pointer ? &pto_text.assumed_data_often : &pto_text.assumed_value_often,
            PLACE("name", a->name), PLACE("kind", kind), PLACE("line", a->line),
            PLACE("more", more));
    return REPORT_MESSAGE(r, a->is_pointer ? &pto_text.assumed_data : &pto_text.assumed_value,
                          PLACE("name", a->name), PLACE("kind", kind), PLACE("line", a->line));
}

/* A line of a list: a blank line stands before the first. */
static void add_line(struct report *r, size_t i, struct str text)
{
    if (i == 0)
        report_text(r, text);
    else
        report_line_text(r, text);
}

static void add_assumed(struct report *r, const struct pto_outcome *o)
{
    for (size_t i = 0; i < o->assumed.n; i++) {
        const struct pto_assumed *a = &o->assumed.at[i];
        size_t before = 0, more = 0;
        for (size_t k = 0; k < o->assumed.n; k++) {
            before += k < i && is_same_argument(a, &o->assumed.at[k]);
            more += k > i && is_same_argument(a, &o->assumed.at[k]);
        }
        if (before == 0)
            add_line(r, i, assumed_text(r, a, more));
    }
}

static struct str check_text(struct report *r, const struct pto_checked_arg *c)
{
    const struct pto_compared *x = &c->result;

    if (x->wrong == 0)
        return REPORT_MESSAGE(r, &pto_text.check_good, PLACE("name", c->name), PLACE("n", x->n),
                              PLACE("away", x->max_abs));
    return REPORT_MESSAGE(r, &pto_text.check_wrong, PLACE("name", c->name),
                          PLACE("wrong", x->wrong), PLACE("n", x->n), PLACE("first", x->first),
                          PLACE("got", x->got), PLACE("expected", x->expected),
                          PLACE("away", x->max_abs));
}

enum status pto_sim_simulate(struct pto_kernel *k, const struct pto_costs *costs,
                             const struct pto_setup *setup, bool all, struct diag *d)
{
    TRY(pto_kernel_load(k, setup, d));
    TRY(pto_kernel_bind(k, setup, d));
    TRY(pto_kernel_run(k, costs, setup, d));
    pto_judge(k, costs, setup, all);
    return ST_OK;
}

void pto_sim_describe(const struct pto_sim_run *run, size_t top, struct report *r)
{
    const struct pto_outcome *o = &run->k.outcome;
    const struct incore_view *v = &run->view; /* empty, unless it is asked for */

    add_head(r, &run->k);
    add_pipes(r, o);
    add_stalls(r, o, top);
    add_path(r, o, top);
    add_reasons(r, o);
    add_work(r, o);
    add_assumed(r, o);
    for (size_t i = 0; i < run->n_checks; i++)
        add_line(r, i, check_text(r, &run->checks[i]));
    if (run->has_lines)
        pto_sim_add_lines(r, run, top);
    if (v->strips.n > 0)
        report_text(r, REPORT_MESSAGE(r, &pto_text.strip, PLACE("us", v->end - v->begin)));
    for (size_t i = 0; i < v->strips.n; i++)
        report_line(r, "  %-16.*s %-7.*s %s", STR_ARGS(v->strips.at[i].core),
                    STR_ARGS(v->strips.at[i].pipe), v->strips.at[i].cells);
    if (run->has_what_if && !o->is_degenerate) {
        add_what_ifs(r, o, &run->what_ifs);
        add_changes(r, &run->advices);
    }
}

/* ---- for programs ---- */

static const struct field check_fields[] = {
    FIELD(struct pto_checked_arg, name, "argument"),
    FIELD(struct pto_checked_arg, result.n, "elements"),
    FIELD(struct pto_checked_arg, result.wrong, "wrong"),
    FIELD(struct pto_checked_arg, result.max_abs, "max_abs"),
    FIELD(struct pto_checked_arg, result.max_rel, "max_rel"),
};
static const struct record check_record = RECORD(struct pto_checked_arg, check_fields);

static const struct field run_fields[] = {
    FIELD_SPLICE(struct pto_sim_run, k, &pto_kernel_record),
    FIELD_LIST(struct pto_sim_run, what_ifs.at, what_ifs.n, "what_if", &pto_what_if_record,
               .missing = MISSING_EMPTY, .is_optional = true),
    FIELD_LIST(struct pto_sim_run, advices.list.at, advices.list.n, "changes", &pto_advice_record,
               .missing = MISSING_EMPTY, .is_optional = true),
    FIELD_LIST(struct pto_sim_run, checks, n_checks, "checks", &check_record,
               .missing = MISSING_EMPTY, .is_optional = true),
    FIELD_INSIDE(struct pto_sim_run, lines, "by_line", &pto_lines_record,
                 WHEN(struct pto_sim_run, has_lines), .is_optional = true),
    FIELD_LIST(struct pto_sim_run, view.strips.at, view.strips.n, "timeline", &incore_strip_record,
               WHEN(struct pto_sim_run, has_view), .is_optional = true),
};

static const struct record run_record = RECORD(struct pto_sim_run, run_fields);

static const struct field failure_fields[] = {
    FIELD(struct pto_sim_failure, path, "path"),
    FIELD(struct pto_sim_failure, line, "line"),
    FIELD(struct pto_sim_failure, text, "text"),
    FIELD(struct pto_sim_failure, code, "code"),
};
static const struct record failure_record = RECORD(struct pto_sim_failure, failure_fields);

static struct field_value longest_of(const void *record, const struct record_env *env)
{
    const struct pto_sim_run *longest = ((const struct pto_sim_result *)record)->longest;

    (void)env;
    return longest != NULL ? value_text(str_of(longest->k.path)) : value_none();
}

static const struct field result_fields[] = {
    FIELD_LIST(struct pto_sim_result, at, n, "kernels", &run_record),
    FIELD_LIST(struct pto_sim_result, failed.at, failed.n, "failed", &failure_record),
    FIELD(struct pto_sim_result, cycles, "cycles", .about = "of all kernels"),
    FIELD(struct pto_sim_result, us, "us"),
    FIELD_CALC(FIELD_STR, "longest", longest_of, .missing = MISSING_EMPTY,
               .about = "path of the kernel that takes the longest"),
    FIELD_OF_ENUM(struct pto_sim_result, bound, "bound", limit_name, LIMITS,
                  .about = "what bounds most of them"),
    FIELD(struct pto_sim_result, bound_n, "bound_kernels", .about = "how many that are"),
};

const struct schema pto_sim_schema = {
    .name = "strata.pto-sim/2",
    .title = "kernels on a model of an AI core",
    .record = &(const struct record)RECORD(struct pto_sim_result, result_fields),
};

/* ---- files ---- */

enum status pto_sim_extra(struct session *s, const struct pto_costs *costs,
                          const struct pto_setup *setup, const struct pto_sim_extras *a,
                          struct pto_sim_run *x)
{
    struct words wrote = {0};
    struct capture *cap = NULL;
    enum status status;

    status = a->timeline || a->trace || a->insight
                 ? pto_sim_capture(&x->k, costs, setup, &s->diag, &cap)
                 : ST_OK;
    if (status == ST_OK && a->timeline) {
        pto_sim_view(cap, out_room(&s->out, 27, 64), &x->view);
        x->has_view = true;
    }
    if (status == ST_OK && a->trace) {
        status = pto_sim_trace(cap, a->trace, &s->diag);
        if (status == ST_OK)
            session_wrote(s, a->trace);
    }
    if (status == ST_OK && a->insight)
        status = pto_sim_insight(cap, &x->k.outcome, a->insight, &s->arena, &s->diag, &wrote);
    for (size_t i = 0; i < wrote.n; i++)
        session_wrote(s, wrote.at[i]);
    vec_free(&wrote);
    capture_free(cap);
    if (status == ST_OK && a->lines) {
        status = pto_sim_lines(&x->k, costs, &s->diag, &x->lines);
        x->has_lines = status == ST_OK;
    }
    x->has_what_if = a->what_if;
    if (status == ST_OK && a->what_if)
        pto_what_if_list(&x->k.outcome.limits, &x->what_ifs);
    return status;
}
