/*
 * parse_type_in - a cursor in the bytes of one type; shared by the two files that read types.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_PARSE_TYPE_IN_H
#define STRATA_KERNELS_PTO_TEXT_PARSE_TYPE_IN_H

#include "kernels/pto/text/parse_in.h"

/* Where in the text of one type we are. */
struct pto_cursor {
    struct pto_parser *p;
    const char *at, *end;
    const char *begin; /* of the outermost type, for messages */
};

/* Tells what is wrong with the type, followed by a part of it; returns false. */
bool pto_type_bad(struct pto_cursor *c, const char *code, const char *what, struct str text);

void pto_type_blanks(struct pto_cursor *c);
bool pto_type_try(struct pto_cursor *c, char byte);
bool pto_type_want(struct pto_cursor *c, char byte);
struct str pto_type_word(struct pto_cursor *c);

/* "?" or a number up to 2^31 - 1. */
bool pto_type_small(struct pto_cursor *c, int32_t *value);

/* "16x?xf32": dimensions, each with its x, then the element type. */
bool pto_type_shape(struct pto_cursor *c, struct pto_type *t);

/* A scalar type; `what` is wrong with others. */
bool pto_type_element(struct pto_cursor *c, const char *what, enum pto_dtype *dtype);

/* Any type. */
bool pto_type_at(struct pto_cursor *c, uint32_t *type);

/* What stands between < and > of tiles. */
bool pto_type_tile(struct pto_cursor *c, struct pto_type *t);
bool pto_type_multi_tile(struct pto_cursor *c, struct pto_type *t);

#endif
