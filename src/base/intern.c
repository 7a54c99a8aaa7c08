#include "base/intern.h"

#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"

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

static struct intern_slot *find(const struct intern *in, struct str s, uint64_t hash)
{
    size_t i = (size_t)hash & (in->cap - 1);
    uint32_t tag = (uint32_t)(hash >> 32);

    for (;; i = (i + 1) & (in->cap - 1)) {
        struct intern_slot *slot = &in->slots[i];
        if (slot->id == 0 || (slot->hash == tag && str_equal(in->strings.at[slot->id], s)))
            return slot;
    }
}

static void grow(struct intern *in)
{
    mem_free(in->slots);
    in->cap = in->cap > 0 ? in->cap * 2 : 256;
    in->slots = mem_grow(NULL, sizeof(*in->slots), in->cap);
    memset(in->slots, 0, sizeof(*in->slots) * in->cap);
    for (size_t id = 1; id < in->strings.n; id++) {
        uint64_t hash = hash_bytes(in->strings.at[id]);
        size_t i = (size_t)hash & (in->cap - 1);
        while (in->slots[i].id != 0)
            i = (i + 1) & (in->cap - 1);
        in->slots[i] = (struct intern_slot){(uint32_t)(hash >> 32), (strid)id};
    }
}

strid intern_put(struct intern *in, struct str s)
{
    if (s.n == 0)
        return 0;
    if (in->strings.n * 4 >= in->cap * 3)
        grow(in);
    uint64_t hash = hash_bytes(s);
    struct intern_slot *slot = find(in, s, hash);
    if (slot->id == 0) {
        assert(in->strings.n < LIMIT_STRINGS);
        *slot = (struct intern_slot){(uint32_t)(hash >> 32), (strid)in->strings.n};
        vec_push(&in->strings, arena_str(&in->text, s));
    }
    return slot->id;
}

strid intern_find(const struct intern *in, struct str s)
{
    return s.n > 0 && in->cap > 0 ? find(in, s, hash_bytes(s))->id : 0;
}

struct str intern_get(const struct intern *in, strid id)
{
    assert(id < in->strings.n);
    return in->strings.at[id];
}
