/*
 * opt_model - the options that name a model, its types and how it lies on cards.
 */
#ifndef STRATA_CLI_DB_OPT_MODEL_H
#define STRATA_CLI_DB_OPT_MODEL_H

#include "cli/session.h"
#include "ops/model_calls.h"

struct opt_model {
    const char *model, *config, *quant;
    int64_t layers, vocab; /* 0: as the model has them */
};

#define OPT_MODEL(type, member)                                                                    \
    OPT_GROUP("Model"),                                                                            \
        OPT_STRING(0, "model", "NAME", type, member.model, "model by name, such as qwen3-8b"),     \
        OPT_STRING(0, "config", "FILE", type, member.config,                                       \
                   "config.json of a model, or its folder"),                                       \
        OPT_STRING(0, "model-config", "FILE", type, member.config, "same as --config"),            \
        OPT_STRING(0, "quant", "TYPES", type, member.quant,                                        \
                   "types: gemm=fp8,moe=nvfp4,kv=fp8,comm=bf16"),                                  \
        OPT_INT(0, "vocab", "N", type, member.vocab, 1, 1 << 24,                                   \
                "vocabulary size (default: that of the model)")

/* CODE_DONE, or the code of what is wrong. */
int opt_model_find(struct session *s, const struct opt_model *args, struct llm *out);

/* Sizes of parallelism; 0: not given. */
struct opt_layout {
    int64_t tp, pp, dp, ep, expert_tp;
};

#define OPT_LAYOUT(type, member)                                                                   \
    OPT_INT(0, "tp", "N", type, member.tp, 1, 1024, "tensor-parallel size (default: 1)"),          \
        OPT_INT(0, "pp", "N", type, member.pp, 1, 1024, "pipeline stages (default: 1)"),           \
        OPT_INT(0, "dp", "N", type, member.dp, 1, 65536,                                           \
                "groups with a batch each (default: what --ep needs)"),                            \
        OPT_INT(0, "ep", "N", type, member.ep, 1, 65536, "expert-parallel size (default: 1)"),     \
        OPT_INT(0, "moe-tp", "N", type, member.expert_tp, 1, 1024,                                 \
                "cards that share an expert (default: tp x dp / ep)")

/* The layout: what is not given follows from tp x dp = moe-tp x ep. A usage error when the model
 * cannot be laid out so. */
int opt_layout_find(struct session *s, const struct opt_layout *args, const struct llm *m,
                    struct model_layout *out);

/* "1,8,32"; false for what is no list of numbers from 1 to a million. */
bool opt_model_numbers(struct session *s, const char *text, const int64_t **out, size_t *n);

#endif
