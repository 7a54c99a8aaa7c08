#include "base/radix.h"

#include <string.h>

enum { DIGITS = 8, VALUES = 256 };

static void pass(const struct radix_item *from, struct radix_item *to, size_t n, unsigned shift,
                 const size_t *count)
{
    size_t place[VALUES], sum = 0;

    for (size_t v = 0; v < VALUES; v++) {
        place[v] = sum;
        sum += count[v];
    }
    for (size_t i = 0; i < n; i++)
        to[place[from[i].key >> shift & (VALUES - 1)]++] = from[i];
}

void radix_sort(struct radix_item *items, struct radix_item *spare, size_t n)
{
    size_t count[DIGITS][VALUES] = {0};
    struct radix_item *from = items, *to = spare;
    size_t unsorted = 0;

    for (size_t i = 0; i < n; i++) {
        unsorted += i > 0 && items[i].key < items[i - 1].key;
        for (unsigned d = 0; d < DIGITS; d++)
            count[d][items[i].key >> 8 * d & (VALUES - 1)]++;
    }
    for (unsigned d = 0; d < DIGITS && unsorted > 0; d++) {
        if (count[d][items[0].key >> 8 * d & (VALUES - 1)] == n)
            continue; /* all alike */
        pass(from, to, n, 8 * d, count[d]);
        struct radix_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * sizeof(*items));
}
