/*
 * The arguments of one task, from the tensors a run has dumped.
 */
#include "kernels/replay/args.h"

#include <inttypes.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/text/char.h"
#include "base/text/num.h"

struct reader {
    struct arena *arena;
    const char *path, *task_id;
    struct diag *diag;
    bool is_scalar[SLOT_COUNT];
};

/* 0x1, 0X01 and 1 are one task. */
static bool is_task(const struct tree *record, const char *task_id)
{
    const struct tree *id = tree_get(record, S("task_id"));
    uint64_t have, want;

    if (task_id == NULL)
        return true;
    if (id != NULL && id->kind == TREE_INT)
        return num_hex(str_of(task_id), &want) && (uint64_t)id->i == want;
    if (str_equal_nocase(tree_text(id), str_of(task_id)))
        return true;
    return num_hex(tree_text(id), &have) && num_hex(str_of(task_id), &want) && have == want;
}

static struct where at(const struct reader *r, const struct tree *value)
{
    return (struct where){.path = r->path, .line = value->line};
}

static enum status take_shape(const struct reader *r, const struct tree *record, struct slot *out)
{
    const struct tree *shape = tree_get(record, S("shape"));

    out->rank = shape != NULL && shape->kind == TREE_LIST && shape->n <= SLOT_RANK ? shape->n : 0;
    out->shape = ARENA_ARRAY(r->arena, int64_t, out->rank);
    const struct tree *dim = out->rank > 0 ? shape->first : NULL;
    for (size_t i = 0; i < out->rank; i++, dim = dim->next)
        if (!tree_int(dim, &out->shape[i]))
            return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r, record),
                             "arg %" PRId64 ": dimension %zu is not a whole number", out->index, i);
    return ST_OK;
}

static enum status take_dtype(const struct reader *r, const struct tree *record, struct slot *out)
{
    struct str name = tree_text(tree_get(record, S("dtype")));
    char upper[32];

    if (name.n == 0)
        name = S("FLOAT32");
    if (str_starts_nocase(name, S("torch.")))
        name = str_part(name, 6, name.n);
    for (size_t i = 0; i < name.n && i < sizeof(upper); i++)
        upper[i] = char_upper(name.at[i]);
    if (name.n <= sizeof(upper))
        out->dtype = slot_type_find((struct str){upper, name.n});
    if (out->dtype == NULL)
        return diag_fail(r->diag, ST_FORMAT, "replay.dtype", at(r, record),
                         "arg %" PRId64 ": unsupported dtype: %.*s", out->index, STR_ARGS(name));
    return ST_OK;
}

static enum status dump_take_record(struct reader *r, const struct tree *record, struct slots *out)
{
    const struct tree *shape = tree_get(record, S("shape"));
    struct slot slot = {.is_tensor = true, .fill = S("zero")};
    int64_t bytes = 0;

    if (!str_equal(tree_text(tree_get(record, S("stage"))), S("before_dispatch")) ||
        !is_task(record, r->task_id))
        return ST_OK;
    if (!tree_int(tree_get(record, S("arg_index")), &slot.index))
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-dump", at(r, record),
                         "a tensor without arg_index");
    tree_int(tree_get(record, S("bin_size")), &bytes);
    if (bytes == 0 && (shape == NULL || (shape->kind == TREE_LIST && shape->n == 0))) {
        if (slot.index >= 0 && slot.index < SLOT_COUNT)
            r->is_scalar[slot.index] = true;
        return ST_OK;
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].index == slot.index)
            return ST_OK;
    if (out->n >= SLOT_COUNT)
        return diag_fail(r->diag, ST_LIMIT, "replay.bad-dump", at(r, record),
                         "more than %d arguments", SLOT_COUNT);
    slot.name = arena_format(r->arena, "arg%" PRId64, slot.index);
    TRY(take_dtype(r, record, &slot));
    TRY(take_shape(r, record, &slot));
    vec_push(out, slot);
    return ST_OK;
}

static enum status dump_read_text(struct reader *r, struct str text, struct slots *out)
{
    const struct tree *doc;

    if (text.n > LIMIT_SCENE_BYTES * 16)
        return diag_fail(r->diag, ST_LIMIT, "replay.bad-dump", (struct where){.path = r->path},
                         "larger than %d bytes", LIMIT_SCENE_BYTES * 16);
    TRY(replay_read_json(r->arena, text, r->path, &doc, r->diag));
    const struct tree *list = tree_get(doc, S("tensors"));
    if (list == NULL || list->kind != TREE_LIST)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-dump", (struct where){.path = r->path},
                         "no list \"tensors\"");
    for (const struct tree *one = list->first; one != NULL; one = one->next)
        TRY(dump_take_record(r, one, out));
    struct str scalars = {"", 0};
    for (int i = 0; i < SLOT_COUNT; i++)
        if (r->is_scalar[i])
            scalars =
                arena_format(r->arena, "%.*s%s%d", STR_ARGS(scalars), scalars.n > 0 ? ", " : "", i);
    if (scalars.n > 0)
        diag_add(r->diag, SEV_WARN, "replay.scalars-unknown", (struct where){.path = r->path},
                 "a dump has no scalars; set them with --set-arg: %.*s", STR_ARGS(scalars));
    return ST_OK;
}

enum status args_dump(struct arena *arena, const char *folder, const char *task_id,
                      struct slots *out, struct diag *d)
{
    struct reader r = {.arena = arena, .task_id = task_id, .diag = d};
    struct mapfile map;

    r.path = fs_join(arena, folder, "tensor_dump.json");
    if (!fs_exists(r.path))
        r.path = fs_join(arena, folder, "tensor_dump/tensor_dump.json");
    if (!fs_exists(r.path))
        return diag_fail(d, ST_NOT_FOUND, "replay.no-dump", (struct where){.path = folder},
                         "tensor_dump.json not found under %s", folder);
    TRY(mapfile_open(&map, r.path, d));
    enum status st = dump_read_text(&r, map.text, out);
    mapfile_close(&map);
    return st;
}
