/*
 * estimate_in - for estimate_*.c alone.
 */
#ifndef STRATA_PERFDB_ESTIMATE_IN_H
#define STRATA_PERFDB_ESTIMATE_IN_H

#include "perfdb/estimate.h"

/* Some of the points, by number. */
struct estimate_sample {
    const struct estimate_point *points;
    const uint32_t *at;
    size_t n;
};

/* Roofs that fit: the plain one, and with the tiles that fit best where there are any. */
enum { ESTIMATE_ROOFS = 3 };
size_t estimate_roofs(struct estimate_roof *out, const struct estimate_sample *s, double cores);

#endif
