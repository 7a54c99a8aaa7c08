#include "eval.h"
#include "opdb/grid/grid_models.h"

static struct node *pairs_of(struct eval *e, struct grid_pairs pairs)
{
    struct node *list = node_array(&e->arena);

    for (size_t i = 0; i < pairs.n; i++) {
        struct node *pair = node_array(&e->arena);
        node_push(pair, node_integer(&e->arena, pairs.at[i].n));
        node_push(pair, node_integer(&e->arena, pairs.at[i].k));
        node_push(list, pair);
    }
    return list;
}

static void one(struct eval *e, const struct grid_models *models, struct node *item)
{
    bool is_alias;
    const struct grid_model *m =
        grid_models_find(models, node_text(node_get(item, S("model"))), &is_alias);

    if (m == NULL)
        return;
    struct grid_models single = {m, 1};
    node_set(item, S("key"), node_string(&e->arena, m->key));
    node_set(item, S("mla"), node_bool(&e->arena, grid_model_is_mla(m)));
    node_set(item, S("nk"), pairs_of(e, grid_models_pairs(&e->arena, &single)));
    node_set(item, S("expert_nk"), pairs_of(e, grid_models_expert_pairs(&e->arena, &single)));
}

static void run(struct eval *e, struct node *root)
{
    struct grid_rules rules;
    struct grid_models models;
    struct diag d;

    diag_init(&d);
    if (grid_rules_read(&rules, &e->arena, NULL, &d) == ST_OK &&
        grid_models_read(&e->arena, &rules, &models, &d) == ST_OK)
        for (struct node *item = root->first; item != NULL; item = item->next)
            one(e, &models, item);
    diag_fini(&d);
}

const struct eval_group eval_grid_models = {"grid_models", run};
