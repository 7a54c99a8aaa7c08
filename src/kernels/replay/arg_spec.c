/*
 * Arguments written down by a user.
 */
#include "kernels/replay/args.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/text/num.h"
#include "kernels/replay/paths.h"
#include "report/record_file.h"

struct reader {
    struct arena *arena;
    const char *path;
    struct diag *diag;
    const struct tree *item;
};

static struct where at(const struct reader *r)
{
    return (struct where){.path = r->path, .line = r->item->line};
}

static enum status check_keys(const struct reader *r, bool is_tensor)
{
    static const struct str tensor[] = {S_INIT("kind"),  S_INIT("index"), S_INIT("name"),
                                        S_INIT("dtype"), S_INIT("shape"), S_INIT("role"),
                                        S_INIT("fill")};
    static const struct str scalar[] = {S_INIT("kind"),  S_INIT("index"), S_INIT("name"),
                                        S_INIT("dtype"), S_INIT("value"), S_INIT("pack_mode")};
    const struct str *keys = is_tensor ? tensor : scalar;
    size_t n = is_tensor ? ARRAY_LEN(tensor) : ARRAY_LEN(scalar);

    for (const struct tree *m = r->item->first; m != NULL; m = m->next)
        if (!str_is_one_of(m->key, keys, n))
            return diag_fail(r->diag, ST_FORMAT, "replay.unknown-key", at(r),
                             "unknown key '%.*s' in a %s", STR_ARGS(m->key),
                             is_tensor ? "tensor" : "scalar");
    return ST_OK;
}

static enum status take_shape(const struct reader *r, struct slot *out)
{
    const struct tree *shape = tree_get(r->item, S("shape"));

    if (shape == NULL || shape->kind != TREE_LIST || shape->n > SLOT_RANK)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r),
                         "arg %" PRId64 ": shape is not a list of 1 to %d whole numbers",
                         out->index, SLOT_RANK);
    out->rank = shape->n;
    out->shape = ARENA_ARRAY(r->arena, int64_t, shape->n);
    const struct tree *dim = shape->first;
    for (size_t i = 0; i < shape->n; i++, dim = dim->next)
        if (dim->kind != TREE_INT || !tree_int(dim, &out->shape[i]))
            return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r),
                             "arg %" PRId64 ": dimension %zu is not a whole number", out->index, i);
    return ST_OK;
}

static enum status take_role(const struct reader *r, struct slot *out)
{
    static const struct str names[] = {S_INIT("input"), S_INIT("output"), S_INIT("inout")};
    const struct tree *role = tree_get(r->item, S("role"));

    if (role == NULL)
        return ST_OK;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(tree_text(role), names[i])) {
            out->role = (enum slot_role)i;
            return ST_OK;
        }
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-role", at(r),
                     "arg %" PRId64 ": role is not input, output or inout", out->index);
}

/* The file of a fill must be there and as long as the tensor. */
static enum status check_file(const struct reader *r, struct slot *out)
{
    const char *path = arena_cstr(r->arena, str_part(out->fill, 5, out->fill.n));
    struct stat info;
    int64_t bytes;

    /* Relative to the file that names it. */
    path = paths_absolute(r->arena, fs_join(r->arena, paths_folder(r->arena, r->path), path));
    if (!paths_is_plain(path) || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return diag_fail(r->diag, ST_IO, "replay.bad-fill", at(r),
                         "arg %" PRId64 ": file %s not found", out->index, path);
    if (slot_bytes(out, &bytes) && bytes != (int64_t)info.st_size)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-fill", at(r),
                         "arg %" PRId64 ": %s has %" PRId64 " bytes, the tensor %" PRId64,
                         out->index, path, (int64_t)info.st_size, bytes);
    out->fill = arena_format(r->arena, "file:%s", path);
    return ST_OK;
}

static enum status take_fill(const struct reader *r, struct slot *out)
{
    static const struct str rules[] = {S_INIT("zero"), S_INIT("one"), S_INIT("random"),
                                       S_INIT("iota")};
    const struct tree *fill = tree_get(r->item, S("fill"));
    double value;

    out->fill = S("zero");
    if (fill == NULL)
        return ST_OK;
    out->fill = tree_text(fill);
    if (str_is_one_of(out->fill, rules, ARRAY_LEN(rules)))
        return ST_OK;
    if (str_starts(out->fill, S("const:")) &&
        num_f64(str_part(out->fill, 6, out->fill.n), &value)) {
        char text[NUM_TEXT];
        size_t n = num_print_f64(text, value);
        out->fill = arena_format(r->arena, "const:%.*s", (int)n, text);
        return ST_OK;
    }
    if (str_starts(out->fill, S("file:")) && memchr(out->fill.at, '\0', out->fill.n) == NULL)
        return check_file(r, out);
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-fill", at(r),
                     "arg %" PRId64
                     ": fill is not zero, one, random, iota, const:NUMBER or file:PATH",
                     out->index);
}

static enum status spec_take_head(const struct reader *r, struct slot *out)
{
    const struct tree *name = tree_get(r->item, S("name"));
    struct str dtype = tree_text(tree_get(r->item, S("dtype")));

    if (!tree_int(tree_get(r->item, S("index")), &out->index))
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-index", at(r),
                         "index is missing or not a whole number");
    out->name = name != NULL ? tree_text(name) : arena_format(r->arena, "arg%" PRId64, out->index);
    if (name != NULL && !slot_is_identifier(out->name))
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-name", at(r),
                         "arg %" PRId64 ": name is not an identifier of at most 128 characters",
                         out->index);
    out->dtype = slot_type_find(dtype);
    if (out->dtype == NULL)
        return diag_fail(r->diag, ST_FORMAT, "replay.dtype", at(r),
                         "arg %" PRId64 ": unsupported dtype: %.*s", out->index, STR_ARGS(dtype));
    return ST_OK;
}

static enum status take_item(const struct reader *r, struct slot *out)
{
    struct str kind = tree_text(tree_get(r->item, S("kind")));

    if (r->item->kind != TREE_MAP)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-spec", at(r),
                         "an argument is not an object");
    out->is_tensor = str_equal(kind, S("tensor"));
    if (!out->is_tensor && !str_equal(kind, S("scalar")))
        return diag_fail(r->diag, ST_FORMAT, "replay.arg-kind", at(r), "Unknown arg kind: %.*s",
                         STR_ARGS(kind));
    TRY(check_keys(r, out->is_tensor));
    TRY(spec_take_head(r, out));
    if (out->is_tensor) {
        TRY(take_shape(r, out));
        TRY(take_role(r, out));
        return take_fill(r, out);
    }
    const struct tree *mode = tree_get(r->item, S("pack_mode"));
    struct str text = mode != NULL ? tree_text(mode) : S("value");
    if (!str_equal(text, S("value")) && !str_equal(text, S("bits")))
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-value", at(r),
                         "arg %" PRId64 ": pack_mode is not value or bits", out->index);
    out->is_packed = str_equal(text, S("bits")) || out->dtype->is_bits;
    return slot_pack(out, tree_get(r->item, S("value")), at(r), r->diag);
}

enum status args_parse(struct arena *arena, struct str text, const char *path, struct slots *out,
                       struct diag *d)
{
    const struct tree *doc;

    TRY(replay_read_json(arena, text, path, &doc, d));
    struct reader r = {arena, path, d, doc};
    const struct tree *list = doc->kind == TREE_MAP ? tree_get(doc, S("args")) : doc;
    if (list == NULL) {
        diag_add(d, SEV_WARN, "replay.empty-spec", at(&r),
                 "no key \"args\", so there are no arguments");
        return ST_OK;
    }
    if (list->kind != TREE_LIST)
        return diag_fail(d, ST_FORMAT, "replay.bad-spec", at(&r),
                         "neither a list of arguments nor an object with the key \"args\"");
    for (r.item = list->first; r.item != NULL; r.item = r.item->next) {
        struct slot slot = {0};
        TRY(take_item(&r, &slot));
        vec_push(out, slot);
    }
    return ST_OK;
}

enum status args_read(struct arena *arena, const char *path, struct slots *out, struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    enum status st = map.text.n > LIMIT_SCENE_BYTES
                         ? diag_fail(d, ST_LIMIT, "replay.bad-spec", (struct where){.path = path},
                                     "larger than %d bytes", LIMIT_SCENE_BYTES)
                         : args_parse(arena, map.text, path, out, d);
    mapfile_close(&map);
    return st;
}

static const struct field file_fields[] = {
    FIELD_LIST(struct slots, at, n, "args", &slot_record),
};
static const struct record file_record = RECORD(struct slots, file_fields);

enum status args_save(const char *path, const struct slots *slots, struct diag *d)
{
    return record_save(path, &file_record, slots, d);
}

enum status args_set(struct arena *arena, const char *text, struct slots *out, struct diag *d)
{
    struct str all = str_of(text), name, value;
    struct slot slot = {.is_packed = true};
    struct tree number = {0};
    size_t cut = str_find_char(all, '=');

    name = str_part(all, 0, cut);
    value = str_part(all, cut + 1, all.n);
    if (cut == all.n || !num_i64(name, &slot.index) || !tree_parse_number(&number, value))
        return diag_fail(d, ST_FORMAT, "replay.bad-value", (struct where){0},
                         "--set-arg %s: expected SLOT=NUMBER with at most 64 bits", text);
    slot.name = arena_format(arena, "arg%" PRId64, slot.index);
    slot.dtype = slot_type_find(number.kind == TREE_REAL ? S("FLOAT32_BITS") : S("INT64"));
    slot.is_packed = number.kind == TREE_REAL;
    TRY(slot_pack(&slot, &number, (struct where){0}, d));
    for (size_t i = 0; i < out->n; i++) {
        struct slot *s = &out->at[i];
        if (s->index != slot.index)
            continue;
        if (s->is_tensor)
            return diag_fail(d, ST_FORMAT, "replay.bad-value", (struct where){0},
                             "--set-arg %s: the slot holds the tensor %.*s", text,
                             STR_ARGS(s->name));
        s->value = slot.value;
        s->is_unsigned = slot.is_unsigned;
        s->is_packed = slot.is_packed;
        return ST_OK;
    }
    vec_push(out, slot);
    return ST_OK;
}
