/*
 * Numbers, views and tiles: folded where the text knows all their operands, steps otherwise.
 */
#include <string.h>

#include "kernels/pto/sim/program_in.h"
#include "kernels/pto/values/values.h"

/* ---- numbers ---- */

enum status program_compile_constant(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot s = program_result(c, op, 0);
    enum pto_dtype t = program_result_type(c, op, 0)->dtype;
    const struct pto_attr *value = pto_op_attr(c->m, op, PTO_KEY_VALUE);
    struct pto_number *n = &c->p->numbers.at[s.at];

    if (!value)
        return ST_OK;
    if (pto_dtype_is_float(t))
        n->v.f = pto_round_to(value->kind == PTO_ATTR_FLOAT ? value->f : (double)value->i, t);
    else
        n->v.i = pto_wrap(value->i, t);
    c->known_numbers.at[s.at] = true;
    return ST_OK;
}

/* A number whose operands the text knows is known too. */
static bool fold(struct pto_compiler *c, const struct pto_step *s, uint32_t n_operands)
{
    const uint32_t operands[] = {s->a, s->b, s->c};
    struct pto_number out = {0}, high = {0}, *at = c->p->numbers.at;

    if (pto_class_of((enum pto_opcode)s->code) == PTO_CLASS_EXTENDED)
        return false;
    for (uint32_t i = 0; i < n_operands; i++) {
        if (!c->known_numbers.at[operands[i]])
            return false;
    }
    if (pto_arith((enum pto_opcode)s->code, (enum pto_dtype)s->from, (enum pto_dtype)s->dtype,
                  s->flag, &at[s->a], &at[s->b], &at[s->c], &out, &high) != PTO_ARITH_OK)
        return false;
    at[s->dst] = out;
    c->known_numbers.at[s->dst] = true;
    return true;
}

/* A choice between tiles or pointers is a branch around two copies. */
static enum status compile_select(struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_operand *operands = pto_operands(c->m, op);
    struct pto_slot condition = program_slot_of(c, operands[0].value),
                    to = program_result(c, op, 0);
    struct pto_slot a = program_slot_of(c, operands[1].value),
                    b = program_slot_of(c, operands[2].value);

    if (to.kind == PTO_SLOT_GM && c->p->gms.at[a.at].root == c->p->gms.at[b.at].root)
        c->p->gms.at[to.at].root = c->p->gms.at[a.at].root;
    program_copy(c, a, to);
    uint32_t test = program_unless(c, op, condition), jump = program_jump(c, 0);
    program_land(c, test);
    program_copy(c, b, to);
    program_land(c, jump);
    return ST_OK;
}

enum status program_compile_arith(struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_operand *operands = pto_operands(c->m, op);
    const struct pto_attr *predicate = pto_op_attr(c->m, op, PTO_KEY_PREDICATE);
    uint32_t n = op->operand_count;

    if (n == 0 || n > 3 || op->result_count == 0)
        return program_fail(c, op, "pto-run.operand", "needs 1 to 3 operands and a result");
    if (op->code == PTO_SELECT) {
        if (n != 3)
            return program_fail(c, op, "pto-run.operand", "needs 3 operands");
        if (program_slot_of(c, operands[1].value).kind != PTO_SLOT_NUMBER)
            return compile_select(c, op);
    }
    struct pto_step s = {.code = (uint16_t)op->code,
                         .op = program_op(c, op),
                         .dtype = (uint8_t)program_result_type(c, op, 0)->dtype,
                         .flag = predicate ? (uint8_t)predicate->i : 0,
                         .cycles = pto_arith_is_division(op->code) ? PTO_CYCLES_DIVISION
                                                                   : PTO_CYCLES_PLAIN};
    uint32_t *places[] = {&s.a, &s.b, &s.c};
    for (uint32_t i = 0; i < n; i++) {
        struct pto_slot slot = program_slot_of(c, operands[i].value);
        if (slot.kind != PTO_SLOT_NUMBER)
            return program_fail(c, op, "pto-run.operand", "operand %u is not a number", i + 1);
        *places[i] = slot.at;
    }
    bool is_select = op->code == PTO_SELECT;
    s.from = (uint8_t)pto_value_type(c->m, c->frame->f, operands[is_select ? 1 : 0].value)->dtype;
    s.dst = program_result(c, op, 0).at;
    if (op->result_count > 1)
        s.target = program_result(c, op, 1).at;
    if (n < 2)
        s.b = s.a;
    if (n < 3)
        s.c = s.a;
    if (!fold(c, &s, n))
        program_emit(c, s);
    return ST_OK;
}

/* ---- views ---- */

/* A step whose operands are in the program's uses. */
static struct pto_step *emit_with_uses(struct pto_compiler *c, const struct pto_op *op,
                                       struct pto_slot to)
{
    uint32_t n = 0, first = program_uses(c, op, &n);

    program_emit(
        c,
        (struct pto_step){
            .code = (uint16_t)op->code, .dst = to.at, .a = first, .b = n, .op = program_op(c, op)});
    return &c->p->steps.at[c->p->steps.n - 1];
}

/* The last step's numbers and the view it starts from are known. */
static bool all_known(const struct pto_compiler *c, struct pto_slot from)
{
    const struct pto_step *s = &c->p->steps.at[c->p->steps.n - 1];

    for (uint32_t i = 0; i < s->b; i++) {
        const struct pto_use *u = &c->p->uses.at[s->a + i];
        if (u->kind == PTO_SLOT_NUMBER && !c->known_numbers.at[u->slot])
            return false;
    }
    return c->known_gms.at[from.at];
}

enum status program_compile_view(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot from = program_kind(c, op, PTO_SLOT_GM, 0);
    struct pto_slot to = program_result(c, op, 0);
    uint32_t limit =
        op->code == PTO_MAKE_TENSOR_VIEW ? pto_operand_total(c->m, op, PTO_ROLE_SHAPE) : 0;

    if (from.kind != PTO_SLOT_GM)
        return program_fail(c, op, "pto-run.operand", "needs a pointer or view");
    if (limit > PTO_VIEW_RANK)
        return program_fail(c, op, "pto-run.operand", "has %u dimensions; at most %d", limit,
                            PTO_VIEW_RANK);
    if (from.kind == PTO_SLOT_GM && to.kind == PTO_SLOT_GM)
        c->p->gms.at[to.at].root = c->p->gms.at[from.at].root;
    emit_with_uses(c, op, to);
    if (!all_known(c, from))
        return ST_OK;
    struct pto_step s = c->p->steps.at[c->p->steps.n - 1];
    if (!pto_step_view(c->p, &s,
                       (struct pto_slots){c->p->numbers.at, c->p->tiles.at, c->p->gms.at}))
        return program_fail(c, op, "pto-run.view-shape",
                            "a size or offset is negative or too large");
    c->p->steps.n--; /* the slot is right from the start */
    c->known_gms.at[to.at] = true;
    return ST_OK;
}

/* ---- tiles ---- */

static int64_t bump(struct pto_compiler *c, enum pto_space space, int64_t bytes)
{
    /* Alignment of tiles whose place the text leaves open. */
    int64_t mask = (space == PTO_LEFT || space == PTO_RIGHT || space == PTO_ACC ? 4096 : 256) - 1,
            at = (c->bump[space] + mask) & ~mask;

    c->bump[space] = at + bytes;
    return at;
}

/* Slots of a multi tile; 1 for a tile. */
static uint8_t slots_of(const struct pto_type *type)
{
    return type->kind == PTO_TYPE_MULTI && type->count > 0 && type->count < 256
               ? (uint8_t)type->count
               : 1;
}

/* Bytes of all slots of a tile or multi tile. */
static int64_t footprint(const struct pto_type *type)
{
    int64_t bytes = pto_tile_bytes(&type->tile);

    return bytes < 0 || type->kind != PTO_TYPE_MULTI ? bytes : bytes * type->count;
}

enum status program_compile_alloc(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot to = program_result(c, op, 0);
    const struct pto_type *type = program_result_type(c, op, 0);
    struct pto_slot addr = program_role(c, op, PTO_ROLE_ADDR, 0);
    struct pto_slot row = program_role(c, op, PTO_ROLE_VALID_ROW, 0);
    struct pto_slot col = program_role(c, op, PTO_ROLE_VALID_COL, 0);
    int64_t at = 0, vr = 0, vc = 0, bytes = footprint(type);
    struct pto_tile *t = &c->p->tiles.at[to.at];
    struct pto_tile_fact *fact = &c->tiles.at[to.at];

    if (bytes < 0)
        return program_fail(c, op, "pto-run.tile-shape",
                            "the tile has no size that can be counted");
    if (addr.kind == PTO_SLOT_NONE)
        addr = program_constant(c, bump(c, type->tile.space, bytes));
    fact->is_known = program_is_known(c, addr, &at);
    if (fact->is_known && (at < 0 || at > pto_space_size(c->p->arch, type->tile.space) - bytes))
        return program_fail(c, op, "pto-run.tile-range",
                            "%lld bytes at address %lld leave the %u bytes of %s", (long long)bytes,
                            (long long)at, pto_space_size(c->p->arch, type->tile.space),
                            pto_space_name(type->tile.space));
    fact->is_placed = fact->is_known;
    fact->lo = at;
    fact->hi = at + bytes;
    t->addr = at;
    bool rows = row.kind == PTO_SLOT_NONE || program_is_known(c, row, &vr);
    bool cols = col.kind == PTO_SLOT_NONE || program_is_known(c, col, &vc);
    if (row.kind != PTO_SLOT_NONE && rows)
        t->v_row = (int32_t)vr;
    if (col.kind != PTO_SLOT_NONE && cols)
        t->v_col = (int32_t)vc;
    if ((rows && (t->v_row < 0 || t->v_row > t->type.rows)) ||
        (cols && (t->v_col < 0 || t->v_col > t->type.cols)))
        return program_fail(c, op, "pto-run.tile-shape",
                            "the valid part %dx%d is larger than %dx%d", t->v_row, t->v_col,
                            t->type.rows, t->type.cols);
    fact->is_valid_known = rows && cols && !c->frame->reshaped[op->result_first];
    if (fact->is_known && fact->is_valid_known)
        return ST_OK; /* the slot is right from the start */
    struct pto_step *s = emit_with_uses(c, op, to);
    s->c = addr.at;
    s->flag = slots_of(type);
    return ST_OK;
}

enum status program_compile_subview(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot from = program_kind(c, op, PTO_SLOT_TILE, 0), to = program_result(c, op, 0);
    struct pto_slot row = program_role(c, op, PTO_ROLE_INDEX, 0);
    struct pto_slot col = program_role(c, op, PTO_ROLE_INDEX, 1);
    int64_t r = 0, k = 0;

    if (from.kind != PTO_SLOT_TILE || row.kind != PTO_SLOT_NUMBER || col.kind != PTO_SLOT_NUMBER)
        return program_fail(c, op, "pto-run.operand", "needs a tile and two offsets");
    const struct pto_tile *parent = &c->p->tiles.at[from.at];
    struct pto_tile_fact outer = c->tiles.at[from.at], *fact = &c->tiles.at[to.at];
    struct pto_tile part, *t = &c->p->tiles.at[to.at];
    *fact = outer; /* somewhere in the parent */
    fact->is_valid_known = fact->is_placed = false;
    if (outer.is_placed && parent->type.compact == 0 && program_is_known(c, row, &r) &&
        program_is_known(c, col, &k) &&
        pto_tile_window(parent, r, k, t->type.rows, t->type.cols, &part)) {
        struct pto_range ranges[PTO_RANGES];
        size_t n = pto_tile_ranges(&part, ranges);
        if (n > 0) {
            fact->lo = ranges[0].begin;
            fact->hi = ranges[n - 1].end;
            fact->is_placed = true;
            part.type.v_row = t->type.v_row; /* of the window, not of its parent */
            part.type.v_col = t->type.v_col;
            *t = part;
        }
    }
    emit_with_uses(c, op, to);
    return ST_OK;
}

/* Another type or place for the same bytes. */
enum status program_compile_retyped(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot from = program_kind(c, op, PTO_SLOT_TILE, 0);
    struct pto_slot to =
        op->result_count > 0 ? program_result(c, op, 0) : program_kind(c, op, PTO_SLOT_TILE, 1);

    if (from.kind != PTO_SLOT_TILE || to.kind != PTO_SLOT_TILE)
        return program_fail(c, op, "pto-run.operand", "needs a tile");
    bool is_moved = op->code == PTO_TASSIGN || op->code == PTO_MULTI_TILE_GET;
    const struct pto_operand *first = pto_operands(c->m, op);
    uint8_t slots =
        op->operand_count > 0 ? slots_of(pto_value_type(c->m, c->frame->f, first[0].value)) : 1;
    c->tiles.at[to.at] = c->tiles.at[from.at];
    c->tiles.at[to.at].is_valid_known = false;
    if (op->code == PTO_TASSIGN)
        c->tiles.at[to.at].is_known = false;
    if (is_moved || c->p->tiles.at[from.at].window.rows > 0)
        c->tiles.at[to.at].is_placed = false;
    if (c->tiles.at[to.at].is_placed)
        c->p->tiles.at[to.at].addr = c->p->tiles.at[from.at].addr;
    struct pto_step *s = emit_with_uses(c, op, to);
    s->c = from.at;
    s->flag = slots;
    return ST_OK;
}

/* The ring of a FIFO in the consumer's memory, for both directions. */
static void note_fifo(struct pto_compiler *c, const struct pto_op *op)
{
    int64_t id = pto_op_int(c->m, op, PTO_KEY_ID, 0),
            mask = pto_op_int(c->m, op, PTO_KEY_DIR_MASK, 1);
    int64_t size = pto_op_int(c->m, op, PTO_KEY_SLOT_SIZE, 0);
    int64_t slots = pto_op_int(c->m, op, PTO_KEY_SLOT_NUM, mask == 3 ? 4 : 8);
    int64_t local = pto_op_int(c->m, op, PTO_KEY_LOCAL_SLOT_NUM, slots);

    if (id < 0 || id >= PTO_FIFOS || size < 0 || local < 0 || local > 1024 || size > 1 << 24)
        return;
    for (int to_vector = 0; to_vector < 2; to_vector++) {
        struct pto_slot base = program_role(c, op, to_vector ? PTO_ROLE_C2V : PTO_ROLE_V2C, 0);
        struct pto_tile_fact *f = &c->fifo[id][to_vector];
        f->is_known = program_is_known(c, base, &f->lo);
        f->hi = f->lo + size * local;
    }
}

enum status program_compile_simple(struct pto_compiler *c, const struct pto_op *op)
{
    enum pto_class class = pto_class_of(op->code);

    for (uint32_t i = 0; i < op->result_count; i++)
        program_result(c, op, i);
    if (class == PTO_CLASS_INIT_FIFO)
        note_fifo(c, op);
    emit_with_uses(c, op, op->result_count > 0 ? program_result(c, op, 0) : (struct pto_slot){0});
    c->p->steps.at[c->p->steps.n - 1].cycles =
        class == PTO_CLASS_ARRAY_GET || class == PTO_CLASS_ARRAY_SET || class == PTO_CLASS_MEMBER
            ? PTO_CYCLES_PLAIN
            : PTO_CYCLES_NONE;
    return ST_OK;
}

/* Where a reserved buffer is. Those whose place is left open lie at the end of their space, where
 * tiles without an address, which begin at its start, do not come. */
static int64_t reserved_base(const struct pto_compiler *c, const struct pto_function *f,
                             const struct pto_op *wanted)
{
    int64_t space = pto_op_int(c->m, wanted, PTO_KEY_LOCATION, PTO_VEC);
    int64_t at = space > 0 && space < PTO_SPACE_COUNT
                     ? pto_space_size(c->p->arch, (enum pto_space)space)
                     : 0;

    if (pto_op_attr(c->m, wanted, PTO_KEY_BASE))
        return pto_op_int(c->m, wanted, PTO_KEY_BASE, 0);
    for (const struct pto_op *o = &c->m->ops.at[f->op_first]; o <= wanted; o++) {
        if (o->code != PTO_RESERVE_BUFFER || pto_op_attr(c->m, o, PTO_KEY_BASE) ||
            pto_op_int(c->m, o, PTO_KEY_LOCATION, PTO_VEC) != space)
            continue;
        int64_t size = pto_op_int(c->m, o, PTO_KEY_SIZE, 0);
        at = size < 0 || size > at ? 0 : (at - size) & ~INT64_C(255);
    }
    return at;
}

/* The buffer a consumer keeps for a FIFO; its producer imports the same number. */
enum status program_compile_reserve(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot to = program_result(c, op, 0);
    const struct pto_function *f = c->frame->f;
    const struct pto_op *from = op;

    if (op->code == PTO_IMPORT_RESERVED_BUFFER) {
        const struct pto_attr *peer = pto_op_attr(c->m, op, PTO_KEY_PEER_FUNC);
        const struct pto_attr *name = pto_op_attr(c->m, op, PTO_KEY_NAME);
        f = peer ? pto_find_function(c->m, intern_get(&c->m->names, peer->text)) : NULL;
        from = NULL;
        for (uint32_t i = f ? f->op_first : 0; f && name && i < f->op_end && !from; i++) {
            const struct pto_op *o = &c->m->ops.at[i];
            const struct pto_attr *n = pto_op_attr(c->m, o, PTO_KEY_NAME);
            if (o->code == PTO_RESERVE_BUFFER && n && n->text == name->text)
                from = o;
        }
        if (!from)
            return program_fail(c, op, "pto-run.fifo", "the peer reserves no buffer of that name");
    }
    c->p->numbers.at[to.at].v.i = reserved_base(c, f, from);
    c->known_numbers.at[to.at] = true;
    return ST_OK;
}
