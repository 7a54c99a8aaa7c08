/* Stalls by who waited for whom, and the critical path: both from the records of a run. */
#include <stdlib.h>

#include "pto/outcome.h"

enum { PIPES = PTO_PIPE_COUNT, SORTS = PTO_PATH_SYNC + 1 };

/* Sums, indexed so that the order of the records does not matter. */
struct sums {
    struct {
        int64_t cycles;
        uint64_t count;
    } stall[PTO_CORES][PIPES][PTO_CAUSE_COUNT][PTO_CORES][PIPES],
        path[PTO_CORES][PIPES][SORTS][PTO_CAUSE_COUNT];
    bool has_stalled[PTO_CORES][PIPES];
};

static uint8_t pipe_of(uint8_t pipe)
{
    return pipe < PIPES ? pipe : PTO_PIPE_S;
}

static void add_stalls(struct sums *s, const struct pto_core *c)
{
    for (size_t i = 0; i < c->queues.records.n; i++) {
        const struct pto_record *r = &c->queues.records.at[i];
        uint32_t from = r->other > 0 ? r->other - 1U : c->number;
        if (r->stall <= 0 || r->cause == PTO_CAUSE_NONE)
            continue;
        s->stall[c->number][pipe_of(r->pipe)][r->cause][from][pipe_of(r->from)].cycles += r->stall;
        s->stall[c->number][pipe_of(r->pipe)][r->cause][from][pipe_of(r->from)].count++;
        s->has_stalled[c->number][pipe_of(r->pipe)] = true;
    }
}

static void add_part(struct sums *s, uint32_t core, uint8_t pipe, enum pto_path_sort sort,
                     uint8_t cause, int64_t took)
{
    if (took <= 0)
        return;
    s->path[core][pipe_of(pipe)][sort][cause].cycles += took;
    s->path[core][pipe_of(pipe)][sort][cause].count++;
}

/* Back from the last result, at each instruction to what let it start last. Times only fall, and
 * every step goes to an earlier record of its core or to another core's earlier time. */
static void walk(struct sums *s, const struct pto_sim *sim)
{
    uint32_t core = sim->last_core, waiter = core;
    struct pto_moment at = pto_queues_end(&sim->cores[core].queues);
    int64_t now = at.at;
    uint64_t left = 0;

    for (uint32_t i = 0; i < PTO_CORES; i++)
        left += (sim->present >> i & 1) != 0 ? sim->cores[i].queues.records.n : 0;
    uint8_t pipe = at.from, cause = PTO_CAUSE_SCALAR;
    uint32_t record = at.record;
    while (record != PTO_NO_RECORD && record < sim->cores[core].queues.records.n && left-- > 0) {
        const struct pto_record *r = &sim->cores[core].queues.records.at[record];
        /* from the result to whoever was waiting: a flag or token under way, scalar work */
        if (now > r->ready)
            add_part(s, waiter, pipe, PTO_PATH_SYNC, cause, now - r->ready);
        int64_t until = now < r->ready ? now : r->ready;
        int64_t end = until < r->end ? until : r->end;
        add_part(s, core, r->pipe, PTO_PATH_LATENCY, PTO_CAUSE_NONE, until - end);
        add_part(s, core, r->pipe, r->is_sync ? PTO_PATH_SYNC : PTO_PATH_WORK,
                 r->is_sync ? r->cause : PTO_CAUSE_NONE, end - r->start);
        now = until < r->start ? until : r->start;
        pipe = r->cause == PTO_CAUSE_SCALAR ? PTO_PIPE_S : r->pipe;
        cause = r->cause;
        record = r->before;
        waiter = core;
        core = r->other > 0 ? r->other - 1U : core;
    }
    int64_t start = sim->machine.options->start;
    add_part(s, waiter, pipe, PTO_PATH_SYNC, cause, now - start);
    add_part(s, waiter, PTO_PIPE_S, PTO_PATH_SYNC, PTO_CAUSE_START, now < start ? now : start);
}

static int in_order(const uint32_t *a, const uint32_t *b, size_t n)
{
    size_t i = 0;

    while (i + 1 < n && a[i] == b[i])
        i++;
    return (a[i] > b[i]) - (a[i] < b[i]);
}

/* The longest first; those that were added earlier before others of the same length. */
static int by_stall(const void *a, const void *b)
{
    const struct pto_stall *x = a, *y = b;
    const uint32_t p[] = {x->core, x->pipe, x->cause, x->from_core, x->from};
    const uint32_t q[] = {y->core, y->pipe, y->cause, y->from_core, y->from};

    return ORDER(y->cycles, x->cycles) ?: in_order(p, q, ARRAY_LEN(p));
}

static int by_part(const void *a, const void *b)
{
    const struct pto_path_part *x = a, *y = b;
    const uint32_t p[] = {x->core, x->pipe, x->sort, x->cause};
    const uint32_t q[] = {y->core, y->pipe, y->sort, y->cause};

    return ORDER(y->cycles, x->cycles) ?: in_order(p, q, ARRAY_LEN(p));
}

static void list_stalls(struct pto_outcome *o, const struct sums *s)
{
    for (int c = 0; c < PTO_CORES; c++)
        for (int p = 0; p < PIPES; p++)
            for (int why = 0; s->has_stalled[c][p] && why < PTO_CAUSE_COUNT; why++)
                for (int d = 0; d < PTO_CORES; d++)
                    for (int f = 0; f < PIPES; f++) {
                        struct pto_stall x = {.core = (uint32_t)c,
                                              .pipe = (enum pto_pipe)p,
                                              .cause = (enum pto_cause)why,
                                              .from_core = (uint32_t)d,
                                              .from = (enum pto_pipe)f,
                                              .count = s->stall[c][p][why][d][f].count,
                                              .cycles = s->stall[c][p][why][d][f].cycles};
                        if (x.count > 0)
                            vec_push(&o->stalls, x);
                    }
    if (o->stalls.n > 0)
        qsort(o->stalls.at, o->stalls.n, sizeof(*o->stalls.at), by_stall);
}

static void list_path(struct pto_outcome *o, const struct sums *s)
{
    for (int c = 0; c < PTO_CORES; c++)
        for (int p = 0; p < PIPES; p++)
            for (int sort = 0; sort < SORTS; sort++)
                for (int why = 0; why < PTO_CAUSE_COUNT; why++) {
                    struct pto_path_part x = {.core = (uint32_t)c,
                                              .pipe = (enum pto_pipe)p,
                                              .sort = (enum pto_path_sort)sort,
                                              .cause = (enum pto_cause)why,
                                              .count = s->path[c][p][sort][why].count,
                                              .cycles = s->path[c][p][sort][why].cycles,
                                              .is_sync = sort == PTO_PATH_SYNC};
                    if (x.count > 0)
                        vec_push(&o->path, x);
                }
    if (o->path.n > 0)
        qsort(o->path.at, o->path.n, sizeof(*o->path.at), by_part);
}

void pto_outcome_walk(struct pto_outcome *o, const struct pto_sim *sim)
{
    struct sums *s = mem_grow(NULL, sizeof(*s), 1);

    memset(s, 0, sizeof(*s));
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((sim->present >> i & 1) != 0)
            add_stalls(s, &sim->cores[i]);
    }
    if (sim->last_core < PTO_CORES)
        walk(s, sim);
    list_stalls(o, s);
    list_path(o, s);
    mem_free(s);
}
