/*
 * strata pto replay: recorded schedules run again.
 */
#include <inttypes.h>

#include "base/files/mapfile.h"
#include "cli/session.h"
#include "kernels/pto/judge/replay.h"

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

static void pto_replay_print(struct session *s, const struct pto_replay *r)
{
    if (s->common.quiet)
        return;
    out_printf(&s->out, "%s\n  %" PRId64 " cycles, %zu entries", s->operands.at[0], r->total,
               r->entries.n);
    if (r->stuck > 0)
        out_printf(&s->out, ", %" PRIu64 " never ran", r->stuck);
    out_printf(&s->out, "; %" PRIu64 " differ from the recording\n", r->different);
    if (r->different > 0) {
        const struct pto_replay_entry *e = &r->entries.at[r->first_different];
        out_printf(&s->out,
                   "  first difference in line %" PRIu32 ": %" PRId64 " to %" PRId64
                   ", recorded %" PRId64 " to %" PRId64 "\n",
                   e->line, e->start, e->end, e->told_start, e->told_end);
    }
    out_printf(&s->out, "\n  %-12s %9s %12s %7s\n", "queue", "entries", "busy", "busy %");
    for (uint32_t q = 0; q < PTO_REPLAY_QUEUES; q++)
        if (r->order[q].n > 0)
            out_printf(&s->out, "  %-12s %9zu %12" PRId64 " %7.1f\n", pto_replay_queue_name(q),
                       r->order[q].n, r->busy[q],
                       r->total > 0 ? 100.0 * (double)r->busy[q] / (double)r->total : 0.0);
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
        if (s->common.json) {
            session_read(s, s->operands.at[0], "pto-replay", r.entries.n, 0);
            session_document(s, &pto_replay_schema, "simulated", &r);
        } else {
            pto_replay_print(s, &r);
        }
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
