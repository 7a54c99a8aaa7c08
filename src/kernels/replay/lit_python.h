/*
 * lit_python - the literals of a Python module, read without running it.
 *
 * Understood are assignments of literals (dicts, lists, tuples, strings, numbers, True, False,
 * None, dotted names) at the top of the module and of its classes, and the keywords of the
 * decorators in front of a class. A name that was assigned a literal before stands for it, also in
 * an f-string; sums, paths (py_eval.h) and lists made of a list are worked out. All other code is
 * passed over; a value that needs it has kind TREE_COMPUTED.
 */
#ifndef STRATA_KERNELS_REPLAY_LIT_PYTHON_H
#define STRATA_KERNELS_REPLAY_LIT_PYTHON_H

#include <stdint.h>

#include "base/arena.h"
#include "base/tables/tree.h"

struct py_class {
    struct str name;
    uint64_t line;
    struct tree decorator; /* a dict: the keywords of the last decorator that has any */
    struct tree body;      /* a dict: what its own assignments give */
};

struct py_module {
    struct py_class *at;
    size_t n;
};

/* Any bytes are a module; ST_LIMIT for brackets that nest too deep. */
enum status py_module_read(struct arena *arena, struct str text, const char *path,
                           struct py_module *out, struct diag *d);

/*
 * py_lex - the tokens of a Python module, for lit_python.
 *
 * Lines that brackets or backslashes join are one; comments and blanks are gone. Any bytes are
 * tokens of some kind.
 */

enum py_kind {
    TOK_END,
    TOK_LINE, /* the end of a logical line */
    TOK_NAME,
    TOK_NUMBER,
    TOK_STRING, /* `text` is decoded; is_plain is false for bytes, is_format true for f-strings */
    TOK_MARK,   /* one character */
};

struct py_token {
    enum py_kind kind;
    struct str text;
    uint64_t line;
    size_t column; /* of the first token of a logical line; else not meant */
    bool is_plain, is_format;
};

struct py_lexer {
    struct str text;
    size_t at, line_start;
    uint64_t line;
    int brackets; /* open ones: line ends inside do not count */
    bool at_start;
    struct py_token tok; /* where we are */
    struct arena *arena;
};

/* Stands before the first token; py_next() goes there. */
void py_open(struct py_lexer *p, struct str text, struct arena *arena);
void py_next(struct py_lexer *p);

#endif
