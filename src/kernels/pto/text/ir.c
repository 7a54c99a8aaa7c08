/*
 * Modules: their life, their types, and the words of keys and enumerations.
 */
#include "kernels/pto/text/ir.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/text/num.h"

const char *const pto_key_names[PTO_KEY_COUNT] = {
    [PTO_KEY_NONE] = "",
#define PTO_KEY(code, name, kind) [PTO_KEY_##code] = name,
#include "kernels/pto/text/keys.def"
#undef PTO_KEY
};

static const enum pto_enum key_enums[] = {
    [PTO_KEY_NONE] = PTO_ENUM_NONE,
#define PTO_KEY(code, name, kind) [PTO_KEY_##code] = PTO_ENUM_##kind,
#include "kernels/pto/text/keys.def"
#undef PTO_KEY
};

static const struct enum_row {
    const char *name, *values;
} enums[] = {
    [PTO_ENUM_NONE] = {"", ""},
#define PTO_ENUM(code, name, values) [PTO_ENUM_##code] = {name, values},
#include "kernels/pto/text/enums.def"
#undef PTO_ENUM
};

/* ---- words ---- */

enum pto_enum pto_key_enum(enum pto_key key)
{
    return key < PTO_KEY_COUNT ? key_enums[key] : PTO_ENUM_NONE;
}

const char *pto_enum_name(enum pto_enum e)
{
    return e < PTO_ENUM_COUNT ? enums[e].name : "";
}

enum pto_enum pto_enum_find(struct str name)
{
    for (unsigned i = PTO_ENUM_NONE + 1; i < PTO_ENUM_COUNT; i++)
        if (str_equal(name, str_of(enums[i].name)))
            return (enum pto_enum)i;
    return PTO_ENUM_NONE;
}

/* Takes one "WORD number" off the front of a list. */
static bool next_word(struct str *rest, struct str *word, int64_t *value)
{
    struct str item;

    if (!str_split(rest, ',', &item))
        return false;
    size_t blank = str_find_char(item, ' ');
    *word = str_part(item, 0, blank);
    return num_i64(str_part(item, blank + 1, item.n), value);
}

struct str pto_enum_word(enum pto_enum e, int64_t value)
{
    struct str rest = str_of(e < PTO_ENUM_COUNT ? enums[e].values : ""), word;
    int64_t number;

    while (next_word(&rest, &word, &number))
        if (number == value)
            return word;
    return (struct str){0};
}

bool pto_enum_value(enum pto_enum e, struct str word, int64_t *value)
{
    struct str rest = str_of(e < PTO_ENUM_COUNT ? enums[e].values : ""), at;
    int64_t number;

    while (next_word(&rest, &at, &number)) {
        if (!str_equal(at, word))
            continue;
        *value = number;
        return true;
    }
    return false;
}

/* ---- life ---- */

static void put_keys(struct pto_module *m)
{
    for (unsigned i = PTO_KEY_NONE + 1; i < PTO_KEY_COUNT; i++)
        intern_put(&m->names, str_of(pto_key_names[i]));
}

void pto_module_init(struct pto_module *m)
{
    *m = (struct pto_module){0};
    vec_reserve(&m->operands, 1); /* those of an operation without any have an address, too */
    arena_init(&m->arena);
    intern_init(&m->names);
    put_keys(m);
}

void pto_module_fini(struct pto_module *m)
{
    vec_free(&m->types);
    vec_free(&m->type_items);
    hash_free(&m->type_index);
    vec_free(&m->functions);
    vec_free(&m->ops);
    vec_free(&m->operands);
    vec_free(&m->regions);
    vec_free(&m->blocks);
    vec_free(&m->successors);
    vec_free(&m->values);
    vec_free(&m->attrs);
    vec_free(&m->attr_items);
    vec_free(&m->named);
    vec_free(&m->problems);
    intern_fini(&m->names);
    arena_free(&m->arena);
}

void pto_module_reset(struct pto_module *m)
{
    struct arena_mark empty = {0};

    arena_rewind(&m->arena, empty);
    intern_fini(&m->names);
    intern_init(&m->names);
    put_keys(m);
    hash_clear(&m->type_index);
    m->types.n = m->type_items.n = m->functions.n = m->ops.n = m->operands.n = 0;
    m->regions.n = m->blocks.n = m->successors.n = m->values.n = 0;
    m->attrs.n = m->attr_items.n = m->named.n = m->problems.n = 0;
    m->error_count = 0;
    m->arch = PTO_A2A3;
    m->has_arch = false;
    m->name = 0;
    m->named_first = m->named_count = 0;
}

/* ---- types ---- */

static bool same_type(const struct pto_module *m, const struct pto_type *a,
                      const struct pto_type *b)
{
    const struct pto_tile_type *s = &a->tile, *t = &b->tile;

    if (a->kind != b->kind || a->dtype != b->dtype || a->space != b->space || a->rank != b->rank ||
        a->count != b->count || a->text != b->text)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    if (a->kind == PTO_TYPE_STRUCT)
        for (int32_t i = 0; i < a->count; i++)
            if (m->type_items.at[a->item_first + (uint32_t)i] !=
                m->type_items.at[b->item_first + (uint32_t)i])
                return false;
    return s->space == t->space && s->dtype == t->dtype && s->blayout == t->blayout &&
           s->slayout == t->slayout && s->rows == t->rows && s->cols == t->cols &&
           s->v_row == t->v_row && s->v_col == t->v_col && s->fractal == t->fractal &&
           s->compact == t->compact && s->pad == t->pad;
}

static uint64_t type_hash(const struct pto_module *m, const struct pto_type *t)
{
    const struct pto_tile_type *s = &t->tile;
    uint64_t h = hash_mix((uint64_t)t->kind << 32 | t->dtype, (uint64_t)t->space << 32 | t->rank);

    h = hash_mix(h, (uint64_t)t->text << 32 | (uint32_t)t->count);
    for (uint32_t i = 0; i < t->rank; i++)
        h = hash_mix(h, (uint64_t)t->dims[i]);
    if (t->kind == PTO_TYPE_STRUCT)
        for (int32_t i = 0; i < t->count; i++)
            h = hash_mix(h, m->type_items.at[t->item_first + (uint32_t)i]);
    h = hash_mix(h, (uint64_t)(uint32_t)s->rows << 32 | (uint32_t)s->cols);
    h = hash_mix(h, (uint64_t)(uint32_t)s->v_row << 32 | (uint32_t)s->v_col);
    h = hash_mix(h, (uint64_t)s->blayout << 32 | s->slayout);
    h = hash_mix(h, (uint64_t)(uint32_t)s->fractal << 32 | (uint32_t)s->compact);
    return hash_mix(h, (uint64_t)s->pad);
}

uint32_t pto_type_put(struct pto_module *m, const struct pto_type *type)
{
    /* Types whose hashes collide take the next keys, one by one. */
    for (uint64_t key = type_hash(m, type);; key++) {
        uint32_t at = hash_add(&m->type_index, key, (uint32_t)m->types.n);
        if (at == m->types.n) {
            vec_push(&m->types, *type);
            return at;
        }
        if (same_type(m, &m->types.at[at], type))
            return at;
    }
}

uint32_t pto_type_scalar(struct pto_module *m, enum pto_dtype dtype)
{
    struct pto_type type = {.kind = PTO_TYPE_SCALAR, .dtype = dtype};

    return pto_type_put(m, &type);
}

/* ---- problems ---- */

void pto_problem(struct pto_module *m, enum severity severity, const char *code, uint32_t line,
                 uint32_t col, const char *format, ...)
{
    char text[LIMIT_CODE_TEXT];
    va_list args;

    m->error_count += severity == SEV_ERROR;
    if (m->problems.n >= PTO_MAX_PROBLEMS)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    vec_push(&m->problems, ((struct pto_problem){severity, code, line, col,
                                                 arena_cstr(&m->arena, str_of(text))}));
}

/* ---- reading ---- */

uint32_t pto_operand_nth(const struct pto_module *m, const struct pto_op *op, enum pto_role role,
                         uint32_t nth)
{
    const struct pto_operand *at = pto_operands(m, op);

    for (uint32_t i = 0; i < op->operand_count; i++)
        if (at[i].role == role && nth-- == 0)
            return at[i].value;
    return PTO_NONE;
}

uint32_t pto_operand_total(const struct pto_module *m, const struct pto_op *op, enum pto_role role)
{
    const struct pto_operand *at = pto_operands(m, op);
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->operand_count; i++)
        n += at[i].role == role;
    return n;
}

const struct pto_attr *pto_named_attr(const struct pto_module *m, uint32_t first, uint32_t count,
                                      enum pto_key key)
{
    for (uint32_t i = 0; i < count; i++)
        if (m->named.at[first + i].key == (strid)key)
            return &m->attrs.at[m->named.at[first + i].attr];
    return NULL;
}

const struct pto_attr *pto_op_attr(const struct pto_module *m, const struct pto_op *op,
                                   enum pto_key key)
{
    return pto_named_attr(m, op->named_first, op->named_count, key);
}

static int64_t attr_int(const struct pto_attr *a, int64_t missing)
{
    if (a == NULL)
        return missing;
    switch (a->kind) {
    case PTO_ATTR_UNIT:
        return 1;
    case PTO_ATTR_INT:
    case PTO_ATTR_BOOL:
    case PTO_ATTR_ENUM:
        return a->i;
    default:
        return missing;
    }
}

int64_t pto_op_int(const struct pto_module *m, const struct pto_op *op, enum pto_key key,
                   int64_t missing)
{
    return attr_int(pto_op_attr(m, op, key), missing);
}

int64_t pto_attr_nth(const struct pto_module *m, const struct pto_attr *list, uint32_t nth,
                     int64_t missing)
{
    if (list == NULL || (list->kind != PTO_ATTR_LIST && list->kind != PTO_ATTR_ARRAY) ||
        nth >= list->item_count)
        return missing;
    return attr_int(&m->attrs.at[m->attr_items.at[list->item_first + nth]], missing);
}

const struct pto_block *pto_op_block(const struct pto_module *m, const struct pto_op *op,
                                     uint32_t nth)
{
    if (nth >= op->region_count)
        return NULL;
    const struct pto_region *r = &m->regions.at[op->region_first + nth];
    return r->block_count > 0 ? &m->blocks.at[r->block_first] : NULL;
}

const struct pto_op *pto_last_op(const struct pto_module *m, const struct pto_block *b)
{
    const struct pto_op *last = NULL;

    for (uint32_t i = b->op_first; i < b->op_end; i = m->ops.at[i].next)
        last = &m->ops.at[i];
    return last;
}

const struct pto_function *pto_find_function(const struct pto_module *m, struct str name)
{
    strid id = intern_find(&m->names, name);

    for (size_t i = 0; i < m->functions.n && id != 0; i++)
        if (m->functions.at[i].name == id)
            return &m->functions.at[i];
    return NULL;
}

const struct pto_function *pto_function_at(const struct pto_module *m, uint32_t op)
{
    for (size_t i = 0; i < m->functions.n; i++) {
        if (op >= m->functions.at[i].op_first && op < m->functions.at[i].op_end)
            return &m->functions.at[i];
    }
    return NULL;
}
