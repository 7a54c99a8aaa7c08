/*
 * grid_models - the models whose shapes are made: sizes of their matrices, heads and experts.
 *
 * Models come from the section `models` of the rules, or from a model's own config.json. A model
 * with a low-rank query or key is an MLA model, one with experts a MoE model.
 */
#ifndef STRATA_OPDB_GRID_GRID_MODELS_H
#define STRATA_OPDB_GRID_GRID_MODELS_H

#include "opdb/grid/grid_rules.h"

struct grid_model {
    struct str id, key;
    const struct str *aliases;
    size_t aliases_n;
    int64_t hidden, ffn_inter;
    int64_t heads, kv_heads, head_dim;
    int64_t q_lora, kv_lora, nope_dim, rope_dim;
    int64_t experts, experts_per_card, expert_inter, top_k;
    struct grid_list tp_sizes, ep_sizes;
};

struct grid_models {
    const struct grid_model *at;
    size_t n;
};

/* All models of the rules, in their order. */
enum status grid_models_read(struct arena *arena, const struct grid_rules *rules,
                             struct grid_models *out, struct diag *d);

/* One model from a config.json as model hubs have it. An empty `id` takes the name that the file
 * gives, else that of its folder. */
enum status grid_model_config(struct arena *arena, const char *path, struct str id,
                              struct grid_model *out, struct diag *d);

/* The model meant by `name`: its id, or one of its short names; blanks, case and - _ . / do not
 * matter. `is_alias` says that it was a short one. NULL when there is none. */
const struct grid_model *grid_models_find(const struct grid_models *models, struct str name,
                                          bool *is_alias);

bool grid_model_is_mla(const struct grid_model *m);
bool grid_model_is_moe(const struct grid_model *m);

struct grid_pair {
    int64_t n, k;
};

struct grid_pairs {
    const struct grid_pair *at;
    size_t n;
};

/* The (N, K) of the models' matrices, cut for every size of tensor parallelism: a set, ascending.
 */
struct grid_pairs grid_models_pairs(struct arena *arena, const struct grid_models *models);

/* The same of the experts' matrices. */
struct grid_pairs grid_models_expert_pairs(struct arena *arena, const struct grid_models *models);

#endif
