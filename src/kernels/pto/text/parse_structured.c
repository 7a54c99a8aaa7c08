/*
 * Loops, switches and constants, which no form describes.
 */
#include "kernels/pto/text/parse_in.h"

static bool region(struct pto_parser *p, struct pto_draft *d, size_t mark, uint32_t first,
                   uint32_t count)
{
    pto_freeze(p, d);
    bool ok = pto_parse_region(p, d, first, count);
    pto_scope_end(p, mark);
    return ok;
}

bool pto_parse_inner(struct pto_parser *p, struct pto_draft *d)
{
    if (d->code == PTO_IF && d->region_count == 0)
        pto_check_type(p, p->m->operands.at[d->operand_first].value, pto_type_scalar(p->m, PTO_I1),
                       d->line, d->col);
    return region(p, d, p->undo.n, 0, 0);
}

/* "(%a = %x, %b = %y)": the names are kept on p->names, `*count` of them; values are operands. */
static bool assignments(struct pto_parser *p, uint32_t *count)
{
    *count = 0;
    if (!pto_want(p, '('))
        return false;
    if (pto_try(p, ')'))
        return true;
    do {
        if (p->tok.kind != PTO_T_VALUE)
            return pto_expected(p, "a value");
        vec_push(&p->names, ((struct pto_result_name){p->tok, 1}));
        ++*count;
        pto_advance(p);
        if (!pto_want(p, '=') || !pto_parse_operand(p, PTO_ROLE_INIT))
            return false;
    } while (pto_try(p, ','));
    return pto_want(p, ')');
}

/* Defines the names on p->names, `from` on, with the types on p->list, `types` on. */
static uint32_t define_all(struct pto_parser *p, size_t from, uint32_t count, size_t types,
                           uint32_t op, uint32_t number)
{
    uint32_t first = PTO_NONE;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t value =
            pto_define(p, &p->names.at[from + i].at, p->list.at[types + i], op, number + i);
        first = i == 0 ? value : first;
    }
    return first;
}

/* The types of initial values must be those that the loop declares. */
static bool check_inits(struct pto_parser *p, const struct pto_draft *d, size_t types,
                        uint32_t count, uint32_t types_count)
{
    if (count != types_count)
        return pto_wrong(p, "pto-ir.bad-operands", d->line, d->col,
                         "%u loop values, but %u types for them", count, types_count);
    uint32_t nth = 0;
    for (size_t i = d->operand_first; i < p->m->operands.n; i++)
        if (p->m->operands.at[i].role == PTO_ROLE_INIT)
            pto_check_type(p, p->m->operands.at[i].value, p->list.at[types + nth++], d->line,
                           d->col);
    return true;
}

/* ---- scf ---- */

/* scf.for %i = %a to %b step %c [iter_args(..) -> (..)] [: type] { .. } */
static bool parse_for(struct pto_parser *p, struct pto_draft *d)
{
    size_t names = p->names.n;
    uint32_t count = 0, type;

    if (p->tok.kind != PTO_T_VALUE)
        return pto_expected(p, "the loop variable");
    struct pto_token induction = p->tok;
    pto_advance(p);
    if (!pto_parse_form(p, d, "0 = $l to $h step $j"))
        return false;
    if (pto_try_word(p, S("iter_args")) &&
        (!assignments(p, &count) || !pto_want_arrow(p) || !pto_parse_results(p, d)))
        return false;
    if (!check_inits(p, d, d->list_from, count, d->result_count))
        return false;
    type = pto_type_of(p, p->m->operands.at[d->operand_first].value);
    if (pto_try(p, ':') && !pto_parse_type(p, &type))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        pto_check_type(p, p->m->operands.at[d->operand_first + i].value, type, d->line, d->col);
    size_t mark = p->undo.n;
    uint32_t first = pto_define(p, &induction, type, d->op, 0);
    define_all(p, names, count, d->list_from, d->op, 1);
    p->names.n = names;
    return region(p, d, mark, first, 1 + count) && pto_parse_dict(p);
}

/* scf.while (%a = %x) : (t) -> (t) { .. } do { ^bb0(%y: t): .. } */
static bool parse_while(struct pto_parser *p, struct pto_draft *d)
{
    size_t names = p->names.n, types = p->list.n;
    uint32_t count = 0;

    if ((pto_is(p, '(') && !assignments(p, &count)) || !pto_want(p, ':') || !pto_want(p, '('))
        return false;
    if (!pto_try(p, ')') && (!pto_parse_types(p) || !pto_want(p, ')')))
        return false;
    if (!check_inits(p, d, types, count, (uint32_t)(p->list.n - types)))
        return false;
    size_t mark = p->undo.n;
    uint32_t first = define_all(p, names, count, types, d->op, 0);
    p->names.n = names;
    p->list.n = types;
    if (!pto_want_arrow(p) || !pto_parse_results(p, d)) {
        pto_scope_end(p, mark);
        return false;
    }
    return region(p, d, mark, first, count) && pto_want_word(p, S("do")) && pto_parse_inner(p, d) &&
           (!pto_try_word(p, S("attributes")) || pto_parse_dict(p));
}

/* scf.index_switch %x [-> t] case 2 { .. } default { .. }: one region for each case, the default
 * region first, as in the generic form. */
static bool parse_switch(struct pto_parser *p, struct pto_draft *d)
{
    struct pto_attr cases = {.kind = PTO_ATTR_LIST, .type = PTO_NONE};
    VEC_OF(uint32_t) numbers = {0};
    bool ok = pto_parse_form(p, d, "* $q {} [? -> =( ?]");

    while (ok && pto_try_word(p, S("case"))) {
        uint32_t attr = 0;
        ok = p->tok.kind == PTO_T_INT ? pto_parse_attr(p, 0, &attr)
                                      : pto_expected(p, "the number of a case");
        if (ok)
            vec_push(&numbers, attr);
        ok = ok && pto_parse_inner(p, d);
    }
    ok = ok && pto_want_word(p, S("default")) && pto_parse_inner(p, d);
    if (ok) {
        struct pto_region *at = p->regions.at + d->regions_from, last = at[d->region_count - 1];
        memmove(at + 1, at, (d->region_count - 1) * sizeof(*at));
        at[0] = last;
        cases.item_first = (uint32_t)p->m->attr_items.n;
        cases.item_count = (uint32_t)numbers.n;
        for (size_t i = 0; i < numbers.n; i++)
            vec_push(&p->m->attr_items, numbers.at[i]);
        pto_name_attr(p, PTO_KEY_CASES, &cases);
    }
    vec_free(&numbers);
    return ok;
}

/* ---- others ---- */

/* arith.constant 5 : i32; true; {attrs} before the value are read and kept. */
static bool parse_constant(struct pto_parser *p, struct pto_draft *d)
{
    uint32_t attr, line = p->tok.line, col = p->tok.col;

    if (!pto_parse_dict(p) || !pto_parse_attr(p, PTO_KEY_VALUE, &attr))
        return false;
    struct pto_attr *a = &p->m->attrs.at[attr];
    if (a->kind == PTO_ATTR_BOOL) {
        a->type = pto_type_scalar(p->m, PTO_I1);
        a = &p->m->attrs.at[attr];
    }
    if ((a->kind != PTO_ATTR_BOOL && a->kind != PTO_ATTR_INT && a->kind != PTO_ATTR_FLOAT) ||
        a->type == PTO_NONE)
        return pto_wrong(p, "pto-ir.syntax", line, col,
                         "expected a number with its type, as in 5 : i32");
    vec_push(&p->dict, ((struct pto_named){PTO_KEY_VALUE, attr}));
    pto_result_type(p, d, a->type);
    return true;
}

bool pto_parse_structured(struct pto_parser *p, struct pto_draft *d)
{
    switch (d->code) {
    case PTO_FOR:
        return parse_for(p, d);
    case PTO_WHILE:
        return parse_while(p, d);
    case PTO_INDEX_SWITCH:
        return parse_switch(p, d);
    case PTO_CONSTANT:
        return parse_constant(p, d);
    default:
        return pto_expected(p, "an operation");
    }
}
