/*
 * strata incore show: one kernel at a glance.
 */
#include <inttypes.h>

#include "cli/session.h"
#include "flow/incore_open.h"
#include "incore/view.h"

enum { NAMES = 33 }; /* columns of core and pipe beside the timeline */

struct args {
    double mhz;
    size_t top, width;
};

static const struct args defaults = {.top = 10, .width = 64};

static const struct opt options[] = {
    OPT_DOUBLE(0, "clock-mhz", "MHZ", struct args, mhz, "core clock in MHz (default: 1850)"),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "rows per table (default: 10)"),
    OPT_INT(0, "width", "N", struct args, width, 8, 1000,
            "width of the timeline in characters (default: 64)"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata incore show examples/incore", "pipes, instructions, waits and a timeline"},
    {"strata incore show examples/incore --json", "as JSON"},
    {0},
};

static void print_pipes(struct session *s, const struct incore_breakdown *b)
{
    out_printf(&s->out, "\n  %-18s %-10s %9s %11s %11s %7s %6s %11s\n", "core", "pipe", "executed",
               "cycles", "busy", "busy %", "depth", "wait");
    for (size_t i = 0; i < b->uses.n; i++) {
        const struct incore_use *use = &b->uses.at[i];
        out_printf(&s->out,
                   "  %-18s %-10s %9" PRIu64 " %11" PRIu64 " %11" PRIu64 " %7.1f %6" PRIu64
                   " %11" PRIu64 "\n",
                   out_clean(&s->arena, use->core), out_clean(&s->arena, use->pipe), use->executed,
                   use->cycles, use->busy_cycles, use->busy * 100, use->max_depth,
                   use->wait_cycles);
    }
}

static void print_tops(struct session *s, const struct incore_view *v, size_t most)
{
    out_printf(&s->out, "\n  %-10s %-28s %9s %12s %12s\n", "pipe", "instruction", "count",
               "total us", "longest us");
    for (size_t i = 0; i < v->tops.n && i < most; i++)
        out_printf(&s->out, "  %-10s %-28s %9" PRIu64 " %12.3f %12.3f\n",
                   out_clean(&s->arena, v->tops.at[i].key[0]),
                   out_clean(&s->arena, v->tops.at[i].key[1]), v->tops.at[i].count,
                   v->tops.at[i].total, v->tops.at[i].longest);
    if (v->stalls.n == 0)
        return;
    out_printf(&s->out, "\n  %-10s %-18s %8s %9s %12s %12s\n", "waits", "for", "flag", "count",
               "total us", "longest us");
    for (size_t i = 0; i < v->stalls.n && i < most; i++)
        out_printf(&s->out, "  %-10s %-18s %8s %9" PRIu64 " %12.3f %12.3f\n",
                   out_clean(&s->arena, v->stalls.at[i].key[1]),
                   out_clean(&s->arena, v->stalls.at[i].key[0]),
                   out_clean(&s->arena, v->stalls.at[i].key[2]), v->stalls.at[i].count,
                   v->stalls.at[i].total, v->stalls.at[i].longest);
}

static void print_strips(struct session *s, const struct incore_view *v)
{
    if (v->strips.n > 0)
        out_printf(&s->out,
                   "\n  %.3f us from left to right; # busy, + partly busy, w waiting, . idle\n",
                   v->end - v->begin);
    for (size_t i = 0; i < v->strips.n; i++)
        out_printf(&s->out, "  %-18s %-10s %s\n", out_clean(&s->arena, v->strips.at[i].core),
                   out_clean(&s->arena, v->strips.at[i].pipe), v->strips.at[i].cells);
}

static void print_text(struct session *s, const struct args *args, const struct incore_study *study,
                       const struct incore_view *v)
{
    const struct incore_breakdown *b = &study->breakdown;

    out_printf(&s->out, "%s\n  ", study->bin);
    out_style(&s->out, STYLE_BOLD);
    out_printf(&s->out, "%.*s", STR_ARGS(b->verdict));
    out_style(&s->out, STYLE_PLAIN);
    out_printf(&s->out, ": %.*s\n  %.3f us, %zu instructions, %zu arrows, cycles at %g MHz%s\n",
               STR_ARGS(b->advice), v->end - v->begin, study->t.instrs.n, study->arrows.list.n,
               b->mhz, b->is_assumed ? " (assumed)" : "");
    print_pipes(s, b);
    for (size_t i = 0; i < study->told.n; i++)
        out_printf(&s->out, "%s  %-40s %11" PRId64 "\n",
                   i == 0 ? "\n"
                            "  reported by the simulator\n"
                          : "",
                   out_clean(&s->arena, study->told.at[i].name), study->told.at[i].cycles);
    print_tops(s, v, args->top);
    print_strips(s, v);
}

/* What the document shows: no more of the view than asked for. */
struct shown {
    struct str verdict, advice;
    const struct incore_breakdown *breakdown;
    const struct incore_sum *tops, *stalls;
    size_t tops_n, stalls_n;
    const struct incore_strip *strips;
    size_t strips_n;
};

static const struct field fields[] = {
    FIELD(struct shown, verdict, "verdict"),
    FIELD(struct shown, advice, "advice"),
    FIELD_POINTER(struct shown, breakdown, "breakdown", &incore_breakdown_record),
    FIELD_LIST(struct shown, tops, tops_n, "instructions", &incore_top_record),
    FIELD_LIST(struct shown, stalls, stalls_n, "stalls", &incore_stall_record),
    FIELD_LIST(struct shown, strips, strips_n, "timeline", &incore_strip_record),
};
static const struct record record = RECORD(struct shown, fields);
static const struct schema schema = {
    .name = "strata.incore-show/1",
    .title = "one kernel: pipes, instructions, waits and a timeline",
    .record = &record,
};

static void print_json(struct session *s, size_t top, const struct incore_study *study,
                       const struct incore_view *v)
{
    struct shown shown = {
        .verdict = study->breakdown.verdict,
        .advice = study->breakdown.advice,
        .breakdown = &study->breakdown,
        .tops = v->tops.at,
        .tops_n = v->tops.n < top ? v->tops.n : top,
        .stalls = v->stalls.at,
        .stalls_n = v->stalls.n < top ? v->stalls.n : top,
        .strips = v->strips.at,
        .strips_n = v->strips.n,
    };

    session_read(s, study->bin, "visualize_data", study->t.instrs.n, incore_study_lost(study));
    session_document(s, &schema, "simulated", &shown, NULL);
}

/* ---- measured on a device ---- */

static void print_device(struct session *s, const struct args *args, const struct incore_device *d)
{
    out_printf(&s->out, "%s\n  %.3f us on %s, %s, %s blocks, measured\n",
               out_clean(&s->arena, d->name), d->us, out_clean(&s->arena, d->soc),
               out_clean(&s->arena, d->type), out_clean(&s->arena, d->blocks));
    if (d->cores.n > 0)
        out_printf(&s->out, "\n  %4s  %-10s %11s %13s %8s\n", "core", "unit", "cycles", "bytes",
                   "L2 hit %");
    for (size_t i = 0; i < d->cores.n; i++) {
        const struct incore_core *c = &d->cores.at[i];
        out_printf(&s->out, "  %4" PRId64 "  %-10s %11s %13s %8s\n", c->core,
                   out_clean(&s->arena, c->unit), out_clean(&s->arena, c->cycles),
                   out_clean(&s->arena, c->bytes),
                   out_clean(&s->arena, str_part(c->hit_rate, 0, 5)));
    }
    if (d->loads.n > 0)
        out_printf(&s->out, "\n  %5s  %-10s %-28s %8s %11s\n", "block", "unit", "load", "%",
                   "cycles");
    for (size_t i = 0; i < d->loads.n && i < args->top * 4; i++) {
        const struct incore_load *l = &d->loads.at[i];
        out_printf(&s->out, "  %5s  %-10s %-28s %8.2f %11.0f\n", out_clean(&s->arena, l->block),
                   out_clean(&s->arena, l->unit), out_clean(&s->arena, l->name), l->percent,
                   l->cycles);
    }
    for (size_t i = 0; i < d->advice.n; i++)
        out_printf(&s->out, "%s  %s\n", i == 0 ? "\n  the profiler's advice\n" : "",
                   out_clean(&s->arena, d->advice.at[i]));
}

static int show_device(struct session *s, const struct args *args, struct incore_device *d)
{
    if (d->damaged > 0)
        diag_add(&s->diag, SEV_LOSS, "incore.damaged", (struct where){.path = s->operands.at[0]},
                 "%" PRIu64 " blocks contain invalid JSON", d->damaged);
    session_read(s, s->operands.at[0], "visualize-data", d->loads.n + d->cores.n, d->damaged);
    if (s->common.json)
        session_document(s, &incore_device_schema, "measured", d, NULL);
    else
        print_device(s, args, d);
    incore_device_free(d);
    return CODE_DONE;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct incore_device device;
    struct incore_study study;
    struct incore_view view;

    if (incore_open_device(s->operands.at[0], &device))
        return show_device(s, args, &device);

    enum status status = incore_open_judged(&study, s->operands.at[0], args->mhz, &s->diag);
    if (status == ST_OK) {
        incore_study_tell(&study, &s->diag);
        incore_view_build(&view, &study.t, &study.lanes, out_room(&s->out, NAMES, args->width));
        if (s->common.json)
            print_json(s, args->top, &study, &view);
        else
            print_text(s, args, &study, &view);
        incore_view_free(&view);
    }
    incore_study_close(&study);
    return session_code(status);
}

const struct command command_incore_show = {
    .name = "show",
    .group = GROUP_INCORE,
    .summary = "show one kernel: pipes, instructions, waits, timeline",
    .usage = "[OPTIONS] PATH",
    .details = "Reads the trace of one kernel (visualize_data.bin, trace.json, or a folder with "
               "them) and shows the critical pipe, the utilisation of each pipe of each core, the "
               "instructions that take the most time, which pipe waits for which and how long, and "
               "a timeline. The rules are those of `strata incore clean`.\n"
               "\n"
               "For a container measured on a device, which has no trace, it shows the kernel, the "
               "cores, their utilisation and the profiler's advice.",
    .see = "docs/formats/incore-clean.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .schemas = {&schema, &incore_device_schema},
    COMMAND_PARTS,
};
