/*
 * bundle - which files below a path belong together, and which of them are read.
 *
 * A bundle is what one capture is made of: the table, the timeline or the database of one rank and
 * the small files beside them. The rules are in docs/formats/bundles.md.
 */
#ifndef STRATA_INPUT_BUNDLE_H
#define STRATA_INPUT_BUNDLE_H

#include "input/input.h"
#include "input/rank.h"

struct bundle_file {
    const char *path;
    const struct input_format *format;
    struct name_parts parts;
    struct str folder; /* of its rank: the front of `path` */
    int depth;         /* folders below the given one */
    bool is_claimed;   /* by its name */
    bool is_named;     /* by the user */
    const char *run;   /* of several in it; NULL: it is one */
};

struct bundle {
    const char *path; /* the folder of the rank, or the only file */
    int64_t rank;     /* -1: its names do not tell */
    int64_t hint;     /* what else looks like a rank number; -1: nothing */
    struct str stamp;
    struct bundle_file *files; /* as they are read: kernels, timeline, the rest */
    size_t n;
    struct bundle_file *beside; /* a database that tells the same; NULL: none */
};

struct bundles {
    struct bundle *at;
    size_t n;
};

/* Looks at all files below the paths. Files that should be data and are not are counted as losses;
 * they are the error when nothing else is there. `out` lives in `arena`. */
enum status bundles_find(const char *const *paths, size_t n, const struct input_options *options,
                         struct arena *arena, struct diag *d, struct bundles *out);

#endif
