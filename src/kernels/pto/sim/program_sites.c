/*
 * Instructions: their pipes, their attributes and the bytes they touch.
 */
#include "kernels/pto/sim/pipes.h"
#include "kernels/pto/sim/program_in.h"

static enum pto_form form_of(const struct pto_compiler *c, const struct pto_op *op)
{
    if (op->code != PTO_TGATHER && op->code != PTO_TSCATTER)
        return PTO_FORM_PLAIN;
    if (pto_op_attr(c->m, op, PTO_KEY_MASK_PATTERN))
        return PTO_FORM_MASK;
    return pto_op_attr(c->m, op, PTO_KEY_CMP_MODE) ? PTO_FORM_COMPARE : PTO_FORM_PLAIN;
}

/* ---- which bytes ---- */

static void add_access(struct pto_compiler *c, struct pto_site *s, const struct pto_use *u,
                       bool is_write, bool is_scratch)
{
    struct pto_access a = {.is_write = is_write, .is_scratch = is_scratch, .root = -1};

    if (u->kind == PTO_SLOT_TILE) {
        const struct pto_tile_fact *f = &c->tiles.at[u->slot];
        a.space = (uint8_t)c->p->tiles.at[u->slot].type.space;
        a.is_known = f->is_known;
        a.lo = f->lo;
        a.hi = f->hi;
    } else if (u->kind == PTO_SLOT_GM) {
        struct pto_range ranges[PTO_RANGES];
        const struct pto_gm *g = &c->p->gms.at[u->slot];
        a.space = PTO_GM;
        a.root = g->root;
        if (c->known_gms.at[u->slot] && g->view.ndim > 0) {
            size_t n = pto_view_ranges(&g->view, ranges);
            a.is_known = n > 0;
            a.lo = n > 0 ? ranges[0].begin : 0;
            a.hi = n > 0 ? ranges[n - 1].end : 0;
        }
    } else {
        return;
    }
    vec_push(&c->p->accesses, a);
    s->access_count++;
}

static void add_accesses(struct pto_compiler *c, const struct pto_op *op, struct pto_site *s)
{
    int32_t tile = 0, scratch = (int32_t)pto_op_facts[op->code].scratch;

    s->access_first = (uint32_t)c->p->accesses.n;
    for (uint32_t i = 0; i < s->use_count; i++) {
        struct pto_use *u = &c->p->uses.at[s->use_first + i];
        bool is_scratch = false;
        if (u->role == PTO_ROLE_IN && u->kind == PTO_SLOT_TILE)
            is_scratch = tile++ == scratch;
        is_scratch |= u->role == PTO_ROLE_BUF;
        u->is_written |= is_scratch;
        /* The destination is also read. */
        if (u->role == PTO_ROLE_OUT &&
            (op->code == PTO_TAXPY || (op->code == PTO_TSTORE && s->attrs.atomic != 0) ||
             op->code == PTO_TFILLPAD_INPLACE))
            u->is_read = true;
        if (u->is_read)
            add_access(c, s, u, false, is_scratch);
        if (u->is_written)
            add_access(c, s, u, true, is_scratch);
    }
}

/* 256-byte repeats of the destination, where its valid shape is known. */
static void count_repeats(struct pto_compiler *c, const struct pto_op *op, struct pto_site *s)
{
    struct pto_slot out = program_role(c, op, PTO_ROLE_OUT, 0);

    if (out.kind != PTO_SLOT_TILE)
        return;
    const struct pto_tile *t = &c->p->tiles.at[out.at];
    int64_t bytes = (int64_t)t->v_row * t->v_col * pto_dtype_size(t->type.dtype);
    s->is_known_repeat = c->tiles.at[out.at].is_valid_known;
    s->repeat = (bytes + 255) / 256;
}

/* Whether every execution finds the operands as the text has them. */
static bool has_fixed_operands(const struct pto_compiler *c, const struct pto_site *s)
{
    for (uint32_t i = 0; i < s->use_count; i++) {
        const struct pto_use *u = &c->p->uses.at[s->use_first + i];
        if (u->kind == PTO_SLOT_GM || u->kind == PTO_SLOT_ARRAY)
            return false;
        if (u->kind == PTO_SLOT_TILE &&
            (!c->tiles.at[u->slot].is_placed || !c->tiles.at[u->slot].is_valid_known))
            return false;
    }
    return pto_class_of(s->code) != PTO_CLASS_FIFO;
}

static void read_attrs(const struct pto_compiler *c, const struct pto_op *op, struct pto_site *s)
{
    const struct pto_module *m = c->m;
    struct pto_attrs *a = &s->attrs;

    *a = PTO_ATTRS;
#define PTO_ATTR(member, type, key) a->member = (type)pto_op_int(m, op, PTO_KEY_##key, a->member);
#include "kernels/pto/text/attrs.def"
#undef PTO_ATTR
}

/* The phase of a product, or of the store of its result, switches the unit flag on. */
static bool has_unit_flag(const struct pto_module *m, const struct pto_op *op)
{
    return pto_op_int(m, op, PTO_KEY_ACC_PHASE, 0) != 0 ||
           pto_op_int(m, op, PTO_KEY_ST_PHASE, 0) != 0;
}

/* ---- which pipes ---- */

static bool is_flag(enum pto_opcode code)
{
    return pto_class_of(code) == PTO_CLASS_FLAG || pto_class_of(code) == PTO_CLASS_FLAG_DYN;
}

/* The number of the FIFO behind the pipe that a lowered operation names; -1: none. */
static int64_t lowered_fifo(const struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_operand *operands = pto_operands(c->m, op);

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct pto_value *v = pto_value_at(c->m, c->frame->f, operands[i].value);
        if (pto_value_type(c->m, c->frame->f, operands[i].value)->kind == PTO_TYPE_PIPE &&
            v->op != PTO_NONE)
            return pto_fifo_number(c->m, &c->m->ops.at[v->op]);
    }
    return -1;
}

/* The operation that a lowered one stands for: by the space of its tile, or by who frees. */
static enum pto_opcode plain_code(const struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot tile = program_kind(c, op, PTO_SLOT_TILE, 0);
    enum pto_space space =
        tile.kind == PTO_SLOT_TILE ? c->p->tiles.at[tile.at].type.space : PTO_ZERO;

    switch (op->code) {
    case PTO_TPUSH:
        return space == PTO_ACC ? PTO_TPUSH_TO_AIV : PTO_TPUSH_TO_AIC;
    case PTO_TPOP:
        return space == PTO_MAT ? PTO_TPOP_FROM_AIV : PTO_TPOP_FROM_AIC;
    case PTO_TFREE:
        return c->p->kind == PTO_KIND_CUBE ? PTO_TFREE_FROM_AIV : PTO_TFREE_FROM_AIC;
    default:
        return op->code;
    }
}

/* Pipes that a core of the program's kind has not. */
static bool is_foreign_pipe(const struct pto_compiler *c, enum pto_pipe pipe)
{
    if (c->p->kind == PTO_KIND_NONE)
        return false;
    return c->p->kind == PTO_KIND_CUBE
               ? pipe == PTO_PIPE_V || pipe == PTO_PIPE_V2
               : pipe == PTO_PIPE_M || pipe == PTO_PIPE_MTE1 || pipe == PTO_PIPE_FIX;
}

static enum status find_phases(struct pto_compiler *c, const struct pto_op *op, struct pto_site *s)
{
    struct pto_phases phases =
        is_flag(op->code) ? pto_flag_pipes(c->m, op) : pto_phases_of(c->m, c->frame->f, op);

    c->p->has_products |= pto_class_of(op->code) == PTO_CLASS_PRODUCT;
    if (pto_class_of(s->code) == PTO_CLASS_FIFO) {
        c->p->has_fifos = true;
        int64_t id =
            s->code == op->code ? pto_op_int(c->m, op, PTO_KEY_ID, 0) : lowered_fifo(c, op);
        if (id < 0 || id >= PTO_FIFOS)
            return program_fail(c, op, "pto-run.fifo", "the number of a FIFO is 0 to %d",
                                PTO_FIFOS - 1);
        s->fifo = (uint8_t)id;
        s->to_vector = s->code == PTO_TPUSH_TO_AIV || s->code == PTO_TPOP_FROM_AIC ||
                       s->code == PTO_TFREE_FROM_AIC || s->code == PTO_TALLOC_TO_AIV;
        s->split = (uint8_t)pto_op_int(c->m, op, PTO_KEY_SPLIT, 0);
    }
    c->p->has_flags |= is_flag(op->code);
    for (uint32_t i = 0; i < phases.n; i++) {
        if (phases.at[i] >= PTO_PIPE_NONE)
            return program_fail(c, op, "pto-run.operand", "names a pipe that does not exist");
        if (is_foreign_pipe(c, phases.at[i]))
            return program_fail(
                c, op, "pto-run.wrong-core", "runs on %s, which %s core does not have",
                pto_pipe_name(phases.at[i]), c->p->kind == PTO_KIND_CUBE ? "a cube" : "a vector");
        s->phases[s->n_phases++] = (uint8_t)phases.at[i];
    }
    if (s->n_phases == 0)
        return program_fail(c, op, "pto-run.operand", "names no pipe");
    return ST_OK;
}

/* Synchronisation of the text hangs on no bytes and is no node of the tree: the inserter does not
 * look at it. */
static bool is_sync(enum pto_opcode code)
{
    return pto_class_of(code) >= PTO_CLASS_FLAG && pto_class_of(code) != PTO_CLASS_TSYNC;
}

/* Entries of a FIFO that are views of its slots in global memory: their rows are contiguous, or as
 * long as two of them where each vector core has its columns. */
static enum status find_view(struct pto_compiler *c, const struct pto_op *op, struct pto_site *s)
{
    bool has_result = op->result_count > 0 && program_result(c, op, 0).kind == PTO_SLOT_GM;

    s->is_view = pto_class_of(s->code) == PTO_CLASS_FIFO &&
                 (has_result || program_kind(c, op, PTO_SLOT_GM, 0).kind == PTO_SLOT_GM);
    if (!s->is_view || !has_result)
        return ST_OK;
    const struct pto_type *type = program_result_type(c, op, 0);
    struct pto_view *v = &c->p->gms.at[s->result].view;
    int64_t stride = 1, width = c->p->kind == PTO_KIND_VECTOR && s->split == 2 ? 2 : 1;

    v->ndim = (int32_t)type->rank;
    bool is_told = type->rank > 0 && type->rank <= PTO_VIEW_RANK;
    for (uint32_t i = type->rank; i-- > 0 && is_told; width = 1) {
        v->shape[i] = type->dims[i];
        v->stride[i] = stride;
        is_told = type->dims[i] > 0 && !__builtin_mul_overflow(stride, type->dims[i], &stride) &&
                  !__builtin_mul_overflow(stride, width, &stride);
    }
    if (!is_told)
        return program_fail(c, op, "pto-run.operand", "the type has to give the whole shape");
    return ST_OK;
}

/* A buffer taken or given back for a pipe that the core does not have: nothing runs there, so
 * nobody ever has to wait for it. */
static bool is_idle_buffer(const struct pto_compiler *c, const struct pto_op *op)
{
    if (pto_class_of(op->code) != PTO_CLASS_BUFFER)
        return false;
    struct pto_phases phases =
        is_flag(op->code) ? pto_flag_pipes(c->m, op) : pto_phases_of(c->m, c->frame->f, op);
    return phases.n == 1 && phases.at[0] < PTO_PIPE_NONE && is_foreign_pipe(c, phases.at[0]);
}

enum status program_compile_site(struct pto_compiler *c, const struct pto_op *op)
{
    if (is_idle_buffer(c, op))
        return ST_OK;
    struct pto_site s = {.code = plain_code(c, op),
                         .op = program_op(c, op),
                         .line = op->line,
                         .col = op->col,
                         .result = PTO_NONE};

    for (uint32_t i = 0; i < op->result_count; i++)
        program_result(c, op, i);
    if (op->result_count > 0) {
        s.result = program_result(c, op, 0).at;
        s.result_dtype = (uint8_t)program_result_type(c, op, 0)->dtype;
    }
    s.form = form_of(c, op);
    read_attrs(c, op, &s);
    s.has_unit_flag = has_unit_flag(c->m, op);
    TRY(find_phases(c, op, &s));
    TRY(find_view(c, op, &s));
    s.use_first = program_uses(c, op, &s.use_count);
    if (op->code == PTO_TPOP) { /* the tile stands among the operands */
        s.result = program_kind(c, op, PTO_SLOT_TILE, 0).at;
        for (uint32_t i = 0; i < s.use_count; i++)
            c->p->uses.at[s.use_first + i].is_read = false;
    }
    add_accesses(c, op, &s);
    if (!s.is_view && (s.code == PTO_TPOP_FROM_AIC || s.code == PTO_TPOP_FROM_AIV)) {
        c->tiles.at[s.result] = c->fifo[s.fifo][s.to_vector];
        struct pto_use made = {
            .slot = s.result, .kind = PTO_SLOT_TILE, .role = PTO_ROLE_OUT, .is_written = true};
        add_access(c, &s, &made, true, false);
    }
    count_repeats(c, op, &s);
    s.is_fixed = has_fixed_operands(c, &s);
    uint32_t node = is_sync(op->code) ? PTO_NONE : program_open(c, PTO_NODE_SITE);
    if (node != PTO_NONE)
        c->p->nodes.at[node].site = (uint32_t)c->p->sites.n;
    program_emit(
        c, (struct pto_step){.code = PTO_STEP_SITE, .a = (uint32_t)c->p->sites.n, .op = s.op});
    vec_push(&c->p->sites, s);
    if (node != PTO_NONE)
        program_close(c, node);
    return ST_OK;
}
