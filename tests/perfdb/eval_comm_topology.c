#include "eval.h"
#include "perfdb/columns.h"
#include "perfdb/comm_model.h"

enum { MOST_RANKS = 1 << 20 };

struct numbers {
    int64_t *at;
    size_t n;
};

static struct numbers numbers_of(struct eval *e, const struct node *list)
{
    size_t n = list != NULL ? list->n : 0;
    struct numbers out = {ARENA_ARRAY(&e->arena, int64_t, n), n};

    for (size_t i = 0; i < n; i++)
        out.at[i] = tree_i64(tree_at(list, i));
    return out;
}

static struct node *list_of(struct eval *e, int64_t first, int64_t n)
{
    struct node *list = tree_array(&e->arena);

    for (int64_t i = 0; i < n && i < MOST_RANKS; i++)
        tree_push(list, tree_integer(&e->arena, first + i));
    return list;
}

static struct node *error_node(struct eval *e, struct str why)
{
    struct node *node = tree_object(&e->arena);

    tree_set(node, S("error"), tree_string(&e->arena, why));
    return node;
}

static void tier(struct eval *e, struct node *item, const struct comm_grid *grid)
{
    struct numbers group = numbers_of(e, tree_get(item, S("group")));
    struct node *all = tree_array(&e->arena);

    for (size_t i = 0; i < group.n; i++) {
        int64_t coords[COMM_DIMS];
        struct node *one = tree_array(&e->arena);
        comm_coords(grid, group.at[i], coords);
        for (size_t dim = 0; dim < grid->n; dim++)
            tree_push(one, tree_integer(&e->arena, coords[dim]));
        tree_push(all, one);
    }
    tree_set(item, S("tier"), tree_integer(&e->arena, (int64_t)comm_tier(grid, group.at, group.n)));
    tree_set(item, S("coords"), all);
}

static void group(struct eval *e, struct node *item, const struct comm_grid *grid)
{
    int64_t n = tree_i64(tree_get(item, S("num_devices"))), base;
    struct str why;

    bool is_there = comm_group(grid, tree_i64(tree_get(item, S("rank"))), n,
                               (size_t)tree_i64(tree_get(item, S("tier"))), &e->arena, &base, &why);
    tree_set(item, S("result"), is_there ? list_of(e, base, n) : error_node(e, why));
}

static struct node *config_node(struct eval *e, const struct comm_config *config)
{
    struct node *node = tree_array(&e->arena);

    tree_push(node, tree_string(&e->arena, comm_kinds[config->op].name));
    tree_push(node, tree_integer(&e->arena, config->bytes));
    tree_push(node, tree_integer(&e->arena, config->ranks));
    tree_push(node, tree_integer(&e->arena, (int64_t)config->tier));
    tree_push(node, list_of(e, config->base, config->ranks));
    return node;
}

static void configs(struct eval *e, struct node *item, const struct comm_grid *grid)
{
    const struct node *names = tree_get(item, S("ops"));
    struct numbers ranks = numbers_of(e, tree_get(item, S("num_devices")));
    struct numbers tiers = numbers_of(e, tree_get(item, S("tiers")));
    struct numbers bytes = numbers_of(e, tree_get(item, S("bytes")));
    enum collective *ops = ARENA_ARRAY(&e->arena, enum collective, names != NULL ? names->n : 0);
    size_t *at = ARENA_ARRAY(&e->arena, size_t, tiers.n), n_ops = 0;
    struct comm_configs found = {0};

    for (size_t i = 0; names != NULL && i < names->n; i++)
        n_ops += comm_find(tree_text(tree_at(names, i)), &ops[n_ops]);
    for (size_t i = 0; i < tiers.n; i++)
        at[i] = (size_t)tiers.at[i];
    const struct comm_plan plan = {
        ops, n_ops, ranks.at, ranks.n, at, tiers.n, bytes.at, bytes.n,
    };
    comm_configs(grid, &plan, &e->arena, &found);
    struct node *result = tree_array(&e->arena), *warnings = tree_array(&e->arena);
    for (size_t i = 0; i < found.at.n; i++)
        tree_push(result, config_node(e, &found.at.at[i]));
    for (size_t i = 0; i < found.warnings.n; i++)
        tree_push(warnings, tree_string(&e->arena, found.warnings.at[i]));
    vec_free(&found.at);
    vec_free(&found.warnings);
    tree_set(item, S("result"), result);
    tree_set(item, S("stderr"), warnings);
}

/* The member of the row, or `otherwise`. */
static struct node *or_else(struct eval *e, const struct node *row, struct str key,
                            struct node *otherwise)
{
    const struct node *given = tree_get(row, key);

    if (given == NULL)
        return otherwise;
    return given->kind == JSON_STRING ? tree_string(&e->arena, given->text)
                                      : tree_number(&e->arena, tree_f64(given));
}

static void overhead(struct eval *e, struct node *item)
{
    const struct node *row = tree_get(item, S("row"));
    int64_t ranks = tree_i64(tree_get(item, S("num_devices")));
    double bytes = tree_f64(tree_get(row, S("message_bytes")));
    double us = tree_f64(tree_get(row, COL_DURATION));
    double gbps = tree_f64(tree_get(row, S("bandwidth_gbps")));
    struct node *result = tree_object(&e->arena);
    enum collective op;

    if (comm_find(tree_text(tree_get(item, S("op"))), &op))
        comm_add_dispatch(COMM_CALIBRATED_DEVICE, op, ranks, bytes, &us, &gbps);
    tree_set(result, S("message_bytes"), tree_integer(&e->arena, (int64_t)bytes));
    tree_set(result, S("num_devices"), tree_integer(&e->arena, ranks));
    tree_set(result, S("dtype"), or_else(e, row, S("dtype"), tree_string(&e->arena, S("DT_BF16"))));
    tree_set(result, S("topology_tier"),
             or_else(e, row, S("topology_tier"), tree_integer(&e->arena, 1)));
    tree_set(result, COL_DURATION, tree_number(&e->arena, us));
    tree_set(result, S("bandwidth_gbps"), tree_number(&e->arena, gbps));
    tree_set(item, S("result"), result);
}

/* The durations of each collective in the profiles of the input folder. */
static void durations(struct eval *e, struct node *root)
{
    struct diag d;

    diag_init(&d);
    for (size_t i = 0; i < COMM_VALIDATED; i++) {
        struct comm_durations found = {0};
        struct node *list = tree_array(&e->arena);
        if (e->input != NULL)
            comm_durations(e->input, (enum collective)i, &found, &d);
        for (size_t k = 0; k < found.us.n; k++)
            tree_push(list, tree_number(&e->arena, found.us.at[k]));
        vec_free(&found.us);
        tree_set(root, comm_kinds[i].name, list);
    }
    diag_fini(&d);
}

static void run(struct eval *e, struct node *root)
{
    if (root->kind == JSON_OBJECT) {
        durations(e, root);
        return;
    }
    for (struct node *item = root->first; item != NULL; item = item->next) {
        struct str fn = tree_text(tree_get(item, S("fn")));
        struct numbers dims = numbers_of(e, tree_get(item, S("grid")));
        struct comm_grid grid;
        if (str_equal(fn, S("overhead")))
            overhead(e, item);
        else if (!comm_grid_set(&grid, dims.at, dims.n))
            continue;
        else if (str_equal(fn, S("tier")))
            tier(e, item, &grid);
        else if (str_equal(fn, S("group")))
            group(e, item, &grid);
        else if (str_equal(fn, S("configs")))
            configs(e, item, &grid);
    }
}

const struct eval_group eval_comm_topology = {"comm_topology", run};
