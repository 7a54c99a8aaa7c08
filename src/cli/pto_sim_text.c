/*
 * A simulated kernel as a report, and as records for programs.
 */
#include "cli/pto_sim_show.h"

#include <inttypes.h>

#include "report/report.h"

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
        text = arena_format(&r->arena, "%.*s%s%s %" PRId64, STR_ARGS(text), text.n > 0 ? ", " : "",
                            pto_cause_name((enum pto_cause)best), u->stall[best]);
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
        table_text(r, t, str_of(pto_cause_name(x->cause)));
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
            table_text(r, t, arena_format(&r->arena, "sync (%s)", pto_cause_name(p->cause)));
        else
            table_text(r, t, str_of(sorts[p->sort]));
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
        table_text(r, t, pto_what_if_title(w, &r->arena));
        table_text(r, t, pto_what_if_evidence(w, &r->arena));
    }
}

/* ---- lines ---- */

static void add_head(struct report *r, const struct pto_kernel *k)
{
    const struct pto_outcome *o = &k->outcome;
    struct str busiest = S("");

    report_summary(r, arena_format(&r->arena, "%s, %.*s at %g MHz, sync %s, simulated",
                                   pto_arch_name(o->arch), STR_ARGS(o->chip.name), o->chip.mhz,
                                   o->is_dep ? "dep" : "ptoas"));
    if (k->blocks.n > 1)
        report_line(r,
                    "  %" PRId64 " cycles   %.3f us for %zu blocks on %" PRId64
                    " cores; below, block %" PRId64 ", the longest",
                    k->total, k->total_us, k->blocks.n, k->cores, k->longest);
    report_line(
        r, "  %" PRId64 " cycles   %.3f us   %.3f us with launch   %" PRIu64 " instruction%s%s",
        o->total, o->us, o->us_with_launch, o->instructions, o->instructions == 1 ? "" : "s",
        o->is_complete ? "" : "   (not all of it ran)");
    for (size_t i = 0; i < o->units.n && o->is_bound; i++) {
        const struct pto_unit *u = &o->units.at[i];
        if (u->core == o->bound_core && u->pipe == o->bound_pipe)
            busiest =
                arena_format(&r->arena, " (%s %s is busiest, %.1f %%)", pto_core_name(u->core),
                             pto_pipe_short(u->pipe), 100.0 * (double)u->busy / (double)o->total);
    }
    report_line(r, "  bound by %s%.*s: %s", pto_bound_name(o->bound), STR_ARGS(busiest),
                pto_bound_advice(o->bound));
}

static void add_work(struct report *r, const struct pto_outcome *o)
{
    struct str moved = S("  moved");

    for (size_t i = 0; i < o->flows.n; i++)
        moved = arena_format(&r->arena, "%.*s%s %s to %s %" PRIu64 " bytes", STR_ARGS(moved),
                             i > 0 ? "," : "", pto_space_name(o->flows.at[i].src),
                             pto_space_name(o->flows.at[i].dst), o->flows.at[i].bytes);
    if (o->flows.n > 0)
        report_text(r, moved);
    if (o->macs > 0)
        report_line(r, "  multiplied %" PRIu64 " pairs, %.1f %% of the cube's peak", o->macs,
                    100.0 * (double)o->macs / (o->peak_macs * (double)o->total));
    if (o->inserted_barriers > 0)
        report_line(r, "  %" PRIu32 " dependencies found no event and are barriers of all pipes",
                    o->inserted_barriers);
}

static struct str assumed_text(struct report *r, const struct pto_assumed *a)
{
    const char *kind = pto_assumed_kind((unsigned)a->kind);

    if (a->kind == PTO_ASSUMED_WAIT)
        return arena_format(&r->arena, "  assumed  the wait in line %" PRIu32 " is over at once",
                            a->line);
    if (a->name.n == 0)
        return arena_format(&r->arena,
                            "  assumed  the value of a tile that decides the %s in line %" PRIu32
                            " is 0; give it with --run",
                            kind, a->line);
    return arena_format(
        &r->arena,
        "  assumed  %s%.*s, which decides the %s in line %" PRIu32 "; give it with %s %.*s=%s",
        a->is_pointer ? "what is behind " : "", STR_ARGS(a->name), kind, a->line,
        a->is_pointer ? "--input" : "--arg", STR_ARGS(a->name), a->is_pointer ? "FILE" : "VALUE");
}

/* A line of a list: a blank line stands before the first. */
static void add_line(struct report *r, size_t i, struct str text)
{
    if (i == 0)
        report_text(r, text);
    else
        report_line(r, "%.*s", STR_ARGS(text));
}

static struct str check_text(struct report *r, const struct pto_checked_arg *c)
{
    const struct pto_compared *x = &c->result;

    if (x->wrong == 0)
        return arena_format(&r->arena, "  %.*s: %" PRIu64 " elements as expected, at most %g away",
                            STR_ARGS(c->name), x->n, x->max_abs);
    return arena_format(&r->arena,
                        "  %.*s: %" PRIu64 " of %" PRIu64 " elements differ, the first is %" PRIu64
                        ": %g, expected %g; at most %g away",
                        STR_ARGS(c->name), x->wrong, x->n, x->first, x->got, x->expected,
                        x->max_abs);
}

static void add_timeline(struct session *s, struct report *r, const struct incore_view *v)
{
    if (v->strips.n > 0)
        report_text(r, arena_format(&r->arena,
                                    "  %.3f us from left to right; # busy, + partly, w waiting, . "
                                    "idle",
                                    v->end - v->begin));
    for (size_t i = 0; i < v->strips.n; i++)
        report_line(r, "  %-16s %-7s %s", out_clean(&s->arena, v->strips.at[i].core),
                    out_clean(&s->arena, v->strips.at[i].pipe), v->strips.at[i].cells);
}

void pto_sim_print(struct session *s, const struct pto_sim_run *run, size_t top, bool has_what_if)
{
    const struct pto_outcome *o = &run->k.outcome;
    struct report *r = report_new(LANG_EN, str_of(out_clean(&s->arena, o->kernel)));

    add_head(r, &run->k);
    add_pipes(r, o);
    add_stalls(r, o, top);
    add_path(r, o, top);
    add_work(r, o);
    for (size_t i = 0; i < o->assumed.n; i++)
        add_line(r, i, assumed_text(r, &o->assumed.at[i]));
    if (o->is_degenerate)
        report_line(r, "  degenerate: data that nobody supplied decided how far it went, and next "
                       "to nothing was computed; do not conclude on its time");
    for (size_t i = 0; i < run->n_checks; i++)
        add_line(r, i, check_text(r, &run->checks[i]));
    if (run->has_view)
        add_timeline(s, r, &run->view);
    if (has_what_if)
        add_what_ifs(r, o, &run->what_ifs);
    session_report(s, r);
    report_free(r);
}

void pto_sim_print_line(struct session *s, const struct pto_kernel *k)
{
    const struct pto_outcome *o = &k->outcome;

    out_printf(&s->out, "%12" PRId64 " %12.3f  %-8s %s%s%s\n", k->total, k->total_us,
               pto_bound_name(o->bound), out_clean(&s->arena, str_of(k->path)),
               o->is_degenerate ? "  (degenerate)" : "",
               o->is_complete ? "" : "  (not all of it ran)");
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
    FIELD_LIST(struct pto_sim_run, checks, n_checks, "checks", &check_record,
               .missing = MISSING_EMPTY, .is_optional = true),
    FIELD_LIST(struct pto_sim_run, view.strips.at, view.strips.n, "timeline", &incore_strip_record,
               WHEN(struct pto_sim_run, has_view), .is_optional = true),
};
static const struct record run_record = RECORD(struct pto_sim_run, run_fields);

const struct schema pto_sim_schema = {
    .name = "strata.pto-sim/1",
    .title = "kernels on a model of an AI core, one entry each",
    .record = &run_record,
    .is_list = true,
};
