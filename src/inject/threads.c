/*
 * Threads that record. See threads.h.
 */
#include "inject/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MOST = 4096 };

/* Upper half: as CUPTI records it; lower half: as the system counts. The newest is the one that is
 * meant, for a thread may get the memory of one that ended. */
static _Atomic uint64_t known[THREADS_MOST];
static atomic_uint n_known;

void threads_note(void)
{
    static _Thread_local bool is_noted;

    if (is_noted)
        return;
    is_noted = true;
    uint64_t recorded = (uint32_t)(uintptr_t)pthread_self();
    unsigned at = atomic_fetch_add(&n_known, 1) % THREADS_MOST;
    atomic_store(&known[at], recorded << 32 | (uint32_t)syscall(SYS_gettid));
}

uint32_t threads_number(uint32_t recorded)
{
    unsigned n = atomic_load(&n_known);

    for (unsigned i = 0; i < n && i < THREADS_MOST; i++) {
        uint64_t one = atomic_load(&known[(n - 1 - i) % THREADS_MOST]);
        if (one >> 32 == recorded)
            return (uint32_t)one;
    }
    return recorded;
}
