/*
 * comm_topology - which ranks talk over which links, and the files collectives are kept in.
 *
 * Ranks stand in a grid, outermost dimension first: 48 x 8 x 2 is 48 pods of 8 nodes of 2 dies. The
 * tier of a group is the outermost dimension in which its ranks differ: the slowest link it needs.
 * Tables of collectives have one file for each of them (docs/perfdb-compare.md).
 */
#ifndef STRATA_PERFDB_COMM_TOPOLOGY_H
#define STRATA_PERFDB_COMM_TOPOLOGY_H

#include <stdint.h>

#include "base/diag.h"
#include "base/vec.h"

/* The first four are those of the public tool, in the order in which it validates them. */
enum collective {
    COMM_ALL_REDUCE,
    COMM_ALL_GATHER,
    COMM_REDUCE_SCATTER,
    COMM_ALL_TO_ALL,
    COMM_BROADCAST,
    COMM_SEND_RECV,
    COMM_COLLECTIVES,
    COMM_VALIDATED = COMM_BROADCAST,
};

struct comm_kind {
    struct str name;   /* "all_reduce" */
    struct str prefix; /* of the kernel's type in profiles */
    const char *file;  /* of its table */
};

extern const struct comm_kind comm_kinds[COMM_COLLECTIVES];

/* The collective of that name; false when there is none. */
bool comm_find(struct str name, enum collective *out);

enum { COMM_DIMS = 8 };

struct comm_grid {
    int64_t dims[COMM_DIMS]; /* each at least 1, outermost first; the product fits 64 bits */
    size_t n;                /* at least 1 */
};

/* False when a dimension is below 1, there are none or too many, or the product is too large. */
bool comm_grid_set(struct comm_grid *grid, const int64_t *dims, size_t n);

/* `coords` has room for `grid->n` numbers. */
void comm_coords(const struct comm_grid *grid, int64_t rank, int64_t *coords);

/* The outermost dimension in which the ranks differ; the last one when they do not. */
size_t comm_tier(const struct comm_grid *grid, const int64_t *ranks, size_t n);

/* The same for the ranks 0 to n-1, however many. */
size_t comm_tier_first(const struct comm_grid *grid, int64_t n);

/* The first rank of the group of `n` ranks around `rank` at that tier; the group is this rank and
 * the n-1 after it. When the tier does not hold so many, false and the reason in `why`. */
bool comm_group(const struct comm_grid *grid, int64_t rank, int64_t n, size_t tier,
                struct arena *arena, int64_t *base, struct str *why);

/* One measurement of a collective; the group are the ranks `base` to `base + ranks - 1`. */
struct comm_config {
    enum collective op;
    int64_t bytes, ranks, base;
    size_t tier;
};

struct comm_plan {
    const enum collective *ops;
    size_t n_ops;
    const int64_t *ranks; /* sizes of groups */
    size_t n_ranks;
    const size_t *tiers; /* none: the tier of the first ranks */
    size_t n_tiers;
    const int64_t *bytes;
    size_t n_bytes;
};

struct comm_configs {
    VEC_OF(struct comm_config) at;
    VEC_OF(struct str) warnings; /* groups that cannot be, in the arena given */
};

/* What a plan measures, in order. Zero `out` first; vec_free both lists. */
void comm_configs(const struct comm_grid *grid, const struct comm_plan *plan, struct arena *arena,
                  struct comm_configs *out);

/* The one device whose times of launches are known. */
#define COMM_CALIBRATED_DEVICE S("ATLAS_800_A3_752T_128G_DIE")

/* Adds the time of the launch, which a kernel's own duration lacks, to a row: the duration grows
 * and the bandwidth follows, both with two decimals. Nothing changes where none is known. */
void comm_add_dispatch(struct str device, enum collective op, int64_t ranks, double bytes,
                       double *us, double *gbps);

/* The durations of a collective in the first kernel_details.csv below `dir`, in path order: rows
 * of its type, without those that a vector core lists a second time, above 0. */
struct comm_durations {
    VEC_OF(double) us;
};
enum status comm_durations(const char *dir, enum collective op, struct comm_durations *out,
                           struct diag *d);

#endif
