/*
 * Attributes of PTO text: numbers, words of enumerations in all their spellings, lists,
 * dictionaries.
 */
#include <errno.h>
#include <math.h>

#include "base/limits.h"
#include "base/text/num.h"
#include "kernels/pto/text/parse_in.h"
#include "kernels/pto/values/elem.h"

static bool attr_value_of(struct pto_parser *p, strid key, struct pto_attr *a);

static uint32_t attr_put(struct pto_parser *p, const struct pto_attr *attr)
{
    vec_push(&p->m->attrs, *attr);
    return (uint32_t)p->m->attrs.n - 1;
}

void pto_name_attr(struct pto_parser *p, strid key, const struct pto_attr *attr)
{
    vec_push(&p->dict, ((struct pto_named){key, attr_put(p, attr)}));
}

/* ---- numbers ---- */

/* Hexadecimal digits for a float are the bits of its type. */
static bool float_bits(enum pto_dtype dtype, uint64_t bits, double *value)
{
    if (dtype != PTO_F32 && dtype != PTO_F16 && dtype != PTO_BF16)
        return false;
    *value = pto_elem_f64(bits, dtype);
    return bits <= (dtype == PTO_F32 ? UINT32_MAX : UINT16_MAX);
}

static bool hex(struct str text, uint64_t *value)
{
    bool is_negative = text.n > 0 && text.at[0] == '-';

    *value = 0;
    for (size_t i = is_negative ? 3 : 2; i < text.n; i++) {
        char c = text.at[i];
        uint64_t digit = c <= '9' ? (uint64_t)(c - '0') : (uint64_t)((c | 32) - 'a' + 10);
        if (*value >> 60 != 0)
            return false;
        *value = *value << 4 | digit;
    }
    if (is_negative)
        *value = 0 - *value;
    return true;
}

/* The number in `t`, whose type is known by now. */
static bool attr_number_of(struct pto_parser *p, const struct pto_token *t, struct pto_attr *a)
{
    bool is_float = a->type != PTO_NONE && p->m->types.at[a->type].kind == PTO_TYPE_SCALAR &&
                    pto_dtype_is_float(p->m->types.at[a->type].dtype);
    uint64_t bits;

    a->kind = is_float || t->kind == PTO_T_FLOAT ? PTO_ATTR_FLOAT : PTO_ATTR_INT;
    if (t->kind == PTO_T_HEX) {
        bool ok = hex(t->text, &bits);
        a->i = (int64_t)bits;
        if (ok && is_float)
            ok = float_bits(p->m->types.at[a->type].dtype, bits, &a->f);
        return ok || pto_wrong(p, "pto-ir.bad-number", t->line, t->col,
                               "%.*s does not fit its type", STR_ARGS(t->text));
    }
    if (a->kind == PTO_ATTR_FLOAT) {
        if (a->type != PTO_NONE && !is_float)
            return pto_wrong(p, "pto-ir.bad-number", t->line, t->col,
                             "%.*s is no whole number, but its type is", STR_ARGS(t->text));
        if (num_f64(t->text, &a->f))
            return true;
    } else if (num_i64(t->text, &a->i)) {
        return true;
    } else if (num_u64(t->text, &bits)) {
        a->i = (int64_t)bits;
        return true;
    }
    return pto_wrong(p, "pto-ir.bad-number", t->line, t->col, "the number %.*s is too large",
                     STR_ARGS(t->text));
}

/* "1", "0.5 : f32"; a bare number with a type behind it. */
static bool parse_attr_number(struct pto_parser *p, struct pto_attr *a)
{
    struct pto_token t = p->tok;

    pto_advance(p);
    if (pto_try(p, ':') && !pto_parse_type(p, &a->type))
        return false;
    return attr_number_of(p, &t, a);
}

/* ---- words ---- */

/* A word (or number) of an enumeration. `e` NONE: kept as text. */
static bool enum_word(struct pto_parser *p, enum pto_enum e, struct pto_attr *a)
{
    struct pto_token t = p->tok;

    if (t.kind != PTO_T_WORD && t.kind != PTO_T_INT)
        return pto_expected(p, "a word");
    pto_advance(p);
    a->enums = e;
    a->kind = PTO_ATTR_ENUM;
    if (t.kind == PTO_T_INT) {
        if (num_i64(t.text, &a->i) && pto_enum_word(e, a->i).n > 0)
            return true;
    } else if (pto_enum_value(e, t.text, &a->i)) {
        return true;
    } else if (pto_enum_value(PTO_ENUM_PIPE, t.text, &a->i)) { /* get_buf takes pipes as well */
        a->enums = PTO_ENUM_PIPE;
        return true;
    }
    if (e == PTO_ENUM_EVENT)
        return pto_wrong(p, "pto-ir.bad-event", t.line, t.col,
                         "no such event: %.*s (EVENT_ID0 to EVENT_ID7)", STR_ARGS(t.text));
    return pto_wrong(p, "pto-ir.bad-word", t.line, t.col, "%s has no value %.*s", pto_enum_name(e),
                     STR_ARGS(t.text));
}

static bool opaque(struct pto_parser *p, const char *from, struct pto_attr *a)
{
    const char *to = pto_is(p, '<') ? pto_closing(p->tok.begin, p->lex.end) : p->tok.begin;

    if (to == NULL)
        return pto_wrong(p, "pto-ir.syntax", p->tok.line, p->tok.col, "this < is never closed");
    if (to != p->tok.begin) {
        pto_lex_move(&p->lex, to);
        pto_advance(p);
    } else {
        while (to > from && (to[-1] == ' ' || to[-1] == '\n' || to[-1] == '\t' || to[-1] == '\r'))
            to--;
    }
    a->kind = PTO_ATTR_OPAQUE;
    a->text = pto_name(p, (struct str){from, (size_t)(to - from)});
    return true;
}

static bool alias(struct pto_parser *p, struct str name, strid key, struct pto_attr *a)
{
    const struct pto_token t = p->tok;

    for (size_t i = p->aliases.n; i-- > 0;) {
        if (p->aliases.at[i].is_type || !str_equal(p->aliases.at[i].name, name))
            continue;
        if (++p->alias_uses > LIMIT_PTO_ALIASES)
            return pto_wrong(p, "pto-ir.too-deep", t.line, t.col,
                             "attribute names are used more than %d times", LIMIT_PTO_ALIASES);
        /* Read its text in the place of the name, then go on behind the name. */
        struct pto_lex lex = p->lex;
        struct str text = p->aliases.at[i].text;
        pto_lex_open(&p->lex, text);
        pto_advance(p);
        bool ok = attr_value_of(p, key, a);
        p->lex = lex;
        pto_advance(p);
        return ok;
    }
    return pto_wrong(p, "pto-ir.syntax", t.line, t.col, "no such attribute: #%.*s", STR_ARGS(name));
}

/* "#pto.round_mode<ROUND>", "#pto<round_mode ROUND>", "#name". */
static bool hash_attr(struct pto_parser *p, strid key, struct pto_attr *a)
{
    struct pto_token t = p->tok;
    enum pto_enum e = PTO_ENUM_NONE;

    if (str_find_char(t.text, '.') == t.text.n && !str_equal(t.text, S("pto")))
        return alias(p, t.text, key, a);
    pto_advance(p);
    struct pto_lex lex = p->lex;
    struct pto_token tok = p->tok;
    bool has_body = pto_try(p, '<');
    if (has_body && str_equal(t.text, S("pto")) && p->tok.kind == PTO_T_WORD) {
        e = pto_enum_find(p->tok.text);
        pto_advance(p);
    } else if (str_starts(t.text, S("pto."))) {
        e = pto_enum_find(str_part(t.text, 4, t.text.n));
    }
    if (e == PTO_ENUM_NONE)
        e = pto_key_enum((enum pto_key)key);
    if (has_body && e != PTO_ENUM_NONE)
        return enum_word(p, e, a) && pto_want(p, '>');
    p->lex = lex;
    p->tok = tok;
    return opaque(p, t.begin, a);
}

/* ---- lists ---- */

static bool items(struct pto_parser *p, strid key, char close)
{
    if (pto_try(p, close))
        return true;
    do {
        struct pto_attr item = {.type = PTO_NONE};
        if (!attr_value_of(p, key, &item))
            return false;
        vec_push(&p->list, attr_put(p, &item));
    } while (pto_try(p, ','));
    return pto_want(p, close);
}

/* Items by way of p->list into the module. */
static bool list(struct pto_parser *p, strid key, char close, struct pto_attr *a)
{
    size_t from = p->list.n;
    bool ok = items(p, key, close);

    if (ok) {
        a->item_first = (uint32_t)p->m->attr_items.n;
        a->item_count = (uint32_t)(p->list.n - from);
        for (size_t i = from; i < p->list.n; i++)
            vec_push(&p->m->attr_items, p->list.at[i]);
    }
    p->list.n = from;
    return ok;
}

/* "array<i64: 1, 2>", "array<i32>". */
static bool array(struct pto_parser *p, struct pto_attr *a)
{
    a->kind = PTO_ATTR_ARRAY;
    pto_advance(p);
    if (!pto_want(p, '<') || !pto_parse_type(p, &a->type))
        return false;
    if (!pto_try(p, ':'))
        return pto_want(p, '>');
    return list(p, 0, '>', a);
}

static bool dict(struct pto_parser *p, struct pto_attr *a)
{
    uint32_t from = (uint32_t)p->dict.n;

    a->kind = PTO_ATTR_DICT;
    if (!pto_parse_dict(p)) {
        p->dict.n = from;
        return false;
    }
    pto_keep_dict(p, from, &a->item_first, &a->item_count);
    return true;
}

/* ---- values ---- */

static bool attr_word(struct pto_parser *p, strid key, struct pto_attr *a)
{
    struct str text = p->tok.text;
    enum pto_enum e = pto_key_enum((enum pto_key)key);
    enum pto_dtype dtype;

    if (str_equal(text, S("true")) || str_equal(text, S("false"))) {
        a->kind = PTO_ATTR_BOOL;
        a->i = text.n == 4;
        pto_advance(p);
        return true;
    }
    if (str_equal(text, S("unit"))) {
        a->kind = PTO_ATTR_UNIT;
        pto_advance(p);
        return true;
    }
    if (e != PTO_ENUM_NONE)
        return enum_word(p, e, a);
    if (str_equal(text, S("array")))
        return array(p, a);
    if (pto_dtype_find(text, &dtype) || str_equal(text, S("vector")) ||
        str_equal(text, S("memref")) || str_equal(text, S("tensor"))) {
        a->kind = PTO_ATTR_TYPE;
        return pto_parse_type(p, &a->type);
    }
    const char *from = p->tok.begin; /* split2, dense<0>, affine_map<..> */
    pto_advance(p);
    return opaque(p, from, a);
}

static bool attr_text_of(struct pto_parser *p, enum pto_attr_kind kind, struct pto_attr *a)
{
    a->kind = kind;
    a->text = pto_name(p, p->tok.text);
    pto_advance(p);
    return true;
}

/* "(i32) -> i32": a function type, kept as it is written. */
static bool function_type(struct pto_parser *p, struct pto_attr *a)
{
    const char *from = p->tok.begin, *to = pto_closing(from, p->lex.end);
    size_t mark = p->list.n;

    if (to == NULL)
        return pto_wrong(p, "pto-ir.syntax", p->tok.line, p->tok.col, "this ( is never closed");
    pto_lex_move(&p->lex, to);
    pto_advance(p);
    bool ok = pto_want_arrow(p) && pto_parse_result_types(p);
    p->list.n = mark;
    return ok && opaque(p, from, a);
}

static bool plain_value(struct pto_parser *p, strid key, struct pto_attr *a)
{
    switch (p->tok.kind) {
    case PTO_T_INT:
    case PTO_T_HEX:
    case PTO_T_FLOAT:
        return parse_attr_number(p, a);
    case PTO_T_STRING:
        return attr_text_of(p, PTO_ATTR_STRING, a);
    case PTO_T_SYMBOL:
        return attr_text_of(p, PTO_ATTR_SYMBOL, a);
    case PTO_T_HASH:
        return hash_attr(p, key, a);
    case PTO_T_WORD:
        return attr_word(p, key, a);
    case PTO_T_TYPE:
        a->kind = PTO_ATTR_TYPE;
        return pto_parse_type(p, &a->type);
    default:
        break;
    }
    if (pto_try(p, '[')) {
        a->kind = PTO_ATTR_LIST;
        return list(p, key, ']', a);
    }
    if (pto_is(p, '{'))
        return dict(p, a);
    if (pto_is(p, '('))
        return function_type(p, a);
    if (pto_is(p, '<') && pto_key_enum((enum pto_key)key) != PTO_ENUM_NONE) {
        pto_advance(p);
        return enum_word(p, pto_key_enum((enum pto_key)key), a) && pto_want(p, '>');
    }
    return pto_expected(p, "a value");
}

static bool attr_value_of(struct pto_parser *p, strid key, struct pto_attr *a)
{
    if (!pto_enter(p))
        return false;
    bool ok = plain_value(p, key, a);
    pto_leave(p);
    return ok;
}

bool pto_parse_attr(struct pto_parser *p, strid key, uint32_t *attr)
{
    struct pto_attr a = {.type = PTO_NONE};

    if (!attr_value_of(p, key, &a))
        return false;
    *attr = attr_put(p, &a);
    return true;
}

bool pto_parse_named(struct pto_parser *p, strid key)
{
    uint32_t attr;

    if (!pto_parse_attr(p, key, &attr))
        return false;
    vec_push(&p->dict, ((struct pto_named){key, attr}));
    return true;
}

/* ---- dictionaries ---- */

static bool pair(struct pto_parser *p, uint32_t from)
{
    struct pto_token t = p->tok;

    if (t.kind != PTO_T_WORD && t.kind != PTO_T_STRING)
        return pto_expected(p, "the name of an attribute");
    strid key = pto_name(p, t.text);
    for (uint32_t i = from; i < p->dict.n; i++)
        if (p->dict.at[i].key == key)
            return pto_wrong(p, "pto-ir.syntax", t.line, t.col, "%.*s is given twice",
                             STR_ARGS(t.text));
    pto_advance(p);
    if (pto_try(p, '='))
        return pto_parse_named(p, key);
    pto_name_attr(p, key, &(struct pto_attr){.kind = PTO_ATTR_UNIT, .type = PTO_NONE});
    return true;
}

bool pto_parse_dict(struct pto_parser *p)
{
    uint32_t from = (uint32_t)p->dict.n;

    if (!pto_try(p, '{') || pto_try(p, '}'))
        return true;
    do {
        if (!pair(p, from))
            return false;
    } while (pto_try(p, ','));
    return pto_want(p, '}');
}

void pto_keep_dict(struct pto_parser *p, uint32_t from, uint32_t *first, uint32_t *count)
{
    *first = (uint32_t)p->m->named.n;
    *count = (uint32_t)p->dict.n - from;
    for (uint32_t i = from; i < p->dict.n; i++)
        vec_push(&p->m->named, p->dict.at[i]);
    p->dict.n = from;
}
