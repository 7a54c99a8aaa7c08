/*
 * summary - replayed operators as msprof sums them up: op_summary exports, one row per case.
 *
 * The samples of one operator type and one signature are a group. Its duration is the shortest of
 * them, so that warm-up needs no rule of its own; its counters are averages.
 */
#ifndef STRATA_PERFDB_SUMMARY_H
#define STRATA_PERFDB_SUMMARY_H

#include "base/diag.h"
#include "base/hash.h"
#include "base/vec.h"
#include "perfdb/columns.h"
#include "perfdb/signature.h"

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
