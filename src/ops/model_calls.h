/*
 * model_calls - what one card computes, moves and stores in one step of a model: THE table from a
 * model to calls of operators.
 *
 * Everything about a model is counted here and nowhere else: parameters (model_size() adds up these
 * calls), memory, rows worth measuring, times of steps. Sizes are those of one card. Tokens are
 * real numbers, for a step may be the mean of many.
 *
 * Parallelism: tp cards share the heads and widths of a layer, dp such groups share the batch, so
 * tp x dp cards hold a layer; the experts lie on the same cards, in ep groups of expert_tp cards.
 * pp stages follow one another.
 */
#ifndef STRATA_OPS_MODEL_CALLS_H
#define STRATA_OPS_MODEL_CALLS_H

#include "base/tables/tree.h"
#include "ops/model.h"

struct model_layout {
    int64_t tp, pp, dp;
    int64_t expert_tp, ep;
    int64_t redundant; /* copies of experts that each card holds besides its own */
};

/* One card. */
struct model_layout model_layout_one(void);

/* Why a model cannot be laid out so; empty: it can. In the arena. */
struct str model_layout_refuse(struct arena *arena, const struct llm *m,
                               const struct model_layout *l, const struct model_types *types);

/* The work of a step of one data-parallel group. */
struct model_load {
    double decodes; /* sequences that put out one more token */
    double keys;    /* of each, mean; the cache holds them */
    double drafts;  /* tokens that each of them checks besides */
    double prompts; /* sequences whose prompts are computed */
    double queries; /* tokens of each; a part of a prompt is less than one sequence */
    double context; /* tokens of each that the cache holds already */
    double emits;   /* rows of the head; 0: the decodes with their drafts, and the prompts */
};

double model_load_tokens(const struct model_load *l);

enum model_op {
    MODEL_EMBED,    /* rows, columns: of the table, m of them picked */
    MODEL_NORM,     /* m x n */
    MODEL_ADD_NORM, /* the same of a sum */
    MODEL_PRODUCT,  /* m x k by k x n */
    MODEL_HEADS,    /* m x n: queries (`units` columns), keys and values parted, normed, rotated */
    MODEL_STORE, /* m tokens into the cache, which holds `units` of them; n values each, k a head */
    MODEL_LATENT_HEADS,
    MODEL_LATENT_STORE,
    MODEL_PREFILL, /* attention over whole prompts */
    MODEL_DECODE,  /* attention of one more token each */
    MODEL_LATENT_PREFILL,
    MODEL_LATENT_DECODE,
    MODEL_ABSORB,     /* `units` products m x k by k x n, one for each head */
    MODEL_INDEX,      /* logits of an index: m queries, n keys, k values, `units` heads */
    MODEL_TOP,        /* the largest k of n, for m queries */
    MODEL_CONV,       /* a short convolution over m tokens, n channels */
    MODEL_DELTA,      /* gated delta rule */
    MODEL_SCAN,       /* Mamba-2 */
    MODEL_ACTIVATION, /* m x n to m x k */
    MODEL_PERMUTE,    /* m tokens to n slots of k values */
    MODEL_GROUPED,    /* m slots x k by k x n of `units` experts */
    MODEL_UNPERMUTE,  /* n slots back to m tokens of k values */
    MODEL_PICK,       /* m of n rows of k values */
    MODEL_ARGMAX,     /* m x n */
    MODEL_COMM,
    MODEL_MODULE, /* stands for the calls that follow and have its number */
};
enum { MODEL_OPS = MODEL_MODULE + 1 };

enum model_comm {
    MODEL_ALL_REDUCE,
    MODEL_DISPATCH, /* tokens to the cards of their experts */
    MODEL_COMBINE,  /* and back */
    MODEL_ALL_GATHER,
    MODEL_REDUCE_SCATTER,
    MODEL_SEND, /* to the next stage */
};

enum model_module { MODEL_NO_MODULE, MODEL_MODULE_EXPERTS, MODEL_MODULE_ATTENTION };

struct model_attention_call {
    double seqs, queries, context; /* of a decode: queries are 1 and its drafts */
    double heads, key_heads, size, out_size;
    int64_t window; /* 0: none */
};

struct model_experts_call {
    double tokens; /* of all groups */
    int64_t hidden, inter, top_k, experts, expert_tp, ep;
    double held;   /* experts of this card */
    bool is_gated; /* two first matrices */
};

struct model_call {
    enum model_op op;
    const char *part;         /* "embedding", "layer", "head" */
    const char *what;         /* "qkv", "out", "experts up", ... */
    int64_t times;            /* layers that have it */
    const struct quant *type; /* of the weights, or of the cache */
    double m, n, k, units;
    struct model_attention_call attention;
    struct model_experts_call experts;
    enum model_comm comm;
    int64_t devices;
    double sent;         /* of MODEL_COMM: bytes that a card gives in, or that leave it */
    double gathered;     /* of a dispatch: what a card gives in when all tokens go to all cards */
    double flops, bytes; /* at least */
    double weights;      /* parameters that the card keeps for it */
    double whole;        /* and all cards of its stage together, each counted once */
    bool is_expert;      /* a weight of a routed expert */
    enum model_module kind;          /* of MODEL_MODULE */
    unsigned module;                 /* number of the module that stands for it; 0: none does */
    const struct model_layer *layer; /* NULL outside of layers */
};

typedef void model_emit(void *ctx, const struct model_call *c);

/* The calls of a stage in their order; of equal layers one is emitted. */
void model_calls(const struct llm *m, const struct model_layout *l, const struct model_types *types,
                 const struct model_load *load, int64_t stage, model_emit *emit, void *ctx);

/* Layers [first, end) of a stage. */
void model_stage(const struct llm *m, int64_t pp, int64_t stage, size_t *first, size_t *end);

/* What a card stores, of the stage that stores most. */
struct model_memory {
    double weight_bytes;
    double cache_bytes; /* of a token of a sequence */
    double state_bytes; /* of a sequence */
    double work_bytes;  /* of activations, for a step of so many tokens and sequences */
    double replicas;    /* parameters that more than one card holds: copies beyond the first */
};
struct model_memory model_memory(const struct llm *m, const struct model_layout *l,
                                 const struct model_types *types, double tokens, double seqs);

/* Cache of one layer on one card: bytes of a token, and of a sequence whatever its length. */
void model_cache(const struct llm *m, const struct model_layer *layer, int64_t tp,
                 const struct quant *cache, double *token, double *sequence);

/* Distinct experts that `tokens` tokens meet, of `experts`. */
double model_touched(double experts, double top_k, double tokens);

/* Query-key pairs of prompts, each query seeing `window` keys at most (0: all). */
double model_pairs(double prompts, double queries, double context, int64_t window);

/* Types of weights by `quantization_config` and hf_quant_config.json, either may be NULL. False:
 * neither says anything. */
bool model_types_of_config(struct arena *arena, const struct tree *config, const struct tree *quant,
                           struct str expert_type, size_t n_layers, struct model_types *out);

#endif
