/*
 * pool - the only threads there are.
 *
 * pool_for() hands out the numbers 0 to n-1 to whichever thread is free, so nothing may depend on
 * which runs first: a task writes its result to slot i and the caller merges the slots in order.
 * The calling thread works too. From inside a task pool_for() runs its calls one after the other
 * in that task, so nesting cannot lock up.
 */
#ifndef STRATA_BASE_RUN_POOL_H
#define STRATA_BASE_RUN_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct pool;

/* Processors this process may run on, at least 1. */
size_t pool_default_width(void);

/* `width` counts the calling thread; 0 means the default. Fewer threads are used when the system
 * refuses to create them. Signals are left to the threads that were there before, but for SIGBUS,
 * which a thread gets from its own reading of a mapped file. */
struct pool *pool_new(size_t width);
void pool_free(struct pool *pool);
size_t pool_width(const struct pool *pool);

/* Calls fn(ctx, i) once for each i below `n` and returns when all calls have. A NULL pool runs
 * them in order. Two threads that use one pool take turns. */
void pool_for(struct pool *pool, size_t n, void (*fn)(void *ctx, size_t i), void *ctx);

/*
 * An ordered pipeline over slots that are used again and again. Item k lives in slot k % `slots`:
 *
 *     next(ctx, slot)   gets the next item ready; false when there is none. One call at a time, in
 *                       order.
 *     work(ctx, slot)   does the work; many at a time.
 *     merge(ctx, slot)  takes the result over; one call at a time, in order. False ends the
 *                       pipeline: no further item is begun or merged.
 *
 * next, work and merge of different items run side by side. With one thread, from inside a task
 * or with a NULL pool they run in turn, all in slot 0.
 */
struct pool_pipe {
    bool (*next)(void *ctx, size_t slot);
    void (*work)(void *ctx, size_t slot);
    bool (*merge)(void *ctx, size_t slot);
};

void pool_pipe(struct pool *pool, size_t slots, const struct pool_pipe *pipe, void *ctx);

#endif
