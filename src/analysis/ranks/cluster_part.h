/*
 * cluster_part - one capture of a cluster on its way: its summaries, the files that were read and
 * what was met on the way, as bytes for a cache or another process.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_PART_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_PART_H

#include "analysis/ranks/rank_summary.h"
#include "base/diag.h"

struct cluster_source {
    struct str path, format;
    uint64_t rows, lost;
};

struct cluster_part {
    enum status status;
    bool is_reused;
    struct rank_summary *ranks; /* one; or one for each device */
    size_t n;
    struct cluster_source *sources;
    size_t n_sources;
    struct diag diag;
};

/* Reads the part's bytes into `part`, whose diag is new; false: they are none. Lives in `arena`. */
bool cluster_part_decode(struct str bytes, struct arena *arena, struct cluster_part *part);
struct str cluster_part_encode(struct cluster_part *part, struct arena *arena);

#endif
