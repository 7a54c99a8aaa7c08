/*
 * Hostile logs of the simulator's core model: the bytes are every log of a core at once. Begins and
 * ends, heads, marks and rates must come out sound.
 */
#include <stdlib.h>

#include "input/incore/camodel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_mte(struct str text)
{
    struct camodel_rates rates = {0};
    struct camodel_mte mte = {0};

    camodel_mte_read(&mte, text);
    mte.core++;
    camodel_mte_read(&mte, text);
    camodel_mte_rates(&mte, 1850, &rates);
    for (size_t i = 0; i < rates.list.n; i++)
        if (rates.list.at[i].way >= CAMODEL_WAYS || !(rates.list.at[i].bytes > 0))
            abort();
    camodel_mte_free(&mte);
    vec_free(&rates.list);
}

static void check_core(struct str text, struct arena *arena)
{
    struct camodel_records begins = {0}, ends = {0}, misses = {0};
    struct camodel_points fetches = {0}, issues = {0};
    struct camodel_instrs instrs = {0};
    struct camodel_marks marks = {0};

    camodel_records_read(&begins, text, arena);
    camodel_records_read(&ends, text, arena);
    camodel_misses_read(&misses, text, arena);
    camodel_fetches_read(&fetches, text);
    camodel_issues_read(&issues, text);
    camodel_join(&begins, &ends, &instrs);
    camodel_marks_find(&ends, &marks);
    struct camodel_head *heads = mem_grow(NULL, sizeof(*heads), instrs.list.n + 1);
    camodel_heads_find(&instrs, &ends, &fetches, &issues, heads);
    for (size_t i = 0; i < instrs.list.n; i++)
        if (instrs.list.at[i].begin > instrs.list.at[i].end ||
            instrs.list.at[i].record >= ends.list.n || heads[i].issued > instrs.list.at[i].begin)
            abort();
    mem_free(heads);
    vec_free(&begins.list);
    vec_free(&ends.list);
    vec_free(&misses.list);
    vec_free(&fetches.list);
    vec_free(&issues.list);
    vec_free(&instrs.list);
    vec_free(&marks.list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *copy = malloc(n > 0 ? n : 1); /* exactly n bytes, so that reading past them shows */
    struct arena arena;

    if (copy == NULL)
        abort();
    if (n > 0)
        memcpy(copy, data, n);
    arena_init(&arena);
    check_core((struct str){copy, n}, &arena);
    check_mte((struct str){copy, n});
    arena_free(&arena);
    free(copy);
    return 0;
}
