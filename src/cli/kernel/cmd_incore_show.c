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
#include "text/incore.h"

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
    FIELD(struct incore_told, name, "name", .head = "reported by the simulator"),
    FIELD(struct incore_told, cycles, "cycles", .head = "cycles"),
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

/* What is shown: no more of the view than asked for. */
struct shown {
    const struct incore_study *study;
    const char *chip; /* whose clock it is; NULL: given as a number, or not at all */
    double us;
    const struct incore_breakdown *breakdown;
    const struct incore_told *told;
    const struct incore_sum *tops, *stalls;
    size_t told_n, tops_n, stalls_n;
    const struct incore_strip *strips;
    size_t strips_n;
};

static const struct field fields[] = {
    FIELD_BEHIND(struct shown, breakdown, verdict, "verdict"),
    FIELD_BEHIND(struct shown, breakdown, advice, "advice"),
    FIELD(struct shown, us, "us"),
    FIELD_BEHIND(struct shown, study, t.instrs.n, "instruction_count"),
    FIELD_BEHIND(struct shown, study, arrows.list.n, "arrows"),
    FIELD(struct shown, chip, "chip", .about = "whose clock it is"),
    FIELD_POINTER(struct shown, breakdown, "breakdown", &incore_breakdown_record),
    FIELD_LIST(struct shown, told, told_n, "reported", &told_record,
               .about = "busy cycles as the simulator counted them"),
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

static void show_add_verdict(const struct shown *x, struct report *r)
{
    const struct limit_list *limits = &x->breakdown->limits;
    struct str others = limits_others(limits, r->lang, &r->arena);

    if (x->study->t.instrs.n == 0)
        report_line_text(r, report_message(r, &incore_text.empty));
    else
        report_line_text(r,
                         REPORT_MESSAGE(r, &incore_text.verdict,
                                        PLACE("verdict", limits_text(limits, r->lang, &r->arena))));
    if (others.n > 0)
        report_line_text(r, REPORT_MESSAGE(r, &incore_text.others, PLACE("others", others)));
    if (limits_first(limits) != NULL)
        report_line_text(
            r, REPORT_MESSAGE(r, &incore_text.advice,
                              PLACE("advice", message_word(r->lang, x->breakdown->advice))));
}

static void incore_show_describe(const void *result, struct report *r)
{
    const struct shown *x = result;
    const struct incore_breakdown *b = x->breakdown;
    const struct incore_study *study = x->study;
    struct str note = S("");

    if (b->is_assumed)
        note = report_message(r, &incore_text.clock_assumed);
    else if (x->chip != NULL)
        note = REPORT_MESSAGE(r, &incore_text.clock_of, PLACE("chip", x->chip));
    show_add_verdict(x, r);
    if (b->run_cycles > 0)
        report_line_text(r, REPORT_MESSAGE(r, &incore_text.run, PLACE("cycles", b->run_cycles),
                                           PLACE("start", b->start_cycles)));
    report_line_text(r, REPORT_MESSAGE(r, &incore_text.size, PLACE("us", x->us),
                                       PLACE("n", study->t.instrs.n),
                                       PLACE("arrows", study->arrows.list.n), PLACE("mhz", b->mhz),
                                       PLACE("note", note)));
    report_records(r, &incore_use_record, b->uses.at, b->uses.n, NULL);
    add_records(r, &told_record, x->told, x->told_n);
    report_records(r, &incore_top_record, x->tops, x->tops_n, NULL);
    add_records(r, &incore_stall_record, x->stalls, x->stalls_n);
    if (x->strips_n > 0)
        report_text(r, REPORT_MESSAGE(r, &incore_text.strip, PLACE("us", x->us)));
    add_records(r, &incore_strip_record, x->strips, x->strips_n);
}

/* ---- measured on a device ---- */

struct shown_device {
    struct incore_device device; /* what the document holds */
    size_t top;
};

static void describe_device(const void *result, struct report *r)
{
    const struct shown_device *x = result;
    const struct incore_device *d = &x->device;

    struct str first = d->advice.n > 0 ? d->advice.at[0] : S("");
    if (first.n > 0)
        report_line_text(r, REPORT_MESSAGE(r, &incore_text.first_advice, PLACE("advice", first)));
    report_line_text(r, REPORT_MESSAGE(r, &incore_text.device,
                                       place_quantity("time", d->us * 1000, UNIT_NS),
                                       PLACE("soc", d->soc), PLACE("type", d->type),
                                       PLACE("blocks", d->blocks)));
    add_records(r, &incore_core_record, d->cores.at, d->cores.n);
    add_records(r, &incore_load_record, d->loads.at, least(d->loads.n, x->top * 4));
    const size_t n = d->advice.n;
    if (n > 0)
        report_text(r, report_message(r, &incore_text.advice_head));
    for (size_t i = 0; i < n; i++)
        report_line(r, "  %.*s", STR_ARGS(d->advice.at[i]));
}

static void give_device(struct session *s, struct shown_device *x)
{
    const struct incore_device *d = &x->device;

    if (d->damaged > 0)
        diag_add(&s->diag, SEV_LOSS, "incore.damaged", (struct where){.path = s->operands.at[0]},
                 "%" PRIu64 " blocks contain invalid JSON", d->damaged);
    session_read(s, s->operands.at[0], "visualize-data", d->loads.n + d->cores.n, d->damaged);
    session_give(s, &(struct answer){.schema = &incore_device_schema,
                                     .origin = "measured",
                                     .result = x,
                                     .title = d->name,
                                     .describe = describe_device});
    incore_device_free(&x->device);
}

/* What its page is made of. */
struct page_of_trace {
    const struct incore_study *study;
    const struct incore_view *view;
    double mhz;
};

static enum status make_page(struct session *s, void *ctx)
{
    const struct page_of_trace *p = ctx;
    struct input_options input = input_defaults();
    struct capture *cap;

    input.mhz = p->mhz;
    TRY(captures_load_one(s, p->study->bin, input, &cap));
    page_incore(page_answer_begin(s, PAGE_INCORE, cap), p->study, p->view);
    enum status status = page_answer_end(s);
    capture_free(cap);
    return status;
}

static enum status show(struct session *s, const struct args *args,
                        const struct incore_study *study, const struct incore_view *v, double mhz)
{
    const struct shown shown = {
        .study = study,
        .chip = args->clock.mhz > 0        ? NULL
                : args->clock.chip != NULL ? args->clock.chip
                : study->outcome != NULL   ? study->outcome->chip.at
                                           : NULL,
        .us = v->end - v->begin,
        .breakdown = &study->breakdown,
        .told = study->told.at,
        .told_n = study->told.n,
        .tops = v->tops.at,
        .tops_n = least(v->tops.n, args->top),
        .stalls = v->stalls.at,
        .stalls_n = least(v->stalls.n, args->top),
        .strips = v->strips.at,
        .strips_n = v->strips.n,
    };

    session_read(s, study->bin, "visualize_data", study->t.instrs.n, incore_study_lost(study));
    return page_answer_give(s,
                            &(struct answer){.schema = &schema,
                                             .origin = "simulated",
                                             .result = &shown,
                                             .title = str_of(study->bin),
                                             .describe = incore_show_describe},
                            make_page, &(struct page_of_trace){study, v, mhz});
}

static int show_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct shown_device device = {.top = args->top};
    struct incore_study study;
    struct incore_view view;
    double mhz;

    TRY_CODE(incore_clock(s, &args->clock, &mhz));
    if (incore_open_device(s->operands.at[0], &device.device)) {
        give_device(s, &device);
        return CODE_DONE;
    }
    enum status status = incore_open_judged(&study, s->operands.at[0], mhz, &s->diag);
    if (status == ST_OK) {
        incore_study_report(&study, &s->diag);
        incore_view_build(&view, &study.t, &study.lanes, out_room(&s->out, NAMES, args->width));
        status = show(s, args, &study, &view, mhz);
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
    .common = COMMON_LANG | COMMON_HTML,
    .schemas = {&schema, &incore_device_schema},
    COMMAND_PARTS,
    .run = show_run,
};
