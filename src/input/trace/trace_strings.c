/* The table of texts of a piece. */
#include "input/trace/trace_strings.h"

#include "base/tables/hash.h"

enum { FIRST_CAP = 1 << 10 };

static void reset(struct trace_strings *t)
{
    t->at.n = 0;
    vec_push(&t->at, ((struct trace_string){.raw = S("")}));
}

void trace_strings_init(struct trace_strings *t)
{
    *t = (struct trace_strings){.cap = FIRST_CAP};
    t->slots = mem_grow(NULL, sizeof(*t->slots), t->cap);
    memset(t->slots, 0, sizeof(*t->slots) * t->cap);
    reset(t);
}

void trace_strings_fini(struct trace_strings *t)
{
    vec_free(&t->at);
    mem_free(t->slots);
    t->slots = NULL;
}

void trace_strings_clear(struct trace_strings *t)
{
    memset(t->slots, 0, sizeof(*t->slots) * t->cap);
    reset(t);
}

static void strings_grow(struct trace_strings *t)
{
    mem_free(t->slots);
    t->cap *= 2;
    t->slots = mem_grow(NULL, sizeof(*t->slots), t->cap);
    memset(t->slots, 0, sizeof(*t->slots) * t->cap);
    for (size_t id = 1; id < t->at.n; id++) {
        uint64_t hash = hash_bytes(t->at.at[id].raw);
        size_t i = (size_t)hash & (t->cap - 1);
        while (t->slots[i].id != 0)
            i = (i + 1) & (t->cap - 1);
        t->slots[i] = (struct trace_string_slot){(uint32_t)(hash >> 32), (uint32_t)id};
    }
}

strid trace_strings_put(struct trace_strings *t, struct str raw, enum trace_form form)
{
    if (raw.n == 0)
        return 0;
    uint64_t hash = hash_bytes(raw);
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t i = (size_t)hash & (t->cap - 1);

    for (; t->slots[i].id != 0; i = (i + 1) & (t->cap - 1)) {
        const struct trace_string *have = &t->at.at[t->slots[i].id];
        if (t->slots[i].hash == tag && have->form == form && trace_same(have->raw, raw))
            return t->slots[i].id;
    }
    strid id = (strid)t->at.n;
    t->slots[i] = (struct trace_string_slot){tag, id};
    vec_push(&t->at, ((struct trace_string){.raw = raw, .form = (uint8_t)form}));
    if (t->at.n * 2 > t->cap)
        strings_grow(t);
    return id;
}
