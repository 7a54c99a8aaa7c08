/*
 * Scalars, views and tiles: types of arithmetic, ranks of views, where tiles lie and how much of
 * them is valid.
 */
#include "kernels/pto/text/verify_in.h"

#include <stdlib.h>
#include <string.h>

/* ---- arithmetic ---- */

static bool is_int(const struct pto_type *t)
{
    return t->kind == PTO_TYPE_SCALAR && !pto_dtype_is_float(t->dtype);
}

static bool is_float(const struct pto_type *t)
{
    return t->kind == PTO_TYPE_SCALAR && pto_dtype_is_float(t->dtype);
}

static void inputs_are(const struct pto_check *c, bool (*rule)(const struct pto_type *),
                       const char *what)
{
    uint32_t total = pto_operand_total(c->m, c->op, PTO_ROLE_IN);

    for (uint32_t i = 0; i < total; i++)
        if (!rule(pto_check_role(c, PTO_ROLE_IN, i))) {
            pto_bad(c, "pto-ir.type-mismatch", "%s works on %s", pto_op_name(c->op->code), what);
            return;
        }
}

static void check_ints(const struct pto_check *c)
{
    inputs_are(c, is_int, "whole numbers");
}

static void check_floats(const struct pto_check *c)
{
    inputs_are(c, is_float, "floating-point numbers");
}

static void check_division(const struct pto_check *c)
{
    int64_t by;

    check_ints(c);
    if (pto_constant(c, pto_operand_nth(c->m, c->op, PTO_ROLE_IN, 1), &by) && by == 0)
        pto_bad(c, "pto-ir.division-by-zero", "this divides by zero");
}

/* The range that a constant of a type may have: signless, so -128 to 255 for i8. */
static void check_constant(const struct pto_check *c)
{
    const struct pto_attr *a = pto_op_attr(c->m, c->op, PTO_KEY_VALUE);
    const struct pto_type *t = pto_check_type_of(c, c->op->result_first);
    uint32_t bytes = pto_dtype_size(t->dtype);

    if (a == NULL || c->op->result_count != 1 || t->kind != PTO_TYPE_SCALAR) {
        pto_bad(c, "pto-ir.bad-operands", "arith.constant has one number and one result");
        return;
    }
    if ((a->kind == PTO_ATTR_FLOAT) != pto_dtype_is_float(t->dtype)) {
        pto_bad(c, "pto-ir.type-mismatch", "the number is not of the type of the result");
        return;
    }
    if (a->kind == PTO_ATTR_FLOAT || bytes >= 8 || bytes == 0)
        return;
    uint32_t bits = t->dtype == PTO_I1 ? 1 : bytes * 8;
    int64_t most = ((int64_t)1 << bits) - 1, least = -((int64_t)1 << (bits - 1));
    if (a->i > most || a->i < least)
        pto_bad(c, "pto-ir.bad-number", "%lld does not fit %s", (long long)a->i,
                pto_dtype_name(t->dtype));
}

/* A scalar behind a pointer or in a local array, read as the result or written as the value. */
static void check_memory(const struct pto_check *c)
{
    const struct pto_type *element = c->op->result_count > 0
                                         ? pto_check_type_of(c, c->op->result_first)
                                         : pto_check_role(c, PTO_ROLE_VALUE, 0);
    const struct pto_type *base = pto_check_role(c, PTO_ROLE_BASE, 0);
    enum pto_type_kind want = c->op->code == PTO_LOAD_SCALAR || c->op->code == PTO_STORE_SCALAR
                                  ? PTO_TYPE_PTR
                                  : PTO_TYPE_ARRAY;

    if (base->kind != want) {
        pto_bad(c, "pto-ir.type-mismatch", "%s needs %s", pto_op_name(c->op->code),
                want == PTO_TYPE_PTR ? "a pointer" : "a local array");
        return;
    }
    if (element->kind != PTO_TYPE_SCALAR || element->dtype != base->dtype)
        pto_bad(c, "pto-ir.type-mismatch", "the elements are %s", pto_dtype_name(base->dtype));
    if (want == PTO_TYPE_ARRAY && pto_operand_total(c->m, c->op, PTO_ROLE_INDEX) != base->rank)
        pto_bad(c, "pto-ir.bad-operands", "the array has %u dimensions", base->rank);
}

/* From and to of a cast. */
static void check_cast(const struct pto_check *c)
{
    const struct pto_type *from = pto_check_role(c, PTO_ROLE_IN, 0);
    const struct pto_type *to = pto_check_type_of(c, c->op->result_first);
    uint32_t a = pto_dtype_size(from->dtype), b = pto_dtype_size(to->dtype);
    bool ok = from->kind == PTO_TYPE_SCALAR && to->kind == PTO_TYPE_SCALAR;

    switch (c->op->code) {
    case PTO_INDEX_CAST:
    case PTO_INDEX_CASTUI:
        ok = ok && is_int(from) && is_int(to) &&
             (from->dtype == PTO_INDEX) != (to->dtype == PTO_INDEX);
        break;
    case PTO_EXTSI:
    case PTO_EXTUI:
        ok = ok && is_int(from) && is_int(to) && (a < b || (from->dtype == PTO_I1 && b == 1));
        break;
    case PTO_TRUNCI:
        ok = ok && is_int(from) && is_int(to) && (a > b || (to->dtype == PTO_I1 && a == 1));
        break;
    case PTO_SITOFP:
    case PTO_UITOFP:
        ok = ok && is_int(from) && is_float(to);
        break;
    case PTO_FPTOSI:
    case PTO_FPTOUI:
        ok = ok && is_float(from) && is_int(to);
        break;
    case PTO_EXTF:
        ok = ok && is_float(from) && is_float(to) && a < b;
        break;
    case PTO_TRUNCF:
        ok = ok && is_float(from) && is_float(to) && a > b;
        break;
    default: /* bit copies */
        ok = ok && a == b;
    }
    if (!ok)
        pto_bad(c, "pto-ir.type-mismatch", "%s does not go from %s to %s", pto_op_name(c->op->code),
                pto_dtype_name(from->dtype), pto_dtype_name(to->dtype));
}

/* ---- views ---- */

static void check_view(const struct pto_check *c)
{
    const struct pto_type *base = pto_check_role(c, PTO_ROLE_BASE, 0);
    const struct pto_type *view = pto_check_type_of(c, c->op->result_first);
    uint32_t shape = pto_operand_total(c->m, c->op, PTO_ROLE_SHAPE);
    uint32_t strides = pto_operand_total(c->m, c->op, PTO_ROLE_STRIDE);

    if (base->kind != PTO_TYPE_PTR || view->kind != PTO_TYPE_VIEW)
        pto_bad(c, "pto-ir.type-mismatch", "a view is made of a pointer");
    else if (base->dtype != view->dtype)
        pto_bad(c, "pto-ir.type-mismatch", "a view of %s on a pointer to %s",
                pto_dtype_name(view->dtype), pto_dtype_name(base->dtype));
    else if (shape != view->rank || strides != view->rank)
        pto_bad(c, "pto-ir.bad-operands", "%u sizes and %u strides for a view of rank %u", shape,
                strides, view->rank);
}

static void check_partition(const struct pto_check *c)
{
    const struct pto_type *base = pto_check_role(c, PTO_ROLE_BASE, 0);
    const struct pto_type *part = pto_check_type_of(c, c->op->result_first);
    uint32_t offsets = pto_operand_total(c->m, c->op, PTO_ROLE_OFFSET);
    uint32_t sizes = pto_operand_total(c->m, c->op, PTO_ROLE_SIZE);

    if ((base->kind != PTO_TYPE_VIEW && base->kind != PTO_TYPE_PART) ||
        part->kind != PTO_TYPE_PART || base->dtype != part->dtype) {
        pto_bad(c, "pto-ir.type-mismatch", "a part of a view has its element type");
        return;
    }
    if (offsets != base->rank || sizes != part->rank || part->rank != base->rank) {
        pto_bad(c, "pto-ir.bad-operands", "%u offsets and %u sizes for a view of rank %u", offsets,
                sizes, base->rank);
        return;
    }
    for (uint32_t i = 0; i < sizes; i++) {
        int64_t size;
        if (pto_constant(c, pto_operand_nth(c->m, c->op, PTO_ROLE_SIZE, i), &size) &&
            part->dims[i] != PTO_DYNAMIC && part->dims[i] != size)
            pto_bad(c, "pto-ir.type-mismatch", "size %u is %lld, but %lld in the type", i + 1,
                    (long long)size, (long long)part->dims[i]);
    }
}

/* ---- tiles ---- */

/* Bytes of all slots of a tile type. */
uint64_t pto_check_footprint(const struct pto_type *t)
{
    const struct pto_tile_type *tile = &t->tile;
    uint64_t bytes = (uint64_t)tile->rows * (uint64_t)tile->cols * pto_dtype_size(tile->dtype);

    if (tile->compact == 2) /* one element more for each major row */
        bytes += (uint64_t)(tile->blayout == PTO_ROW_MAJOR ? tile->rows : tile->cols) *
                 pto_dtype_size(tile->dtype);
    return t->kind == PTO_TYPE_MULTI ? bytes * (uint64_t)t->count : bytes;
}

enum { MAP_TILES = 64 };

/* One tile of a space that has an address. */
struct placed {
    int64_t at;
    uint64_t bytes;
    uint32_t value, line;
};

ORDER_BY(by_place, struct placed, ORDER(x->at, y->at) ?: ORDER(x->line, y->line));

/* Collects the tiles of the function that lie in a space. */
static size_t list_tiles(const struct pto_check *c, enum pto_space space, struct placed *out)
{
    size_t n = 0;

    for (uint32_t i = c->f->op_first; i < c->f->op_end && n < MAP_TILES; i++) {
        const struct pto_op *op = &c->m->ops.at[i];
        uint32_t addr = pto_operand(c->m, op, PTO_ROLE_ADDR);
        int64_t at;
        if (pto_class_of(op->code) != PTO_CLASS_ALLOC || addr == PTO_NONE ||
            !pto_constant(c, addr, &at))
            continue;
        const struct pto_type *t = pto_check_type_of(c, op->result_first);
        if (t->space == space)
            out[n++] = (struct placed){at, pto_check_footprint(t), op->result_first, op->line};
    }
    qsort(out, n, sizeof(*out), by_place);
    return n;
}

/* What lies where in a space that something does not fit; told once for each. */
static void report_map(const struct pto_check *c, enum pto_space space)
{
    struct placed tiles[MAP_TILES] = {0};
    size_t n = list_tiles(c, space, tiles);
    struct arena arena;
    struct str map = S("");

    for (size_t i = 0; i < c->m->problems.n; i++) {
        const struct pto_problem *p = &c->m->problems.at[i];
        if (strcmp(p->code, "pto-ir.space-map") == 0 && p->line == c->f->line &&
            str_starts(str_of(p->text), str_of(pto_space_name(space))))
            return;
    }
    arena_init(&arena);
    for (size_t i = 0; i < n; i++)
        map = arena_format(
            &arena, "%.*s%s%lld-%lld %.*s (line %u)", STR_ARGS(map), i > 0 ? ", " : "",
            (long long)tiles[i].at, (long long)tiles[i].at + (long long)tiles[i].bytes - 1,
            STR_ARGS(pto_value_text(c->m, c->f, &arena, tiles[i].value)), tiles[i].line);
    if (n > 1)
        pto_problem(c->m, SEV_WARN, "pto-ir.space-map", c->f->line, c->f->col,
                    "%s (%u bytes) holds: %.*s", pto_space_name(space),
                    pto_space_size(c->m->arch, space), STR_ARGS(map));
    arena_free(&arena);
}

static void check_capacity(const struct pto_check *c, const struct pto_type *t, uint32_t addr)
{
    uint64_t most = pto_space_size(c->m->arch, t->space), bytes = pto_check_footprint(t);
    int64_t at = 0;

    if (addr != PTO_NONE && pto_constant(c, addr, &at) && at < 0) {
        pto_bad(c, "pto-ir.out-of-space", "the address %lld is negative", (long long)at);
    } else if (bytes > most || (uint64_t)at > most - bytes) {
        pto_bad(c, "pto-ir.out-of-space",
                "%llu bytes at %lld do not fit %s, which has %llu bytes on %s",
                (unsigned long long)bytes, (long long)at, pto_space_name(t->space),
                (unsigned long long)most, c->m->arch == PTO_A5 ? "A5" : "A2/A3");
        report_map(c, t->space);
    }
}

/* An operand for a "?" and none for a number; not more than there is. */
static void check_valid(const struct pto_check *c, enum pto_role role, int32_t type_says,
                        int32_t physical, const char *name)
{
    uint32_t value = pto_operand(c->m, c->op, role);
    int64_t n;

    if (type_says == PTO_DYNAMIC && value == PTO_NONE)
        pto_bad(c, "pto-ir.bad-valid", "%s is missing: it is ? in the type", name);
    else if (type_says != PTO_DYNAMIC && value != PTO_NONE)
        pto_bad(c, "pto-ir.bad-valid", "%s is superfluous: it is %d in the type", name,
                (int)type_says);
    else if (pto_constant(c, value, &n) && (n < 0 || n > physical))
        pto_bad(c, "pto-ir.bad-valid", "%s is %lld, the tile has %d", name, (long long)n,
                (int)physical);
}

static void check_alloc(const struct pto_check *c)
{
    const struct pto_type *t = pto_check_type_of(c, c->op->result_first);
    enum pto_type_kind want = c->op->code == PTO_ALLOC_TILE ? PTO_TYPE_TILE : PTO_TYPE_MULTI;
    uint32_t addr = pto_operand(c->m, c->op, PTO_ROLE_ADDR);

    if (t->kind != want) {
        pto_bad(c, "pto-ir.type-mismatch", "%s gives a %s", pto_op_name(c->op->code),
                want == PTO_TYPE_TILE ? "tile" : "multi tile");
        return;
    }
    if (addr != PTO_NONE && !is_int(pto_check_type_of(c, addr)))
        pto_bad(c, "pto-ir.type-mismatch", "an address is a whole number");
    check_capacity(c, t, addr);
    if (c->op->code != PTO_ALLOC_TILE)
        return;
    check_valid(c, PTO_ROLE_VALID_ROW, t->tile.v_row, t->tile.rows, "valid_row");
    check_valid(c, PTO_ROLE_VALID_COL, t->tile.v_col, t->tile.cols, "valid_col");
}

static void check_window(const struct pto_check *c, uint32_t nth, int32_t parent, int64_t size)
{
    int64_t at;

    if (pto_constant(c, pto_operand_nth(c->m, c->op, PTO_ROLE_INDEX, nth), &at) &&
        (at < 0 || at > parent - size))
        pto_bad(c, "pto-ir.out-of-tile", "the window [%lld, %lld) leaves the tile, which has %d",
                (long long)at, (long long)at + (long long)size, (int)parent);
}

static void check_subview(const struct pto_check *c)
{
    const struct pto_type *base = pto_check_role(c, PTO_ROLE_BASE, 0);
    const struct pto_type *to = pto_check_type_of(c, c->op->result_first);
    const struct pto_attr *sizes = pto_op_attr(c->m, c->op, PTO_KEY_SIZES);
    int64_t rows = pto_attr_nth(c->m, sizes, 0, -1), cols = pto_attr_nth(c->m, sizes, 1, -1);

    if (base->kind != PTO_TYPE_TILE || to->kind != PTO_TYPE_TILE || base->dtype != to->dtype ||
        base->space != to->space) {
        pto_bad(c, "pto-ir.type-mismatch", "a window of a tile has its element type and space");
    } else if (pto_operand_total(c->m, c->op, PTO_ROLE_INDEX) != 2 || sizes == NULL ||
               sizes->item_count != 2) {
        pto_bad(c, "pto-ir.bad-operands", "a window has two offsets and two sizes");
    } else if (rows != to->tile.rows || cols != to->tile.cols) {
        pto_bad(c, "pto-ir.type-mismatch", "the sizes are %lld x %lld, but %d x %d in the type",
                (long long)rows, (long long)cols, (int)to->tile.rows, (int)to->tile.cols);
    } else {
        check_window(c, 0, base->tile.rows, rows);
        check_window(c, 1, base->tile.cols, cols);
    }
}

static void check_set_valid(const struct pto_check *c)
{
    const struct pto_type *t = pto_check_role(c, PTO_ROLE_BASE, 0);
    int64_t n;

    if (t->kind != PTO_TYPE_TILE) {
        pto_bad(c, "pto-ir.type-mismatch", "only tiles have a valid part");
        return;
    }
    if (pto_constant(c, pto_operand(c->m, c->op, PTO_ROLE_VALID_ROW), &n) &&
        (n < 0 || n > t->tile.rows))
        pto_bad(c, "pto-ir.bad-valid", "%lld valid rows of %d", (long long)n, (int)t->tile.rows);
    if (pto_constant(c, pto_operand(c->m, c->op, PTO_ROLE_VALID_COL), &n) &&
        (n < 0 || n > t->tile.cols))
        pto_bad(c, "pto-ir.bad-valid", "%lld valid columns of %d", (long long)n, (int)t->tile.cols);
}

static void check_assign(const struct pto_check *c)
{
    const struct pto_type *t = pto_check_type_of(c, c->op->result_first);

    if (t->kind == PTO_TYPE_TILE)
        check_capacity(c, t, pto_operand(c->m, c->op, PTO_ROLE_ADDR));
}

static void check_same_bytes(const struct pto_check *c)
{
    const struct pto_type *from = pto_check_role(c, PTO_ROLE_IN, 0);
    const struct pto_type *to = c->op->result_count > 0 ? pto_check_type_of(c, c->op->result_first)
                                                        : pto_check_role(c, PTO_ROLE_OUT, 0);

    if (from->kind != PTO_TYPE_TILE || to->kind != PTO_TYPE_TILE || from->space != to->space)
        pto_bad(c, "pto-ir.type-mismatch", "%s gives another shape to the bytes of a tile",
                pto_op_name(c->op->code));
    else if (pto_check_footprint(from) != pto_check_footprint(to))
        pto_bad(c, "pto-ir.type-mismatch", "the tiles have %llu and %llu bytes",
                (unsigned long long)pto_check_footprint(from),
                (unsigned long long)pto_check_footprint(to));
}

void pto_check_value(const struct pto_check *c)
{
    static pto_check_fn *const rules[PTO_CLASS_COUNT] = {
        [PTO_CLASS_CONSTANT] = check_constant,   [PTO_CLASS_INT] = check_ints,
        [PTO_CLASS_DIVISION] = check_division,   [PTO_CLASS_EXTENDED] = check_ints,
        [PTO_CLASS_FLOAT] = check_floats,        [PTO_CLASS_CAST] = check_cast,
        [PTO_CLASS_LOAD_SCALAR] = check_memory,  [PTO_CLASS_ARRAY_GET] = check_memory,
        [PTO_CLASS_STORE_SCALAR] = check_memory, [PTO_CLASS_ARRAY_SET] = check_memory,
        [PTO_CLASS_VIEW] = check_view,           [PTO_CLASS_PART] = check_partition,
        [PTO_CLASS_ALLOC] = check_alloc,         [PTO_CLASS_SUBVIEW] = check_subview,
        [PTO_CLASS_VALID] = check_set_valid,     [PTO_CLASS_RETYPE] = check_same_bytes,
        [PTO_CLASS_ASSIGN] = check_assign,
    };
    pto_check_fn *rule = rules[pto_class_of(c->op->code)];

    if (rule != NULL)
        rule(c);
}
