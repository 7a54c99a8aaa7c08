#include "base/files/fs.h"
#include "eval.h"
#include "opdb/predict/query.h"
#include "opdb/predict/query_match.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

static struct query_inputs inputs_of(struct eval *e, const struct node *list)
{
    size_t n = list != NULL ? list->n : 0;
    struct query_inputs in = {ARENA_ARRAY(&e->arena, struct query_input, n + 1), 0};

    for (size_t i = 0; i < n; i++) {
        const struct node *pair = node_at(list, i), *shape = node_at(pair, 0);
        struct query_input *one = &in.at[in.n];
        if (shape == NULL || shape->n == 0)
            continue; /* scalars are no part of a question */
        one->dims = (struct cell_dims){ARENA_ARRAY(&e->arena, int64_t, shape->n), shape->n};
        for (size_t k = 0; k < shape->n; k++)
            one->dims.at[k] = node_i64(node_at(shape, k));
        one->dtype = query_dtype(node_text(node_at(pair, 1)));
        in.n++;
    }
    return in;
}

static void match(struct eval *e, struct node *item)
{
    const struct node *row = node_get(item, S("row")), *limit = node_get(item, S("input_count"));
    int64_t count = node_is_null(limit) ? -1 : node_i64(limit);
    struct query_inputs in = inputs_of(e, node_get(item, S("query")));
    struct query_row stored;
    const char *rule = NULL;

    if (count >= 0 && in.n > (size_t)count)
        in.n = (size_t)count;
    if (query_row_read(&e->arena, node_text(node_get(row, COL_INPUT_SHAPES)),
                       node_text(node_get(row, COL_INPUT_DTYPES)),
                       node_text(node_get(row, COL_INPUT_FORMATS)), count, &stored))
        rule = query_match(&e->arena, node_text(node_get(item, S("kernel"))), in, &stored);
    node_set(item, S("rule"),
             rule != NULL ? node_string(&e->arena, str_of(rule)) : node_null(&e->arena));
}

static void comm(struct eval *e, struct node *item, const struct op_table *t)
{
    const struct node *tier = node_get(item, S("tier"));
    bool is_bracket = str_equal(node_text(node_get(item, S("method"))), S("bracket_linear"));
    struct comm_query q = {
        .bytes = node_i64(node_get(item, S("bytes"))),
        .num_devices = node_i64(node_get(item, S("num_devices"))),
        .tier = node_is_null(tier) ? -1 : node_i64(tier),
        .method = is_bracket ? COMM_BRACKET_LINEAR : COMM_ALPHA_BETA,
    };
    struct comm_result r = {.miss = "csv_not_found"};

    if (t != NULL)
        r = query_comm(t, &q);
    bool is_hit = r.miss == NULL;
    node_set(item, S("latency"),
             is_hit ? node_number(&e->arena, r.latency_us) : node_null(&e->arena));
    node_set(item, S("interpolated"),
             is_hit ? node_bool(&e->arena, r.is_interpolated) : node_null(&e->arena));
    node_set(item, S("reason"),
             is_hit ? node_null(&e->arena) : node_string(&e->arena, str_of(r.miss)));
}

/* The first table of a collective in the folder of inputs. */
static const char *find_table(struct eval *e)
{
    const char *found = NULL;
    struct fs_list list;
    struct diag d;

    diag_init(&d);
    if (e->input != NULL && fs_list(&e->arena, e->input, &list, &d) == ST_OK)
        for (size_t i = 0; i < list.n && found == NULL; i++)
            if (str_starts(list.at[i].name, S("hcom_")) && str_ends(list.at[i].name, S(".csv")))
                found = list.at[i].path;
    diag_fini(&d);
    return found;
}

static void run(struct eval *e, struct node *root)
{
    const char *path = find_table(e);
    struct op_table table = {0};
    struct diag d;

    diag_init(&d);
    bool has_table = path != NULL && table_read(&table, path, &d) == ST_OK;
    for (struct node *item = root->first; item != NULL; item = item->next)
        if (node_get(item, S("bytes")) != NULL)
            comm(e, item, has_table ? &table : NULL);
        else
            match(e, item);
    table_free(&table);
    diag_fini(&d);
}

const struct eval_group eval_query = {"query", run};
