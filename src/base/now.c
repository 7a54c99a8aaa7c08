/* The monotonic clock. */
#include "base/now.h"

#include <time.h>

nanos now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (nanos)t.tv_sec * 1000000000 + t.tv_nsec;
}
