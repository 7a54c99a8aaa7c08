/*
 * once - values by key that are made once, by the thread that asks first, and only read from then
 * on.
 *
 *     const struct table *t = once_get(tables, name, read_table, &ctx);
 *
 * Who finds a value takes no lock. Values are made one at a time; a make function must not ask the
 * same set. A value of NULL is not kept. The set has room for ONCE_ROOM values: what is made after
 * that is handed out and not kept.
 */
#ifndef STRATA_BASE_RUN_ONCE_H
#define STRATA_BASE_RUN_ONCE_H

#include "base/str.h"

struct once;

enum { ONCE_ROOM = 1024 };

struct once *once_new(void);

/* Keys and the set itself; values stay with their owner. */
void once_free(struct once *o);

/* The value of `key`, which is copied. When memory runs out in make(), the failure goes on and the
 * set is as before. */
const void *once_get(struct once *o, struct str key, const void *(*make)(void *ctx, struct str key),
                     void *ctx);

#endif
