#include "cli/pto_sim_show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *cell(struct session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const char *cell(struct session *s, const char *format, ...)
{
    char text[128];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return arena_cstr(&s->arena, str_of(text));
}

static double percent(const struct pto_outcome *o, int64_t n)
{
    return o->total > 0 ? 100.0 * (double)n / (double)o->total : 0;
}

static const char *place(struct session *s, uint8_t core, uint8_t pipe)
{
    return cell(s, "%s %s", pto_core_name(core), pto_pipe_short((enum pto_pipe)pipe));
}

static void print_head(struct session *s, const struct pto_kernel *k)
{
    const struct pto_outcome *o = &k->outcome;

    out_style(&s->out, STYLE_BOLD);
    out_text(&s->out, out_clean(&s->arena, o->kernel));
    out_style(&s->out, STYLE_PLAIN);
    out_printf(&s->out, "   %s, %.*s at %g MHz, sync %s, simulated\n",
               o->arch == PTO_A5 ? "a5" : "a2a3", STR_ARGS(o->chip.name), o->chip.mhz,
               o->is_dep ? "dep" : "ptoas");
    if (k->blocks.n > 1)
        out_printf(&s->out,
                   "  %" PRId64 " cycles   %.3f us for %zu blocks on %" PRId64
                   " cores; below, block %" PRId64 ", the longest\n",
                   k->total, pto_outcome_us(o, k->total), k->blocks.n, k->cores, k->longest);
    out_printf(&s->out,
               "  %" PRId64 " cycles   %.3f us   %.3f us with launch   %" PRIu64
               " instruction%s%s\n",
               o->total, pto_outcome_us(o, o->total), pto_outcome_us(o, o->total + o->launch),
               o->instructions, o->instructions == 1 ? "" : "s",
               o->is_complete ? "" : "   (not all of it ran)");
    out_printf(&s->out, "  bound by %s", pto_bound_name(o->bound));
    if (o->bound != PTO_BOUND_NOTHING)
        for (size_t i = 0; i < o->units.n; i++) {
            const struct pto_unit *u = &o->units.at[i];
            if (u->core == o->bound_core && u->pipe == o->bound_pipe)
                out_printf(&s->out, " (%s is busiest, %.1f %%)", place(s, u->core, u->pipe),
                           percent(o, u->busy));
        }
    out_printf(&s->out, ": %s\n", pto_bound_advice(o->bound));
}

/* "flag 1200, scalar 34" */
static const char *causes(struct session *s, const struct pto_unit *u)
{
    char text[200] = "";
    size_t n = 0;
    bool done[PTO_CAUSE_COUNT] = {0};

    for (int k = 0; k < 3; k++) {
        int best = 0;
        for (int i = 1; i < PTO_CAUSE_COUNT; i++)
            if (!done[i] && u->stall[i] > 0 && (best == 0 || u->stall[i] > u->stall[best]))
                best = i;
        if (best == 0)
            break;
        done[best] = true;
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %" PRId64, n > 0 ? ", " : "",
                              pto_cause_name((enum pto_cause)best), u->stall[best]);
    }
    return arena_cstr(&s->arena, str_of(text));
}

static void print_pipes(struct session *s, const struct pto_outcome *o)
{
    static const struct out_column columns[] = {{"pipe", false},   {"instructions", true},
                                                {"busy", true},    {"busy %", true},
                                                {"stalled", true}, {"by cause", false}};
    const char **cells = ARENA_ARRAY(&s->arena, const char *, o->units.n * 6 + 1);

    for (size_t i = 0; i < o->units.n; i++) {
        const struct pto_unit *u = &o->units.at[i];
        int64_t stalled = 0;
        for (int c = 1; c < PTO_CAUSE_COUNT; c++)
            stalled += u->stall[c];
        cells[i * 6] = place(s, u->core, u->pipe);
        cells[i * 6 + 1] = cell(s, "%" PRIu64, u->count);
        cells[i * 6 + 2] = cell(s, "%" PRId64, u->busy);
        cells[i * 6 + 3] = cell(s, "%.1f", percent(o, u->busy));
        cells[i * 6 + 4] = cell(s, "%" PRId64, stalled);
        cells[i * 6 + 5] = causes(s, u);
    }
    out_text(&s->out, "\n");
    out_table(&s->out, columns, 6, cells, o->units.n);
}

static void print_stalls(struct session *s, const struct pto_outcome *o, size_t top)
{
    static const struct out_column columns[] = {{"stalled", false}, {"waiting for", false},
                                                {"cause", false},   {"times", true},
                                                {"cycles", true},   {"%", true}};
    const char **cells = ARENA_ARRAY(&s->arena, const char *, o->stalls.n * 6 + 1);
    size_t n = 0;

    for (size_t i = 0; i < o->stalls.n && n < top; i++) {
        const struct pto_stall *x = &o->stalls.at[i];
        const char **row = &cells[n * 6];
        if (x->pipe == PTO_PIPE_S && x->cause == PTO_CAUSE_BARRIER)
            continue; /* at the last barrier of every kernel */
        row[0] = place(s, x->core, x->pipe);
        row[1] = place(s, x->from_core, x->from);
        row[2] = pto_cause_name((enum pto_cause)x->cause);
        row[3] = cell(s, "%" PRIu64, x->count);
        row[4] = cell(s, "%" PRId64, x->cycles);
        row[5] = cell(s, "%.1f", percent(o, x->cycles));
        n++;
    }
    if (n == 0)
        return;
    out_text(&s->out, "\n");
    out_table(&s->out, columns, 6, cells, n);
}

static void print_path(struct session *s, const struct pto_outcome *o, size_t top)
{
    static const struct out_column columns[] = {{"critical path", false},
                                                {"spent on", false},
                                                {"pieces", true},
                                                {"cycles", true},
                                                {"%", true}};
    static const char *const sorts[] = {"work", "latency", "sync"};
    size_t n = o->path.n < top ? o->path.n : top;
    const char **cells = ARENA_ARRAY(&s->arena, const char *, n * 5 + 1);

    for (size_t i = 0; i < n; i++) {
        const struct pto_path_part *p = &o->path.at[i];
        cells[i * 5] = place(s, p->core, p->pipe);
        cells[i * 5 + 1] = p->sort == PTO_PATH_SYNC && p->cause != PTO_CAUSE_NONE
                               ? cell(s, "sync (%s)", pto_cause_name((enum pto_cause)p->cause))
                               : sorts[p->sort];
        cells[i * 5 + 2] = cell(s, "%" PRIu64, p->count);
        cells[i * 5 + 3] = cell(s, "%" PRId64, p->cycles);
        cells[i * 5 + 4] = cell(s, "%.1f", percent(o, p->cycles));
    }
    if (n == 0)
        return;
    out_text(&s->out, "\n");
    out_table(&s->out, columns, 5, cells, n);
}

static void print_work(struct session *s, const struct pto_outcome *o)
{
    if (o->flows.n > 0)
        out_text(&s->out, "\n  moved");
    for (size_t i = 0; i < o->flows.n; i++)
        out_printf(&s->out, "%s %s to %s %" PRIu64 " bytes", i > 0 ? "," : "",
                   pto_space_name((enum pto_space)o->flows.at[i].src),
                   pto_space_name((enum pto_space)o->flows.at[i].dst), o->flows.at[i].bytes);
    if (o->flows.n > 0)
        out_text(&s->out, "\n");
    if (o->macs > 0)
        out_printf(&s->out, "  multiplied %" PRIu64 " pairs, %.1f %% of the cube's peak\n", o->macs,
                   100.0 * (double)o->macs / (o->peak_macs * (double)o->total));
    if (o->inserted_barriers > 0)
        out_printf(&s->out,
                   "  %" PRIu32 " dependencies found no event and are barriers of all "
                   "pipes\n",
                   o->inserted_barriers);
}

static void print_assumed(struct session *s, const struct pto_outcome *o)
{
    for (size_t i = 0; i < o->assumed.n; i++) {
        const struct pto_assumed *a = &o->assumed.at[i];
        out_printf(&s->out, "%s", i == 0 ? "\n" : "");
        if (a->kind == PTO_ASSUMED_WAIT)
            out_printf(&s->out, "  assumed  the wait in line %" PRIu32 " is over at once\n",
                       a->line);
        else if (a->name.n == 0)
            out_printf(&s->out,
                       "  assumed  the value of a tile that decides the %s in line %" PRIu32
                       " is 0; give it with --run\n",
                       pto_assumed_kind(a->kind), a->line);
        else
            out_printf(&s->out,
                       "  assumed  %s%.*s, which decides the %s in line %" PRIu32
                       "; give it with %s %.*s=%s\n",
                       a->is_pointer ? "what is behind " : "", STR_ARGS(a->name),
                       pto_assumed_kind(a->kind), a->line, a->is_pointer ? "--input" : "--arg",
                       STR_ARGS(a->name), a->is_pointer ? "FILE" : "VALUE");
    }
    if (o->is_degenerate)
        out_text(&s->out,
                 "  degenerate: data that nobody supplied decided how far it went, and next to "
                 "nothing was computed; do not conclude on its time\n");
}

void pto_sim_print(struct session *s, const struct pto_kernel *k, size_t top)
{
    print_head(s, k);
    print_pipes(s, &k->outcome);
    print_stalls(s, &k->outcome, top);
    print_path(s, &k->outcome, top);
    print_work(s, &k->outcome);
    print_assumed(s, &k->outcome);
}

void pto_sim_print_line(struct session *s, const char *path, const struct pto_kernel *k)
{
    const struct pto_outcome *o = &k->outcome;

    out_printf(&s->out, "%12" PRId64 " %12.3f  %-8s %s%s%s\n", k->total,
               pto_outcome_us(o, k->total), pto_bound_name(o->bound),
               out_clean(&s->arena, str_of(path)), o->is_degenerate ? "  (degenerate)" : "",
               o->is_complete ? "" : "  (not all of it ran)");
}

void pto_sim_print_what_ifs(struct session *s, const struct pto_outcome *o,
                            const struct pto_what_ifs *list)
{
    static const struct out_column columns[] = {
        {"gain %", true}, {"cycles", true}, {"what if", false}, {"because", false}};
    const char **cells = ARENA_ARRAY(&s->arena, const char *, list->n * 4 + 1);

    for (size_t i = 0; i < list->n; i++) {
        const struct pto_what_if *w = &list->at[i];
        cells[i * 4] = cell(s, "%.1f", percent(o, o->total - w->cycles));
        cells[i * 4 + 1] = cell(s, "%" PRId64, w->cycles);
        cells[i * 4 + 2] = arena_cstr(&s->arena, pto_what_if_title(w, &s->arena));
        cells[i * 4 + 3] = arena_cstr(&s->arena, pto_what_if_evidence(w, &s->arena));
    }
    out_text(&s->out, "\n");
    out_table(&s->out, columns, 4, cells, list->n);
}

void pto_sim_print_timeline(struct session *s, const struct incore_view *v)
{
    if (v->strips.n > 0)
        out_printf(&s->out, "\n  %.3f us from left to right; # busy, + partly, w waiting, . idle\n",
                   v->end - v->begin);
    for (size_t i = 0; i < v->strips.n; i++)
        out_printf(&s->out, "  %-16s %-7s %s\n", out_clean(&s->arena, v->strips.at[i].core),
                   out_clean(&s->arena, v->strips.at[i].pipe), v->strips.at[i].cells);
}

void pto_sim_print_checks(struct session *s, const struct pto_sim_extras *x)
{
    for (size_t i = 0; i < x->n_checks; i++) {
        const struct pto_compared *r = &x->checks[i].result;
        out_printf(&s->out, "%s  %.*s: ", i == 0 ? "\n" : "", STR_ARGS(x->checks[i].name));
        if (r->wrong == 0)
            out_printf(&s->out, "%" PRIu64 " elements as expected, at most %g away\n", r->n,
                       r->max_abs);
        else
            out_printf(&s->out,
                       "%" PRIu64 " of %" PRIu64 " elements differ, the first is %" PRIu64
                       ": %g, expected %g; at most %g away\n",
                       r->wrong, r->n, r->first, r->got, r->expected, r->max_abs);
    }
}
