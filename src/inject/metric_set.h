/*
 * metric_set - the metrics that are measured on one device, ready for the Range Profiler.
 *
 * Names the chip does not know are left out, and when the rest needs more passes than allowed, only
 * as many from the front as do not. Both are told in notes.
 */
#ifndef STRATA_INJECT_METRIC_SET_H
#define STRATA_INJECT_METRIC_SET_H

#include "inject/session.h"

struct metric_set {
    void *host; /* CUPTI's, which knows the metrics of the chip */
    const char *names[TRACE_METRICS_MOST];
    size_t n, passes;
    uint8_t *config;
    size_t config_bytes;
    uint8_t *availability;
};

/* Whether this libcupti has all the functions. */
bool metric_set_is_possible(const struct session *s);

/* For the settings' metrics. False, with a note, when no counters can be had. */
bool metric_set_make(struct session *s, struct metric_set *set, void *context, uint32_t device);
void metric_set_free(struct session *s, struct metric_set *set);

#endif
