/*
 * The text of types and names: pto_type_text() and pto_value_text() of pto/ir.h.
 */
#include <stdio.h>

#include "base/num.h"
#include "pto/ir.h"

struct type_text {
    VEC_OF(char) bytes;
};

static void put(struct type_text *t, const char *s)
{
    size_t n = strlen(s);

    if (n == 0)
        return;
    vec_reserve(&t->bytes, t->bytes.n + n);
    memcpy(t->bytes.at + t->bytes.n, s, n);
    t->bytes.n += n;
}

static void put_i64(struct type_text *t, int64_t value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%lld", (long long)value);
    put(t, digits);
}

static void put_dim(struct type_text *t, int64_t value)
{
    if (value == PTO_DYNAMIC)
        put(t, "?");
    else
        put_i64(t, value);
}

static void put_shape(struct type_text *t, const struct pto_type *type)
{
    for (uint32_t i = 0; i < type->rank; i++) {
        put_dim(t, type->dims[i]);
        put(t, "x");
    }
    put(t, pto_dtype_name(type->dtype));
}

static void put_tile(struct type_text *t, const struct pto_tile_type *tile)
{
    static const char *const blayouts[] = {"row_major", "col_major"};
    static const char *const slayouts[] = {"none_box", "row_major", "col_major"};

    put(t, "!pto.tile_buf<loc=");
    put(t, pto_space_name(tile->space));
    put(t, ", dtype=");
    put(t, pto_dtype_name(tile->dtype));
    put(t, ", rows=");
    put_i64(t, tile->rows);
    put(t, ", cols=");
    put_i64(t, tile->cols);
    put(t, ", v_row=");
    put_dim(t, tile->v_row);
    put(t, ", v_col=");
    put_dim(t, tile->v_col);
    put(t, ", blayout=");
    put(t, blayouts[tile->blayout]);
    put(t, ", slayout=");
    put(t, slayouts[tile->slayout]);
    put(t, ", fractal=");
    put_i64(t, tile->fractal);
    put(t, ", pad=");
    put_i64(t, tile->pad);
    if (tile->compact != 0) {
        put(t, ", compact=");
        put_i64(t, tile->compact);
    }
    put(t, ">");
}

static void put_type(const struct pto_module *m, struct type_text *t, uint32_t index);

static void put_struct(const struct pto_module *m, struct type_text *t, const struct pto_type *type)
{
    put(t, "!pto.struct<");
    for (int32_t i = 0; i < type->count; i++) {
        put(t, i > 0 ? ", " : "");
        put_type(m, t, m->type_items.at[type->item_first + (uint32_t)i]);
    }
    put(t, ">");
}

static void put_pointer(struct type_text *t, const struct pto_type *type)
{
    put(t, "!pto.ptr<");
    put(t, pto_dtype_name(type->dtype));
    if (type->space != PTO_GM) {
        put(t, ", ");
        put(t, type->space == PTO_VEC ? "ub" : pto_space_name(type->space));
    }
    put(t, ">");
}

static void put_ranked(struct type_text *t, const char *name, const struct pto_type *type)
{
    put(t, name);
    put(t, "<");
    put_shape(t, type);
    put(t, ">");
}

static void put_type(const struct pto_module *m, struct type_text *t, uint32_t index)
{
    const struct pto_type *type = &m->types.at[index];

    switch (type->kind) {
    case PTO_TYPE_SCALAR:
        put(t, pto_dtype_name(type->dtype));
        break;
    case PTO_TYPE_PTR:
        put_pointer(t, type);
        break;
    case PTO_TYPE_VIEW:
        put_ranked(t, "!pto.tensor_view", type);
        break;
    case PTO_TYPE_PART:
        put_ranked(t, "!pto.partition_tensor_view", type);
        break;
    case PTO_TYPE_TILE:
        put_tile(t, &type->tile);
        break;
    case PTO_TYPE_MULTI:
        put(t, "!pto.multi_tile_buf<");
        put_tile(t, &type->tile);
        put(t, ", count=");
        put_i64(t, type->count);
        put(t, ">");
        break;
    case PTO_TYPE_ARRAY:
        put_ranked(t, "!pto.local_array", type);
        break;
    case PTO_TYPE_VECTOR:
        put_ranked(t, "vector", type);
        break;
    case PTO_TYPE_EVENTS:
        put(t, "!pto.eventid_array<");
        put_i64(t, type->count);
        put(t, ">");
        break;
    case PTO_TYPE_STRUCT:
        put_struct(m, t, type);
        break;
    case PTO_TYPE_PIPE:
        put(t, "!pto.pipe");
        break;
    case PTO_TYPE_SESSION:
        put(t, "!pto.async_session");
        break;
    case PTO_TYPE_EVENT:
        put(t, "!pto.async_event");
        break;
    case PTO_TYPE_PREFETCH:
        put(t, "!pto.prefetch_async_context");
        break;
    case PTO_TYPE_OPAQUE:
        put(t, intern_get(&m->names, type->text).at);
        break;
    }
}

struct str pto_type_text(const struct pto_module *m, struct arena *arena, uint32_t type)
{
    struct type_text t = {0};

    put_type(m, &t, type);
    struct str copy = arena_str(arena, (struct str){t.bytes.at, t.bytes.n});
    vec_free(&t.bytes);
    return copy;
}

struct str pto_value_text(const struct pto_module *m, const struct pto_function *f,
                          struct arena *arena, uint32_t value)
{
    const struct pto_value *v = pto_value_at(m, f, value);
    uint32_t first = value, last = value;

    if (v->name == 0)
        return arena_format(arena, "%%<%u>", (unsigned)value);
    /* Results under one name are a pack: %x#1. */
    if (v->op != PTO_NONE) {
        const struct pto_op *op = &m->ops.at[v->op];
        uint32_t end = op->result_first + op->result_count;
        if (value >= op->result_first && value < end) {
            while (first > op->result_first && pto_value_at(m, f, first - 1)->name == v->name)
                first--;
            while (last + 1 < end && pto_value_at(m, f, last + 1)->name == v->name)
                last++;
        }
    }
    struct str name = intern_get(&m->names, v->name);
    if (first == last)
        return arena_format(arena, "%%%.*s", STR_ARGS(name));
    return arena_format(arena, "%%%.*s#%u", STR_ARGS(name), (unsigned)(value - first));
}
