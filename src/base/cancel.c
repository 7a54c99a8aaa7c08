/* The flag that a signal handler may set. */
#include "base/cancel.h"

#include <stdatomic.h>

static atomic_bool requested;

void cancel_request(void)
{
    atomic_store_explicit(&requested, true, memory_order_relaxed);
}

bool cancelled(void)
{
    return atomic_load_explicit(&requested, memory_order_relaxed);
}

void cancel_clear(void)
{
    atomic_store_explicit(&requested, false, memory_order_relaxed);
}
