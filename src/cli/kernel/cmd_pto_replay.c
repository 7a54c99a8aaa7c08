/*
 * strata pto replay: recorded schedules run again.
 */
#include <inttypes.h>

#include "base/files/mapfile.h"
#include "cli/session.h"
#include "kernels/pto/judge/replay.h"
#include "report/report.h"

struct args {
    int64_t sync_base;
};

static const struct opt options[] = {
    OPT_INT(0, "sync-base", "N", struct args, sync_base, 0, INT32_MAX,
            "channels below this are always signalled (default: 0)"),
};

static const struct example examples[] = {
    {"strata pto replay examples/pto/replay.csv --sync-base 100",
     "compare the times of every entry"},
};

static void pto_replay_describe(const void *result, struct report *r)
{
    static const struct column columns[] = {{"queue", COLUMN_TEXT, 0},
                                            {"entries", COLUMN_NUMBER, UNIT_COUNT},
                                            {"busy", COLUMN_NUMBER, UNIT_COUNT},
                                            {"busy %", COLUMN_RIGHT, 0}};
    const struct pto_replay *x = result;
    const struct pto_replay_entry *e = x->first_different;
    struct str stuck =
        x->stuck > 0 ? arena_format(&r->arena, ", %" PRIu64 " never ran", x->stuck) : S("");

    report_line(r, "  %" PRId64 " cycles, %zu entries%.*s; %" PRIu64 " differ from the recording",
                x->total, x->entries.n, STR_ARGS(stuck), x->different);
    if (e != NULL)
        report_line(r,
                    "  first difference in line %" PRIu32 ": %" PRId64 " to %" PRId64
                    ", recorded %" PRId64 " to %" PRId64,
                    e->line, e->start, e->end, e->told_start, e->told_end);
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (uint32_t q = 0; q < PTO_REPLAY_QUEUES; q++) {
        if (x->order[q].n == 0)
            continue;
        double share = x->total > 0 ? (double)x->busy[q] / (double)x->total : 0;
        table_text(r, t, str_of(pto_replay_queue_name(q)));
        table_number(t, (double)x->order[q].n);
        table_number(t, (double)x->busy[q]);
        table_text(r, t, arena_format(&r->arena, "%.1f", 100 * share));
    }
}

static int kernel_pto_replay_run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct mapfile map;
    struct pto_replay r;

    TRY_CODE(session_code(mapfile_open(&map, s->operands.at[0], &s->diag)));
    pto_replay_init(&r);
    enum status status = pto_replay_read(&r, map.text, s->operands.at[0], &s->diag);
    if (status == ST_OK) {
        pto_replay_run(&r, (uint32_t)a->sync_base);
        session_read(s, s->operands.at[0], "pto-replay", r.entries.n, 0);
        session_give(s, &(struct answer){.schema = &pto_replay_schema,
                                         .origin = "simulated",
                                         .result = &r,
                                         .title = str_of(s->operands.at[0]),
                                         .describe = pto_replay_describe});
    }
    bool is_same = r.stuck == 0 && r.different == 0;
    pto_replay_free(&r);
    mapfile_close(&map);
    return status == ST_OK && !is_same ? CODE_NO : session_code(status);
}

const struct command command_pto_replay = {
    .name = "replay",
    .group = GROUP_KERNELS,
    .summary = "replay a recorded schedule and compare its times",
    .usage = "[OPTIONS] FILE",
    .details = "Reads a table of queue entries (queue, duration, the channels each waits for and "
               "signals) and simulates it: each queue in order, one entry at a time, each as soon "
               "as all its channels are signalled. If the table has recorded start and end times, "
               "they are compared; the exit code is 1 if one differs or an entry never ran.",
    .see = "docs/pto.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .schemas = {&pto_replay_schema},
    COMMAND_PARTS_ZERO,
    .run = kernel_pto_replay_run,
};
