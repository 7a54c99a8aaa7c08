#include "tree.h"

#include "base/formats/json_text.h"

static struct node *make(struct arena *arena, enum json_token kind)
{
    struct node *node = ARENA_NEW(arena, struct node);

    node->kind = kind;
    return node;
}

static void append(struct node *parent, struct node *child)
{
    if (parent->last != NULL)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->n++;
}

static struct str text_of(struct arena *arena, const struct json *j)
{
    return arena_str(arena, j->has_escapes ? json_text(j->text, arena) : j->text);
}

static struct node *read_value(struct arena *arena, struct json *j)
{
    struct node *node = make(arena, json_next(j));
    struct str key;

    switch (node->kind) {
    case JSON_OBJECT:
        while (json_key(j, &key)) {
            struct str name = arena_str(arena, j->has_escapes ? json_text(key, arena) : key);
            struct node *child = read_value(arena, j);
            if (child == NULL)
                return NULL;
            child->key = name;
            append(node, child);
        }
        return j->token == JSON_OBJECT_END ? node : NULL;
    case JSON_ARRAY:
        while (json_element(j)) {
            struct node *child = read_value(arena, j);
            if (child == NULL)
                return NULL;
            append(node, child);
        }
        return j->token == JSON_ARRAY_END ? node : NULL;
    case JSON_STRING:
    case JSON_NUMBER:
        node->text = text_of(arena, j);
        return node;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        return node;
    default:
        return NULL;
    }
}

struct node *node_read(struct arena *arena, struct str text)
{
    struct json *j = ARENA_NEW(arena, struct json);

    json_open(j, text, JSON_STRICT);
    return read_value(arena, j);
}

void node_print(const struct node *node, struct json_writer *w)
{
    switch (node->kind) {
    case JSON_OBJECT:
        json_write_object(w);
        for (const struct node *c = node->first; c != NULL; c = c->next) {
            json_write_key(w, c->key);
            node_print(c, w);
        }
        json_write_end(w);
        break;
    case JSON_ARRAY:
        json_write_array(w);
        for (const struct node *c = node->first; c != NULL; c = c->next)
            node_print(c, w);
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
        break;
    }
}

struct node *node_get(const struct node *node, struct str key)
{
    if (node == NULL || node->kind != JSON_OBJECT)
        return NULL;
    for (struct node *c = node->first; c != NULL; c = c->next)
        if (str_equal(c->key, key))
            return c;
    return NULL;
}

struct node *node_at(const struct node *node, size_t i)
{
    struct node *c = node != NULL && node->kind == JSON_ARRAY ? node->first : NULL;

    while (c != NULL && i-- > 0)
        c = c->next;
    return c;
}

struct str node_text(const struct node *node)
{
    bool has_text = node != NULL && (node->kind == JSON_STRING || node->kind == JSON_NUMBER);

    return has_text ? node->text : S("");
}

bool node_is_null(const struct node *node)
{
    return node == NULL || node->kind == JSON_NULL;
}

double node_f64(const struct node *node)
{
    double value = 0;

    num_f64(node_text(node), &value);
    return value;
}

int64_t node_i64(const struct node *node)
{
    int64_t value = 0;

    if (!num_i64(node_text(node), &value))
        value = (int64_t)node_f64(node);
    return value;
}

struct node *node_string(struct arena *arena, struct str text)
{
    struct node *node = make(arena, JSON_STRING);

    node->text = text;
    return node;
}

struct node *node_number(struct arena *arena, double value)
{
    struct node *node = make(arena, JSON_NUMBER);
    char buf[NUM_TEXT];
    size_t n = num_print_f64(buf, value);

    node->text = arena_str(arena, (struct str){buf, n});
    return node;
}

struct node *node_integer(struct arena *arena, int64_t value)
{
    struct node *node = make(arena, JSON_NUMBER);

    node->text = arena_format(arena, "%lld", (long long)value);
    return node;
}

struct node *node_bool(struct arena *arena, bool value)
{
    return make(arena, value ? JSON_TRUE : JSON_FALSE);
}

struct node *node_null(struct arena *arena)
{
    return make(arena, JSON_NULL);
}

struct node *node_array(struct arena *arena)
{
    return make(arena, JSON_ARRAY);
}

struct node *node_object(struct arena *arena)
{
    return make(arena, JSON_OBJECT);
}

void node_push(struct node *array, struct node *value)
{
    append(array, value);
}

void node_set(struct node *object, struct str key, struct node *value)
{
    struct node *there = node_get(object, key);

    value->key = key;
    if (there == NULL) {
        append(object, value);
        return;
    }
    struct node *next = there->next;
    *there = *value;
    there->next = next;
}
