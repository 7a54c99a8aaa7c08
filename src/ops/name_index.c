/*
 * An open hash of names.
 */
#include "ops/name_index.h"

#include "base/text/char.h"

enum { LONGEST = 128 }; /* no name of a table is longer */

/* The place of a name, or the free one where it would be. */
static size_t index_place(const struct name_index *x, struct str name)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)(x->folds_case ? char_lower(name.at[i]) : name.at[i])) *
               16777619U;
    for (size_t i = (hash ^ hash >> 15) % NAME_INDEX_SLOTS;; i = (i + 1) % NAME_INDEX_SLOTS) {
        struct str there = x->slots[i].name;
        if (there.n == 0 ||
            (x->folds_case ? str_equal_nocase(there, name) : str_equal(there, name)))
            return i;
    }
}

void name_index_add(struct name_index *x, struct str list, char between, uint16_t value)
{
    struct str name;

    while (list.n > 0 && str_split(&list, between, &name)) {
        size_t place = name.n > 0 ? index_place(x, name) : NAME_INDEX_SLOTS;
        if (place < NAME_INDEX_SLOTS && x->slots[place].name.n == 0)
            x->slots[place] = (struct name_index_slot){name, value};
    }
}

uint16_t name_index_find(const struct name_index *x, struct str name)
{
    if (name.n == 0 || name.n > LONGEST)
        return NAME_INDEX_NONE;
    const struct name_index_slot *slot = &x->slots[index_place(x, name)];
    return slot->name.n > 0 ? slot->value : NAME_INDEX_NONE;
}
