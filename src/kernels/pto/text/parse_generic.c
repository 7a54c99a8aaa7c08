/*
 * The generic form that every operation has:
 *
 *     "pto.x"(%a, %b)[^bb1] <{key = value}> ({ region }) {key = value} : (t1, t2) -> t3
 *
 * Operands have no names here. They come in the order in which the operation declares them, and
 * operandSegmentSizes says how many belong together where that is not plain.
 */
#include "kernels/pto/text/forms.h"
#include "kernels/pto/text/parse_in.h"

enum { MAX_SEGMENTS = 16 };

enum segment_kind { SEGMENT_ONE, SEGMENT_OPTIONAL, SEGMENT_LIST };

struct segments {
    struct {
        enum pto_role role;
        enum segment_kind kind;
        int64_t size;
    } at[MAX_SEGMENTS];
    uint32_t n;
};

/* Operations that declare their operands in another order than they print them, and those
 * without a form: letters of roles; ? and * behind a letter say that it may be absent, or many. */
static const struct {
    enum pto_opcode code;
    const char *order;
} orders[] = {
    {PTO_FOR, "lhjy*"},
    {PTO_WHILE, "y*"},
    {PTO_INDEX_SWITCH, "q"},
    {PTO_BR, "g*"},
    {PTO_COND_BR, "qg*g*"},
    {PTO_STORE_SCALAR, "bxv"},
    {PTO_LOCAL_ARRAY_SET, "bx*v"},
    {PTO_TSETVAL, "oii"},
    {PTO_TSTORE, "iom?i?"},
    {PTO_TMOV, "iom?i?"},
    {PTO_CONSTANT, ""},
};

static void generic_add(struct segments *s, enum pto_role role, enum segment_kind kind)
{
    if (s->n == MAX_SEGMENTS)
        return;
    s->at[s->n].role = role;
    s->at[s->n].kind = kind;
    s->at[s->n++].size = 0;
}

static void from_letters(struct segments *s, const char *order)
{
    for (; *order != 0; order++) {
        enum segment_kind kind = order[1] == '*'   ? SEGMENT_LIST
                                 : order[1] == '?' ? SEGMENT_OPTIONAL
                                                   : SEGMENT_ONE;
        generic_add(s, pto_form_role(*order), kind);
        order += kind != SEGMENT_ONE;
    }
}

static void from_form(struct segments *s, const char **form, bool is_optional)
{
    for (;;) {
        struct pto_item item = pto_form_next(form);
        switch (item.kind) {
        case PTO_ITEM_END:
            return;
        case PTO_ITEM_GROUP:
            if (item.is_silent)
                *form = pto_form_skip_group(*form);
            else
                from_form(s, form, true);
            break;
        case PTO_ITEM_OPERAND:
            generic_add(s, item.role, is_optional ? SEGMENT_OPTIONAL : SEGMENT_ONE);
            break;
        case PTO_ITEM_LIST:
        case PTO_ITEM_TYPED:
            generic_add(s, item.role, SEGMENT_LIST);
            break;
        case PTO_ITEM_KEYS:
            generic_add(s, PTO_ROLE_GM_BUFFER, SEGMENT_OPTIONAL);
            generic_add(s, PTO_ROLE_GM_TENSOR, SEGMENT_OPTIONAL);
            generic_add(s, PTO_ROLE_C2V, SEGMENT_OPTIONAL);
            generic_add(s, PTO_ROLE_V2C, SEGMENT_OPTIONAL);
            break;
        default:
            break;
        }
    }
}

static void declared(struct segments *s, enum pto_opcode code)
{
    const char *form = pto_form(code), *order = form == NULL ? "i*o" : NULL;

    s->n = 0;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        order = orders[i].code == code ? orders[i].order : order;
    if (order != NULL) {
        from_letters(s, order);
        return;
    }
    form++; /* the number of results */
    from_form(s, &form, false);
}

/* Takes operandSegmentSizes out of the attributes; its list, or NULL. */
static const struct pto_attr *pop_sizes(struct pto_parser *p, const struct pto_draft *d)
{
    for (size_t i = d->dict_from; i < p->dict.n; i++) {
        if (p->dict.at[i].key != PTO_KEY_SEGMENTS)
            continue;
        uint32_t attr = p->dict.at[i].attr;
        memmove(p->dict.at + i, p->dict.at + i + 1, (p->dict.n - i - 1) * sizeof(*p->dict.at));
        p->dict.n--;
        return &p->m->attrs.at[attr];
    }
    return NULL;
}

/* `sizes` has one number for each segment, or for more of them than we know: then the last known
 * one is that of outs(..) and takes the rest. */
static bool use_sizes(struct pto_parser *p, const struct pto_attr *sizes, struct segments *s,
                      uint32_t count)
{
    uint64_t sum = 0;

    if (sizes->item_count != s->n) {
        if (s->n != 2 || s->at[0].kind != SEGMENT_LIST || sizes->item_count < 2)
            return false;
        /* ins.., outs: the last operands go out */
        int64_t last = pto_attr_nth(p->m, sizes, sizes->item_count - 1, -1);
        if (last < 0 || last > count)
            return false;
        s->at[0].size = (int64_t)count - last;
        s->at[1].size = last;
        return true;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->at[i].size = pto_attr_nth(p->m, sizes, i, -1);
        int64_t most = s->at[i].kind == SEGMENT_LIST ? count : 1;
        int64_t least = s->at[i].kind == SEGMENT_ONE ? 1 : 0;
        if (s->at[i].size < least || s->at[i].size > most)
            return false;
        sum += (uint64_t)s->at[i].size;
    }
    return sum == count;
}

/* Without sizes the number of operands must leave one way only. */
static bool guess_sizes(struct segments *s, uint32_t count)
{
    uint32_t ones = 0, lists = 0, optionals = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        ones += s->at[i].kind == SEGMENT_ONE;
        lists += s->at[i].kind == SEGMENT_LIST;
        optionals += s->at[i].kind == SEGMENT_OPTIONAL;
        s->at[i].size = s->at[i].kind == SEGMENT_ONE;
    }
    if (count < ones)
        return false;
    uint32_t rest = count - ones;
    bool is_plain =
        rest == 0 || (lists == 1 && optionals == 0) || (lists == 0 && rest == optionals);
    for (uint32_t i = 0; i < s->n && is_plain && rest > 0; i++)
        if (s->at[i].kind != SEGMENT_ONE)
            s->at[i].size = s->at[i].kind == SEGMENT_LIST ? rest : 1;
    return is_plain;
}

/* The generic form does not say which operands go to which block: all of a br, and of a cond_br
 * those behind its condition, in segments. */
static bool give_roles(struct pto_parser *p, struct pto_draft *d)
{
    struct segments s = {.n = 0};
    const struct pto_attr *sizes = pop_sizes(p, d);
    uint32_t at = d->operand_first;

    declared(&s, d->code);
    if (!(sizes != NULL ? use_sizes(p, sizes, &s, d->operand_count)
                        : guess_sizes(&s, d->operand_count)))
        return pto_wrong(p, "pto-ir.bad-operands", d->line, d->col,
                         "%s does not take %u operands%s", pto_op_name(d->code), d->operand_count,
                         sizes != NULL ? " in these segments"
                                       : "; is operandSegmentSizes missing?");
    for (uint32_t i = 0; i < s.n; i++)
        for (int64_t k = 0; k < s.at[i].size; k++)
            p->m->operands.at[at++].role = s.at[i].role;
    if (d->code == PTO_BR && p->m->successors.n == d->successor_first + 1) {
        struct pto_successor *to = &p->m->successors.at[d->successor_first];
        to->arg_first = 0;
        to->arg_count = d->operand_count;
    }
    if (d->code == PTO_COND_BR && p->m->successors.n == d->successor_first + 2) {
        struct pto_successor *to = &p->m->successors.at[d->successor_first];
        to[0].arg_first = 1;
        to[0].arg_count = (uint32_t)s.at[1].size;
        to[1].arg_first = 1 + to[0].arg_count;
        to[1].arg_count = (uint32_t)s.at[2].size;
    }
    return true;
}

/* Puts the operands into the order in which the custom form has them. */
static void reorder(struct pto_parser *p, const struct pto_draft *d)
{
    static const enum pto_role dps[] = {PTO_ROLE_IN, PTO_ROLE_FP, PTO_ROLE_OUT};
    static const enum pto_role store[] = {PTO_ROLE_VALUE, PTO_ROLE_BASE, PTO_ROLE_INDEX};
    const enum pto_role *order = d->code == PTO_STORE_SCALAR ? store : dps;
    struct pto_operand sorted[8];
    uint32_t n = 0;

    if ((d->code != PTO_STORE_SCALAR && d->code != PTO_TSETVAL && d->code != PTO_TSTORE &&
         d->code != PTO_TMOV) ||
        d->operand_count > ARRAY_LEN(sorted))
        return;
    struct pto_operand *at = p->m->operands.at + d->operand_first;
    for (size_t k = 0; k < ARRAY_LEN(dps); k++)
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (at[i].role == order[k])
                sorted[n++] = at[i];
    memcpy(at, sorted, n * sizeof(*at));
}

/* ---- the parts ---- */

static bool operands(struct pto_parser *p)
{
    if (!pto_want(p, '('))
        return false;
    if (pto_try(p, ')'))
        return true;
    do {
        if (!pto_parse_operand(p, PTO_ROLE_IN))
            return false;
    } while (pto_try(p, ','));
    return pto_want(p, ')');
}

/* Successors or regions in their brackets, where there are any. */
static bool listed(struct pto_parser *p, struct pto_draft *d, char open, char close,
                   bool (*item)(struct pto_parser *p, struct pto_draft *d))
{
    if (!pto_try(p, open))
        return true;
    do {
        if (!item(p, d))
            return false;
    } while (pto_try(p, ','));
    return pto_want(p, close);
}

static bool properties(struct pto_parser *p)
{
    if (!pto_try(p, '<'))
        return true;
    if (!pto_is(p, '{'))
        return pto_expected(p, "'{'");
    return pto_parse_dict(p) && pto_want(p, '>');
}

static bool signature(struct pto_parser *p, struct pto_draft *d)
{
    if (!pto_want(p, ':') || !pto_want(p, '('))
        return false;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        uint32_t type, line = p->tok.line, col = p->tok.col;
        if ((i > 0 && !pto_want(p, ',')) || !pto_parse_type(p, &type))
            return false;
        pto_check_type(p, p->m->operands.at[d->operand_first + i].value, type, line, col);
    }
    if (!pto_want(p, ')') || !pto_want_arrow(p))
        return false;
    return pto_parse_results(p, d);
}

/* Numbers stand for words: predicate = 2. */
static void name_predicate(struct pto_parser *p, const struct pto_draft *d)
{
    for (size_t i = d->dict_from; i < p->dict.n; i++) {
        struct pto_attr *a = &p->m->attrs.at[p->dict.at[i].attr];
        if (p->dict.at[i].key != PTO_KEY_PREDICATE || a->kind != PTO_ATTR_INT)
            continue;
        a->kind = PTO_ATTR_ENUM;
        a->type = PTO_NONE;
        a->enums = d->code == PTO_CMPI ? PTO_ENUM_CMPI_PREDICATE : PTO_ENUM_CMPF_PREDICATE;
    }
}

bool pto_parse_generic(struct pto_parser *p, struct pto_draft *d)
{
    if (!operands(p))
        return false;
    pto_freeze(p, d);
    if (!listed(p, d, '[', ']', pto_parse_successor) || !properties(p) ||
        !listed(p, d, '(', ')', pto_parse_inner) || !pto_parse_dict(p) || !signature(p, d))
        return false;
    name_predicate(p, d);
    if (!give_roles(p, d))
        return false;
    reorder(p, d);
    return true;
}
