/*
 * m6 - one number for a performance model: predicted time over measured time of a forward pass.
 *
 * M6 is the sum of the durations that the model took from measurements, divided by the duration
 * of one forward pass on the device. 1 is perfect; above, the model is too slow.
 */
#ifndef STRATA_PERFDB_M6_H
#define STRATA_PERFDB_M6_H

#include "base/json_write.h"
#include "perfdb/compare_trace.h"

struct metrics {
    uint64_t invocations, hits;
    double m1, m2, m3, m4, m5; /* not a number where there is nothing to share */
};

struct metrics metrics_compute(const struct predicted *p);

/* Members "invocations", "hits", "m1" to "m5" of the object being written. */
void metrics_json(struct json_writer *j, const struct metrics *m);

struct m6 {
    const char *trace, *measured; /* paths, for the documents */
    const struct str *sources;    /* of the predictions that count; sorted, each once */
    size_t n_sources;
    double hit_us; /* predicted */
    double compute_us, hcom_us, total_us;
    double helper_us; /* AICPU helpers, not in the total */
    double ratio;
    uint64_t skipped; /* measured rows without a usable time */
};

/* The words of a comma separated list, trimmed, sorted, each once; in the arena. */
struct str *m6_sources(struct arena *arena, struct str list, size_t *n);

/* `sources` as above; it and the paths must outlive the result. */
struct m6 m6_compute(const struct predicted *p, const struct measured *m, const struct str *sources,
                     size_t n_sources);

/* The document of fixed shape: eight members, two spaces a level, no line end at the end. */
bool m6_write_json(const struct m6 *m, struct sink sink);
bool m6_print(const struct m6 *m, struct sink sink);

#endif
