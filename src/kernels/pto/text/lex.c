/*
 * The tokens of PTO text.
 */
#include "kernels/pto/text/lex.h"

#include "base/text/char.h"

static const char *const punctuation = "()[]{}<>,:=*+?";

void pto_lex_open(struct pto_lex *lex, struct str text)
{
    const char *at = text.n > 0 ? text.at : "";

    *lex = (struct pto_lex){.at = at, .end = at + text.n, .line_begin = at, .line = 1};
}

void pto_lex_move(struct pto_lex *lex, const char *at)
{
    const char *p = lex->at;

    while (p < at && (p = memchr(p, '\n', (size_t)(at - p))) != NULL) {
        lex->line++;
        lex->line_begin = ++p;
    }
    lex->at = at;
}

static void lex_skip_blanks(struct pto_lex *lex)
{
    const char *p = lex->at, *end = lex->end;

    for (; p < end; p++) {
        if (*p == '\n') {
            lex->line++;
            lex->line_begin = p + 1;
        } else if (*p == '/' && end - p >= 2 && p[1] == '/') {
            const char *stop = memchr(p, '\n', (size_t)(end - p));
            p = (stop != NULL ? stop : end) - 1;
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
    }
    lex->at = p;
}

static const char *skip_word(const char *p, const char *end)
{
    while (p < end && pto_lex_is_word_byte(*p))
        p++;
    return p;
}

/* Value names may hold dashes, but the arrow behind a name is none. */
static const char *skip_name(const char *p, const char *end)
{
    while (p < end && (pto_lex_is_word_byte(*p) || (*p == '-' && !(end - p >= 2 && p[1] == '>'))))
        p++;
    return p;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && char_is_digit(*p))
        p++;
    return p;
}

/* A number at p, which may start with a minus sign. */
static const char *lex_number(struct pto_token *t, const char *p, const char *end)
{
    const char *digits = *p == '-' ? p + 1 : p;

    t->kind = PTO_T_INT;
    if (end - digits >= 3 && digits[0] == '0' && digits[1] == 'x' && char_hex(digits[2]) >= 0) {
        t->kind = PTO_T_HEX;
        for (p = digits + 2; p < end && char_hex(*p) >= 0;)
            p++;
        return p;
    }
    p = skip_digits(digits, end);
    if (p < end && *p == '.') {
        t->kind = PTO_T_FLOAT;
        p = skip_digits(p + 1, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *power = p + 1;
        if (power < end && (*power == '+' || *power == '-'))
            power++;
        if (power < end && char_is_digit(*power)) {
            t->kind = PTO_T_FLOAT;
            p = skip_digits(power, end);
        }
    }
    return p;
}

/* Up to the closing quote; a string does not leave its line. */
static const char *string(struct pto_token *t, const char *p, const char *end)
{
    const char *from = p + 1;

    for (p = from; p < end && *p != '"' && *p != '\n'; p++)
        if (*p == '\\' && end - p >= 2 && p[1] != '\n')
            p++;
    t->text = (struct str){from, (size_t)(p - from)};
    if (p == end || *p == '\n') {
        t->kind = PTO_T_BAD;
        return p;
    }
    t->kind = PTO_T_STRING;
    return p + 1;
}

/* A name behind its sign, which is one of % @ ^ ! #. */
static const char *signed_name(struct pto_token *t, const char *p, const char *end)
{
    static const struct {
        char sign;
        enum pto_token_kind kind;
    } signs[] = {{'%', PTO_T_VALUE},
                 {'@', PTO_T_SYMBOL},
                 {'^', PTO_T_LABEL},
                 {'!', PTO_T_TYPE},
                 {'#', PTO_T_HASH}};
    const char *from = p + 1, *to;

    t->kind = PTO_T_BAD;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (*p == signs[i].sign)
            t->kind = signs[i].kind;
    if (t->kind == PTO_T_SYMBOL && from < end && *from == '"') {
        to = string(t, from, end);
        if (t->kind == PTO_T_STRING)
            t->kind = PTO_T_SYMBOL;
        return to;
    }
    to = t->kind == PTO_T_VALUE || t->kind == PTO_T_LABEL ? skip_name(from, end)
                                                          : skip_word(from, end);
    t->text = (struct str){from, (size_t)(to - from)};
    if (to == from)
        t->kind = PTO_T_BAD;
    if (t->kind == PTO_T_VALUE && end - to >= 2 && *to == '#' && char_is_digit(to[1])) {
        uint64_t value = 0;
        for (to++; to < end && char_is_digit(*to); to++)
            if (value < UINT32_MAX)
                value = value * 10 + (uint64_t)(*to - '0');
        t->number = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX - 1;
    }
    return to;
}

void pto_lex_next(struct pto_lex *lex, struct pto_token *t)
{
    lex_skip_blanks(lex);
    const char *p = lex->at, *end = lex->end;

    t->begin = p;
    t->line = lex->line;
    t->col = (uint32_t)(p - lex->line_begin) + 1;
    t->number = UINT32_MAX;
    t->text = (struct str){p, 0};
    if (p == end) {
        t->kind = PTO_T_END;
        return;
    }
    char c = *p;
    if (c == '%' || c == '@' || c == '^' || c == '!' || c == '#') {
        lex->at = signed_name(t, p, end);
        return;
    }
    if (c == '"') {
        lex->at = string(t, p, end);
        return;
    }
    if (c == '-' && end - p >= 2 && p[1] == '>') {
        t->kind = PTO_T_ARROW;
        lex->at = p + 2;
    } else if (char_is_digit(c) || (c == '-' && end - p >= 2 && char_is_digit(p[1]))) {
        lex->at = lex_number(t, p, end);
    } else if (pto_lex_is_word_byte(c)) {
        t->kind = PTO_T_WORD;
        lex->at = skip_word(p, end);
    } else {
        t->kind = c != 0 && strchr(punctuation, c) != NULL ? PTO_T_PUNCT : PTO_T_BAD;
        lex->at = p + 1;
    }
    t->text = (struct str){p, (size_t)(lex->at - p)};
}
