/* FIFOs between the cores: credits, entries, and the data in them. */
#include "pto/core.h"

/* Producers and consumers of one direction. */
static uint32_t vector_cores(const struct pto_core *c)
{
    return c->machine->present & (1U << PTO_AIV0 | 1U << PTO_AIV1);
}

/* The slot that the next push of this core goes to is free: all consumers gave it back. */
static bool take_credit(struct pto_core *c, struct pto_fifo *f, bool to_vector,
                        struct pto_moment *wait)
{
    size_t pushed = f->pushed[c->number].n;
    uint32_t consumers = to_vector ? vector_cores(c) : c->machine->present & 1U << PTO_AIC;

    if (pushed < (size_t)f->slots)
        return true;
    for (uint32_t k = 0; k < PTO_CORES; k++) {
        if ((consumers >> k & 1) == 0)
            continue;
        if (f->freed[k].n <= pushed - (size_t)f->slots) {
            c->state = PTO_WAITING;
            return false;
        }
        pto_moment_join(wait, f->freed[k].at[pushed - (size_t)f->slots]);
    }
    return true;
}

static bool take_entry(struct pto_core *c, struct pto_fifo *f, bool to_vector,
                       struct pto_moment *wait)
{
    size_t popped = f->popped[c->number];
    uint32_t producers = to_vector ? c->machine->present & 1U << PTO_AIC : vector_cores(c);

    for (uint32_t k = 0; k < PTO_CORES; k++) {
        if ((producers >> k & 1) == 0)
            continue;
        if (f->pushed[k].n <= popped) {
            c->state = PTO_WAITING;
            return false;
        }
        pto_moment_join(wait, f->pushed[k].at[popped]);
    }
    return true;
}

static const struct pto_tile *first_tile(const struct pto_core *c, const struct pto_site *s)
{
    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &pto_core_uses(c, s)[i];
        if (u->kind == PTO_SLOT_TILE)
            return &c->slots.tiles[u->slot];
    }
    return NULL;
}

static bool fifo_memory(struct pto_core *c, const struct pto_site *s, struct pto_fifo *f)
{
    if (f->slot_size <= 0)
        return pto_core_fail(c, s->line, "pto-run.fifo", "%s: the FIFO has no slot size",
                             pto_op_name(s->code));
    if (!f->data) {
        f->data = mem_grow(NULL, (size_t)f->slot_size, (size_t)f->slots);
        memset(f->data, 0, (size_t)(f->slot_size * f->slots));
        f->entries = mem_grow(NULL, sizeof(*f->entries), (size_t)f->slots);
        memset(f->entries, 0, sizeof(*f->entries) * (size_t)f->slots);
    }
    return true;
}

/* An entry lies row by row in its slot, whatever the layout of the tile it came from. */
static struct pto_tile entry_tile(const struct pto_tile *t, unsigned char *slot, int64_t size,
                                  int32_t split)
{
    struct pto_tile_type type = {.space = PTO_GM,
                                 .dtype = t->type.dtype,
                                 .rows = t->type.rows,
                                 .cols = t->type.cols,
                                 .v_row = PTO_DYNAMIC,
                                 .v_col = PTO_DYNAMIC,
                                 .fractal = 512};

    if (split == 1 || split == 3)
        type.rows *= 2;
    if (split == 2 || split == 4)
        type.cols *= 2;
    return pto_tile_make(&type, slot, (size_t)size, 0);
}

static bool push_data(struct pto_core *c, const struct pto_site *s, struct pto_fifo *f)
{
    const struct pto_tile *t = first_tile(c, s);
    size_t slot = f->pushed[c->number].n % (size_t)f->slots;
    struct where where = {c->machine->path, s->line, 0};

    if (!fifo_memory(c, s, f))
        return false;
    struct pto_tile entry = entry_tile(t, f->data + slot * (size_t)f->slot_size, f->slot_size,
                                       s->to_vector ? 0 : s->split);
    struct pto_tile part = entry;
    if (!s->to_vector && s->split > 0)
        part = pto_tile_half(&entry, s->split, c->number == PTO_AIV1);
    part.v_row = t->v_row;
    part.v_col = t->v_col;
    if (s->to_vector) {
        entry.v_row = t->v_row;
        entry.v_col = t->v_col;
    }
    f->entries[slot] = entry;
    if (!s->to_vector && s->split == 0 && c->number == PTO_AIV1)
        return true; /* undivided: the entry of the first vector core counts */
    if (pto_func_copy(t, &part, where, c->machine->diag) == ST_OK)
        return true;
    c->state = PTO_FAILED;
    return false;
}

static bool pop_data(struct pto_core *c, const struct pto_site *s, struct pto_fifo *f,
                     const struct pto_tile *to)
{
    size_t slot = f->popped[c->number] % (size_t)f->slots;
    struct where where = {c->machine->path, s->line, 0};

    if (!fifo_memory(c, s, f))
        return false;
    struct pto_tile entry = f->entries[slot], target = *to;
    if (s->to_vector && s->split > 0)
        entry = pto_tile_half(&entry, s->split, c->number == PTO_AIV1);
    if (target.v_row > entry.v_row)
        target.v_row = entry.v_row;
    if (target.v_col > entry.v_col)
        target.v_col = entry.v_col;
    entry.v_row = target.v_row;
    entry.v_col = target.v_col;
    if (target.v_row == 0 || target.v_col == 0 ||
        pto_func_copy(&entry, &target, where, c->machine->diag) == ST_OK)
        return true;
    c->state = PTO_FAILED;
    return false;
}

static int64_t cross_latency(const struct pto_core *c)
{
    return pto_whole_cycles(pto_costs_get(c->machine->costs, PTO_COST_SYNC_CROSS));
}

static struct pto_moment as_token(const struct pto_core *c, struct pto_moment m)
{
    return (struct pto_moment){m.at + cross_latency(c), m.record, PTO_CAUSE_FIFO, m.from,
                               (uint8_t)(c->number + 1)};
}

static bool push_site(struct pto_core *c, uint32_t site, struct pto_fifo *f)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_moment wait = PTO_NO_MOMENT;

    if (!first_tile(c, s))
        return pto_core_fail(c, s->line, "pto-run.operand", "%s: needs a tile",
                             pto_op_name(s->code));
    if (!take_credit(c, f, s->to_vector, &wait))
        return false;
    if (pto_core_bytes_wait(c))
        pto_core_look(c, s, (enum pto_pipe)s->phases[0], &wait);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    pto_core_note(c, s, (enum pto_pipe)s->phases[0], ready);
    if (c->machine->options->has_memory && !push_data(c, s, f))
        return false;
    vec_push(&f->pushed[c->number], as_token(c, ready));
    return true;
}

/* The tile a pop yields: the next slot of the ring in this core's memory. */
static bool popped_tile(struct pto_core *c, const struct pto_site *s, const struct pto_fifo *f)
{
    struct pto_tile *t = &c->slots.tiles[s->result];
    struct pto_tile made = c->program->tiles.at[s->result];
    int64_t valid[2] = {made.v_row, made.v_col};

    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &pto_core_uses(c, s)[i];
        if (u->kind == PTO_SLOT_NUMBER &&
            (u->role == PTO_ROLE_VALID_ROW || u->role == PTO_ROLE_VALID_COL))
            valid[u->role == PTO_ROLE_VALID_COL] = c->slots.numbers[u->slot].v.i;
    }
    made.base = t->base;
    made.limit = t->limit;
    made.addr = f->base + (int64_t)(f->popped[c->number] % (size_t)f->local_slots) * f->slot_size;
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

    if (!take_entry(c, f, s->to_vector, &wait))
        return false;
    if (!popped_tile(c, s, f))
        return false;
    const struct pto_tile *t = &c->slots.tiles[s->result];
    struct pto_touch touch = {.pipe = pipe,
                              .space = t->type.space,
                              .lo = t->addr,
                              .hi = t->addr + pto_tile_bytes(&t->type),
                              .is_write = true};
    if (pto_core_bytes_wait(c))
        pto_hazards_look(&c->hazards, &touch, &wait);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    pto_hazards_note(&c->hazards, &touch, ready);
    if (c->machine->options->has_memory && !pop_data(c, s, f, t))
        return false;
    f->popped[c->number]++;
    return true;
}

/* A slot is free when everything that reads it is over. */
static void free_site(struct pto_core *c, const struct pto_site *s, struct pto_fifo *f)
{
    size_t k = f->freed[c->number].n;
    int64_t lo = f->base + (int64_t)(k % (size_t)f->local_slots) * f->slot_size;
    enum pto_space space = s->to_vector ? PTO_VEC : PTO_MAT;
    const struct pto_queue *scalar = &c->queues.pipe[PTO_PIPE_S];
    struct pto_moment quiet = pto_hazards_quiet(&c->hazards, space, lo, lo + f->slot_size);

    /* and the scalar unit has come to say so */
    pto_moment_join(&quiet, (struct pto_moment){
                                .at = scalar->free, .record = scalar->last, .from = PTO_PIPE_S});

    vec_push(&f->freed[c->number], as_token(c, quiet));
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
        return push_site(c, site, f);
    case PTO_TPOP_FROM_AIC:
    case PTO_TPOP_FROM_AIV:
        return pop_site(c, site, f);
    default:
        if (f->freed[c->number].n >= f->popped[c->number])
            return pto_core_fail(c, s->line, "pto-run.fifo", "%s: nothing was popped",
                                 pto_op_name(s->code));
        free_site(c, s, f);
        return true;
    }
}
