/*
 * The critical path, piece by piece.
 */
#include "kernels/pto/judge/path.h"

#include "base/run/mem.h"

const char *pto_reason_name(enum pto_reason reason)
{
    static const char *const names[] = {"busy", "data",   "reuse", "flags",
                                        "core", "scalar", "launch"};

    return names[reason];
}

/* ---- why one waited for the other ---- */

/* Why the instructions of site `next` cannot run before those of site `before`, of another pipe of
 * the same core, as the text tells. PTO_REASON_DISTANCE: they could. */
static enum pto_reason conflict(const struct pto_program *p, uint32_t before, uint32_t next)
{
    const struct pto_site *x = &p->sites.at[before], *y = &p->sites.at[next];
    enum pto_reason reason = PTO_REASON_DISTANCE;

    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            const struct pto_access *a = &p->accesses.at[x->access_first + i];
            const struct pto_access *b = &p->accesses.at[y->access_first + k];
            if (!pto_accesses_meet(a, b))
                continue;
            if ((a->is_write || a->is_scratch) && (!b->is_write || b->is_scratch))
                return PTO_REASON_DATA;
            if (b->is_write || b->is_scratch)
                reason = PTO_REASON_REUSE;
        }
    }
    return reason;
}

/* ---- the walk ---- */

struct path_walk {
    const struct pto_sim *sim;
    pto_piece_fn *take;
    void *ctx;
    uint32_t *next_work[PTO_CORES]; /* by record: the next instruction of its pipe */
    enum pto_reason reason;         /* why the path leads to where it is */
};

static uint32_t *list_next_work(const struct pto_queues *q)
{
    uint32_t next[PTO_PIPE_COUNT];
    uint32_t *list = mem_grow(NULL, sizeof(*list), q->records.n + 1);

    for (size_t p = 0; p < PTO_PIPE_COUNT; p++)
        next[p] = PTO_NO_RECORD;
    for (size_t i = q->records.n; i-- > 0;) {
        const struct pto_record *r = &q->records.at[i];
        uint8_t pipe = r->pipe < PTO_PIPE_COUNT ? r->pipe : PTO_PIPE_S;
        if (r->is_sync == PTO_MARK_NONE)
            next[pipe] = (uint32_t)i;
        list[i] = next[pipe];
    }
    return list;
}

/* Why record `at` of a core waited for `before` of the same core. */
static enum pto_reason flag_reason(struct path_walk *w, const struct pto_core *c, uint32_t at,
                                   uint32_t before)
{
    uint32_t **list = &w->next_work[c->number];

    if (*list == NULL)
        *list = list_next_work(&c->queues);
    uint32_t next = (*list)[at];
    if (next == PTO_NO_RECORD || before >= c->queues.records.n)
        return PTO_REASON_DISTANCE;
    const struct pto_record *first = &c->queues.records.at[before];
    if (first->is_sync != PTO_MARK_NONE)
        return PTO_REASON_DISTANCE;
    return conflict(c->program, first->site, c->queues.records.at[next].site);
}

static enum pto_reason reason_of(struct path_walk *w, const struct pto_core *c, uint32_t at)
{
    const struct pto_record *r = &c->queues.records.at[at];

    switch ((enum pto_cause)r->cause) {
    case PTO_CAUSE_NONE:
        return PTO_REASON_BUSY;
    case PTO_CAUSE_RAW:
        return PTO_REASON_DATA;
    case PTO_CAUSE_WAR:
    case PTO_CAUSE_WAW:
        return PTO_REASON_REUSE;
    case PTO_CAUSE_FLAG:
    case PTO_CAUSE_BARRIER:
        return r->other > 0 ? PTO_REASON_CORE : flag_reason(w, c, at, r->before);
    case PTO_CAUSE_FIFO:
    case PTO_CAUSE_SEMAPHORE:
        return PTO_REASON_CORE;
    default:
        return PTO_REASON_SCALAR;
    }
}

static void path_put(const struct path_walk *w, struct pto_path_piece piece)
{
    if (piece.end <= piece.begin)
        return;
    if ((int)piece.pipe >= PTO_PIPE_COUNT)
        piece.pipe = PTO_PIPE_S;
    piece.reason = piece.cause == PTO_CAUSE_START    ? PTO_REASON_LAUNCH
                   : piece.cause == PTO_CAUSE_SCALAR ? PTO_REASON_SCALAR
                                                     : w->reason;
    w->take(w->ctx, &piece);
}

/* The pieces of one instruction, up to `now`. */
static void put_record(const struct path_walk *w, uint32_t core, uint32_t record, int64_t now)
{
    const struct pto_record *r = &w->sim->cores[core].queues.records.at[record];
    struct pto_path_piece x = {.core = core, .record = record, .pipe = (enum pto_pipe)r->pipe};
    int64_t until = now < r->ready ? now : r->ready, end = until < r->end ? until : r->end;

    x.sort = PTO_PATH_LATENCY;
    x.begin = end;
    x.end = until;
    path_put(w, x);
    x.sort = r->is_sync ? PTO_PATH_SYNC : PTO_PATH_WORK;
    x.cause = r->is_sync ? (enum pto_cause)r->cause : PTO_CAUSE_NONE;
    x.begin = r->start;
    x.end = end;
    path_put(w, x);
}

/* Times only fall, and every step goes to an earlier record of its core or to another core's
 * earlier time. */
static void walk(struct path_walk *w)
{
    const struct pto_sim *sim = w->sim;
    uint32_t core = sim->last_core, waiter = core;
    struct pto_moment at = pto_queues_end(&sim->cores[core].queues);
    struct pto_path_piece gap = {
        .record = PTO_NO_RECORD, .sort = PTO_PATH_SYNC, .cause = PTO_CAUSE_SCALAR};
    int64_t now = at.at, start = sim->machine.options->start;
    uint64_t left = 0;

    for (uint32_t i = 0; i < PTO_CORES; i++)
        left += (sim->present >> i & 1) != 0 ? sim->cores[i].queues.records.n : 0;
    gap.pipe = (enum pto_pipe)at.from;
    uint32_t record = at.record;
    while (record != PTO_NO_RECORD && record < sim->cores[core].queues.records.n && left-- > 0) {
        const struct pto_record *r = &sim->cores[core].queues.records.at[record];
        /* from the result to whoever was waiting: a flag or token under way, scalar work */
        gap.core = waiter;
        gap.begin = r->ready;
        gap.end = now;
        path_put(w, gap);
        put_record(w, core, record, now);
        now = now < r->start ? now : r->start;
        w->reason = reason_of(w, &sim->cores[core], record);
        gap.pipe = r->cause == PTO_CAUSE_SCALAR ? PTO_PIPE_S : (enum pto_pipe)r->pipe;
        gap.cause = (enum pto_cause)r->cause;
        record = r->before;
        waiter = core;
        core = r->other > 0 ? r->other - 1U : core;
    }
    gap.core = waiter;
    gap.begin = start;
    gap.end = now;
    path_put(w, gap);
    gap.pipe = PTO_PIPE_S;
    gap.cause = PTO_CAUSE_START;
    gap.begin = 0;
    gap.end = now < start ? now : start;
    path_put(w, gap);
}

void pto_path_walk(const struct pto_sim *sim, pto_piece_fn *take, void *ctx)
{
    struct path_walk w = {.sim = sim, .take = take, .ctx = ctx};

    if (sim->last_core < PTO_CORES)
        walk(&w);
    for (size_t i = 0; i < PTO_CORES; i++)
        mem_free(w.next_work[i]);
}
