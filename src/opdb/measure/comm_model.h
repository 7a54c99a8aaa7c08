/*
 * comm_model - how long a collective should take, from the latency and bandwidth of a link.
 *
 * For n ranks, m bytes, latency L and B = 0.7 of the bandwidth, the faster of two algorithms:
 *
 *   all_reduce      ring 2(n-1)L + 2(n-1)m/(nB)    tree 2 log2(n) L + 2m/B
 *   all_gather      (n-1)L + (n-1)m/B              log2(n) L + (n-1)m/B
 *   reduce_scatter  (n-1)L + (n-1)m/(nB)           log2(n) L + (n-1)m/(nB)
 *   all_to_all      (n-1)L + m/B                   log2(n) L + m/B
 *
 * all_gather of 1024 bytes on 8 ranks within a pod: 3 * 0.5 us + 7 * 1024 / 137.2e9 s = 1.55 us.
 * The links are those of one Ascend part unless a file gives others. A file may instead give each
 * collective a line, alpha + beta * m, and a fit finds such lines in the measured rows themselves.
 */
#ifndef STRATA_OPDB_MEASURE_COMM_MODEL_H
#define STRATA_OPDB_MEASURE_COMM_MODEL_H

#include <stdint.h>

#include "base/diag.h"
#include "base/tables/vec.h"

/* The first four are those of the public tool, in the order in which it validates them. */
/* Ranks stand in a grid, outermost dimension first: 48 x 8 x 2 is 48 pods of 8 nodes of 2 dies. The
 * tier of a group is the outermost dimension in which its ranks differ: the slowest link it needs.
 * Tables of collectives have one file for each of them (docs/perfdb-compare.md). */
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
const char *comm_name(unsigned op);

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

enum comm_source {
    COMM_FROM_PART,  /* the built-in links */
    COMM_FROM_LINKS, /* a file of links */
    COMM_FROM_LINES, /* a file of lines */
    COMM_FROM_FIT,   /* lines fitted to the rows */
};

struct topology_link {
    bool is_set;
    double bandwidth; /* bytes/s, one direction */
    double latency_us;
};

/* Time = alpha + beta * bytes. */
struct comm_line {
    bool is_set;
    double alpha_us, beta_us; /* beta: us for a byte */
};

/* One measured point. */
struct comm_point {
    int64_t bytes, ranks, tier;
    double us;
};

/* The line of one collective at one number of ranks and tier. */
struct comm_fit {
    enum collective op;
    int64_t ranks, tier;
    struct comm_line line;
    double r2; /* share of the variance of the times that the line explains; NaN: nothing varies */
};

enum { COMM_TIERS = COMM_DIMS };

struct comm_model {
    enum comm_source source;
    struct topology_link links[COMM_TIERS];
    struct comm_line lines[COMM_COLLECTIVES];
    VEC_OF(struct comm_fit) fits;
};

void comm_model_init(struct comm_model *model); /* the built-in links */
void comm_model_free(struct comm_model *model);

/* Takes the links or lines of a CSV: columns tier, bandwidth (bytes/s) and latency (us), or
 * collective, alpha (us) and beta (us a byte). Names may go on: "latency_us". */
enum status comm_model_read(struct comm_model *model, const char *path, struct diag *d);

/* Fits a line to the points of one collective for each number of ranks and tier: least squares of
 * the relative error (the logarithm of line / time), with neither part below 0. Points without a
 * time above 0 do not count. */
void comm_model_fit(struct comm_model *model, enum collective op, const struct comm_point *points,
                    size_t n);

/* False when the model has no such tier or no line for the collective. One rank takes no time. */
bool comm_model_predict(const struct comm_model *model, enum collective op,
                        const struct comm_point *point, double *us);

#endif
