/* Stalls by who waited for whom, and the critical path: both from the records of a run. */
#include <stdlib.h>

#include "kernels/pto/judge/outcome.h"

enum { PIPES = PTO_PIPE_COUNT, SORTS = PTO_PATH_SYNC + 1 };

/* Sums, indexed so that the order of the records does not matter. */
struct sums {
    struct {
        int64_t cycles;
        uint64_t count;
    } stall[PTO_CORES][PIPES][PTO_CAUSE_COUNT][PTO_CORES][PIPES],
        path[PTO_CORES][PIPES][SORTS][PTO_CAUSE_COUNT];
    struct pto_path_reason reason[PTO_REASON_COUNT];
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

static void add_piece(void *ctx, const struct pto_path_piece *piece)
{
    struct sums *s = ctx;
    int64_t cycles = piece->end - piece->begin;

    s->path[piece->core][piece->pipe][piece->sort][piece->cause].cycles += cycles;
    s->path[piece->core][piece->pipe][piece->sort][piece->cause].count++;
    s->reason[piece->reason].cycles += cycles;
    s->reason[piece->reason].count++;
}

/* The longest first; those that were added earlier before others of the same length. */
ORDER_BY(by_stall, struct pto_stall,
         ORDER(y->cycles, x->cycles) ?: ORDER(x->core, y->core) ?: ORDER(x->pipe, y->pipe)
         ?: ORDER(x->cause, y->cause) ?: ORDER(x->from_core, y->from_core)
         ?: ORDER(x->from, y->from));
ORDER_BY(by_part, struct pto_path_part,
         ORDER(y->cycles, x->cycles) ?: ORDER(x->core, y->core) ?: ORDER(x->pipe, y->pipe)
         ?: ORDER(x->sort, y->sort) ?: ORDER(x->cause, y->cause));

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

ORDER_BY(by_reason, struct pto_path_reason,
         ORDER(y->cycles, x->cycles) ?: ORDER(x->reason, y->reason));

void pto_outcome_walk(struct pto_outcome *o, const struct pto_sim *sim)
{
    struct sums *s = mem_grow(NULL, sizeof(*s), 1);

    memset(s, 0, sizeof(*s));
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((sim->present >> i & 1) != 0)
            add_stalls(s, &sim->cores[i]);
    }
    pto_path_walk(sim, add_piece, s);
    list_stalls(o, s);
    list_path(o, s);
    o->n_reasons = 0;
    for (int why = 0; why < PTO_REASON_COUNT; why++) {
        struct pto_path_reason x = s->reason[why];
        x.reason = (enum pto_reason)why;
        if (x.count > 0)
            o->reasons[o->n_reasons++] = x;
    }
    qsort(o->reasons, o->n_reasons, sizeof(*o->reasons), by_reason);
    mem_free(s);
}
