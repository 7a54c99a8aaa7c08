/*
 * The compiler: control flow becomes jumps, calls are copied in.
 */
#include "kernels/pto/sim/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/pto/sim/program_in.h"

enum {
    MAX_CALLS = 16,        /* calls within calls */
    MAX_STEPS = 1 << 22,   /* of one program; also its values */
    SYNC_WORK = 200000000, /* comparisons of the inserter */
};

void pto_program_free(struct pto_program *p)
{
    vec_free(&p->steps);
    vec_free(&p->sites);
    vec_free(&p->uses);
    vec_free(&p->accesses);
    vec_free(&p->nodes);
    vec_free(&p->syncs);
    vec_free(&p->numbers);
    vec_free(&p->tiles);
    vec_free(&p->gms);
    vec_free(&p->arrays);
    vec_free(&p->arg_slots);
    memset(p, 0, sizeof(*p));
}

/* Empties a program and keeps its memory. */
static void reset(struct pto_program *p)
{
    p->steps.n = p->sites.n = p->uses.n = p->accesses.n = p->nodes.n = p->syncs.n = 0;
    p->numbers.n = p->tiles.n = p->gms.n = p->arrays.n = p->arg_slots.n = 0;
    vec_reserve(&p->uses, 1); /* those of an instruction without any have an address, too */
    p->gm_shared = 0;
    p->has_flags = p->is_flagged;
    p->has_jumps = p->has_fifos = p->has_products = p->has_scalar_gm = false;
    p->n_unfilled = 0;
}

enum status program_fail(struct pto_compiler *c, const struct pto_op *op, const char *code,
                         const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return diag_fail(c->diag, ST_UNSUPPORTED, code, (struct where){c->path, op->line, 0}, "%s: %s",
                     pto_op_name(op->code), text);
}

/* ---- control flow ---- */

static enum status compile_block(struct pto_compiler *c, const struct pto_block *block,
                                 struct pto_target to);

/* All values are read before any is written: a loop may hand its values on crosswise. */
static void emit_copies(struct pto_compiler *c, const struct pto_slot *from,
                        const struct pto_slot *to, uint32_t n)
{
    struct pto_slot *kept = ARENA_ARRAY(&c->arena, struct pto_slot, n + 1);
    bool is_crossed = false;

    for (uint32_t i = 1; i < n && !is_crossed; i++) {
        for (uint32_t j = 0; j < i; j++)
            is_crossed |= from[i].kind == to[j].kind && from[i].at == to[j].at;
    }
    for (uint32_t i = 0; i < n; i++) {
        kept[i] = from[i];
        if (!is_crossed || from[i].kind == PTO_SLOT_NONE || from[i].kind == PTO_SLOT_ARRAY)
            continue;
        if (from[i].kind == PTO_SLOT_NUMBER)
            kept[i] = program_number(c);
        else if (from[i].kind == PTO_SLOT_TILE)
            kept[i] = program_tile(c, c->p->tiles.at[from[i].at]);
        else
            kept[i] = program_gm(c, c->p->gms.at[from[i].at]);
        program_copy(c, from[i], kept[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        program_copy(c, kept[i], to[i]);
}

/* Slots for consecutive values: block arguments, results. */
static struct pto_slot *value_slots(struct pto_compiler *c, uint32_t first, uint32_t n)
{
    struct pto_slot *slots = &c->frame->slots[first];

    for (uint32_t i = 0; i < n; i++) {
        if (slots[i].kind == PTO_SLOT_NONE)
            slots[i] = program_slot(c, pto_value_type(c->m, c->frame->f, first + i));
    }
    return slots;
}

/* The slots of all operands with a role. */
static struct pto_slot *operand_slots(struct pto_compiler *c, const struct pto_op *op,
                                      enum pto_role role, uint32_t *n)
{
    *n = pto_operand_total(c->m, op, role);
    struct pto_slot *slots = ARENA_ARRAY(&c->arena, struct pto_slot, *n + 1);
    for (uint32_t i = 0; i < *n; i++)
        slots[i] = program_role(c, op, role, i);
    return slots;
}

/* A value that goes around a loop or out of a branch is where its first copy was, unless the
 * copies differ: what the text tells of it is kept only for the pointer it comes from. */
static void keep_roots(const struct pto_compiler *c, const struct pto_slot *from,
                       const struct pto_slot *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (from[i].kind == PTO_SLOT_GM && to[i].kind == PTO_SLOT_GM)
            c->p->gms.at[to[i].at].root = c->p->gms.at[from[i].at].root;
    }
}

/* head: FOR leaves when iv >= upper; body; NEXT adds the step and goes to the head. A carried
 * value has one slot for all rounds, which the yield writes and the results are copied from. */
static enum status compile_for(struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_block *body = pto_op_block(c->m, op, 0);
    uint32_t n_init = 0;
    struct pto_slot lower = program_role(c, op, PTO_ROLE_LOWER, 0);
    struct pto_slot upper = program_role(c, op, PTO_ROLE_UPPER, 0);
    struct pto_slot step = program_role(c, op, PTO_ROLE_STEP, 0);
    struct pto_slot *init = operand_slots(c, op, PTO_ROLE_INIT, &n_init);
    int64_t by = 0;

    if (!body || body->arg_count != n_init + 1 || op->result_count != n_init ||
        lower.kind != PTO_SLOT_NUMBER || upper.kind != PTO_SLOT_NUMBER ||
        step.kind != PTO_SLOT_NUMBER)
        return program_fail(c, op, "pto-run.operand",
                            "a loop needs a body with one value per iter_arg");
    if (program_is_known(c, step, &by) && by <= 0)
        return program_fail(c, op, "pto-run.endless", "the step is %lld: the loop never ends",
                            (long long)by);
    uint32_t node = program_open(c, PTO_NODE_LOOP);
    struct pto_slot *args = value_slots(c, body->arg_first, body->arg_count);
    keep_roots(c, init, args + 1, n_init);
    program_copy(c, lower, args[0]);
    emit_copies(c, init, args + 1, n_init);
    uint32_t head = program_emit(c, (struct pto_step){.code = PTO_STEP_FOR,
                                                      .a = args[0].at,
                                                      .b = upper.at,
                                                      .c = step.at,
                                                      .op = program_op(c, op)});
    TRY(compile_block(c, body, (struct pto_target){args + 1, n_init}));
    const struct pto_op *end = pto_last_op(c->m, body);
    if (end && end->code == PTO_YIELD) {
        uint32_t n = 0;
        struct pto_slot *handed = operand_slots(c, end, PTO_ROLE_ARG, &n);
        program_mix_roots(c, handed, args + 1, n < n_init ? n : n_init);
    }
    program_emit(c, (struct pto_step){.code = PTO_STEP_NEXT,
                                      .a = args[0].at,
                                      .c = step.at,
                                      .target = head,
                                      .op = program_op(c, op)});
    program_land(c, head);
    program_close(c, node);
    struct pto_slot *results = value_slots(c, op->result_first, op->result_count);
    keep_roots(c, args + 1, results, n_init);
    emit_copies(c, args + 1, results, n_init);
    return ST_OK;
}

/* One region of a branch, with its jump to the end (to be filled in by the caller). */
static enum status compile_arm(struct pto_compiler *c, const struct pto_block *block,
                               struct pto_target to, uint32_t *jump)
{
    uint32_t arm = program_open(c, PTO_NODE_ARM);

    if (block)
        TRY(compile_block(c, block, to));
    *jump = program_jump(c, 0);
    program_close(c, arm);
    return ST_OK;
}

static enum status compile_if(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot condition = program_role(c, op, PTO_ROLE_CONDITION, 0);
    struct pto_target to = {value_slots(c, op->result_first, op->result_count), op->result_count};
    uint32_t node = program_open(c, PTO_NODE_IF), taken = 0, other = 0;
    uint32_t test = program_unless(c, op, condition);

    TRY(compile_arm(c, pto_op_block(c->m, op, 0), to, &taken));
    program_land(c, test);
    if (op->region_count > 1) {
        TRY(compile_arm(c, pto_op_block(c->m, op, 1), to, &other));
        program_land(c, other);
    }
    program_land(c, taken);
    program_close(c, node);
    return ST_OK;
}

static enum status compile_switch(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot value = program_kind(c, op, PTO_SLOT_NUMBER, 0);
    struct pto_target to = {value_slots(c, op->result_first, op->result_count), op->result_count};
    const struct pto_attr *cases = pto_op_attr(c->m, op, PTO_KEY_CASES);
    uint32_t n = op->region_count, node = program_open(c, PTO_NODE_IF);
    uint32_t *jumps = ARENA_ARRAY(&c->arena, uint32_t, n + 1);

    /* the first region is the default, which comes last */
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t test = 0, region = i < n ? i : 0;
        if (region > 0) {
            struct pto_slot wanted =
                program_constant(c, pto_attr_nth(c->m, cases, i - 1, INT64_MIN));
            struct pto_slot equal = program_number(c);
            program_emit(c, (struct pto_step){.code = PTO_CMPI,
                                              .dtype = PTO_I1,
                                              .from = PTO_INDEX,
                                              .cycles = PTO_CYCLES_PLAIN,
                                              .dst = equal.at,
                                              .a = value.at,
                                              .b = wanted.at});
            test = program_unless(c, op, equal);
        }
        TRY(compile_arm(c, pto_op_block(c->m, op, region), to, &jumps[region]));
        if (region > 0)
            program_land(c, test);
    }
    for (uint32_t i = 0; i < n; i++)
        program_land(c, jumps[i]);
    program_close(c, node);
    return ST_OK;
}

/* The condition is part of every round, the body is a branch of it: so every round meets the same
 * places, where synchronisation may hang, the last one too. */
static enum status compile_while(struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_block *before = pto_op_block(c->m, op, 0), *body = pto_op_block(c->m, op, 1);
    uint32_t n_init = 0, n_args = 0;
    struct pto_slot *init = operand_slots(c, op, PTO_ROLE_INIT, &n_init);
    const struct pto_op *test = before ? pto_last_op(c->m, before) : NULL;

    if (!body || !test || test->code != PTO_CONDITION || before->arg_count != n_init)
        return program_fail(c, op, "pto-run.operand", "needs a condition and a body");
    uint32_t node = program_open(c, PTO_NODE_LOOP);
    struct pto_slot *args = value_slots(c, before->arg_first, before->arg_count);
    program_jump(c, program_here(c) + 1);
    emit_copies(c, init, args, n_init);
    uint32_t head = program_here(c);
    TRY(compile_block(c, before, (struct pto_target){0}));
    struct pto_slot *handed = operand_slots(c, test, PTO_ROLE_ARG, &n_args);
    if (body->arg_count != n_args || op->result_count != n_args)
        return program_fail(c, test, "pto-run.operand", "the condition hands over %u values",
                            n_args);
    struct pto_slot *inner = value_slots(c, body->arg_first, body->arg_count);
    struct pto_slot *results = value_slots(c, op->result_first, op->result_count);
    emit_copies(c, handed, results, n_args);
    struct pto_slot condition = program_role(c, test, PTO_ROLE_CONDITION, 0);
    uint32_t branch = program_open(c, PTO_NODE_IF);
    uint32_t skip = program_unless(c, op, condition), arm = program_open(c, PTO_NODE_ARM);
    emit_copies(c, handed, inner, n_args);
    TRY(compile_block(c, body, (struct pto_target){args, n_init}));
    program_close(c, arm);
    program_land(c, skip);
    program_close(c, branch);
    uint32_t leave = program_unless(c, op, condition);
    program_jump(c, head);
    program_land(c, leave);
    program_close(c, node);
    return ST_OK;
}

static enum status compile_body(struct pto_compiler *c, const struct pto_function *f)
{
    const struct pto_region *body = &c->m->regions.at[f->region];

    for (uint32_t i = 0; i < body->block_count; i++) {
        vec_push(&c->frame->labels, program_here(c));
        value_slots(c, c->m->blocks.at[body->block_first + i].arg_first,
                    i > 0 ? c->m->blocks.at[body->block_first + i].arg_count : 0);
        TRY(compile_block(c, &c->m->blocks.at[body->block_first + i], (struct pto_target){0}));
    }
    for (size_t i = 0; i < c->frame->jumps.n; i++) {
        uint32_t block = c->frame->jumps.at[i].block - body->block_first;
        if (block >= c->frame->labels.n)
            return program_fail(c, &c->m->ops.at[f->op_first], "pto-run.unsupported",
                                "the function has jumps between blocks inside a region");
        c->p->steps.at[c->frame->jumps.at[i].step].target = c->frame->labels.at[block];
    }
    for (size_t i = 0; i < c->frame->returns.n; i++)
        program_land(c, c->frame->returns.at[i]);
    return ST_OK;
}

static void fill_frame(struct pto_compiler *c, struct pto_frame *frame)
{
    const struct pto_function *f = frame->f;

    frame->slots = ARENA_ARRAY(&c->arena, struct pto_slot, f->value_count + 1);
    frame->reshaped = ARENA_ARRAY(&c->arena, bool, f->value_count + 1);
    for (uint32_t i = f->op_first; i < f->op_end; i++) {
        const struct pto_op *op = &c->m->ops.at[i];
        if (op->code == PTO_SET_VALIDSHAPE && op->operand_count > 0)
            frame->reshaped[pto_operands(c->m, op)[0].value] = true;
    }
}

static void free_frame(struct pto_frame *f)
{
    vec_free(&f->returns);
    vec_free(&f->labels);
    vec_free(&f->jumps);
}

static enum status compile_call(struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_attr *name = pto_op_attr(c->m, op, PTO_KEY_CALLEE);
    const struct pto_function *f =
        name ? pto_find_function(c->m, intern_get(&c->m->names, name->text)) : NULL;
    uint32_t n_args = 0;
    struct pto_slot *args = operand_slots(c, op, PTO_ROLE_ARG, &n_args);

    if (f && f->kind != PTO_KIND_NONE && c->p->kind != PTO_KIND_NONE && f->kind != c->p->kind &&
        op->result_count == 0)
        return ST_OK; /* the other core runs it */
    if (!f || !f->has_body)
        return program_fail(c, op, "pto-run.call", "the function called has no body here");
    if (f->arg_count != n_args || f->result_count != op->result_count)
        return program_fail(c, op, "pto-run.call", "%u arguments for a function of %u", n_args,
                            f->arg_count);
    if (c->frame->depth >= MAX_CALLS)
        return program_fail(c, op, "pto-run.recursion", "calls are nested more than %d deep",
                            MAX_CALLS);
    c->n_values += f->value_count;
    if (c->n_values > MAX_STEPS)
        return program_fail(c, op, "pto-run.too-large",
                            "more than %d values after copying in all calls", MAX_STEPS);
    struct pto_frame frame = {.f = f,
                              .caller = c->frame,
                              .depth = c->frame->depth + 1,
                              .results = value_slots(c, op->result_first, op->result_count)};
    fill_frame(c, &frame);
    c->frame = &frame;
    struct pto_slot *own = value_slots(c, 0, f->arg_count);
    keep_roots(c, args, own, n_args);
    emit_copies(c, args, own, n_args);
    enum status status = compile_body(c, f);
    c->frame = (struct pto_frame *)frame.caller;
    free_frame(&frame);
    return status;
}

static enum status compile_return(struct pto_compiler *c, const struct pto_op *op)
{
    uint32_t n = 0;
    struct pto_slot *values = operand_slots(c, op, PTO_ROLE_ARG, &n);

    if (c->frame->results && n == c->frame->f->result_count)
        emit_copies(c, values, c->frame->results, n);
    vec_push(&c->frame->returns, program_jump(c, 0));
    return ST_OK;
}

static void jump_to(struct pto_compiler *c, const struct pto_op *op, uint32_t nth)
{
    const struct pto_successor *s = &c->m->successors.at[op->successor_first + nth];
    const struct pto_block *block = &c->m->blocks.at[s->block];
    struct pto_slot *from = ARENA_ARRAY(&c->arena, struct pto_slot, s->arg_count + 1);
    const struct pto_operand *operands = pto_operands(c->m, op);

    for (uint32_t i = 0; i < s->arg_count && s->arg_first + i < op->operand_count; i++)
        from[i] = program_slot_of(c, operands[s->arg_first + i].value);
    if (s->arg_count == block->arg_count)
        emit_copies(c, from, value_slots(c, block->arg_first, block->arg_count), s->arg_count);
    uint32_t step = program_jump(c, 0);
    vec_push(&c->frame->jumps, ((struct pto_jump){step, s->block}));
}

static enum status compile_branch(struct pto_compiler *c, const struct pto_op *op)
{
    c->p->has_jumps = true;
    if (op->code == PTO_COND_BR) {
        uint32_t test = program_unless(c, op, program_role(c, op, PTO_ROLE_CONDITION, 0));
        jump_to(c, op, 0);
        program_land(c, test);
    }
    jump_to(c, op, op->code == PTO_COND_BR);
    return ST_OK;
}

static enum status compile_yield(struct pto_compiler *c, const struct pto_op *op)
{
    uint32_t n = 0;
    struct pto_slot *values = operand_slots(c, op, PTO_ROLE_ARG, &n);

    if (n == c->target.count)
        emit_copies(c, values, c->target.slots, n);
    return ST_OK;
}

/* Read by the loop around it. */
static enum status compile_condition(struct pto_compiler *c, const struct pto_op *op)
{
    (void)c, (void)op;
    return ST_OK;
}

/* Sections of the other core are left out. */
static enum status compile_region(struct pto_compiler *c, const struct pto_op *op)
{
    const struct pto_block *block = pto_op_block(c->m, op, 0);
    bool is_cube = op->code == PTO_SECTION_CUBE;

    bool is_others = pto_class_of(op->code) == PTO_CLASS_SECTION && c->p->kind != PTO_KIND_NONE &&
                     is_cube != (c->p->kind == PTO_KIND_CUBE);

    if (!block || is_others)
        return ST_OK;
    return compile_block(
        c, block,
        (struct pto_target){value_slots(c, op->result_first, op->result_count), op->result_count});
}

/* A pointer made of a number points to a buffer nobody knows; a pointer as a number is 0. */
static enum status compile_foreign(struct pto_compiler *c, const struct pto_op *op)
{
    struct pto_slot to = program_result(c, op, 0);

    if (to.kind == PTO_SLOT_GM)
        c->p->gms.at[to.at].root = -1;
    return ST_OK;
}

/* FIFOs in their lowered forms: the pipe is a value. */
static enum status compile_lowered(struct pto_compiler *c, const struct pto_op *op)
{
    switch (op->code) {
    case PTO_INITIALIZE_L2G2L_PIPE:
    case PTO_INITIALIZE_L2L_PIPE:
        return program_compile_simple(c, op);
    case PTO_TPUSH:
    case PTO_TPOP:
    case PTO_TFREE:
        return program_compile_site(c, op);
    default:
        return program_fail(c, op, "pto-run.unsupported",
                            "the simulator executes lowered FIFOs whose entries are tiles only");
    }
}

/* By class; instructions, which come last, are sites. */
static program_fn *const compilers[PTO_CLASS_SITE] = {
    [PTO_CLASS_FOR] = compile_for,
    [PTO_CLASS_IF] = compile_if,
    [PTO_CLASS_WHILE] = compile_while,
    [PTO_CLASS_SWITCH] = compile_switch,
    [PTO_CLASS_YIELD] = compile_yield,
    [PTO_CLASS_CONDITION] = compile_condition,
    [PTO_CLASS_EXECUTE] = compile_region,
    [PTO_CLASS_FUSION] = compile_region,
    [PTO_CLASS_SECTION] = compile_region,
    [PTO_CLASS_BRANCH] = compile_branch,
    [PTO_CLASS_CALL] = compile_call,
    [PTO_CLASS_RETURN] = compile_return,
    [PTO_CLASS_CONSTANT] = program_compile_constant,
    [PTO_CLASS_INT] = program_compile_arith,
    [PTO_CLASS_DIVISION] = program_compile_arith,
    [PTO_CLASS_EXTENDED] = program_compile_arith,
    [PTO_CLASS_FLOAT] = program_compile_arith,
    [PTO_CLASS_SELECT] = program_compile_arith,
    [PTO_CLASS_CAST] = program_compile_arith,
    [PTO_CLASS_VIEW] = program_compile_view,
    [PTO_CLASS_PART] = program_compile_view,
    [PTO_CLASS_POINTER] = program_compile_view,
    [PTO_CLASS_ALLOC] = program_compile_alloc,
    [PTO_CLASS_SUBVIEW] = program_compile_subview,
    [PTO_CLASS_VALID] = program_compile_simple,
    [PTO_CLASS_SLOT] = program_compile_retyped,
    [PTO_CLASS_RETYPE] = program_compile_retyped,
    [PTO_CLASS_ASSIGN] = program_compile_retyped,
    [PTO_CLASS_ARRAY_GET] = program_compile_simple,
    [PTO_CLASS_ARRAY_SET] = program_compile_simple,
    [PTO_CLASS_MEMBER] = program_compile_simple,
    [PTO_CLASS_RESERVE] = program_compile_reserve,
    [PTO_CLASS_INIT_FIFO] = program_compile_simple,
    [PTO_CLASS_STEP] = program_compile_simple,
    [PTO_CLASS_FOREIGN] = compile_foreign,
    [PTO_CLASS_FOREIGN_FIFO] = compile_lowered,
};

static enum status compile_block(struct pto_compiler *c, const struct pto_block *block,
                                 struct pto_target to)
{
    struct pto_target outer = c->target;

    for (uint32_t i = block->op_first; i < block->op_end; i = c->m->ops.at[i].next) {
        const struct pto_op *op = &c->m->ops.at[i];
        enum pto_class class = pto_class_of(op->code);
        c->target = to;
        TRY((class < PTO_CLASS_SITE ? compilers[class] : program_compile_site)(c, op));
        if (c->p->steps.n > MAX_STEPS)
            return program_fail(c, op, "pto-run.too-large",
                                "more than %d steps after copying in all calls", MAX_STEPS);
    }
    c->target = outer;
    return ST_OK;
}

static void init_args(struct pto_compiler *c)
{
    const struct pto_function *f = c->frame->f;

    for (uint32_t i = 0; i < f->arg_count; i++) {
        struct pto_slot *s = value_slots(c, i, 1);
        if (s->kind == PTO_SLOT_GM) {
            c->p->gms.at[s->at].root = (int32_t)i;
            c->known_gms.at[s->at] = true; /* the beginning of its buffer */
        }
        vec_push(&c->p->arg_slots, s->at);
    }
}

enum status pto_program_compile(struct pto_program *p, const struct pto_module *m,
                                const struct pto_function *f, enum pto_kind kind,
                                enum pto_arch arch, bool is_synchronised, const char *path,
                                struct diag *diag)
{
    struct pto_compiler c = {.p = p, .m = m, .path = path, .diag = diag, .arm = PTO_NONE};
    struct pto_frame frame = {.f = f};

    reset(p);
    p->module = m;
    p->function = f;
    p->kind = kind;
    p->arch = arch;
    for (int32_t i = 0; i < 64; i++)
        c.same_root[i] = i;
    arena_init(&c.arena);
    fill_frame(&c, &frame);
    c.frame = &frame;
    uint32_t body = program_open(&c, PTO_NODE_ARM);
    init_args(&c);
    enum status status = compile_body(&c, f);
    if (status == ST_OK && c.has_large_arrays)
        status =
            diag_fail(diag, ST_UNSUPPORTED, "pto-run.too-large", (struct where){path, f->line, 0},
                      "local arrays of more than %d elements", PTO_ARRAY_ELEMENTS);
    if (status == ST_OK) {
        program_close(&c, body);
        program_emit(&c, (struct pto_step){.code = PTO_STEP_END});
        program_group_roots(&c);
    }
    if (status == ST_OK && is_synchronised && !p->has_flags) {
        if (p->has_jumps)
            pto_sync_everywhere(p);
        if (p->has_jumps || !pto_sync_insert(p, SYNC_WORK))
            diag_add(diag, SEV_WARN, "pto-run.sync-coarse", (struct where){path, f->line, 0},
                     "@%s: too involved to synchronise as the compiler would; a barrier of all "
                     "pipes stands before every instruction",
                     intern_get(&m->names, f->name).at);
        program_weave_syncs(&c);
    }
    free_frame(&frame);
    vec_free(&c.known_numbers);
    vec_free(&c.tiles);
    vec_free(&c.known_gms);
    arena_free(&c.arena);
    return status;
}
