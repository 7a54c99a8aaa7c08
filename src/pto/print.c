#include "pto/print.h"

#include "pto/forms.h"
#include "pto/print_in.h"

static void indent(struct pto_printer *p)
{
    for (uint32_t i = 0; i < p->level; i++)
        pto_put(p, "  ");
}

static uint32_t type_of(const struct pto_printer *p, uint32_t value)
{
    return pto_value_at(p->m, p->f, value)->type;
}

static void op_text(struct pto_printer *p, const struct pto_op *op);

/* ---- blocks ---- */

static void block_args(struct pto_printer *p, const struct pto_block *b)
{
    pto_put(p, "(");
    for (uint32_t i = 0; i < b->arg_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_value(p, b->arg_first + i);
        pto_put(p, ": ");
        pto_put_type(p, type_of(p, b->arg_first + i));
    }
    pto_put(p, ")");
}

static void label(struct pto_printer *p, const struct pto_block *b, bool has_args)
{
    p->level--;
    indent(p);
    p->level++;
    pto_put(p, "^");
    if (b->label != 0)
        pto_put_name(p, b->label);
    else
        pto_put(p, "bb0");
    if (has_args && b->arg_count > 0)
        block_args(p, b);
    pto_put(p, ":\n");
}

/* "{ .. }"; `has_args`: the arguments of the first block stand on a label. */
static void region(struct pto_printer *p, uint32_t index, bool has_args)
{
    const struct pto_region *r = &p->m->regions.at[index];

    pto_put(p, "{\n");
    p->level++;
    for (uint32_t i = 0; i < r->block_count; i++) {
        const struct pto_block *b = &p->m->blocks.at[r->block_first + i];
        if (i > 0 || (has_args && (b->label != 0 || b->arg_count > 0)))
            label(p, b, true);
        for (uint32_t k = b->op_first; k < b->op_end; k = p->m->ops.at[k].next)
            op_text(p, &p->m->ops.at[k]);
    }
    p->level--;
    indent(p);
    pto_put(p, "}");
}

/* ---- operations with regions ---- */

/* " -> (t, t)" */
static void results(struct pto_printer *p, const struct pto_op *op)
{
    if (op->result_count == 0)
        return;
    pto_put(p, " -> (");
    for (uint32_t i = 0; i < op->result_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_type(p, type_of(p, op->result_first + i));
    }
    pto_put(p, ")");
}

static void attrs(struct pto_printer *p, const struct pto_op *op)
{
    if (op->named_count == 0)
        return;
    pto_put(p, " ");
    pto_put_pairs(p, op->named_first, op->named_count);
}

/* "(%a = %x, %b = %y)" */
static void assignments(struct pto_printer *p, const struct pto_op *op, uint32_t first)
{
    uint32_t total = pto_operand_total(p->m, op, PTO_ROLE_INIT);

    pto_put(p, "(");
    for (uint32_t i = 0; i < total; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_value(p, first + i);
        pto_put(p, " = ");
        pto_put_value(p, pto_operand_nth(p->m, op, PTO_ROLE_INIT, i));
    }
    pto_put(p, ")");
}

static void put_for(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_block *b = pto_op_block(p->m, op, 0);
    uint32_t lower = pto_operand(p->m, op, PTO_ROLE_LOWER);

    pto_put(p, " ");
    pto_put_value(p, b->arg_first);
    pto_put(p, " = ");
    pto_put_value(p, lower);
    pto_put(p, " to ");
    pto_put_value(p, pto_operand(p->m, op, PTO_ROLE_UPPER));
    pto_put(p, " step ");
    pto_put_value(p, pto_operand(p->m, op, PTO_ROLE_STEP));
    if (op->result_count > 0) {
        pto_put(p, " iter_args");
        assignments(p, op, b->arg_first + 1);
        results(p, op);
    }
    if (p->m->types.at[type_of(p, lower)].dtype != PTO_INDEX) {
        pto_put(p, " : ");
        pto_put_type(p, type_of(p, lower));
    }
    pto_put(p, " ");
    region(p, op->region_first, false);
    attrs(p, op);
}

static void put_if(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_block *other = pto_op_block(p->m, op, 1);

    pto_put(p, " ");
    pto_put_value(p, pto_operand(p->m, op, PTO_ROLE_CONDITION));
    results(p, op);
    pto_put(p, " ");
    region(p, op->region_first, true);
    if (other != NULL) {
        pto_put(p, " else ");
        region(p, op->region_first + 1, true);
    }
}

static void put_while(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_block *b = pto_op_block(p->m, op, 0);
    uint32_t total = pto_operand_total(p->m, op, PTO_ROLE_INIT);

    pto_put(p, " ");
    assignments(p, op, b->arg_first);
    pto_put(p, " : (");
    for (uint32_t i = 0; i < total; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_type(p, type_of(p, b->arg_first + i));
    }
    pto_put(p, ")");
    results(p, op);
    pto_put(p, op->result_count == 0 ? " -> () " : " ");
    region(p, op->region_first, false);
    pto_put(p, " do ");
    region(p, op->region_first + 1, true);
    if (op->named_count > 0) {
        pto_put(p, " attributes");
        attrs(p, op);
    }
}

static void put_switch(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_attr *cases = pto_op_attr(p->m, op, PTO_KEY_CASES);

    pto_put(p, " ");
    pto_put_value(p, pto_operand(p->m, op, PTO_ROLE_CONDITION));
    results(p, op);
    for (uint32_t i = 1; i < op->region_count; i++) {
        pto_put(p, "\n");
        indent(p);
        pto_put(p, "case ");
        text_out_i64(&p->out, pto_attr_nth(p->m, cases, i - 1, 0));
        pto_put(p, " ");
        region(p, op->region_first + i, true);
    }
    pto_put(p, "\n");
    indent(p);
    pto_put(p, "default ");
    region(p, op->region_first, true);
}

static void put_fusion(struct pto_printer *p, const struct pto_op *op)
{
    pto_put(p, " ");
    region(p, op->region_first, true);
    for (uint32_t i = 0; i < op->result_count; i++) {
        pto_put(p, i > 0 ? ", " : " : ");
        pto_put_type(p, type_of(p, op->result_first + i));
    }
    attrs(p, op);
}

/* ---- branches ---- */

static void successor(struct pto_printer *p, const struct pto_op *op, uint32_t nth)
{
    const struct pto_successor *to = &p->m->successors.at[op->successor_first + nth];
    const struct pto_operand *args = pto_operands(p->m, op) + to->arg_first;

    pto_put(p, "^");
    pto_put_name(p, p->m->blocks.at[to->block].label);
    if (to->arg_count == 0)
        return;
    pto_put(p, "(");
    for (uint32_t i = 0; i < to->arg_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_value(p, args[i].value);
    }
    pto_put(p, " : ");
    for (uint32_t i = 0; i < to->arg_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_type(p, type_of(p, args[i].value));
    }
    pto_put(p, ")");
}

static void put_branch(struct pto_printer *p, const struct pto_op *op)
{
    pto_put(p, " ");
    if (op->code == PTO_COND_BR) {
        pto_put_value(p, pto_operand(p->m, op, PTO_ROLE_CONDITION));
        pto_put(p, ", ");
    }
    for (uint32_t i = 0; i < op->successor_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        successor(p, op, i);
    }
}

static void put_constant(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_attr *value = pto_op_attr(p->m, op, PTO_KEY_VALUE);

    pto_put(p, " ");
    if (value != NULL)
        pto_put_attr(p, value);
}

/* ---- one operation ---- */

/* "%x, %y:2 = " */
static void result_names(struct pto_printer *p, const struct pto_op *op)
{
    uint32_t end = op->result_first + op->result_count;

    for (uint32_t v = op->result_first; v < end;) {
        strid name = pto_value_at(p->m, p->f, v)->name;
        uint32_t count = 1;
        if (name == 0)
            return;
        while (v + count < end && pto_value_at(p->m, p->f, v + count)->name == name)
            count++;
        pto_put(p, v > op->result_first ? ", %" : "%");
        pto_put_name(p, name);
        if (count > 1) {
            pto_put(p, ":");
            text_out_u64(&p->out, count);
        }
        v += count;
    }
    pto_put(p, op->result_count > 0 ? " = " : "");
}

static void body(struct pto_printer *p, const struct pto_op *op)
{
    const char *form = pto_form(op->code);

    switch (op->code) {
    case PTO_FOR:
        put_for(p, op);
        break;
    case PTO_IF:
        put_if(p, op);
        break;
    case PTO_WHILE:
        put_while(p, op);
        break;
    case PTO_INDEX_SWITCH:
        put_switch(p, op);
        break;
    case PTO_EXECUTE_REGION:
        results(p, op);
        pto_put(p, " ");
        region(p, op->region_first, true);
        attrs(p, op);
        break;
    case PTO_SECTION_CUBE:
    case PTO_SECTION_VECTOR:
    case PTO_FUSION_REGION:
        put_fusion(p, op);
        break;
    case PTO_BR:
    case PTO_COND_BR:
        put_branch(p, op);
        break;
    case PTO_CONSTANT:
        put_constant(p, op);
        break;
    default:
        if (form != NULL && !(op->code == PTO_TRESHAPE && op->result_count == 0))
            pto_put_form(p, op, form);
        else
            pto_put_dps(p, op);
    }
}

static void op_text(struct pto_printer *p, const struct pto_op *op)
{
    indent(p);
    result_names(p, op);
    pto_put(p, op->code == PTO_RETURN ? "return" : pto_op_name(op->code));
    body(p, op);
    pto_put(p, "\n");
}

/* ---- functions and the module ---- */

static void function_types(struct pto_printer *p, const struct pto_function *f)
{
    if (f->result_count == 0)
        return;
    pto_put(p, f->result_count > 1 ? " -> (" : " -> ");
    pto_put_types(p, p->m->type_items.at + f->result_first, f->result_count);
    pto_put(p, f->result_count > 1 ? ")" : "");
}

static void function(struct pto_printer *p, const struct pto_function *f)
{
    p->f = f;
    indent(p);
    pto_put(p, f->is_private ? "func.func private @" : "func.func @");
    pto_put_word(p, f->name);
    pto_put(p, "(");
    for (uint32_t i = 0; i < f->arg_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        if (pto_value_at(p->m, f, i)->name != 0) {
            pto_put_value(p, i);
            pto_put(p, ": ");
        }
        pto_put_type(p, type_of(p, i));
    }
    pto_put(p, ")");
    function_types(p, f);
    if (f->named_count > 0) {
        pto_put(p, " attributes ");
        pto_put_pairs(p, f->named_first, f->named_count);
    }
    if (f->region != PTO_NONE) {
        pto_put(p, " ");
        region(p, f->region, false);
    }
    pto_put(p, "\n");
}

bool pto_print(const struct pto_module *m, struct sink sink)
{
    struct pto_printer *p = mem_grow(NULL, sizeof(*p), 1);

    *p = (struct pto_printer){.m = m, .level = 1};
    arena_init(&p->arena);
    arena_init(&p->names);
    text_out_open(&p->out, sink);
    p->types = ARENA_ARRAY(&p->arena, struct str, m->types.n);
    pto_put(p, "module ");
    if (m->name != 0) {
        pto_put(p, "@");
        pto_put_word(p, m->name);
        pto_put(p, " ");
    }
    if (m->named_count > 0) {
        pto_put(p, "attributes ");
        pto_put_pairs(p, m->named_first, m->named_count);
        pto_put(p, " ");
    }
    pto_put(p, "{\n");
    for (size_t i = 0; i < m->functions.n; i++)
        function(p, &m->functions.at[i]);
    pto_put(p, "}\n");
    bool ok = text_out_close(&p->out);
    arena_free(&p->names);
    arena_free(&p->arena);
    mem_free(p);
    return ok;
}
