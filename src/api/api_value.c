/*
 * The values of a result, and what its record descriptions say about them.
 */
#include "api/api.h"
#include "base/text/num.h"

/* The parts of a path between dots; an empty path has none. */
static struct str path_of(const char *path)
{
    return path != NULL && path[0] != '\0' ? str_of(path) : (struct str){0};
}

/* A value is a node of the tree that was read from the document. */
static const struct tree *node_of(const struct strata_value *v)
{
    return (const struct tree *)(const void *)v;
}

static const struct strata_value *value_of_tree(const struct tree *t)
{
    return (const struct strata_value *)(const void *)t;
}

const struct strata_value *strata_result_value(const struct strata_result *r)
{
    return r != NULL ? value_of_tree(r->value) : NULL;
}

enum strata_type strata_value_type(const struct strata_value *v)
{
    static const enum strata_type types[] = {
        [TREE_BOOL] = STRATA_BOOL, [TREE_INT] = STRATA_INT,   [TREE_REAL] = STRATA_REAL,
        [TREE_HUGE] = STRATA_REAL, [TREE_TEXT] = STRATA_TEXT, [TREE_LIST] = STRATA_LIST,
        [TREE_MAP] = STRATA_RECORD};

    return v != NULL && node_of(v)->kind <= TREE_MAP ? types[node_of(v)->kind] : STRATA_NULL;
}

const char *strata_value_key(const struct strata_value *v)
{
    return v != NULL && node_of(v)->key.at != NULL ? node_of(v)->key.at : "";
}

int64_t strata_value_int(const struct strata_value *v)
{
    int64_t i = 0;

    if (v != NULL && !tree_int(node_of(v), &i)) {
        double real = tree_number(node_of(v));
        i = real > -9e18 && real < 9e18 ? num_i64_of(real) : 0;
    }
    return i;
}

double strata_value_real(const struct strata_value *v)
{
    return tree_number(v != NULL ? node_of(v) : NULL);
}

const char *strata_value_text(const struct strata_value *v)
{
    return strata_value_type(v) == STRATA_TEXT ? node_of(v)->text.at : "";
}

size_t strata_value_count(const struct strata_value *v)
{
    return v != NULL ? node_of(v)->n : 0;
}

const struct strata_value *strata_value_first(const struct strata_value *v)
{
    return v != NULL ? value_of_tree(node_of(v)->first) : NULL;
}

const struct strata_value *strata_value_next(const struct strata_value *v)
{
    return v != NULL ? value_of_tree(node_of(v)->next) : NULL;
}

static const struct tree *item_at(const struct tree *list, struct str index)
{
    const struct tree *item = list->first;
    uint64_t n;

    if (!num_u64(index, &n))
        return NULL;
    while (item != NULL && n-- > 0)
        item = item->next;
    return item;
}

const struct strata_value *strata_value_get(const struct strata_value *v, const char *path)
{
    const struct tree *at = v != NULL ? node_of(v) : NULL;
    struct str rest = path_of(path), key;

    while (at != NULL && str_split(&rest, '.', &key))
        at = at->kind == TREE_LIST ? item_at(at, key) : tree_get(at, key);
    return value_of_tree(at);
}

/* ---- descriptions ---- */

/* The field at `*i` of those that JSON has; counts `*i` down. Members of spliced records stand
 * among them. */
static const struct field *field_at(const struct record *r, size_t *i)
{
    for (size_t k = 0; r != NULL && k < r->n; k++) {
        const struct field *f = &r->fields[k], *inside;
        if (f->shape == SHAPE_SPLICE) {
            if ((inside = field_at(f->record, i)) != NULL)
                return inside;
        } else if (f->key != NULL && (*i)-- == 0) {
            return f;
        }
    }
    return NULL;
}

static const struct field *field_named(const struct record *r, struct str key)
{
    const struct field *f;

    for (size_t i = 0, at = 0; (at = i, f = field_at(r, &at)) != NULL; i++)
        if (str_equal(str_of(f->key), key))
            return f;
    return NULL;
}

/* What the objects at a path are; lists and maps are passed through. NULL: not described. */
static const struct record *record_at(const struct strata_result *r, const char *path)
{
    const struct record *record = r != NULL && r->schema != NULL ? r->schema->record : NULL;
    struct str rest = path_of(path), key;

    while (record != NULL && str_split(&rest, '.', &key)) {
        const struct field *f = field_named(record, key);
        record = f != NULL ? f->record : NULL;
    }
    return record;
}

static enum strata_type value_type_of(const struct field *f)
{
    if (f->scale != 0 || f->form != FORM_PLAIN || f->type == FIELD_F64)
        return STRATA_REAL;
    if (f->type == FIELD_BOOL)
        return STRATA_BOOL;
    if (f->type <= FIELD_U64)
        return STRATA_INT;
    if (f->type <= FIELD_CONST)
        return STRATA_TEXT;
    return f->type == FIELD_OBJECT ? STRATA_RECORD : STRATA_NULL;
}

static enum strata_shape value_shape_of(const struct field *f)
{
    if (f->shape == SHAPE_NAMED || f->shape == SHAPE_KEYED)
        return STRATA_MANY_BY_KEY;
    return f->shape >= SHAPE_LIST ? STRATA_MANY : STRATA_ONE;
}

/* The unit in which JSON has it: keys carry theirs. */
static const char *unit_of(const struct field *f)
{
    static const char *const endings[][2] = {
        {"_ns", "ns"},       {"_us", "us"},       {"_ms", "ms"},
        {"_s", "s"},         {"_bytes", "bytes"}, {"_mb", "MB"},
        {"_share", "ratio"}, {"share", "ratio"},  {"_ratio", "ratio"}};
    struct str key = str_of(f->key);

    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (str_ends(key, str_of(endings[i][0])))
            return endings[i][1];
    if (f->form == FORM_US || f->form == FORM_MS)
        return f->form == FORM_US ? "us" : "ms";
    bool is_time = f->unit == UNIT_NS || f->unit == UNIT_MS || f->unit == UNIT_US;
    if (is_time && f->scale == 0)
        return "ns";
    return f->unit == UNIT_RATIO ? "ratio" : f->unit == UNIT_BYTES ? "bytes" : "";
}

size_t strata_field_count(const struct strata_result *r, const char *path)
{
    const struct record *record = record_at(r, path);
    size_t left = SIZE_MAX;

    field_at(record, &left);
    return SIZE_MAX - left;
}

int strata_field_get(const struct strata_result *r, const char *path, size_t i,
                     struct strata_field *out)
{
    if (r == NULL || out == NULL)
        return STRATA_USAGE;
    const struct field *f = field_at(record_at(r, path), &i);
    if (f == NULL)
        return STRATA_NOT_FOUND;
    *out = (struct strata_field){.name = f->key,
                                 .type = value_type_of(f),
                                 .shape = value_shape_of(f),
                                 .unit = unit_of(f),
                                 .head = f->head != NULL ? f->head : "",
                                 .about = f->about != NULL ? f->about : ""};
    return STRATA_OK;
}
