/*
 * opt_model - the options that name a model, for the commands that derive its operators.
 */
#ifndef STRATA_CLI_DB_OPT_MODEL_H
#define STRATA_CLI_DB_OPT_MODEL_H

#include "cli/session.h"
#include "opdb/grid/grid_run.h"

struct opt_model {
    const char *model, *config;
};

#define OPT_MODEL(type, member)                                                                    \
    OPT_GROUP("Model"),                                                                            \
        OPT_STRING(0, "model", "NAME", type, member.model, "model by name, such as qwen3-8b"),     \
        OPT_STRING(0, "config", "FILE", type, member.config,                                       \
                   "config.json of a model not built in"),                                         \
        OPT_STRING(0, "model-config", "FILE", type, member.config, "same as --config")

/* CODE_DONE, or the code of what is wrong. The model lives as long as `run`, which the caller
 * closes. */
int opt_model_find(struct session *s, const struct opt_model *args, struct grid_run *run,
                   const struct grid_model **out);

/* CODE_DONE when the cards share heads and experts evenly, else a usage error. */
int opt_model_check(struct session *s, const struct grid_model *model, int64_t tp, int64_t ep);

/* Layers of a model by its configuration or its name; 0: unknown. */
int64_t opt_model_layers(const struct grid_model *model);

/* "1,8,32"; false for what is no list of numbers from 1 to a million. */
bool opt_model_numbers(struct session *s, const char *text, const int64_t **out, size_t *n);

#endif
