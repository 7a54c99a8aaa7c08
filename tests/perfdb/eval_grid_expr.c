#include "eval.h"
#include "opdb/grid/grid_rules.h"
#include "opdb/grid/grid_shapes.h"

/* The variables of cases that bring none along. */
static const struct str names[] = {
    S_INIT("tokens"),  S_INIT("D"),       S_INIT("N"),        S_INIT("K"),
    S_INIT("block_h"), S_INIT("block_w"), S_INIT("out_rows"), S_INIT("seq"),
    S_INIT("heads"),   S_INIT("batch"),   S_INIT("dim"),      S_INIT("max_slots"),
};
static const int64_t values[ARRAY_LEN(names)] = {7, 5120, 768, 7168, 16, 32, 3, 3, 4, 2, 64, 4096};

struct variables {
    struct expr_names names;
    const int64_t *values;
};

static struct variables variables_of(struct eval *e, const struct node *item)
{
    const struct node *vars = node_get(item, S("vars"));
    struct variables v = {{names, ARRAY_LEN(names)}, values};

    if (vars == NULL)
        return v;
    struct str *own = ARENA_ARRAY(&e->arena, struct str, vars->n);
    int64_t *own_values = ARENA_ARRAY(&e->arena, int64_t, vars->n);
    size_t n = 0;
    for (const struct node *x = vars->first; x != NULL; x = x->next, n++) {
        own[n] = x->key;
        own_values[n] = node_i64(x);
    }
    return (struct variables){{own, n}, own_values};
}

static bool evaluate(struct eval *e, struct str text, const struct variables *v,
                     struct expr_value *out)
{
    struct expr expr;

    return expr_compile(&e->arena, &grid_language, text, v->names, &expr) == NULL &&
           expr_run(&expr, v->values, out) == NULL;
}

static struct node *error_of(struct eval *e)
{
    struct node *object = node_object(&e->arena);

    node_set(object, S("error"), node_bool(&e->arena, true));
    return object;
}

static struct node *call_eval(struct eval *e, struct str text, const struct variables *v)
{
    struct expr_value value;

    if (!evaluate(e, text, v, &value))
        return error_of(e);
    if (value.kind == EXPR_BOOL)
        return node_bool(&e->arena, value.i != 0);
    if (value.kind == EXPR_REAL)
        return node_number(&e->arena, value.r);
    return node_integer(&e->arena, value.i);
}

static struct node *call_shape(struct eval *e, struct str text, const struct variables *v)
{
    struct node *list = node_array(&e->arena);
    struct str rest = grid_shape_inside(text), part;

    while (grid_shape_part(&rest, &part)) {
        struct expr_value value;
        int64_t dim;
        if (!evaluate(e, part, v, &value) || !expr_whole(value, &dim))
            return error_of(e);
        node_push(list, node_integer(&e->arena, dim));
    }
    return list;
}

static struct node *call_split(struct eval *e, struct str text, const struct variables *v)
{
    struct node *list = node_array(&e->arena);
    struct str rest = text, part;

    (void)v;
    while (grid_shape_part(&rest, &part))
        node_push(list, node_string(&e->arena, part));
    return list;
}

static const struct function {
    struct str name;
    struct node *(*call)(struct eval *e, struct str text, const struct variables *v);
} functions[] = {
    {S_INIT("eval"), call_eval}, {S_INIT("shape"), call_shape}, {S_INIT("split"), call_split}};

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        for (size_t i = 0; i < ARRAY_LEN(functions); i++)
            if (str_equal(functions[i].name, node_text(node_get(item, S("fn"))))) {
                struct variables v = variables_of(e, item);
                node_set(item, S("out"),
                         functions[i].call(e, node_text(node_get(item, S("expr"))), &v));
            }
}

const struct eval_group eval_grid_expr = {"grid_expr", run};
