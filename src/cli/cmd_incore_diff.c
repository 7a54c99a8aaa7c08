/*
 * strata incore diff: two runs of one kernel.
 */
#include <inttypes.h>

#include "cli/incore_clock.h"
#include "flow/incore_open.h"
#include "incore/view.h"

struct args {
    struct incore_clock clock;
    int64_t top;
};

static const struct args defaults = {.top = 10};

static const struct opt options[] = {
    INCORE_CLOCK_MHZ(struct args, clock),
    INCORE_CLOCK_CHIP(struct args, clock),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "rows per table (default: 10)"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata incore diff examples/incore examples/incore", "a run against itself: no change"},
    {0},
};

static void print_pipes(struct session *s, const struct incore_changes *c)
{
    out_printf(&s->out, "\n  %-10s %12s %12s %10s %12s %12s %10s\n", "pipe", "busy A", "busy B",
               "change", "wait A", "wait B", "change");
    for (size_t i = 0; i < c->pipes.n; i++) {
        const struct incore_pipe_change *p = &c->pipes.at[i];
        out_printf(&s->out,
                   "  %-10s %12" PRIu64 " %12" PRIu64 " %+10" PRId64 " %12" PRIu64 " %12" PRIu64
                   " %+10" PRId64 "\n",
                   out_clean(&s->arena, p->pipe), p->busy[0], p->busy[1],
                   (int64_t)(p->busy[1] - p->busy[0]), p->wait[0], p->wait[1],
                   (int64_t)(p->wait[1] - p->wait[0]));
    }
}

static void print_tops(struct session *s, const struct incore_change_list *list, size_t most)
{
    for (size_t i = 0; i < list->n && i < most; i++) {
        const struct incore_change *c = &list->at[i];
        if (i == 0)
            out_printf(&s->out, "\n  %-10s %-28s %8s %8s %12s %12s %12s\n", "pipe", "instruction",
                       "count A", "count B", "us A", "us B", "moved us");
        out_printf(&s->out, "  %-10s %-28s %8" PRIu64 " %8" PRIu64 " %12.3f %12.3f ",
                   out_clean(&s->arena, c->key[0]), out_clean(&s->arena, c->key[1]), c->count[0],
                   c->count[1], c->total[0], c->total[1]);
        if (c->count[0] > 0 && c->count[1] > 0)
            out_printf(&s->out, "%+12.3f\n", c->moved);
        else
            out_printf(&s->out, "%12s\n", c->count[0] > 0 ? "gone" : "new");
    }
}

static void print_stalls(struct session *s, const struct incore_change_list *list, size_t most)
{
    for (size_t i = 0; i < list->n && i < most; i++) {
        const struct incore_change *c = &list->at[i];
        if (i == 0)
            out_printf(&s->out, "\n  %-10s %-10s %6s %8s %8s %12s %12s\n", "waits", "for", "flag",
                       "count A", "count B", "us A", "us B");
        out_printf(&s->out, "  %-10s %-10s %6s %8" PRIu64 " %8" PRIu64 " %12.3f %12.3f%s\n",
                   out_clean(&s->arena, c->key[1]), out_clean(&s->arena, c->key[0]),
                   out_clean(&s->arena, c->key[2]), c->count[0], c->count[1], c->total[0],
                   c->total[1],
                   c->count[0] == 0   ? "  new"
                   : c->count[1] == 0 ? "  gone"
                                      : "");
    }
}

static void print_text(struct session *s, const struct args *args,
                       const struct incore_study *studies, const struct incore_changes *c)
{
    for (int i = 0; i < 2; i++)
        out_printf(&s->out, "%s%c  %s  %.3f us  %.*s", i > 0 ? "\n" : "", "AB"[i], studies[i].bin,
                   c->span[i], STR_ARGS(c->verdict[i]));
    if (c->span[0] > 0)
        out_printf(&s->out, "  %+.1f %%", (c->span[1] / c->span[0] - 1) * 100);
    out_text(&s->out, "\n");
    print_pipes(s, c);
    print_tops(s, &c->tops, args->top);
    print_stalls(s, &c->stalls, args->top);
    if (c->is_same)
        out_text(&s->out, "\n  no change\n");
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct incore_study *studies = ARENA_ARRAY(&s->arena, struct incore_study, 2);
    struct incore_view views[2] = {0};
    struct incore_changes changes;
    enum status status = ST_OK;
    double mhz;
    int code = incore_clock(s, &args->clock, &mhz);

    if (code != CODE_DONE)
        return code;
    for (int i = 0; i < 2 && status == ST_OK; i++) {
        status = incore_open_judged(&studies[i], s->operands.at[i], mhz, &s->diag);
        incore_study_tell(&studies[i], &s->diag);
        if (status == ST_OK)
            incore_view_build(&views[i], &studies[i].t, &studies[i].lanes, 0);
        if (status == ST_OK && s->common.json)
            session_read(s, studies[i].bin, "visualize_data", studies[i].t.instrs.n,
                         incore_study_lost(&studies[i]));
    }
    if (status == ST_OK) {
        incore_changes_build(&changes, &(struct incore_side){&views[0], &studies[0].breakdown},
                             &(struct incore_side){&views[1], &studies[1].breakdown});
        if (s->common.json)
            session_document(s, &incore_changes_schema, "simulated", &changes, NULL);
        else
            print_text(s, args, studies, &changes);
        incore_changes_free(&changes);
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
    .schemas = {&incore_changes_schema},
    COMMAND_PARTS,
};
