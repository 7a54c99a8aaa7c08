/*
 * exports - what profilers and replays export, read row by row.
 *
 * struct rows is one export, through one window: cells live until the next row. struct kernels
 * pools kernel_details exports into one row per operator and shapes, struct summary the op_summary
 * exports of a replay into one case per signature, whose duration is the shortest of its samples.
 *
 * Rows with the same operator, input shapes and output shapes (as they are spelt) form a group. A
 * group has the mean, the median and the spread of their durations and the mean of every counter;
 * what is no number counts as 0. Communication has no shapes ("N/A") and falls out.
 */
#ifndef STRATA_OPDB_ROWS_EXPORTS_H
#define STRATA_OPDB_ROWS_EXPORTS_H

#include "base/diag.h"
#include "base/files/stream.h"
#include "base/formats/csv.h"
#include "base/tables/hash.h"
#include "base/tables/vec.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/signature.h"

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

struct rows {
    struct csv csv;

    /* Private. */
    struct stream stream;
    struct diag *diag;
    const char *path;
    enum status status;
};

/* `path` and `d` must outlive it. On failure nothing needs to be closed. */
enum status rows_open(struct rows **out, const char *path, struct diag *d);

/* False at the end, after a read error and after an interruption; rows_close() tells which. */
bool rows_next(struct rows *rows);
enum status rows_close(struct rows *rows);

/* A cell without its quotes and blanks around it; doubled quotes are made single in the arena. */
struct str rows_cell(const struct rows *rows, int column, struct arena *arena);

/* One replayed case. */
struct summary_case {
    uint32_t type;                /* index into `types` */
    uint32_t next;                /* the next case of this type; UINT32_MAX: none */
    struct str cells[IDENTITY_N]; /* block B of the first sample */
    struct str ep_size;           /* DispatchFFNCombine only */
    uint64_t n;
    double shortest;
    double sums[COUNTER_N];
};

/* An operator type and its cases. */
struct summary_type {
    struct str name;
    uint32_t first, last; /* of its cases */
    struct signature_index by_signature;
};

struct summary {
    struct arena arena;
    VEC_OF(struct summary_case) cases; /* in order of first appearance */
    VEC_OF(struct summary_type) types; /* in order of first appearance */
    uint64_t rows;

    /* Private. */
    struct hash by_name;
    int64_t ep_size; /* of the export being read */
};

void summary_init(struct summary *s);
void summary_free(struct summary *s);

/* Adds the rows of one export. `ep_size` is given to DispatchFFNCombine; 0: none. */
enum status summary_read(struct summary *s, const char *path, int64_t ep_size, struct diag *d);

/* The number of a type; UINT32_MAX when nothing of it was read. */
uint32_t summary_type(const struct summary *s, struct str name);

/* The exports below a PROF folder, by name: PROF/mindstudio_profiler_output/op_summary_*.csv. */
struct summary_files {
    const char **at;
    size_t n;
};
enum status summary_find(struct arena *arena, const char *prof, struct summary_files *out,
                         struct diag *d);

#endif
