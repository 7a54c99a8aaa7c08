/*
 * The tokens of a Python module.
 */
#include "kernels/replay/lit_python.h"

#include "base/text/char.h"

static char peek(const struct py_lexer *p, size_t ahead)
{
    return ahead < p->text.n - p->at ? p->text.at[p->at + ahead] : '\0';
}

static bool is_letter(char c)
{
    return char_is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static void new_line(struct py_lexer *p)
{
    p->line++;
    p->line_start = p->at;
}

/* Blanks, comments, joined lines; stops in front of a line end that counts. */
static void py_lex_skip_blanks(struct py_lexer *p)
{
    while (p->at < p->text.n) {
        char c = peek(p, 0);
        if (c == '#') {
            while (p->at < p->text.n && peek(p, 0) != '\n')
                p->at++;
        } else if (c == '\\' &&
                   (peek(p, 1) == '\n' || (peek(p, 1) == '\r' && peek(p, 2) == '\n'))) {
            p->at += peek(p, 1) == '\n' ? 2 : 3;
            new_line(p);
        } else if (c == '\n' && (p->brackets > 0 || p->at_start)) {
            p->at++;
            new_line(p);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            p->at++;
        } else {
            return;
        }
    }
}

/* The escape whose backslash was passed; false for one that is not understood. */
static bool take_escape(struct py_lexer *p, char *out)
{
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    char c = peek(p, 0);
    const char *hit = c != '\0' ? strchr(from, c) : NULL;

    if (hit != NULL) {
        *out = to[hit - from];
        p->at++;
        return true;
    }
    if (c == 'x' && char_hex(peek(p, 1)) >= 0 && char_hex(peek(p, 2)) >= 0) {
        *out = (char)(char_hex(peek(p, 1)) * 16 + char_hex(peek(p, 2)));
        p->at += 3;
        return true;
    }
    return false;
}

/* A string from its opening quote on. */
static void take_string(struct py_lexer *p, bool is_raw, bool is_plain)
{
    char quote = peek(p, 0);
    struct str quotes = {quote == '"' ? "\"\"\"" : "'''", 3};
    bool is_long = peek(p, 1) == quote && peek(p, 2) == quote;
    size_t from = p->at + (is_long ? 3 : 1), n = 0;

    /* Decoded text is never longer than what is written: find the end first. */
    size_t end = from;
    while (end < p->text.n) {
        char c = p->text.at[end];
        bool is_close = c == quote && (!is_long || str_starts(str_part(p->text, end, 3), quotes));
        if (c == '\\' && end + 1 < p->text.n)
            end++;
        else if (is_close || (c == '\n' && !is_long))
            break;
        end++;
    }
    if (end > p->text.n)
        end = p->text.n;
    p->at = from < end ? from : end;
    char *out = arena_alloc(p->arena, end - p->at + 1);
    while (p->at < end) {
        char c = peek(p, 0);
        p->at++;
        if (c == '\n')
            new_line(p);
        if (c == '\\' && !is_raw) {
            if (peek(p, 0) == '\n') {
                p->at++;
                new_line(p);
                continue;
            }
            is_plain = take_escape(p, &c) && is_plain;
        }
        out[n++] = c;
    }
    p->at = end;
    if (end < p->text.n && p->text.at[end] == quote)
        p->at += is_long ? 3 : 1;
    else
        is_plain = false; /* it never ends */
    p->tok.kind = TOK_STRING;
    p->tok.is_plain = is_plain;
    p->tok.is_format = false;
    p->tok.text = (struct str){out, n};
}

/* Up to two prefix letters in front of a quote. */
static bool take_prefixed(struct py_lexer *p)
{
    bool is_raw = false, is_plain = true, is_format = false;
    size_t n = 0;

    while (n < 3 && peek(p, n) != '\'' && peek(p, n) != '"') {
        char c = (char)(peek(p, n) | 0x20);
        if (n == 2 || (c != 'r' && c != 'u' && c != 'b' && c != 'f'))
            return false;
        is_raw = is_raw || c == 'r';
        is_format = is_format || c == 'f';
        is_plain = is_plain && c != 'b';
        n++;
    }
    p->at += n;
    take_string(p, is_raw, is_plain);
    p->tok.is_format = is_format;
    return true;
}

static void take_word(struct py_lexer *p, enum py_kind kind)
{
    size_t from = p->at;

    while (is_letter(peek(p, 0)) || char_is_digit(peek(p, 0)) ||
           (kind == TOK_NUMBER &&
            (peek(p, 0) == '.' ||
             ((peek(p, 0) == '+' || peek(p, 0) == '-') && (p->text.at[p->at - 1] | 0x20) == 'e' &&
              (peek(p, 1) != '\0' && char_is_digit(peek(p, 1)))))))
        p->at++;
    p->tok.kind = kind;
    p->tok.text = str_part(p->text, from, p->at - from);
}

void py_next(struct py_lexer *p)
{
    py_lex_skip_blanks(p);
    char c = peek(p, 0);
    p->tok = (struct py_token){
        .line = p->line, .column = p->at - p->line_start, .text = str_part(p->text, p->at, 1)};
    if (p->at >= p->text.n) {
        p->tok.kind = TOK_END;
        return;
    }
    p->at_start = false;
    if (c == '\n') {
        p->tok.kind = TOK_LINE;
        p->at++;
        new_line(p);
        p->at_start = true;
    } else if (c == '\'' || c == '"') {
        take_string(p, false, true);
    } else if (is_letter(c)) {
        if (!take_prefixed(p))
            take_word(p, TOK_NAME);
    } else if (char_is_digit(c) || (c == '.' && char_is_digit(peek(p, 1)))) {
        take_word(p, TOK_NUMBER);
    } else {
        p->tok.kind = TOK_MARK;
        p->at++;
        if (strchr("([{", c) != NULL && c != '\0')
            p->brackets++;
        if (strchr(")]}", c) != NULL && c != '\0' && p->brackets > 0)
            p->brackets--;
    }
}

void py_open(struct py_lexer *p, struct str text, struct arena *arena)
{
    *p = (struct py_lexer){.text = text, .line = 1, .at_start = true, .arena = arena};
    if (str_starts(text, S("\xef\xbb\xbf")))
        p->at = p->line_start = 3;
}
