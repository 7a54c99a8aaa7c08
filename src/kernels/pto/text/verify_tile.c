/*
 * Operations on tiles: how many operands, in which spaces, with which element types and shapes;
 * FIFOs and flags.
 */
#include "kernels/pto/text/verify_in.h"
#include "kernels/pto/values/elem.h"

enum { MAX_MATRIX = 4095 }; /* rows, columns and depth of a multiplication; columns of a store */

/* ---- operands ---- */

static bool arity_is_right(const struct pto_check *c)
{
    uint32_t ins = pto_operand_total(c->m, c->op, PTO_ROLE_IN);
    uint32_t outs = pto_operand_total(c->m, c->op, PTO_ROLE_OUT);
    enum pto_opcode code = c->op->code;
    uint32_t least = pto_op_facts[code].ins / 10, most = pto_op_facts[code].ins % 10;

    if (most == 0 ||
        (ins >= least && ins <= most &&
         outs == (code == PTO_SET_QUANT_VECTOR || code == PTO_SET_QUANT_SCALAR ? 0 : 1)))
        return true;
    return pto_bad(c, "pto-ir.bad-operands", "%s has %u operands in ins and %u in outs",
                   pto_op_name(code), ins, outs);
}

static bool is_tile(const struct pto_type *t)
{
    return t->kind == PTO_TYPE_TILE;
}

static bool is_part(const struct pto_type *t)
{
    return t->kind == PTO_TYPE_PART || t->kind == PTO_TYPE_VIEW;
}

/* ---- moves ---- */

static void check_load(const struct pto_check *c)
{
    const struct pto_type *from = pto_check_role(c, PTO_ROLE_IN, 0);
    const struct pto_type *to = pto_check_role(c, PTO_ROLE_OUT, 0);

    if (!is_part(from) || !is_tile(to))
        pto_bad(c, "pto-ir.type-mismatch", "%s goes from a part of a view to a tile",
                pto_op_name(c->op->code));
    else if (to->space != PTO_VEC && to->space != PTO_MAT)
        pto_bad(c, "pto-ir.bad-space", "%s goes to vec or mat, not to %s; move it on with tmov",
                pto_op_name(c->op->code), pto_space_name(to->space));
    else if (pto_dtype_size(from->dtype) != pto_dtype_size(to->dtype))
        pto_bad(c, "pto-ir.type-mismatch", "elements of %u and %u bytes",
                pto_dtype_size(from->dtype), pto_dtype_size(to->dtype));
}

static void check_store(const struct pto_check *c)
{
    const struct pto_type *from = pto_check_role(c, PTO_ROLE_IN, 0);
    const struct pto_type *to = pto_check_role(c, PTO_ROLE_OUT, 0);

    if (!is_tile(from) || !is_part(to)) {
        pto_bad(c, "pto-ir.type-mismatch", "tstore goes from a tile to a part of a view");
    } else if (from->space == PTO_LEFT || from->space == PTO_RIGHT) {
        pto_bad(c, "pto-ir.bad-space", "tstore does not start from %s",
                pto_space_name(from->space));
    } else if (from->space == PTO_ACC) { /* may convert */
        int32_t cols = from->tile.v_col == PTO_DYNAMIC ? from->tile.cols : from->tile.v_col;
        if (cols > MAX_MATRIX)
            pto_bad(c, "pto-ir.bad-shape", "tstore from acc takes up to %d columns, not %d",
                    MAX_MATRIX, (int)cols);
    } else if (pto_dtype_size(from->dtype) != pto_dtype_size(to->dtype)) {
        pto_bad(c, "pto-ir.type-mismatch", "elements of %u and %u bytes",
                pto_dtype_size(from->dtype), pto_dtype_size(to->dtype));
    }
}

static void check_move(const struct pto_check *c)
{
    if (!is_tile(pto_check_role(c, PTO_ROLE_IN, 0)) || !is_tile(pto_check_role(c, PTO_ROLE_OUT, 0)))
        pto_bad(c, "pto-ir.type-mismatch", "%s goes from tile to tile", pto_op_name(c->op->code));
}

/* ---- matrices ---- */

static bool size_is_right(const struct pto_check *c, const char *name, int32_t size)
{
    if (size == PTO_DYNAMIC || (size >= 1 && size <= MAX_MATRIX))
        return true;
    return pto_bad(c, "pto-ir.bad-shape", "%s of a multiplication is 1 to %d, not %d", name,
                   MAX_MATRIX, (int)size);
}

static bool sizes_agree(const struct pto_check *c, const char *what, int32_t a, int32_t b)
{
    if (a == b || a == PTO_DYNAMIC || b == PTO_DYNAMIC)
        return true;
    return pto_bad(c, "pto-ir.bad-shape", "%s: %d and %d", what, (int)a, (int)b);
}

static void check_matmul(const struct pto_check *c)
{
    enum pto_opcode code = c->op->code;
    bool is_mx = (code >= PTO_TMATMUL_MX && code <= PTO_TMATMUL_MX_BIAS) || code >= PTO_TGEMV_MX;
    bool is_acc = code == PTO_TMATMUL_ACC || code == PTO_TMATMUL_MX_ACC || code == PTO_TGEMV_ACC ||
                  code == PTO_TGEMV_MX_ACC;
    const struct pto_type *left = pto_check_role(c, PTO_ROLE_IN, is_acc);
    const struct pto_type *right = pto_check_role(c, PTO_ROLE_IN, is_acc + (is_mx ? 2U : 1U));
    const struct pto_type *acc = pto_check_role(c, PTO_ROLE_OUT, 0);
    if (!is_tile(left) || !is_tile(right) || !is_tile(acc)) {
        pto_bad(c, "pto-ir.type-mismatch", "%s works on tiles", pto_op_name(c->op->code));
        return;
    }
    if (left->space != PTO_LEFT || right->space != PTO_RIGHT || acc->space != PTO_ACC) {
        pto_bad(c, "pto-ir.bad-space", "%s takes left and right and gives acc, not %s, %s, %s",
                pto_op_name(c->op->code), pto_space_name(left->space), pto_space_name(right->space),
                pto_space_name(acc->space));
        return;
    }
    const struct pto_tile_type *a = &left->tile, *b = &right->tile, *o = &acc->tile;
    if (!size_is_right(c, "M", a->v_row) || !size_is_right(c, "K", a->v_col) ||
        !size_is_right(c, "N", b->v_col))
        return;
    /* Pairs on the right may lie along N: there are as many rows as values on the left, then. */
    bool has_n_pairs = pto_elem_lanes(left->dtype) == 2 && pto_elem_lanes(right->dtype) == 2 &&
                       b->v_row == 2 * a->v_col && b->v_col != PTO_DYNAMIC;
    if (!sizes_agree(c, "K differs between left and right", a->v_col * (has_n_pairs ? 2 : 1),
                     b->v_row) ||
        !sizes_agree(c, "M differs between left and acc", a->v_row, o->v_row))
        return;
    sizes_agree(c, "N differs between right and acc", b->v_col * (has_n_pairs ? 2 : 1), o->v_col);
}

/* Element-wise operations, reductions, broadcasts: a tile comes out. */
static void check_vector(const struct pto_check *c)
{
    if (!is_tile(pto_check_role(c, PTO_ROLE_OUT, 0)))
        pto_bad(c, "pto-ir.type-mismatch", "%s gives a tile", pto_op_name(c->op->code));
}

static void check_sync_number(const struct pto_check *c)
{
    int64_t most = c->m->arch == PTO_A5 ? 31 : 15;
    int64_t n = pto_op_int(c->m, c->op, PTO_KEY_EVENT_ID, 0);

    if (n < 0 || n > most)
        pto_bad(c, "pto-ir.bad-event", "%s has numbers 0 to %lld, not %lld",
                pto_op_name(c->op->code), (long long)most, (long long)n);
}

static void check_event(const struct pto_check *c)
{
    int64_t n = pto_op_int(c->m, c->op, PTO_KEY_EVENT_ID, -1);

    if (n < 0 || n > 7)
        pto_bad(c, "pto-ir.bad-event", "events are EVENT_ID0 to EVENT_ID7");
}

void pto_check_tile_op(const struct pto_check *c)
{
    static pto_check_fn *const rules[PTO_CLASS_COUNT] = {
        [PTO_CLASS_LOAD] = check_load,
        [PTO_CLASS_STORE] = check_store,
        [PTO_CLASS_MOVE] = check_move,
        [PTO_CLASS_PRODUCT] = check_matmul,
        [PTO_CLASS_VECTOR] = check_vector,
        [PTO_CLASS_TOKEN_SET] = check_sync_number,
        [PTO_CLASS_TOKEN_WAIT] = check_sync_number,
        [PTO_CLASS_FLAG] = check_event,
    };
    pto_check_fn *rule = rules[pto_class_of(c->op->code)];

    if (arity_is_right(c) && rule != NULL)
        rule(c);
}

/* ---- FIFOs ---- */

enum { MAX_FIFOS = 64, MAX_FLAGS = 16 };

struct fifos {
    int64_t id[MAX_FIFOS], mask[MAX_FIFOS];
    uint32_t n;
    int64_t flags;
};

/* A direction takes two flags of the core: slot filled, slot free. */
static void check_initialize(const struct pto_check *c, struct fifos *list)
{
    int64_t id = pto_op_int(c->m, c->op, PTO_KEY_ID, 0);
    int64_t mask = pto_op_int(c->m, c->op, PTO_KEY_DIR_MASK, 0);

    if (mask < 1 || mask > 3) {
        pto_bad(c, "pto-ir.bad-fifo", "dir_mask is 1 (to vector), 2 (to cube) or 3 (both)");
        return;
    }
    if (pto_op_int(c->m, c->op, PTO_KEY_SLOT_SIZE, 0) <= 0) {
        pto_bad(c, "pto-ir.bad-fifo", "slot_size is missing");
        return;
    }
    for (uint32_t i = 0; i < list->n; i++)
        if (list->id[i] == id) {
            pto_bad(c, "pto-ir.bad-fifo", "FIFO %lld is initialised twice", (long long)id);
            return;
        }
    list->flags += mask == 3 ? 4 : 2;
    if (list->flags > MAX_FLAGS)
        pto_bad(c, "pto-ir.too-many-flags", "the FIFOs need %lld flags, a core has %d",
                (long long)list->flags, MAX_FLAGS);
    if (list->n < MAX_FIFOS) {
        list->id[list->n] = id;
        list->mask[list->n++] = mask;
    }
}

/* A push, pop or free of a FIFO that was initialised for that direction. */
static void check_use(const struct pto_check *c, const struct fifos *list, int64_t direction)
{
    int64_t id = pto_op_int(c->m, c->op, PTO_KEY_ID, 0);
    int64_t split = pto_op_int(c->m, c->op, PTO_KEY_SPLIT, 0);
    bool is_there = false;

    if (split < 0 || split > 4)
        pto_bad(c, "pto-ir.bad-fifo", "split is 0 to 4, not %lld", (long long)split);
    for (uint32_t i = 0; i < list->n; i++)
        is_there = is_there || (list->id[i] == id && (list->mask[i] & direction) != 0);
    if (!is_there)
        pto_bad(c, "pto-ir.bad-fifo", "%s before FIFO %lld is initialised for that direction",
                pto_op_name(c->op->code), (long long)id);
}

static bool reserves(const struct pto_module *m, const struct pto_function *f, strid name)
{
    for (uint32_t i = f->op_first; i < f->op_end; i++) {
        const struct pto_op *op = &m->ops.at[i];
        const struct pto_attr *a =
            op->code == PTO_RESERVE_BUFFER ? pto_op_attr(m, op, PTO_KEY_NAME) : NULL;
        if (a != NULL && a->text == name)
            return true;
    }
    return false;
}

static void check_import(const struct pto_check *c)
{
    const struct pto_attr *name = pto_op_attr(c->m, c->op, PTO_KEY_NAME);
    const struct pto_attr *peer = pto_op_attr(c->m, c->op, PTO_KEY_PEER_FUNC);

    if (name == NULL || name->kind != PTO_ATTR_STRING || peer == NULL ||
        peer->kind != PTO_ATTR_SYMBOL) {
        pto_bad(c, "pto-ir.bad-fifo", "an imported buffer has a name and a peer_func");
        return;
    }
    const struct pto_function *f = pto_find_function(c->m, intern_get(&c->m->names, peer->text));
    if (f == NULL || !reserves(c->m, f, name->text))
        pto_bad(c, "pto-ir.bad-fifo", "@%.*s reserves no buffer \"%.*s\"",
                STR_ARGS(intern_get(&c->m->names, peer->text)),
                STR_ARGS(intern_get(&c->m->names, name->text)));
}

void pto_check_fifos(const struct pto_check *c)
{
    struct fifos list = {.n = 0};

    for (uint32_t i = c->f->op_first; i < c->f->op_end; i++) {
        struct pto_check at = {c->m, c->f, &c->m->ops.at[i]};
        enum pto_opcode code = at.op->code;
        bool is_to_vector = code == PTO_TPUSH_TO_AIV || code == PTO_TPOP_FROM_AIC ||
                            code == PTO_TFREE_FROM_AIC || code == PTO_TALLOC_TO_AIV;
        if (pto_class_of(code) == PTO_CLASS_INIT_FIFO)
            check_initialize(&at, &list);
        else if (code == PTO_IMPORT_RESERVED_BUFFER)
            check_import(&at);
        else if (pto_class_of(code) == PTO_CLASS_FIFO)
            check_use(&at, &list, is_to_vector ? 1 : 2);
    }
}
