/*
 * model - what a language model consists of: a list of layers, each with its kind of attention and
 * of feed-forward part, and the sizes that they share.
 *
 * Read from a config.json as model hubs have it. Names differ by family, so each size has several;
 * a key that changes the structure and is not understood is an error, for a wrong count of
 * parameters is worse than none. What the layers compute is in model_calls.h.
 */
#ifndef STRATA_OPS_MODEL_H
#define STRATA_OPS_MODEL_H

#include <stdint.h>

#include "base/diag.h"
#include "ops/quant.h"

enum model_attention {
    MODEL_NO_ATTENTION,
    MODEL_FULL,       /* queries share key/value heads */
    MODEL_WINDOW,     /* the same over the last keys alone */
    MODEL_LATENT,     /* MLA: keys and values from one latent vector */
    MODEL_COMPRESSED, /* DeepSeek-V4: keys joined by `ratio`, a window beside them */
    MODEL_LINEAR,     /* gated delta rule: a state in place of keys */
    MODEL_MAMBA,      /* Mamba-2 */
};

enum model_feed { MODEL_NO_FEED, MODEL_DENSE, MODEL_EXPERTS };

struct model_layer {
    enum model_attention attention;
    enum model_feed feed;
    int64_t window;  /* keys that a query sees at most; 0: all */
    int64_t ratio;   /* of MODEL_COMPRESSED; 0: the window alone */
    bool has_index;  /* chooses the keys itself (sparse attention) */
    bool is_indexed; /* sees the chosen keys alone, maybe those of a layer before */
};

struct model_heads {
    int64_t queries, keys;  /* heads of them; values have those of the keys */
    int64_t size, out_size; /* of a head of queries and keys, and of values */
};

struct llm {
    struct str name;
    int64_t hidden, vocab;
    bool is_tied; /* one matrix for embedding and head */
    struct model_heads heads, window_heads;
    bool has_gate; /* of the attention: as wide as its queries */
    bool is_gated; /* feed-forward parts: two first matrices, not one */
    int64_t inter; /* width of dense feed-forward parts */
    int64_t experts, top_k, expert_inter, shared_inter; /* shared: of all shared experts */
    int64_t query_rank, latent, nope, rope; /* MLA; query_rank 0: queries are not compressed */
    int64_t index_heads, index_size, index_top;
    int64_t out_rank, out_groups; /* DeepSeek-V4: the output is of low rank in groups */
    int64_t key_heads, value_heads, key_size, value_size, conv; /* linear attention */
    int64_t mamba_heads, mamba_size, mamba_groups, mamba_state, mamba_conv;
    int64_t drafts; /* layers that draft tokens (MTP); not among `layers` */
    struct model_layer *layers;
    size_t n_layers;
    bool is_part;             /* the file has no number of layers or no vocabulary: one layer, 0 */
    struct model_types types; /* as the file says */
    bool has_types;
};

/* The model of a config.json, or of the one in a folder; hf_quant_config.json beside it says the
 * types. An empty `name` takes that of the file, else of its folder. All lives in the arena. */
enum status model_read(struct arena *arena, const char *path, struct str name, struct llm *out,
                       struct diag *d);

/* The same of texts; `quant` may be empty. `path` is for messages. */
enum status model_parse(struct arena *arena, struct str config, struct str quant, const char *path,
                        struct llm *out, struct diag *d);

/* A name as it is compared: small letters, without what separates its words. */
struct str model_plain_name(struct arena *arena, struct str name);

/* A model by its name or a short one of data/models/known.json: blanks, case and - _ . / do not
 * matter. ST_NOT_FOUND lists those that are known. */
enum status model_known(struct arena *arena, struct str name, struct llm *out, struct diag *d);

/* So many layers in place of all: the first ones; the last one again where there are more. */
void model_set_layers(struct arena *arena, struct llm *m, size_t n);

/* Matrices, convolutions and embeddings; norms and biases do not count. */
struct model_size {
    double total, active; /* parameters; those that one token meets */
    double cache_bytes;   /* of a token of a sequence in BF16, an index of sparse attention in one
                             byte a value */
    double state_bytes;   /* of a sequence, whatever its length: windows and states */
};
struct model_size model_size(const struct llm *m);

/* "full", "window", "latent", ...; "dense", "experts", "" for none. */
const char *model_attention_name(enum model_attention kind);
const char *model_feed_name(enum model_feed kind);

#endif
