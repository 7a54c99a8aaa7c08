/*
 * libyaml's parser delivers events; a stack of the open lists and maps turns them into the tree,
 * so neither libyaml nor we recurse, and too deep a file stops at the event that is too deep.
 */
#include "base/formats/yaml.h"

#include <yaml.h>

#include "base/files/mapfile.h"
#include "base/limits.h"
#include "base/tables/hash.h"

/* A list or map whose end has not come yet. */
struct open_node {
    struct tree *node;
    struct str key; /* of a map: waits for its value */
    bool has_key;
    uint64_t id; /* tells the keys of one map from another's */
};

struct reading {
    struct arena *arena;
    struct diag *diag;
    const char *path;
    yaml_parser_t parser;
    struct tree *root;
    struct open_node stack[LIMIT_YAML_DEPTH];
    size_t depth;
    uint64_t maps;
    struct hash keys; /* hash of map id and key: suspects of being given twice */
};

static enum status yaml_refuse(const struct reading *r, enum status status, const char *code,
                               yaml_mark_t mark, const char *what)
{
    return diag_fail(r->diag, status, code, (struct where){.path = r->path, .line = mark.line + 1},
                     "column %zu: %s", mark.column + 1, what);
}

static enum status syntax_error(const struct reading *r)
{
    const yaml_parser_t *p = &r->parser;

    if (p->error == YAML_MEMORY_ERROR)
        return diag_fail(r->diag, ST_LIMIT, "yaml.syntax", (struct where){.path = r->path},
                         "too large for memory");
    /* The encoding layer knows an offset only, and only the line it has reached. */
    if (p->error == YAML_READER_ERROR)
        return diag_fail(r->diag, ST_FORMAT, "yaml.syntax",
                         (struct where){.path = r->path, .byte = p->problem_offset + 1},
                         "byte %zu: %s", p->problem_offset + 1, p->problem);
    return yaml_refuse(r, ST_FORMAT, "yaml.syntax", p->problem_mark, p->problem);
}

static bool is_key_taken(struct reading *r, const struct open_node *map, struct str key)
{
    uint64_t hash = hash_mix(hash_bytes(key), map->id);
    size_t before = r->keys.n;

    hash_add(&r->keys, hash, 1);
    if (r->keys.n > before)
        return false;
    for (const struct tree *c = map->node->first; c != NULL; c = c->next)
        if (str_equal(c->key, key))
            return true;
    return false;
}

/* A new node under the innermost open one, or the root. */
static struct tree *attach(struct reading *r, const yaml_event_t *e, enum tree_kind kind)
{
    struct open_node *parent = r->depth > 0 ? &r->stack[r->depth - 1] : NULL;
    struct tree *node =
        parent != NULL ? tree_add(r->arena, parent->node) : ARENA_NEW(r->arena, struct tree);

    node->kind = kind;
    node->line = e->start_mark.line + 1;
    if (parent == NULL) {
        r->root = node;
    } else {
        node->key = parent->key;
        parent->key = (struct str){0};
        parent->has_key = false;
    }
    return node;
}

static bool wants_key(const struct reading *r)
{
    const struct open_node *top = r->depth > 0 ? &r->stack[r->depth - 1] : NULL;

    return top != NULL && top->node->kind == TREE_MAP && !top->has_key;
}

static enum status on_text(struct reading *r, const yaml_event_t *e)
{
    struct str text = {(const char *)e->data.scalar.value, e->data.scalar.length};

    if (wants_key(r)) {
        struct open_node *map = &r->stack[r->depth - 1];
        if (is_key_taken(r, map, text))
            return yaml_refuse(r, ST_FORMAT, "yaml.duplicate-key", e->start_mark,
                               "key given twice");
        map->key = arena_str(r->arena, text);
        map->has_key = true;
        return ST_OK;
    }
    struct tree *node = attach(r, e, TREE_TEXT);
    node->is_quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = arena_str(r->arena, text);
    return ST_OK;
}

static enum status on_open(struct reading *r, const yaml_event_t *e, enum tree_kind kind)
{
    if (wants_key(r))
        return yaml_refuse(r, ST_UNSUPPORTED, "yaml.unsupported", e->start_mark,
                           "a key must be plain text");
    if (r->depth == LIMIT_YAML_DEPTH)
        return yaml_refuse(r, ST_LIMIT, "yaml.depth", e->start_mark, "nested too deeply");
    struct tree *node = attach(r, e, kind);
    r->stack[r->depth++] = (struct open_node){.node = node, .id = r->maps++};
    return ST_OK;
}

static enum status check_properties(const struct reading *r, const yaml_event_t *e,
                                    const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL)
        return yaml_refuse(r, ST_UNSUPPORTED, "yaml.alias", e->start_mark,
                           "anchors are not supported");
    if (tag != NULL)
        return yaml_refuse(r, ST_UNSUPPORTED, "yaml.unsupported", e->start_mark,
                           "tags are not supported");
    return ST_OK;
}

static enum status on_event(struct reading *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        TRY(check_properties(r, e, e->data.scalar.anchor, e->data.scalar.tag));
        return on_text(r, e);
    case YAML_SEQUENCE_START_EVENT:
        TRY(check_properties(r, e, e->data.sequence_start.anchor, e->data.sequence_start.tag));
        return on_open(r, e, TREE_LIST);
    case YAML_MAPPING_START_EVENT:
        TRY(check_properties(r, e, e->data.mapping_start.anchor, e->data.mapping_start.tag));
        return on_open(r, e, TREE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return ST_OK;
    case YAML_ALIAS_EVENT:
        return yaml_refuse(r, ST_UNSUPPORTED, "yaml.alias", e->start_mark,
                           "aliases are not supported");
    case YAML_DOCUMENT_START_EVENT:
        if (r->root != NULL)
            return yaml_refuse(r, ST_UNSUPPORTED, "yaml.unsupported", e->start_mark,
                               "only one document is read");
        return ST_OK;
    default:
        return ST_OK;
    }
}

static enum status yaml_read_events(struct reading *r)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return syntax_error(r);
        bool is_end = event.type == YAML_STREAM_END_EVENT;
        enum status st = on_event(r, &event);
        yaml_event_delete(&event);
        if (is_end || st != ST_OK)
            return st;
    }
}

enum status yaml_read(struct arena *arena, struct str text, const char *path,
                      const struct tree **root, struct diag *d)
{
    struct reading r = {.arena = arena, .diag = d, .path = path};

    *root = NULL;
    if (text.n > LIMIT_YAML_BYTES)
        return diag_fail(d, ST_LIMIT, "yaml.size", (struct where){.path = path},
                         "larger than %d bytes", LIMIT_YAML_BYTES);
    if (!yaml_parser_initialize(&r.parser))
        return syntax_error(&r);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text.n > 0 ? text.at : ""),
                                 text.n);
    enum status st = yaml_read_events(&r);
    yaml_parser_delete(&r.parser);
    hash_free(&r.keys);
    if (st != ST_OK)
        return st;
    if (r.root == NULL) {
        r.root = ARENA_NEW(arena, struct tree);
        r.root->kind = TREE_TEXT;
        r.root->text = S("");
        r.root->line = 1;
    }
    *root = r.root;
    return ST_OK;
}

bool yaml_is_null(const struct tree *node)
{
    return node == NULL || (node->kind == TREE_TEXT && !node->is_quoted &&
                            (node->text.n == 0 || str_equal(node->text, S("~")) ||
                             str_equal(node->text, S("null"))));
}

enum status yaml_read_file(struct arena *arena, const char *path, const struct tree **root,
                           struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    enum status st = yaml_read(arena, map.text, path, root, d);
    mapfile_close(&map);
    return st;
}
