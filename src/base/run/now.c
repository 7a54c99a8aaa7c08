/*
 * Clocks.
 */
#include "base/run/now.h"

#include <stdlib.h>
#include <time.h>

nanos now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (nanos)t.tv_sec * 1000000000 + t.tv_nsec;
}

const char *now_text(struct arena *arena, enum now_form form, int64_t later)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm parts = {0};
    int64_t second;
    bool is_given = epoch != NULL && num_i64(str_of(epoch), &second) && second >= 0 &&
                    second < (int64_t)1 << 40;
    time_t t = (time_t)((is_given ? second : (int64_t)time(NULL)) + later);

    if (is_given)
        gmtime_r(&t, &parts);
    else
        localtime_r(&t, &parts);
    return arena_printf(arena,
                        form == NOW_READ   ? "%04d-%02d-%02d %02d:%02d:%02d"
                        : form == NOW_NAME ? "%04d%02d%02d_%02d%02d%02d"
                                           : "%04d%02d%02d%02d%02d%02d",
                        parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                        parts.tm_min, parts.tm_sec);
}
