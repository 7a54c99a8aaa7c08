/*
 * The text of types and names: pto_type_text() and pto_value_text() of kernels/pto/text/ir.h.
 */
#include "base/text/text.h"
#include "kernels/pto/text/ir.h"
#include "kernels/pto/text/print.h"

static void put_dim(struct text *t, const char *before, int64_t value)
{
    if (value == PTO_DYNAMIC)
        text_format(t, "%s?", before);
    else
        text_format(t, "%s%lld", before, (long long)value);
}

void pto_tile_type_text(struct text *t, const struct pto_tile_type *tile)
{
    static const char *const blayouts[] = {"row_major", "col_major"};
    static const char *const slayouts[] = {"none_box", "row_major", "col_major"};

    text_format(t, "!pto.tile_buf<loc=%s, dtype=%s, rows=%d, cols=%d", pto_space_name(tile->space),
                pto_dtype_name(tile->dtype), (int)tile->rows, (int)tile->cols);
    put_dim(t, ", v_row=", tile->v_row);
    put_dim(t, ", v_col=", tile->v_col);
    text_format(t, ", blayout=%s, slayout=%s, fractal=%d, pad=%lld", blayouts[tile->blayout],
                slayouts[tile->slayout], (int)tile->fractal, (long long)tile->pad);
    if (tile->compact != 0)
        text_format(t, ", compact=%d", (int)tile->compact);
    text_put(t, S(">"));
}

static void put_shape(struct text *t, const struct pto_type *type)
{
    for (uint32_t i = 0; i < type->rank; i++)
        put_dim(t, i > 0 ? "x" : "<", type->dims[i]);
    text_format(t, "%s%s>", type->rank > 0 ? "x" : "<", pto_dtype_name(type->dtype));
}

static void type_put(const struct pto_module *m, struct text *t, uint32_t index)
{
    static const char *const names[] = {
        [PTO_TYPE_PTR] = "!pto.ptr<",
        [PTO_TYPE_VIEW] = "!pto.tensor_view",
        [PTO_TYPE_PART] = "!pto.partition_tensor_view",
        [PTO_TYPE_MULTI] = "!pto.multi_tile_buf<",
        [PTO_TYPE_ARRAY] = "!pto.local_array",
        [PTO_TYPE_VECTOR] = "vector",
        [PTO_TYPE_EVENTS] = "!pto.eventid_array<",
        [PTO_TYPE_STRUCT] = "!pto.struct<",
        [PTO_TYPE_PIPE] = "!pto.pipe",
        [PTO_TYPE_SESSION] = "!pto.async_session",
        [PTO_TYPE_EVENT] = "!pto.async_event",
        [PTO_TYPE_PREFETCH] = "!pto.prefetch_async_context",
        [PTO_TYPE_OPAQUE] = NULL,
    };
    const struct pto_type *type = &m->types.at[index];

    text_put(t, str_of(names[type->kind]));
    switch (type->kind) {
    case PTO_TYPE_SCALAR:
        text_put(t, str_of(pto_dtype_name(type->dtype)));
        break;
    case PTO_TYPE_PTR:
        text_format(t, "%s%s%s>", pto_dtype_name(type->dtype), type->space != PTO_GM ? ", " : "",
                    type->space == PTO_GM    ? ""
                    : type->space == PTO_VEC ? "ub"
                                             : pto_space_name(type->space));
        break;
    case PTO_TYPE_VIEW:
    case PTO_TYPE_PART:
    case PTO_TYPE_ARRAY:
    case PTO_TYPE_VECTOR:
        put_shape(t, type);
        break;
    case PTO_TYPE_TILE:
        pto_tile_type_text(t, &type->tile);
        break;
    case PTO_TYPE_MULTI:
        pto_tile_type_text(t, &type->tile);
        text_format(t, ", count=%d>", (int)type->count);
        break;
    case PTO_TYPE_EVENTS:
        text_format(t, "%d>", (int)type->count);
        break;
    case PTO_TYPE_STRUCT:
        for (int32_t i = 0; i < type->count; i++) {
            text_put(t, i > 0 ? S(", ") : S(""));
            type_put(m, t, m->type_items.at[type->item_first + (uint32_t)i]);
        }
        text_put(t, S(">"));
        break;
    case PTO_TYPE_OPAQUE:
        text_put(t, intern_get(&m->names, type->text));
        break;
    case PTO_TYPE_PIPE:
    case PTO_TYPE_SESSION:
    case PTO_TYPE_EVENT:
    case PTO_TYPE_PREFETCH:
        break;
    }
}

struct str pto_type_text(const struct pto_module *m, struct arena *arena, uint32_t type)
{
    struct text t = {0};

    type_put(m, &t, type);
    struct str copy = arena_str(arena, text_view(&t));
    text_free(&t);
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
