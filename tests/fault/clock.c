/*
 * clock - a wall clock that jumps; a library to preload. Every call moves it by up to a day, back
 * or forth, in an order that STRATA_FAULT_CLOCK (a number) decides. Other clocks are left alone.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static atomic_ullong state;

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("STRATA_FAULT_CLOCK");

    atomic_store(&state, text != NULL ? strtoull(text, NULL, 10) : 1);
}

/* Seconds to add. */
static long jump(void)
{
    uint64_t x = atomic_fetch_add(&state, 0x9e3779b97f4a7c15U);

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    return (long)((x ^ (x >> 31)) % 172801) - 86400;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int (*real)(clockid_t, struct timespec *);

    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, out);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += jump();
    return result;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
