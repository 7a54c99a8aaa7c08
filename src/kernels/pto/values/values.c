/*
 * Views and tiles made of numbers.
 */
#include "kernels/pto/values/values.h"

static const struct pto_use *uses_of(const struct pto_program *p, const struct pto_step *s)
{
    return p->uses.at + s->a;
}

/* nd unless the text says otherwise or the strides do: the innermost one is 1 in an nd view. */
static enum pto_layout layout_of(const struct pto_program *p, const struct pto_step *s,
                                 const struct pto_view *v)
{
    int64_t told = pto_op_int(p->module, &p->module->ops.at[s->op], PTO_KEY_LAYOUT, -1);

    if (told >= 0)
        return (enum pto_layout)told;
    return v->ndim > 1 && v->stride[v->ndim - 1] != 1 && v->stride[v->ndim - 2] == 1
               ? PTO_LAYOUT_DN
               : PTO_LAYOUT_ND;
}

static bool make_view(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    struct pto_gm out = {0};
    int32_t shapes = 0, strides = 0;

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        int64_t n = u->kind == PTO_SLOT_NUMBER ? v.numbers[u->slot].v.i : 0;
        if (u->kind == PTO_SLOT_GM) {
            out.root = v.gms[u->slot].root;
            out.view.base = v.gms[u->slot].view.base;
            out.view.limit = v.gms[u->slot].view.limit;
            out.view.offset = v.gms[u->slot].view.offset;
            out.view.dtype = v.gms[u->slot].view.dtype;
        } else if (u->role == PTO_ROLE_SHAPE && shapes < PTO_VIEW_RANK) {
            out.view.shape[shapes++] = n;
            if (n < 0)
                return false;
        } else if (u->role == PTO_ROLE_STRIDE && strides < PTO_VIEW_RANK) {
            out.view.stride[strides++] = n;
        }
    }
    out.view.ndim = shapes;
    if (shapes == 0 || strides != shapes)
        return false;
    out.view.layout = layout_of(p, s, &out.view);
    v.gms[s->dst] = out;
    return true;
}

static bool part_view(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    int64_t offsets[PTO_VIEW_RANK] = {0}, sizes[PTO_VIEW_RANK] = {0};
    const struct pto_gm *from = NULL;
    int32_t n_offsets = 0, n_sizes = 0;
    struct pto_gm out;

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        if (u->kind == PTO_SLOT_GM)
            from = &v.gms[u->slot];
        else if (u->role == PTO_ROLE_OFFSET && n_offsets < PTO_VIEW_RANK)
            offsets[n_offsets++] = v.numbers[u->slot].v.i;
        else if (u->role == PTO_ROLE_SIZE && n_sizes < PTO_VIEW_RANK)
            sizes[n_sizes++] = v.numbers[u->slot].v.i;
    }
    if (!from || n_offsets != from->view.ndim || n_sizes != from->view.ndim)
        return false;
    out = *from;
    if (!pto_view_part(&from->view, offsets, sizes, &out.view))
        return false;
    v.gms[s->dst] = out;
    return true;
}

/* Offsets count elements: a cast keeps the byte and counts again. */
static bool move_pointer(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    struct pto_gm out = {.root = -1};
    enum pto_dtype t = v.gms[s->dst].view.dtype;
    int64_t by = 0;

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        if (u->kind == PTO_SLOT_GM)
            out = v.gms[u->slot];
        else if (u->kind == PTO_SLOT_NUMBER && s->code == PTO_ADDPTR)
            by = v.numbers[u->slot].v.i;
    }
    if (__builtin_add_overflow(out.view.offset, by, &out.view.offset))
        return false;
    if (s->code == PTO_CASTPTR && pto_dtype_size(t) > 0) {
        int64_t from = pto_dtype_size(out.view.dtype), bytes = 0;
        if (__builtin_mul_overflow(out.view.offset, from, &bytes))
            return false;
        out.view.offset = bytes / pto_dtype_size(t);
        out.view.dtype = t;
    }
    v.gms[s->dst] = out;
    return true;
}

bool pto_step_view(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    if (s->code == PTO_MAKE_TENSOR_VIEW)
        return make_view(p, s, v);
    if (s->code == PTO_PARTITION_VIEW)
        return part_view(p, s, v);
    return move_pointer(p, s, v);
}

static bool values_fits(const struct pto_tile *t)
{
    return t->v_row >= 0 && t->v_col >= 0 && t->v_row <= t->type.rows && t->v_col <= t->type.cols;
}

static int32_t to_int32(int64_t n)
{
    return n < 0 || n > INT32_MAX ? -1 : (int32_t)n;
}

/* The slot as compiled, with the numbers of this round. */
static bool alloc_tile(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    struct pto_tile t = p->tiles.at[s->dst];

    t.base = v.tiles[s->dst].base;
    t.limit = v.tiles[s->dst].limit;
    t.addr = v.numbers[s->c].v.i;
    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        if (u->role == PTO_ROLE_VALID_ROW)
            t.v_row = to_int32(v.numbers[u->slot].v.i);
        else if (u->role == PTO_ROLE_VALID_COL)
            t.v_col = to_int32(v.numbers[u->slot].v.i);
    }
    int64_t room =
        (int64_t)pto_space_size(p->arch, t.type.space) - s->flag * pto_tile_bytes(&t.type);
    v.tiles[s->dst] = t;
    return values_fits(&t) && t.addr >= 0 && t.addr <= room;
}

static bool subview(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    const struct pto_tile_type *type = &p->tiles.at[s->dst].type;
    const struct pto_tile *from = NULL;
    int64_t at[2] = {0, 0};
    int32_t n = 0;
    int64_t row = type->v_row, col = type->v_col; /* PTO_DYNAMIC: the whole window */
    struct pto_tile out;

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        if (u->kind == PTO_SLOT_TILE)
            from = &v.tiles[u->slot];
        else if (u->role == PTO_ROLE_INDEX && n < 2)
            at[n++] = v.numbers[u->slot].v.i;
        else if (u->role == PTO_ROLE_VALID_ROW)
            row = to_int32(v.numbers[u->slot].v.i) >= 0 ? v.numbers[u->slot].v.i : INT32_MAX;
        else if (u->role == PTO_ROLE_VALID_COL)
            col = to_int32(v.numbers[u->slot].v.i) >= 0 ? v.numbers[u->slot].v.i : INT32_MAX;
    }
    if (!from || !pto_tile_window(from, at[0], at[1], type->rows, type->cols, &out))
        return false;
    if (row >= 0)
        out.v_row = (int32_t)row;
    if (col >= 0)
        out.v_col = (int32_t)col;
    v.tiles[s->dst] = out;
    return values_fits(&out);
}

static bool set_valid(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    struct pto_tile *t = NULL;
    int64_t valid[2] = {0, 0};
    int32_t n = 0;

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        if (u->kind == PTO_SLOT_TILE)
            t = &v.tiles[u->slot];
        else if (u->kind == PTO_SLOT_NUMBER && n < 2)
            valid[n++] = v.numbers[u->slot].v.i;
    }
    if (!t || n != 2)
        return false;
    t->v_row = to_int32(valid[0]);
    t->v_col = to_int32(valid[1]);
    return values_fits(t);
}

/* The bytes of tile `c` under the type of the result; a slot of a multi tile; another address. */
static bool retype(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    const struct pto_tile *from = &v.tiles[s->c];
    int64_t addr = from->window.rows > 0 ? pto_tile_offset(from, 0, 0) : from->addr;
    struct pto_tile out = pto_tile_make(&p->tiles.at[s->dst].type, from->base, from->limit, addr);
    int64_t n = 0;

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &uses_of(p, s)[i];
        if (u->kind == PTO_SLOT_NUMBER)
            n = v.numbers[u->slot].v.i;
    }
    if (s->code == PTO_TASSIGN)
        out.addr = n;
    if (s->code == PTO_MULTI_TILE_GET) {
        if (n < 0 || n >= s->flag)
            return false;
        out.addr += n * pto_tile_bytes(&out.type);
    }
    if (s->code == PTO_TASSIGN || s->code == PTO_MULTI_TILE_GET) {
        out.v_row = from->v_row;
        out.v_col = from->v_col;
    }
    int64_t room = (int64_t)pto_space_size(p->arch, out.type.space) - pto_tile_bytes(&out.type);
    v.tiles[s->dst] = out;
    return values_fits(&out) && out.addr >= 0 && out.addr <= room;
}

bool pto_step_tile(const struct pto_program *p, const struct pto_step *s, struct pto_slots v)
{
    switch (s->code) {
    case PTO_ALLOC_TILE:
    case PTO_ALLOC_MULTI_TILE:
        return alloc_tile(p, s, v);
    case PTO_SUBVIEW:
    case PTO_SUBSET:
        return subview(p, s, v);
    case PTO_SET_VALIDSHAPE:
        return set_valid(p, s, v);
    default:
        return retype(p, s, v);
    }
}
