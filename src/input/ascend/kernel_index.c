/*
 * Kernels are hashed by name and begin in units of 8 ns; the neighbour of a unit is looked at too
 * when the begin is near it.
 */
#include "input/ascend/kernel_index.h"

#include "base/tables/hash.h"
#include "capture/capture.h"

/* Rows that are alike in name and time are looked at up to a limit: no run has dozens. */
enum { SLACK = 2, UNIT = 8, LOOKS = 64 };

#define NONE UINT32_MAX

struct kernel_index {
    const struct capture *cap;
    uint32_t *head; /* by hash */
    uint32_t *next; /* by kernel */
    uint32_t *slice;
    size_t n, mask;
};

static size_t bucket(const struct kernel_index *x, strid name, nanos unit)
{
    return (size_t)hash_mix(name, (uint64_t)unit) & x->mask;
}

static nanos unit_of(nanos begin)
{
    return begin / UNIT - (begin % UNIT < 0);
}

struct kernel_index *kernel_index_build(const struct capture *cap, struct arena *arena)
{
    struct kernel_index *x = ARENA_NEW(arena, struct kernel_index);
    const struct slices *s = &cap->slices;
    size_t buckets = 16, n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += slice_is_kernel((enum slice_kind)s->kind[i]);
    while (buckets < n)
        buckets *= 2;
    x->cap = cap;
    x->mask = buckets - 1;
    x->head = ARENA_ARRAY(arena, uint32_t, buckets);
    x->next = ARENA_ARRAY(arena, uint32_t, n);
    x->slice = ARENA_ARRAY(arena, uint32_t, n);
    for (size_t i = 0; i < buckets; i++)
        x->head[i] = NONE;
    for (size_t i = s->n; i > 0; i--) { /* backwards, so that the first stands in front */
        if (!slice_is_kernel((enum slice_kind)s->kind[i - 1]))
            continue;
        uint32_t *head = &x->head[bucket(x, s->name[i - 1], unit_of(s->begin[i - 1]))];
        x->slice[x->n] = (uint32_t)(i - 1);
        x->next[x->n] = *head;
        *head = (uint32_t)x->n++;
    }
    return x;
}

static void index_find(const struct kernel_index *x, strid name, nanos begin, nanos unit,
                       nanos *distance, uint32_t *slice)
{
    const struct slices *s = &x->cap->slices;

    uint32_t k = x->head[bucket(x, name, unit)];

    for (int looks = 0; k != NONE && looks < LOOKS; k = x->next[k], looks++) {
        uint32_t i = x->slice[k];
        nanos away =
            s->begin[i] > begin ? nanos_sub(s->begin[i], begin) : nanos_sub(begin, s->begin[i]);
        if (s->name[i] == name && (away < *distance || (away == *distance && i < *slice))) {
            *distance = away;
            *slice = i;
        }
    }
}

bool kernel_index_find(const struct kernel_index *x, strid name, nanos begin, uint32_t *slice)
{
    nanos unit = unit_of(begin), into = begin - unit * UNIT, distance = SLACK + 1;
    uint32_t found = NONE;

    index_find(x, name, begin, unit, &distance, &found);
    if (into < SLACK)
        index_find(x, name, begin, unit - 1, &distance, &found);
    if (into >= UNIT - SLACK)
        index_find(x, name, begin, unit + 1, &distance, &found);
    if (distance > SLACK)
        return false;
    *slice = found;
    return true;
}
