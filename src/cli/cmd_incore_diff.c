/*
 * strata incore diff: two runs of one kernel.
 */
#include <inttypes.h>

#include "cli/incore_clock.h"
#include "flow/incore_open.h"
#include "incore/view.h"
#include "report/report.h"

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

/* "+12", "-3"; as much as before is a zero without a sign. */
static void add_change(struct report *r, struct table *t, uint64_t before, uint64_t after)
{
    int64_t change = (int64_t)(after - before);

    table_text(r, t,
               str_of(arena_printf(&r->arena, change != 0 ? "%+" PRId64 : "%" PRId64, change)));
}

static void add_pipes(struct report *r, const struct incore_changes *c)
{
    static const struct column columns[] = {
        {"pipe", COLUMN_TEXT, 0},
        {"busy A", COLUMN_NUMBER, UNIT_COUNT},
        {"busy B", COLUMN_NUMBER, UNIT_COUNT},
        {"change", COLUMN_RIGHT, 0},
        {"wait A", COLUMN_NUMBER, UNIT_COUNT},
        {"wait B", COLUMN_NUMBER, UNIT_COUNT},
        {"change", COLUMN_RIGHT, 0},
    };
    report_say(r, "Cycles of each pipe:");
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < c->pipes.n; i++) {
        const struct incore_pipe_change *p = &c->pipes.at[i];
        table_text(r, t, p->pipe);
        table_number(t, (double)p->busy[0]);
        table_number(t, (double)p->busy[1]);
        add_change(r, t, p->busy[0], p->busy[1]);
        table_number(t, (double)p->wait[0]);
        table_number(t, (double)p->wait[1]);
        add_change(r, t, p->wait[0], p->wait[1]);
    }
}

/* Counts and times of both sides. */
static void add_sides(struct table *t, const struct incore_change *c)
{
    table_number(t, (double)c->count[0]);
    table_number(t, (double)c->count[1]);
    table_number(t, c->total[0] * 1000);
    table_number(t, c->total[1] * 1000);
}

/* What is only on one side; else empty. */
static const char *one_sided(const struct incore_change *c)
{
    return c->count[0] == 0 ? "new" : c->count[1] == 0 ? "gone" : "";
}

static void add_tops(struct report *r, const struct incore_change_list *list, size_t most)
{
    static const struct column columns[] = {
        {"pipe", COLUMN_TEXT, 0},
        {"instruction", COLUMN_TEXT, 0},
        {"count A", COLUMN_NUMBER, UNIT_COUNT},
        {"count B", COLUMN_NUMBER, UNIT_COUNT},
        {"us A", COLUMN_NUMBER, UNIT_US},
        {"us B", COLUMN_NUMBER, UNIT_US},
        {"moved us", COLUMN_RIGHT, 0},
    };

    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < list->n && i < most; i++) {
        const struct incore_change *c = &list->at[i];
        const char *only = one_sided(c);
        table_text(r, t, c->key[0]);
        table_text(r, t, c->key[1]);
        add_sides(t, c);
        table_text(r, t, str_of(*only ? only : arena_printf(&r->arena, "%+.3f", c->moved)));
    }
}

static void add_stalls(struct report *r, const struct incore_change_list *list, size_t most)
{
    static const struct column columns[] = {
        {"waits", COLUMN_TEXT, 0},
        {"for", COLUMN_TEXT, 0},
        {"flag", COLUMN_RIGHT, 0},
        {"count A", COLUMN_NUMBER, UNIT_COUNT},
        {"count B", COLUMN_NUMBER, UNIT_COUNT},
        {"us A", COLUMN_NUMBER, UNIT_US},
        {"us B", COLUMN_NUMBER, UNIT_US},
        {"", COLUMN_TEXT, 0},
    };

    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < list->n && i < most; i++) {
        const struct incore_change *c = &list->at[i];
        table_text(r, t, c->key[1]);
        table_text(r, t, c->key[0]);
        table_text(r, t, c->key[2]);
        add_sides(t, c);
        table_text(r, t, str_of(one_sided(c)));
    }
}

static void add_runs(struct report *r, const struct incore_study *studies,
                     const struct incore_changes *c)
{
    for (int i = 0; i < 2; i++) {
        const char *change = "";
        if (i > 0 && c->span[0] > 0)
            change = arena_printf(&r->arena, "  %+.1f %%", (c->span[1] / c->span[0] - 1) * 100);
        report_line(r, "%c  %s  %.3f us  %.*s%s", "AB"[i], studies[i].bin, c->span[i],
                    STR_ARGS(c->verdict[i]), change);
    }
}

static void print_text(struct session *s, const struct args *args,
                       const struct incore_study *studies, const struct incore_changes *c)
{
    struct report *r = report_new(LANG_EN, S(""));

    add_runs(r, studies, c);
    add_pipes(r, c);
    if (c->tops.n > 0)
        add_tops(r, &c->tops, args->top);
    if (c->stalls.n > 0)
        add_stalls(r, &c->stalls, args->top);
    if (c->is_same)
        report_say(r, "No change.");
    session_report(s, r);
    report_free(r);
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
