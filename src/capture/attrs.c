#include "capture/attrs.h"

#include <assert.h>

void attrs_init(struct attrs *a)
{
    *a = (struct attrs){0};
    vec_push(&a->values, ((struct attr){0})); /* run 0 is empty */
}

void attrs_fini(struct attrs *a)
{
    vec_free(&a->values);
    hash_free(&a->sets);
}

attr_run attrs_own(struct attrs *a, const struct attr *list, size_t n)
{
    if (n == 0)
        return 0;
    assert(a->values.n + n < UINT32_MAX);
    attr_run run = (attr_run)a->values.n;
    for (size_t i = 0; i < n; i++)
        vec_push(&a->values, list[i]);
    vec_push(&a->values, ((struct attr){0}));
    return run;
}

static bool same(const struct attrs *a, attr_run run, const struct attr *list, size_t n)
{
    const struct attr *have = &a->values.at[run];

    for (size_t i = 0; i < n; i++)
        if (have[i].key != list[i].key || have[i].type != list[i].type ||
            have[i].bits != list[i].bits)
            return false;
    return have[n].type == ATTR_NONE;
}

attr_run attrs_set(struct attrs *a, const struct attr *list, size_t n)
{
    uint64_t hash = n;

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        hash = hash_mix(hash ^ list[i].bits, (uint64_t)list[i].key << 8 | list[i].type);
    for (;; hash = hash_mix(hash, n)) { /* two sets with one hash: look further along */
        uint32_t run;
        if (!hash_get(&a->sets, hash, &run)) {
            run = attrs_own(a, list, n);
            hash_put(&a->sets, hash, run);
            return run;
        }
        if (same(a, run, list, n))
            return run;
    }
}

const struct attr *attrs_get(const struct attrs *a, attr_run run, strid key)
{
    for (const struct attr *at = &a->values.at[run]; at->type != ATTR_NONE; at++)
        if (at->key == key)
            return at;
    return NULL;
}
