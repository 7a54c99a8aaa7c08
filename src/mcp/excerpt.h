/*
 * excerpt - a JSON value at a size that a reader takes in: long lists are cut, and each cut is
 * noted with the place of its list.
 *
 *     struct excerpt e = {.arena = arena, .items = excerpt_items(value, 20, 30000)};
 *     excerpt_write(&w, value, &e);
 *     ... e.cuts.at[i].pointer, .shown, .total ...
 *     excerpt_free(&e);
 *
 * Places are JSON Pointers (RFC 6901): "/result/kernels".
 */
#ifndef STRATA_MCP_EXCERPT_H
#define STRATA_MCP_EXCERPT_H

#include "base/tables/tree.h"

struct excerpt_cut {
    const char *pointer;
    size_t shown, total;
};

struct excerpt {
    struct arena *arena; /* of the cuts */
    size_t items;        /* of a list that are shown */
    VEC_OF(struct excerpt_cut) cuts;
};

/* How many items of each list may be shown so that the value takes at most `budget` bytes: one of
 * a few numbers up to `most`, at least 1. */
size_t excerpt_items(const struct tree *value, size_t most, size_t budget);

void excerpt_write(struct json_writer *w, const struct tree *value, struct excerpt *e);

/* The members of a map, into an object that is open. */
void excerpt_members(struct json_writer *w, const struct tree *map, struct excerpt *e);
void excerpt_free(struct excerpt *e);

/* The value at a place; NULL when there is none. */
const struct tree *excerpt_find(const struct tree *value, struct str pointer);

#endif
