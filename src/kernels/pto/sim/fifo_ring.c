/*
 * The data in the slots of a FIFO.
 */
#include "kernels/pto/sim/fifo_ring.h"

#include <string.h>

#include "base/run/mem.h"
#include "kernels/pto/values/func.h"

void pto_ring_free(struct pto_ring *r)
{
    mem_free(r->data);
    mem_free(r->entries);
    r->data = NULL;
    r->entries = NULL;
}

static enum status ring_make(struct pto_ring *r, struct where where, struct diag *d)
{
    if (r->slot_size <= 0)
        return diag_fail(d, ST_FORMAT, "pto-run.fifo", where, "the FIFO has no slot size");
    if (r->data)
        return ST_OK;
    r->data = mem_grow(NULL, (size_t)r->slot_size, (size_t)r->slots);
    memset(r->data, 0, (size_t)(r->slot_size * r->slots));
    r->entries = mem_grow(NULL, sizeof(*r->entries), (size_t)r->slots);
    memset(r->entries, 0, sizeof(*r->entries) * (size_t)r->slots);
    return ST_OK;
}

static struct pto_tile entry_of(const struct pto_tile *t, unsigned char *slot, int64_t size,
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

enum status pto_ring_push(struct pto_ring *r, size_t number, const struct pto_tile *from,
                          bool to_vector, int32_t split, int32_t half, struct where where,
                          struct diag *d)
{
    TRY(ring_make(r, where, d));
    size_t slot = number % (size_t)r->slots;
    struct pto_tile entry =
        entry_of(from, r->data + slot * (size_t)r->slot_size, r->slot_size, to_vector ? 0 : split);
    struct pto_tile part = entry;
    if (!to_vector && split > 0)
        part = pto_tile_half(&entry, split, half);
    part.v_row = from->v_row;
    part.v_col = from->v_col;
    if (to_vector) {
        entry.v_row = from->v_row;
        entry.v_col = from->v_col;
    }
    r->entries[slot] = entry;
    if (!to_vector && split == 0 && half == 1)
        return ST_OK;
    return pto_func_copy(from, &part, where, d);
}

enum status pto_ring_pop(struct pto_ring *r, size_t number, const struct pto_tile *to,
                         bool to_vector, int32_t split, int32_t half, struct where where,
                         struct diag *d)
{
    TRY(ring_make(r, where, d));
    struct pto_tile entry = r->entries[number % (size_t)r->slots], target = *to;
    if (to_vector && split > 0)
        entry = pto_tile_half(&entry, split, half);
    if (target.v_row > entry.v_row)
        target.v_row = entry.v_row;
    if (target.v_col > entry.v_col)
        target.v_col = entry.v_col;
    entry.v_row = target.v_row;
    entry.v_col = target.v_col;
    if (target.v_row == 0 || target.v_col == 0)
        return ST_OK;
    return pto_func_copy(&entry, &target, where, d);
}
