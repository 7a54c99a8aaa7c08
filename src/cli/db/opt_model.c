/*
 * Models by name or configuration. See opt_model.h.
 */
#include "cli/db/opt_model.h"

#include "base/text/num.h"
#include "cli/db/opt_db.h"

/* Models that the grids do not have. */
static const struct grid_model others[] = {
    {.id = S_INIT("Qwen/Qwen3-8B"),
     .key = S_INIT("qwen38b"),
     .aliases = (const struct str[]){S_INIT("qwen38b")},
     .aliases_n = 1,
     .hidden = 4096,
     .ffn_inter = 12288,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128},
    {.id = S_INIT("Qwen/Qwen3-4B"),
     .key = S_INIT("qwen34b"),
     .aliases = (const struct str[]){S_INIT("qwen34b")},
     .aliases_n = 1,
     .hidden = 2560,
     .ffn_inter = 9728,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128},
    {.id = S_INIT("meta-llama/Meta-Llama-3-8B"),
     .key = S_INIT("llama38b"),
     .aliases = (const struct str[]){S_INIT("llama38b")},
     .aliases_n = 1,
     .hidden = 4096,
     .ffn_inter = 14336,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128},
};

static enum status model_find(struct session *s, const struct opt_model *args, struct grid_run *run,
                              const struct grid_model **out)
{
    const struct grid_models more = {others, ARRAY_LEN(others)};
    struct grid_options o = {.target_models = args->model};
    bool is_alias;

    if (args->model != NULL && args->config == NULL &&
        (*out = grid_models_find(&more, str_of(args->model), &is_alias)) != NULL)
        return grid_run_open(run, &(struct grid_options){0}, &s->diag);
    if (args->config != NULL) {
        const char **files = ARENA_ARRAY(&s->arena, const char *, 1);
        files[0] = args->config;
        o.configs = (struct words){files, 1, 1};
    }
    enum status st = grid_run_open(run, &o, &s->diag);
    if (st == ST_NOT_FOUND && args->config == NULL)
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            diag_hint(&s->diag, i == 0 ? "also" : "", "%.*s", STR_ARGS(others[i].id));
    if (st != ST_OK)
        return st;
    if (run->targets.n == 0)
        return diag_fail(&s->diag, ST_NOT_FOUND, "grid.unknown-model",
                         (struct where){.path = args->config}, "no model in this file");
    *out = &run->targets.at[0];
    return ST_OK;
}

bool opt_model_numbers(struct session *s, const char *text, const int64_t **out, size_t *n)
{
    enum { MOST = 1000000 };
    struct str rest = str_of(text), part;
    int64_t *list = ARENA_ARRAY(&s->arena, int64_t, rest.n + 1);

    for (*n = 0; str_split(&rest, ',', &part); (*n)++)
        if (!num_i64(part, &list[*n]) || list[*n] < 1 || list[*n] > MOST)
            return false;
    *out = list;
    return *n > 0;
}

int opt_model_find(struct session *s, const struct opt_model *args, struct grid_run *run,
                   const struct grid_model **out)
{
    if (args->model == NULL && args->config == NULL)
        return session_usage(s, "--model or --config is needed");
    enum status st = model_find(s, args, run, out);
    if (st != ST_OK)
        grid_run_close(run);
    return db_code(st);
}

int opt_model_check(struct session *s, const struct grid_model *model, int64_t tp, int64_t ep)
{
    if (model->heads > 0 && model->heads % tp != 0)
        return session_usage(s, "--tp %lld does not divide the %lld heads of %.*s", (long long)tp,
                             (long long)model->heads, STR_ARGS(model->id));
    if (ep > 1 && !grid_model_is_moe(model))
        return session_usage(s, "--ep %lld: %.*s has no experts", (long long)ep,
                             STR_ARGS(model->id));
    if (ep > 1 && model->experts % ep != 0)
        return session_usage(s, "--ep %lld does not divide the %lld experts of %.*s", (long long)ep,
                             (long long)model->experts, STR_ARGS(model->id));
    return CODE_DONE;
}

int64_t opt_model_layers(const struct grid_model *model)
{
    static const struct {
        struct str key;
        int64_t layers;
    } known[] = {{S_INIT("qwen38b"), 36},  {S_INIT("qwen34b"), 36},  {S_INIT("llama38b"), 32},
                 {S_INIT("llama70b"), 80}, {S_INIT("qwen332b"), 64}, {S_INIT("deepseekv3"), 61}};

    for (size_t i = 0; i < ARRAY_LEN(known) && model->layers == 0; i++)
        if (str_equal(model->key, known[i].key))
            return known[i].layers;
    return model->layers;
}
