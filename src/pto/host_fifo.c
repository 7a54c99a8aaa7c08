/*
 * What cores of a kernel in C++ hand to each other: entries of FIFOs, and tokens.
 */
#include "pto/host_in.h"

static struct strata_pto_fifo *fifo_at(struct pto_host_core *c, int id, const char *op,
                                       struct strata_pto_place place)
{
    if (id < 0 || id >= PTO_HOST_FIFOS || c->fifo[id].slots == 0)
        pto_host_fail(c, "pto-run.fifo", place, "%s: FIFO %d is not initialised here", op, id);
    return &c->fifo[id];
}

void pto_host_fifo(void *core, const struct strata_pto_fifo *fifo, struct strata_pto_place place)
{
    struct pto_host_core *c = core;
    bool is_cube = c->number == PTO_AIC;

    pto_host_mark_call(c, "TPipe", place);
    if (fifo->id < 0 || fifo->id >= PTO_HOST_FIFOS || fifo->slots <= 0 || fifo->slot_size <= 0)
        pto_host_fail(c, "pto-run.fifo", place, "a FIFO needs an id below 16, slots and a size");
    c->fifo[fifo->id] = *fifo;
    /* On A5 the slots are in the memory of the consumers, where each vector core has its half. */
    int32_t lanes = c->host->setup.arch == PTO_A5 && !fifo->is_whole ? 2 : 1;
    for (size_t i = 0; i < 2; i++) {
        c->host->rings[fifo->id][i].slots = fifo->slots;
        c->host->rings[fifo->id][i].slot_size = (int64_t)fifo->slot_size * lanes;
    }
    /* In front of everything: two vector cores that go different ways share it. */
    text_format(&c->script.head,
                "    %%to_vector.%d = arith.constant %d : i32\n"
                "    %%to_cube.%d = arith.constant %d : i32\n"
                "    pto.%s_initialize_pipe {id = %d, dir_mask = %d, slot_size = %d, slot_num = "
                "%d, local_slot_num = %d%s} (c2v_consumer_buf = %%to_vector.%d : i32, "
                "v2c_consumer_buf = %%to_cube.%d : i32)\n",
                fifo->id, (int)fifo->to_vector, fifo->id, (int)fifo->to_cube,
                is_cube ? "aic" : "aiv", fifo->id, fifo->direction, fifo->slot_size, fifo->slots,
                fifo->local_slots, fifo->is_whole ? ", nosplit = true" : "", fifo->id, fifo->id);
    for (int i = 0; i < 3; i++)
        vec_push(&c->script.head_places, place);
}

/* The slowest of the cores at the other end. */
static size_t least(const struct pto_host *h, bool of_vector, int id, bool to_vector, bool of_pops)
{
    size_t n = SIZE_MAX;

    for (size_t i = 0; i < PTO_CORES; i++) {
        const struct pto_host_core *c = h->cores[i];
        if (!c || (i == PTO_AIC) == of_vector)
            continue;
        size_t k = of_pops ? c->popped[id][to_vector] : c->pushed[id][to_vector];
        n = k < n ? k : n;
    }
    return n;
}

void pto_host_push(void *core, int id, const struct strata_pto_tile *tile, int split,
                   struct strata_pto_place place)
{
    struct pto_host_core *c = core;
    bool to_vector = c->number == PTO_AIC;
    struct strata_pto_fifo *f = fifo_at(c, id, "TPUSH", place);
    struct where where = {place.file, (uint64_t)place.line, 0};

    pto_host_mark_call(c, "TPUSH", place);
    struct pto_tile t = pto_host_tile(c, tile, place, "TPUSH");
    size_t *n = &c->pushed[id][to_vector];
    while (*n >= (size_t)f->slots &&
           least(c->host, to_vector, id, to_vector, true) <= *n - (size_t)f->slots)
        pto_host_yield(c, true, place);
    if (pto_ring_push(&c->host->rings[id][to_vector], *n, &t, to_vector, split,
                      c->number == PTO_AIV1, where, &c->host->diag) != ST_OK)
        pto_host_fail(c, "pto-run.fifo", place, "TPUSH: the tile does not fit into a slot");
    ++*n;
    pto_host_line(c, place, "pto.tpush_to_%s(%.*s : %.*s) {id = %d, split = %d}",
                  to_vector ? "aiv" : "aic", STR_ARGS(pto_host_tile_name(c, &t)),
                  STR_ARGS(pto_host_tile_type(c, &t)), id, split);
}

int64_t pto_host_pop(void *core, int id, const struct strata_pto_tile *tile, int split,
                     struct strata_pto_place place)
{
    struct pto_host_core *c = core;
    bool to_vector = c->number != PTO_AIC;
    struct strata_pto_fifo *f = fifo_at(c, id, "TPOP", place);
    struct where where = {place.file, (uint64_t)place.line, 0};
    struct strata_pto_tile at = *tile;

    pto_host_mark_call(c, "TPOP", place);
    size_t *n = &c->popped[id][to_vector];
    while (least(c->host, !to_vector, id, to_vector, false) <= *n)
        pto_host_yield(c, true, place);
    at.addr = (to_vector ? f->to_vector : f->to_cube) +
              (int64_t)(*n % (size_t)f->local_slots) * f->slot_size;
    struct pto_tile t = pto_host_tile(c, &at, place, "TPOP");
    if (pto_ring_pop(&c->host->rings[id][to_vector], *n, &t, to_vector, split,
                     c->number == PTO_AIV1, where, &c->host->diag) != ST_OK)
        pto_host_fail(c, "pto-run.fifo", place, "TPOP: the entry does not fit into the tile");
    ++*n;
    struct str valid = pto_host_valid(c, &t);
    pto_host_line(c, place, "%%v.%u = pto.tpop_from_%s%.*s {id = %d, split = %d} -> %.*s",
                  (unsigned)c->script.n_values++, to_vector ? "aic" : "aiv", STR_ARGS(valid), id,
                  split, STR_ARGS(pto_host_tile_type(c, &t)));
    return at.addr;
}

void pto_host_release(void *core, int id, int split, struct strata_pto_place place)
{
    struct pto_host_core *c = core;

    (void)fifo_at(c, id, "TFREE", place);
    pto_host_mark_call(c, "TFREE", place);
    pto_host_line(c, place, "pto.tfree_from_%s {id = %d, split = %d}",
                  c->number != PTO_AIC ? "aic" : "aiv", id, split);
}

/* Tokens that this core has got: those that the other kind of core set for it. */
static uint64_t tokens_for(const struct pto_host_core *c, int64_t id)
{
    uint64_t n = UINT64_MAX;

    for (size_t i = 0; i < PTO_CORES; i++) {
        const struct pto_host_core *o = c->host->cores[i];
        if (o && (i == PTO_AIC) != (c->number == PTO_AIC) && o->sets[id] < n)
            n = o->sets[id];
    }
    return n;
}

void pto_host_cross(void *core, const char *what, int64_t pipe, int64_t id,
                    struct strata_pto_place place)
{
    struct pto_host_core *c = core;
    bool is_wait = strstr(what, "wait") != NULL;

    pto_host_mark_call(c, what, place);
    if (strcmp(what, "syncall") == 0) {
        static const char *const kinds[] = {"aiv_only", "aic_only", "mix"};
        pto_host_line(c, place, "pto.syncall() mode = <hard>, core_type = <%s>",
                      kinds[id >= 0 && id < 3 ? id : 2]);
        return;
    }
    if (strcmp(what, "get_buf") == 0 || strcmp(what, "rls_buf") == 0)
        pto_host_fail(c, "pto-cpp.refused", place, "%s is not offered on a host", what);
    if (id < 0 || id >= PTO_SEMAPHORES)
        pto_host_fail(c, "pto-cpp.operand", place, "there is no token %lld", (long long)id);
    if (is_wait) {
        while (tokens_for(c, id) != UINT64_MAX && tokens_for(c, id) <= c->waits[id])
            pto_host_yield(c, true, place);
        c->waits[id]++;
    } else {
        c->sets[id]++;
    }
    if (pipe < 0 || pipe >= PTO_PIPE_COUNT)
        pto_host_fail(c, "pto-cpp.operand", place, "there is no pipe %lld", (long long)pipe);
    pto_host_line(c, place, "pto.%s <%s>, %lld", what, pto_pipe_name((enum pto_pipe)pipe),
                  (long long)id);
}
