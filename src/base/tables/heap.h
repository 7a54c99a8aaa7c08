/*
 * heap - an array whose first element is the least, in an order as qsort() takes it.
 *
 *     for (size_t i = n / 2; i-- > 0;)
 *         heap_sink(heap, n, sizeof(*heap), i, by_begin);
 *     heap[0].begin = later;                             (* or heap[0] = heap[--n]; *)
 *     heap_sink(heap, n, sizeof(*heap), 0, by_begin);
 *
 * The functions are inline, so that the order and the size are compiled into their loops.
 */
#ifndef STRATA_BASE_TABLES_HEAP_H
#define STRATA_BASE_TABLES_HEAP_H

#include <assert.h>
#include <string.h>

enum { HEAP_ELEMENT = 64 }; /* most bytes of one */

static inline void heap_swap(char *a, char *b, size_t size)
{
    char kept[HEAP_ELEMENT];

    assert(size <= sizeof(kept));
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

/* Moves element `i`, which grew, down to its place. */
static inline __attribute__((always_inline)) void
heap_sink(void *heap, size_t n, size_t size, size_t i, int (*order)(const void *, const void *))
{
    char *at = heap;

    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && order(at + (child + 1) * size, at + child * size) < 0)
            child++;
        if (order(at + child * size, at + i * size) >= 0)
            return;
        heap_swap(at + i * size, at + child * size, size);
    }
}

/* Moves element `i`, which is new, up to its place. */
static inline __attribute__((always_inline)) void
heap_rise(void *heap, size_t size, size_t i, int (*order)(const void *, const void *))
{
    char *at = heap;

    for (size_t above; i > 0 && order(at + i * size, at + (above = (i - 1) / 2) * size) < 0;
         i = above)
        heap_swap(at + i * size, at + above * size, size);
}

#endif
