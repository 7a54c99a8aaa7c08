/*
 * Names of types, in any letter case.
 */
#include "ops/dtype.h"

#include <pthread.h>

#include "ops/name_index.h"

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

static struct name_index index_of_names = {.folds_case = true};

static struct str dtype_bare(struct str name)
{
    static const struct str prefixes[] = {S_INIT("DT_"), S_INIT("torch."), S_INIT("c10::"),
                                          S_INIT("at::"), S_INIT("std::")};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts_nocase(name, prefixes[i]))
            name = str_part(name, prefixes[i].n, name.n);
    return name;
}

static void dtype_spell_all(void)
{
    for (uint16_t i = DTYPE_NONE + 1; i < DTYPE_UNKNOWN; i++) {
        const struct str lists[] = {str_of(rows[i].name), dtype_bare(rows[i].ascend),
                                    rows[i].runtime, rows[i].words};
        for (size_t k = 0; k < ARRAY_LEN(lists); k++)
            name_index_add(&index_of_names, lists[k], ',', i);
    }
}

enum dtype dtype_of(struct str name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, dtype_spell_all);
    name = dtype_bare(str_trim(name));
    if (name.n == 0 || str_equal_nocase(name, S("undefined")))
        return DTYPE_NONE;
    uint16_t type = name_index_find(&index_of_names, name);
    return type != NAME_INDEX_NONE ? (enum dtype)type : DTYPE_UNKNOWN;
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
