/*
 * tree - a small JSON document as a tree in an arena: for spec files and the files of a run, which
 * have kilobytes, not for traces.
 */
#ifndef STRATA_GPU_TREE_H
#define STRATA_GPU_TREE_H

#include "base/diag.h"
#include "base/json_read.h"
#include "base/json_write.h"

enum { GPU_TREE_DEPTH = 64, GPU_TREE_NODES = 1 << 22 };

/* Members of objects and elements of arrays are a list. */
struct gpu_node {
    enum json_token kind; /* JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_TRUE, … */
    struct str key;       /* of a member */
    struct str text;      /* of a string (UTF-8), or of a number as written */
    struct gpu_node *first, *next;
};

/* Reads strict JSON; `path` is for messages. Nothing of `text` is kept. */
enum status gpu_tree_read(struct arena *arena, const char *path, struct str text,
                          struct gpu_node **out, struct diag *d);

/* Reads a file of at most 256 MB. */
enum status gpu_tree_load(struct arena *arena, const char *path, struct gpu_node **out,
                          struct diag *d);

/* The member of that name, the last one when several have it; NULL when there is none or `node` is
 * no object. Both take NULL. */
const struct gpu_node *gpu_tree_get(const struct gpu_node *node, const char *key);

/* A string or a number as text; empty for anything else. */
struct str gpu_tree_text(const struct gpu_node *node);

/* A number; NAN for anything else, null included. */
double gpu_tree_number(const struct gpu_node *node);

/* Writes the value as it was read; numbers keep their digits. */
void gpu_tree_put(struct json_writer *w, const struct gpu_node *node);

#endif
