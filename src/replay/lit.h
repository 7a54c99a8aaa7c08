/*
 * lit - values as they are written down: what a JSON file or the literals of a Python module hold.
 *
 * Both readers make the same tree, so the code behind them does not care where a scene came from.
 * Nothing is ever executed: what a Python module computes is a value of kind LIT_COMPUTED, which
 * remembers where it stands. All texts and nodes live in the arena given.
 */
#ifndef STRATA_REPLAY_LIT_H
#define STRATA_REPLAY_LIT_H

#include "base/diag.h"

enum lit_kind {
    LIT_NONE, /* None, null */
    LIT_BOOL,
    LIT_INT,
    LIT_FLOAT,
    LIT_STRING,
    LIT_NAME, /* D.IN: a name with its dots */
    LIT_LIST, /* a list or a tuple */
    LIT_DICT,
    LIT_COMPUTED, /* anything that would have to be run, or does not fit its type */
};

struct lit {
    enum lit_kind kind;
    bool is_unsigned; /* an integer beyond INT64_MAX: `i` has its bits */
    uint64_t line;
    int64_t i; /* also 0 or 1 of a bool */
    double f;
    struct str text;  /* of strings and names */
    struct lit *keys; /* of a dict, one for each value */
    struct lit *at;   /* elements or values */
    size_t n;
};

enum { LIT_DEPTH = 64 }; /* nesting; scenes have 6 levels */

/* A whole JSON document; `path` is for messages. */
enum status lit_read_json(struct arena *arena, struct str text, const char *path, struct lit *out,
                          struct diag *d);

/* The value of a key of a dict, the last one if it stands there twice; NULL when there is none or
 * `dict` is no dict. */
const struct lit *lit_get(const struct lit *dict, struct str key);

/* The text of a string, else empty. */
struct str lit_text(const struct lit *value);

/* True for an integer (bools count) that fits 64 signed bits. */
bool lit_int(const struct lit *value, int64_t *out);

/* True for an integer or a float; bools do not count. */
bool lit_number(const struct lit *value, double *out);

#endif
