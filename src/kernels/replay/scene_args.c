/*
 * The arguments that a scene file lists.
 */
#include <inttypes.h>

#include "kernels/replay/args.h"

struct taker {
    struct arena *arena;
    const struct scene *scene;
    struct slots *out;
    struct diag *diag;
};

/* Types of tensors and values as Python writes them: torch.bfloat16, ctypes.c_float. */
static const struct slot_type *find_type(struct str name)
{
    const struct slot_type *type;

    str_skip(&name, S("ctypes."));
    if (str_skip(&name, S("c_"))) {
        enum dtype of_c = dtype_of(name);
        return slot_type_of(of_c, dtype_is_float(of_c));
    }
    type = slot_type_of(dtype_of(name), false);
    return type != NULL ? type : slot_type_find(name);
}

static struct where at(const struct taker *t, const struct tree *value)
{
    return (struct where){.path = t->scene->file, .line = value->line};
}

/* The last part of D.IN or ArgDirection.OUT. */
static bool role_of(const struct tree *entry, enum slot_role *out)
{
    static const struct str names[] = {S_INIT("IN"), S_INIT("OUT"), S_INIT("INOUT")};
    static const struct str words[] = {S_INIT("input"), S_INIT("output"), S_INIT("inout")};
    struct str text = entry != NULL && entry->kind == TREE_NAME ? entry->text : tree_text(entry);

    while (str_find_char(text, '.') < text.n)
        text = str_part(text, str_find_char(text, '.') + 1, text.n);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(text, names[i]) || str_equal(text, words[i])) {
            *out = (enum slot_role)i;
            return true;
        }
    return false;
}

static enum status take_name(const struct taker *t, const struct tree *item, struct slot *out)
{
    out->index = (int64_t)t->out->n;
    out->name = tree_text(tree_get(item, S("name")));
    if (item->kind != TREE_MAP || !slot_is_identifier(out->name))
        return diag_fail(t->diag, ST_FORMAT, "replay.bad-name", at(t, item),
                         "argument %" PRId64 ": name is missing or not an identifier", out->index);
    if (out->index >= SLOT_COUNT)
        return diag_fail(t->diag, ST_FORMAT, "replay.bad-index", at(t, item),
                         "Arg index %" PRId64 " exceeds max slots (%d)", out->index, SLOT_COUNT);
    return ST_OK;
}

static enum status take_tensor(const struct taker *t, const struct tree *item,
                               const struct tree *direction)
{
    const struct tree *shape = tree_get(item, S("shape"));
    struct slot s = {.is_tensor = true, .fill = S("zero")};

    TRY(take_name(t, item, &s));
    struct str type = tree_text(tree_get(item, S("dtype")));
    s.dtype = find_type(type);
    if (s.dtype == NULL)
        return diag_fail(t->diag, ST_FORMAT, "replay.dtype", at(t, item),
                         "tensor %.*s: unsupported dtype: %.*s", STR_ARGS(s.name), STR_ARGS(type));
    if (shape == NULL || shape->kind != TREE_LIST || shape->n > SLOT_RANK)
        return diag_fail(t->diag, ST_FORMAT, "replay.bad-shape", at(t, item),
                         "tensor %.*s: shape is not a list of 1 to %d whole numbers",
                         STR_ARGS(s.name), SLOT_RANK);
    s.rank = shape->n;
    s.shape = ARENA_ARRAY(t->arena, int64_t, s.rank);
    const struct tree *dim = shape->first;
    for (size_t i = 0; i < s.rank; i++, dim = dim->next)
        if (!tree_int(dim, &s.shape[i]))
            return diag_fail(t->diag, ST_FORMAT, "replay.bad-shape", at(t, item),
                             "tensor %.*s: dimension %zu is not a whole number", STR_ARGS(s.name),
                             i);
    if (direction == NULL)
        return diag_fail(t->diag, ST_FORMAT, "replay.signature", at(t, item),
                         "tensor %.*s at %" PRId64 " has no entry in the orchestration signature",
                         STR_ARGS(s.name), s.index);
    if (!role_of(direction, &s.role))
        return diag_fail(t->diag, ST_FORMAT, "replay.signature", at(t, item),
                         "tensor %.*s: its direction is not IN, OUT or INOUT", STR_ARGS(s.name));
    vec_push(t->out, s);
    return ST_OK;
}

static enum status take_scalar(const struct taker *t, const struct tree *item)
{
    const struct tree *value = tree_get(item, S("value")), *type = tree_get(item, S("dtype"));
    struct slot s = {0};

    TRY(take_name(t, item, &s));
    if (type != NULL)
        s.dtype = find_type(tree_text(type));
    else if (value != NULL)
        s.dtype = slot_type_find(value->kind == TREE_REAL   ? S("FLOAT32_BITS")
                                 : value->kind == TREE_BOOL ? S("BOOL")
                                                            : S("INT64"));
    if (s.dtype == NULL)
        return diag_fail(t->diag, ST_FORMAT, "replay.dtype", at(t, item),
                         "scalar %.*s: unsupported dtype: %.*s", STR_ARGS(s.name),
                         STR_ARGS(tree_text(type)));
    s.is_packed = s.dtype->is_bits;
    /* A whole number of a float type is a number here, not bits. */
    struct tree as_float = {.kind = TREE_REAL};
    as_float.f = tree_number(value);
    if (s.is_packed && !isnan(as_float.f) && value->kind != TREE_HUGE)
        value = &as_float;
    TRY(slot_pack(&s, value, at(t, item), t->diag));
    vec_push(t->out, s);
    return ST_OK;
}

static const struct tree *args_list_of(const struct scene *scene, struct str key)
{
    const struct tree *list = tree_get(scene->doc, key);

    return list != NULL && list->kind == TREE_LIST ? list : NULL;
}

bool args_in_scene(const struct scene *scene)
{
    return args_list_of(scene, S("tensors")) != NULL || args_list_of(scene, S("scalars")) != NULL;
}

enum status args_scene(struct arena *arena, const struct scene *scene, struct slots *out,
                       struct diag *d)
{
    const struct tree *tensors = args_list_of(scene, S("tensors"));
    const struct tree *scalars = args_list_of(scene, S("scalars")), *signature = scene->signature;
    struct taker t = {arena, scene, out, d};
    size_t n = tensors != NULL ? tensors->n : 0;

    if (signature == NULL || signature->kind != TREE_LIST)
        return diag_fail(
            d, ST_FORMAT, "replay.signature", (struct where){.path = scene->file},
            "the scene has no orchestration signature, so the roles of its tensors are unknown");
    const struct tree *direction = signature->first;
    for (const struct tree *one = tree_items(tensors); one != NULL; one = one->next) {
        TRY(take_tensor(&t, one, direction));
        direction = direction->next;
    }
    if (n != signature->n)
        return diag_fail(d, ST_FORMAT, "replay.signature", (struct where){.path = scene->file},
                         "the orchestration signature has %zu entries for %zu tensors",
                         signature->n, n);
    for (const struct tree *one = tree_items(scalars); one != NULL; one = one->next)
        TRY(take_scalar(&t, one));
    return ST_OK;
}
