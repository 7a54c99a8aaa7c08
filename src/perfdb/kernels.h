/*
 * kernels - kernel_details exports pooled into one row per operator and shapes.
 *
 * Rows with the same operator, input shapes and output shapes (as they are spelt) form a group. A
 * group has the mean, the median and the spread of their durations and the mean of every counter;
 * what is no number counts as 0. Communication has no shapes ("N/A") and falls out.
 */
#ifndef STRATA_PERFDB_KERNELS_H
#define STRATA_PERFDB_KERNELS_H

#include "base/diag.h"
#include "base/hash.h"
#include "perfdb/columns.h"

struct kernel_group {
    uint32_t type;                /* index into `types` */
    uint32_t next;                /* the next group with the same hash; UINT32_MAX: none */
    struct str cells[IDENTITY_N]; /* block B */
    uint64_t n;
    double sum, squares; /* of the durations, in row order */
    double counters[COUNTER_N];
    VEC_OF(double) durations;
};

/* One distinct attention row: its place decides which operator row goes with it. */
struct kernel_fia {
    struct str input_shapes, output_shapes;
    uint64_t index; /* among the attention rows of its file */
};

struct kernels {
    struct arena arena;
    VEC_OF(struct kernel_group) groups; /* in order of first appearance */
    VEC_OF(struct str) types;           /* in order of first appearance; "" is possible */
    VEC_OF(struct kernel_fia) fia;      /* distinct rows of the file just read, see below */
    uint64_t n_fia;                     /* all of them */
    uint64_t rows;                      /* read so far, those without shapes included */

    /* Private. */
    struct hash by_key, by_type, by_fia;
};

#define KERNELS_FIA S("FusedInferAttentionScore")

void kernels_init(struct kernels *k);
void kernels_free(struct kernels *k);

/* Adds the rows of one export. ST_FORMAT names the columns it lacks. `fia` and `n_fia` then tell
 * of this file: attention rows whose shapes no earlier file and no earlier row had. */
enum status kernels_read(struct kernels *k, const char *path, struct diag *d);

/* The figures of a group, for the columns of block B onwards: average, median, deviation. */
struct kernel_stats {
    double average, median, deviation;
    double counters[COUNTER_N];
};
struct kernel_stats kernels_stats(struct kernel_group *g); /* sorts the durations */

#endif
