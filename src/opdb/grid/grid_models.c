/*
 * Sizes of models, from the rules or from a config.json.
 */
#include "opdb/grid/grid_models.h"

#include <stdlib.h>

#include "base/formats/yaml.h"
#include "base/tables/vec.h"
#include "base/text/num.h"
#include "ops/model.h"

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
        m->key = tree_get_text(v, S("model_key"), model_plain_name(arena, str_basename(v->key)));
    }
    return ST_OK;
}

static int64_t or_else(int64_t value, int64_t other)
{
    return value > 0 ? value : other;
}

/* A model with low ranks has heads as wide as its values. */
static void fill_config(const struct llm *from, struct grid_model *m)
{
    m->hidden = from->hidden;
    m->ffn_inter = from->inter;
    m->heads = from->heads.queries;
    m->kv_heads = from->heads.keys;
    m->q_lora = from->query_rank;
    m->kv_lora = from->latent;
    m->nope_dim = from->nope;
    m->rope_dim = or_else(from->rope, 64);
    m->head_dim = from->heads.out_size;
    m->experts = m->experts_per_card = from->experts;
    m->top_k = from->top_k;
    m->expert_inter = from->expert_inter;
}

enum status grid_model_config(struct arena *arena, const char *path, struct str id,
                              struct grid_model *out, struct diag *d)
{
    struct llm model;

    TRY(model_read(arena, path, id, &model, d));
    *out = (struct grid_model){.id = model.name};
    fill_config(&model, out);
    static const int64_t sizes[] = {1, 2, 4, 8, 16};
    size_t n = 1;
    out->tp_sizes = (struct grid_list){sizes, 5};
    while (n < 4 && sizes[n] <= out->experts)
        n++;
    out->ep_sizes = (struct grid_list){sizes, n};
    out->key = model_plain_name(arena, str_basename(out->id));
    return ST_OK;
}

const struct grid_model *grid_models_find(const struct grid_models *models, struct str name,
                                          bool *is_alias)
{
    const struct grid_model *found = NULL;
    struct arena scratch;

    arena_init(&scratch);
    struct str wanted = model_plain_name(&scratch, name);
    for (size_t i = 0; i < models->n && found == NULL; i++)
        if (str_equal(model_plain_name(&scratch, models->at[i].id), wanted))
            found = &models->at[i];
    *is_alias = found == NULL;
    for (size_t i = 0; i < models->n && found == NULL; i++)
        for (size_t k = 0; k < models->at[i].aliases_n; k++)
            if (str_equal(model_plain_name(&scratch, models->at[i].aliases[k]), wanted))
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
