/*
 * Which handler executes an operation, and its operands, taken and checked.
 */
#include "kernels/pto/values/func_call.h"

#include <string.h>

static bool is_kind(const struct pto_arg *list, size_t n, size_t i, enum pto_operand_kind kind)
{
    return i < n && list[i].kind == kind && list[i].u.tile != NULL;
}

bool func_has_tile(const struct func_call *c, size_t i)
{
    return is_kind(c->args->ins, c->args->n_ins, i, PTO_OPERAND_TILE);
}

bool func_has_value(const struct func_call *c, size_t i)
{
    return is_kind(c->args->ins, c->args->n_ins, i, PTO_OPERAND_VALUE);
}

bool func_has_out(const struct func_call *c, size_t i)
{
    return is_kind(c->args->outs, c->args->n_outs, i, PTO_OPERAND_TILE);
}

static enum status check_tile(struct func_call *c, const struct pto_tile *t)
{
    if (t->base == NULL)
        return func_bad_operand(c, "a tile has no memory");
    return pto_tile_check(t, c->args->where, c->diag);
}

static enum status check_view(struct func_call *c, const struct pto_view *v)
{
    if (v->base == NULL)
        return func_bad_operand(c, "a view has no memory");
    return pto_view_check(v, c->args->where, c->diag);
}

enum status func_out(struct func_call *c, size_t i, struct pto_tile *t)
{
    if (!func_has_out(c, i))
        return func_bad_operand(c, "a destination tile is missing");
    *t = *c->args->outs[i].u.tile;
    TRY(check_tile(c, t));
    if (c->n_taken < FUNC_OUTS)
        c->taken[c->n_taken++] = *t;
    return ST_OK;
}

enum status func_out_view(struct func_call *c, size_t i, struct pto_view *v)
{
    if (!is_kind(c->args->outs, c->args->n_outs, i, PTO_OPERAND_VIEW))
        return func_bad_operand(c, "the destination is not a view");
    *v = *c->args->outs[i].u.view;
    return check_view(c, v);
}

enum status func_in_view(struct func_call *c, size_t i, struct pto_view *v)
{
    if (!is_kind(c->args->ins, c->args->n_ins, i, PTO_OPERAND_VIEW))
        return func_bad_operand(c, "an operand should be a view");
    *v = *c->args->ins[i].u.view;
    return check_view(c, v);
}

enum status func_value(struct func_call *c, size_t i, struct pto_scalar *v)
{
    if (!func_has_value(c, i))
        return func_bad_operand(c, "a scalar operand is missing");
    *v = *c->args->ins[i].u.value;
    return ST_OK;
}

/* First to last byte of the physical tile, which a destination may be written within. */
static struct pto_range call_whole(const struct pto_tile *t)
{
    struct pto_tile all = *t;
    if (t->type.compact != 1) {
        all.v_row = t->type.rows;
        all.v_col = t->type.cols;
    }
    if (all.v_row == 0 || all.v_col == 0)
        return (struct pto_range){0, 0};
    return (struct pto_range){pto_tile_offset(&all, 0, 0),
                              pto_tile_offset(&all, all.v_row - 1, all.v_col - 1) + 8};
}

static bool same_places(const struct pto_tile *a, const struct pto_tile *b)
{
    const struct pto_tile_type *s = &a->type, *t = &b->type;
    return a->addr == b->addr && pto_dtype_size(s->dtype) == pto_dtype_size(t->dtype) &&
           s->blayout == t->blayout && s->slayout == t->slayout && s->fractal == t->fractal &&
           s->compact == t->compact && s->compact != 1 && s->rows == t->rows &&
           s->cols == t->cols && memcmp(&a->window, &b->window, sizeof(a->window)) == 0;
}

static bool must_copy(const struct func_call *c, const struct pto_tile *t, bool is_elementwise)
{
    for (size_t i = 0; i < c->n_taken; i++) {
        const struct pto_tile *d = &c->taken[i];
        if (d->base != t->base || (is_elementwise && same_places(d, t)))
            continue;
        struct pto_range a = call_whole(t), b = call_whole(d);
        if (a.begin < b.end && b.begin < a.end)
            return true;
    }
    return false;
}

enum status func_copy_aside(struct func_call *c, struct pto_tile *t, bool is_elementwise)
{
    TRY(check_tile(c, t));
    if (t->v_row > 0 && t->v_col > 0 && must_copy(c, t, is_elementwise)) {
        /* The same rectangle and physical shape in memory of its own. */
        struct pto_tile copy = func_scratch(c, t->type.dtype, t->v_row, t->v_col);
        func_copy(t, &copy, t->v_row, t->v_col);
        copy.type.pad = t->type.pad;
        *t = copy;
    }
    return ST_OK;
}

enum status func_given(struct func_call *c, size_t i, const struct pto_tile **t)
{
    if (!func_has_tile(c, i))
        return func_bad_operand(c, "a source tile is missing");
    *t = c->args->ins[i].u.tile;
    return ST_OK;
}

enum status func_in(struct func_call *c, size_t i, struct pto_tile *t)
{
    const struct pto_tile *given = NULL;

    TRY(func_given(c, i, &given));
    *t = *given;
    return func_copy_aside(c, t, false);
}

enum status func_in_as(struct func_call *c, size_t i, int32_t rows, int32_t cols,
                       bool is_elementwise, struct pto_tile *t)
{
    const struct pto_tile *given = NULL;

    TRY(func_given(c, i, &given));
    if (given->type.compact != 1) {
        *t = *given;
        t->v_row = rows;
        t->v_col = cols;
    } else if (!pto_tile_window(given, 0, 0, rows, cols, t)) {
        t->v_row = -1;
    }
    if (rows > given->type.rows || cols > given->type.cols)
        return diag_fail(c->diag, ST_FORMAT, "pto-run.func-shape", c->args->where,
                         "%s: %dx%d elements are needed of a %dx%d source", pto_op_name(c->op),
                         rows, cols, given->type.rows, given->type.cols);
    return func_copy_aside(c, t, is_elementwise);
}

enum status func_physical(struct func_call *c, struct pto_tile *t)
{
    if (t->type.compact != 1) {
        t->v_row = t->type.rows;
        t->v_col = t->type.cols;
    }
    return check_tile(c, t);
}

enum status func_number(struct func_call *c, const struct pto_tile *t)
{
    if (pto_dtype_size(t->type.dtype) != 0 && pto_elem_lanes(t->type.dtype) == 1)
        return ST_OK;
    return diag_fail(c->diag, ST_UNSUPPORTED, "pto-run.func-dtype", c->args->where,
                     "%s does not compute with %s", pto_op_name(c->op),
                     pto_dtype_name(t->type.dtype));
}

enum status func_same_size(struct func_call *c, enum pto_dtype a, enum pto_dtype b)
{
    if (pto_dtype_size(a) == pto_dtype_size(b))
        return ST_OK;
    return diag_fail(c->diag, ST_FORMAT, "pto-run.func-dtype", c->args->where,
                     "%s between %s and %s: the elements have different sizes", pto_op_name(c->op),
                     pto_dtype_name(a), pto_dtype_name(b));
}

static bool compare_f64(enum pto_cmp how, double a, double b)
{
    switch (how) {
    case PTO_CMP_EQ:
        return a == b;
    case PTO_CMP_NE:
        return a != b;
    case PTO_CMP_LT:
        return a < b;
    case PTO_CMP_LE:
        return a <= b;
    case PTO_CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* f64 decides but for 64-bit integers so close that they round to one number. */
bool func_compare(enum pto_cmp how, uint64_t a, enum pto_dtype a_type, uint64_t b,
                  enum pto_dtype b_type)
{
    double x = pto_elem_f64(a, a_type), y = pto_elem_f64(b, b_type);
    if (x != y || pto_dtype_is_float(a_type) || pto_dtype_is_float(b_type))
        return compare_f64(how, x, y);
    return compare_f64(how, (a > b) - (a < b), 0); /* one sign here, so bits compare as values */
}

uint64_t func_add(uint64_t a, uint64_t b, enum pto_dtype t)
{
    if (pto_dtype_is_float(t))
        return pto_elem_from_f32(pto_elem_f32(a, t) + pto_elem_f32(b, t), t);
    return pto_elem_from_i64((int64_t)(a + b), t);
}

uint64_t func_joined(enum func_join how, uint64_t a, uint64_t b, enum pto_dtype t)
{
    if (how == FUNC_SUM)
        return func_add(a, b, t);
    if (how == FUNC_PROD)
        return pto_dtype_is_float(t) ? pto_elem_from_f32(pto_elem_f32(a, t) * pto_elem_f32(b, t), t)
                                     : pto_elem_from_i64((int64_t)(a * b), t);
    return func_compare(how == FUNC_MAX ? PTO_CMP_LT : PTO_CMP_GT, a, t, b, t) ? b : a;
}

struct pto_tile func_scratch(struct func_call *c, enum pto_dtype dtype, int32_t rows, int32_t cols)
{
    size_t bytes = (size_t)rows * (size_t)cols * pto_dtype_size(dtype);
    return (struct pto_tile){
        .type = {.space = PTO_VEC, .dtype = dtype, .rows = rows, .cols = cols, .fractal = 512},
        .v_row = rows,
        .v_col = cols,
        .base = arena_alloc(&c->scratch, bytes),
        .limit = bytes,
    };
}

uint64_t func_at(const struct pto_tile *t, int32_t r, int32_t c)
{
    return pto_elem_load(t->base + pto_tile_offset(t, r, c), t->type.dtype);
}

void func_set(const struct pto_tile *t, int32_t r, int32_t c, uint64_t bits)
{
    pto_elem_store(t->base + pto_tile_offset(t, r, c), t->type.dtype, bits);
}

uint64_t func_view_at(const struct pto_view *v, int64_t r, int64_t c)
{
    return pto_elem_load(v->base + pto_view_offset(v, r, c), v->dtype);
}

void func_view_set(const struct pto_view *v, int64_t r, int64_t c, uint64_t bits)
{
    pto_elem_store(v->base + pto_view_offset(v, r, c), v->dtype, bits);
}

struct pto_tile func_flip(const struct pto_tile *t)
{
    struct pto_tile f = *t;
    struct pto_window *w = &f.window;
    f.type.rows = t->type.cols;
    f.type.cols = t->type.rows;
    f.v_row = t->v_col;
    f.v_col = t->v_row;
    f.type.blayout = t->type.blayout == PTO_ROW_MAJOR ? PTO_COL_MAJOR : PTO_ROW_MAJOR;
    if (t->type.slayout != PTO_NONE_BOX)
        f.type.slayout = t->type.slayout == PTO_BOX_ROW ? PTO_BOX_COL : PTO_BOX_ROW;
    *w = (struct pto_window){.row = t->window.col,
                             .col = t->window.row,
                             .rows = t->window.cols,
                             .cols = t->window.rows,
                             .v_row = t->window.v_col,
                             .v_col = t->window.v_row};
    return f;
}

void func_straighten(struct pto_tile *tiles, size_t n)
{
    bool all_dn = true, all_dense = true;
    for (size_t i = 0; i < n; i++)
        all_dn = all_dn && tiles[i].type.slayout == PTO_NONE_BOX &&
                 tiles[i].type.blayout == PTO_COL_MAJOR;
    for (size_t i = 0; i < n; i++) {
        if (all_dn)
            tiles[i] = func_flip(&tiles[i]);
        const struct pto_tile *t = &tiles[i];
        all_dense = all_dense && t->type.slayout == PTO_NONE_BOX && t->window.rows == 0 &&
                    t->type.blayout == PTO_ROW_MAJOR && t->type.compact == 0 &&
                    t->v_col == t->type.cols &&
                    t->v_row <= INT32_MAX / (t->v_col > 0 ? t->v_col : 1);
    }
    for (size_t i = 0; i < n && all_dense; i++) {
        struct pto_tile *t = &tiles[i];
        t->type.cols = t->v_col = t->v_row * t->v_col;
        t->type.rows = t->v_row = t->v_row > 0;
    }
}

/* ---- operations ---- */

const struct pto_attrs PTO_ATTRS = {
    .saturation = PTO_SATURATION_AUTO,
    .coalesce = PTO_COALESCE_AUTO,
};

static const struct func_row {
    func_fn *run;
    int how;
} rows[PTO_OP_COUNT] = {
#define PTO_FUNC(code, handler, how) [PTO_##code] = {func_##handler, how},
#include "kernels/pto/values/funcs.def"
#undef PTO_FUNC
};

bool pto_func_knows(enum pto_opcode op)
{
    return rows[op].run != NULL;
}

enum status pto_func(enum pto_opcode op, const struct pto_args *args, struct diag *d)
{
    if (rows[op].run == NULL)
        return diag_fail(d, ST_UNSUPPORTED, "pto-run.func-unknown", args->where,
                         "%s cannot be executed on data", pto_op_name(op));
    struct func_call c = {
        .op = op,
        .how = rows[op].how,
        .args = args,
        .attrs = args->attrs != NULL ? args->attrs : &PTO_ATTRS,
        .diag = d,
    };
    arena_init(&c.scratch);
    enum status st = rows[op].run(&c);
    arena_free(&c.scratch);
    return st;
}

enum status pto_func_copy(const struct pto_tile *src, const struct pto_tile *dst,
                          struct where where, struct diag *d)
{
    struct pto_tile from = *src, to = *dst;
    const struct pto_arg in = {PTO_OPERAND_TILE, {.tile = &from}};
    const struct pto_arg out = {PTO_OPERAND_TILE, {.tile = &to}};
    const struct pto_args args = {
        .ins = &in, .outs = &out, .n_ins = 1, .n_outs = 1, .where = where};
    return pto_func(PTO_TMOV, &args, d);
}
