/*
 * tree - the tables of a database folder, or of a whole tree of them.
 */
#ifndef STRATA_PERFDB_TREE_H
#define STRATA_PERFDB_TREE_H

#include "base/diag.h"

struct db_file {
    const char *path;
    struct str op; /* the stem of its name */
};

struct db_files {
    struct db_file *at; /* by path */
    size_t n;
};

/* Every *.csv in and below `dir`, without reports, temporary files and what a replay leaves there.
 * With `ops` only the tables of those operators. ST_NOT_FOUND when there is no such folder. */
enum status db_files_find(struct arena *arena, const char *dir, const struct str *ops, size_t n_ops,
                          struct db_files *out, struct diag *d);

/* The device, stack and version a table lies under: the folders <device>/<stack>/<version> above
 * it, "" where the path is shorter. */
struct db_origin {
    struct str device, stack, version;
};
struct db_origin db_origin(const char *path);

#endif
