/* The nodes of a tree of values, and the reader for JSON. */
#include "base/tables/tree.h"

#include "base/formats/json_read.h"
#include "base/text/num.h"

struct tree *tree_add(struct arena *arena, struct tree *parent)
{
    struct tree *node = ARENA_NEW(arena, struct tree);

    if (parent->last == NULL)
        parent->first = node;
    else
        parent->last->next = node;
    parent->last = node;
    parent->n++;
    return node;
}

struct reader {
    struct json json;
    struct str text;
    uint64_t seen, line; /* values come in order: lines are counted once */
    struct arena *arena;
    size_t nodes;
    struct tree_error *error;
};

static bool tree_fail(struct reader *r, enum status status, uint64_t offset, const char *what)
{
    uint64_t column;

    r->error->status = status;
    r->error->what = what;
    json_line(&r->json, offset, &r->error->line, &column);
    return false;
}

static bool bad(struct reader *r)
{
    const struct json *j = &r->json;

    if (j->token == JSON_ERROR)
        return tree_fail(r, j->status, j->error_at, j->error);
    return tree_fail(r, ST_FORMAT, json_offset(j), "unexpected end of text");
}

bool tree_parse_number(struct tree *out, struct str text)
{
    bool is_whole = true;
    uint64_t big;

    for (size_t i = 0; i < text.n; i++)
        is_whole = is_whole && text.at[i] != '.' && text.at[i] != 'e' && text.at[i] != 'E';
    out->text = text;
    out->kind = is_whole ? TREE_INT : TREE_REAL;
    if (is_whole ? num_i64(text, &out->i) : num_f64(text, &out->f))
        return true;
    out->is_unsigned = is_whole && num_u64(text, &big);
    if (out->is_unsigned)
        out->i = (int64_t)big;
    else
        out->kind = TREE_HUGE;
    return out->is_unsigned;
}

static bool read_value(struct reader *r, int depth, struct tree *out);

static bool read_members(struct reader *r, int depth, struct tree *out)
{
    bool is_map = r->json.token == JSON_OBJECT;
    struct str key = {0};

    out->kind = is_map ? TREE_MAP : TREE_LIST;
    while (is_map ? json_key(&r->json, &key) : json_element(&r->json)) {
        struct tree *child = tree_add(r->arena, out);
        if (is_map)
            child->key = arena_str(r->arena, json_text(key, r->arena));
        if (!read_value(r, depth + 1, child))
            return false;
    }
    return r->json.token == (is_map ? JSON_OBJECT_END : JSON_ARRAY_END) || bad(r);
}

/* The line is counted on from the last value, so that a long file is gone through once. */
static bool read_value(struct reader *r, int depth, struct tree *out)
{
    uint64_t offset = json_offset(&r->json);

    for (; r->seen < offset && r->seen < r->text.n; r->seen++)
        r->line += r->text.at[r->seen] == '\n';
    out->line = r->line;
    if (depth > TREE_DEPTH || ++r->nodes > TREE_NODES)
        return tree_fail(r, ST_LIMIT, offset, "nested deeper than 64 levels");
    switch (json_next(&r->json)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return read_members(r, depth, out);
    case JSON_STRING:
        out->kind = TREE_TEXT;
        out->text = arena_str(r->arena, json_text(r->json.text, r->arena));
        return true;
    case JSON_NUMBER:
        tree_parse_number(out, arena_str(r->arena, r->json.text));
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        out->kind = TREE_BOOL;
        out->i = r->json.token == JSON_TRUE;
        return true;
    case JSON_NULL:
        return true;
    default:
        return bad(r);
    }
}

const struct tree *tree_read_json(struct arena *arena, struct str text, struct tree_error *error)
{
    struct reader *r = ARENA_NEW(arena, struct reader);
    struct tree *root = ARENA_NEW(arena, struct tree);

    str_skip(&text, S("\xef\xbb\xbf"));
    r->arena = arena;
    r->error = error;
    r->text = text;
    r->line = 1;
    json_open(&r->json, text, JSON_STRICT);
    if (!read_value(r, 0, root))
        return NULL;
    return json_next(&r->json) == JSON_END || bad(r) ? root : NULL;
}

const struct tree *tree_get(const struct tree *map, struct str key)
{
    const struct tree *found = NULL;

    if (map == NULL || map->kind != TREE_MAP)
        return NULL;
    for (const struct tree *m = map->first; m != NULL; m = m->next)
        if (m->key.at != NULL && str_equal(m->key, key))
            found = m;
    return found;
}

const struct tree *tree_items(const struct tree *list)
{
    return list != NULL && list->kind == TREE_LIST ? list->first : NULL;
}

struct str tree_text(const struct tree *node)
{
    return node != NULL && node->kind == TREE_TEXT ? node->text : S("");
}

struct str tree_word(const struct tree *node)
{
    return tree_is_number(node) ? node->text : tree_text(node);
}

struct str tree_get_text(const struct tree *map, struct str key, struct str otherwise)
{
    const struct tree *member = tree_get(map, key);

    return member != NULL && member->kind == TREE_TEXT ? member->text : otherwise;
}

bool tree_is_number(const struct tree *node)
{
    return node != NULL &&
           (node->kind == TREE_INT || node->kind == TREE_REAL || node->kind == TREE_HUGE);
}

double tree_number(const struct tree *node)
{
    double value = NAN;

    if (!tree_is_number(node))
        return NAN;
    if (node->kind == TREE_HUGE)
        return num_f64(node->text, &value) ? value : NAN;
    if (node->kind == TREE_REAL)
        return node->f;
    return node->is_unsigned ? (double)(uint64_t)node->i : (double)node->i;
}

bool tree_int(const struct tree *node, int64_t *out)
{
    if (node == NULL || node->is_unsigned || (node->kind != TREE_INT && node->kind != TREE_BOOL))
        return false;
    *out = node->i;
    return true;
}

void tree_put(struct json_writer *w, const struct tree *node)
{
    switch (node->kind) {
    case TREE_MAP:
    case TREE_LIST:
        node->kind == TREE_MAP ? json_write_object(w) : json_write_array(w);
        for (const struct tree *m = node->first; m != NULL; m = m->next) {
            if (node->kind == TREE_MAP)
                json_write_key(w, m->key);
            tree_put(w, m);
        }
        json_write_end(w);
        break;
    case TREE_TEXT:
    case TREE_NAME:
        json_write_string(w, node->text);
        break;
    case TREE_INT:
    case TREE_REAL:
    case TREE_HUGE:
        json_write_number(w, node->text);
        break;
    case TREE_BOOL:
        json_write_bool(w, node->i != 0);
        break;
    default:
        json_write_null(w);
    }
}
