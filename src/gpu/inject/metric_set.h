/*
 * metric_set - the metrics that are measured on one device, ready for the Range Profiler.
 *
 * A set is cut into parts, each for a launch of its own. With replay there is one part, which CUPTI
 * measures by running the kernel again for every pass; without, every part takes a single pass, and
 * successive launches of a kernel take turns: nothing is saved, restored or run twice, so kernels
 * find the caches as they would without us.
 *
 * A metric may have several names with bars between them, of which the chip's first known one is
 * taken (a bar at the end: or none); "+" before it puts it into every part, where it tells whether
 * two launches had the same work. Its second name stands in for it in parts whose metrics leave no
 * room for the first. Names the chip does not know are left out, and so is what does not fit the
 * passes allowed. Both are told in notes.
 *
 * Counts of the tensor cores take parts of their own, which only kernels with tensor instructions
 * need.
 */
#ifndef STRATA_GPU_INJECT_METRIC_SET_H
#define STRATA_GPU_INJECT_METRIC_SET_H

#include "gpu/inject/session.h"

enum { METRIC_PARTS_MOST = 16 };

/* Not of CUPTI: what launch_buffer_bytes() says. */
#define METRIC_BUFFERS "launch__buffer_bytes"

struct metric_part {
    void *host; /* CUPTI's, which knows the metrics of the chip */
    const char *names[TRACE_METRICS_MOST];
    size_t place[TRACE_METRICS_MOST]; /* of each name in the set */
    size_t n, passes;
    bool is_tensor; /* only counts of the tensor cores */
    uint8_t *config;
    size_t config_bytes;
};

struct metric_set {
    const char *names[TRACE_METRICS_MOST];
    char *copies[TRACE_METRICS_MOST]; /* of the names, also of those left out */
    size_t n_copies;
    size_t n, n_common; /* the first ones are in every part */
    size_t stand_in;    /* for the last of them; 0: none */
    struct metric_part parts[METRIC_PARTS_MOST];
    size_t n_parts;
    size_t passes;    /* of all parts together */
    bool has_buffers; /* the last metric is METRIC_BUFFERS */
    const char *chip;
    uint8_t *availability;
};

/* Whether this libcupti has all the functions. */
bool metric_set_is_possible(const struct inject_session *s);

/* Whether it counts operations or instructions of the tensor cores, and whether it is how busy they
 * are. */
bool metric_is_tensor(const char *name);
bool metric_is_tensor_share(const char *name);

/* For the settings' metrics. False, with a note, when no counters can be had. */
bool metric_set_make(struct inject_session *s, struct metric_set *set, void *context,
                     uint32_t device);
void metric_set_free(struct inject_session *s, struct metric_set *set);

/* Whether it goes by the time of the range, of which a launch of our own takes a part. */
bool metric_is_of_time(const char *name);

#endif
