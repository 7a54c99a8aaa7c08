#include "base/radix.h"

#include <stdbool.h>
#include <string.h>

enum { VALUES = 256 };

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
    size_t count[VALUES];
    struct radix_item *from = items, *to = spare;
    uint64_t differ = 0;
    bool is_sorted = true;

    for (size_t i = 1; i < n; i++) {
        differ |= items[i].key ^ items[0].key;
        is_sorted &= items[i - 1].key <= items[i].key;
    }
    for (unsigned shift = 0; shift < 64 && !is_sorted; shift += 8) {
        if ((differ >> shift & (VALUES - 1)) == 0)
            continue; /* all alike */
        memset(count, 0, sizeof(count));
        for (size_t i = 0; i < n; i++)
            count[from[i].key >> shift & (VALUES - 1)]++;
        pass(from, to, n, shift, count);
        struct radix_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * sizeof(*items));
}
