/*
 * strata incore diff: two runs of one kernel.
 */
#include "cli/kernel/incore_clock.h"
#include "kernels/incore/incore_open.h"
#include "kernels/incore/view.h"
#include "report/report.h"
#include "text/incore.h"

struct args {
    struct incore_clock clock;
    int64_t top;
};

static const struct args defaults = {.top = 10};

static const struct opt options[] = {
    INCORE_CLOCK_MHZ(struct args, clock),
    INCORE_CLOCK_CHIP(struct args, clock),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "rows per table (default: 10)"),
};

static const struct example examples[] = {
    {"strata incore diff examples/incore examples/incore", "a run against itself: no change"},
};

static void add_changes(struct report *r, const struct record *record,
                        const struct incore_change_list *list, size_t most)
{
    if (list->n > 0)
        report_records(r, record, list->at, list->n < most ? list->n : most,
                       &(struct record_env){.arena = &r->arena});
}

/* The changes, which are the document, and what a report needs besides. */
struct compared {
    struct incore_changes changes;
    const char *paths[2];
    const struct limit_list *limits[2];
    size_t top;
};

static void incore_diff_describe(const void *result, struct report *r)
{
    const struct compared *x = result;
    const struct incore_changes *c = &x->changes;

    for (int i = 0; i < 2; i++) {
        const char *change = "";
        if (i > 0 && c->span[0] > 0)
            change = arena_printf(&r->arena, "  %+.1f %%", (c->span[1] / c->span[0] - 1) * 100);
        report_line(r, "%c  %s  %.3f us  %.*s%s", "AB"[i], x -> paths[i], c -> span[i],
                    STR_ARGS(incore_verdict(x->limits[i], r->lang, &r->arena)), change);
    }
    report_text(r, report_message(r, &incore_text.pipes));
    report_records(r, &incore_pipe_change_record, c->pipes.at, c->pipes.n,
                   &(struct record_env){.arena = &r->arena});
    add_changes(r, &incore_top_change_record, &c->tops, x->top);
    add_changes(r, &incore_stall_change_record, &c->stalls, x->top);
    if (c->is_same)
        report_text(r, report_message(r, &incore_text.same));
}

static int incore_diff_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct incore_study *studies = ARENA_ARRAY(&s->arena, struct incore_study, 2);
    struct incore_view views[2] = {0};
    struct compared x = {.top = (size_t)args->top};
    enum status status = ST_OK;
    double mhz;

    TRY_CODE(incore_clock(s, &args->clock, &mhz));
    for (int i = 0; i < 2 && status == ST_OK; i++) {
        status = incore_open_judged(&studies[i], s->operands.at[i], mhz, &s->diag);
        x.paths[i] = studies[i].bin;
        x.limits[i] = &studies[i].breakdown.limits;
        incore_study_report(&studies[i], &s->diag);
        if (status == ST_OK)
            incore_view_build(&views[i], &studies[i].t, &studies[i].lanes, 0);
        if (status == ST_OK)
            session_read(s, studies[i].bin, "visualize_data", studies[i].t.instrs.n,
                         incore_study_lost(&studies[i]));
    }
    if (status == ST_OK) {
        incore_changes_build(&x.changes, &(struct incore_side){&views[0], &studies[0].breakdown},
                             &(struct incore_side){&views[1], &studies[1].breakdown});
        session_give(s, &(struct answer){.schema = &incore_changes_schema,
                                         .origin = "simulated",
                                         .result = &x,
                                         .describe = incore_diff_describe});
        incore_changes_free(&x.changes);
    }
    for (int i = 0; i < 2; i++) {
        incore_view_free(&views[i]);
        incore_study_close(&studies[i]);
    }
    return session_code(status);
}

const struct command command_incore_diff = {
    .name = "diff",
    .group = GROUP_KERNELS,
    .summary = "compare two runs of one kernel: pipes, instructions, waits",
    .usage = "[OPTIONS] A B",
    .details =
        "Compares two traces of one kernel: busy and wait cycles of each pipe; instructions by "
        "pipe and name (count, time, and how much later the first one starts relative to its "
        "core); and waits that are new, gone, longer or shorter. Only changes are listed.",
    .see = "docs/formats/incore-clean.md",
    .operands = {.kind = OPERAND_FILE, .min = 2, .max = 2},
    .common = COMMON_LANG,
    .schemas = {&incore_changes_schema},
    COMMAND_PARTS,
    .run = incore_diff_run,
};
