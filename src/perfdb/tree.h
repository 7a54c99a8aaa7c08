/*
 * tree - the tables of a database folder, or of a whole tree of them.
 */
#ifndef STRATA_PERFDB_TREE_H
#define STRATA_PERFDB_TREE_H

#include "base/diag.h"

struct tree_file {
    const char *path;
    struct str op; /* the stem of its name */
};

struct tree {
    struct tree_file *at; /* by path */
    size_t n;
};

/* Every *.csv in and below `dir`, without reports, temporary files and what a replay leaves there.
 * With `ops` only the tables of those operators. ST_NOT_FOUND when there is no such folder. */
enum status tree_find(struct arena *arena, const char *dir, const struct str *ops, size_t n_ops,
                      struct tree *out, struct diag *d);

/* The device, stack and version a table lies under: the folders <device>/<stack>/<version> above
 * it, "" where the path is shorter. */
struct tree_origin {
    struct str device, stack, version;
};
struct tree_origin tree_origin(const char *path);

#endif
