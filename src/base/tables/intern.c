/* Texts in an arena, found by hash. */
#include "base/tables/intern.h"

#include <assert.h>

#include "base/limits.h"
#include "base/tables/hash.h"

enum { MANY_SLOTS = 1 << 15 }; /* fewer stay in the cache anyway */

void intern_init(struct intern *in)
{
    *in = (struct intern){0};
    arena_init(&in->text);
    vec_push(&in->strings, S(""));
}

void intern_fini(struct intern *in)
{
    arena_free(&in->text);
    vec_free(&in->strings);
    mem_free(in->slots);
    in->slots = NULL;
}

/* The upper half mixes best. It is kept with the id, so that growing need not read the texts. */
static uint32_t tag_of(struct str s)
{
    return (uint32_t)(hash_bytes(s) >> 32);
}

static struct intern_slot *tables_intern_find(const struct intern *in, struct str s, uint32_t tag)
{
    for (size_t i = tag & (in->cap - 1);; i = (i + 1) & (in->cap - 1)) {
        struct intern_slot *slot = &in->slots[i];
        if (slot->id == 0 || (slot->hash == tag && str_equal(in->strings.at[slot->id], s)))
            return slot;
    }
}

static void intern_grow(struct intern *in)
{
    struct intern_slot *old = in->slots;
    size_t old_cap = in->cap;

    in->cap = old_cap > 0 ? old_cap * 2 : 256;
    in->slots = mem_grow(NULL, sizeof(*in->slots), in->cap);
    memset(in->slots, 0, sizeof(*in->slots) * in->cap);
    for (size_t k = 0; k < old_cap; k++) {
        if (old[k].id == 0)
            continue;
        size_t i = old[k].hash & (in->cap - 1);
        while (in->slots[i].id != 0)
            i = (i + 1) & (in->cap - 1);
        in->slots[i] = old[k];
    }
    mem_free(old);
}

strid intern_put_expected(struct intern *in, struct str s, uint32_t tag)
{
    if (s.n == 0)
        return 0;
    if (in->strings.n * 4 >= in->cap * 3)
        intern_grow(in);
    struct intern_slot *slot = tables_intern_find(in, s, tag);
    if (slot->id == 0) {
        assert(in->strings.n < LIMIT_STRINGS);
        *slot = (struct intern_slot){tag, (strid)in->strings.n};
        vec_push(&in->strings, arena_str(&in->text, s));
    }
    return slot->id;
}

strid intern_put(struct intern *in, struct str s)
{
    return s.n > 0 ? intern_put_expected(in, s, tag_of(s)) : 0;
}

uint32_t intern_expect(const struct intern *in, struct str s)
{
    uint32_t tag = tag_of(s);

    if (in->cap > MANY_SLOTS)
        __builtin_prefetch(&in->slots[tag & (in->cap - 1)]);
    return tag;
}

strid intern_find(const struct intern *in, struct str s)
{
    return s.n > 0 && in->cap > 0 ? tables_intern_find(in, s, tag_of(s))->id : 0;
}

struct str intern_get(const struct intern *in, strid id)
{
    assert(id < in->strings.n);
    return in->strings.at[id];
}
