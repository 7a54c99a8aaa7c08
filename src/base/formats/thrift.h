/*
 * thrift - Thrift's compact protocol, as far as the metadata of Parquet files needs it.
 *
 *     thrift_i32(&t, 1, 1);              field 1 of the message
 *     thrift_list(&t, 2, THRIFT_STRUCT, 2);
 *     thrift_item(&t); ... thrift_end(&t);
 *     thrift_item(&t); ... thrift_end(&t);
 *     thrift_end(&t);                    of the message
 *
 * Zero-initialised is an empty message that has begun. Fields of a struct come by number.
 */
#ifndef STRATA_BASE_FORMATS_THRIFT_H
#define STRATA_BASE_FORMATS_THRIFT_H

#include <stdint.h>

#include "base/text/text.h"

enum thrift_type {
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
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

#endif
