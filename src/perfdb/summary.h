/*
 * summary - replayed operators as msprof sums them up: op_summary exports, one row per case.
 *
 * The samples of one operator type and one signature are a group. Its duration is the shortest of
 * them, so that warm-up needs no rule of its own; its counters are averages.
 */
#ifndef STRATA_PERFDB_SUMMARY_H
#define STRATA_PERFDB_SUMMARY_H

#include "base/diag.h"
#include "base/vec.h"
#include "perfdb/columns.h"
#include "perfdb/signature.h"

/* One replayed case. */
struct summary_case {
    uint32_t type;                /* index into `types` */
    struct str cells[IDENTITY_N]; /* block B of the first sample */
    struct str ep_size;           /* DispatchFFNCombine only */
    uint64_t n;
    double shortest;
    double sums[COUNTER_N];
};

struct summary {
    struct arena arena;
    VEC_OF(struct summary_case) cases; /* in order of first appearance */
    VEC_OF(struct str) types;          /* in order of first appearance */
    uint64_t rows;

    /* Private. */
    struct signature_index *by_signature; /* one per type */
};

/* `ep_size` is given to DispatchFFNCombine. 0: none. */
void summary_init(struct summary *s);
void summary_free(struct summary *s);

/* Adds the rows of one export. */
enum status summary_read(struct summary *s, const char *path, int64_t ep_size, struct diag *d);

/* The exports below a PROF folder, by name: PROF/mindstudio_profiler_output/op_summary_*.csv. */
struct summary_files {
    const char **at;
    size_t n;
};
enum status summary_find(struct arena *arena, const char *prof, struct summary_files *out,
                         struct diag *d);

#endif
