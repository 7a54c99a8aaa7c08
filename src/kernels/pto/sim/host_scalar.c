/*
 * Scalar code of a kernel in C++ that reads and writes tensors.
 */
#include "kernels/pto/sim/host_in.h"

enum { POLLS = 64 }; /* reads of one address after which another core may be waited for */

/* The element type of an access: the tensor's, or integers of that size. */
static enum pto_dtype scalar_type_of(const struct pto_host_buffer *b, size_t n)
{
    if (pto_dtype_size(b->dtype) == n)
        return b->dtype;
    return n == 1 ? PTO_I8 : n == 2 ? PTO_I16 : n == 4 ? PTO_I32 : PTO_I64;
}

/* "%p.3[%c.4]" for a place in a tensor, and the type of its pointer. */
static struct str place_name(struct pto_host_core *c, size_t buffer, const unsigned char *at,
                             enum pto_dtype dtype)
{
    const struct pto_host_buffer *b = &c->host->setup.buffers[buffer];
    struct str pointer = pto_host_pointer_name(c, dtype, 0, buffer);
    struct str index =
        pto_host_value_name(c, PTO_INDEX, (uint64_t)(at - b->data) / pto_dtype_size(dtype));

    return arena_format(&c->host->arena, "%.*s[%.*s]", STR_ARGS(pointer), STR_ARGS(index));
}

static struct strata_pto_place last_place(const struct pto_host_core *c)
{
    const struct pto_host_mark *m = c->host->setup.mark;

    return (struct strata_pto_place){m->file, m->line};
}

/* ---- on-chip memory ---- */

/* The tile of one element at a pointer into the vector cores' memory; false: it is another one, of
 * which the scalar unit knows nothing. */
static bool chip_tile(struct pto_host_core *c, const unsigned char *at, size_t n,
                      struct pto_tile *out, int64_t *index)
{
    size_t size = pto_space_size(c->host->setup.arch, PTO_VEC);
    int64_t offset = at - c->space[PTO_VEC];
    struct pto_tile_type type = {
        .space = PTO_VEC,
        .dtype = n == 1   ? PTO_I8
                 : n == 2 ? PTO_I16
                 : n == 8 ? PTO_I64
                          : PTO_I32,
        .rows = 1,
        .v_row = 1,
        .fractal = 512,
    };

    if (offset < 0 || (size_t)offset + n > size || n > 8)
        return false;
    type.cols = type.v_col = 32 / (int32_t)pto_dtype_size(type.dtype);
    *out = pto_tile_make(&type, c->space[PTO_VEC], size, offset / 32 * 32);
    *index = offset % 32 / (int64_t)pto_dtype_size(type.dtype);
    return true;
}

static void chip_load(struct pto_host_core *c, const unsigned char *at, size_t n)
{
    struct arena_mark mark = arena_mark(&c->host->arena);
    struct pto_tile t;
    int64_t index;

    if (!chip_tile(c, at, n, &t, &index))
        return;
    struct str name = pto_host_tile_name(c, &t);
    struct str number = pto_host_value_name(c, PTO_INDEX, (uint64_t)index);
    pto_host_line(c, last_place(c), "%%v.%u = pto.tgetval ins(%.*s, %.*s : %.*s, index) outs : %s",
                  (unsigned)c->script.n_values++, STR_ARGS(name), STR_ARGS(number),
                  STR_ARGS(pto_host_tile_type(c, &t)), pto_dtype_name(t.type.dtype));
    arena_rewind(&c->host->arena, mark);
}

static void chip_settle(struct pto_host_core *c, const struct pto_host_store *s)
{
    struct arena_mark mark = arena_mark(&c->host->arena);
    struct pto_tile t;
    int64_t index;
    uint64_t bits = 0;

    if (!chip_tile(c, s->at, s->n, &t, &index))
        return;
    memcpy(&bits, s->at, pto_dtype_size(t.type.dtype));
    struct str number = pto_host_value_name(c, PTO_INDEX, (uint64_t)index);
    struct str value = pto_host_value_name(c, t.type.dtype, bits);
    struct str name = pto_host_tile_name(c, &t);
    pto_host_line(c, last_place(c), "pto.tsetval ins(%.*s, %.*s : index, %s) outs(%.*s : %.*s)",
                  STR_ARGS(number), STR_ARGS(value), pto_dtype_name(t.type.dtype), STR_ARGS(name),
                  STR_ARGS(pto_host_tile_type(c, &t)));
    arena_rewind(&c->host->arena, mark);
}

/* ---- tensors ---- */

void pto_host_settle(struct pto_host_core *c)
{
    struct pto_host_store s = c->stored;
    struct arena_mark mark = arena_mark(&c->host->arena);
    uint64_t bits = 0;

    if (s.at == NULL)
        return;
    c->stored.at = NULL;
    if (s.buffer == SIZE_MAX) {
        chip_settle(c, &s);
        return;
    }
    enum pto_dtype dtype = scalar_type_of(&c->host->setup.buffers[s.buffer], s.n);
    memcpy(&bits, s.at, pto_dtype_size(dtype));
    struct str value = pto_host_value_name(c, dtype, bits);
    struct str place = place_name(c, s.buffer, s.at, dtype);
    pto_host_line(c, (struct strata_pto_place){"", 0},
                  "pto.store_scalar %.*s, %.*s : !pto.ptr<%s>, %s", STR_ARGS(value),
                  STR_ARGS(place), pto_dtype_name(dtype), pto_dtype_name(dtype));
    arena_rewind(&c->host->arena, mark);
}

static void scalar_load(struct pto_host_core *c, size_t buffer, const unsigned char *at, size_t n)
{
    enum pto_dtype dtype = scalar_type_of(&c->host->setup.buffers[buffer], n);
    struct arena_mark mark = arena_mark(&c->host->arena);
    struct str place = place_name(c, buffer, at, dtype);

    pto_host_line(c, (struct strata_pto_place){"", 0},
                  "%%v.%u = pto.load_scalar %.*s : !pto.ptr<%s> -> %s",
                  (unsigned)c->script.n_values++, STR_ARGS(place), pto_dtype_name(dtype),
                  pto_dtype_name(dtype));
    arena_rewind(&c->host->arena, mark);
    c->n_polls = c->polled == at ? c->n_polls + 1 : 0;
    c->polled = at;
    if (c->n_polls > POLLS)
        pto_host_yield(c, false, last_place(c));
}

/* Of one line: it waits for what is on its way there. */
static void drop_one(struct pto_host_core *c, size_t buffer, const unsigned char *at)
{
    const struct pto_host_buffer *b = &c->host->setup.buffers[buffer];
    struct arena_mark mark = arena_mark(&c->host->arena);
    struct pto_view v = {.dtype = b->dtype,
                         .layout = PTO_LAYOUT_ND,
                         .ndim = PTO_VIEW_RANK,
                         .offset = (int64_t)((size_t)(at - b->data) / pto_dtype_size(b->dtype)),
                         .shape = {1, 1, 1, 1, 1},
                         .stride = {1, 1, 1, 1, 1}};
    struct str type, name = pto_host_view_name(c, &v, buffer, &type);

    pto_host_line(c, last_place(c), "pto.cmo.cacheinvalid %.*s single_cache_line : %.*s",
                  STR_ARGS(name), STR_ARGS(type));
    arena_rewind(&c->host->arena, mark);
}

void pto_host_access(void *core, const void *at, int64_t n, int is_store)
{
    struct pto_host_core *c = core;
    size_t buffer = n != 0 ? pto_host_buffer_at(c, at) : 0;
    bool is_on_chip =
        c->table.chip != 0 && n > 0 && ((uintptr_t)at - c->table.chip) >> STRATA_PTO_CHIP_BITS == 0;

    pto_host_settle(c);
    if (is_on_chip) {
        pto_host_count(c, last_place(c));
        if (is_store)
            c->stored = (struct pto_host_store){at, SIZE_MAX, (size_t)n};
        else
            chip_load(c, at, (size_t)n);
    }
    if (buffer == SIZE_MAX)
        return;
    pto_host_count(c, last_place(c));
    if (n == 0) /* stale lines of the cache: data is in one memory, so that only the time passes */
        pto_host_line(c, last_place(c), "pto.cmo.cacheinvalid all #pto.address_space<gm>");
    else if (n < 0)
        drop_one(c, buffer, at);
    else if (is_store)
        c->stored = (struct pto_host_store){at, buffer, (size_t)n};
    else
        scalar_load(c, buffer, at, (size_t)n);
}
