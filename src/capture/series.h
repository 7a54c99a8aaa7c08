/*
 * series - a counter sampled over time: bandwidth, clock, memory in use.
 */
#ifndef STRATA_CAPTURE_SERIES_H
#define STRATA_CAPTURE_SERIES_H

#include "base/intern.h"
#include "base/num.h"
#include "base/vec.h"

typedef uint32_t series_id;

struct sample {
    nanos at;
    double value;
};

struct series {
    strid process, name, unit;     /* process and unit may be 0 */
    VEC_OF(struct sample) samples; /* by time once sealed */
};

#endif
