#include "eval.h"
#include "opdb/measure/comm_model.h"
#include "opdb/rows/columns.h"

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
        out.at[i] = node_i64(node_at(list, i));
    return out;
}

static struct node *list_of(struct eval *e, int64_t first, int64_t n)
{
    struct node *list = node_array(&e->arena);

    for (int64_t i = 0; i < n && i < MOST_RANKS; i++)
        node_push(list, node_integer(&e->arena, first + i));
    return list;
}

static struct node *error_node(struct eval *e, struct str why)
{
    struct node *node = node_object(&e->arena);

    node_set(node, S("error"), node_string(&e->arena, why));
    return node;
}

static void tier(struct eval *e, struct node *item, const struct comm_grid *grid)
{
    struct numbers group = numbers_of(e, node_get(item, S("group")));
    struct node *all = node_array(&e->arena);

    for (size_t i = 0; i < group.n; i++) {
        int64_t coords[COMM_DIMS];
        struct node *one = node_array(&e->arena);
        comm_coords(grid, group.at[i], coords);
        for (size_t dim = 0; dim < grid->n; dim++)
            node_push(one, node_integer(&e->arena, coords[dim]));
        node_push(all, one);
    }
    node_set(item, S("tier"), node_integer(&e->arena, (int64_t)comm_tier(grid, group.at, group.n)));
    node_set(item, S("coords"), all);
}

static void group(struct eval *e, struct node *item, const struct comm_grid *grid)
{
    int64_t n = node_i64(node_get(item, S("num_devices"))), base;
    struct str why;

    bool is_there = comm_group(grid, node_i64(node_get(item, S("rank"))), n,
                               (size_t)node_i64(node_get(item, S("tier"))), &e->arena, &base, &why);
    node_set(item, S("result"), is_there ? list_of(e, base, n) : error_node(e, why));
}

static struct node *config_node(struct eval *e, const struct comm_config *config)
{
    struct node *node = node_array(&e->arena);

    node_push(node, node_string(&e->arena, comm_kinds[config->op].name));
    node_push(node, node_integer(&e->arena, config->bytes));
    node_push(node, node_integer(&e->arena, config->ranks));
    node_push(node, node_integer(&e->arena, (int64_t)config->tier));
    node_push(node, list_of(e, config->base, config->ranks));
    return node;
}

static void configs(struct eval *e, struct node *item, const struct comm_grid *grid)
{
    const struct node *names = node_get(item, S("ops"));
    struct numbers ranks = numbers_of(e, node_get(item, S("num_devices")));
    struct numbers tiers = numbers_of(e, node_get(item, S("tiers")));
    struct numbers bytes = numbers_of(e, node_get(item, S("bytes")));
    enum collective *ops = ARENA_ARRAY(&e->arena, enum collective, names != NULL ? names->n : 0);
    size_t *at = ARENA_ARRAY(&e->arena, size_t, tiers.n), n_ops = 0;
    struct comm_configs found = {0};

    for (size_t i = 0; names != NULL && i < names->n; i++)
        n_ops += comm_find(node_text(node_at(names, i)), &ops[n_ops]);
    for (size_t i = 0; i < tiers.n; i++)
        at[i] = (size_t)tiers.at[i];
    const struct comm_plan plan = {
        ops, n_ops, ranks.at, ranks.n, at, tiers.n, bytes.at, bytes.n,
    };
    comm_configs(grid, &plan, &e->arena, &found);
    struct node *result = node_array(&e->arena), *warnings = node_array(&e->arena);
    for (size_t i = 0; i < found.at.n; i++)
        node_push(result, config_node(e, &found.at.at[i]));
    for (size_t i = 0; i < found.warnings.n; i++)
        node_push(warnings, node_string(&e->arena, found.warnings.at[i]));
    vec_free(&found.at);
    vec_free(&found.warnings);
    node_set(item, S("result"), result);
    node_set(item, S("stderr"), warnings);
}

/* The member of the row, or `otherwise`. */
static struct node *or_else(struct eval *e, const struct node *row, struct str key,
                            struct node *otherwise)
{
    const struct node *given = node_get(row, key);

    if (given == NULL)
        return otherwise;
    return given->kind == JSON_STRING ? node_string(&e->arena, given->text)
                                      : node_number(&e->arena, node_f64(given));
}

static void overhead(struct eval *e, struct node *item)
{
    const struct node *row = node_get(item, S("row"));
    int64_t ranks = node_i64(node_get(item, S("num_devices")));
    double bytes = node_f64(node_get(row, S("message_bytes")));
    double us = node_f64(node_get(row, COL_DURATION));
    double gbps = node_f64(node_get(row, S("bandwidth_gbps")));
    struct node *result = node_object(&e->arena);
    enum collective op;

    if (comm_find(node_text(node_get(item, S("op"))), &op))
        comm_add_dispatch(COMM_CALIBRATED_DEVICE, op, ranks, bytes, &us, &gbps);
    node_set(result, S("message_bytes"), node_integer(&e->arena, (int64_t)bytes));
    node_set(result, S("num_devices"), node_integer(&e->arena, ranks));
    node_set(result, S("dtype"), or_else(e, row, S("dtype"), node_string(&e->arena, S("DT_BF16"))));
    node_set(result, S("topology_tier"),
             or_else(e, row, S("topology_tier"), node_integer(&e->arena, 1)));
    node_set(result, COL_DURATION, node_number(&e->arena, us));
    node_set(result, S("bandwidth_gbps"), node_number(&e->arena, gbps));
    node_set(item, S("result"), result);
}

/* The durations of each collective in the profiles of the input folder. */
static void durations(struct eval *e, struct node *root)
{
    struct diag d;

    diag_init(&d);
    for (size_t i = 0; i < COMM_VALIDATED; i++) {
        struct comm_durations found = {0};
        struct node *list = node_array(&e->arena);
        if (e->input != NULL)
            comm_durations(e->input, (enum collective)i, &found, &d);
        for (size_t k = 0; k < found.us.n; k++)
            node_push(list, node_number(&e->arena, found.us.at[k]));
        vec_free(&found.us);
        node_set(root, comm_kinds[i].name, list);
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
        struct str fn = node_text(node_get(item, S("fn")));
        struct numbers dims = numbers_of(e, node_get(item, S("grid")));
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
