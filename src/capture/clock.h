/*
 * clock - what a tick of a capture's times is, and where it lies in real time.
 *
 * Ticks are nanoseconds in nearly every profile; a simulated core counts cycles. `to_unix` is what
 * has to be added to a time to get nanoseconds since 1970; profilers that print times from the
 * start of the recording say so apart, so the store keeps the file's own times.
 */
#ifndef STRATA_CAPTURE_CLOCK_H
#define STRATA_CAPTURE_CLOCK_H

#include <stdbool.h>

#include "base/num.h"

struct clock {
    int64_t hz; /* ticks a second: 1 000 000 000 for nanoseconds */
    nanos to_unix;
    bool has_unix; /* `to_unix` is known */
};

#endif
