/*
 * expr - arithmetic written as text: "max(1, N//32)", "tokens % 8 != 0", "2*b*h*(2*k+p)".
 *
 * A text is compiled once to a short list of steps and run for each set of values. Steps only
 * jump forward, so a run ends after at most as many steps as there are; the stack, the nesting
 * and the length of a text are capped, and running allocates nothing. A language gives the
 * functions and names; there is nothing else.
 *
 * Two kinds of arithmetic: whole numbers of 64 bits whose overflow is an error, `/` that gives a
 * real number which must be finite, powers, comparisons and logic (docs/perfdb-grid.md); or, with
 * .is_real, doubles with decimals, + - * / and the remainder %, where the caller judges the result.
 */
#ifndef STRATA_BASE_TEXT_EXPR_H
#define STRATA_BASE_TEXT_EXPR_H

#include <stdint.h>

#include "base/arena.h"

enum {
    EXPR_BYTES = 1 << 16, /* of one text; rules have some 40 */
    EXPR_DEPTH = 200,     /* nested parentheses, signs and powers */
    EXPR_STACK = 512,
};

enum expr_kind { EXPR_INT, EXPR_BOOL, EXPR_REAL };

struct expr_value {
    enum expr_kind kind;
    int64_t i; /* EXPR_INT, EXPR_BOOL (0 or 1) */
    double r;  /* EXPR_REAL */
};

enum expr_op {
    EXPR_NUMBER, /* push .value */
    EXPR_NAME,   /* push values[.jump] */
    EXPR_NEGATE,
    EXPR_PLUS, /* of a truth value: makes it a number */
    EXPR_NOT,
    EXPR_ABS,
    EXPR_CEIL, /* these three are for reals */
    EXPR_FLOOR,
    EXPR_LOG2,
    EXPR_ADD, /* from here on two operands */
    EXPR_SUB,
    EXPR_MUL,
    EXPR_FLOOR_DIVIDE,
    EXPR_DIVIDE,
    EXPR_MODULO,
    EXPR_POWER,
    EXPR_MAX,
    EXPR_MIN,
    EXPR_ALIGN,
    EXPR_LT,
    EXPR_LE,
    EXPR_GT,
    EXPR_GE,
    EXPR_EQ,
    EXPR_NE,
    EXPR_AND, /* the left operand decides: keep it and go to .jump; else drop it */
    EXPR_OR,
    EXPR_CHAIN, /* a < b in front of another comparison: keep b, or False and jump */
};

/* NULL and the value of a name, or the reason why it has none (lives in the arena). */
typedef const char *expr_lookup(struct arena *arena, const void *user, struct str name,
                                double *out);

struct expr_function {
    struct str name;
    enum expr_op op;
    int arguments;     /* 0: one or more, folded pair by pair */
    expr_lookup *word; /* not NULL: takes one bare word, and this is its value */
};

struct expr_language {
    bool is_real;
    const struct expr_function *functions;
    size_t functions_n;
    expr_lookup *constant; /* names that are no variables; NULL: there are none */
    const void *user;      /* for the lookups */
};

struct expr_step {
    enum expr_op op, compare; /* compare: of EXPR_CHAIN */
    struct expr_value value;
    size_t jump;
};

struct expr {
    const struct expr_step *step;
    size_t n;
    bool is_real;
    struct str text; /* for messages */
};

/* The variables an expression may use; a value is found by the position of its name. */
struct expr_names {
    const struct str *at;
    size_t n;
};

/* Compiles `text` into the arena. NULL, or the reason why it is refused (an English sentence that
 * lives in the arena). `text` must outlive the expression. */
const char *expr_compile(struct arena *arena, const struct expr_language *language, struct str text,
                         struct expr_names names, struct expr *out);

/* NULL, or the reason (a literal). `values` stand in the order of the names. */
const char *expr_run(const struct expr *e, const int64_t *values, struct expr_value *out);

/* Whether the expression is a variable and nothing else, and which. */
bool expr_is_name(const struct expr *e, size_t *name);

bool expr_is_true(struct expr_value v);

/* Reals are cut toward zero. False when the value does not fit 64 bits. */
bool expr_whole(struct expr_value v, int64_t *out);

#endif
