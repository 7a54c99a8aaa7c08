#include "perfdb/grid_expr.h"

#include "base/chars.h"
#include "base/num.h"
#include "base/vec.h"
#include "perfdb/grid_number.h"

enum op {
    OP_NUMBER, /* push .value */
    OP_NAME,   /* push values[.value] */
    OP_NEGATE,
    OP_PLUS, /* of a truth value: makes it a number */
    OP_NOT,
    OP_ABS,
    OP_ADD, /* from here on two operands */
    OP_SUB,
    OP_MUL,
    OP_FLOOR,
    OP_DIVIDE,
    OP_MODULO,
    OP_POWER,
    OP_MAX,
    OP_MIN,
    OP_ALIGN,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_AND, /* the left operand decides: keep it and jump to .value; else drop it */
    OP_OR,
    OP_CHAIN, /* a < b in front of another comparison: keep b, or False and jump */
};

struct grid_step {
    enum op op, compare; /* compare: of OP_CHAIN */
    int64_t value;
};

enum token { T_END, T_INT, T_NAME, T_SIGN, T_BAD };

struct parser {
    struct arena *arena;
    struct str text;
    struct grid_names names;
    size_t at; /* behind the token */
    enum token token;
    struct str word; /* the token's text */
    int depth;
    size_t stack, stack_most; /* operands waiting */
    const char *error;
    VEC_OF(struct grid_step) steps;
};

static void parse_or(struct parser *p);

static void fail(struct parser *p, const char *why)
{
    if (p->error == NULL)
        p->error = why;
    p->token = T_BAD;
}

static bool is_letter(char c)
{
    return char_is_letter(c) || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void advance(struct parser *p)
{
    static const struct str signs[] = {S_INIT("**"), S_INIT("//"), S_INIT("<="), S_INIT(">="),
                                       S_INIT("=="), S_INIT("!="), S_INIT("<"),  S_INIT(">"),
                                       S_INIT("+"),  S_INIT("-"),  S_INIT("*"),  S_INIT("/"),
                                       S_INIT("%"),  S_INIT("("),  S_INIT(")"),  S_INIT(",")};

    if (p->error != NULL)
        return;
    while (p->at < p->text.n && is_blank(p->text.at[p->at]))
        p->at++;
    struct str rest = str_part(p->text, p->at, p->text.n);
    size_t n = 0;
    p->token = T_END;
    if (rest.n == 0) {
        p->word = S("the end");
        return;
    }
    if (char_is_digit(rest.at[0])) {
        p->token = T_INT;
        n = str_digits(rest);
    } else if (is_letter(rest.at[0])) {
        p->token = T_NAME;
        while (n < rest.n && char_is_word(rest.at[n]))
            n++;
    } else {
        for (size_t k = 0; k < ARRAY_LEN(signs) && n == 0; k++)
            if (str_starts(rest, signs[k])) {
                p->token = T_SIGN;
                n = signs[k].n;
            }
    }
    p->word = str_part(rest, 0, n > 0 ? n : 1);
    p->at += p->word.n;
    if (n == 0)
        fail(p, arena_format(p->arena, "unexpected character '%.*s'", STR_ARGS(p->word)).at);
}

static bool is_sign(const struct parser *p, struct str sign)
{
    return p->token == T_SIGN && str_equal(p->word, sign);
}

static bool is_word(const struct parser *p, struct str word)
{
    return p->token == T_NAME && str_equal(p->word, word);
}

static bool take(struct parser *p, struct str sign)
{
    if (!is_sign(p, sign))
        return false;
    advance(p);
    return true;
}

static size_t emit(struct parser *p, enum op op, int64_t value)
{
    if (op <= OP_NAME)
        p->stack++;
    else if (op >= OP_ADD)
        p->stack--;
    if (p->stack > p->stack_most)
        p->stack_most = p->stack;
    vec_push(&p->steps, ((struct grid_step){.op = op, .value = value}));
    return p->steps.n - 1;
}

/* Every way down that can repeat itself passes here. */
static bool enter(struct parser *p)
{
    if (++p->depth > GRID_EXPR_DEPTH)
        fail(p, "nested too deeply");
    return p->error == NULL;
}

static void expect(struct parser *p, struct str sign)
{
    if (p->error == NULL && !take(p, sign))
        fail(p, arena_format(p->arena, "'%.*s' expected before '%.*s'", STR_ARGS(sign),
                             STR_ARGS(p->word))
                    .at);
}

static void parse_call(struct parser *p, struct str name)
{
    static const struct function {
        struct str name;
        enum op op;
        int arguments; /* 0: one or more, folded pair by pair */
    } functions[] = {
        {S_INIT("max"), OP_MAX, 0},
        {S_INIT("min"), OP_MIN, 0},
        {S_INIT("abs"), OP_ABS, 1},
        {S_INIT("align"), OP_ALIGN, 2},
    };
    const struct function *f = NULL;

    for (size_t k = 0; k < ARRAY_LEN(functions); k++)
        if (str_equal(functions[k].name, name))
            f = &functions[k];
    if (f == NULL) {
        fail(p, arena_format(p->arena, "no function is called '%.*s'", STR_ARGS(name)).at);
        return;
    }
    int n = 0;
    do {
        parse_or(p);
        n++;
        if (f->arguments == 0 && n > 1)
            emit(p, f->op, 0);
    } while (p->error == NULL && take(p, S(",")));
    if (p->error == NULL && f->arguments != 0 && n != f->arguments)
        fail(p, arena_format(p->arena, "%.*s() takes %d, not %d arguments", STR_ARGS(name),
                             f->arguments, n)
                    .at);
    if (f->arguments != 0)
        emit(p, f->op, 0);
    expect(p, S(")"));
}

static void parse_name(struct parser *p)
{
    struct str name = p->word;

    if (str_equal(name, S("and")) || str_equal(name, S("or")) || str_equal(name, S("not"))) {
        fail(p, arena_format(p->arena, "a value expected before '%.*s'", STR_ARGS(name)).at);
        return;
    }
    advance(p);
    if (take(p, S("("))) {
        parse_call(p, name);
        return;
    }
    for (size_t i = 0; i < p->names.n; i++)
        if (str_equal(p->names.at[i], name)) {
            emit(p, OP_NAME, (int64_t)i);
            return;
        }
    fail(p, arena_format(p->arena, "no variable is called '%.*s'", STR_ARGS(name)).at);
}

static void parse_atom(struct parser *p)
{
    int64_t value;

    if (!enter(p))
        return;
    if (p->token == T_INT) {
        if (p->word.n > 1 && p->word.at[0] == '0')
            fail(p, "a number with leading zeros");
        else if (!num_i64(p->word, &value))
            fail(p, "a number beyond 64 bits");
        else
            emit(p, OP_NUMBER, value);
        advance(p);
    } else if (p->token == T_NAME) {
        parse_name(p);
    } else if (take(p, S("("))) {
        parse_or(p);
        expect(p, S(")"));
    } else {
        fail(p, arena_format(p->arena, "a value expected before '%.*s'", STR_ARGS(p->word)).at);
    }
    p->depth--;
}

static void parse_unary(struct parser *p)
{
    if (!enter(p))
        return;
    if (take(p, S("-"))) {
        parse_unary(p);
        emit(p, OP_NEGATE, 0);
    } else if (take(p, S("+"))) {
        parse_unary(p);
        emit(p, OP_PLUS, 0);
    } else {
        parse_atom(p);
        if (take(p, S("**"))) {
            parse_unary(p);
            emit(p, OP_POWER, 0);
        }
    }
    p->depth--;
}

static bool take_any(struct parser *p, const struct str *signs, const enum op *ops, size_t n,
                     enum op *op)
{
    for (size_t k = 0; k < n && p->error == NULL; k++)
        if (take(p, signs[k])) {
            *op = ops[k];
            return true;
        }
    return false;
}

static void parse_term(struct parser *p)
{
    static const struct str signs[] = {S_INIT("*"), S_INIT("//"), S_INIT("/"), S_INIT("%")};
    static const enum op ops[] = {OP_MUL, OP_FLOOR, OP_DIVIDE, OP_MODULO};
    enum op op;

    parse_unary(p);
    while (take_any(p, signs, ops, ARRAY_LEN(signs), &op)) {
        parse_unary(p);
        emit(p, op, 0);
    }
}

static void parse_sum(struct parser *p)
{
    static const struct str signs[] = {S_INIT("+"), S_INIT("-")};
    static const enum op ops[] = {OP_ADD, OP_SUB};
    enum op op;

    parse_term(p);
    while (take_any(p, signs, ops, ARRAY_LEN(signs), &op)) {
        parse_term(p);
        emit(p, op, 0);
    }
}

/* The jumps in `from`.. that are still open lead behind the last step. */
static void land(struct parser *p, size_t from, enum op op)
{
    for (size_t i = from; i < p->steps.n; i++)
        if (p->steps.at[i].op == op && p->steps.at[i].value < 0)
            p->steps.at[i].value = (int64_t)p->steps.n;
}

static void parse_comparison(struct parser *p)
{
    static const struct str signs[] = {S_INIT("<"),  S_INIT("<="), S_INIT(">"),
                                       S_INIT(">="), S_INIT("=="), S_INIT("!=")};
    static const enum op ops[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE};
    enum op op, next;
    size_t from = p->steps.n;

    parse_sum(p);
    if (!take_any(p, signs, ops, ARRAY_LEN(signs), &op))
        return;
    parse_sum(p);
    while (take_any(p, signs, ops, ARRAY_LEN(signs), &next)) {
        size_t chain = emit(p, OP_CHAIN, -1);
        p->steps.at[chain].compare = op;
        op = next;
        parse_sum(p);
    }
    emit(p, op, 0);
    land(p, from, OP_CHAIN);
}

static void parse_not(struct parser *p)
{
    if (!enter(p))
        return;
    if (is_word(p, S("not"))) {
        advance(p);
        parse_not(p);
        emit(p, OP_NOT, 0);
    } else {
        parse_comparison(p);
    }
    p->depth--;
}

static void parse_and(struct parser *p)
{
    size_t from = p->steps.n;

    parse_not(p);
    while (p->error == NULL && is_word(p, S("and"))) {
        advance(p);
        emit(p, OP_AND, -1);
        parse_not(p);
    }
    land(p, from, OP_AND);
}

static void parse_or(struct parser *p)
{
    size_t from = p->steps.n;

    parse_and(p);
    while (p->error == NULL && is_word(p, S("or"))) {
        advance(p);
        emit(p, OP_OR, -1);
        parse_and(p);
    }
    land(p, from, OP_OR);
}

const char *grid_expr_compile(struct arena *arena, struct str text, struct grid_names names,
                              struct grid_expr *out)
{
    struct parser p = {.arena = arena, .text = text, .names = names};

    if (text.n > GRID_EXPR_BYTES)
        return "longer than an expression may be";
    if (str_trim(text).n == 0)
        return "an empty expression";
    if (str_find_char(text, '.') < text.n)
        return "'.' has no place in an expression";
    if (str_contains(text, S("__")))
        return "'__' has no place in an expression";
    advance(&p);
    parse_or(&p);
    if (p.error == NULL && p.token != T_END)
        fail(&p, arena_format(arena, "an operator expected before '%.*s'", STR_ARGS(p.word)).at);
    if (p.error == NULL && p.stack_most > GRID_EXPR_STACK)
        fail(&p, "nested too deeply");
    if (p.error == NULL) {
        struct grid_step *steps = ARENA_ARRAY(arena, struct grid_step, p.steps.n);
        memcpy(steps, p.steps.at, p.steps.n * sizeof(*steps));
        *out = (struct grid_expr){steps, p.steps.n, text};
    }
    vec_free(&p.steps);
    return p.error;
}

static struct grid_value truth(bool is_true)
{
    return (struct grid_value){.kind = GRID_BOOL, .i = is_true};
}

static bool holds(enum op op, struct grid_value a, struct grid_value b)
{
    int order = grid_compare(a, b);

    switch (op) {
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    case OP_GE:
        return order >= 0;
    case OP_EQ:
        return order == 0;
    default:
        return order != 0;
    }
}

/* One or two operands to one value; the result replaces `a`. */
static const char *apply(enum op op, struct grid_value *a, struct grid_value b)
{
    switch (op) {
    case OP_NEGATE:
        return grid_negate(a);
    case OP_PLUS:
        if (a->kind == GRID_BOOL)
            a->kind = GRID_INT;
        return NULL;
    case OP_NOT:
        *a = truth(!grid_value_is_true(*a));
        return NULL;
    case OP_ABS:
        if (grid_compare(*a, (struct grid_value){0}) < 0)
            return grid_negate(a);
        return apply(OP_PLUS, a, b);
    case OP_ADD:
        return grid_add(a, b);
    case OP_SUB:
        return grid_sub(a, b);
    case OP_MUL:
        return grid_mul(a, b);
    case OP_FLOOR:
        return grid_floor_divide(a, b);
    case OP_DIVIDE:
        return grid_divide(a, b);
    case OP_MODULO:
        return grid_modulo(a, b);
    case OP_POWER:
        return grid_power(a, b);
    case OP_MAX:
        *a = grid_compare(b, *a) > 0 ? b : *a;
        return NULL;
    case OP_MIN:
        *a = grid_compare(b, *a) < 0 ? b : *a;
        return NULL;
    case OP_ALIGN:
        return grid_align(a, b);
    default:
        *a = truth(holds(op, *a, b));
        return NULL;
    }
}

const char *grid_expr_run(const struct grid_expr *e, const int64_t *values, struct grid_value *out)
{
    struct grid_value stack[GRID_EXPR_STACK];
    size_t n = 0;

    stack[0] = (struct grid_value){0};
#ifdef __clang_analyzer__ /* it cannot see that a step reads only what those before it pushed */
    memset(stack, 0, sizeof(stack));
#endif
    for (size_t i = 0; i < e->n; i++) {
        const struct grid_step *s = &e->step[i];
        const char *error = NULL;

        if (s->op == OP_NUMBER || s->op == OP_NAME) {
            stack[n++] = (struct grid_value){.kind = GRID_INT,
                                             .i = s->op == OP_NUMBER ? s->value : values[s->value]};
        } else if (s->op == OP_AND || s->op == OP_OR) {
            if (grid_value_is_true(stack[n - 1]) == (s->op == OP_OR))
                i = (size_t)s->value - 1;
            else
                n--;
        } else if (s->op == OP_CHAIN) {
            n--;
            if (holds(s->compare, stack[n - 1], stack[n])) {
                stack[n - 1] = stack[n];
            } else {
                stack[n - 1] = truth(false);
                i = (size_t)s->value - 1;
            }
        } else if (s->op < OP_ADD) {
            error = apply(s->op, &stack[n - 1], (struct grid_value){0});
        } else {
            n--;
            error = apply(s->op, &stack[n - 1], stack[n]);
        }
        if (error != NULL)
            return error;
    }
    *out = stack[0];
    return NULL;
}

bool grid_expr_is_name(const struct grid_expr *e, size_t *name)
{
    if (e->n != 1 || e->step[0].op != OP_NAME)
        return false;
    *name = (size_t)e->step[0].value;
    return true;
}

bool grid_expr_part(struct str *rest, struct str *part)
{
    while (rest->n > 0) {
        int64_t depth = 0;
        size_t n = 0;
        for (; n < rest->n && (rest->at[n] != ',' || depth != 0); n++)
            depth += rest->at[n] == '(' ? 1 : rest->at[n] == ')' ? -1 : 0;
        *part = str_trim(str_part(*rest, 0, n));
        *rest = str_part(*rest, n + 1, rest->n);
        if (part->n > 0)
            return true;
    }
    return false;
}

/* The parenthesis that opens `s` is closed by its last character. */
static bool is_enclosed(struct str s)
{
    int64_t depth = 0;

    if (s.n < 2 || s.at[0] != '(' || s.at[s.n - 1] != ')')
        return false;
    for (size_t i = 0; i + 1 < s.n; i++) {
        depth += s.at[i] == '(' ? 1 : s.at[i] == ')' ? -1 : 0;
        if (depth == 0)
            return false;
    }
    return depth == 1;
}

struct str grid_expr_inside(struct str shape)
{
    struct str s = str_trim(shape);
    int64_t open = 0;

    for (size_t i = 0; i < s.n; i++)
        open += s.at[i] == '(' ? 1 : s.at[i] == ')' ? -1 : 0;
    for (; open > 0 && s.n > 0 && s.at[0] == '('; open--)
        s = str_trim(str_part(s, 1, s.n));
    for (; open < 0 && s.n > 0 && s.at[s.n - 1] == ')'; open++)
        s = str_trim(str_part(s, 0, s.n - 1));
    while (is_enclosed(s))
        s = str_trim(str_part(s, 1, s.n - 2));
    return s;
}
