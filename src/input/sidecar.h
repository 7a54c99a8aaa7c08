/*
 * sidecar - small helps for importers of JSON documents that are nested objects.
 */
#ifndef STRATA_INPUT_SIDECAR_H
#define STRATA_INPUT_SIDECAR_H

#include "base/formats/json_read.h"
#include "input/import.h"

/* Goes into the object or list that comes; anything else is stepped over and gives false. */
bool sidecar_enter(struct json *j);
bool sidecar_enter_list(struct json *j);

/* Takes the value that comes as text; objects and arrays are stepped over and give false. */
bool sidecar_value(struct json *j, struct str *value);

/* The key or string `text`, which was read last, interned. */
strid sidecar_intern(struct capture *cap, const struct json *j, struct str text);

/* "step50" of a document by steps is "50"; "step" is 0. */
strid sidecar_step(struct capture *cap, struct str key);

/* "name@group" in two; without '@' the group is empty. */
void sidecar_split(struct str key, struct str *name, struct str *group);

/* Counts damage that ended a document early as a loss. */
void sidecar_damaged(struct import *i, const struct json *j, const char *code);

/* The document begins as an object whose first key begins with `key`. */
bool sidecar_begins(struct str head, struct str key);

/* The same for the sums over many ranks: a sort of collectives, or the ranks of a group. */
bool sidecar_begins_cluster(struct str head);

#endif
