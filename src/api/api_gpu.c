/*
 * Runs of GPU kernels: recorded, loaded, and what bounds their stages. Over the commands of
 * `strata gpu`.
 */
#include <stdlib.h>

#include "api/api.h"

static size_t count_words(const char *const *words)
{
    size_t n = 0;

    while (words != NULL && words[n] != NULL)
        n++;
    return n;
}

static size_t add_words(const char **to, size_t at, const char *const *words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        to[at++] = words[i];
    return at;
}

int strata_gpu_load(const char *path, const char *kernel, struct strata_result **out)
{
    const char *const words[] = {"gpu",  "report", path, kernel != NULL ? "--kernel" : NULL,
                                 kernel, NULL};

    if (path == NULL)
        return api_misuse("a run needs a folder or a file", out);
    return strata_ask(NULL, 0, words, STRATA_AS_VALUES, out);
}

int strata_gpu_run(const char *const *command, const char *const *options, const char *folder,
                   struct strata_result **out)
{
    const char *const first[] = {"gpu", "profile", "--out", folder, NULL};

    if (command == NULL || command[0] == NULL || folder == NULL)
        return api_misuse("a run needs a command and a folder", out);
    size_t n = 0, room = count_words(first) + count_words(options) + count_words(command) + 2;
    const char **words = malloc(room * sizeof(*words));
    if (words == NULL || out == NULL) {
        free(words);
        if (out != NULL)
            *out = NULL;
        return out != NULL ? STRATA_MEMORY : STRATA_USAGE;
    }
    n = add_words(words, n, first);
    n = add_words(words, n, options);
    words[n++] = "--";
    n = add_words(words, n, command);
    words[n] = NULL;
    int status = strata_ask(NULL, 0, words, STRATA_AS_VALUES, out);
    free(words);
    if (status != STRATA_OK || *out == NULL)
        return status;
    strata_result_free(*out);
    return strata_gpu_load(folder, NULL, out);
}

/* ---- what the document says ---- */

static const char *text_at(const struct strata_value *v, const char *key)
{
    const char *text = strata_value_text(strata_value_get(v, key));

    return text != NULL ? text : "";
}

static double real_at(const struct strata_value *v, const char *key)
{
    return strata_value_real(strata_value_get(v, key));
}

static const struct strata_value *gpu_list_of(const struct strata_result *r, const char *key)
{
    return strata_value_get(strata_result_value(r), key);
}

static const struct strata_value *item_of(const struct strata_result *r, const char *key, size_t i)
{
    const struct strata_value *v = strata_value_first(gpu_list_of(r, key));

    while (v != NULL && i-- > 0)
        v = strata_value_next(v);
    return v;
}

size_t strata_gpu_stage_count(const struct strata_result *r)
{
    return strata_value_count(gpu_list_of(r, "stages"));
}

int strata_gpu_stage_get(const struct strata_result *r, size_t i, struct strata_gpu_stage *out)
{
    const struct strata_value *v = item_of(r, "stages", i);

    if (v == NULL || out == NULL)
        return STRATA_USAGE;
    *out = (struct strata_gpu_stage){
        .name = text_at(v, "name"),
        .us = real_at(v, "duration_us"),
        .share = real_at(v, "share"),
        .bound = text_at(v, "class"),
        .reason = text_at(v, "sub_class"),
        .confidence = real_at(v, "confidence"),
        .tensor_pct = real_at(v, "tc_pct"),
        .memory_pct = real_at(v, "dram_pct"),
        .occupancy_pct = real_at(v, "occ_pct"),
    };
    return STRATA_OK;
}

size_t strata_gpu_advice_count(const struct strata_result *r)
{
    return strata_value_count(gpu_list_of(r, "opportunities"));
}

int strata_gpu_advice_get(const struct strata_result *r, size_t i, struct strata_gpu_advice *out)
{
    const struct strata_value *v = item_of(r, "opportunities", i);

    if (v == NULL || out == NULL)
        return STRATA_USAGE;
    *out = (struct strata_gpu_advice){
        .what = text_at(v, "name"),
        .gain_pct = real_at(v, "gain_pct"),
        .evidence = text_at(v, "trigger"),
    };
    return STRATA_OK;
}

const char *strata_gpu_verdict(const struct strata_result *r)
{
    return text_at(strata_result_value(r), "verdict");
}
