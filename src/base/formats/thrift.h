/*
 * thrift - Thrift's compact protocol, as far as the metadata of Parquet files needs it, written and
 * read.
 *
 *     thrift_i32(&t, 1, 1);              field 1 of the message
 *     thrift_list(&t, 2, THRIFT_STRUCT, 2);
 *     thrift_item(&t); ... thrift_end(&t);
 *     thrift_item(&t); ... thrift_end(&t);
 *     thrift_end(&t);                    of the message
 *
 * Zero-initialised is an empty message that has begun. Fields of a struct come by number.
 *
 * Reading, of a message that is hostile:
 *
 *     struct thrift_in in = {.text = bytes};
 *     while (thrift_next(&in, &id, &type))
 *         if (id == 1 && type == THRIFT_I32)
 *             n = thrift_number(&in);
 *         else
 *             thrift_skip(&in, type);
 *
 * A field is read by what fits its type, or skipped. After the first byte that is not right
 * `is_bad` is set, thrift_next() is false and values are 0 or empty.
 */
#ifndef STRATA_BASE_FORMATS_THRIFT_H
#define STRATA_BASE_FORMATS_THRIFT_H

#include <stdint.h>

#include "base/text/text.h"

enum thrift_type {
    THRIFT_TRUE = 1, /* of a field; an element of a list is a byte */
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12,
};

enum { THRIFT_DEPTH = 16 };

struct thrift {
    struct text out;        /* for text_free() */
    int last[THRIFT_DEPTH]; /* number of the field before, by depth */
    size_t depth;
};

/* Fields of the struct that is open. */
void thrift_i32(struct thrift *t, int id, int32_t value);
void thrift_i64(struct thrift *t, int id, int64_t value);
void thrift_binary(struct thrift *t, int id, struct str value);
void thrift_struct(struct thrift *t, int id); /* until thrift_end() */

/* A list of `n` elements, which follow. */
void thrift_list(struct thrift *t, int id, enum thrift_type type, size_t n);
void thrift_item(struct thrift *t);                    /* a struct, until thrift_end() */
void thrift_item_int(struct thrift *t, int64_t value); /* of either size */
void thrift_item_binary(struct thrift *t, struct str value);

void thrift_end(struct thrift *t);

struct thrift_in {
    struct str text; /* what is left */
    int last[THRIFT_DEPTH];
    size_t depth;
    bool is_bad;
};

/* The next field of the struct that is open; false at its end, which closes it. */
bool thrift_next(struct thrift_in *in, int *id, enum thrift_type *type);

int64_t thrift_number(struct thrift_in *in);   /* of any width but a byte */
struct str thrift_bytes(struct thrift_in *in); /* a view */
void thrift_open(struct thrift_in *in);        /* a struct: a field or an element of a list */
void thrift_skip(struct thrift_in *in, enum thrift_type type);

/* The elements of a list that follow; each has at least one byte, so they are never more than there
 * can be. */
size_t thrift_items(struct thrift_in *in, enum thrift_type *type);

#endif
