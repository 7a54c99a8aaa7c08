/*
 * grid_expr - the arithmetic of shape rules: "max(1, N//32)", "tokens % 8 != 0".
 *
 * A text is compiled once to a short list of steps and run for each point of a grid. Steps only
 * jump forward, so a run ends after at most as many steps as there are; the stack, the nesting
 * and the length of a text are capped, and running allocates nothing. There are numbers, names
 * given by the caller, four functions (max, min, abs, align) and nothing else. The language is in
 * docs/perfdb-grid.md.
 *
 * Integers have 64 bits and overflow is an error; `/` gives a real number. A real that is not
 * finite is an error too.
 */
#ifndef STRATA_PERFDB_GRID_EXPR_H
#define STRATA_PERFDB_GRID_EXPR_H

#include <stdint.h>

#include "base/arena.h"

enum {
    GRID_EXPR_BYTES = 1 << 16, /* of one text; rules have some 40 */
    GRID_EXPR_DEPTH = 200,     /* nested parentheses, signs and powers */
    GRID_EXPR_STACK = 512,
};

enum grid_kind { GRID_INT, GRID_BOOL, GRID_REAL };

struct grid_value {
    enum grid_kind kind;
    int64_t i; /* GRID_INT, GRID_BOOL (0 or 1) */
    double r;  /* GRID_REAL */
};

struct grid_step;

struct grid_expr {
    const struct grid_step *step;
    size_t n;
    struct str text; /* for messages */
};

/* The names an expression may use; a value is found by the position of its name. */
struct grid_names {
    const struct str *at;
    size_t n;
};

/* Compiles `text` into the arena. NULL, or the reason why it is refused (an English sentence that
 * lives in the arena). `text` must outlive the expression. */
const char *grid_expr_compile(struct arena *arena, struct str text, struct grid_names names,
                              struct grid_expr *out);

/* NULL, or the reason (a literal). `values` stand in the order of the names. */
const char *grid_expr_run(const struct grid_expr *e, const int64_t *values, struct grid_value *out);

/* Whether the expression is a variable and nothing else, and which. */
bool grid_expr_is_name(const struct grid_expr *e, size_t *name);

bool grid_value_is_true(struct grid_value v);

/* As a dimension: reals are cut toward zero. False when it does not fit 64 bits. */
bool grid_value_dim(struct grid_value v, int64_t *out);

/* Takes the next top-level part that is not blank off the front of a comma-separated list, so
 * that "max(1, 2), 3" has two. False when there is none. */
bool grid_expr_part(struct str *rest, struct str *part);

/* The dimensions of a shape text, without the parentheses around it: "(M, K)" gives "M, K". */
struct str grid_expr_inside(struct str shape);

#endif
