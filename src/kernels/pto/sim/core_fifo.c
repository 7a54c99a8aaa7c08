/* FIFOs between the cores: credits, entries, and the data in them. */
#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/core.h"

/* Waits for the token number `at` of each of the cores at the other end; false leaves this one
 * waiting. */
static bool await_tokens(struct pto_core *c, const struct pto_site *s, const struct pto_fifo *f,
                         bool is_freed, size_t at, struct pto_moment *wait)
{
    bool from_vector = s->to_vector == is_freed;
    uint32_t cores =
        c->machine->present & (from_vector ? 1U << PTO_AIV0 | 1U << PTO_AIV1 : 1U << PTO_AIC);

    for (uint32_t k = 0; k < PTO_CORES; k++) {
        size_t n = is_freed ? f->freed[k].n : f->pushed[k].n;
        if ((cores >> k & 1) == 0)
            continue;
        if (n <= at) {
            c->state = PTO_WAITING;
            return false;
        }
        if (c->queues.races)
            pto_race_fifo_wait(c->queues.races, c->number, s, k, is_freed, at);
        pto_moment_join(wait, is_freed ? f->freed[k].at[at] : f->pushed[k].at[at]);
    }
    return true;
}

static const struct pto_tile *first_tile(const struct pto_core *c, const struct pto_site *s)
{
    const struct pto_use *u =
        pto_use_find(pto_core_uses(c, s), s->use_count, PTO_SLOT_TILE, PTO_ROLE_COUNT, 0);

    return u ? &c->slots.tiles[u->slot] : NULL;
}

static struct pto_moment as_token(const struct pto_core *c, struct pto_moment m)
{
    return (struct pto_moment){m.at + pto_core_cross_latency(c), m.record, PTO_CAUSE_FIFO, m.from,
                               (uint8_t)(c->number + 1)};
}

/* Bytes of an entry; more than any slot has when they are too many to count. */
static int64_t entry_bytes(const struct pto_view *v)
{
    int64_t bytes = pto_dtype_size(v->dtype);

    for (int32_t i = 0; i < v->ndim; i++) {
        if (__builtin_mul_overflow(bytes, v->shape[i], &bytes))
            return INT64_MAX;
    }
    return bytes;
}

/* The view of a slot that an operation yields. A vector core has its half of a split entry. */
static bool make_entry(struct pto_core *c, const struct pto_site *s, const struct pto_fifo *f,
                       size_t number)
{
    struct pto_gm e = c->program->gms.at[s->result];
    int64_t size = pto_dtype_size(e.view.dtype), from = pto_dtype_size(f->slots.view.dtype);
    int64_t bytes = entry_bytes(&e.view), at = 0;
    bool is_half = c->number != PTO_AIC && s->split != 0;
    int64_t slot = (int64_t)(number % (size_t)f->ring.slots) * f->ring.slot_size;

    if (from == 0 || size == 0 || f->ring.slot_size % size != 0 ||
        __builtin_mul_overflow(f->slots.view.offset, from, &at))
        return pto_core_fail(c, s->line, "pto-run.fifo",
                             "%s: the FIFO has no slots in global memory, or of another type",
                             pto_op_name(s->code));
    if (bytes > f->ring.slot_size / (is_half ? 2 : 1))
        return pto_core_fail(c, s->line, "pto-run.fifo", "%s: the entry is larger than its slot",
                             pto_op_name(s->code));
    if (c->number == PTO_AIV1 && is_half)
        slot += s->split == 2 ? e.view.shape[e.view.ndim - 1] * size : bytes;
    e.root = f->slots.root;
    e.view.base = f->slots.view.base;
    e.view.limit = f->slots.view.limit;
    e.view.offset = at / size + slot / size;
    c->slots.gms[s->result] = e;
    return true;
}

/* The next slot that is free, as a view to store into; or the next that is filled, to load from. */
static bool view_site(struct pto_core *c, uint32_t site, struct pto_fifo *f, bool is_alloc)
{
    const struct pto_site *s = &c->program->sites.at[site];
    size_t *number = is_alloc ? &f->allocated[c->number] : &f->popped[c->number];
    size_t behind = is_alloc ? (size_t)f->ring.slots : 0; /* the token that it waits for */
    struct pto_moment wait = PTO_NO_MOMENT;

    if ((*number >= behind && !await_tokens(c, s, f, is_alloc, *number - behind, &wait)) ||
        !make_entry(c, s, f, *number))
        return false;
    (void)pto_core_run_phases(c, site, wait);
    ++*number;
    f->has_views |= !is_alloc;
    return true;
}

/* What was stored into a view of a slot is for the other core: a flag behind the stores, which
 * touches no byte itself. */
static bool commit_site(struct pto_core *c, uint32_t site, struct pto_fifo *f)
{
    const struct pto_site *s = &c->program->sites.at[site];
    enum pto_pipe pipe = (enum pto_pipe)s->phases[0];
    struct pto_moment wait = PTO_NO_MOMENT;

    if (f->pushed[c->number].n >= f->allocated[c->number])
        return pto_core_fail(c, s->line, "pto-run.fifo", "%s: no slot was allocated",
                             pto_op_name(s->code));
    pto_core_find_hazards(c, s, pipe, &wait);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    pto_core_note(c, s, pipe, ready);
    vec_push(&f->pushed[c->number], as_token(c, ready));
    if (c->queues.races)
        pto_race_pushed(c->queues.races, c->number, s);
    return true;
}

static bool moved(struct pto_core *c, enum status status)
{
    if (status != ST_OK)
        c->state = PTO_FAILED;
    return status == ST_OK;
}

static bool push_site(struct pto_core *c, uint32_t site, struct pto_fifo *f)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_moment wait = PTO_NO_MOMENT;

    if (!first_tile(c, s))
        return pto_core_fail(c, s->line, "pto-run.operand", "%s: needs a tile",
                             pto_op_name(s->code));
    /* The slot that the next push of this core goes to is free: all consumers gave it back. */
    size_t pushed = f->pushed[c->number].n;
    if (pushed >= (size_t)f->ring.slots &&
        !await_tokens(c, s, f, true, pushed - (size_t)f->ring.slots, &wait))
        return false;
    if (c->queues.races)
        pto_race_run(c->queues.races, c, s);
    if (pto_core_bytes_wait(c))
        pto_core_find_hazards(c, s, (enum pto_pipe)s->phases[0], &wait);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    pto_core_note(c, s, (enum pto_pipe)s->phases[0], ready);
    struct where where = {c->machine->path, s->line, 0};
    if (c->machine->options->has_memory &&
        !moved(c, pto_ring_push(&f->ring, f->pushed[c->number].n, first_tile(c, s), s->to_vector,
                                s->split, c->number == PTO_AIV1, where, c->machine->diag)))
        return false;
    vec_push(&f->pushed[c->number], as_token(c, ready));
    if (c->queues.races)
        pto_race_pushed(c->queues.races, c->number, s);
    return true;
}

/* The tile a pop yields: the next slot of the ring in this core's memory. */
static bool popped_tile(struct pto_core *c, const struct pto_site *s, const struct pto_fifo *f)
{
    struct pto_tile *t = &c->slots.tiles[s->result];
    struct pto_tile made = c->program->tiles.at[s->result];
    const struct pto_number *row = pto_core_operand(c, s, PTO_ROLE_VALID_ROW);
    const struct pto_number *col = pto_core_operand(c, s, PTO_ROLE_VALID_COL);
    int64_t valid[2] = {row ? row->v.i : made.v_row, col ? col->v.i : made.v_col};

    made.base = t->base;
    made.limit = t->limit;
    made.addr =
        f->base + (int64_t)(f->popped[c->number] % (size_t)f->local_slots) * f->ring.slot_size;
    int64_t room =
        (int64_t)pto_space_size(c->program->arch, made.type.space) - pto_tile_bytes(&made.type);
    if (valid[0] < 0 || valid[0] > made.type.rows || valid[1] < 0 || valid[1] > made.type.cols ||
        made.addr < 0 || made.addr > room)
        return pto_core_fail(c, s->line, "pto-run.tile-range",
                             "%s: the entry leaves its space, or its valid part the tile",
                             pto_op_name(s->code));
    made.v_row = (int32_t)valid[0];
    made.v_col = (int32_t)valid[1];
    *t = made;
    return true;
}

static bool pop_site(struct pto_core *c, uint32_t site, struct pto_fifo *f)
{
    const struct pto_site *s = &c->program->sites.at[site];
    enum pto_pipe pipe = (enum pto_pipe)s->phases[0];
    struct pto_moment wait = PTO_NO_MOMENT;

    if (!await_tokens(c, s, f, false, f->popped[c->number], &wait) || !popped_tile(c, s, f))
        return false;
    const struct pto_tile *t = &c->slots.tiles[s->result];
    struct pto_touch touch = {.pipe = pipe,
                              .space = t->type.space,
                              .lo = t->addr,
                              .hi = t->addr + pto_tile_bytes(&t->type),
                              .is_write = true};
    if (c->queues.races)
        pto_race_popped(c->queues.races, c, s, &touch);
    if (pto_core_bytes_wait(c))
        pto_hazards_find(&c->hazards, &touch, &wait);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    pto_hazards_note(&c->hazards, &touch, ready);
    struct where where = {c->machine->path, s->line, 0};
    if (c->machine->options->has_memory &&
        !moved(c, pto_ring_pop(&f->ring, f->popped[c->number], t, s->to_vector, s->split,
                               c->number == PTO_AIV1, where, c->machine->diag)))
        return false;
    f->popped[c->number]++;
    return true;
}

/* A slot is free when everything that reads it is over; loads of views are when the queue that runs
 * them says so. */
static void free_site(struct pto_core *c, const struct pto_site *s, struct pto_fifo *f)
{
    size_t k = f->freed[c->number].n;
    int64_t lo = f->base + (int64_t)(k % (size_t)f->local_slots) * f->ring.slot_size;
    enum pto_space space = s->to_vector ? PTO_VEC : PTO_MAT;
    const struct pto_queue *scalar = &c->queues.pipe[PTO_PIPE_S];
    const struct pto_queue *loads = &c->queues.pipe[PTO_PIPE_MTE2];
    struct pto_moment quiet = {.at = loads->done, .record = loads->slowest, .from = PTO_PIPE_MTE2};

    if (!f->has_views)
        quiet = pto_hazards_quiet(&c->hazards, space, lo, lo + f->ring.slot_size);
    /* and the scalar unit has come to say so */
    pto_moment_join(&quiet, (struct pto_moment){
                                .at = scalar->free, .record = scalar->last, .from = PTO_PIPE_S});
    vec_push(&f->freed[c->number], as_token(c, quiet));
    if (c->queues.races && f->has_views)
        pto_race_freed_view(c->queues.races, c->number, s);
    else if (c->queues.races)
        pto_race_freed(c->queues.races, c->number, s, lo, lo + f->ring.slot_size);
}

bool pto_core_fifo_site(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_fifo *f = &c->machine->fifo[s->fifo][s->to_vector];

    if (!f->is_set[c->number])
        return pto_core_fail(c, s->line, "pto-run.fifo", "%s: FIFO %u is not initialised here",
                             pto_op_name(s->code), s->fifo);
    switch (s->code) {
    case PTO_TPUSH_TO_AIV:
    case PTO_TPUSH_TO_AIC:
        return s->is_view ? commit_site(c, site, f) : push_site(c, site, f);
    case PTO_TPOP_FROM_AIC:
    case PTO_TPOP_FROM_AIV:
        return s->is_view ? view_site(c, site, f, false) : pop_site(c, site, f);
    case PTO_TALLOC_TO_AIV:
    case PTO_TALLOC_TO_AIC:
        return view_site(c, site, f, true);
    default:
        if (f->freed[c->number].n >= f->popped[c->number])
            return pto_core_fail(c, s->line, "pto-run.fifo", "%s: nothing was popped",
                                 pto_op_name(s->code));
        free_site(c, s, f);
        return true;
    }
}
