/*
 * Sizes of models, from the rules or from a config.json.
 */
#include "opdb/grid/grid_models.h"

#include <stdlib.h>

#include "base/formats/yaml.h"
#include "base/tables/vec.h"
#include "base/text/char.h"
#include "base/text/num.h"

/* Products of two sizes stay below 2^62. */
static const int64_t most = (int64_t)1 << 31;

static const struct model_field {
    struct str name;
    size_t offset;
    bool is_needed;
} fields[] = {
    {S_INIT("hidden_size"), offsetof(struct grid_model, hidden), true},
    {S_INIT("intermediate_size"), offsetof(struct grid_model, ffn_inter), false},
    {S_INIT("num_attention_heads"), offsetof(struct grid_model, heads), true},
    {S_INIT("num_kv_heads"), offsetof(struct grid_model, kv_heads), true},
    {S_INIT("head_dim"), offsetof(struct grid_model, head_dim), true},
    {S_INIT("q_lora_rank"), offsetof(struct grid_model, q_lora), false},
    {S_INIT("kv_lora_rank"), offsetof(struct grid_model, kv_lora), false},
    {S_INIT("qk_nope_head_dim"), offsetof(struct grid_model, nope_dim), false},
    {S_INIT("qk_rope_head_dim"), offsetof(struct grid_model, rope_dim), false},
    {S_INIT("num_experts"), offsetof(struct grid_model, experts), false},
    {S_INIT("num_experts_per_card"), offsetof(struct grid_model, experts_per_card), false},
    {S_INIT("expert_intermediate_size"), offsetof(struct grid_model, expert_inter), false},
    {S_INIT("topk"), offsetof(struct grid_model, top_k), false},
};

static enum status bad(const char *path, const struct tree *node, struct diag *d, struct str field,
                       const char *what)
{
    return diag_fail(d, ST_FORMAT, "grid.bad-model",
                     (struct where){.path = path, .line = node->line}, "%.*s%s", STR_ARGS(field),
                     what);
}

static enum status read_size(const char *path, const struct tree *model,
                             const struct model_field *f, struct grid_model *out, struct diag *d)
{
    const struct tree *node = tree_get(model, f->name);
    int64_t value = 0;

    if (node != NULL && !yaml_is_null(node) &&
        (node->kind != TREE_TEXT || !num_i64(node->text, &value) || value < 0 || value > most))
        return bad(path, node, d, f->name, " must be a whole number from 0 to 2^31");
    if (f->is_needed && value == 0)
        return bad(path, model, d, f->name, " is missing");
    memcpy((char *)out + f->offset, &value, sizeof(value));
    return ST_OK;
}

static enum status read_sizes(struct arena *arena, const char *path, const struct tree *model,
                              struct str field, struct grid_list *out, struct diag *d)
{
    const struct tree *node = tree_get(model, field);

    if (!grid_rules_list(arena, node, path, out, d))
        return ST_FORMAT;
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i] < 1 || out->at[i] > most)
            return bad(path, node, d, field, " must be whole numbers from 1 to 2^31");
    return out->n > 0 ? ST_OK : bad(path, model, d, field, " is missing");
}

static enum status read_aliases(struct arena *arena, const char *path, const struct tree *model,
                                struct grid_model *out, struct diag *d)
{
    const struct tree *node = tree_get(model, S("aliases"));

    if (node == NULL)
        return ST_OK;
    if (node->kind != TREE_LIST)
        return bad(path, node, d, S("aliases"), " must be a list of names");
    struct str *at = ARENA_ARRAY(arena, struct str, node->n);
    out->aliases = at;
    out->aliases_n = node->n;
    for (const struct tree *v = node->first; v != NULL; v = v->next)
        *at++ = v->text;
    return ST_OK;
}

/* A name as it is compared: small letters, without what separates its words. */
static struct str plain(struct arena *arena, struct str name)
{
    char *at = arena_alloc(arena, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        char c = name.at[i];
        if (!char_is_blank(c) && c != '-' && c != '_' && c != '.' && c != '/')
            at[n++] = char_lower(c);
    }
    return (struct str){at, n};
}

enum status grid_models_read(struct arena *arena, const struct grid_rules *rules,
                             struct grid_models *out, struct diag *d)
{
    struct grid_model *m = ARENA_ARRAY(arena, struct grid_model, rules->models->n);
    const char *path = rules->models_path;

    *out = (struct grid_models){m, rules->models->n};
    for (const struct tree *v = rules->models->first; v != NULL; v = v->next, m++) {
        *m = (struct grid_model){.id = v->key};
        if (v->kind != TREE_MAP)
            return bad(path, v, d, v->key, " must be a map");
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
            TRY(read_size(path, v, &fields[i], m, d));
        TRY(read_sizes(arena, path, v, S("tp_sizes"), &m->tp_sizes, d));
        TRY(read_sizes(arena, path, v, S("ep_sizes"), &m->ep_sizes, d));
        TRY(read_aliases(arena, path, v, m, d));
        m->key = tree_get_text(v, S("model_key"), plain(arena, str_basename(v->key)));
    }
    return ST_OK;
}

/* The first of the named members that is a positive number; 0 when none is. */
static int64_t first_of(const struct tree *config, const char *const *names)
{
    for (; *names != NULL; names++) {
        const struct tree *node = tree_get(config, str_of(*names));
        int64_t value;
        if (node != NULL && node->kind == TREE_TEXT && num_i64(node->text, &value) && value > 0 &&
            value <= most)
            return value;
    }
    return 0;
}

#define FIRST_OF(config, ...) first_of(config, (const char *const[]){__VA_ARGS__, NULL})

static int64_t or_else(int64_t value, int64_t other)
{
    return value > 0 ? value : other;
}

static void fill_config(const struct tree *config, struct grid_model *m)
{
    m->hidden = FIRST_OF(config, "hidden_size", "d_model");
    m->ffn_inter = FIRST_OF(config, "intermediate_size");
    m->heads = FIRST_OF(config, "num_attention_heads");
    m->kv_heads =
        or_else(FIRST_OF(config, "num_key_value_heads", "multi_query_group_num"), m->heads);
    m->q_lora = FIRST_OF(config, "q_lora_rank");
    m->kv_lora = FIRST_OF(config, "kv_lora_rank");
    m->nope_dim = FIRST_OF(config, "qk_nope_head_dim");
    m->rope_dim = or_else(FIRST_OF(config, "qk_rope_head_dim", "rotary_dim"), 64);
    if (grid_model_is_mla(m))
        m->head_dim = or_else(FIRST_OF(config, "v_head_dim", "qk_head_dim", "head_dim"), 128);
    else
        m->head_dim = or_else(FIRST_OF(config, "head_dim", "kv_channels"),
                              m->heads > 0 ? m->hidden / m->heads : 0);
    m->experts = FIRST_OF(config, "n_routed_experts", "num_experts");
    m->top_k = FIRST_OF(config, "num_experts_per_tok", "top_k", "num_experts_per_token");
    m->expert_inter = FIRST_OF(config, "moe_intermediate_size", "expert_intermediate_size");
    m->experts_per_card = or_else(FIRST_OF(config, "n_experts_per_card"), m->experts);
    m->layers = FIRST_OF(config, "num_hidden_layers", "num_layers", "n_layer");
    m->vocab = FIRST_OF(config, "vocab_size");
}

/* "models/Some-Model/config.json" is called Some-Model. */
static struct str folder_name(struct str path)
{
    struct str name = str_basename(path);
    struct str folder = str_part(path, 0, path.n - name.n);

    while (folder.n > 0 && folder.at[folder.n - 1] == '/')
        folder.n--;
    folder = str_basename(folder);
    return folder.n > 0 ? folder : name;
}

enum status grid_model_config(struct arena *arena, const char *path, struct str id,
                              struct grid_model *out, struct diag *d)
{
    const struct tree *config;

    TRY(yaml_read_file(arena, path, &config, d));
    if (config->kind != TREE_MAP)
        return bad(path, config, d, S("a model's configuration"), " must be a JSON object");
    *out = (struct grid_model){.id = arena_str(arena, id)};
    fill_config(config, out);
    if (out->hidden == 0 || out->heads == 0)
        return bad(path, config, d, out->hidden == 0 ? S("hidden_size") : S("num_attention_heads"),
                   " is missing");
    if (out->head_dim == 0)
        return bad(path, config, d, S("head_dim"), " is missing");
    static const int64_t sizes[] = {1, 2, 4, 8, 16};
    size_t n = 1;
    out->tp_sizes = (struct grid_list){sizes, 5};
    while (n < 4 && sizes[n] <= out->experts)
        n++;
    out->ep_sizes = (struct grid_list){sizes, n};
    if (out->id.n == 0)
        out->id = tree_get_text(config, S("_name_or_path"), (struct str){0});
    if (out->id.n == 0)
        out->id = arena_str(arena, folder_name(str_of(path)));
    out->key = plain(arena, str_basename(out->id));
    return ST_OK;
}

const struct grid_model *grid_models_find(const struct grid_models *models, struct str name,
                                          bool *is_alias)
{
    const struct grid_model *found = NULL;
    struct arena scratch;

    arena_init(&scratch);
    struct str wanted = plain(&scratch, name);
    for (size_t i = 0; i < models->n && found == NULL; i++)
        if (str_equal(plain(&scratch, models->at[i].id), wanted))
            found = &models->at[i];
    *is_alias = found == NULL;
    for (size_t i = 0; i < models->n && found == NULL; i++)
        for (size_t k = 0; k < models->at[i].aliases_n; k++)
            if (str_equal(plain(&scratch, models->at[i].aliases[k]), wanted))
                found = &models->at[i];
    arena_free(&scratch);
    return found;
}

bool grid_model_is_mla(const struct grid_model *m)
{
    return m->q_lora > 0 || m->kv_lora > 0;
}

bool grid_model_is_moe(const struct grid_model *m)
{
    return m->experts > 0;
}

static int64_t models_share(int64_t whole, int64_t parts)
{
    return whole / parts > 1 ? whole / parts : 1;
}

struct pairs {
    VEC_OF(struct grid_pair) list;
};

/* A model without one of the two low ranks has no matrix of that size. */
static void models_add(struct pairs *p, int64_t n, int64_t k)
{
    if (n > 0 && k > 0)
        vec_push(&p->list, ((struct grid_pair){n, k}));
}

ORDER_BY(by_n_k, struct grid_pair, ORDER(x->n, y->n) ?: ORDER(x->k, y->k));

static struct grid_pairs as_set(struct arena *arena, struct pairs *p)
{
    struct grid_pair *at = ARENA_ARRAY(arena, struct grid_pair, p->list.n);
    size_t n = 0;

    if (p->list.n > 0)
        qsort(p->list.at, p->list.n, sizeof(*at), by_n_k);
    for (size_t i = 0; i < p->list.n; i++)
        if (n == 0 || by_n_k(&at[n - 1], &p->list.at[i]) != 0)
            at[n++] = p->list.at[i];
    vec_free(&p->list);
    return (struct grid_pairs){at, n};
}

struct grid_pairs grid_models_pairs(struct arena *arena, const struct grid_models *models)
{
    struct pairs p = {0};

    for (size_t i = 0; i < models->n; i++) {
        const struct grid_model *m = &models->at[i];
        for (size_t t = 0; t < m->tp_sizes.n; t++) {
            int64_t tp = m->tp_sizes.at[t];
            if (grid_model_is_mla(m)) {
                int64_t up = models_share(m->heads * m->head_dim, tp);
                models_add(&p, m->q_lora, m->hidden);
                models_add(&p, up, m->q_lora);
                models_add(&p, m->kv_lora + m->rope_dim, m->hidden);
                models_add(&p, up, m->kv_lora);
            } else {
                models_add(&p, models_share(m->hidden, tp), m->hidden);
                models_add(&p, m->hidden, models_share(m->hidden, tp));
            }
            if (m->ffn_inter > 0) {
                models_add(&p, models_share(m->ffn_inter, tp), m->hidden);
                models_add(&p, m->hidden, models_share(m->ffn_inter, tp));
            }
        }
    }
    return as_set(arena, &p);
}

struct grid_pairs grid_models_expert_pairs(struct arena *arena, const struct grid_models *models)
{
    struct pairs p = {0};

    for (size_t i = 0; i < models->n; i++) {
        const struct grid_model *m = &models->at[i];
        for (size_t t = 0; grid_model_is_moe(m) && t < m->tp_sizes.n; t++) {
            int64_t n = models_share(m->expert_inter, m->tp_sizes.at[t]);
            int64_t k = models_share(m->hidden, m->tp_sizes.at[t]);
            models_add(&p, n, k);
            models_add(&p, k, n);
        }
    }
    return as_set(arena, &p);
}
