#include "gpu/tree.h"

#include <math.h>

#include "base/mapfile.h"
#include "base/num.h"

struct builder {
    struct arena *arena;
    struct json json;
    size_t nodes;
    bool is_too_much;
};

static struct gpu_node *build(struct builder *b, size_t depth);

static void build_members(struct builder *b, struct gpu_node *node, size_t depth)
{
    struct gpu_node **tail = &node->first;
    struct str key;

    while (node->kind == JSON_OBJECT ? json_key(&b->json, &key) : json_element(&b->json)) {
        struct str name = {"", 0};
        if (node->kind == JSON_OBJECT)
            name = arena_str(b->arena, json_text(key, b->arena));
        struct gpu_node *child = build(b, depth + 1);
        if (child == NULL)
            return;
        child->key = name;
        *tail = child;
        tail = &child->next;
    }
}

/* The value that comes; NULL when reading stops. */
static struct gpu_node *build(struct builder *b, size_t depth)
{
    struct gpu_node *node = ARENA_NEW(b->arena, struct gpu_node);

    if (depth > GPU_TREE_DEPTH || ++b->nodes > GPU_TREE_NODES) {
        b->is_too_much = true;
        return NULL;
    }
    node->kind = json_next(&b->json);
    switch (node->kind) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        build_members(b, node, depth);
        if (b->is_too_much ||
            b->json.token != (node->kind == JSON_OBJECT ? JSON_OBJECT_END : JSON_ARRAY_END))
            return NULL;
        return node;
    case JSON_STRING:
        node->text = arena_str(b->arena, json_text(b->json.text, b->arena));
        return node;
    case JSON_NUMBER:
        node->text = arena_str(b->arena, b->json.text);
        return node;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return node;
    default:
        return NULL;
    }
}

enum status gpu_tree_read(struct arena *arena, const char *path, struct str text,
                          struct gpu_node **out, struct diag *d)
{
    struct builder *b = ARENA_NEW(arena, struct builder);
    uint64_t line = 0, column = 0;

    b->arena = arena;
    json_open(&b->json, text, JSON_STRICT);
    *out = build(b, 0);
    if (b->is_too_much)
        return diag_fail(d, ST_LIMIT, "gpu.json-too-deep", (struct where){.path = path},
                         "nested deeper than %d levels, or more than %d values", GPU_TREE_DEPTH,
                         GPU_TREE_NODES);
    if (*out != NULL && json_next(&b->json) == JSON_END)
        return ST_OK;
    *out = NULL;
    json_line(&b->json, b->json.error_at, &line, &column);
    return diag_fail(d, ST_FORMAT, "gpu.bad-json", (struct where){.path = path, .line = line},
                     "not JSON: %s", b->json.error != NULL ? b->json.error : "the text is cut");
}

enum status gpu_tree_load(struct arena *arena, const char *path, struct gpu_node **out,
                          struct diag *d)
{
    struct mapfile map;

    *out = NULL;
    TRY(mapfile_open(&map, path, d));
    enum status st = map.text.n > LIMIT_RECORD_BYTES
                         ? diag_fail(d, ST_LIMIT, "gpu.json-too-deep", (struct where){.path = path},
                                     "the file is too large")
                         : gpu_tree_read(arena, path, map.text, out, d);
    mapfile_close(&map);
    return st;
}

const struct gpu_node *gpu_tree_get(const struct gpu_node *node, const char *key)
{
    const struct gpu_node *found = NULL;

    if (node == NULL || node->kind != JSON_OBJECT)
        return NULL;
    for (const struct gpu_node *m = node->first; m != NULL; m = m->next)
        if (str_equal(m->key, str_of(key)))
            found = m;
    return found;
}

struct str gpu_tree_text(const struct gpu_node *node)
{
    if (node == NULL || (node->kind != JSON_STRING && node->kind != JSON_NUMBER))
        return (struct str){"", 0};
    return node->text;
}

double gpu_tree_number(const struct gpu_node *node)
{
    double value = (double)NAN;

    if (node == NULL || node->kind != JSON_NUMBER || !num_f64(node->text, &value))
        return (double)NAN;
    return value;
}

void gpu_tree_put(struct json_writer *w, const struct gpu_node *node)
{
    switch (node->kind) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        node->kind == JSON_OBJECT ? json_write_object(w) : json_write_array(w);
        for (const struct gpu_node *m = node->first; m != NULL; m = m->next) {
            if (node->kind == JSON_OBJECT)
                json_write_key(w, m->key);
            gpu_tree_put(w, m);
        }
        json_write_end(w);
        break;
    case JSON_STRING:
        json_write_string(w, node->text);
        break;
    case JSON_NUMBER:
        json_write_number(w, node->text);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        json_write_bool(w, node->kind == JSON_TRUE);
        break;
    default:
        json_write_null(w);
    }
}
