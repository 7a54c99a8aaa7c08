/*
 * Expressions: text to steps, and the run of the steps.
 */
#include "base/text/expr.h"

#include "base/tables/vec.h"
#include "base/text/char.h"
#include "base/text/expr_number.h"
#include "base/text/num.h"

enum token { T_END, T_NUMBER, T_NAME, T_SIGN, T_BAD };

/* What binds: comparisons weakest. Powers and signs are parse_unary()'s. */
enum expr_level { LEVEL_NONE, LEVEL_COMPARE, LEVEL_SUM, LEVEL_TERM };

/* Signs, the longer first where one begins like another. */
static const struct sign {
    struct str text;
    enum expr_level level;
    enum expr_op op;
    bool is_real; /* a sign of both kinds of arithmetic */
} signs[] = {
    {S_INIT("**"), LEVEL_NONE, EXPR_POWER, false},
    {S_INIT("//"), LEVEL_TERM, EXPR_FLOOR_DIVIDE, false},
    {S_INIT("<="), LEVEL_COMPARE, EXPR_LE, false},
    {S_INIT(">="), LEVEL_COMPARE, EXPR_GE, false},
    {S_INIT("=="), LEVEL_COMPARE, EXPR_EQ, false},
    {S_INIT("!="), LEVEL_COMPARE, EXPR_NE, false},
    {S_INIT("<"), LEVEL_COMPARE, EXPR_LT, false},
    {S_INIT(">"), LEVEL_COMPARE, EXPR_GT, false},
    {S_INIT("+"), LEVEL_SUM, EXPR_ADD, true},
    {S_INIT("-"), LEVEL_SUM, EXPR_SUB, true},
    {S_INIT("*"), LEVEL_TERM, EXPR_MUL, true},
    {S_INIT("/"), LEVEL_TERM, EXPR_DIVIDE, true},
    {S_INIT("%"), LEVEL_TERM, EXPR_MODULO, true},
    {S_INIT("("), LEVEL_NONE, 0, true},
    {S_INIT(")"), LEVEL_NONE, 0, true},
    {S_INIT(","), LEVEL_NONE, 0, true},
};

struct parser {
    struct arena *arena;
    const struct expr_language *language;
    struct str text;
    struct expr_names names;
    size_t at; /* behind the token */
    enum token token;
    const struct sign *sign; /* of T_SIGN */
    struct str word;         /* the token's text */
    int depth;
    size_t stack, stack_most; /* operands waiting */
    const char *error;
    VEC_OF(struct expr_step) steps;
};

static void parse_logic(struct parser *p, enum expr_op op);

static void expr_fail(struct parser *p, const char *why)
{
    if (p->error == NULL)
        p->error = why;
    p->token = T_BAD;
}

static void fail_before(struct parser *p, const char *what)
{
    expr_fail(p, arena_printf(p->arena, "%s expected before '%.*s'", what, STR_ARGS(p->word)));
}

/* Digits; of a real also a point and an exponent, as num_f64() judges them. */
static size_t number_length(struct str s, bool is_real)
{
    size_t n = 0;

    for (; n < s.n; n++) {
        char c = s.at[n];
        bool is_exponent = c == 'e' || c == 'E';
        bool is_sign =
            n > 0 && (c == '+' || c == '-') && (s.at[n - 1] == 'e' || s.at[n - 1] == 'E');
        if (!char_is_digit(c) && (!is_real || (c != '.' && !is_exponent && !is_sign)))
            break;
    }
    return n;
}

static size_t sign_length(struct parser *p, struct str rest)
{
    for (size_t k = 0; k < ARRAY_LEN(signs); k++)
        if (str_starts(rest, signs[k].text) && (signs[k].is_real || !p->language->is_real)) {
            p->sign = &signs[k];
            return signs[k].text.n;
        }
    return 0;
}

static void advance(struct parser *p)
{
    if (p->error != NULL)
        return;
    while (p->at < p->text.n && (char_is_blank(p->text.at[p->at]) || p->text.at[p->at] == '\f'))
        p->at++;
    struct str rest = str_part(p->text, p->at, p->text.n);
    size_t n = 0;
    p->token = T_END;
    if (rest.n == 0) {
        p->word = S("the end");
        return;
    }
    if (char_is_digit(rest.at[0]) || (p->language->is_real && rest.at[0] == '.')) {
        p->token = T_NUMBER;
        n = number_length(rest, p->language->is_real);
    } else if (char_is_word(rest.at[0])) {
        p->token = T_NAME;
        while (n < rest.n && char_is_word(rest.at[n]))
            n++;
    } else {
        p->token = T_SIGN;
        n = sign_length(p, rest);
    }
    p->word = str_part(rest, 0, n > 0 ? n : 1);
    p->at += p->word.n;
    if (n == 0)
        expr_fail(p, arena_printf(p->arena, "unexpected character '%.*s'", STR_ARGS(p->word)));
}

static bool expr_accept(struct parser *p, struct str sign)
{
    if (p->token != T_SIGN || !str_equal(p->word, sign))
        return false;
    advance(p);
    return true;
}

static const struct sign *accept_level(struct parser *p, enum expr_level level)
{
    if (p->token != T_SIGN || p->sign->level != level)
        return NULL;
    const struct sign *sign = p->sign;
    advance(p);
    return sign;
}

/* One of the words of logic, which real arithmetic does not have. */
static bool is_word(const struct parser *p, struct str word)
{
    return p->token == T_NAME && str_equal(p->word, word) && !p->language->is_real;
}

static struct expr_step *emit(struct parser *p, enum expr_op op)
{
    if (op <= EXPR_NAME)
        p->stack++;
    else if (op >= EXPR_ADD)
        p->stack--;
    if (p->stack > p->stack_most)
        p->stack_most = p->stack;
    vec_push(&p->steps, ((struct expr_step){.op = op}));
    return &p->steps.at[p->steps.n - 1];
}

static void emit_real(struct parser *p, double value)
{
    emit(p, EXPR_NUMBER)->value = (struct expr_value){.kind = EXPR_REAL, .r = value};
}

static void expect_close(struct parser *p)
{
    if (p->error == NULL && !expr_accept(p, S(")")))
        fail_before(p, "')'");
}

/* Every way down that can repeat itself passes here. */
static bool expr_enter(struct parser *p)
{
    if (++p->depth > EXPR_DEPTH)
        expr_fail(p, "nested too deeply");
    return p->error == NULL;
}

static void parse_word(struct parser *p, expr_lookup *lookup)
{
    double value = 0;

    if (p->error == NULL && p->token != T_NAME)
        fail_before(p, "a word");
    const char *error =
        p->error != NULL ? p->error : lookup(p->arena, p->language->user, p->word, &value);
    if (error != NULL)
        expr_fail(p, error);
    emit_real(p, value);
    advance(p);
}

static void parse_call(struct parser *p, struct str name)
{
    const struct expr_function *f = NULL;
    int n = 0;

    for (size_t k = 0; k < p->language->functions_n; k++)
        if (str_equal(p->language->functions[k].name, name))
            f = &p->language->functions[k];
    if (f == NULL) {
        expr_fail(p, arena_printf(p->arena, "unknown function '%.*s'", STR_ARGS(name)));
        return;
    }
    if (f->word != NULL) {
        parse_word(p, f->word);
        expect_close(p);
        return;
    }
    do {
        parse_logic(p, EXPR_OR);
        n++;
        if (f->arguments == 0 && n > 1)
            emit(p, f->op);
    } while (p->error == NULL && expr_accept(p, S(",")));
    if (p->error == NULL && f->arguments != 0 && n != f->arguments)
        expr_fail(p, arena_printf(p->arena, "%.*s() takes %d, not %d arguments", STR_ARGS(name),
                                  f->arguments, n));
    if (f->arguments != 0)
        emit(p, f->op);
    expect_close(p);
}

static void parse_name(struct parser *p)
{
    const struct expr_language *l = p->language;
    struct str name = p->word;
    double value;

    if (is_word(p, S("and")) || is_word(p, S("or")) || is_word(p, S("not"))) {
        fail_before(p, "a value");
        return;
    }
    advance(p);
    if (expr_accept(p, S("("))) {
        parse_call(p, name);
        return;
    }
    for (size_t i = 0; i < p->names.n; i++)
        if (str_equal(p->names.at[i], name)) {
            emit(p, EXPR_NAME)->jump = i;
            return;
        }
    const char *error = l->constant != NULL
                            ? l->constant(p->arena, l->user, name, &value)
                            : arena_printf(p->arena, "unknown variable '%.*s'", STR_ARGS(name));
    if (error != NULL)
        expr_fail(p, error);
    else
        emit_real(p, value);
}

static void parse_number(struct parser *p)
{
    double real;
    int64_t value;

    if (p->language->is_real) {
        if (num_f64(p->word, &real))
            emit_real(p, real);
        else
            expr_fail(p, arena_printf(p->arena, "\"%.*s\" is not a number", STR_ARGS(p->word)));
    } else if (p->word.n > 1 && p->word.at[0] == '0') {
        expr_fail(p, "a number with leading zeros");
    } else if (!num_i64(p->word, &value)) {
        expr_fail(p, "a number beyond 64 bits");
    } else {
        emit(p, EXPR_NUMBER)->value = (struct expr_value){.kind = EXPR_INT, .i = value};
    }
    advance(p);
}

static void parse_atom(struct parser *p)
{
    if (!expr_enter(p))
        return;
    if (p->token == T_NUMBER) {
        parse_number(p);
    } else if (p->token == T_NAME) {
        parse_name(p);
    } else if (expr_accept(p, S("("))) {
        parse_logic(p, EXPR_OR);
        expect_close(p);
    } else {
        fail_before(p, "a value");
    }
    p->depth--;
}

static void parse_unary(struct parser *p)
{
    if (!expr_enter(p))
        return;
    if (expr_accept(p, S("-"))) {
        parse_unary(p);
        emit(p, EXPR_NEGATE);
    } else if (expr_accept(p, S("+"))) {
        parse_unary(p);
        emit(p, EXPR_PLUS);
    } else {
        parse_atom(p);
        if (expr_accept(p, S("**"))) {
            parse_unary(p);
            emit(p, EXPR_POWER);
        }
    }
    p->depth--;
}

/* Sums of terms, or terms. */
static void parse_level(struct parser *p, enum expr_level level)
{
    const struct sign *sign = NULL;

    do {
        if (level == LEVEL_SUM)
            parse_level(p, LEVEL_TERM);
        else
            parse_unary(p);
        if (sign != NULL)
            emit(p, sign->op);
    } while ((sign = accept_level(p, level)) != NULL);
}

/* The jumps in `from`.. that are still open lead behind the last step. */
static void land(struct parser *p, size_t from, enum expr_op op)
{
    for (size_t i = from; i < p->steps.n; i++)
        if (p->steps.at[i].op == op && p->steps.at[i].jump == 0)
            p->steps.at[i].jump = p->steps.n;
}

static void parse_comparison(struct parser *p)
{
    size_t from = p->steps.n;

    parse_level(p, LEVEL_SUM);
    const struct sign *sign = accept_level(p, LEVEL_COMPARE), *next;
    if (sign == NULL)
        return;
    parse_level(p, LEVEL_SUM);
    for (; (next = accept_level(p, LEVEL_COMPARE)) != NULL; sign = next) {
        emit(p, EXPR_CHAIN)->compare = sign->op;
        parse_level(p, LEVEL_SUM);
    }
    emit(p, sign->op);
    land(p, from, EXPR_CHAIN);
}

static void parse_not(struct parser *p)
{
    if (!expr_enter(p))
        return;
    if (is_word(p, S("not"))) {
        advance(p);
        parse_not(p);
        emit(p, EXPR_NOT);
    } else {
        parse_comparison(p);
    }
    p->depth--;
}

/* Alternatives, or what all must hold in one of them. */
static void parse_logic(struct parser *p, enum expr_op op)
{
    struct str word = op == EXPR_OR ? S("or") : S("and");
    size_t from = p->steps.n;

    for (;;) {
        if (op == EXPR_OR)
            parse_logic(p, EXPR_AND);
        else
            parse_not(p);
        if (p->error != NULL || !is_word(p, word))
            break;
        advance(p);
        emit(p, op);
    }
    land(p, from, op);
}

const char *expr_compile(struct arena *arena, const struct expr_language *language, struct str text,
                         struct expr_names names, struct expr *out)
{
    struct parser p = {.arena = arena, .language = language, .text = text, .names = names};

    if (text.n > EXPR_BYTES)
        return "expression too long";
    if (str_trim(text).n == 0)
        return "empty expression";
    if (!language->is_real && str_find_char(text, '.') < text.n)
        return "'.' is not allowed in an expression";
    if (!language->is_real && str_find(text, S("__")) < text.n)
        return "'__' is not allowed in an expression";
    advance(&p);
    parse_logic(&p, EXPR_OR);
    if (p.error == NULL && p.token != T_END)
        fail_before(&p, "an operator");
    if (p.error == NULL && p.stack_most > EXPR_STACK)
        expr_fail(&p, "nested too deeply");
    if (p.error == NULL) {
        struct expr_step *steps = ARENA_ARRAY(arena, struct expr_step, p.steps.n);
        memcpy(steps, p.steps.at, p.steps.n * sizeof(*steps));
        *out = (struct expr){steps, p.steps.n, language->is_real, text};
    }
    vec_free(&p.steps);
    return p.error;
}

static const char *apply(const struct expr *e, enum expr_op op, struct expr_value *a,
                         struct expr_value b)
{
    if (!e->is_real)
        return expr_apply(op, a, b);
    a->r = expr_apply_real(op, a->r, b.r);
    return NULL;
}

const char *expr_run(const struct expr *e, const int64_t *values, struct expr_value *out)
{
    struct expr_value stack[EXPR_STACK];
    size_t n = 0;

    stack[0] = (struct expr_value){0};
#ifdef __clang_analyzer__ /* it cannot see that a step reads only what those before it pushed */
    memset(stack, 0, sizeof(stack));
#endif
    for (size_t i = 0; i < e->n; i++) {
        const struct expr_step *s = &e->step[i];
        const char *error = NULL;

        if (s->op == EXPR_NUMBER) {
            stack[n++] = s->value;
        } else if (s->op == EXPR_NAME) {
            stack[n++] = (struct expr_value){.kind = EXPR_INT, .i = values[s->jump]};
        } else if (s->op == EXPR_AND || s->op == EXPR_OR) {
            if (expr_is_true(stack[n - 1]) == (s->op == EXPR_OR))
                i = s->jump - 1;
            else
                n--;
        } else if (s->op == EXPR_CHAIN) {
            n--;
            if (expr_holds(s->compare, stack[n - 1], stack[n])) {
                stack[n - 1] = stack[n];
            } else {
                stack[n - 1] = (struct expr_value){.kind = EXPR_BOOL};
                i = s->jump - 1;
            }
        } else if (s->op < EXPR_ADD) {
            error = apply(e, s->op, &stack[n - 1], (struct expr_value){0});
        } else {
            n--;
            error = apply(e, s->op, &stack[n - 1], stack[n]);
        }
        if (error != NULL)
            return error;
    }
    *out = stack[0];
    return NULL;
}

bool expr_is_name(const struct expr *e, size_t *name)
{
    if (e->n != 1 || e->step[0].op != EXPR_NAME)
        return false;
    *name = e->step[0].jump;
    return true;
}
