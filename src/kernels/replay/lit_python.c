/*
 * The literals of a Python module; what would have to run is marked as computed.
 */
#include "kernels/replay/lit_python.h"

#include "base/text/num.h"
#include "kernels/replay/paths.h"
#include "kernels/replay/py_eval.h"

enum {
    KNOWN_MAX = 1024, /* names that stand for literals; each use searches them */
    MADE_MAX = 20000, /* elements that comprehensions make */
    TARGETS = 16,
};

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
    size_t made;
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

static void python_take_number(struct parser *p, bool is_negative, struct tree *out)
{
    struct str text = p->lex.tok.text;
    char buf[64];
    size_t n = 0;
    uint64_t hex = 0;
    bool is_hex = str_starts_nocase(text, S("0x"));

    if (is_negative && !is_hex)
        buf[n++] = '-';
    for (size_t i = 0; i < text.n && n < sizeof(buf); i++)
        if (text.at[i] != '_')
            buf[n++] = text.at[i];
    if (n == sizeof(buf)) /* `out` is a computed value as it came */
        return;
    text = arena_str(p->arena, (struct str){buf, n});
    if (!is_hex && !tree_parse_number(out, text)) {
        out->kind = TREE_COMPUTED;
    } else if (is_hex && num_hex(text, &hex) &&
               !(is_negative && hex > (uint64_t)INT64_MAX + 1)) { /* its sign is not in `text` */
        out->kind = TREE_INT;
        out->i = (int64_t)(is_negative ? 0 - hex : hex);
        out->is_unsigned = !is_negative && hex > INT64_MAX;
    }
}

static void remember(struct parser *p, struct binding b)
{
    if (p->known.n < KNOWN_MAX)
        vec_push(&p->known, b);
}

static void take_name(struct parser *p, struct tree *out)
{
    struct str name = p->lex.tok.text;
    const struct tree *known = NULL;

    for (size_t i = p->known.n; i-- > 0 && known == NULL;)
        if (str_equal(p->known.at[i].name, name))
            known = &p->known.at[i].value;
    advance(p);
    while (known == NULL && is_mark(p, '.') && name.n < 256) {
        advance(p);
        if (p->lex.tok.kind != TOK_NAME)
            break;
        name = arena_format(p->arena, "%.*s.%.*s", STR_ARGS(name), STR_ARGS(p->lex.tok.text));
        advance(p);
    }
    if (str_equal(name, S("True")) || str_equal(name, S("False"))) {
        out->kind = TREE_BOOL;
        out->i = name.n == 4;
    } else if (str_equal(name, S("None"))) {
        out->kind = TREE_NULL;
    } else if (known != NULL) {
        struct tree value = *known;
        value.line = out->line;
        value.next = out->next;
        value.key = out->key;
        *out = value;
    } else {
        out->kind = TREE_NAME;
        out->text = name;
    }
}

static void take_value(struct parser *p, int depth, struct tree *out);

/* "a, (b, c)" in front of "in": the names that an element is given to. */
static size_t take_targets(struct parser *p, struct str *names)
{
    size_t n = 0;

    for (; p->lex.tok.kind != TOK_END; advance(p)) {
        if (p->lex.tok.kind == TOK_NAME && str_equal(p->lex.tok.text, S("in")))
            return n;
        if (p->lex.tok.kind == TOK_NAME && n < TARGETS)
            names[n++] = p->lex.tok.text;
        else if (!is_mark(p, ',') && !is_mark(p, '(') && !is_mark(p, ')'))
            return 0;
    }
    return 0;
}

static bool bind(struct parser *p, const struct str *names, size_t n, const struct tree *item)
{
    const struct tree *one = n > 1 ? tree_items(item) : item;

    if (n > 1 && (item->kind != TREE_LIST || item->n != n))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct binding b = {names[i], *one};
        b.value.next = NULL;
        remember(p, b);
        one = n > 1 ? one->next : one;
    }
    return true;
}

/* "for a, b in LIST]" behind an element that begins at `from`: the element for each of LIST. */
static bool take_comprehension(struct parser *p, int depth, const struct py_lexer *from,
                               struct tree *out)
{
    struct tree items = {0}, made = {.kind = TREE_LIST, .line = out->line};
    struct str names[TARGETS];
    size_t known = p->known.n;

    advance(p);
    size_t n = take_targets(p, names);
    if (n == 0)
        return false;
    advance(p);
    take_value(p, depth + 1, &items);
    struct py_lexer behind = p->lex;
    if (items.kind != TREE_LIST || (!is_mark(p, ']') && !is_mark(p, ')')))
        return false;
    bool is_good = true;
    for (const struct tree *one = items.first; one != NULL && is_good; one = one->next) {
        is_good = p->made++ < MADE_MAX && bind(p, names, n, one);
        p->lex = *from;
        if (is_good)
            take_value(p, depth + 1, tree_add(p->arena, &made));
        p->known.n = known;
    }
    p->lex = behind;
    *out = made;
    return is_good;
}

static bool take_item(struct parser *p, int depth, char close, struct tree *out)
{
    struct py_lexer from = p->lex;

    if (is_mark(p, '*')) { /* "*LIST" and "**MAP" */
        struct tree spread = {0};
        advance(p);
        if (out->kind == TREE_MAP && !take_mark(p, '*'))
            return false;
        take_value(p, depth + 1, &spread);
        if (spread.kind == out->kind)
            py_eval_spread(p->arena, &spread, out);
        return spread.kind == out->kind;
    }
    struct tree *value = tree_add(p->arena, out);
    take_value(p, depth + 1, value);
    if (close == '}') {
        struct tree key = *value;
        if (!take_mark(p, ':'))
            return false;
        take_value(p, depth + 1, value);
        value->key = key.kind == TREE_TEXT ? key.text : (struct str){0};
    } else if (out->n == 1 && p->lex.tok.kind == TOK_NAME && str_equal(p->lex.tok.text, S("for"))) {
        return take_comprehension(p, depth, &from, out);
    }
    return true;
}

/* The inside of brackets up to and with `close`. What has to be run inside makes it a computed
 * value. True for one value without a comma: (x) is x. */
static bool take_items(struct parser *p, int depth, char close, struct tree *out)
{
    int level = p->lex.brackets; /* the opening one is counted */
    bool is_good = true, has_comma = false;

    out->kind = close == '}' ? TREE_MAP : TREE_LIST;
    advance(p);
    while (p->status == ST_OK && is_good && p->lex.tok.kind != TOK_END && !is_mark(p, close)) {
        is_good = take_item(p, depth, close, out);
        bool comma = take_mark(p, ',');
        has_comma = has_comma || comma;
        is_good = is_good && (comma || is_mark(p, close));
    }
    if (!is_good) {
        out->kind = TREE_COMPUTED;
        while (p->lex.tok.kind != TOK_END && p->lex.brackets >= level)
            advance(p);
    }
    take_mark(p, close);
    return is_good && out->n == 1 && !has_comma;
}

/* What a name or an expression between { and } of an f-string gives. */
static bool expression_text(struct parser *p, int depth, struct str expression, struct str *out)
{
    struct py_lexer outside = p->lex;
    struct tree value = {0};

    py_open(&p->lex, expression, p->arena);
    advance(p);
    take_value(p, depth + 1, &value);
    bool is_whole = p->lex.tok.kind == TOK_END || p->lex.tok.kind == TOK_LINE;
    p->lex = outside;
    bool is_number = value.kind == TREE_INT && !value.is_unsigned;
    *out = is_number ? arena_format(p->arena, "%lld", (long long)value.i) : value.text;
    return is_whole && (is_number || value.kind == TREE_TEXT);
}

static bool append_format(struct parser *p, int depth, struct str format, struct text *out)
{
    struct str value;

    for (size_t i = 0; i < format.n; i++) {
        char c = format.at[i];
        bool is_brace = c == '{' || c == '}';
        if (!is_brace || (i + 1 < format.n && format.at[i + 1] == c)) {
            i += is_brace;
            text_char(out, c);
            continue;
        }
        struct str rest = str_part(format, i + 1, format.n);
        size_t end = str_find_char(rest, '}');
        if (c == '}' || end == rest.n || !expression_text(p, depth, str_part(rest, 0, end), &value))
            return false;
        text_put(out, value);
        i += end + 1;
    }
    return true;
}

static void take_strings(struct parser *p, int depth, struct tree *out)
{
    struct text joined = {0};
    bool is_known = true;

    for (; p->lex.tok.kind == TOK_STRING; advance(p)) {
        is_known = is_known && p->lex.tok.is_plain;
        if (!p->lex.tok.is_format)
            text_put(&joined, p->lex.tok.text);
        else if (is_known)
            is_known = append_format(p, depth, p->lex.tok.text, &joined);
    }
    out->kind = is_known ? TREE_TEXT : TREE_COMPUTED;
    out->text = arena_str(p->arena, text_view(&joined));
    text_free(&joined);
}

/* ".name", ".name(..)", "(..)" and "[..]" behind a value, while they can be worked out. */
static void take_trailers(struct parser *p, int depth, struct tree *out)
{
    bool is_good = true;

    while (is_good && p->status == ST_OK) {
        struct tree from = *out, args = {0};
        if (is_mark(p, '(') && from.kind == TREE_NAME) {
            take_items(p, depth, ')', &args);
            is_good = args.kind == TREE_LIST && py_eval_call(p->arena, from.text, &args, out);
        } else if (is_mark(p, '[') && (from.kind == TREE_LIST || from.kind == TREE_MAP)) {
            take_items(p, depth, ']', &args);
            is_good = args.n == 1 && py_eval_item(&from, args.first, out);
        } else if (is_mark(p, '.') && (from.kind == TREE_TEXT || from.kind == TREE_MAP)) {
            advance(p);
            struct str name = p->lex.tok.text;
            advance(p);
            bool is_call = is_mark(p, '(');
            if (is_call)
                take_items(p, depth, ')', &args);
            is_good = py_eval_attribute(p->arena, &from, name, is_call ? &args : NULL, out);
        } else {
            return;
        }
    }
    *out = (struct tree){.kind = TREE_COMPUTED};
}

static void take_operand(struct parser *p, int depth, struct tree *out)
{
    bool is_negative = is_mark(p, '-');

    *out = (struct tree){.kind = TREE_COMPUTED};
    if (is_negative || is_mark(p, '+'))
        advance(p);
    if (p->lex.tok.kind == TOK_NUMBER) {
        python_take_number(p, is_negative, out);
        advance(p);
    } else if (p->lex.tok.kind == TOK_STRING && !is_negative) {
        take_strings(p, depth, out);
    } else if (p->lex.tok.kind == TOK_NAME && !is_negative) {
        take_name(p, out);
    } else if (is_mark(p, '{') || is_mark(p, '[') || is_mark(p, '(')) {
        char close = is_mark(p, '{') ? '}' : is_mark(p, '[') ? ']' : ')';
        if (take_items(p, depth, close, out) && close == ')')
            *out = *out->first;
    }
    if (!is_negative)
        take_trailers(p, depth, out);
}

/* An operator that is next: + - * / or 'd' for two slashes; 0: none. */
static char take_operator(struct parser *p, bool of_sums)
{
    static const char sums[] = "+-", products[] = "*/";

    for (const char *c = of_sums ? sums : products; *c != '\0'; c++)
        if (take_mark(p, *c))
            return *c == '/' && take_mark(p, '/') ? 'd' : *c;
    return 0;
}

static void take_operation(struct parser *p, int depth, bool of_sums, struct tree *out)
{
    if (of_sums)
        take_operation(p, depth, false, out);
    else
        take_operand(p, depth, out);
    for (char op; p->status == ST_OK && (op = take_operator(p, of_sums)) != 0;) {
        struct tree left = *out, right = {0};
        if (of_sums)
            take_operation(p, depth, false, &right);
        else
            take_operand(p, depth, &right);
        if (!py_eval_binary(p->arena, op, &left, &right, out))
            *out = (struct tree){.kind = TREE_COMPUTED};
    }
}

static void take_value(struct parser *p, int depth, struct tree *out)
{
    uint64_t line = p->lex.tok.line;
    struct tree value = {.kind = TREE_COMPUTED};
    bool is_lambda = p->lex.tok.kind == TOK_NAME && str_equal(p->lex.tok.text, S("lambda"));

    if (depth > TREE_DEPTH) {
        if (p->status == ST_OK)
            p->status = diag_fail(p->diag, ST_LIMIT, "replay.bad-python",
                                  (struct where){.path = p->path, .line = line},
                                  "nested deeper than %d levels", TREE_DEPTH);
    } else {
        take_operation(p, depth, true, &value);
        if (!at_border(p) && !is_mark(p, '=')) {
            value = (struct tree){.kind = TREE_COMPUTED};
            skip_expression(p, is_lambda);
        }
    }
    value.line = line;
    value.next = out->next;
    value.key = out->key;
    *out = value;
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

/* A class and the assignments at the first level of its body. */
static void take_class(struct parser *p, struct py_class *out)
{
    size_t column = p->lex.tok.column, known = p->known.n, inner = 0;

    out->line = p->lex.tok.line;
    advance(p);
    if (p->lex.tok.kind == TOK_NAME)
        out->name = p->lex.tok.text;
    skip_line(p);
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
    remember(p, (struct binding){out->name, out->body});
}

static void take_decorator(struct parser *p, struct py_class *out)
{
    struct tree name = {0};

    advance(p);
    if (p->lex.tok.kind == TOK_NAME)
        take_name(p, &name);
    bool is_call = name.kind == TREE_NAME && is_mark(p, '(');
    if (is_call) {
        out->decorator = (struct tree){.kind = TREE_MAP};
        advance(p);
    }
    while (is_call && p->status == ST_OK && p->lex.tok.kind != TOK_END && !is_mark(p, ')')) {
        struct tree key = {0};
        take_value(p, 0, &key);
        if (key.kind == TREE_NAME && take_mark(p, '=')) {
            struct tree *value = tree_add(p->arena, &out->decorator);
            take_value(p, 0, value);
            value->key = key.text;
        }
        if (!take_mark(p, ',') && !is_mark(p, ')'))
            advance(p);
    }
    skip_line(p);
}

enum status py_module_read(struct arena *arena, struct str text, const char *path,
                           struct py_module *out, struct diag *d)
{
    struct parser p = {.arena = arena, .path = path, .diag = d};
    VEC_OF(struct py_class) classes = {0};
    struct py_class next = {0};

    remember(&p,
             (struct binding){S("__file__"),
                              {.kind = TREE_TEXT, .text = str_of(paths_absolute(arena, path))}});
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
