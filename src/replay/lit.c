#include "replay/lit.h"

#include "base/json_read.h"
#include "base/num.h"

struct reader {
    struct json json;
    struct str text;
    uint64_t seen, line; /* values come in order: lines are counted once */
    struct arena *arena;
    const char *path;
    struct diag *diag;
};

static uint64_t line_of_next(struct reader *r)
{
    uint64_t offset = json_offset(&r->json);

    for (; r->seen < offset && r->seen < r->text.n; r->seen++)
        r->line += r->text.at[r->seen] == '\n';
    return r->line;
}

static struct where here(const struct reader *r, uint64_t offset)
{
    struct where where = {.path = r->path};
    uint64_t column;

    json_line(&r->json, offset, &where.line, &column);
    return where;
}

static enum status bad(const struct reader *r)
{
    const struct json *j = &r->json;

    if (j->token == JSON_ERROR)
        return diag_fail(r->diag, j->status, "replay.bad-json", here(r, j->error_at), "%s",
                         j->error);
    return diag_fail(r->diag, ST_FORMAT, "replay.bad-json", here(r, json_offset(j)),
                     "the text ends inside the document");
}

static void take_number(struct str text, struct lit *out)
{
    uint64_t big;
    bool is_whole = true;

    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] == '.' || text.at[i] == 'e' || text.at[i] == 'E')
            is_whole = false;
    out->kind = LIT_INT;
    if (is_whole && num_i64(text, &out->i))
        return;
    if (is_whole && num_u64(text, &big)) {
        out->i = (int64_t)big;
        out->is_unsigned = true;
        return;
    }
    out->kind = !is_whole && num_f64(text, &out->f) ? LIT_FLOAT : LIT_COMPUTED;
}

struct items {
    VEC_OF(struct lit) keys;
    VEC_OF(struct lit) values;
};

/* Moves what was gathered into the arena. */
static void keep(struct reader *r, struct items *items, struct lit *out)
{
    out->n = items->values.n;
    out->at = ARENA_ARRAY(r->arena, struct lit, out->n);
    if (out->n > 0)
        memcpy(out->at, items->values.at, out->n * sizeof(*out->at));
    if (out->kind == LIT_DICT) {
        out->keys = ARENA_ARRAY(r->arena, struct lit, out->n);
        if (out->n > 0)
            memcpy(out->keys, items->keys.at, out->n * sizeof(*out->keys));
    }
    vec_free(&items->keys);
    vec_free(&items->values);
}

static enum status take_value(struct reader *r, int depth, struct lit *out);

static enum status take_dict(struct reader *r, int depth, struct lit *out)
{
    struct items items = {0};
    enum status st = ST_OK;
    struct str key;

    out->kind = LIT_DICT;
    while (st == ST_OK && json_key(&r->json, &key)) {
        struct lit value = {0}, name = {.kind = LIT_STRING};
        name.text = arena_str(r->arena, json_text(key, r->arena));
        st = take_value(r, depth + 1, &value);
        vec_push(&items.keys, name);
        vec_push(&items.values, value);
    }
    keep(r, &items, out);
    return st != ST_OK ? st : r->json.token == JSON_OBJECT_END ? ST_OK : bad(r);
}

static enum status take_list(struct reader *r, int depth, struct lit *out)
{
    struct items items = {0};
    enum status st = ST_OK;

    out->kind = LIT_LIST;
    while (st == ST_OK && json_element(&r->json)) {
        struct lit value = {0};
        st = take_value(r, depth + 1, &value);
        vec_push(&items.values, value);
    }
    keep(r, &items, out);
    return st != ST_OK ? st : r->json.token == JSON_ARRAY_END ? ST_OK : bad(r);
}

static enum status take_value(struct reader *r, int depth, struct lit *out)
{
    *out = (struct lit){.line = line_of_next(r)};
    if (depth > LIT_DEPTH)
        return diag_fail(r->diag, ST_LIMIT, "replay.bad-json", here(r, json_offset(&r->json)),
                         "nested deeper than %d levels", LIT_DEPTH);
    switch (json_next(&r->json)) {
    case JSON_OBJECT:
        return take_dict(r, depth, out);
    case JSON_ARRAY:
        return take_list(r, depth, out);
    case JSON_STRING:
        out->kind = LIT_STRING;
        out->text = arena_str(r->arena, json_text(r->json.text, r->arena));
        return ST_OK;
    case JSON_NUMBER:
        take_number(r->json.text, out);
        return ST_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        out->kind = LIT_BOOL;
        out->i = r->json.token == JSON_TRUE;
        return ST_OK;
    case JSON_NULL:
        return ST_OK;
    default:
        return bad(r);
    }
}

enum status lit_read_json(struct arena *arena, struct str text, const char *path, struct lit *out,
                          struct diag *d)
{
    struct reader r = {.arena = arena, .path = path, .diag = d, .line = 1};

    if (str_starts(text, S("\xef\xbb\xbf")))
        text = str_part(text, 3, text.n);
    r.text = text;
    json_open(&r.json, text, JSON_STRICT);
    TRY(take_value(&r, 0, out));
    return json_next(&r.json) == JSON_END ? ST_OK : bad(&r);
}

const struct lit *lit_get(const struct lit *dict, struct str key)
{
    if (dict == NULL || dict->kind != LIT_DICT)
        return NULL;
    for (size_t i = dict->n; i-- > 0;)
        if (dict->keys[i].kind == LIT_STRING && str_equal(dict->keys[i].text, key))
            return &dict->at[i];
    return NULL;
}

struct str lit_text(const struct lit *value)
{
    return value != NULL && value->kind == LIT_STRING ? value->text : (struct str){"", 0};
}

bool lit_int(const struct lit *value, int64_t *out)
{
    if (value == NULL || value->is_unsigned || (value->kind != LIT_INT && value->kind != LIT_BOOL))
        return false;
    *out = value->i;
    return true;
}

bool lit_number(const struct lit *value, double *out)
{
    if (value == NULL || (value->kind != LIT_INT && value->kind != LIT_FLOAT))
        return false;
    *out = value->kind == LIT_FLOAT ? value->f
           : value->is_unsigned     ? (double)(uint64_t)value->i
                                    : (double)value->i;
    return true;
}
