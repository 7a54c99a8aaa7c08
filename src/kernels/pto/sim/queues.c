/*
 * The clocks of the pipes of one core.
 */
#include "kernels/pto/sim/queues.h"

#include <string.h>

#include "kernels/pto/judge/race.h"

const char *pto_cause_name(enum pto_cause cause)
{
    static const char *const names[] = {"none",    "raw",  "war",       "waw",    "flag",
                                        "barrier", "fifo", "semaphore", "scalar", "start"};

    return (int)cause < PTO_CAUSE_COUNT ? names[cause] : "?";
}

void pto_queues_init(struct pto_queues *q, size_t max_records)
{
    memset(q, 0, sizeof(*q));
    q->max_records = max_records;
    pto_queues_reset(q, 0);
}

void pto_queues_free(struct pto_queues *q)
{
    for (size_t a = 0; a < PTO_PIPE_COUNT; a++) {
        for (size_t b = 0; b < PTO_PIPE_COUNT; b++) {
            for (size_t id = 0; q->flag[a][b] && id < PTO_FLAG_IDS; id++)
                vec_free(&q->flag[a][b][id].set);
            mem_free(q->flag[a][b]);
        }
    }
    vec_free(&q->records);
    memset(q, 0, sizeof(*q));
}

void pto_queues_reset(struct pto_queues *q, int64_t start)
{
    memset(q->pipe, 0, sizeof(q->pipe));
    for (size_t p = 0; p < PTO_PIPE_COUNT; p++) {
        q->pipe[p].last = q->pipe[p].slowest = PTO_NO_RECORD;
        q->pipe[p].first = INT64_MAX;
        q->pipe[p].free = start;
        q->pipe[p].held.record = PTO_NO_RECORD;
    }
    for (size_t a = 0; a < PTO_PIPE_COUNT; a++) {
        for (size_t b = 0; b < PTO_PIPE_COUNT; b++) {
            for (size_t id = 0; q->flag[a][b] && id < PTO_FLAG_IDS; id++)
                q->flag[a][b][id].set.n = q->flag[a][b][id].waited = 0;
        }
    }
    q->memory_free = start;
    q->records.n = 0;
    q->n_records = 0;
    q->late = NULL;
}

/* Where the next record goes: into the list, or aside once the list is full. */
static inline struct pto_record *next_record(struct pto_queues *q, uint32_t *number)
{
    q->n_records++;
    *number = PTO_NO_RECORD;
    if (q->records.n >= q->max_records)
        return &q->aside;
    if (q->records.n == q->records.cap)
        vec_reserve(&q->records, q->records.n + 1);
    *number = (uint32_t)q->records.n;
    return &q->records.at[q->records.n++];
}

/* The latest of: queue free, held, dispatched, waited for. `free` moments have no cause. */
static struct pto_moment start_moment(const struct pto_queues *q, const struct pto_queue *pipe,
                                      enum pto_pipe p, struct pto_moment wait)
{
    const struct pto_queue *scalar = &q->pipe[PTO_PIPE_S];
    struct pto_moment m = {pipe->free, pipe->last, PTO_CAUSE_NONE, (uint8_t)p, 0};

    pto_moment_join(&m, pipe->held);
    pto_moment_join(&m, wait);
    if (q->late)
        pto_moment_join(&m, *q->late);
    else if (p != PTO_PIPE_S)
        pto_moment_join(
            &m, (struct pto_moment){scalar->free, scalar->last, PTO_CAUSE_SCALAR, PTO_PIPE_S, 0});
    return m;
}

/* The end of a transfer that memory takes part in. Reads take their turn; what is written is added
 * to the work of memory whenever it gets there, so that a late store holds back no early load. */
static int64_t memory_end(struct pto_queues *q, int64_t start, int64_t end,
                          const struct pto_issue *issue)
{
    if (issue->service <= 0)
        return end;
    if (!issue->is_write && q->memory_free < start - q->slack)
        q->memory_free = start - q->slack;
    q->memory_free += issue->service;
    int64_t done = q->memory_free - (issue->is_write ? q->slack : 0);
    return done > end ? done : end;
}

/* One entry of a queue: it starts when everything lets it and holds the queue for `occupied`. */
static inline struct pto_record *queues_enter(struct pto_queues *q, enum pto_pipe p, uint32_t site,
                                              struct pto_moment wait, const struct pto_issue *issue)
{
    struct pto_queue *pipe = &q->pipe[p];
    struct pto_moment m = start_moment(q, pipe, p, wait);
    int64_t end = memory_end(q, m.at, m.at + issue->occupied, issue), stall = m.at - pipe->free;
    struct pto_record *r = next_record(q, &pipe->last);

    *r = (struct pto_record){.start = m.at,
                             .end = end,
                             .ready = end + (q->no_latency && p != PTO_PIPE_S ? 0 : issue->latency),
                             .stall = stall,
                             .site = site,
                             .before = m.record,
                             .pipe = (uint8_t)p,
                             .cause = m.cause,
                             .from = m.from,
                             .other = m.other};
    /* The vector queue's busy time has the latency of a burst once: the last one's, as far as it is
     * not covered by what follows. */
    if (stall > 0 && p == PTO_PIPE_V) {
        pipe->busy += stall < pipe->burst_latency ? stall : pipe->burst_latency;
        pipe->burst_latency = 0;
    }
    pipe->stall[m.cause] += stall;
    pipe->held.at = 0;
    pipe->free = end;
    if (r->ready >= pipe->done) {
        pipe->done = r->ready;
        pipe->slowest = pipe->last;
    }
    return r;
}

struct pto_moment pto_queues_run(struct pto_queues *q, const struct pto_issue *issue,
                                 struct pto_moment wait)
{
    struct pto_queue *pipe = &q->pipe[issue->pipe];
    const struct pto_record *r =
        queues_enter(q, (enum pto_pipe)issue->pipe, issue->site, wait, issue);

    pipe->busy += r->end - r->start;
    if (issue->pipe == PTO_PIPE_V)
        pipe->burst_latency = issue->latency;
    pipe->count++;
    if (issue->is_blocking)
        pipe->free = r->ready;
    if (r->start < pipe->first)
        pipe->first = r->start;
    if (r->ready > pipe->until)
        pipe->until = r->ready;
    return (struct pto_moment){r->ready, pipe->last, PTO_CAUSE_NONE, issue->pipe, 0};
}

static struct pto_flag *flag_of(struct pto_queues *q, enum pto_pipe a, enum pto_pipe b, uint32_t id)
{
    struct pto_flag **f = &q->flag[a][b];

    if (!*f) {
        *f = mem_grow(NULL, sizeof(**f), PTO_FLAG_IDS);
        memset(*f, 0, sizeof(**f) * PTO_FLAG_IDS);
    }
    return &(*f)[id];
}

/* What a synchronisation is, for its record. */
struct queue_mark {
    enum pto_sync_mark is;
    enum pto_pipe peer;
    uint32_t id;
};

/* A synchronisation takes its turn in the queue of `p` and one cycle of issue. */
static uint32_t sync_record(struct pto_queues *q, uint32_t site, enum pto_pipe p,
                            struct pto_moment wait, struct queue_mark mark)
{
    struct pto_record *r =
        queues_enter(q, p, site, wait, &(struct pto_issue){.occupied = q->issue});

    r->is_sync = (uint8_t)mark.is;
    r->peer = (uint8_t)mark.peer;
    r->id = (uint8_t)mark.id;
    return q->pipe[p].last;
}

void pto_queues_set(struct pto_queues *q, uint32_t site, enum pto_pipe a, enum pto_pipe b,
                    uint32_t id)
{
    uint32_t record = sync_record(q, site, a, (struct pto_moment){.record = PTO_NO_RECORD},
                                  (struct queue_mark){PTO_MARK_SET, b, id});
    const struct pto_queue *pipe = &q->pipe[a];
    struct pto_moment fire = {pipe->done + q->flag_latency, pipe->slowest, PTO_CAUSE_FLAG,
                              (uint8_t)a, 0};

    if (fire.record == PTO_NO_RECORD)
        fire.record = record;
    vec_push(&flag_of(q, a, b, id)->set, fire);
    if (q->races)
        pto_race_set(q->races, q->core, site, a, b, id);
}

bool pto_queues_wait(struct pto_queues *q, uint32_t site, enum pto_pipe a, enum pto_pipe b,
                     uint32_t id)
{
    struct pto_flag *f = flag_of(q, a, b, id);

    if (f->waited == f->set.n)
        return false;
    sync_record(q, site, b, f->set.at[f->waited++], (struct queue_mark){PTO_MARK_WAIT, a, id});
    if (f->waited == f->set.n)
        f->set.n = f->waited = 0;
    if (q->races)
        pto_race_wait(q->races, q->core, site, a, b, id);
    return true;
}

void pto_queues_barrier(struct pto_queues *q, uint32_t site, enum pto_pipe pipe)
{
    if (q->races)
        pto_race_barrier(q->races, q->core, pipe);
    if (pipe != PTO_PIPE_ALL) {
        const struct pto_queue *p = &q->pipe[pipe];
        sync_record(q, site, pipe,
                    (struct pto_moment){p->done, p->slowest, PTO_CAUSE_BARRIER, (uint8_t)pipe, 0},
                    (struct queue_mark){PTO_MARK_BARRIER, pipe, 0});
        return;
    }
    struct pto_moment all = pto_queues_end(q);
    all.cause = PTO_CAUSE_BARRIER;
    for (int p = 0; p < PTO_PIPE_COUNT; p++)
        pto_queues_hold(q, (enum pto_pipe)p, all);
    sync_record(q, site, PTO_PIPE_S, all, (struct queue_mark){PTO_MARK_BARRIER, PTO_PIPE_ALL, 0});
}

struct pto_moment pto_queues_signal(struct pto_queues *q, uint32_t site, enum pto_pipe pipe)
{
    struct pto_moment none = {.record = PTO_NO_RECORD};
    struct pto_moment all = pipe == PTO_PIPE_ALL ? pto_queues_end(q) : none;

    sync_record(q, site, pipe == PTO_PIPE_ALL ? PTO_PIPE_S : pipe, none,
                (struct queue_mark){PTO_MARK_SIGNAL, pipe, 0});
    if (pipe != PTO_PIPE_ALL)
        all = (struct pto_moment){
            .at = q->pipe[pipe].done, .record = q->pipe[pipe].slowest, .from = (uint8_t)pipe};
    return all;
}

void pto_queues_await(struct pto_queues *q, uint32_t site, enum pto_pipe pipe,
                      struct pto_moment until)
{
    for (int p = 0; pipe == PTO_PIPE_ALL && p < PTO_PIPE_COUNT; p++)
        pto_queues_hold(q, (enum pto_pipe)p, until);
    sync_record(q, site, pipe == PTO_PIPE_ALL ? PTO_PIPE_S : pipe, until,
                (struct queue_mark){PTO_MARK_AWAIT, pipe, 0});
}

void pto_queues_hold(struct pto_queues *q, enum pto_pipe pipe, struct pto_moment until)
{
    pto_moment_join(&q->pipe[pipe].held, until);
}

struct pto_moment pto_queues_end(const struct pto_queues *q)
{
    struct pto_moment end = {.record = PTO_NO_RECORD};

    for (int p = 0; p < PTO_PIPE_COUNT; p++) {
        const struct pto_queue *pipe = &q->pipe[p];
        int64_t done = pipe->done > pipe->free ? pipe->done : pipe->free;
        pto_moment_join(&end,
                        (struct pto_moment){done, pipe->slowest, PTO_CAUSE_NONE, (uint8_t)p, 0});
    }
    return end;
}
