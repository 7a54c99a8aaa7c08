/*
 * The arguments of one task, as a run of the whole scene has dumped them: args_dump.json of today,
 * tensor_dump.json of runtimes up to June 2026.
 */
#include "kernels/replay/args.h"

#include <inttypes.h>
#include <math.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/text/char.h"
#include "base/text/num.h"
#include "kernels/replay/paths.h"

#define MOST_RESTORED ((int64_t)1 << 31) /* bytes of a tensor */

struct reader {
    struct arena *arena;
    const struct args_dump_job *job;
    const char *path;
    const struct tree *list;
    struct str payload; /* empty: there is none */
    bool tells_values;  /* of scalars */
    struct args_dump *out;
    struct slots *slots;
    struct slot_memory *memories; /* one for each slot at most */
    bool is_scalar[SLOT_COUNT];   /* and its value is not told */
    bool is_lost[SLOT_COUNT];     /* its bytes are not whole */
    bool has_payload;
    struct diag *diag;
};

static struct where at(const struct reader *r, const struct tree *value)
{
    return (struct where){.path = r->path, .line = value->line};
}

/* ---- the task ---- */

static struct str task_of(const struct reader *r, const struct tree *record)
{
    const struct tree *id = tree_get(record, S("task_id"));

    if (id != NULL && id->kind == TREE_INT)
        return arena_format(r->arena, "0x%016" PRIx64, (uint64_t)id->i);
    return tree_text(id);
}

/* 0x1, 0X01 and 1 are one task. */
static bool is_same_task(struct str a, struct str b)
{
    uint64_t x, y;

    return str_equal_nocase(a, b) || (num_hex(a, &x) && num_hex(b, &y) && x == y);
}

static bool is_of_task(const struct reader *r, const struct tree *record)
{
    return r->out->task.n == 0 || is_same_task(task_of(r, record), r->out->task);
}

/* The kernels of a task in the order of its cores; one number before that. */
static bool take_kernels(const struct tree *record, struct args_dump *out)
{
    const struct tree *id = tree_get(record, S("func_id"));

    out->n_kernels = 0;
    if (id != NULL && id->kind == TREE_INT)
        out->kernels[out->n_kernels++] = id->i;
    for (const struct tree *one = id != NULL && id->kind == TREE_LIST ? id->first : NULL;
         one != NULL && out->n_kernels < ARRAY_LEN(out->kernels); one = one->next)
        if (tree_int(one, &out->kernels[out->n_kernels]) && out->kernels[out->n_kernels] >= 0)
            out->n_kernels++;
    return out->n_kernels > 0 && out->kernels[0] >= 0;
}

static bool runs(const struct args_dump *task, int64_t func_id)
{
    for (size_t i = 0; i < task->n_kernels; i++)
        if (task->kernels[i] == func_id)
            return true;
    return false;
}

/* The task that was named, else the first one of the kernel. A dump that does not tell the kernels
 * of its tasks must have only one of them, or none at all. */
static enum status choose_task(struct reader *r)
{
    const struct args_dump_job *job = r->job;
    struct where where = {.path = r->path};
    struct str some = S("");
    bool is_told = false, has_several = false, has_lists = false;

    for (const struct tree *one = r->list->first; one != NULL; one = one->next) {
        struct args_dump task;
        const struct tree *id = tree_get(one, S("func_id"));
        struct str name = task_of(r, one);
        bool has_kernels = take_kernels(one, &task);
        if (job->task_id != NULL ? is_same_task(name, str_of(job->task_id))
                                 : has_kernels && runs(&task, job->func_id)) {
            *r->out = task;
            r->out->task = arena_str(r->arena, name);
            if (!has_kernels || job->func_id < 0 || runs(&task, job->func_id))
                return ST_OK;
            return diag_fail(r->diag, ST_NOT_FOUND, "replay.no-task", at(r, one),
                             "task %s is of another kernel: func_id %" PRId64 ", not %" PRId64,
                             job->task_id, task.kernels[0], job->func_id);
        }
        is_told = is_told || has_kernels;
        has_lists = has_lists || (id != NULL && id->kind == TREE_LIST);
        struct str first = task_of(r, r->list->first);
        has_several = has_several || !is_same_task(name, first);
        if (some.n < 200 && !str_contains(some, name))
            some = arena_format(r->arena, "%.*s%s%.*s", STR_ARGS(some), some.n > 0 ? ", " : "",
                                STR_ARGS(name));
    }
    if (job->task_id != NULL)
        return diag_fail(r->diag, ST_NOT_FOUND, "replay.no-task", where,
                         "the dump has no task %s; it has %.*s", job->task_id, STR_ARGS(some));
    if (is_told && job->func_id >= 0)
        return diag_fail(r->diag, ST_NOT_FOUND, "replay.no-task", where,
                         "the dump has no task of func_id %" PRId64, job->func_id);
    if (has_lists && has_several) {
        diag_hint(r->diag, "try", "--task-id with one of them");
        return diag_fail(r->diag, ST_NOT_FOUND, "replay.no-task", where,
                         "the dump has no kernels with its tasks: %.*s", STR_ARGS(some));
    }
    return ST_OK; /* the first record of each slot */
}

/* ---- one argument ---- */

static enum status take_numbers(const struct reader *r, const struct tree *record, struct str key,
                                const char *what, int64_t index, int64_t **out, size_t *n)
{
    const struct tree *list = tree_get(record, key);

    *n = list != NULL && list->kind == TREE_LIST && list->n <= SLOT_RANK ? list->n : 0;
    *out = ARENA_ARRAY(r->arena, int64_t, *n);
    const struct tree *one = *n > 0 ? list->first : NULL;
    for (size_t i = 0; i < *n; i++, one = one->next)
        if (!tree_int(one, &(*out)[i]) || (*out)[i] < 0)
            return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r, record),
                             "arg %" PRId64 ": %s %zu is not a whole number", index, what, i);
    return ST_OK;
}

static enum status take_geometry(const struct reader *r, const struct tree *record,
                                 struct slot *out)
{
    int64_t *strides;
    size_t n;

    TRY(take_numbers(r, record, S("shape"), "dimension", out->index, &out->shape, &out->rank));
    TRY(take_numbers(r, record, S("strides"), "stride", out->index, &strides, &n));
    (void)tree_int(tree_get(record, S("start_offset")), &out->start);
    if (out->start < 0)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-shape", at(r, record),
                         "arg %" PRId64 ": start_offset is negative", out->index);
    if (n == out->rank && n > 0)
        out->strides = strides;
    if (out->strides != NULL && out->start == 0 && slot_is_plain(out))
        out->strides = NULL;
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

/* Floats are told as numbers and go into the slot as bits; all others are what the slot holds. */
static enum status take_value(const struct reader *r, const struct tree *record, struct slot *out)
{
    const struct tree *value = tree_get(record, S("value"));
    struct str text = tree_text(value);
    struct tree number = {0};
    double f;

    out->name = arena_format(r->arena, "arg%" PRId64, out->index);
    if (str_equal(tree_text(tree_get(record, S("dtype"))), S("FLOAT32"))) {
        if (value == NULL || value->kind == TREE_NULL)
            f = NAN;
        else if (str_equal(text, S("$Inf")) || str_equal(text, S("-$Inf")))
            f = text.at[0] == '-' ? -INFINITY : INFINITY;
        else if (text.n > 0 && tree_parse_number(&number, text))
            f = tree_number(&number);
        else
            f = tree_number(value);
        out->dtype = slot_type_find(S("FLOAT32_BITS"));
        out->is_packed = true;
        if ((value == NULL || value->kind == TREE_NULL || f == f) && slot_f32_bits(f, &out->value))
            return ST_OK;
    } else if (value != NULL && (value->kind == TREE_INT || value->kind == TREE_BOOL)) {
        out->dtype = slot_type_find(value->is_unsigned ? S("UINT64") : S("INT64"));
        out->value = value->i;
        out->is_unsigned = value->is_unsigned;
        return ST_OK;
    }
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-dump", at(r, record),
                     "arg %" PRId64 ": its value is not one of its type", out->index);
}

/* ---- the bytes ---- */

static bool wants_bytes(const struct args_dump_job *job, int64_t index)
{
    return job->restores != NULL ? job->restores[index] : job->is_reliable;
}

/* The bytes stand row by row in the dump, and where the elements are in the memory. */
static struct str spread(struct arena *arena, const struct slot *s, struct str bytes, int64_t room)
{
    size_t size = (size_t)s->dtype->bytes;
    int64_t index[SLOT_RANK] = {0};
    char *out = ARENA_ARRAY(arena, char, (size_t)room);

    for (size_t from = 0; from + size <= bytes.n; from += size) {
        int64_t place = s->start, step = 1;
        for (size_t k = s->rank; k-- > 0; step *= s->shape[k])
            place += index[k] * (s->strides != NULL ? s->strides[k] : step);
        memcpy(out + (size_t)place * size, bytes.at + from, size);
        for (size_t k = s->rank; k-- > 0 && ++index[k] == s->shape[k];)
            index[k] = 0;
    }
    return (struct str){out, (size_t)room};
}

static bool is_set(const struct tree *record, struct str key)
{
    const struct tree *flag = tree_get(record, key);

    return flag != NULL && flag->kind == TREE_BOOL && flag->i != 0;
}

static void take_bytes(struct reader *r, const struct tree *record, struct slot *s)
{
    int64_t offset = 0, size = 0, bytes = 0, room = 0;

    (void)tree_int(tree_get(record, S("bin_offset")), &offset);
    (void)tree_int(tree_get(record, S("bin_size")), &size);
    if (size == 0) /* it was not marked to be dumped */
        return;
    bool is_whole = slot_bytes(s, &bytes) && slot_room(s, &room) && bytes == size &&
                    room <= MOST_RESTORED && offset >= 0 && (uint64_t)offset <= r->payload.n &&
                    (uint64_t)size <= r->payload.n - (uint64_t)offset &&
                    !is_set(record, S("truncated")) && !is_set(record, S("overwritten"));
    r->is_lost[s->index] = !is_whole;
    if (!is_whole)
        return;
    struct str data = str_part(r->payload, (size_t)offset, (size_t)size);
    struct slot_memory *memory = &r->memories[r->slots->n_memories++];
    *memory = (struct slot_memory){.name = s->name,
                                   .bytes = room,
                                   .dtype = s->dtype,
                                   .fill = S("zero"),
                                   .data = slot_is_plain(s) ? arena_str(r->arena, data)
                                                            : spread(r->arena, s, data, room)};
    s->memory = memory;
    r->out->n_restored++;
}

/* ---- all of them ---- */

static struct slot *slot_at(const struct slots *slots, int64_t index)
{
    for (size_t i = 0; i < slots->n; i++)
        if (slots->at[i].index == index)
            return &slots->at[i];
    return NULL;
}

static enum status take_tensor(struct reader *r, const struct tree *record, struct slot *slot,
                               bool is_before)
{
    struct str role = tree_text(tree_get(record, S("role")));

    slot->is_tensor = true;
    slot->fill = S("zero");
    slot->role = str_equal(role, S("inout"))                  ? ROLE_INOUT
                 : !is_before || str_equal(role, S("output")) ? ROLE_OUTPUT
                                                              : ROLE_INPUT;
    slot->name = arena_format(r->arena, "arg%" PRId64, slot->index);
    TRY(take_dtype(r, record, slot));
    TRY(take_geometry(r, record, slot));
    if (is_before && wants_bytes(r->job, slot->index))
        take_bytes(r, record, slot);
    else if (is_before)
        r->out->n_left++;
    return ST_OK;
}

/* What a task writes and reads is there twice: what it was before counts. What it only writes is
 * there afterwards. */
static enum status take_record(struct reader *r, const struct tree *record, bool is_before)
{
    const struct tree *shape = tree_get(record, S("shape"));
    struct slot slot = {0};
    int64_t bytes = 0;

    if (!str_equal(tree_text(tree_get(record, S("stage"))),
                   is_before ? S("before_dispatch") : S("after_completion")) ||
        !is_of_task(r, record))
        return ST_OK;
    if (!tree_int(tree_get(record, S("arg_index")), &slot.index) || slot.index < 0 ||
        slot.index >= SLOT_COUNT)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-dump", at(r, record),
                         "an argument without an arg_index of 0 to %d", SLOT_COUNT - 1);
    if (slot_at(r->slots, slot.index) != NULL)
        return ST_OK;
    (void)tree_int(tree_get(record, S("bin_size")), &bytes);
    if (str_equal(tree_text(tree_get(record, S("kind"))), S("scalar"))) {
        TRY(take_value(r, record, &slot));
    } else if (!r->tells_values && bytes == 0 &&
               (shape == NULL || (shape->kind == TREE_LIST && shape->n == 0))) {
        r->is_scalar[slot.index] = true;
        return ST_OK;
    } else {
        TRY(take_tensor(r, record, &slot, is_before));
    }
    if (is_set(record, S("arg_index_ambiguous")))
        diag_add(r->diag, SEV_WARN, "replay.ambiguous-slot", at(r, record),
                 "the dump is not sure that arg %" PRId64 " is slot %" PRId64, slot.index,
                 slot.index);
    vec_push(r->slots, slot);
    return ST_OK;
}

static struct str slots_text(struct arena *arena, const bool *of)
{
    struct str text = S("");

    for (int i = 0; i < SLOT_COUNT; i++)
        if (of[i])
            text = arena_format(arena, "%.*s%s%d", STR_ARGS(text), text.n > 0 ? ", " : "", i);
    return text;
}

static void tell_gaps(const struct reader *r)
{
    struct where where = {.path = r->path};
    struct str scalars = slots_text(r->arena, r->is_scalar);
    struct str lost = slots_text(r->arena, r->is_lost);

    if (scalars.n > 0)
        diag_add(r->diag, SEV_WARN, "replay.scalars-unknown", where,
                 "a dump has no scalars; set them with --set-arg: %.*s", STR_ARGS(scalars));
    if (lost.n > 0)
        diag_add(r->diag, SEV_WARN, "replay.cut-dump", where,
                 "the values of these slots are not %s in the dump; they are 0: %.*s",
                 r->has_payload ? "whole" : "there", STR_ARGS(lost));
    if (r->out->n_left > 0 && !r->job->is_reliable && r->job->restores == NULL)
        diag_add(r->diag, SEV_NOTE, "replay.values-left", where,
                 "values of tensors are not taken from a dump of a5, where they are not reliable: "
                 "they are 0; --restore-arg takes them");
}

/* The records of one task: those before the dispatch first, so that what came after fills gaps
 * alone. */
static enum status read_text(struct reader *r, struct str text)
{
    struct where where = {.path = r->path};
    const struct tree *doc;

    if (text.n > LIMIT_SCENE_BYTES * 16)
        return diag_fail(r->diag, ST_LIMIT, "replay.bad-dump", where, "larger than %d bytes",
                         LIMIT_SCENE_BYTES * 16);
    TRY(replay_read_json(r->arena, text, r->path, &doc, r->diag));
    r->list = tree_get(doc, S("args"));
    r->tells_values = r->list != NULL;
    if (r->list == NULL)
        r->list = tree_get(doc, S("tensors"));
    if (r->list == NULL || r->list->kind != TREE_LIST)
        return diag_fail(r->diag, ST_FORMAT, "replay.bad-dump", where,
                         "no list \"args\" or \"tensors\"");
    TRY(choose_task(r));
    struct mapfile bytes;
    struct str name = tree_text(tree_get(doc, S("bin_file")));
    const struct tree *form = tree_get(doc, S("bin_format"));
    bool has_bytes = name.n > 0 && memchr(name.at, '\0', name.n) == NULL &&
                     str_equal(tree_text(tree_get(form, S("type"))), S("logical_contiguous")) &&
                     str_equal(tree_text(tree_get(form, S("byte_order"))), S("little_endian"));
    if (has_bytes) {
        const char *path = fs_join(r->arena, paths_folder(r->arena, r->path),
                                   arena_cstr(r->arena, str_basename(name)));
        has_bytes = mapfile_open(&bytes, path, NULL) == ST_OK;
        r->payload = has_bytes ? bytes.text : S("");
        r->has_payload = has_bytes;
    }
    enum status status = ST_OK;
    for (int after = 0; after < 2; after++)
        for (const struct tree *one = r->list->first; one != NULL && status == ST_OK;
             one = one->next)
            status = take_record(r, one, after == 0);
    if (has_bytes)
        mapfile_close(&bytes);
    TRY(status);
    tell_gaps(r);
    return ST_OK;
}

enum status args_dump(struct arena *arena, const struct args_dump_job *job, struct args_dump *out,
                      struct slots *slots, struct diag *d)
{
    static const char *const places[] = {"args_dump.json",
                                         "args_dump/args_dump.json",
                                         "dfx_outputs/args_dump/args_dump.json",
                                         "tensor_dump.json",
                                         "tensor_dump/tensor_dump.json",
                                         "dfx_outputs/tensor_dump/tensor_dump.json"};
    struct reader r = {.arena = arena, .job = job, .out = out, .slots = slots, .diag = d};
    struct mapfile map;

    *out = (struct args_dump){0};
    r.memories = ARENA_ARRAY(arena, struct slot_memory, SLOT_COUNT);
    slots->memories = r.memories;
    slots->n_memories = 0;
    for (size_t i = 0; i < ARRAY_LEN(places) && r.path == NULL; i++) {
        const char *path = fs_join(arena, job->folder, places[i]);
        if (fs_exists(path))
            r.path = path;
    }
    if (r.path == NULL)
        return diag_fail(d, ST_NOT_FOUND, "replay.no-dump", (struct where){.path = job->folder},
                         "args_dump.json or tensor_dump.json not found under %s", job->folder);
    out->path = r.path;
    TRY(mapfile_open(&map, r.path, d));
    enum status st = read_text(&r, map.text);
    mapfile_close(&map);
    out->path = r.path;
    return st;
}
