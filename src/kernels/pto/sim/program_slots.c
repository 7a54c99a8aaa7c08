/* Where values live in a program, and the steps and nodes that are appended to it. */
#include "kernels/pto/sim/program_in.h"

/* ---- slots ---- */

struct pto_slot program_number(struct pto_compiler *c)
{
    vec_push(&c->p->numbers, ((struct pto_number){0}));
    vec_push(&c->known_numbers, false);
    return (struct pto_slot){PTO_SLOT_NUMBER, (uint32_t)(c->p->numbers.n - 1)};
}

struct pto_slot program_constant(struct pto_compiler *c, int64_t value)
{
    struct pto_slot s = program_number(c);

    c->p->numbers.at[s.at].v.i = value;
    c->known_numbers.at[s.at] = true;
    return s;
}

struct pto_slot program_tile(struct pto_compiler *c, struct pto_tile tile)
{
    vec_push(&c->p->tiles, tile);
    vec_push(&c->tiles, ((struct pto_tile_fact){0}));
    return (struct pto_slot){PTO_SLOT_TILE, (uint32_t)(c->p->tiles.n - 1)};
}

struct pto_slot program_gm(struct pto_compiler *c, struct pto_gm gm)
{
    vec_push(&c->p->gms, gm);
    vec_push(&c->known_gms, false);
    return (struct pto_slot){PTO_SLOT_GM, (uint32_t)(c->p->gms.n - 1)};
}

static struct pto_slot new_array(struct pto_compiler *c, const struct pto_type *type)
{
    struct pto_array a = {.dtype = (uint8_t)type->dtype, .rank = type->rank, .count = 1};
    size_t n = c->p->arrays.n;

    if (n > 0)
        a.first = c->p->arrays.at[n - 1].first + c->p->arrays.at[n - 1].count;
    if (type->kind != PTO_TYPE_ARRAY) { /* events, struct: one row of members */
        a.rank = 1;
        a.dims[0] = a.count = type->count > 0 ? (uint32_t)type->count : 1;
        a.dtype = PTO_I64;
        if (a.count > PTO_ARRAY_ELEMENTS)
            a.count = PTO_ARRAY_ELEMENTS + 1;
    }
    for (uint32_t i = 0; type->kind == PTO_TYPE_ARRAY && i < type->rank; i++) {
        a.dims[i] = type->dims[i] > 0 ? type->dims[i] : 1;
        a.count = a.dims[i] > PTO_ARRAY_ELEMENTS / a.count ? PTO_ARRAY_ELEMENTS + 1
                                                           : a.count * (uint32_t)a.dims[i];
    }
    if (a.first + a.count > PTO_ARRAY_ELEMENTS) { /* told when compiled */
        a.count = 0;
        c->has_large_arrays = true;
    }
    vec_push(&c->p->arrays, a);
    return (struct pto_slot){PTO_SLOT_ARRAY, (uint32_t)n};
}

struct pto_slot program_slot(struct pto_compiler *c, const struct pto_type *type)
{
    switch (type->kind) {
    case PTO_TYPE_SCALAR:
        return program_number(c);
    case PTO_TYPE_TILE:
    case PTO_TYPE_MULTI:
        return program_tile(c, pto_tile_make(&type->tile, NULL, 0, 0));
    case PTO_TYPE_PTR:
    case PTO_TYPE_VIEW:
    case PTO_TYPE_PART:
        return program_gm(c, (struct pto_gm){.view = {.dtype = type->dtype}, .root = -1});
    case PTO_TYPE_ARRAY:
    case PTO_TYPE_EVENTS:
    case PTO_TYPE_STRUCT:
        return new_array(c, type);
    default:
        return program_number(c); /* sessions, pipes: a number that nobody computes with */
    }
}

struct pto_slot program_role(const struct pto_compiler *c, const struct pto_op *op,
                             enum pto_role role, uint32_t nth)
{
    uint32_t value = pto_operand_nth(c->m, op, role, nth);
    struct pto_slot none = {0};

    return value == PTO_NONE ? none : program_slot_of(c, value);
}

struct pto_slot program_kind(const struct pto_compiler *c, const struct pto_op *op,
                             enum pto_slot_kind kind, uint32_t nth)
{
    const struct pto_operand *operands = pto_operands(c->m, op);

    for (uint32_t i = 0; i < op->operand_count; i++) {
        struct pto_slot s = program_slot_of(c, operands[i].value);
        if (s.kind == kind && nth-- == 0)
            return s;
    }
    return (struct pto_slot){0};
}

const struct pto_type *program_result_type(const struct pto_compiler *c, const struct pto_op *op,
                                           uint32_t nth)
{
    return pto_value_type(c->m, c->frame->f, op->result_first + nth);
}

struct pto_slot program_result(struct pto_compiler *c, const struct pto_op *op, uint32_t nth)
{
    struct pto_slot *s = &c->frame->slots[op->result_first + nth];

    if (s->kind == PTO_SLOT_NONE)
        *s = program_slot(c, program_result_type(c, op, nth));
    return *s;
}

bool program_is_known(const struct pto_compiler *c, struct pto_slot number, int64_t *value)
{
    if (number.kind != PTO_SLOT_NUMBER || !c->known_numbers.at[number.at])
        return false;
    *value = c->p->numbers.at[number.at].v.i;
    return true;
}

uint32_t program_uses(struct pto_compiler *c, const struct pto_op *op, uint32_t *count)
{
    const struct pto_operand *operands = pto_operands(c->m, op);
    uint32_t first = (uint32_t)c->p->uses.n;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        struct pto_slot s = program_slot_of(c, operands[i].value);
        bool is_out = operands[i].role == PTO_ROLE_OUT || operands[i].role == PTO_ROLE_DST;
        struct pto_use u = {
            .slot = s.at,
            .kind = s.kind,
            .role = (uint8_t)operands[i].role,
            .is_read = !is_out,
            .is_written = is_out,
            .dtype = (uint8_t)pto_value_type(c->m, c->frame->f, operands[i].value)->dtype};
        if (s.kind == PTO_SLOT_TILE) {
            u.bytes = (int32_t)pto_tile_bytes(&c->p->tiles.at[s.at].type);
            u.element = (int32_t)pto_dtype_size(c->p->tiles.at[s.at].type.dtype);
        }
        vec_push(&c->p->uses, u);
    }
    *count = op->operand_count;
    return first;
}

/* ---- steps and nodes ---- */

uint32_t program_emit(struct pto_compiler *c, struct pto_step step)
{
    vec_push(&c->p->steps, step);
    return (uint32_t)(c->p->steps.n - 1);
}

uint32_t program_jump(struct pto_compiler *c, uint32_t target)
{
    return program_emit(c, (struct pto_step){.code = PTO_STEP_JUMP, .target = target});
}

uint32_t program_unless(struct pto_compiler *c, const struct pto_op *op, struct pto_slot condition)
{
    return program_emit(
        c, (struct pto_step){.code = PTO_STEP_UNLESS, .a = condition.at, .op = program_op(c, op)});
}

void program_copy(struct pto_compiler *c, struct pto_slot from, struct pto_slot to)
{
    static const uint16_t codes[] = {[PTO_SLOT_NUMBER] = PTO_STEP_COPY,
                                     [PTO_SLOT_TILE] = PTO_STEP_COPY_TILE,
                                     [PTO_SLOT_GM] = PTO_STEP_COPY_GM};

    if (from.kind != to.kind || from.kind == PTO_SLOT_NONE || from.kind == PTO_SLOT_ARRAY)
        return;
    program_emit(c, (struct pto_step){.code = codes[from.kind], .dst = to.at, .a = from.at});
}

uint32_t program_open(struct pto_compiler *c, enum pto_node_kind kind)
{
    uint32_t node = (uint32_t)c->p->nodes.n;
    struct pto_node n = {.kind = kind,
                         .parent = c->arm,
                         .next = PTO_NONE,
                         .previous = PTO_NONE,
                         .child = PTO_NONE,
                         .last = PTO_NONE,
                         .site = PTO_NONE,
                         .first_step = program_here(c),
                         .before = PTO_NONE,
                         .after = PTO_NONE};

    if (c->arm != PTO_NONE) {
        struct pto_node *parent = &c->p->nodes.at[c->arm];
        n.previous = parent->last;
        if (parent->last != PTO_NONE)
            c->p->nodes.at[parent->last].next = node;
        else
            parent->child = node;
        parent->last = node;
    }
    vec_push(&c->p->nodes, n);
    c->arm = node;
    return node;
}

void program_close(struct pto_compiler *c, uint32_t node)
{
    c->p->nodes.at[node].end_step = program_here(c);
    c->arm = c->p->nodes.at[node].parent;
}
