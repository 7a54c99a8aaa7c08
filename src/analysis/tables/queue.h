/*
 * queue - how far the host runs ahead of each stream: launches that wait, launch latency, gaps.
 *
 * Needs launches that are tied to their kernels. Rules: docs/analyses/queue.md.
 */
#ifndef STRATA_ANALYSIS_TABLES_QUEUE_H
#define STRATA_ANALYSIS_TABLES_QUEUE_H

#include "analysis/study.h"

/* Gaps between kernels of a stream, by length. */
enum queue_gap { QUEUE_GAP_2US, QUEUE_GAP_10US, QUEUE_GAP_100US, QUEUE_GAP_1MS, QUEUE_GAP_LONGER };

enum { QUEUE_GAPS = QUEUE_GAP_LONGER + 1 };

const char *queue_gap_name(enum queue_gap gap);

/* Of sorted times; 0 where there are none. */
struct queue_spread {
    nanos median, p90, p99, most;
    size_t n;
};

struct queue_stream {
    struct str name;
    size_t kernels, linked; /* with a known launch */
    size_t most;            /* launches outstanding */
    double mean;            /* over the time from the first launch to the end of the last kernel */
    double empty;           /* share of that time without any */
    struct queue_spread ahead; /* from the end of the launch to the begin of the kernel */
    struct queue_spread
        latency; /* from the begin of the launch, where the stream was idle by then */
    size_t gaps[QUEUE_GAPS];
    nanos gap_time[QUEUE_GAPS];
};

struct queue {
    struct queue_stream *at; /* by number of kernels, then name */
    size_t n;
};

const struct queue *queue_find(struct study *st);

#endif
