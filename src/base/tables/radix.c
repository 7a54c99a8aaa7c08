/* Passes over the digits that differ; lists that are nearly sorted are merged instead. */
#include "base/tables/radix.h"

#include <stdbool.h>
#include <string.h>

enum {
    FEW = 32, /* are sorted by insertion */
    MOST_FALLS = 4,
};

enum { BITS = 11, VALUES = 1 << BITS, DIGITS = (64 + BITS - 1) / BITS };

static unsigned digit(uint64_t key, unsigned d)
{
    return (unsigned)(key >> d * BITS) & (VALUES - 1);
}

static void pass(const struct radix_item *from, struct radix_item *to, size_t n, unsigned d)
{
    size_t place[VALUES] = {0}, sum = 0;

    for (size_t i = 0; i < n; i++)
        place[digit(from[i].key, d)]++;
    for (size_t v = 0; v < VALUES; v++) {
        size_t count = place[v];
        place[v] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[digit(from[i].key, d)]++] = from[i];
}

/* Merges the sorted items before `middle` with those from it on; the first way out of place. */
static void merge(struct radix_item *items, struct radix_item *spare, size_t middle, size_t n)
{
    size_t left = 0, right = middle, to = 0;

    memcpy(spare, items, middle * sizeof(*items));
    while (left < middle && right < n)
        items[to++] = items[right].key < spare[left].key ? items[right++] : spare[left++];
    memcpy(items + to, spare + left, (middle - left) * sizeof(*items));
}

/* For few items, and for those that stand near their places. False when it takes more than about
 * `moves`; then some of the work is done. */
static bool insert_sort(struct radix_item *items, size_t n, size_t moves)
{
    for (size_t i = 1; i < n; i++) {
        struct radix_item moved = items[i];
        size_t k = i;
        for (; k > 0 && items[k - 1].key > moved.key; k--)
            items[k] = items[k - 1];
        items[k] = moved;
        if (i - k > moves)
            return false;
        moves -= i - k;
    }
    return true;
}

void radix_sort(struct radix_item *items, struct radix_item *spare, size_t n)
{
    struct radix_item *from = items, *to = spare;
    uint64_t differ = 0;
    size_t falls = 0, fall[MOST_FALLS + 1] = {0}; /* places where the order breaks */

    if (n <= FEW) {
        insert_sort(items, n, FEW * FEW);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        differ |= items[i].key ^ items[0].key;
        fall[falls] = i;
        falls += items[i - 1].key > items[i].key && falls < MOST_FALLS;
    }
    if (falls < MOST_FALLS) { /* some lists, one behind the other */
        fall[falls] = n;
        for (size_t i = 0; i < falls; i++)
            merge(items, spare, fall[i], fall[i + 1]);
        return;
    }
    if (insert_sort(items, n, n))
        return;
    for (unsigned d = 0; d < DIGITS; d++) {
        if (digit(differ, d) == 0)
            continue; /* all alike */
        pass(from, to, n, d);
        struct radix_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, n * sizeof(*items));
}
