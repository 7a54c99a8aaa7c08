/*
 * update_report - what a write-back did, as Markdown and as a table of hot spots.
 */
#ifndef STRATA_PERFDB_UPDATE_REPORT_H
#define STRATA_PERFDB_UPDATE_REPORT_H

#include "perfdb/update.h"

/* Rows whose replay and profile differ by more than a fifth, the worst first. */
struct update_gaps {
    struct update_gap *at;
    size_t n;
};
struct update_gaps update_hotspots(struct arena *arena, const struct update *updates, size_t n);

/* How the replay of each operator went, when that is known. */
struct update_failure {
    struct str op, reason;
};
struct update_status {
    uint64_t success, skipped;
    const struct update_failure *failed;
    size_t n_failed;
};

/* The report; `status` may be NULL. */
struct str update_report(struct arena *arena, const struct update *updates, size_t n,
                         struct update_gaps gaps, const struct update_status *status);

/* All hot spots as a CSV. */
struct str update_hotspots_csv(struct arena *arena, struct update_gaps gaps);

/* "20260101_093000": local time, or SOURCE_DATE_EPOCH in UTC. */
struct str update_stamp(struct arena *arena);

#endif
