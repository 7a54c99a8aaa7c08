/*
 * cut - a part of a sealed capture, as a view: some time windows, some lanes.
 *
 * A slice is in the cut when its lane is and when it overlaps a window; one without length counts
 * by its begin. It stays whole unless `clip` asks for the part from the first window it touches to
 * the last. An arrow stays when both its ends do, a counter's sample when it lies in a window. The
 * view costs one bit a slice and must not outlive the capture.
 */
#ifndef STRATA_CAPTURE_CUT_H
#define STRATA_CAPTURE_CUT_H

#include "base/tables/interval.h"
#include "capture/capture.h"

struct cut_options {
    struct interval_set windows; /* merged, owned by the caller; none: all the time */
    bool nothing;                /* an empty window: no time at all */
    const char *const *lanes;    /* globs on "lane", "process/lane" or their titles; none: all */
    size_t lanes_n;
    bool clip;
};

struct cut {
    const struct capture *cap;
    struct cut_options options;
    uint64_t *bits; /* one a slice; NULL: by lane only */
    bool *lanes;    /* by lane: it has slices in the cut */
    bool *series;   /* by series: it has samples in the cut */
    size_t lanes_n, slices, kernels, flows, series_n, samples;
    struct interval span; /* of all slices and samples in the cut */
};

/* `options` is copied, what it points to must outlive the cut. */
void cut_init(struct cut *cut, const struct capture *cap, const struct cut_options *options);
void cut_fini(struct cut *cut);

static inline bool cut_has(const struct cut *cut, size_t slice)
{
    return cut->bits != NULL ? (cut->bits[slice / 64] >> (slice % 64) & 1) != 0
                             : cut->lanes[cut->cap->slices.lane[slice]];
}

static inline bool cut_has_flow(const struct cut *cut, const struct flow *flow)
{
    return cut_has(cut, flow->from) && cut_has(cut, flow->to);
}

/* For samples of a series that is in the cut. */
bool cut_has_sample(const struct cut *cut, nanos at);

/* A slice that is in the cut, clipped when the cut says so. */
struct slice cut_slice(const struct cut *cut, size_t slice);

/* From the first begin to the last end of all slices of a capture, or of its samples when it has
 * no slice. Empty at 0 when it has nothing. */
struct interval cut_span(const struct capture *cap);

/*
 * part - a cut as a capture of its own, which outlives the whole one.
 */

/* Lanes, slices with their attributes, arrows, counters, and the marks, collectives and allocations
 * of the windows; sealed. Totals that a profiler made of the whole run stay behind. */
struct capture *capture_part(const struct cut *cut);

/*
 * join - captures of several ranks as one, on one clock.
 */

/* What a time of a rank is on the common clock: earlier by `offset` and by `fine`, which grows by
 * `drift` from `from` on. */
struct clock_shift {
    nanos from, offset;
    double fine, drift;
};

struct join_part {
    const struct capture *cap;
    struct clock_shift shift;
    struct str label; /* stands before the names of its processes */
    int64_t rank;     /* of its lanes; UNKNOWN */
};

/* Whole captures with what their profilers summed up, but without allocator snapshots and
 * documents. What a run or its device is called is kept where all agree; a rank and a device when
 * there is only one. Sealed; on the clock that the shifts lead to, `clock`. */
struct capture *capture_join(const struct join_part *parts, size_t n, struct clock clock);

#endif
