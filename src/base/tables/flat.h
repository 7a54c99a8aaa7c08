/*
 * flat - FlatBuffers, as far as the messages of Arrow need them: tables, texts and vectors, written
 * from the end to the front.
 *
 *     struct flat f = {0};
 *     flat_ref name = flat_text(&f, S("ts"));   what a table refers to comes before it
 *     flat_begin(&f);
 *     flat_set_ref(&f, 0, name);
 *     flat_set_u8(&f, 1, true);
 *     root = flat_end(&f);
 *     bytes = flat_finish(&f, root);            a multiple of eight bytes
 *     flat_free(&f);
 */
#ifndef STRATA_BASE_TABLES_FLAT_H
#define STRATA_BASE_TABLES_FLAT_H

#include <stdint.h>

#include "base/str.h"

typedef uint32_t flat_ref; /* bytes from the end; 0: nothing */

enum { FLAT_FIELDS = 8 }; /* of a table */

struct flat {
    uint8_t *at;
    size_t used, cap;             /* the last `used` of `cap` bytes are filled */
    uint32_t fields[FLAT_FIELDS]; /* of the table that is open: where they are */
    uint32_t table_end;
};

void flat_free(struct flat *f);

/* Forgets what was written but keeps the memory. */
void flat_clear(struct flat *f);

flat_ref flat_text(struct flat *f, struct str text);
flat_ref flat_refs(struct flat *f, const flat_ref *refs, size_t n);

/* A vector of structs of `size` bytes, a multiple of eight. */
flat_ref flat_structs(struct flat *f, const void *structs, size_t size, size_t n);

/* One table at a time; fields in any order. */
void flat_begin(struct flat *f);
void flat_set_u8(struct flat *f, int field, uint8_t value);
void flat_set_i16(struct flat *f, int field, int16_t value);
void flat_set_i32(struct flat *f, int field, int32_t value);
void flat_set_i64(struct flat *f, int field, int64_t value);
void flat_set_ref(struct flat *f, int field, flat_ref value);
flat_ref flat_end(struct flat *f);

/* The whole message; lives until the next call. */
struct str flat_finish(struct flat *f, flat_ref root);

#endif
