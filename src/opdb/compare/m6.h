/*
 * m6 - one number for a performance model: predicted time over measured time of a forward pass.
 *
 * M6 is the sum of the durations that the model took from measurements, divided by the duration
 * of one forward pass on the device. 1 is perfect; above, the model is too slow.
 */
#ifndef STRATA_OPDB_COMPARE_M6_H
#define STRATA_OPDB_COMPARE_M6_H

#include "opdb/compare/compare_shapes.h"

/*
 * How much of a prediction rests on measurements. n = operator invocations in the predicted trace;
 * a hit is one whose source is a measurement, as it is, interpolated or extrapolated. PARTIAL and a
 * missing source are misses.
 *
 *   M1  hits / n
 *   M2  share of distinct operators that never miss; the members of a fused group count as one
 *   M3  M2 without operators that cost nothing
 *   M4  distinct (operator, shapes) that never miss / all of them, without those that cost nothing
 *   M5  analytic time of the hits / analytic time of all; needs the analytic process in the trace
 *
 * With one mm of three not found and a free view: M1 3/4, M2 1/2, M3 0/1.
 */
struct metrics {
    uint64_t invocations, hits;
    double m1, m2, m3, m4, m5; /* not a number where there is nothing to share */
};

struct metrics metrics_compute(const struct predicted *p);

struct m6 {
    const char *trace, *measured; /* paths, for the documents */
    const struct str *sources;    /* of the predictions that count; sorted, each once */
    size_t n_sources;
    double hit_us; /* predicted */
    double compute_us, hcom_us, total_us;
    double helper_us; /* AICPU helpers, not in the total */
    double ratio;
    uint64_t skipped; /* measured rows without a usable time */
    struct metrics metrics;
    struct plot plot;    /* filled by the caller, who has the rows */
    const char *written; /* the file of m6_write_json(); NULL: none */
};

/* strata.db-m6/1. */
extern const struct schema m6_schema;

/* One fixed decimal and a comma between thousands: 1,234.5. `buf` holds M6_TEXT bytes. */
enum { M6_TEXT = 448 }; /* the largest double has 309 digits and 102 commas */
struct str m6_grouped(char *buf, double value);

/* The words of a comma separated list, trimmed, sorted, each once; in the arena. */
struct str *m6_sources(struct arena *arena, struct str list, size_t *n);

/* How long a row lasts: as it says; or, as the public tool has it, from its start to its end, both
 * as doubles. The last digit of that difference decides some roundings. */
enum m6_times { M6_EXACT, M6_COMPAT };

/* `sources` as above; it and the paths must outlive the result. */
struct m6 m6_compute(const struct predicted *p, const struct measured *m, const struct str *sources,
                     size_t n_sources, enum m6_times times);

/* The document of fixed shape: eight members, two spaces a level, no line end at the end. */
bool m6_write_json(const struct m6 *m, struct sink sink);
bool m6_print(const struct m6 *m, struct sink sink);

#endif
