/*
 * Names of types, found by a hash of their lower-case letters.
 */
#include "ops/dtype.h"

#include <pthread.h>
#include <stdint.h>

#include "base/text/char.h"

static const struct dtype_row {
    const char *name;
    struct str ascend, runtime, words, inside;
    uint8_t bits, kind;
} rows[DTYPES] = {
    [DTYPE_NONE] = {.name = "none"},
    [DTYPE_UNKNOWN] = {.name = "unknown"},
#define DTYPE(code, bits, kind, name, ascend, runtime, words, inside)                              \
    [DTYPE_##code] = {name,           S_INIT(ascend), S_INIT(runtime),  S_INIT(words),             \
                      S_INIT(inside), bits,           DTYPE_KIND_##kind},
#include "ops/dtypes.def"
#undef DTYPE
};

/* ---- names ---- */

/* At most half full, so that a search ends soon; names that are longer than any are none. */
enum { SLOTS = 512, LONGEST = 32 };

static struct spelling {
    struct str name;
    enum dtype type;
} spellings[SLOTS];

static struct str dtype_bare(struct str name)
{
    static const struct str prefixes[] = {S_INIT("DT_"), S_INIT("torch."), S_INIT("c10::"),
                                          S_INIT("at::"), S_INIT("std::")};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts_nocase(name, prefixes[i]))
            name = str_part(name, prefixes[i].n, name.n);
    return name;
}

static struct spelling *dtype_slot(struct str name)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < name.n; i++)
        hash = (hash ^ (unsigned char)char_lower(name.at[i])) * 16777619U;
    for (size_t i = (hash ^ hash >> 15) % SLOTS;; i = (i + 1) % SLOTS)
        if (spellings[i].name.n == 0 || str_equal_nocase(spellings[i].name, name))
            return &spellings[i];
}

static void dtype_spell(struct str name, enum dtype type)
{
    struct spelling *slot = dtype_slot(dtype_bare(name));

    if (slot->name.n == 0)
        *slot = (struct spelling){dtype_bare(name), type};
}

static void dtype_spell_all(void)
{
    for (unsigned i = DTYPE_NONE + 1; i < DTYPE_UNKNOWN; i++) {
        struct str rest = rows[i].words, word;
        const struct str own[] = {str_of(rows[i].name), rows[i].ascend, rows[i].runtime};
        for (size_t k = 0; k < ARRAY_LEN(own); k++)
            if (own[k].n > 0)
                dtype_spell(own[k], (enum dtype)i);
        while (rest.n > 0 && str_split(&rest, ',', &word))
            dtype_spell(word, (enum dtype)i);
    }
}

enum dtype dtype_of(struct str name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, dtype_spell_all);
    name = dtype_bare(str_trim(name));
    if (name.n == 0 || str_equal_nocase(name, S("undefined")))
        return DTYPE_NONE;
    const struct spelling *slot = name.n <= LONGEST ? dtype_slot(name) : NULL;
    return slot != NULL && slot->name.n > 0 ? slot->type : DTYPE_UNKNOWN;
}

enum dtype dtype_in(struct str name)
{
    for (unsigned i = DTYPE_NONE + 1; i < DTYPE_UNKNOWN; i++) {
        struct str rest = rows[i].inside, word;
        while (rest.n > 0 && str_split(&rest, ',', &word))
            if (str_contains_nocase(name, word))
                return (enum dtype)i;
    }
    return DTYPE_NONE;
}

/* ---- columns ---- */

const char *dtype_name(enum dtype type)
{
    return rows[type].name;
}

struct str dtype_ascend(enum dtype type)
{
    return rows[type].ascend;
}

struct str dtype_runtime(enum dtype type)
{
    return rows[type].runtime;
}

enum dtype_kind dtype_kind(enum dtype type)
{
    return (enum dtype_kind)rows[type].kind;
}

unsigned dtype_bits(enum dtype type)
{
    return rows[type].bits;
}
