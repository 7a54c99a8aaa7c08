/*
 * What every part of the parser needs: problems, tokens, names of values and their scopes.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "kernels/pto/text/parse_in.h"

/* ---- problems ---- */

bool pto_wrong(struct pto_parser *p, const char *code, uint32_t line, uint32_t col,
               const char *format, ...)
{
    char text[LIMIT_CODE_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pto_problem(p->m, SEV_ERROR, code, line, col, "%s", text);
    if (p->m->error_count > PTO_MAX_PROBLEMS)
        p->lex.at = p->lex.end; /* enough: whoever reads this has work to do */
    return false;
}

bool pto_expected(struct pto_parser *p, const char *what)
{
    struct str found = {p->tok.begin, (size_t)(p->lex.at - p->tok.begin)};

    if (p->tok.kind == PTO_T_END)
        return pto_wrong(p, "pto-ir.syntax", p->tok.line, p->tok.col,
                         "expected %s, but the text ends", what);
    if (found.n > 60)
        found.n = 60;
    return pto_wrong(p, "pto-ir.syntax", p->tok.line, p->tok.col, "expected %s, found %.*s", what,
                     STR_ARGS(found));
}

bool pto_enter(struct pto_parser *p)
{
    if (p->depth < LIMIT_PTO_DEPTH) {
        p->depth++;
        return true;
    }
    pto_wrong(p, "pto-ir.too-deep", p->tok.line, p->tok.col, "more than %d levels of nesting",
              LIMIT_PTO_DEPTH);
    p->lex.at = p->lex.end;
    return false;
}

void pto_leave(struct pto_parser *p)
{
    p->depth--;
}

/* ---- tokens ---- */

void pto_skip_location(struct pto_parser *p)
{
    while (p->tok.kind == PTO_T_WORD && str_equal(p->tok.text, S("loc")) &&
           p->lex.at < p->lex.end && *p->lex.at == '(') {
        uint32_t depth = 0;
        do {
            pto_lex_next(&p->lex, &p->tok);
            depth += pto_is(p, '(');
            depth -= pto_is(p, ')');
        } while (depth > 0 && p->tok.kind != PTO_T_END);
        pto_lex_next(&p->lex, &p->tok);
    }
}

bool pto_try(struct pto_parser *p, char c)
{
    if (!pto_is(p, c))
        return false;
    pto_advance(p);
    return true;
}

bool pto_try_word(struct pto_parser *p, struct str word)
{
    if (!pto_is_word(p, word))
        return false;
    pto_advance(p);
    return true;
}

bool pto_try_arrow(struct pto_parser *p)
{
    if (p->tok.kind != PTO_T_ARROW)
        return false;
    pto_advance(p);
    return true;
}

bool pto_want(struct pto_parser *p, char c)
{
    char what[4] = {'\'', c, '\'', 0};

    return pto_try(p, c) || pto_expected(p, what);
}

bool pto_want_word(struct pto_parser *p, struct str word)
{
    char what[32];

    if (pto_try_word(p, word))
        return true;
    snprintf(what, sizeof(what), "'%.*s'", STR_ARGS(word));
    return pto_expected(p, what);
}

bool pto_want_arrow(struct pto_parser *p)
{
    return pto_try_arrow(p) || pto_expected(p, "'->'");
}

const char *pto_closing(const char *at, const char *end)
{
    uint32_t depth = 0;

    for (const char *q = at; q < end; q++) {
        if (*q == '-' && end - q >= 2 && q[1] == '>') {
            q++;
        } else if (*q == '<' || *q == '(' || *q == '[' || *q == '{') {
            depth++;
        } else if (*q == '>' || *q == ')' || *q == ']' || *q == '}') {
            if (--depth == 0)
                return q + 1;
        }
    }
    return NULL;
}

/* ---- values ---- */

strid pto_name(struct pto_parser *p, struct str text)
{
    strid id = intern_put(&p->m->names, text);

    while (p->visible.n <= id) {
        vec_push(&p->visible, PTO_NONE);
        vec_push(&p->pack, 0);
        vec_push(&p->gone, 0);
        vec_push(&p->codes, 0);
    }
    return id;
}

uint32_t pto_type_of(const struct pto_parser *p, uint32_t value)
{
    return p->m->values.at[p->value_base + value].type;
}

uint32_t pto_value_put(struct pto_parser *p, strid name, uint32_t type, uint32_t op,
                       uint32_t number)
{
    vec_push(&p->m->values, ((struct pto_value){name, type, op, number}));
    return (uint32_t)p->m->values.n - 1 - p->value_base;
}

void pto_show(struct pto_parser *p, const struct pto_token *name, uint32_t first, uint32_t count)
{
    strid id = pto_name(p, name->text);
    uint32_t other = p->visible.at[id];

    /* A name that was missing above is told already. */
    if (other != PTO_NONE && pto_type_of(p, other) != p->poison)
        pto_wrong(p, "pto-ir.defined-twice", name->line, name->col, "%%%.*s is defined already",
                  STR_ARGS(name->text));
    vec_push(&p->undo, ((struct pto_undo){id, p->visible.at[id], p->pack.at[id], name->line}));
    p->visible.at[id] = first;
    p->pack.at[id] = count;
}

uint32_t pto_define(struct pto_parser *p, const struct pto_token *name, uint32_t type, uint32_t op,
                    uint32_t number)
{
    uint32_t value = pto_value_put(p, pto_name(p, name->text), type, op, number);

    pto_show(p, name, value, 1);
    return value;
}

void pto_scope_end(struct pto_parser *p, size_t mark)
{
    while (p->undo.n > mark) {
        struct pto_undo u = p->undo.at[--p->undo.n];
        p->visible.at[u.name] = u.value;
        p->pack.at[u.name] = u.pack;
        p->gone.at[u.name] = u.line;
    }
}

/* A value nobody defined: told once, then taken for defined. */
static uint32_t undefined(struct pto_parser *p, const struct pto_token *t, strid id)
{
    uint32_t gone = p->gone.at[id];

    if (gone != 0)
        pto_wrong(p, "pto-ir.undefined", t->line, t->col,
                  "%%%.*s is not visible here: its definition in line %u is inside a region",
                  STR_ARGS(t->text), gone);
    else
        pto_wrong(p, "pto-ir.undefined", t->line, t->col, "%%%.*s is not defined",
                  STR_ARGS(t->text));
    return pto_define(p, t, p->poison, PTO_NONE, 0);
}

/* Reads %x or %x#1. */
bool pto_parse_operand(struct pto_parser *p, enum pto_role role)
{
    struct pto_token t = p->tok;

    if (t.kind != PTO_T_VALUE)
        return pto_expected(p, "a value");
    pto_advance(p);
    strid id = pto_name(p, t.text);
    uint32_t value = p->visible.at[id];
    if (value == PTO_NONE) {
        value = undefined(p, &t, id);
    } else if (t.number != UINT32_MAX) {
        if (t.number >= p->pack.at[id])
            return pto_wrong(p, "pto-ir.undefined", t.line, t.col, "%%%.*s has %u values",
                             STR_ARGS(t.text), p->pack.at[id]);
        value += t.number;
    }
    vec_push(&p->m->operands, ((struct pto_operand){value, role}));
    return true;
}

void pto_check_type(struct pto_parser *p, uint32_t value, uint32_t type, uint32_t line,
                    uint32_t col)
{
    uint32_t has = pto_type_of(p, value);

    if (has == type || has == p->poison || type == p->poison)
        return;
    struct arena_mark mark = arena_mark(&p->m->arena);
    struct str name = intern_get(&p->m->names, p->m->values.at[p->value_base + value].name);
    struct str is = pto_type_text(p->m, &p->m->arena, has);
    struct str said = pto_type_text(p->m, &p->m->arena, type);
    char text[LIMIT_CODE_TEXT];
    snprintf(text, sizeof(text), "%%%.*s is %.*s, not %.*s", STR_ARGS(name), STR_ARGS(is),
             STR_ARGS(said));
    arena_rewind(&p->m->arena, mark);
    pto_wrong(p, "pto-ir.type-mismatch", line, col, "%s", text);
}
