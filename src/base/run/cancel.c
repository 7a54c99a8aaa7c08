/* The flag that a signal handler may set, and since when it waits. */
#include "base/run/cancel.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/run/now.h"

static atomic_int requested; /* the signal */
static atomic_int holds;
static atomic_int_least64_t since; /* ns: the request, or the end of the last hold after it */

void cancel_request(int signal_number)
{
    int none = 0;

    if (atomic_load(&requested) != 0)
        return;
    atomic_store(&since, now_ns());
    atomic_compare_exchange_strong(&requested, &none, signal_number);
}

bool cancelled(void)
{
    return atomic_load_explicit(&requested, memory_order_relaxed) != 0;
}

int cancel_signal(void)
{
    return atomic_load(&requested);
}

bool cancel_is_overdue(void)
{
    const int64_t grace = (int64_t)CANCEL_GRACE_MS * 1000000;

    return cancelled() && atomic_load(&holds) == 0 && now_ns() - atomic_load(&since) >= grace;
}

void cancel_hold(void)
{
    atomic_fetch_add(&holds, 1);
}

void cancel_release(void)
{
    atomic_store(&since, now_ns()); /* before the hold ends: no look finds an old time */
    atomic_fetch_sub(&holds, 1);
}

void cancel_clear(void)
{
    atomic_store(&requested, 0);
}
