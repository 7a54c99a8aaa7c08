/*
 * Rules for the arguments of a kernel, and slots as records.
 */
#include "kernels/replay/slots.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct slot_type types[] = {
#define DTYPE(code, bits, kind, name, ascend, runtime, ...)                                        \
    {S_INIT(runtime), DTYPE_##code, (bits + 7) / 8, DTYPE_KIND_##kind == DTYPE_KIND_FLOAT,         \
     false,           true},
#include "ops/dtypes.def"
#undef DTYPE
    {S_INIT("FLOAT32_BITS"), DTYPE_F32, 4, true, true, false},
    {S_INIT("FLOAT64_BITS"), DTYPE_F64, 8, true, true, false},
};

const struct slot_type *slot_type_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (name.n > 0 && str_equal(types[i].name, name))
            return &types[i];
    return NULL;
}

const struct slot_type *slot_type_of(enum dtype type, bool is_bits)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].type == type && types[i].is_bits == is_bits && types[i].name.n > 0)
            return &types[i];
    return NULL;
}

bool slot_bytes(const struct slot *s, int64_t *out)
{
    int64_t bytes = s->dtype->bytes;

    for (size_t i = 0; i < s->rank; i++)
        if (__builtin_mul_overflow(bytes, s->shape[i], &bytes))
            return false;
    *out = bytes;
    return true;
}

bool slot_room(const struct slot *s, int64_t *out)
{
    int64_t last = s->start, step = 1, bytes;

    for (size_t i = s->rank; i-- > 0;) {
        int64_t stride = s->strides != NULL ? s->strides[i] : step, away;
        if (s->shape[i] == 0) { /* no elements */
            *out = s->bytes > s->dtype->bytes ? s->bytes : s->dtype->bytes;
            return true;
        }
        if (__builtin_mul_overflow(s->shape[i] - 1, stride, &away) ||
            __builtin_add_overflow(last, away, &last) ||
            __builtin_mul_overflow(step, s->shape[i], &step))
            return false;
    }
    if (__builtin_add_overflow(last, 1, &last) ||
        __builtin_mul_overflow(last, s->dtype->bytes, &bytes))
        return false;
    *out = bytes > s->bytes ? bytes : s->bytes;
    return true;
}

bool slot_is_plain(const struct slot *s)
{
    int64_t step = 1;
    bool is_plain = s->start == 0;

    for (size_t i = s->rank; i-- > 0; step *= s->shape[i])
        is_plain = is_plain && (s->strides == NULL || s->strides[i] == step || s->shape[i] == 1);
    return is_plain;
}

struct str slot_filling(const struct slot *s)
{
    if (s->memory != NULL)
        return s->memory->data.n > 0 ? S("given") : s->memory->fill;
    return s->fill;
}

bool slot_f32_bits(double value, int64_t *out)
{
    /* What rounds to FLT_MAX still fits: half a unit of its last place. */
    if (isfinite(value) && fabs(value) >= 0x1.ffffffp127)
        return false;
    *out = (int64_t)num_bits_of_float((float)value);
    return true;
}

bool slot_is_identifier(struct str name)
{
    return str_is_name(name) && name.n <= 128;
}

enum status replay_read_json(struct arena *arena, struct str text, const char *path,
                             const struct tree **out, struct diag *d)
{
    struct tree_error error;

    *out = tree_read_json(arena, text, &error);
    if (*out != NULL)
        return ST_OK;
    return diag_fail(d, error.status, "replay.bad-json",
                     (struct where){.path = path, .line = error.line}, "%s", error.what);
}

enum status slot_pack(struct slot *s, const struct tree *value, struct where where, struct diag *d)
{
    if (value != NULL && (value->kind == TREE_INT || value->kind == TREE_BOOL)) {
        s->value = value->i; /* packed already */
        s->is_unsigned = value->is_unsigned;
        return ST_OK;
    }
    if (value == NULL || value->kind != TREE_REAL)
        return diag_fail(d, ST_FORMAT, "replay.bad-value", where,
                         "arg %" PRId64 ": value is not a number of at most 64 bits", s->index);
    if (!s->is_packed && !s->dtype->is_float) {
        diag_hint(d, "try", "a whole number, or \"pack_mode\": \"bits\"");
        return diag_fail(d, ST_FORMAT, "replay.bad-value", where,
                         "arg %" PRId64 ": %g is a float, but %.*s with pack_mode value is not",
                         s->index, value->f, STR_ARGS(s->dtype->name));
    }
    s->is_packed = true;
    if (!slot_f32_bits(value->f, &s->value))
        return diag_fail(d, ST_FORMAT, "replay.bad-value", where,
                         "arg %" PRId64 ": %g does not fit a float32", s->index, value->f);
    return ST_OK;
}

ORDER_BY(by_index, struct slot, ORDER(x->index, y->index));

static enum status check_tensor(const struct slot *s, struct where where, struct diag *d)
{
    int64_t bytes;

    if (!s->dtype->for_tensors)
        return diag_fail(d, ST_FORMAT, "replay.dtype", where,
                         "arg %" PRId64 ": unsupported dtype for a tensor: %.*s", s->index,
                         STR_ARGS(s->dtype->name));
    if (s->rank == 0 || s->rank > SLOT_RANK)
        return diag_fail(d, ST_FORMAT, "replay.bad-shape", where,
                         "arg %" PRId64 ": shape has %zu dimensions, not 1 to %d", s->index,
                         s->rank, SLOT_RANK);
    for (size_t i = 0; i < s->rank; i++)
        /* A view of known memory may have no elements: its kernel does nothing then. */
        if (s->shape[i] < (s->memory != NULL ? 0 : 1) || s->shape[i] > UINT32_MAX)
            return diag_fail(d, ST_FORMAT, "replay.bad-shape", where,
                             "arg %" PRId64 ": dimension %" PRId64 " is not 1 to 4294967295",
                             s->index, s->shape[i]);
    for (size_t i = 0; s->strides != NULL && i < s->rank; i++)
        if (s->strides[i] < 1 || s->strides[i] > UINT32_MAX)
            return diag_fail(d, ST_FORMAT, "replay.bad-shape", where,
                             "arg %" PRId64 ": stride %" PRId64 " is not 1 to 4294967295", s->index,
                             s->strides[i]);
    if (!slot_bytes(s, &bytes) || !slot_room(s, &bytes))
        return diag_fail(d, ST_LIMIT, "replay.bad-shape", where,
                         "arg %" PRId64 ": the tensor has more than 2^63 bytes", s->index);
    if (s->start < 0 || s->offset < 0 || (s->bytes != 0 && s->bytes < bytes))
        return diag_fail(d, ST_FORMAT, "replay.bad-shape", where,
                         "arg %" PRId64 ": its elements need %" PRId64 " bytes from the start of "
                         "its memory",
                         s->index, bytes);
    return ST_OK;
}

/* A tensor inside the memory that it shares with others. */
static enum status check_memory(const struct slot *s, struct where where, struct diag *d)
{
    int64_t room, end;

    if (s->memory == NULL ||
        (slot_room(s, &room) && !__builtin_add_overflow(room, s->offset, &end) &&
         end <= s->memory->bytes))
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "replay.bad-buffer", where,
                     "arg %" PRId64 ": the tensor leaves its buffer %.*s of %" PRId64 " bytes",
                     s->index, STR_ARGS(s->memory->name), s->memory->bytes);
}

enum status slots_check(struct slots *slots, const char *path, struct diag *d)
{
    struct where where = {.path = path};

    if (slots->n > 1)
        qsort(slots->at, slots->n, sizeof(*slots->at), by_index);
    for (size_t i = 0; i < slots->n; i++) {
        const struct slot *s = &slots->at[i];
        if (s->index == SLOT_LOCAL || s->index == SLOT_GLOBAL)
            return diag_fail(
                d, ST_FORMAT, "replay.bad-index", where,
                "Arg index %" PRId64 " is reserved for context pointers (slots 48, 49)", s->index);
        if (s->index < 0 || s->index >= SLOT_COUNT)
            return diag_fail(d, ST_FORMAT, "replay.bad-index", where,
                             "Arg index %" PRId64 " exceeds max slots (%d)", s->index, SLOT_COUNT);
        if (i > 0 && slots->at[i - 1].index == s->index)
            return diag_fail(d, ST_FORMAT, "replay.bad-index", where,
                             "Duplicate arg index %" PRId64, s->index);
        if (s->is_tensor) {
            TRY(check_tensor(s, where, d));
            TRY(check_memory(s, where, d));
        }
    }
    return ST_OK;
}

struct str slots_missing(const struct slots *slots, const struct kernel *kernel,
                         struct arena *arena)
{
    struct str out = {"", 0};

    for (int i = 0; i < SLOT_LOCAL; i++) {
        bool is_there = !kernel->reads[i];
        for (size_t k = 0; k < slots->n; k++)
            is_there = is_there || slots->at[k].index == i;
        if (!is_there)
            out = arena_format(arena, "%.*s%s%d", STR_ARGS(out), out.n > 0 ? ", " : "", i);
    }
    return out.n > 0 ? arena_format(arena, "[%.*s]", STR_ARGS(out)) : out;
}

/* ---- as records ---- */

static struct field_value slots_kind_of(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(((const struct slot *)record)->is_tensor ? S("tensor") : S("scalar"));
}

static struct field_value dtype_told(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(((const struct slot *)record)->dtype->name);
}

static struct field_value slots_number_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    if (s->is_tensor)
        return value_none();
    return s->is_unsigned ? value_uint((uint64_t)s->value) : value_int(s->value);
}

static ENUM_NAMES(role_name, enum slot_role, "input", "output", "inout")

    /* What is usual goes without saying. */
    static struct field_value unusual_role(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    if (!s->is_tensor || s->role == ROLE_INPUT)
        return value_none();
    return value_text(str_of(role_name(s->role)));
}

static struct field_value unusual_fill(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    if (!s->is_tensor || str_equal(s->fill, S("zero")))
        return value_none();
    return value_text(s->fill);
}

static struct field_value bytes_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;
    int64_t bytes = 0;

    (void)env;
    slot_bytes(s, &bytes);
    return s->is_tensor ? value_int(bytes) : value_none();
}

static bool is_told(const struct slot *s)
{
    return s->is_tensor && !slot_is_plain(s);
}

static struct field_items strides_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    return is_told(s) && s->strides != NULL ? (struct field_items){s->strides, s->rank}
                                            : (struct field_items){0};
}

static struct field_value start_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    return s->is_tensor && s->start > 0 ? value_int(s->start) : value_none();
}

/* What the elements take goes without saying. */
static struct field_value room_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;
    struct slot alone = *s;
    int64_t room;

    (void)env;
    alone.bytes = 0;
    return s->is_tensor && slot_room(&alone, &room) && s->bytes > room ? value_int(s->bytes)
                                                                       : value_none();
}

static struct field_value memory_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    return s->is_tensor && s->memory != NULL ? value_text(s->memory->name) : value_none();
}

static struct field_value offset_of(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    return s->is_tensor && s->offset > 0 ? value_int(s->offset) : value_none();
}

static struct field_value pack_mode(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    return s->is_tensor ? value_none() : value_text(s->is_packed ? S("bits") : S("value"));
}

static struct field_value fill_told(const void *record, const struct record_env *env)
{
    const struct slot *s = record;

    (void)env;
    return s->is_tensor ? value_text(slot_filling(s)) : value_none();
}

static const struct field context_fields[] = {
    FIELD(struct slot_context, rank, "rank"),
    FIELD_VALUES(struct slot_context, names, n, "windows"),
};
static const struct record context_record = RECORD(struct slot_context, context_fields);

static const struct field slot_fields[] = {
    FIELD(struct slot, index, "index"),
    FIELD_CALC(FIELD_STR, "kind", slots_kind_of),
    FIELD_CALC(FIELD_STR, "dtype", dtype_told),
    FIELD_VALUES(struct slot, shape, rank, "shape", .is_optional = true,
                 WHEN(struct slot, is_tensor)),
    FIELD_CALC(FIELD_I64, "value", slots_number_of, .is_optional = true),
    FIELD(struct slot, name, "name"),
    FIELD_CALC(FIELD_STR, "role", unusual_role, .is_optional = true),
    FIELD_CALC(FIELD_STR, "fill", unusual_fill, .is_optional = true),
    FIELD_MADE(FIELD_I64, "strides", strides_of, NULL, .is_optional = true,
               .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "start_offset", start_of, .is_optional = true),
    FIELD_CALC(FIELD_I64, "bytes", room_of, .is_optional = true),
    FIELD_CALC(FIELD_STR, "buffer", memory_of, .is_optional = true),
    FIELD_CALC(FIELD_I64, "buffer_offset", offset_of, .is_optional = true),
    FIELD_POINTER(struct slot, context, "context", &context_record, .is_optional = true),
};
const struct record slot_record = RECORD(struct slot, slot_fields);

static const struct field told_fields[] = {
    FIELD_CALC(FIELD_STR, "kind", slots_kind_of),
    FIELD(struct slot, index, "index"),
    FIELD(struct slot, name, "name"),
    FIELD_CALC(FIELD_STR, "dtype", dtype_told),
    FIELD_VALUES(struct slot, shape, rank, "shape", .is_optional = true,
                 WHEN(struct slot, is_tensor)),
    FIELD_OF_ENUM(struct slot, role, "role", role_name, 3, .is_optional = true,
                  WHEN(struct slot, is_tensor)),
    FIELD_CALC(FIELD_STR, "fill", fill_told, .is_optional = true),
    FIELD_CALC(FIELD_I64, "bytes", bytes_of, .is_optional = true),
    FIELD_MADE(FIELD_I64, "strides", strides_of, NULL, .is_optional = true,
               .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_I64, "start_offset", start_of, .is_optional = true),
    FIELD_CALC(FIELD_I64, "memory_bytes", room_of, .is_optional = true),
    FIELD_CALC(FIELD_STR, "buffer", memory_of, .is_optional = true),
    FIELD_CALC(FIELD_I64, "value", slots_number_of, .is_optional = true),
    FIELD_CALC(FIELD_STR, "pack_mode", pack_mode, .is_optional = true),
    FIELD_POINTER(struct slot, context, "context", &context_record, .is_optional = true),
};
static struct field_value memory_dtype_of(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(((const struct slot_memory *)record)->dtype->name);
}

static const struct field memory_fields[] = {
    FIELD(struct slot_memory, name, "name"),
    FIELD(struct slot_memory, bytes, "bytes"),
    FIELD_CALC(FIELD_STR, "dtype", memory_dtype_of),
    FIELD(struct slot_memory, fill, "fill"),
};
const struct record slot_memory_record = RECORD(struct slot_memory, memory_fields);

const struct record slot_told_record = RECORD(struct slot, told_fields);
