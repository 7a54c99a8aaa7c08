/*
 * lex - the tokens of PTO text.
 *
 * A token is a view of the text; comments (`//` to the end of the line) and blanks lie between
 * tokens. Nothing is ever an error here: a byte that starts no token is one of kind PTO_T_BAD.
 * Types have a lexical life of their own ("16x64xf32") and are read by
 * kernels/pto/text/parse_type.c from where a token begins.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_LEX_H
#define STRATA_KERNELS_PTO_TEXT_LEX_H

#include <stdint.h>

#include "base/str.h"
#include "base/text/char.h"

enum pto_token_kind {
    PTO_T_END,
    PTO_T_WORD,   /* scf.for, ins, valid_row, i32 */
    PTO_T_VALUE,  /* %x, %x#1: text is "x" */
    PTO_T_SYMBOL, /* @f: text is "f" */
    PTO_T_LABEL,  /* ^bb0: text is "bb0" */
    PTO_T_TYPE,   /* !pto.ptr: text is "pto.ptr" */
    PTO_T_HASH,   /* #pto.layout: text is "pto.layout" */
    PTO_T_INT,    /* 12, -3 */
    PTO_T_HEX,    /* 0x7F800000 */
    PTO_T_FLOAT,  /* 0.5, 1e-3 */
    PTO_T_STRING, /* text stands between the quotes, escapes as written */
    PTO_T_ARROW,  /* -> */
    PTO_T_PUNCT,  /* one byte: ( ) [ ] { } < > , : = * + */
    PTO_T_BAD,    /* text says which bytes */
};

struct pto_token {
    enum pto_token_kind kind;
    struct str text;
    const char *begin; /* of the whole token, with its % @ ^ ! # */
    uint32_t line, col;
    uint32_t number; /* of %x#1; UINT32_MAX when not written */
};

struct pto_lex {
    const char *at, *end;
    const char *line_begin; /* of the line that `at` is in */
    uint32_t line;
};

void pto_lex_open(struct pto_lex *lex, struct str text);

/* Reads the next token; at the end of the text it is PTO_T_END for ever. */
void pto_lex_next(struct pto_lex *lex, struct pto_token *token);

/* Moves on to `at`, which lies ahead, counting the lines on the way. */
void pto_lex_move(struct pto_lex *lex, const char *at);

static inline bool pto_lex_is_word_byte(char c)
{
    return char_is_word(c) || c == '.' || c == '$';
}

#endif
