#include "eval.h"
#include "opdb/grid/grid_shapes.h"

static struct node *dtype_bytes(struct eval *e, const struct node *in)
{
    return node_integer(&e->arena, grid_dtype_bytes(node_text(in)));
}

static struct grid_shapes shapes_of(struct eval *e, const struct node *list)
{
    struct grid_shapes shapes = {0};

    if (list == NULL)
        return shapes;
    shapes.at = ARENA_ARRAY(&e->arena, struct grid_shape, list->n);
    for (const struct node *s = list->first; s != NULL; s = s->next) {
        int64_t *dim = ARENA_ARRAY(&e->arena, int64_t, s->n);
        size_t n = 0;
        for (const struct node *x = s->first; x != NULL; x = x->next)
            dim[n++] = node_i64(x);
        shapes.at[shapes.n++] = (struct grid_shape){dim, n};
    }
    return shapes;
}

static struct grid_texts texts_of(struct eval *e, const struct node *list)
{
    struct grid_texts texts = {0};

    if (list == NULL)
        return texts;
    texts.at = ARENA_ARRAY(&e->arena, struct str, list->n);
    for (const struct node *x = list->first; x != NULL; x = x->next)
        texts.at[texts.n++] = node_text(x);
    return texts;
}

/* Inputs, outputs, their data types; those of the outputs are the inputs' when null. */
static struct node *row_memory(struct eval *e, const struct node *in)
{
    const struct node *own = node_at(in, 3);
    struct grid_texts types = texts_of(e, node_at(in, 2));
    struct grid_texts results = node_is_null(own) ? types : texts_of(e, own);

    return node_integer(&e->arena,
                        nanos_add(grid_memory_bytes(shapes_of(e, node_at(in, 0)), types),
                                  grid_memory_bytes(shapes_of(e, node_at(in, 1)), results)));
}

static struct node *format(struct eval *e, const struct node *in)
{
    return node_string(&e->arena, grid_memory_text(&e->arena, node_i64(in)));
}

static struct node *dtype_list(struct eval *e, const struct node *in)
{
    struct grid_texts texts = grid_dtype_list(&e->arena, node_text(in));
    struct node *list = node_array(&e->arena);

    for (size_t i = 0; i < texts.n; i++)
        node_push(list, node_string(&e->arena, texts.at[i]));
    return list;
}

static const struct function {
    struct str name;
    struct node *(*call)(struct eval *e, const struct node *in);
} functions[] = {
    {S_INIT("dtype_bytes"), dtype_bytes},
    {S_INIT("row_memory"), row_memory},
    {S_INIT("format"), format},
    {S_INIT("dtype_list"), dtype_list},
};

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        for (size_t i = 0; i < ARRAY_LEN(functions); i++)
            if (str_equal(functions[i].name, node_text(node_get(item, S("fn")))))
                node_set(item, S("out"), functions[i].call(e, node_get(item, S("in"))));
}

const struct eval_group eval_grid_memory = {"grid_memory", run};
