#include "eval.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/place.h"
#include "opdb/rows/signature.h"

static struct node *text_or_null(struct eval *e, bool is_there, struct str text)
{
    return is_there ? node_string(&e->arena, text) : node_null(&e->arena);
}

static struct node *check_version(struct eval *e, const struct node *in)
{
    struct str out;
    bool is_version = version_check(node_text(in), &out);

    return text_or_null(e, is_version, out);
}

static struct node *build_version_dir(struct eval *e, const struct node *in)
{
    struct str parts[VERSION_PARTS];

    for (size_t i = 0; i < VERSION_PARTS; i++)
        parts[i] = node_text(node_at(in, i));
    return node_string(&e->arena, version_dir(&e->arena, parts));
}

static struct node *is_version_dir(struct eval *e, const struct node *in)
{
    return node_bool(&e->arena, version_is_dir(node_text(in)));
}

static struct node *extract_version(struct eval *e, const struct node *in)
{
    struct str out;
    bool is_there = version_in_text(node_text(in), &out);

    return text_or_null(e, is_there, out);
}

static struct node *normalize_op(struct eval *e, const struct node *in)
{
    return node_string(&e->arena, signature_op(node_text(in)));
}

static struct node *normalize_dtype(struct eval *e, const struct node *in)
{
    return node_string(&e->arena, cell_dtype(&e->arena, node_text(in)));
}

static struct node *logical_shape(struct eval *e, const struct node *in)
{
    const struct node *shape = node_at(in, 0);
    struct cell_dims dims = {ARENA_ARRAY(&e->arena, int64_t, shape != NULL ? shape->n : 0), 0}, out;

    for (size_t i = 0; shape != NULL && i < shape->n; i++)
        dims.at[dims.n++] = node_i64(node_at(shape, i));
    if (!cell_logical(&e->arena, dims, node_text(node_at(in, 1)), &out))
        return node_null(&e->arena);
    struct node *list = node_array(&e->arena);
    for (size_t i = 0; i < out.n; i++)
        node_push(list, node_integer(&e->arena, out.at[i]));
    return list;
}

static struct node *valid_duration(struct eval *e, const struct node *in)
{
    return node_bool(&e->arena, cell_is_measured(node_text(node_get(in, COL_AVERAGE)),
                                                 node_text(node_get(in, COL_PROFILED))));
}

static struct node *repeat_count(struct eval *e, const struct node *in)
{
    int64_t n = node_i64(in);

    return n > 0 ? node_integer(&e->arena, n) : node_null(&e->arena);
}

static const struct function {
    struct str name;
    struct node *(*call)(struct eval *e, const struct node *in);
} functions[] = {
    {S_INIT("check_version"), check_version},   {S_INIT("build_version_dir"), build_version_dir},
    {S_INIT("is_version_dir"), is_version_dir}, {S_INIT("extract_version"), extract_version},
    {S_INIT("normalize_op"), normalize_op},     {S_INIT("normalize_dtype"), normalize_dtype},
    {S_INIT("logical_shape"), logical_shape},   {S_INIT("valid_duration"), valid_duration},
    {S_INIT("repeat_count"), repeat_count},
};

static void run(struct eval *e, struct node *root)
{
    for (struct node *item = root->first; item != NULL; item = item->next)
        for (size_t i = 0; i < ARRAY_LEN(functions); i++)
            if (str_equal(functions[i].name, node_text(node_get(item, S("fn")))))
                node_set(item, S("out"), functions[i].call(e, node_get(item, S("in"))));
}

const struct eval_group eval_naming = {"naming", run};
