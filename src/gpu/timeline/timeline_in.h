/*
 * timeline_in - the steps that make a timeline, for the files that make it.
 *
 * They run in this order, each on what the ones before have filled in.
 */
#ifndef STRATA_GPU_TIMELINE_TIMELINE_IN_H
#define STRATA_GPU_TIMELINE_TIMELINE_IN_H

#include <stdint.h>

#include "base/str.h"
#include "gpu/timeline/timeline.h"

/*
 * What the name of a call or a copy says about it.
 */

enum {
    NAME_GRAPH = 1,   /* a call that launches a graph */
    NAME_LOADING = 2, /* a call that loads or compiles device code */
    NAME_DRIVER = 4,  /* a call of the driver's own interface */
    NAME_KNOWN = 8,   /* for those who remember the answer */
};

uint8_t timeline_name_says(struct str name);

/* "HtoD" of "Memcpy HtoD (Pinned -> Device)", "set" of a fill, "" when it is neither. */
struct str timeline_copy_kind(struct str name);

/* The two kinds of memory in a copy's name; empty where it does not tell. */
struct str timeline_copy_from(struct str name);
struct str timeline_copy_to(struct str name);

/* What a name says: NAME_* of timeline_in.h. */
uint8_t timeline_says(const struct timeline *t, strid name);

/* Graph launches of a device; marks nodes. */
void timeline_find_graphs(struct timeline *t, struct timeline_device *d);

/* Sums of a device and of its streams, names. */
void timeline_place_sets(struct timeline *t);
void timeline_sum(struct timeline *t, struct timeline_device *d);
void timeline_pair_streams(struct timeline *t);

/* timeline_efficiency() of a device's streams, each with all its kernels. */
double timeline_stream_efficiency(const struct timeline *t, const struct timeline_device *d);

/* Marks the first kernel of each call; then what launches cost. The latter reads the work only, as
 * the sums do: both may run at a time. */
void timeline_mark_first(struct timeline *t, struct timeline_device *d);
void timeline_find_launches(struct timeline *t, struct timeline_device *d);
void timeline_take_gaps(struct timeline *t, struct timeline_device *d);
void timeline_find_ranges(struct timeline *t);

/* Quantiles of a list, which is reordered. */
struct timeline_quantiles timeline_quantiles(nanos *list, size_t n);

/* A number of a slice under a name of the importers ("graph id"), own values first; or -1. */
int64_t timeline_number(const struct timeline *t, uint32_t slice, struct str key);

/* The number that links a call and its work, or -1. */
int64_t timeline_link(const struct timeline *t, uint32_t slice);

/* A text likewise, or an empty one. */
struct str timeline_attr_text(const struct timeline *t, uint32_t slice, struct str key);

/* The name of a slice for people: the plain name where the recorded one is mangled. */
struct str timeline_display(const struct timeline *t, uint32_t slice);

#endif
