/*
 * tree - a JSON document as nodes that can be changed and printed again; for perfdb-eval.
 */
#ifndef STRATA_TESTS_PERFDB_TREE_H
#define STRATA_TESTS_PERFDB_TREE_H

#include "base/formats/json_read.h"
#include "base/formats/json_write.h"

struct node {
    enum json_token kind; /* JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, a literal */
    struct str key;       /* of a member */
    struct str text;      /* of a string (UTF-8) or a number */
    struct node *first, *last, *next;
    size_t n;
};

/* NULL when the text is no JSON. */
struct node *node_read(struct arena *arena, struct str text);
void node_print(const struct node *node, struct json_writer *w);

/* The member of that key; NULL when there is none. `node` may be NULL. */
struct node *node_get(const struct node *node, struct str key);
struct node *node_at(const struct node *node, size_t i);

/* Text of a string, digits of a number; empty for everything else and for NULL. */
struct str node_text(const struct node *node);
bool node_is_null(const struct node *node); /* also for NULL */
double node_f64(const struct node *node);
int64_t node_i64(const struct node *node);

/* New values; texts are not copied. */
struct node *node_string(struct arena *arena, struct str text);
struct node *node_number(struct arena *arena, double value);
struct node *node_integer(struct arena *arena, int64_t value);
struct node *node_bool(struct arena *arena, bool value);
struct node *node_null(struct arena *arena);
struct node *node_array(struct arena *arena);
struct node *node_object(struct arena *arena);

/* Appends to an array; sets a member of an object, replacing one of that key in its place. */
void node_push(struct node *array, struct node *value);
void node_set(struct node *object, struct str key, struct node *value);

#endif
