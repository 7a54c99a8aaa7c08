/*
 * strata incore show: one kernel at a glance.
 */
#include <inttypes.h>

#include "cli/captures.h"
#include "cli/kernel/incore_clock.h"
#include "cli/page_answer.h"
#include "kernels/incore/incore_open.h"
#include "kernels/incore/view.h"
#include "page/pages.h"
#include "report/report.h"

enum { NAMES = 28 }; /* columns of core and pipe beside the timeline */

struct args {
    struct incore_clock clock;
    size_t top, width;
};

static const struct args defaults = {.top = 10, .width = 64};

static const struct opt options[] = {
    INCORE_CLOCK_MHZ(struct args, clock),
    INCORE_CLOCK_CHIP(struct args, clock),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "rows per table (default: 10)"),
    OPT_INT(0, "width", "N", struct args, width, 8, 1000,
            "width of the timeline in characters (default: 64)"),
};

static const struct example examples[] = {
    {"strata incore show examples/incore", "pipes, instructions, waits and a timeline"},
    {"strata incore show examples/incore --json", "as JSON"},
};

static const struct field told_fields[] = {
    FIELD(struct incore_told, name, NULL, .head = "reported by the simulator"),
    FIELD(struct incore_told, cycles, NULL, .head = "cycles"),
};
static const struct record told_record = RECORD(struct incore_told, told_fields);

/* No table where there is nothing to show. */
static void add_records(struct report *r, const struct record *record, const void *at, size_t n)
{
    if (n > 0)
        report_records(r, record, at, n, NULL);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void show_print_text(struct session *s, const struct args *args,
                            const struct incore_study *study, const struct incore_view *v)
{
    const struct incore_breakdown *b = &study->breakdown;
    struct report *r = report_new(LANG_EN, str_of(study->bin));
    const char *note = b->is_assumed ? " (assumed)" : "";

    if (!b->is_assumed && args->clock.mhz <= 0 && args->clock.chip != NULL)
        note = arena_printf(&r->arena, " (%s)", args->clock.chip);
    struct str verdict = limits_text(&b->limits, r->lang, &r->arena);
    struct str others = limits_others(&b->limits, r->lang, &r->arena);
    if (study->t.instrs.n == 0)
        verdict = S("empty: the trace has no instructions");
    report_line(r, "  %.*s", STR_ARGS(verdict));
    if (others.n > 0)
        report_line(r, "  then: %.*s", STR_ARGS(others));
    if (limits_first(&b->limits) != NULL)
        report_line(r, "  what helps: %.*s", STR_ARGS(b->advice));
    report_line(r, "  %.3f us, %zu instructions, %zu arrows, cycles at %g MHz%s", v->end - v->begin,
                study->t.instrs.n, study->arrows.list.n, b->mhz, note);
    report_records(r, &incore_use_record, b->uses.at, b->uses.n, NULL);
    add_records(r, &told_record, study->told.at, study->told.n);
    report_records(r, &incore_top_record, v->tops.at, least(v->tops.n, args->top), NULL);
    add_records(r, &incore_stall_record, v->stalls.at, least(v->stalls.n, args->top));
    if (v->strips.n > 0)
        report_say(r, "  %.3f us from left to right; # busy, + partly busy, w waiting, . idle",
                   v->end - v->begin);
    add_records(r, &incore_strip_record, v->strips.at, v->strips.n);
    session_answer(s, r);
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
        .tops_n = least(v->tops.n, top),
        .stalls = v->stalls.at,
        .stalls_n = least(v->stalls.n, top),
        .strips = v->strips.at,
        .strips_n = v->strips.n,
    };

    session_read(s, study->bin, "visualize_data", study->t.instrs.n, incore_study_lost(study));
    session_document(s, &schema, "simulated", &shown);
}

/* ---- measured on a device ---- */

static int show_device(struct session *s, const struct args *args, struct incore_device *d)
{
    if (d->damaged > 0)
        diag_add(&s->diag, SEV_LOSS, "incore.damaged", (struct where){.path = s->operands.at[0]},
                 "%" PRIu64 " blocks contain invalid JSON", d->damaged);
    session_read(s, s->operands.at[0], "visualize-data", d->loads.n + d->cores.n, d->damaged);
    if (s->common.json) {
        session_document(s, &incore_device_schema, "measured", d);
    } else {
        struct report *r = report_new(LANG_EN, d->name);
        if (d->advice.n > 0)
            report_line(r, "  The profiler's first advice: %.*s", STR_ARGS(d->advice.at[0]));
        report_line(r, "  %s on %.*s, %.*s, %.*s blocks, measured",
                    quantity_text(&r->arena, d->us * 1000, UNIT_NS), STR_ARGS(d->soc),
                    STR_ARGS(d->type), STR_ARGS(d->blocks));
        add_records(r, &incore_core_record, d->cores.at, d->cores.n);
        add_records(r, &incore_load_record, d->loads.at, least(d->loads.n, args->top * 4));
        if (d->advice.n > 0)
            report_text(r, S("  the profiler's advice"));
        for (size_t i = 0; i < d->advice.n; i++)
            report_line(r, "  %.*s", STR_ARGS(d->advice.at[i]));
        session_answer(s, r);
    }
    incore_device_free(d);
    return CODE_DONE;
}

static enum status write_page(struct session *s, const struct incore_study *study,
                              const struct incore_view *view, double mhz)
{
    struct input_options input = input_defaults();
    enum status status = ST_OK;
    struct capture *cap;

    input.mhz = mhz;
    TRY(captures_load_one(s, study->bin, input, &cap));
    struct page_file *page = page_answer_begin(s, PAGE_INCORE, cap);
    if (page != NULL) {
        page_incore(page, study, view);
        status = page_answer_end(s);
    }
    capture_free(cap);
    return status;
}

static int show_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct incore_device device;
    struct incore_study study;
    struct incore_view view;
    double mhz;

    TRY_CODE(incore_clock(s, &args->clock, &mhz));
    if (incore_open_device(s->operands.at[0], &device))
        return show_device(s, args, &device);

    enum status status = incore_open_judged(&study, s->operands.at[0], mhz, &s->diag);
    if (status == ST_OK) {
        incore_study_tell(&study, &s->diag);
        incore_view_build(&view, &study.t, &study.lanes, out_room(&s->out, NAMES, args->width));
        if (s->common.json)
            print_json(s, args->top, &study, &view);
        else
            show_print_text(s, args, &study, &view);
        if (s->page != NULL)
            status = write_page(s, &study, &view, mhz);
        incore_view_free(&view);
    }
    incore_study_close(&study);
    return session_code(status);
}

const struct command command_incore_show = {
    .name = "show",
    .group = GROUP_KERNELS,
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
    .common = COMMON_HTML,
    .schemas = {&schema, &incore_device_schema},
    COMMAND_PARTS,
    .run = show_run,
};
