/*
 * The literals of a Python module; what would have to run is marked as computed.
 */
#include "replay/lit_python.h"

#include "base/num.h"
#include "replay/py_lex.h"

enum { KNOWN_MAX = 1024 }; /* names that stand for literals; each use searches them */

struct binding {
    struct str name;
    struct tree value;
};

struct parser {
    struct py_lexer lex;
    struct arena *arena;
    const char *path;
    struct diag *diag;
    enum status status;
    VEC_OF(struct binding) known; /* literals by name; later ones win */
};

static void advance(struct parser *p)
{
    py_next(&p->lex);
}

static bool is_mark(const struct parser *p, char c)
{
    return p->lex.tok.kind == TOK_MARK && p->lex.tok.text.at[0] == c;
}

static bool take_mark(struct parser *p, char c)
{
    if (!is_mark(p, c))
        return false;
    advance(p);
    return true;
}

/* Does a value end here? `for` makes a comprehension of the brackets around it. */
static bool at_border(const struct parser *p)
{
    return p->lex.tok.kind == TOK_END || p->lex.tok.kind == TOK_LINE || is_mark(p, ',') ||
           is_mark(p, ')') || is_mark(p, ']') || is_mark(p, '}') || is_mark(p, ':') ||
           is_mark(p, ';') || (p->lex.tok.kind == TOK_NAME && str_equal(p->lex.tok.text, S("for")));
}

/* To the border of the expression that was begun, over all brackets opened on the way. */
static void skip_expression(struct parser *p, bool is_lambda)
{
    int lambdas = is_lambda, base = p->lex.brackets;

    if (is_mark(p, '(') || is_mark(p, '[') || is_mark(p, '{'))
        base--;
    while (p->lex.tok.kind != TOK_END) {
        bool is_close = is_mark(p, ')') || is_mark(p, ']') || is_mark(p, '}');
        bool is_end = is_close ? p->lex.brackets < base : p->lex.brackets <= base && at_border(p);
        if (p->lex.tok.kind == TOK_NAME && p->lex.brackets == base &&
            str_equal(p->lex.tok.text, S("lambda")))
            lambdas++;
        if (is_end && !(is_mark(p, ':') && lambdas-- > 0))
            return;
        advance(p);
    }
}

/* 0xff, without the sign that stood in front of it. */
static void take_hex(struct str text, bool is_negative, struct tree *out)
{
    uint64_t size = 0;

    if (!num_hex(text, &size) || (is_negative && size > (uint64_t)INT64_MAX + 1))
        return;
    out->kind = TREE_INT;
    out->i = (int64_t)(is_negative ? 0 - size : size);
    out->is_unsigned = !is_negative && size > INT64_MAX;
}

static void take_number(struct parser *p, bool is_negative, struct tree *out)
{
    struct str text = p->lex.tok.text;
    char buf[64];
    size_t n = 0;
    bool is_hex = str_starts_nocase(text, S("0x"));

    if (is_negative && !is_hex)
        buf[n++] = '-';
    for (size_t i = 0; i < text.n && n < sizeof(buf); i++)
        if (text.at[i] != '_')
            buf[n++] = text.at[i];
    if (n == sizeof(buf)) /* `out` is a computed value as it came */
        return;
    text = arena_str(p->arena, (struct str){buf, n});
    if (is_hex)
        take_hex(text, is_negative, out);
    else if (!tree_take_number(out, text))
        out->kind = TREE_COMPUTED;
}

static void remember(struct parser *p, struct binding b)
{
    if (p->known.n < KNOWN_MAX)
        vec_push(&p->known, b);
}

static const struct tree *find_known(const struct parser *p, struct str name)
{
    for (size_t i = p->known.n; i-- > 0;)
        if (str_equal(p->known.at[i].name, name))
            return &p->known.at[i].value;
    return NULL;
}

static void take_name(struct parser *p, struct tree *out)
{
    struct str name = p->lex.tok.text;
    const struct tree *known = find_known(p, name);

    advance(p);
    while (is_mark(p, '.') && name.n < 256) {
        advance(p);
        if (p->lex.tok.kind != TOK_NAME)
            break;
        name = arena_format(p->arena, "%.*s.%.*s", STR_ARGS(name), STR_ARGS(p->lex.tok.text));
        known = NULL;
        advance(p);
    }
    if (str_equal(name, S("True")) || str_equal(name, S("False"))) {
        out->kind = TREE_BOOL;
        out->i = name.n == 4;
    } else if (str_equal(name, S("None"))) {
        out->kind = TREE_NULL;
    } else if (known != NULL) {
        uint64_t line = out->line;
        *out = *known;
        out->line = line;
    } else {
        out->kind = TREE_NAME;
        out->text = name;
    }
}

static void take_value(struct parser *p, int depth, struct tree *out);

/* The inside of brackets up to and with `close`. A comprehension, an unpacking or a call inside
 * makes it a computed value. */
static void take_items(struct parser *p, int depth, char close, struct tree *out)
{
    int level = p->lex.brackets; /* the opening one is counted */
    bool is_good = true, has_comma = false;

    out->kind = close == '}' ? TREE_MAP : TREE_LIST;
    advance(p);
    while (p->status == ST_OK && is_good && p->lex.tok.kind != TOK_END && !is_mark(p, close)) {
        struct tree *value = tree_add(p->arena, out);
        take_value(p, depth + 1, value);
        if (close == '}') {
            struct tree key = *value;
            is_good = take_mark(p, ':');
            if (is_good)
                take_value(p, depth + 1, value);
            value->key = key.kind == TREE_TEXT ? key.text : (struct str){0};
        }
        bool comma = take_mark(p, ',');
        has_comma = has_comma || comma;
        is_good = is_good && (comma || is_mark(p, close));
    }
    if (close == ')' && out->n == 1 && !has_comma) /* (x) is x */
        *out = *out->first;
    if (!is_good) {
        out->kind = TREE_COMPUTED;
        while (p->lex.tok.kind != TOK_END && p->lex.brackets >= level)
            advance(p);
    }
    take_mark(p, close);
}

static void take_strings(struct parser *p, struct tree *out)
{
    VEC_OF(char) joined = {0};

    out->kind = TREE_TEXT;
    for (; p->lex.tok.kind == TOK_STRING; advance(p)) {
        if (!p->lex.tok.is_plain)
            out->kind = TREE_COMPUTED;
        for (size_t i = 0; i < p->lex.tok.text.n; i++)
            vec_push(&joined, p->lex.tok.text.at[i]);
    }
    out->text = arena_str(p->arena, (struct str){joined.at, joined.n});
    vec_free(&joined);
}

static void take_value(struct parser *p, int depth, struct tree *out)
{
    uint64_t line = p->lex.tok.line;

    *out = (struct tree){.kind = TREE_COMPUTED, .line = line};
    if (depth > TREE_DEPTH) {
        if (p->status == ST_OK)
            p->status = diag_fail(p->diag, ST_LIMIT, "replay.bad-python",
                                  (struct where){.path = p->path, .line = line},
                                  "nested deeper than %d levels", TREE_DEPTH);
        return;
    }
    bool is_negative = is_mark(p, '-');
    bool is_lambda = p->lex.tok.kind == TOK_NAME && str_equal(p->lex.tok.text, S("lambda"));
    if (is_negative || is_mark(p, '+'))
        advance(p);
    if (p->lex.tok.kind == TOK_NUMBER) {
        take_number(p, is_negative, out);
        advance(p);
    } else if (p->lex.tok.kind == TOK_STRING && !is_negative) {
        take_strings(p, out);
    } else if (p->lex.tok.kind == TOK_NAME && !is_negative) {
        take_name(p, out);
    } else if (is_mark(p, '{') || is_mark(p, '[') || is_mark(p, '(')) {
        char close = is_mark(p, '{') ? '}' : is_mark(p, '[') ? ']' : ')';
        take_items(p, depth, close, out);
    }
    if (!at_border(p) && !is_mark(p, '=')) {
        *out = (struct tree){.kind = TREE_COMPUTED, .line = line};
        skip_expression(p, is_lambda);
    }
    out->line = line;
}

/* The keywords of a call, from its opening bracket on. */
static void take_keywords(struct parser *p, struct tree *out)
{
    *out = (struct tree){.kind = TREE_MAP};
    advance(p);
    while (p->status == ST_OK && p->lex.tok.kind != TOK_END && !is_mark(p, ')')) {
        struct tree key = {0};
        take_value(p, 0, &key);
        if (key.kind == TREE_NAME && take_mark(p, '=')) {
            struct tree *value = tree_add(p->arena, out);
            take_value(p, 0, value);
            value->key = key.text;
        }
        if (!take_mark(p, ',') && !is_mark(p, ')'))
            advance(p);
    }
}

/* To the first token of the next logical line. */
static void skip_line(struct parser *p)
{
    while (p->lex.tok.kind != TOK_END && p->lex.tok.kind != TOK_LINE)
        advance(p);
    if (p->lex.tok.kind == TOK_LINE)
        advance(p);
}

/* NAME = VALUE, also NAME: TYPE = VALUE; false for another statement. The line is used up. */
static bool take_assignment(struct parser *p, struct binding *out)
{
    bool is_one = false;

    if (p->lex.tok.kind == TOK_NAME) {
        out->name = p->lex.tok.text;
        advance(p);
        if (take_mark(p, ':'))
            while (p->lex.tok.kind != TOK_END && p->lex.tok.kind != TOK_LINE && !is_mark(p, '='))
                advance(p);
        if (take_mark(p, '=') && !is_mark(p, '=')) {
            take_value(p, 0, &out->value);
            is_one = p->lex.tok.kind == TOK_LINE || p->lex.tok.kind == TOK_END || is_mark(p, ';');
        }
    }
    skip_line(p);
    return is_one;
}

/* The assignments at the first level of a class's body; `column` is that of `class`. */
static void take_body(struct parser *p, size_t column, struct py_class *out)
{
    size_t known = p->known.n, inner = 0;

    out->body.kind = TREE_MAP;
    while (p->status == ST_OK && p->lex.tok.kind != TOK_END && p->lex.tok.column > column) {
        struct binding b = {0};
        if (inner == 0)
            inner = p->lex.tok.column;
        if (p->lex.tok.column != inner) {
            skip_line(p);
        } else if (take_assignment(p, &b)) {
            struct tree *value = tree_add(p->arena, &out->body);
            *value = b.value;
            value->key = b.name;
            remember(p, b);
        }
    }
    p->known.n = known;
}

static void take_class(struct parser *p, struct py_class *out)
{
    size_t column = p->lex.tok.column;

    out->line = p->lex.tok.line;
    advance(p);
    if (p->lex.tok.kind == TOK_NAME)
        out->name = p->lex.tok.text;
    skip_line(p);
    take_body(p, column, out);
}

static void take_decorator(struct parser *p, struct py_class *out)
{
    struct tree name = {0};

    advance(p);
    if (p->lex.tok.kind == TOK_NAME)
        take_name(p, &name);
    if (name.kind == TREE_NAME && is_mark(p, '(')) {
        out->decorator_name = name.text;
        take_keywords(p, &out->decorator);
    }
    skip_line(p);
}

enum status py_module_read(struct arena *arena, struct str text, const char *path,
                           struct py_module *out, struct diag *d)
{
    struct parser p = {.arena = arena, .path = path, .diag = d};
    VEC_OF(struct py_class) classes = {0};
    struct py_class next = {0};

    py_open(&p.lex, text, arena);
    advance(&p);
    while (p.status == ST_OK && p.lex.tok.kind != TOK_END) {
        struct binding b = {0};
        if (p.lex.tok.column > 0) {
            skip_line(&p);
        } else if (is_mark(&p, '@')) {
            take_decorator(&p, &next);
        } else if (p.lex.tok.kind == TOK_NAME && str_equal(p.lex.tok.text, S("class"))) {
            take_class(&p, &next);
            vec_push(&classes, next);
            next = (struct py_class){0};
        } else {
            next = (struct py_class){0};
            if (take_assignment(&p, &b))
                remember(&p, b);
        }
    }
    out->n = classes.n;
    out->at = ARENA_ARRAY(arena, struct py_class, classes.n);
    if (classes.n > 0)
        memcpy(out->at, classes.at, classes.n * sizeof(*classes.at));
    vec_free(&classes);
    vec_free(&p.known);
    return p.status;
}
