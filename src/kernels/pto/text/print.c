/*
 * The module, its functions and regions, and the operations without a form.
 */
#include "kernels/pto/text/print.h"

#include "kernels/pto/text/forms.h"
#include "kernels/pto/text/print_in.h"

static void op_text(struct pto_printer *p, const struct pto_op *op);

static void indent(struct pto_printer *p)
{
    for (uint32_t i = 0; i < p->level; i++)
        pto_say(p, "  ");
}

static void label(struct pto_printer *p, const struct pto_block *b)
{
    p->level--;
    indent(p);
    p->level++;
    if (b->label != 0)
        pto_say(p, "^%n", b->label);
    else
        pto_say(p, "^bb0");
    if (b->arg_count > 0)
        pto_say(p, "(%A)", b->arg_first, b->arg_count);
    pto_say(p, ":\n");
}

void pto_put_region(struct pto_printer *p, uint32_t index, bool has_args)
{
    const struct pto_region *r = &p->m->regions.at[index];

    pto_say(p, "{\n");
    p->level++;
    for (uint32_t i = 0; i < r->block_count; i++) {
        const struct pto_block *b = &p->m->blocks.at[r->block_first + i];
        if (i > 0 || (has_args && (b->label != 0 || b->arg_count > 0)))
            label(p, b);
        for (uint32_t k = b->op_first; k < b->op_end; k = p->m->ops.at[k].next)
            op_text(p, &p->m->ops.at[k]);
    }
    p->level--;
    indent(p);
    pto_say(p, "}");
}

/* ---- operations without a form ---- */

static void results(struct pto_printer *p, const struct pto_op *op)
{
    if (op->result_count > 0)
        pto_say(p, " -> (%T)", op->result_first, op->result_count);
}

/* "(%a = %x, %b = %y)" */
static void assignments(struct pto_printer *p, const struct pto_op *op, uint32_t first)
{
    uint32_t total = pto_operand_total(p->m, op, PTO_ROLE_INIT);

    pto_say(p, "(");
    for (uint32_t i = 0; i < total; i++)
        pto_say(p, "%s%v = %v", i > 0 ? ", " : "", first + i,
                pto_operand_nth(p->m, op, PTO_ROLE_INIT, i));
    pto_say(p, ")");
}

static void put_for(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_block *b = pto_op_block(p->m, op, 0);
    uint32_t lower = pto_operand(p->m, op, PTO_ROLE_LOWER);

    pto_say(p, " %v = %v to %v step %v", b->arg_first, lower, pto_operand(p->m, op, PTO_ROLE_UPPER),
            pto_operand(p->m, op, PTO_ROLE_STEP));
    if (op->result_count > 0) {
        pto_say(p, " iter_args");
        assignments(p, op, b->arg_first + 1);
        results(p, op);
    }
    if (pto_value_type(p->m, p->f, lower)->dtype != PTO_INDEX)
        pto_say(p, " : %t", lower);
    pto_say(p, " ");
    pto_put_region(p, op->region_first, false);
    if (op->named_count > 0)
        pto_say(p, " %D", op->named_first, op->named_count);
}

static void put_while(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_block *b = pto_op_block(p->m, op, 0);

    pto_say(p, " ");
    assignments(p, op, b->arg_first);
    pto_say(p, " : (%T)", b->arg_first, pto_operand_total(p->m, op, PTO_ROLE_INIT));
    results(p, op);
    pto_say(p, op->result_count == 0 ? " -> () " : " ");
    pto_put_region(p, op->region_first, false);
    pto_say(p, " do ");
    pto_put_region(p, op->region_first + 1, true);
    if (op->named_count > 0)
        pto_say(p, " attributes %D", op->named_first, op->named_count);
}

static void put_switch(struct pto_printer *p, const struct pto_op *op)
{
    const struct pto_attr *cases = pto_op_attr(p->m, op, PTO_KEY_CASES);

    pto_say(p, " %v", pto_operand(p->m, op, PTO_ROLE_CONDITION));
    results(p, op);
    for (uint32_t i = 1; i <= op->region_count; i++) { /* the first one is the default */
        pto_say(p, "\n");
        indent(p);
        if (i < op->region_count)
            pto_say(p, "case %i ", pto_attr_nth(p->m, cases, i - 1, 0));
        else
            pto_say(p, "default ");
        pto_put_region(p, op->region_first + i % op->region_count, true);
    }
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
        pto_say(p, v > op->result_first ? ", %%%n" : "%%%n", name);
        if (count > 1)
            pto_say(p, ":%i", (int64_t)count);
        v += count;
    }
    pto_say(p, op->result_count > 0 ? " = " : "");
}

static void op_text(struct pto_printer *p, const struct pto_op *op)
{
    indent(p);
    result_names(p, op);
    pto_say(p, "%s", op->code == PTO_RETURN ? "return" : pto_op_name(op->code));
    const char *form = pto_form(op->code);
    const struct pto_attr *value = pto_op_attr(p->m, op, PTO_KEY_VALUE);
    if (op->code == PTO_FOR)
        put_for(p, op);
    else if (op->code == PTO_WHILE)
        put_while(p, op);
    else if (op->code == PTO_INDEX_SWITCH)
        put_switch(p, op);
    else if (op->code == PTO_CONSTANT)
        pto_say(p, value != NULL ? " %a" : " ", value);
    else if (form != NULL && !(op->code == PTO_TRESHAPE && op->result_count == 0))
        pto_put_form(p, op, form);
    else
        pto_put_dps(p, op);
    pto_say(p, "\n");
}

/* ---- functions and the module ---- */

static void function(struct pto_printer *p, const struct pto_function *f)
{
    p->f = f;
    indent(p);
    pto_say(p, "func.func %s@%w(%A)", f->is_private ? "private " : "", f->name, 0, f->arg_count);
    for (uint32_t i = 0; i < f->result_count; i++)
        pto_say(p, "%s%y",
                i > 0                 ? ", "
                : f->result_count > 1 ? " -> ("
                                      : " -> ",
                p->m->type_items.at[f->result_first + i]);
    pto_say(p, f->result_count > 1 ? ")" : "");
    if (f->named_count > 0)
        pto_say(p, " attributes %D", f->named_first, f->named_count);
    if (f->region != PTO_NONE) {
        pto_say(p, " ");
        pto_put_region(p, f->region, false);
    }
    pto_say(p, "\n");
}

bool pto_print(const struct pto_module *m, struct sink sink)
{
    struct pto_printer *p = mem_grow(NULL, sizeof(*p), 1);

    *p = (struct pto_printer){.m = m, .level = 1};
    arena_init(&p->arena);
    arena_init(&p->names);
    text_out_open(&p->out, sink);
    p->types = ARENA_ARRAY(&p->arena, struct str, m->types.n);
    pto_say(p, "module ");
    if (m->name != 0)
        pto_say(p, "@%w ", m->name);
    if (m->named_count > 0)
        pto_say(p, "attributes %D ", m->named_first, m->named_count);
    pto_say(p, "{\n");
    for (size_t i = 0; i < m->functions.n; i++)
        function(p, &m->functions.at[i]);
    pto_say(p, "}\n");
    bool ok = text_out_close(&p->out);
    arena_free(&p->names);
    arena_free(&p->arena);
    mem_free(p);
    return ok;
}
