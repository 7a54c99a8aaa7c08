/*
 * wire - values into bytes and back by one description, for files and messages of our own.
 *
 *     static void wire_point(struct wire *w, struct point *p)
 *     {
 *         wire_i64(w, &p->x);
 *         wire_text(w, &p->name);
 *     }
 *
 * Writing appends to `out`; reading takes from `in`, which is hostile: after the first value that
 * is not right `is_bad` is set and all others are 0 or empty.
 */
#ifndef STRATA_BASE_FORMATS_WIRE_H
#define STRATA_BASE_FORMATS_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/vec.h"

struct wire {
    VEC_OF(uint8_t) out; /* written; for vec_free() */
    struct str in;       /* what is left to read */
    struct arena *arena; /* of texts that are read */
    bool is_reading, is_bad;
};

void wire_u64(struct wire *w, uint64_t *v);

/* Small numbers of either sign are short; of the second those near to `base`. */
void wire_i64(struct wire *w, int64_t *v);
void wire_near(struct wire *w, int64_t *v, int64_t base);
void wire_bool(struct wire *w, bool *v);
void wire_real(struct wire *w, double *v); /* finite */

/* A place below `limit`. */
void wire_place(struct wire *w, uint32_t *v, size_t limit);

/* A text is cut at 4096 bytes; bytes are whole. */
void wire_text(struct wire *w, struct str *text);
void wire_bytes(struct wire *w, struct str *bytes);

/* How many elements follow, each of at least so many bytes: never more than there can be. */
size_t wire_count(struct wire *w, size_t n, size_t least);

#endif
