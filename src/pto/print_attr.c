/*
 * Names, types and attributes as text.
 */
#include <math.h>
#include <stdio.h>

#include "base/char.h"
#include "pto/lex.h"
#include "pto/print_in.h"

void pto_put(struct pto_printer *p, const char *text)
{
    text_out_put(&p->out, str_of(text));
}

void pto_put_name(struct pto_printer *p, strid name)
{
    text_out_put(&p->out, intern_get(&p->m->names, name));
}

void pto_put_type(struct pto_printer *p, uint32_t index)
{
    if (p->types[index].n == 0)
        p->types[index] = pto_type_text(p->m, &p->arena, index);
    text_out_put(&p->out, p->types[index]);
}

void pto_put_types(struct pto_printer *p, const uint32_t *types, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_type(p, types[i]);
    }
}

void pto_put_value(struct pto_printer *p, uint32_t number)
{
    struct arena_mark mark = arena_mark(&p->names);

    text_out_put(&p->out, pto_value_text(p->m, p->f, &p->names, number));
    arena_rewind(&p->names, mark);
}

/* ---- attributes ---- */

static bool is_word(struct str s)
{
    if (s.n == 0 || pto_op_find(s) != PTO_OP_NONE)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.at[i];
        if (!pto_lex_is_word_byte(c) || (i == 0 && (char_is_digit(c) || c == '.' || c == '$')))
            return false;
    }
    return true;
}

void pto_put_word(struct pto_printer *p, strid name)
{
    bool is_plain = is_word(intern_get(&p->m->names, name));

    pto_put(p, is_plain ? "" : "\"");
    pto_put_name(p, name);
    pto_put(p, is_plain ? "" : "\"");
}

/* Shortest digits with a point in them; bits in hexadecimal for what has no digits. */
static void number(struct pto_printer *p, const struct pto_attr *a)
{
    char text[NUM_TEXT + 8];

    if (a->kind == PTO_ATTR_INT) {
        text_out_i64(&p->out, a->i);
        return;
    }
    if (!isfinite(a->f)) {
        snprintf(text, sizeof(text), "0x%llX", (unsigned long long)a->i);
        pto_put(p, text);
        return;
    }
    struct str digits = {text, num_print_f64(text, a->f)};
    size_t power = str_find_char(digits, 'e');
    struct str mantissa = str_part(digits, 0, power);
    text_out_put(&p->out, mantissa);
    if (str_find_char(mantissa, '.') == mantissa.n)
        pto_put(p, ".0");
    text_out_put(&p->out, str_part(digits, power, digits.n));
}

static void attr_list(struct pto_printer *p, const struct pto_attr *a)
{
    for (uint32_t i = 0; i < a->item_count; i++) {
        pto_put(p, i > 0 ? ", " : "");
        pto_put_attr(p, &p->m->attrs.at[p->m->attr_items.at[a->item_first + i]]);
    }
}

void pto_put_pairs(struct pto_printer *p, uint32_t named_first, uint32_t count)
{
    const struct pto_named *at = p->m->named.at + named_first;

    pto_put(p, "{");
    for (uint32_t i = 0; i < count; i++) {
        const struct pto_attr *a = &p->m->attrs.at[at[i].attr];
        pto_put(p, i > 0 ? ", " : "");
        pto_put_word(p, at[i].key);
        if (a->kind == PTO_ATTR_UNIT)
            continue;
        pto_put(p, " = ");
        pto_put_attr(p, a);
    }
    pto_put(p, "}");
}

/* The dialect has two spellings: #pto.layout<nd> and #pto<round_mode RINT>. */
static void enum_attr(struct pto_printer *p, const struct pto_attr *a)
{
    bool is_inside = a->enums == PTO_ENUM_ROUND_MODE || a->enums == PTO_ENUM_WAIT_CMP ||
                     a->enums == PTO_ENUM_NOTIFY_OP || a->enums == PTO_ENUM_ATOMIC_TYPE;

    pto_put(p, is_inside ? "#pto<" : "#pto.");
    pto_put(p, pto_enum_name(a->enums));
    pto_put(p, is_inside ? " " : "<");
    text_out_put(&p->out, pto_enum_word(a->enums, a->i));
    pto_put(p, ">");
}

void pto_put_attr(struct pto_printer *p, const struct pto_attr *a)
{
    switch (a->kind) {
    case PTO_ATTR_UNIT:
        pto_put(p, "unit");
        break;
    case PTO_ATTR_INT:
    case PTO_ATTR_FLOAT:
        number(p, a);
        if (a->type != PTO_NONE) {
            pto_put(p, " : ");
            pto_put_type(p, a->type);
        }
        break;
    case PTO_ATTR_BOOL:
        pto_put(p, a->i ? "true" : "false");
        break;
    case PTO_ATTR_STRING:
        pto_put(p, "\"");
        pto_put_name(p, a->text);
        pto_put(p, "\"");
        break;
    case PTO_ATTR_SYMBOL:
        pto_put(p, "@");
        pto_put_word(p, a->text);
        break;
    case PTO_ATTR_ENUM:
        enum_attr(p, a);
        break;
    case PTO_ATTR_LIST:
        pto_put(p, "[");
        attr_list(p, a);
        pto_put(p, "]");
        break;
    case PTO_ATTR_ARRAY:
        pto_put(p, "array<");
        pto_put_type(p, a->type);
        pto_put(p, a->item_count > 0 ? ": " : "");
        attr_list(p, a);
        pto_put(p, ">");
        break;
    case PTO_ATTR_TYPE:
        pto_put_type(p, a->type);
        break;
    case PTO_ATTR_DICT:
        pto_put_pairs(p, a->item_first, a->item_count);
        break;
    case PTO_ATTR_OPAQUE:
        pto_put_name(p, a->text);
        break;
    }
}
