/*
 * py_lex - the tokens of a Python module, for lit_python.
 *
 * Lines that brackets or backslashes join are one; comments and blanks are gone. Any bytes are
 * tokens of some kind.
 */
#ifndef STRATA_KERNELS_REPLAY_PY_LEX_H
#define STRATA_KERNELS_REPLAY_PY_LEX_H

#include <stdint.h>

#include "base/arena.h"

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
