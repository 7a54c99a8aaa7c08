#include "capture/slices.h"

#include <stdlib.h>

#include "base/arena.h"

static void grow(struct slices *s)
{
    s->cap = s->cap > 0 ? s->cap + s->cap / 2 : 256;
    s->begin = mem_grow(s->begin, sizeof(*s->begin), s->cap);
    s->dur = mem_grow(s->dur, sizeof(*s->dur), s->cap);
    s->lane = mem_grow(s->lane, sizeof(*s->lane), s->cap);
    s->name = mem_grow(s->name, sizeof(*s->name), s->cap);
    s->set = mem_grow(s->set, sizeof(*s->set), s->cap);
    s->own = mem_grow(s->own, sizeof(*s->own), s->cap);
    s->kind = mem_grow(s->kind, sizeof(*s->kind), s->cap);
}

static void store(struct slices *s, size_t i, const struct slice *slice)
{
    s->begin[i] = slice->begin;
    s->dur[i] = slice->dur;
    s->lane[i] = slice->lane;
    s->name[i] = slice->name;
    s->set[i] = slice->set;
    s->own[i] = slice->own;
    s->kind[i] = (uint8_t)slice->kind;
}

void slices_push(struct slices *s, const struct slice *slice)
{
    if (s->n == s->cap)
        grow(s);
    store(s, s->n++, slice);
}

void slices_free(struct slices *s)
{
    mem_free(s->begin);
    mem_free(s->dur);
    mem_free(s->lane);
    mem_free(s->name);
    mem_free(s->set);
    mem_free(s->own);
    mem_free(s->kind);
    *s = (struct slices){0};
}

static int compare(const struct slices *s, size_t a, size_t b)
{
    if (s->lane[a] != s->lane[b])
        return s->lane[a] < s->lane[b] ? -1 : 1;
    if (s->begin[a] != s->begin[b])
        return s->begin[a] < s->begin[b] ? -1 : 1;
    if (s->dur[a] != s->dur[b])
        return s->dur[a] > s->dur[b] ? -1 : 1;
    return 0;
}

static int by_place(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare(ctx, x, y);

    if (order != 0)
        return order;
    return x < y ? -1 : x > y;
}

static bool is_sorted(const struct slices *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (compare(s, i - 1, i) > 0)
            return false;
    return true;
}

/* Puts slice order[i] at place i, following the cycles of the permutation; uses up `order`. */
static void permute(struct slices *s, uint32_t *order)
{
    for (size_t start = 0; start < s->n; start++) {
        if (order[start] == start)
            continue;
        struct slice saved = slices_at(s, start);
        size_t to = start;
        while (order[to] != start) {
            size_t from = order[to];
            struct slice moved = slices_at(s, from);
            store(s, to, &moved);
            order[to] = (uint32_t)to;
            to = from;
        }
        store(s, to, &saved);
        order[to] = (uint32_t)to;
    }
}

uint32_t *slices_sort(struct slices *s, bool tell)
{
    uint32_t *place = NULL;

    if (is_sorted(s))
        return NULL;
    uint32_t *order = mem_grow(NULL, sizeof(*order), s->n);
    for (size_t i = 0; i < s->n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, s->n, sizeof(*order), by_place, s);
    if (tell) {
        place = mem_grow(NULL, sizeof(*place), s->n);
        for (size_t i = 0; i < s->n; i++)
            place[order[i]] = (uint32_t)i;
    }
    permute(s, order);
    mem_free(order);
    return place;
}
