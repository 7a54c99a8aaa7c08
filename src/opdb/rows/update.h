/*
 * update - replayed durations written back into one operator table.
 */
#ifndef STRATA_OPDB_ROWS_UPDATE_H
#define STRATA_OPDB_ROWS_UPDATE_H

#include "opdb/rows/exports.h"
#include "opdb/rows/table.h"

enum update_mode {
    UPDATE_ALL,          /* every row that was replayed, and new rows */
    UPDATE_MISSING_ONLY, /* only rows without any duration */
};

/* A row whose replayed and profiled durations are both known. */
struct update_gap {
    struct str op, file, shapes;
    double bench_us, profiled_us, difference_us, ratio;
};

struct update_duplicate {
    struct str shapes;
    uint64_t count;
};

/* How many, and the first few by their shapes. */
enum { UPDATE_EXAMPLES = 3 };
struct update_list {
    uint64_t n;
    struct str first[UPDATE_EXAMPLES];
};

/* One table before and after. Texts live in its arena, in the summary and in the old table. */
struct update {
    struct arena arena;
    const char *path;
    struct str op, file;   /* the stem and the name of `path` */
    struct op_table table; /* as it will be */
    struct op_table old;   /* as it was, in the new columns; filled when asked for */
    bool is_new, is_changed;
    uint64_t matched; /* cases that a row has */
    uint64_t updated, added, unchanged;
    struct update_list missing, deleted;
    VEC_OF(struct update_duplicate) duplicates; /* most frequent first */
    VEC_OF(struct update_gap) gaps;
    VEC_OF(struct str) messages; /* for the user */
};

struct update_how {
    enum update_mode mode;
    bool prune;    /* drop rows without any duration afterwards */
    bool keep_old; /* for showing the difference */
};

/* What is offered to a table: cases of its own operator, which may become new rows, and cases that
 * may only match. */
struct update_offer {
    const struct summary *summary;
    const uint32_t *merge, *match; /* cases by number */
    size_t n_merge, n_match;
};

/* Reads the table at `path`, if there is one, and puts the offers in. Nothing is written. After a
 * failure the update may be freed. */
enum status update_make(struct update *u, const char *path, const struct update_offer *offer,
                        const struct update_how *how, struct diag *d);
void update_free(struct update *u);

/* Deletes the rows of the table at `path` that have no duration, replayed or profiled; `out` has
 * them. The arena keeps their texts. */
enum status update_prune(const char *path, struct arena *arena, struct update_list *out,
                         struct diag *d);

/* A row of a table, counted from 0, and the duration that was measured for it. */
struct update_measured {
    size_t row;
    double us;
};

/* Puts measured durations into the table at `path` and writes it: renamed and new columns as above.
 * A table that has fewer rows than it had when they were measured is an error. */
enum status update_write_measured(const char *path, const struct update_measured *at, size_t n,
                                  struct diag *d);

#endif
