/*
 * timeline_copies - the copies of a device by direction and kind of host memory.
 */
#ifndef STRATA_GPU_TIMELINE_TIMELINE_COPIES_H
#define STRATA_GPU_TIMELINE_TIMELINE_COPIES_H

#include "gpu/timeline/timeline.h"

enum { TIMELINE_COPY_KINDS = 64 }; /* directions and kinds of memory; further ones are left out */

struct timeline_copies {
    struct str kind;   /* "HtoD" */
    struct str memory; /* "Pageable", "Pinned", …: of the host's side; empty where unknown */
    uint64_t n;
    int64_t bytes;        /* -1: not known */
    nanos sum, exposed;   /* exposed: no kernel runs meanwhile */
    double share;         /* of the time of all copies */
    double exposed_share; /* of its own time */
    double gbps;
    double link_share; /* of what the link to the host can move; NAN: no such link, or unknown */
};

/* By time spent, most first; returns how many. */
size_t timeline_copies_find(const struct timeline *t, const struct timeline_device *d,
                            struct arena *arena, struct timeline_copies *out);

/* What PCI Express of that GPU moves in one direction, in GB/s: 16 lanes of the generation that
 * came with its compute capability; NAN when the GPU is not known. */
double timeline_link_gbps(struct str device_name);

/* A section of the report; nothing without copies. */
struct report;
void timeline_copies_put(const struct timeline *t, const struct timeline_device *d,
                         struct report *r);

#endif
