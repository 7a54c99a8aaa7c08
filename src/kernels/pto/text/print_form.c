/*
 * Operations as text: by their form, or as `ins(..) outs(..)`.
 */
#include <stdio.h>

#include "base/text/char.h"
#include "kernels/pto/text/forms.h"
#include "kernels/pto/text/print_in.h"

/* ---- forms ---- */

/* One operation being printed: which of its attributes were printed in their places. */
struct line {
    const struct pto_op *op;
    const struct pto_named *named;
    uint64_t printed;              /* a bit for each of the first 64 attributes */
    uint32_t next[PTO_ROLE_COUNT]; /* operands of a role that were printed */
    uint32_t regions, successors;  /* that were printed */
    uint32_t default_type;
};

/* A blank between items, but not before or behind brackets and commas. */
static void item_text(struct pto_printer *p, const char *text)
{
    bool is_tight = strchr(",)]", text[0]) != NULL;

    pto_say(p, p->needs_blank && !is_tight ? " %s" : "%s", text);
    p->needs_blank = strchr("([", text[0]) == NULL || text[1] != 0;
    char c = text[strlen(text) - 1];
    bool is_name = char_is_lower(c) && strcmp(text, "valid") != 0;
    p->last = is_name ? 0 : c;
}

static void before_item(struct pto_printer *p)
{
    pto_say(p, p->needs_blank ? " " : "");
    p->needs_blank = true;
    p->last = 0;
}

static uint32_t find_attr(const struct pto_printer *p, const struct line *l, struct str key)
{
    for (uint32_t i = 0; i < l->op->named_count; i++)
        if (str_equal(intern_get(&p->m->names, l->named[i].key), key))
            return i;
    return PTO_NONE;
}

static void mark_printed(struct line *l, uint32_t i)
{
    if (i < 64)
        l->printed |= (uint64_t)1 << i;
}

/* Forms that leave out the #pto<...> around an enum: `cmpi slt`, and <PIPE_V> of pipes, events
 * and kinds of synchronisation. */
static void attr_item(struct pto_printer *p, struct line *l, struct str key)
{
    uint32_t i = find_attr(p, l, key);

    if (i == PTO_NONE)
        return;
    const struct pto_attr *a = &p->m->attrs.at[l->named[i].attr];
    mark_printed(l, i);
    before_item(p);
    bool is_word_alone =
        a->kind == PTO_ATTR_ENUM && (l->op->code == PTO_CMPI || l->op->code == PTO_CMPF);
    bool is_short = a->kind == PTO_ATTR_ENUM && !is_word_alone &&
                    (a->enums == PTO_ENUM_PIPE || a->enums == PTO_ENUM_EVENT ||
                     a->enums == PTO_ENUM_SYNC_OP_TYPE);
    if (!is_word_alone && !is_short) {
        pto_say(p, "%a", a);
        return;
    }
    pto_say(p, is_short ? "<" : "");
    text_out_put(&p->out, pto_enum_word(a->enums, a->i));
    pto_say(p, is_short ? ">" : "");
}

/* The attributes that no item has printed. */
static void dict_item(struct pto_printer *p, struct line *l)
{
    bool is_first = true;

    for (uint32_t i = 0; i < l->op->named_count; i++) {
        if (i < 64 && (l->printed >> i & 1) != 0)
            continue;
        const struct pto_attr *a = &p->m->attrs.at[l->named[i].attr];
        if (is_first)
            before_item(p);
        pto_say(p, a->kind == PTO_ATTR_UNIT ? "%s%w" : "%s%w = %a", is_first ? "{" : ", ",
                l->named[i].key, a);
        is_first = false;
        mark_printed(l, i);
    }
    if (is_first)
        return;
    pto_say(p, "}");
    p->last = '}';
}

static void list_item(struct pto_printer *p, struct line *l, enum pto_role role, bool is_typed)
{
    uint32_t total = pto_operand_total(p->m, l->op, role);

    for (uint32_t i = l->next[role]; i < total; i++) {
        uint32_t v = pto_operand_nth(p->m, l->op, role, i);
        if (i > l->next[role])
            item_text(p, ",");
        before_item(p);
        pto_say(p, is_typed ? "%v : %t" : "%v", v, v);
    }
    l->next[role] = total;
}

static void value_item(struct pto_printer *p, const char *format, uint32_t v)
{
    if (v == PTO_NONE)
        return;
    before_item(p);
    pto_say(p, format, v);
}

static void types_item(struct pto_printer *p, const struct line *l, enum pto_role role)
{
    const struct pto_operand *at = pto_operands(p->m, l->op);
    bool is_first = true;

    for (uint32_t i = 0; i < l->op->operand_count; i++) {
        if (role != PTO_ROLE_COUNT && at[i].role != role)
            continue;
        if (!is_first)
            item_text(p, ",");
        before_item(p);
        pto_say(p, "%t", at[i].value);
        is_first = false;
    }
}

/* has_brackets: 0 never, 1 unless there is one, 2 always */
static void results_item(struct pto_printer *p, const struct line *l, int has_brackets)
{
    const struct pto_op *op = l->op;
    uint32_t from = op->code == PTO_ADDUI_EXTENDED ? 1 : 0;
    bool brackets = has_brackets == 2 || (has_brackets == 1 && op->result_count != 1);

    before_item(p);
    pto_say(p, brackets ? "(%T)" : "%T", op->result_first + from, op->result_count - from);
}

/* "^bb1(%x, %y : t, t)" */
static void successor_item(struct pto_printer *p, struct line *l)
{
    const struct pto_successor *to = &p->m->successors.at[l->op->successor_first + l->successors++];
    const struct pto_operand *args = pto_operands(p->m, l->op) + to->arg_first;

    before_item(p);
    pto_say(p, "^%n", p->m->blocks.at[to->block].label);
    for (uint32_t i = 0; i < to->arg_count; i++)
        pto_say(p, "%s%v", i > 0 ? ", " : "(", args[i].value);
    for (uint32_t i = 0; i < to->arg_count; i++)
        pto_say(p, "%s%t", i > 0 ? ", " : " : ", args[i].value);
    pto_say(p, to->arg_count > 0 ? ")" : "");
}

static void region_item(struct pto_printer *p, struct line *l)
{
    before_item(p);
    pto_put_region(p, l->op->region_first + l->regions++, true);
    p->needs_blank = true;
}

static void keys_item(struct pto_printer *p, const struct line *l)
{
    const struct pto_operand *at = pto_operands(p->m, l->op);

    for (uint32_t i = 0; i < l->op->operand_count; i++) {
        const char *word = pto_form_key_word(at[i].role);
        if (i > 0)
            item_text(p, ",");
        before_item(p);
        pto_say(p, "%s = %v : %t", word != NULL ? word : "?", at[i].value, at[i].value);
    }
}

static bool results_are_default(const struct pto_printer *p, const struct line *l)
{
    for (uint32_t i = 0; i < l->op->result_count; i++)
        if (pto_value_at(p->m, p->f, l->op->result_first + i)->type != l->default_type)
            return false;
    return true;
}

/* Whether the group at `form` has something to say: the first operand, attribute or type in it. */
static bool group_speaks(const struct pto_printer *p, const struct line *l, const char *form)
{
    for (;;) {
        struct pto_item item = pto_form_next(&form);
        switch (item.kind) {
        case PTO_ITEM_OPERAND:
        case PTO_ITEM_LIST:
        case PTO_ITEM_TYPED:
            return pto_operand_nth(p->m, l->op, item.role, l->next[item.role]) != PTO_NONE;
        case PTO_ITEM_TYPES:
            return pto_operand(p->m, l->op, item.role) != PTO_NONE;
        case PTO_ITEM_KEYS:
            return l->op->operand_count > 0;
        case PTO_ITEM_ATTR:
            return find_attr(p, l, item.text) != PTO_NONE;
        case PTO_ITEM_REGION:
            return l->regions < l->op->region_count;
        case PTO_ITEM_RESULTS:
        case PTO_ITEM_RESULTS_ALL:
        case PTO_ITEM_RESULTS_BRACKETED:
            return l->op->result_count > 0 && !results_are_default(p, l);
        case PTO_ITEM_END:
            return false;
        default:
            break;
        }
    }
}

static void form_items(struct pto_printer *p, struct line *l, const char **form);

static void group_item(struct pto_printer *p, struct line *l, struct pto_item item,
                       const char **form)
{
    if (!item.is_silent && group_speaks(p, l, *form))
        form_items(p, l, form);
    else
        *form = pto_form_skip_group(*form);
}

static void literal_item(struct pto_printer *p, struct str text)
{
    char word[32];

    snprintf(word, sizeof(word), "%.*s", STR_ARGS(text));
    if ((text.at[0] == '(' || text.at[0] == '[') && p->last == 0)
        p->needs_blank = false; /* behind a name: %x[..], ins(..) */
    item_text(p, word);
}

static void default_item(struct pto_printer *p, struct line *l, struct str name)
{
    struct pto_type wanted = {.kind = PTO_TYPE_SCALAR};

    pto_dtype_find(name, &wanted.dtype);
    for (size_t i = 0; i < p->m->types.n; i++)
        if (p->m->types.at[i].kind == PTO_TYPE_SCALAR && p->m->types.at[i].dtype == wanted.dtype)
            l->default_type = (uint32_t)i;
}

static void form_items(struct pto_printer *p, struct line *l, const char **form)
{
    for (;;) {
        struct pto_item item = pto_form_next(form);
        switch (item.kind) {
        case PTO_ITEM_END:
            return;
        case PTO_ITEM_LITERAL:
            literal_item(p, item.text);
            break;
        case PTO_ITEM_COMMA:
            item_text(p, ",");
            break;
        case PTO_ITEM_OPERAND:
            value_item(p, "%v", pto_operand_nth(p->m, l->op, item.role, l->next[item.role]++));
            break;
        case PTO_ITEM_LIST:
            list_item(p, l, item.role, false);
            break;
        case PTO_ITEM_TYPED:
            list_item(p, l, item.role, true);
            break;
        case PTO_ITEM_TYPES:
            types_item(p, l, item.role);
            break;
        case PTO_ITEM_SHARED:
            value_item(p, "%t", pto_operand(p->m, l->op, PTO_ROLE_IN));
            break;
        case PTO_ITEM_RESULTS:
        case PTO_ITEM_RESULTS_ALL:
            results_item(p, l, 0);
            break;
        case PTO_ITEM_RESULTS_IN_BRACKETS:
            results_item(p, l, 1);
            break;
        case PTO_ITEM_RESULTS_BRACKETED:
            results_item(p, l, 2);
            break;
        case PTO_ITEM_REGION:
            region_item(p, l);
            break;
        case PTO_ITEM_SUCCESSOR:
            successor_item(p, l);
            break;
        case PTO_ITEM_DEFAULT:
            default_item(p, l, item.text);
            break;
        case PTO_ITEM_ATTR:
            attr_item(p, l, item.text);
            break;
        case PTO_ITEM_DICT:
            dict_item(p, l);
            break;
        case PTO_ITEM_KEYS:
            keys_item(p, l);
            break;
        case PTO_ITEM_GROUP:
            group_item(p, l, item, form);
            break;
        }
    }
}

void pto_put_form(struct pto_printer *p, const struct pto_op *op, const char *form)
{
    struct line l = {.op = op, .named = p->m->named.at + op->named_first, .default_type = PTO_NONE};

    form++; /* the number of results */
    p->needs_blank = true;
    p->last = 0;
    form_items(p, &l, &form);
}

/* ---- ins(..) outs(..) ---- */

/* Operands and then their types, as "ins(%a, %b : t, t" without its end. */
static void dps_operands(struct pto_printer *p, const struct pto_op *op, bool is_in, bool is_types)
{
    const struct pto_operand *at = pto_operands(p->m, op);
    const char *before = is_types ? " : " : is_in ? " ins(" : " outs(";

    for (uint32_t i = 0; i < op->operand_count; i++) {
        bool is_fp = at[i].role == PTO_ROLE_FP;
        if (is_in ? at[i].role != PTO_ROLE_IN && !is_fp : at[i].role != PTO_ROLE_OUT)
            continue;
        if (is_types)
            pto_say(p, "%s%t", before, at[i].value);
        else if (is_fp && *before == ',')
            pto_say(p, " fp %v", at[i].value);
        else
            pto_say(p, is_fp ? "%sfp %v" : "%s%v", before, at[i].value);
        before = ", ";
    }
}

static void dps_list(struct pto_printer *p, const struct pto_op *op, bool is_in, struct line *l)
{
    bool has_fp = is_in && pto_operand(p->m, op, PTO_ROLE_FP) != PTO_NONE;

    if (!has_fp && pto_operand(p->m, op, is_in ? PTO_ROLE_IN : PTO_ROLE_OUT) == PTO_NONE)
        return;
    dps_operands(p, op, is_in, false);
    const char *inside = is_in ? pto_form_attrs_inside(p->m, op) : NULL;
    if (inside != NULL && op->named_count > 0) {
        pto_say(p, "%s", inside);
        p->needs_blank = false;
        dict_item(p, l);
    }
    dps_operands(p, op, is_in, true);
    pto_say(p, ")");
}

void pto_put_dps(struct pto_printer *p, const struct pto_op *op)
{
    struct line l = {.op = op, .named = p->m->named.at + op->named_first, .default_type = PTO_NONE};
    uint32_t pad = pto_operand(p->m, op, PTO_ROLE_PAD);
    uint32_t mode = find_attr(p, &l, S("pad_mode"));

    dps_list(p, op, true, &l);
    dps_list(p, op, false, &l);
    if (mode != PTO_NONE)
        mark_printed(&l, mode);
    p->needs_blank = true;
    dict_item(p, &l);
    if (mode != PTO_NONE)
        pto_say(p, " pad_mode = %a", &p->m->attrs.at[l.named[mode].attr]);
    if (pad != PTO_NONE)
        pto_say(p, " pad_value = %v : %t", pad, pad);
}
