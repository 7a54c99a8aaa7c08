/*
 * model_in - for model*.c alone: a configuration while it is read.
 */
#ifndef STRATA_OPS_MODEL_IN_H
#define STRATA_OPS_MODEL_IN_H

#include "base/tables/tree.h"
#include "ops/model.h"

struct model_config {
    struct arena *arena;
    const char *path;
    const struct tree *top, *config; /* the file; what describes the language model */
    struct llm *m;
    struct diag *d;
    enum status status; /* of the first failure */
};

/* What is wrong with the file; the first time counts. */
void model_fail(struct model_config *r, const struct tree *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Values: JSON has types, in YAML all is text. */
bool model_is_null(const struct tree *node);
bool model_number(const struct tree *node, int64_t *out);
bool model_bool(const struct tree *node);

/* A member that is not null; NULL: none. And whether it is true. */
const struct tree *model_key(const struct model_config *r, const char *key);
bool model_flag(const struct model_config *r, const char *key);

/* The first of the names that has a value, as a size; `otherwise` when none has. */
int64_t model_first(struct model_config *r, int64_t otherwise, const char *const *names);
#define SIZE_OR(r, otherwise, ...)                                                                 \
    model_first((r), (otherwise), (const char *const[]){__VA_ARGS__, NULL})
#define SIZE_OF(r, ...) SIZE_OR(r, 0, __VA_ARGS__)

/* Fails for a size that is not there. */
int64_t model_needed(struct model_config *r, int64_t value, const char *key);

/* Fails for a key that changes the structure and is not understood. */
void model_check_keys(struct model_config *r, const struct tree *map);

/* Kinds of the layers, their windows, and which of them choose keys; sizes of the whole are known.
 */
void model_read_layers(struct model_config *r);

#endif
