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
    const struct slots *slots; /* with the memories */
};

static struct where at(const struct reader *r)
{
    return (struct where){.path = r->path, .line = r->item->line};
}

static enum status check_keys(const struct reader *r, bool is_tensor)
{
    static const struct str tensor[] = {
        S_INIT("kind"),         S_INIT("index"), S_INIT("name"),   S_INIT("dtype"),
        S_INIT("shape"),        S_INIT("role"),  S_INIT("fill"),   S_INIT("strides"),
        S_INIT("start_offset"), S_INIT("bytes"), S_INIT("buffer"), S_INIT("buffer_offset")};
    static const struct str scalar[] = {S_INIT("kind"),   S_INIT("index"), S_INIT("name"),
                                        S_INIT("dtype"),  S_INIT("value"), S_INIT("pack_mode"),
                                        S_INIT("context")};
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

/* The file of a fill must be there, and as long as the tensor; memory may be longer. `what` is for
 * messages: "arg 3". */
static enum status check_file(const struct reader *r, struct str what, int64_t bytes,
                              bool is_memory, struct str *fill)
{
    const char *path = arena_cstr(r->arena, str_part(*fill, 5, fill->n));
    struct stat info;

    /* Relative to the file that names it. */
    path = paths_absolute(r->arena, fs_join(r->arena, paths_folder(r->arena, r->path), path));
    if (!paths_is_plain(path) || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return diag_fail(r->diag, ST_IO, "replay.bad-fill", at(r), "%.*s: file %s not found",
                         STR_ARGS(what), path);
    if (is_memory ? (int64_t)info.st_size > bytes : (int64_t)info.st_size != bytes)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-fill", at(r),
                         "%.*s: %s has %" PRId64 " bytes, the %s %" PRId64, STR_ARGS(what), path,
                         (int64_t)info.st_size, is_memory ? "buffer" : "tensor", bytes);
    *fill = arena_format(r->arena, "file:%s", path);
    return ST_OK;
}

static enum status take_fill(const struct reader *r, struct str what, int64_t bytes, bool is_memory,
                             struct str *out)
{
    static const struct str rules[] = {S_INIT("zero"), S_INIT("one"), S_INIT("random"),
                                       S_INIT("iota")};
    const struct tree *fill = tree_get(r->item, S("fill"));
    double value;

    *out = S("zero");
    if (fill == NULL)
        return ST_OK;
    *out = tree_text(fill);
    if (str_is_one_of(*out, rules, ARRAY_LEN(rules)))
        return ST_OK;
    if (str_starts(*out, S("const:")) && num_f64(str_part(*out, 6, out->n), &value)) {
        char text[NUM_TEXT];
        size_t n = num_print_f64(text, value);
        *out = arena_format(r->arena, "const:%.*s", (int)n, text);
        return ST_OK;
    }
    if (str_starts(*out, S("file:")) && memchr(out->at, '\0', out->n) == NULL)
        return check_file(r, what, bytes, is_memory, out);
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-fill", at(r),
                     "%.*s: fill is not zero, one, random, iota, const:NUMBER or file:PATH",
                     STR_ARGS(what));
}

/* ---- where a tensor lies ---- */

static const struct slot_memory *memory_named(const struct slots *slots, struct str name)
{
    for (size_t i = 0; i < slots->n_memories; i++)
        if (str_equal(slots->memories[i].name, name))
            return &slots->memories[i];
    return NULL;
}

/* A whole number of the item, 0 where it is not there. */
static enum status take_number(const struct reader *r, struct str key, struct slot *s, int64_t *out)
{
    const struct tree *value = tree_get(r->item, key);

    *out = 0;
    if (value == NULL || (value->kind == TREE_INT && tree_int(value, out) && *out >= 0))
        return ST_OK;
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r),
                     "arg %" PRId64 ": %.*s is not a whole number", s->index, STR_ARGS(key));
}

/* Where a tensor lies: strides, offsets, and the buffer it shares. */
static enum status take_place(const struct reader *r, struct slot *out)
{
    const struct tree *strides = tree_get(r->item, S("strides"));
    const struct tree *buffer = tree_get(r->item, S("buffer"));

    TRY(take_number(r, S("start_offset"), out, &out->start));
    TRY(take_number(r, S("bytes"), out, &out->bytes));
    TRY(take_number(r, S("buffer_offset"), out, &out->offset));
    if (strides != NULL) {
        int64_t *own = ARENA_ARRAY(r->arena, int64_t, out->rank);
        const struct tree *one = tree_items(strides);
        bool is_fine = strides->kind == TREE_LIST && strides->n == out->rank;
        for (size_t i = 0; is_fine && i < out->rank; i++, one = one->next)
            is_fine = one->kind == TREE_INT && tree_int(one, &own[i]);
        if (!is_fine)
            return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r),
                             "arg %" PRId64 ": strides is not a whole number for each dimension",
                             out->index);
        out->strides = own;
    }
    if (buffer == NULL)
        return ST_OK;
    out->memory = memory_named(r->slots, tree_text(buffer));
    if (out->memory != NULL)
        return ST_OK;
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-buffer", at(r),
                     "arg %" PRId64 ": no buffer %.*s in \"buffers\"", out->index,
                     STR_ARGS(tree_text(buffer)));
}

/* A communication context: a rank, and a window in a buffer for each rank. */
static enum status take_context(const struct reader *r, struct slot *out)
{
    const struct tree *context = tree_get(r->item, S("context"));
    const struct tree *windows = tree_get(context, S("windows"));

    if (context == NULL)
        return ST_OK;
    struct slot_context *c = ARENA_NEW(r->arena, struct slot_context);
    size_t n = windows != NULL && windows->kind == TREE_LIST ? windows->n : 0;
    const struct slot_memory **of = ARENA_ARRAY(r->arena, const struct slot_memory *, n);
    struct str *names = ARENA_ARRAY(r->arena, struct str, n);
    const struct tree *one = n > 0 ? windows->first : NULL;
    *c = (struct slot_context){.windows = of, .names = names, .n = n};
    for (size_t i = 0; i < n; i++, one = one->next) {
        of[i] = memory_named(r->slots, tree_text(one));
        if (of[i] == NULL)
            return diag_fail(r->diag, ST_FORMAT, "replay.bad-buffer", at(r),
                             "arg %" PRId64 ": no buffer %.*s in \"buffers\"", out->index,
                             STR_ARGS(tree_text(one)));
        names[i] = of[i]->name;
    }
    if (!tree_int(tree_get(context, S("rank")), &c->rank) || c->rank < 0 ||
        (uint64_t)c->rank >= n || n > 64)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-value", at(r),
                         "arg %" PRId64 ": a context has a rank and a window for each of at most "
                         "64 ranks",
                         out->index);
    out->context = c;
    out->is_context = true;
    return ST_OK;
}

/* One of "buffers": memory that several tensors share. */
static enum status take_memory(const struct reader *r, struct slot_memory *out)
{
    const struct tree *name = tree_get(r->item, S("name"));
    struct str dtype = tree_text(tree_get(r->item, S("dtype")));

    out->name = tree_text(name);
    if (!slot_is_identifier(out->name))
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-name", at(r),
                         "a buffer has no name that is an identifier of at most 128 characters");
    out->dtype = slot_type_find(dtype.n > 0 ? dtype : S("UINT8"));
    if (out->dtype == NULL)
        return diag_fail(r->diag, ST_FORMAT, "replay.dtype", at(r),
                         "buffer %.*s: unsupported dtype: %.*s", STR_ARGS(out->name),
                         STR_ARGS(dtype));
    if (!tree_int(tree_get(r->item, S("bytes")), &out->bytes) || out->bytes < 1)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-buffer", at(r),
                         "buffer %.*s: bytes is not a whole number above 0", STR_ARGS(out->name));
    return take_fill(r, arena_format(r->arena, "buffer %.*s", STR_ARGS(out->name)), out->bytes,
                     true, &out->fill);
}

static enum status take_memories(struct reader *r, const struct tree *list, struct slots *out)
{
    if (list == NULL)
        return ST_OK;
    if (list->kind != TREE_LIST)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-spec", at(r), "buffers is not a list");
    struct slot_memory *memories = ARENA_ARRAY(r->arena, struct slot_memory, list->n);
    out->memories = memories;
    for (r->item = list->first; r->item != NULL; r->item = r->item->next) {
        struct slot_memory one = {0};
        TRY(take_memory(r, &one));
        if (memory_named(out, one.name) != NULL)
            return diag_fail(r->diag, ST_FORMAT, "replay.bad-buffer", at(r),
                             "two buffers are called %.*s", STR_ARGS(one.name));
        memories[out->n_memories++] = one;
    }
    return ST_OK;
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
        TRY(take_place(r, out));
        int64_t bytes = 0;
        (void)(slot_is_plain(out) ? slot_bytes(out, &bytes) : slot_room(out, &bytes));
        return take_fill(r, arena_format(r->arena, "arg %" PRId64, out->index), bytes, false,
                         &out->fill);
    }
    TRY(take_context(r, out));
    if (out->is_context)
        return ST_OK;
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
    struct reader r = {arena, path, d, doc, out};
    const struct tree *list = doc->kind == TREE_MAP ? tree_get(doc, S("args")) : doc;
    if (list == NULL) {
        diag_add(d, SEV_WARN, "replay.empty-spec", at(&r),
                 "no key \"args\", so there are no arguments");
        return ST_OK;
    }
    if (list->kind != TREE_LIST)
        return diag_fail(d, ST_FORMAT, "replay.bad-spec", at(&r),
                         "neither a list of arguments nor an object with the key \"args\"");
    if (doc->kind == TREE_MAP)
        TRY(take_memories(&r, tree_get(doc, S("buffers")), out));
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
    FIELD_LIST(struct slots, memories, n_memories, "buffers", &slot_memory_record,
               .missing = MISSING_EMPTY, .is_optional = true),
    FIELD_LIST(struct slots, at, n, "args", &slot_record),
};
static const struct record file_record = RECORD(struct slots, file_fields);

enum status args_save(const char *path, const struct slots *slots, struct arena *arena,
                      struct words *wrote, struct diag *d)
{
    struct slots told = *slots;
    struct slot_memory *memories = ARENA_ARRAY(arena, struct slot_memory, slots->n_memories);

    for (size_t i = 0; i < slots->n_memories; i++) {
        memories[i] = slots->memories[i];
        if (memories[i].data.n == 0)
            continue;
        const char *file = arena_printf(arena, "%s.%.*s.bin", path, STR_ARGS(memories[i].name));
        TRY(outfile_save(file, memories[i].data, d));
        vec_push(wrote, file);
        memories[i].fill = arena_format(arena, "file:%.*s", STR_ARGS(str_basename(str_of(file))));
    }
    told.memories = memories;
    vec_push(wrote, path);
    return record_save(path, &file_record, &told, d);
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
