/*
 * Names, values, types and attributes as text.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text/char.h"
#include "kernels/pto/text/lex.h"
#include "kernels/pto/text/print_in.h"

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

static void attr_put_type(struct pto_printer *p, uint32_t index)
{
    if (p->types[index].n == 0)
        p->types[index] = pto_type_text(p->m, &p->arena, index);
    text_out_put(&p->out, p->types[index]);
}

static void attr_put_value(struct pto_printer *p, uint32_t number)
{
    struct arena_mark mark = arena_mark(&p->names);

    text_out_put(&p->out, pto_value_text(p->m, p->f, &p->names, number));
    arena_rewind(&p->names, mark);
}

/* Shortest digits with a point in them; bits in hexadecimal for what has no digits. */
static void attr_put_number(struct pto_printer *p, const struct pto_attr *a)
{
    char text[NUM_TEXT + 8];

    if (a->kind == PTO_ATTR_INT) {
        text_out_i64(&p->out, a->i);
    } else if (!isfinite(a->f)) {
        snprintf(text, sizeof(text), "0x%llX", (unsigned long long)a->i);
        text_out_put(&p->out, str_of(text));
    } else {
        struct str digits = {text, num_print_f64(text, a->f)};
        size_t power = str_find_char(digits, 'e');
        struct str mantissa = str_part(digits, 0, power);
        text_out_put(&p->out, mantissa);
        if (str_find_char(mantissa, '.') == mantissa.n)
            text_out_put(&p->out, S(".0"));
        text_out_put(&p->out, str_part(digits, power, digits.n));
    }
    if (a->type != PTO_NONE)
        pto_say(p, " : %y", a->type);
}

static void put_items(struct pto_printer *p, const struct pto_attr *a)
{
    for (uint32_t i = 0; i < a->item_count; i++)
        pto_say(p, "%s%a", i > 0 ? ", " : "",
                &p->m->attrs.at[p->m->attr_items.at[a->item_first + i]]);
}

static void put_pairs(struct pto_printer *p, const struct pto_named *at, uint32_t count)
{
    pto_say(p, "{");
    for (uint32_t i = 0; i < count; i++) {
        const struct pto_attr *a = &p->m->attrs.at[at[i].attr];
        pto_say(p, a->kind == PTO_ATTR_UNIT ? "%s%w" : "%s%w = %a", i > 0 ? ", " : "", at[i].key,
                a);
    }
    pto_say(p, "}");
}

/* The dialect has two spellings: #pto.layout<nd> and #pto<round_mode RINT>. */
static void put_enum(struct pto_printer *p, const struct pto_attr *a)
{
    bool is_inside = a->enums == PTO_ENUM_ROUND_MODE || a->enums == PTO_ENUM_WAIT_CMP ||
                     a->enums == PTO_ENUM_NOTIFY_OP || a->enums == PTO_ENUM_ATOMIC_TYPE;

    pto_say(p, is_inside ? "#pto<%s " : "#pto.%s<", pto_enum_name(a->enums));
    text_out_put(&p->out, pto_enum_word(a->enums, a->i));
    pto_say(p, ">");
}

static void put_attr(struct pto_printer *p, const struct pto_attr *a)
{
    switch (a->kind) {
    case PTO_ATTR_UNIT:
        pto_say(p, "unit");
        break;
    case PTO_ATTR_INT:
    case PTO_ATTR_FLOAT:
        attr_put_number(p, a);
        break;
    case PTO_ATTR_BOOL:
        pto_say(p, a->i ? "true" : "false");
        break;
    case PTO_ATTR_STRING:
        pto_say(p, "\"%n\"", a->text);
        break;
    case PTO_ATTR_SYMBOL:
        pto_say(p, "@%w", a->text);
        break;
    case PTO_ATTR_ENUM:
        put_enum(p, a);
        break;
    case PTO_ATTR_LIST:
        pto_say(p, "[");
        put_items(p, a);
        pto_say(p, "]");
        break;
    case PTO_ATTR_ARRAY:
        pto_say(p, a->item_count > 0 ? "array<%y: " : "array<%y", a->type);
        put_items(p, a);
        pto_say(p, ">");
        break;
    case PTO_ATTR_TYPE:
        attr_put_type(p, a->type);
        break;
    case PTO_ATTR_DICT:
        put_pairs(p, p->m->named.at + a->item_first, a->item_count);
        break;
    case PTO_ATTR_OPAQUE:
        pto_say(p, "%n", a->text);
        break;
    }
}

static uint32_t attr_type_of(const struct pto_printer *p, uint32_t value)
{
    return pto_value_at(p->m, p->f, value)->type;
}

/* "t, t", or "%x: t, %y: t" of those that have a name. */
static void put_values(struct pto_printer *p, uint32_t first, uint32_t count, bool has_names)
{
    for (uint32_t v = first; v < first + count; v++) {
        bool is_named = has_names && pto_value_at(p->m, p->f, v)->name != 0;
        text_out_put(&p->out, v > first ? S(", ") : S(""));
        if (is_named)
            pto_say(p, "%v: ", v);
        attr_put_type(p, attr_type_of(p, v));
    }
}

void pto_say(struct pto_printer *p, const char *format, ...)
{
    struct str rest = str_of(format);
    uint32_t first;
    strid name;
    va_list args;

    va_start(args, format);
    for (size_t at; (at = str_find_char(rest, '%')) < rest.n;
         rest = str_part(rest, at + 2, rest.n)) {
        text_out_put(&p->out, str_part(rest, 0, at));
        char what = rest.at[at + 1];
        switch (what) {
        case 's':
            text_out_put(&p->out, str_of(va_arg(args, const char *)));
            break;
        case 'i':
            text_out_i64(&p->out, va_arg(args, int64_t));
            break;
        case 'n':
            text_out_put(&p->out, intern_get(&p->m->names, va_arg(args, strid)));
            break;
        case 'w':
            name = va_arg(args, strid);
            pto_say(p, is_word(intern_get(&p->m->names, name)) ? "%n" : "\"%n\"", name);
            break;
        case 'v':
            attr_put_value(p, va_arg(args, uint32_t));
            break;
        case 't':
            attr_put_type(p, attr_type_of(p, va_arg(args, uint32_t)));
            break;
        case 'y':
            attr_put_type(p, va_arg(args, uint32_t));
            break;
        case 'a':
            put_attr(p, va_arg(args, const struct pto_attr *));
            break;
        case 'T':
        case 'A':
            first = va_arg(args, uint32_t);
            put_values(p, first, va_arg(args, uint32_t), what == 'A');
            break;
        case 'D':
            first = va_arg(args, uint32_t);
            put_pairs(p, p->m->named.at + first, va_arg(args, uint32_t));
            break;
        default:
            text_out_put(&p->out, S("%"));
        }
    }
    text_out_put(&p->out, rest);
    va_end(args);
}
