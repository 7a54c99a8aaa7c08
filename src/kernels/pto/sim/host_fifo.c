/*
 * What cores of a kernel in C++ hand to each other: entries of FIFOs, and tokens.
 */
#include "kernels/pto/sim/host_in.h"

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
    c->fifo_place[fifo->id] = place;
}

/* Where the slots are in global memory: "gm_slot_buffer = %fifo.0 : type, ", and the lines before
 * it. Only for slots that the kernel handles as views: the others are moved by push and pop. */
static struct str slots_text(const struct pto_host_core *c, const struct strata_pto_fifo *f,
                             struct text *out)
{
    const struct pto_host *h = c->host;
    size_t buffer = pto_host_buffer_at(c, f->gm);

    if ((c->entry[f->id][0].n == 0 && c->entry[f->id][1].n == 0) || buffer == SIZE_MAX)
        return S("");
    const struct pto_host_buffer *b = &h->setup.buffers[buffer];
    const char *type = pto_dtype_name(b->dtype);
    long long offset =
        (long long)((const char *)f->gm - (const char *)b->data) / pto_dtype_size(b->dtype);
    text_format(out,
                "    %%slots_at.%d = arith.constant %lld : index\n"
                "    %%slots.%d = pto.addptr %%%.*s, %%slots_at.%d : !pto.ptr<%s> -> "
                "!pto.ptr<%s>\n",
                f->id, offset, f->id, STR_ARGS(b->name), f->id, type, type);
    return arena_format(&c->host->arena, "gm_slot_buffer = %%slots.%d : !pto.ptr<%s>, ", f->id,
                        type);
}

bool pto_host_fifo_text(const struct pto_host_core *c, int id, struct text *out)
{
    const struct strata_pto_fifo *f = &c->fifo[id];

    if (f->slots == 0)
        return false;
    struct str slots = slots_text(c, f, out);
    text_format(out,
                "    %%to_vector.%d = arith.constant %d : i32\n"
                "    %%to_cube.%d = arith.constant %d : i32\n"
                "    pto.%s_initialize_pipe {id = %d, dir_mask = %d, slot_size = %d, slot_num = "
                "%d, local_slot_num = %d%s} (%.*sc2v_consumer_buf = %%to_vector.%d : i32, "
                "v2c_consumer_buf = %%to_cube.%d : i32)\n",
                id, (int)f->to_vector, id, (int)f->to_cube, c->number == PTO_AIC ? "aic" : "aiv",
                id, f->direction, f->slot_size, f->slots, f->local_slots,
                f->is_whole ? ", nosplit = true" : "", STR_ARGS(slots), id, id);
    return true;
}

enum count { COUNT_PUSHED, COUNT_POPPED, COUNT_FREED };

/* The slowest of the cores at the other end. */
static size_t least(const struct pto_host *h, bool of_vector, int id, bool to_vector,
                    enum count what)
{
    size_t n = SIZE_MAX;

    for (size_t i = 0; i < PTO_CORES; i++) {
        const struct pto_host_core *c = h->cores[i];
        if (!c || (i == PTO_AIC) == of_vector)
            continue;
        size_t k = what == COUNT_PUSHED   ? c->pushed[id][to_vector]
                   : what == COUNT_POPPED ? c->popped[id][to_vector]
                                          : c->freed[id][to_vector];
        n = k < n ? k : n;
    }
    return n;
}

/* A full ring waits for the slowest of its consumers. */
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
           least(c->host, to_vector, id, to_vector, COUNT_POPPED) <= *n - (size_t)f->slots)
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
    while (least(c->host, !to_vector, id, to_vector, COUNT_PUSHED) <= *n)
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
    c->freed[id][c->number != PTO_AIC]++;
    pto_host_line(c, place, "pto.tfree_from_%s {id = %d, split = %d}",
                  c->number != PTO_AIC ? "aic" : "aiv", id, split);
}

/* ---- slots as views of global memory ---- */

/* Bytes of an entry; more than any slot has when they are too many to count. */
static int64_t entry_bytes(const struct strata_pto_view *v)
{
    int64_t all = pto_dtype_size((enum pto_dtype)v->dtype);

    for (int i = 0; i < 5; i++)
        if (v->shape[i] < 0 || __builtin_mul_overflow(all, v->shape[i], &all))
            return INT64_MAX;
    return all;
}

/* The slot, in which a vector core has its half of an entry that is split. */
static char *slot_at(const struct pto_host_core *c, const struct strata_pto_fifo *f, size_t number,
                     bool to_vector, const struct strata_pto_view *v, int split)
{
    int64_t at = (int64_t)(number % (size_t)f->slots) * f->slot_size;
    int64_t size = pto_dtype_size((enum pto_dtype)v->dtype), all = entry_bytes(v);

    if (!to_vector && f->direction == 3) /* its ring is behind the other one */
        at += (int64_t)f->slots * f->slot_size;
    if (c->number == PTO_AIV1 && split != 0)
        at += split == 2 ? v->shape[4] * size : all;
    return (char *)f->gm + at;
}

/* The line that takes a slot, to be filled or to be read. */
static void put_slot(struct pto_host_core *c, const char *op, int id, bool to_vector,
                     const struct strata_pto_view *v, int split, struct strata_pto_place place)
{
    struct text dims = {0};
    int first = 0;

    while (first < 3 && v->shape[first] == 1)
        first++;
    for (int i = first; i < 5; i++)
        text_format(&dims, "%lldx", (long long)v->shape[i]);
    struct str type =
        arena_format(&c->host->arena, "!pto.tensor_view<%.*s%s>", STR_ARGS(text_view(&dims)),
                     pto_dtype_name((enum pto_dtype)v->dtype));
    struct str name = arena_format(&c->host->arena, "%%v.%u", (unsigned)c->script.n_values++);
    pto_host_line(c, place, "%.*s = pto.%s {id = %d, split = %d} -> %.*s", STR_ARGS(name), op, id,
                  split, STR_ARGS(type));
    c->entry[id][to_vector] =
        arena_format(&c->host->arena, "%.*s : %.*s", STR_ARGS(name), STR_ARGS(type));
    text_free(&dims);
}

void *pto_host_slot(void *core, const char *what, int id, const struct strata_pto_view *view,
                    int split, struct strata_pto_place place)
{
    struct pto_host_core *c = core;
    bool is_alloc = strcmp(what, "talloc") == 0, is_push = strcmp(what, "tpush") == 0;
    bool is_pop = strcmp(what, "tpop") == 0, is_producer = is_alloc || is_push;
    bool to_vector = (c->number == PTO_AIC) == is_producer;
    struct strata_pto_fifo *f = fifo_at(c, id, what, place);
    const char *op = arena_format(&c->host->arena, "%s_%s_%s", what, is_producer ? "to" : "from",
                                  c->number == PTO_AIC ? "aiv" : "aic")
                         .at;

    pto_host_mark_call(c, what, place);
    if (pto_host_buffer_at(c, f->gm) == SIZE_MAX)
        pto_host_fail(c, "pto-run.fifo", place, "%s: the FIFO has no slots in a tensor", what);
    if (entry_bytes(view) > f->slot_size)
        pto_host_fail(c, "pto-run.fifo", place, "%s: the entry is larger than its slot", what);
    size_t *n = is_alloc  ? &c->allocated[id][to_vector]
                : is_push ? &c->pushed[id][to_vector]
                : is_pop  ? &c->popped[id][to_vector]
                          : &c->freed[id][to_vector];
    if ((is_push && *n >= c->allocated[id][to_vector]) ||
        (!is_producer && !is_pop && *n >= c->popped[id][to_vector]))
        pto_host_fail(c, "pto-run.fifo", place, "%s: no slot was taken", what);
    while (is_alloc && *n >= (size_t)f->slots &&
           least(c->host, to_vector, id, to_vector, COUNT_FREED) <= *n - (size_t)f->slots)
        pto_host_yield(c, true, place);
    while (is_pop && least(c->host, !to_vector, id, to_vector, COUNT_PUSHED) <= *n)
        pto_host_yield(c, true, place);
    if (is_alloc || is_pop)
        put_slot(c, op, id, to_vector, view, split, place);
    else
        pto_host_line(c, place, "pto.%s(%.*s) {id = %d, split = %d}", op,
                      STR_ARGS(c->entry[id][to_vector]), id, split);
    return slot_at(c, f, (*n)++, to_vector, view, split);
}

/* ---- tokens ---- */

/* Tokens that this core has got: those that `peers` set for it. */
static uint64_t tokens_for(const struct pto_host_core *c, int64_t id, uint32_t peers)
{
    uint64_t n = UINT64_MAX;

    for (size_t i = 0; i < PTO_CORES; i++) {
        const struct pto_host_core *o = c->host->cores[i];
        if (o && (peers >> i & 1) != 0 && o->sets[id] < n)
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
        pto_host_line(c, place,
                      "pto.syncall() mode = #pto.sync_all_mode<hard>, "
                      "core_type = #pto.sync_core_type<%s>",
                      kinds[id >= 0 && id < 3 ? id : 2]);
        return;
    }
    if (strcmp(what, "get_buf") == 0 || strcmp(what, "rls_buf") == 0)
        pto_host_fail(c, "pto-cpp.refused", place, "%s is not offered on a host", what);
    if (id < 0 || id >= PTO_SEMAPHORES)
        pto_host_fail(c, "pto-cpp.operand", place, "there is no token %lld", (long long)id);
    uint32_t slot = (uint32_t)id, peer = 0;
    uint32_t peers = c->number == PTO_AIC ? 1U << PTO_AIV0 | 1U << PTO_AIV1 : 1U << PTO_AIC;
    if (c->host->setup.arch == PTO_A5 && strstr(what, "intra") != NULL) {
        slot = pto_paired_flag(c->number, slot, &peer);
        peers = 1U << peer;
    }
    if (is_wait) {
        while (tokens_for(c, slot, peers) <= c->waits[slot])
            pto_host_yield(c, true, place);
        c->waits[slot]++;
    } else {
        c->sets[slot]++;
    }
    if (pipe < 0 || pipe >= PTO_PIPE_COUNT)
        pto_host_fail(c, "pto-cpp.operand", place, "there is no pipe %lld", (long long)pipe);
    pto_host_line(c, place, "pto.%s <%s>, %lld", what, pto_pipe_name((enum pto_pipe)pipe),
                  (long long)id);
}
