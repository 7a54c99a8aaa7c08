/*
 * What stands behind the name of an operation: by its form (kernels/pto/text/forms.h), as `ins(..)
 * outs(..)`, or in the generic form that every operation has.
 */
#include "kernels/pto/text/forms.h"
#include "kernels/pto/text/parse_in.h"
#include "kernels/pto/text/tile.h"

void pto_freeze(struct pto_parser *p, struct pto_draft *d)
{
    if (d->is_frozen)
        return;
    d->is_frozen = true;
    d->operand_count = (uint32_t)p->m->operands.n - d->operand_first;
}

void pto_result_type(struct pto_parser *p, struct pto_draft *d, uint32_t type)
{
    vec_push(&p->list, type);
    d->result_count++;
}

/* ---- forms ---- */

static bool form(struct pto_parser *p, struct pto_draft *d, const char **at);

static bool is_literal(const struct pto_parser *p, struct str text)
{
    if (str_equal(text, S("->")))
        return p->tok.kind == PTO_T_ARROW;
    return (p->tok.kind == PTO_T_WORD || p->tok.kind == PTO_T_PUNCT) &&
           str_equal(p->tok.text, text);
}

static bool literal(struct pto_parser *p, struct str text)
{
    char what[32];

    if (is_literal(p, text)) {
        pto_advance(p);
        return true;
    }
    what[0] = '\'';
    memcpy(what + 1, text.at, text.n);
    memcpy(what + 1 + text.n, "'", 2);
    return pto_expected(p, what);
}

/* Reads the type that `value` must have. */
static bool op_type_of(struct pto_parser *p, uint32_t value)
{
    uint32_t type, line = p->tok.line, col = p->tok.col;

    if (!pto_parse_type(p, &type))
        return false;
    pto_check_type(p, value, type, line, col);
    return true;
}

bool pto_parse_types_of(struct pto_parser *p, size_t from)
{
    for (size_t i = from; i < p->m->operands.n; i++)
        if ((i > from && !pto_want(p, ',')) || !op_type_of(p, p->m->operands.at[i].value))
            return false;
    return true;
}

static bool typed_operand(struct pto_parser *p, enum pto_role role)
{
    return pto_parse_operand(p, role) && pto_want(p, ':') &&
           op_type_of(p, p->m->operands.at[p->m->operands.n - 1].value);
}

/* "%x, %y", or "%x : i32, %y : i64" */
static bool operand_list(struct pto_parser *p, enum pto_role role, bool is_typed)
{
    if (p->tok.kind != PTO_T_VALUE)
        return true;
    do {
        if (!(is_typed ? typed_operand(p, role) : pto_parse_operand(p, role)))
            return false;
    } while (pto_try(p, ','));
    return true;
}

/* "gm_slot_buffer = %p : !pto.ptr<f32>, .." */
static bool keyed_list(struct pto_parser *p)
{
    if (pto_is(p, ')'))
        return true;
    do {
        enum pto_role role =
            p->tok.kind == PTO_T_WORD ? pto_form_key_role(p->tok.text) : PTO_ROLE_COUNT;
        if (role == PTO_ROLE_COUNT)
            return pto_expected(p, "gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf or "
                                   "v2c_consumer_buf");
        pto_advance(p);
        if (!pto_want(p, '=') || !typed_operand(p, role))
            return false;
    } while (pto_try(p, ','));
    return true;
}

/* The types of the operands of one role, or of all. */
static bool operand_types(struct pto_parser *p, const struct pto_draft *d, enum pto_role role)
{
    bool is_first = true;

    for (uint32_t i = d->operand_first; i < p->m->operands.n; i++) {
        struct pto_operand o = p->m->operands.at[i];
        if (role != PTO_ROLE_COUNT && o.role != role)
            continue;
        if ((!is_first && !pto_want(p, ',')) || !op_type_of(p, o.value))
            return false;
        is_first = false;
    }
    return true;
}

/* One type for all operands of role IN, and for the results. */
static bool shared_type(struct pto_parser *p, struct pto_draft *d)
{
    uint32_t line = p->tok.line, col = p->tok.col;

    if (!pto_parse_type(p, &d->default_type))
        return false;
    for (uint32_t i = d->operand_first; i < p->m->operands.n; i++)
        if (p->m->operands.at[i].role == PTO_ROLE_IN)
            pto_check_type(p, p->m->operands.at[i].value, d->default_type, line, col);
    return true;
}

static bool result_types(struct pto_parser *p, struct pto_draft *d)
{
    uint32_t want = 0, type;

    for (uint32_t i = 0; i < d->name_count; i++)
        want += p->names.at[d->names_from + i].count;
    if (d->code == PTO_ADDUI_EXTENDED) /* the sum has the type of the operands */
        pto_result_type(p, d, d->default_type);
    do {
        if (!pto_parse_type(p, &type))
            return false;
        pto_result_type(p, d, type);
    } while (d->result_count < want && pto_try(p, ','));
    return true;
}

/* Types that become results, by one of the functions that read several. */
static bool all_result_types(struct pto_parser *p, struct pto_draft *d,
                             bool (*read)(struct pto_parser *p))
{
    size_t from = p->list.n;

    if (!read(p))
        return false;
    d->result_count += (uint32_t)(p->list.n - from);
    return true;
}

bool pto_parse_results(struct pto_parser *p, struct pto_draft *d)
{
    return all_result_types(p, d, pto_parse_result_types);
}

static bool attribute(struct pto_parser *p, const struct pto_draft *d, struct str name)
{
    strid key = pto_name(p, name);
    enum pto_enum e = d->code == PTO_CMPI ? PTO_ENUM_CMPI_PREDICATE : PTO_ENUM_CMPF_PREDICATE;
    struct pto_attr a = {.kind = PTO_ATTR_ENUM, .enums = e, .type = PTO_NONE};

    if (key != PTO_KEY_PREDICATE)
        return pto_parse_named(p, key);
    if (p->tok.kind != PTO_T_WORD && p->tok.kind != PTO_T_STRING)
        return pto_expected(p, "a predicate");
    if (!pto_enum_value(e, p->tok.text, &a.i))
        return pto_wrong(p, "pto-ir.bad-word", p->tok.line, p->tok.col, "no such predicate: %.*s",
                         STR_ARGS(p->tok.text));
    pto_advance(p);
    pto_name_attr(p, PTO_KEY_PREDICATE, &a);
    return true;
}

/* Whether the group at `at` is in the text: its leading words are next. */
static bool group_is_there(struct pto_parser *p, const char *at, bool needs_value)
{
    struct pto_lex lex = p->lex;
    struct pto_token tok = p->tok;
    struct pto_item item = pto_form_next(&at);
    bool is_there = true;

    if (!needs_value && item.kind == PTO_ITEM_ATTR)
        return tok.kind == PTO_T_INT || tok.kind == PTO_T_HASH || pto_is(p, '<');
    if (needs_value) {
        pto_advance(p); /* "%x =" is the next operation's */
        is_there = tok.kind == PTO_T_VALUE && !pto_is(p, '=');
    }
    for (; !needs_value && item.kind == PTO_ITEM_LITERAL && is_there; item = pto_form_next(&at)) {
        is_there = is_literal(p, item.text);
        pto_advance(p);
    }
    p->lex = lex;
    p->tok = tok;
    return is_there;
}

static bool group(struct pto_parser *p, struct pto_draft *d, const char **at, bool needs_value)
{
    if (group_is_there(p, *at, needs_value))
        return form(p, d, at);
    *at = pto_form_skip_group(*at);
    return true;
}

static bool default_type(struct pto_parser *p, struct pto_draft *d, struct str name)
{
    enum pto_dtype dtype = PTO_NO_DTYPE;

    pto_dtype_find(name, &dtype);
    d->default_type = pto_type_scalar(p->m, dtype);
    return true;
}

static bool item(struct pto_parser *p, struct pto_draft *d, struct pto_item it, const char **at)
{
    switch (it.kind) {
    case PTO_ITEM_LITERAL:
        return literal(p, it.text);
    case PTO_ITEM_COMMA:
        pto_try(p, ',');
        return true;
    case PTO_ITEM_OPERAND:
        return pto_parse_operand(p, it.role);
    case PTO_ITEM_LIST:
    case PTO_ITEM_TYPED:
        return operand_list(p, it.role, it.kind == PTO_ITEM_TYPED);
    case PTO_ITEM_TYPES:
        return operand_types(p, d, it.role);
    case PTO_ITEM_SHARED:
        return shared_type(p, d);
    case PTO_ITEM_RESULTS:
        return result_types(p, d);
    case PTO_ITEM_RESULTS_ALL:
        return all_result_types(p, d, pto_parse_types);
    case PTO_ITEM_RESULTS_IN_BRACKETS:
    case PTO_ITEM_RESULTS_BRACKETED:
        return pto_parse_results(p, d);
    case PTO_ITEM_REGION:
        return pto_parse_inner(p, d);
    case PTO_ITEM_SUCCESSOR:
        return pto_parse_successor(p, d);
    case PTO_ITEM_DEFAULT:
        return default_type(p, d, it.text);
    case PTO_ITEM_ATTR:
        return attribute(p, d, it.text);
    case PTO_ITEM_DICT:
        return pto_parse_dict(p);
    case PTO_ITEM_KEYS:
        return keyed_list(p);
    case PTO_ITEM_GROUP:
        return group(p, d, at, it.needs_value);
    case PTO_ITEM_END:
        break;
    }
    return true;
}

/* The items up to the end of the form or group. */
static bool form(struct pto_parser *p, struct pto_draft *d, const char **at)
{
    for (;;) {
        struct pto_item it = pto_form_next(at);
        if (it.kind == PTO_ITEM_END)
            return true;
        if (!item(p, d, it, at))
            return false;
    }
}

/* Older texts write the rank of a view in place of its dimensions: !pto.tensor_view<2xf32> has two
 * that nobody knows where two sizes make it. From then on that text means this type. */
static void view_by_rank(struct pto_parser *p, const struct pto_draft *d)
{
    uint32_t sizes = 0, old = d->result_count == 1 ? p->list.at[d->list_from] : PTO_NONE;

    for (size_t i = d->operand_first; i < p->m->operands.n; i++)
        sizes += p->m->operands.at[i].role == PTO_ROLE_SHAPE;
    if (old == PTO_NONE || p->m->types.at[old].kind != PTO_TYPE_VIEW ||
        p->m->types.at[old].rank != 1 || p->m->types.at[old].dims[0] != (int64_t)sizes ||
        sizes < 2 || sizes > PTO_VIEW_RANK)
        return;
    struct pto_type view = p->m->types.at[old];
    view.rank = sizes;
    for (uint32_t i = 0; i < sizes; i++)
        view.dims[i] = PTO_DYNAMIC;
    uint32_t type = pto_type_put(p->m, &view);
    for (size_t i = 0; i < p->memo.n; i++)
        if (p->memo.at[i].type == old)
            p->memo.at[i].type = type;
    p->list.at[d->list_from] = type;
}

bool pto_parse_form(struct pto_parser *p, struct pto_draft *d, const char *text)
{
    char count = *text++;
    uint32_t want = count == '1' || count == '2' ? (uint32_t)(count - '0') : 0;

    if (!form(p, d, &text))
        return false;
    if (d->code == PTO_MAKE_TENSOR_VIEW)
        view_by_rank(p, d);
    /* Results without a type in the text: as many as the form says. */
    while (d->default_type != PTO_NONE && d->result_count < want)
        pto_result_type(p, d, d->default_type);
    return true;
}

/* ---- ins(..) outs(..) ---- */

/* "%a, fp %b, .. [{..}]": adds operands up to the colon or the bracket. */
static bool dps_operands(struct pto_parser *p, enum pto_role role)
{
    for (;;) {
        enum pto_role now = pto_try_word(p, S("fp")) ? PTO_ROLE_FP : role;
        if (p->tok.kind == PTO_T_VALUE) {
            if (!pto_parse_operand(p, now))
                return false;
        } else if (!pto_is(p, '{')) {
            return pto_expected(p, "a value");
        }
        if (!pto_parse_dict(p))
            return false;
        if (pto_try(p, ',') || pto_is_word(p, S("fp")))
            continue;
        return true;
    }
}

/* "( operands : types [, operands : types] [, axis] )" behind ins or outs. */
static bool dps_list(struct pto_parser *p, enum pto_role role)
{
    if (!pto_want(p, '('))
        return false;
    if (pto_try(p, ')'))
        return true;
    do {
        size_t from = p->m->operands.n;
        if (p->tok.kind == PTO_T_STRING) {
            /* The axis of a mask, behind the types: "row" is what no word means, too. */
            if (!str_equal(p->tok.text, S("row")))
                return pto_wrong(p, "pto-ir.unsupported-axis", p->tok.line, p->tok.col,
                                 "masks go along \"row\" here, not \"%.*s\"",
                                 STR_ARGS(p->tok.text));
            pto_advance(p);
            return pto_want(p, ')');
        }
        if (!dps_operands(p, role))
            return false;
        if (pto_is(p, ')'))
            break;
        if (!pto_want(p, ':') || !pto_parse_types_of(p, from))
            return false;
    } while (pto_try(p, ',') || pto_is_word(p, S("fp")));
    return pto_want(p, ')');
}

/* "pad_mode = .., pad_value = %x : f32" behind outs(..). */
static bool dps_extra(struct pto_parser *p)
{
    struct pto_token t = p->tok;

    pto_advance(p);
    if (!pto_want(p, '='))
        return false;
    strid key = pto_name(p, t.text);
    if (p->tok.kind == PTO_T_VALUE) {
        if (key != PTO_KEY_PAD_VALUE)
            return pto_wrong(p, "pto-ir.syntax", t.line, t.col, "%.*s takes no value",
                             STR_ARGS(t.text));
        return typed_operand(p, PTO_ROLE_PAD);
    }
    return pto_parse_named(p, key);
}

/* A scaling tile behind the source is the fp operand, whether the text says so or not. */
static void find_fp(struct pto_parser *p, const struct pto_draft *d)
{
    if (d->code != PTO_TSTORE && d->code != PTO_TMOV && d->code != PTO_TEXTRACT &&
        d->code != PTO_TINSERT)
        return;
    for (size_t i = d->operand_first + 1; i < p->m->operands.n; i++) {
        struct pto_operand *o = &p->m->operands.at[i];
        const struct pto_type *t = &p->m->types.at[pto_type_of(p, o->value)];
        if (o->role == PTO_ROLE_IN && t->kind == PTO_TYPE_TILE && t->space == PTO_SCALING)
            o->role = PTO_ROLE_FP;
    }
}

bool pto_parse_dps(struct pto_parser *p, struct pto_draft *d)
{
    if (!pto_is_word(p, S("ins")) && !pto_is_word(p, S("outs")))
        return pto_expected(p, "'ins'");
    if ((pto_try_word(p, S("ins")) && !dps_list(p, PTO_ROLE_IN)) ||
        (pto_try_word(p, S("outs")) && !dps_list(p, PTO_ROLE_OUT)))
        return false;
    for (;;) {
        if (pto_is(p, '{')) {
            if (!pto_parse_dict(p))
                return false;
        } else if (pto_is_word(p, S("pad_mode")) || pto_is_word(p, S("pad_value"))) {
            if (!dps_extra(p))
                return false;
        } else {
            break;
        }
    }
    find_fp(p, d);
    return true;
}
