/*
 * roots - folders that paths of a client must lie in, links followed.
 *
 * A path is resolved by realpath(), a relative one against each root in turn; what a folder holds
 * is looked through too, so that no link in it leads out.
 */
#ifndef STRATA_MCP_ROOTS_H
#define STRATA_MCP_ROOTS_H

#include "base/diag.h"

struct roots {
    VEC_OF(const char *) at; /* resolved; in the arena given to roots_add() */
};

/* A folder that exists. */
enum status roots_add(struct roots *roots, struct arena *arena, const char *path, struct diag *d);
void roots_free(struct roots *roots);

struct root_place {
    const char *path; /* resolved */
    uint64_t stamp;   /* changes when a file in it is added, removed or written */
    uint64_t guard;   /* also when a folder above is changed */
};

/* Where `path` is; a path that is not there fails like one outside. */
enum status roots_resolve(const struct roots *roots, struct arena *arena, const char *path,
                          struct diag *d, struct root_place *out);

/* Hints at what lies in the last folder on the way to a path. */
void roots_hint(const struct roots *roots, struct arena *arena, const char *path, struct diag *d);

/* Asked after reading: false when something on the way could have been replaced by a link since. */
bool roots_is_same(const struct roots *roots, struct arena *arena, const struct root_place *at);

#endif
