/*
 * model - what a generated run computes: a decoder's operators with shapes and costs.
 *
 * A program is the list of operators of one step in launch order: a prefill or decode pass of
 * an inference server, or a training step with its backward pass and optimizer. Durations follow
 * from shapes by an integer roofline (operations over a peak, bytes over a bandwidth), so larger
 * models take longer in the way real ones do.
 */
#ifndef STRATA_SYNTH_MODEL_H
#define STRATA_SYNTH_MODEL_H

#include "base/tables/vec.h"
#include "base/text/num.h"

enum op_code {
#define OP(code, host, api, name, type, core, cuda, blocks, mac, in, out) OP_##code,
#include "synth/ops.def"
#undef OP
    OP_COUNT
};

struct op_kind {
    const char *host, *api, *name, *type, *core, *cuda;
    int blocks; /* cores used */
    int mac;    /* share of the matrix unit, per mille */
    const char *in_types, *out_types;
};

extern const struct op_kind op_kinds[OP_COUNT];

static inline bool op_is_comm(enum op_code code)
{
    return code >= OP_ALLREDUCE && code <= OP_ALLTOALL;
}

bool op_is_core(enum op_code code); /* AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV */

enum phase { PHASE_PREFILL, PHASE_DECODE, PHASE_TRAIN, PHASE_COUNT };
const char *phase_name(enum phase phase);

enum { NO_LAYER = -1, NO_OP = -1 };

struct synth_op {
    enum op_code code;
    const struct op_kind *kind;
    nanos dur;                                    /* before jitter; a collective's transit */
    const char *in, *out;                         /* shapes: "8192,4096;4096"; "" for none */
    const char *types;                            /* of the inputs; NULL: the kind's */
    const char *in_formats, *out_formats;         /* "ND;ND" */
    const char *in_formats_old, *out_formats_old; /* "FORMAT_ND;FORMAT_ND" */
    int64_t bytes;                                /* a collective's payload */
    int layer;                                    /* or NO_LAYER */
    const char *module;                           /* "self_attn": groups operators in frames */
    bool is_async;                                /* work that follows does not wait for it */
    bool is_join;                                 /* waits for asynchronous work before it */
    bool is_backward;                             /* launched by the autograd thread */
    int forward;                                  /* the operator this one differentiates */
};

struct model {
    const char *name;
    int layers, dense_layers; /* the first ones have no experts; all when experts is 0 */
    int hidden, heads, kv_heads, head_dim;
    int ffn, expert_ffn, experts, topk, shared_experts;
    int vocab;
};

/* Presets, and their names, which end with NULL. */
extern const struct model models[];
extern const char *const model_names[];

struct synth_program {
    enum phase phase;
    struct synth_op *ops;
    size_t n;
    int dense, moe; /* layers of each kind */
};

struct load {
    int64_t tokens;  /* of a prefill or training step */
    int64_t batch;   /* sequences of a decode step */
    int64_t context; /* tokens in the cache */
    int64_t tp, ep;  /* ways a matrix and the experts are split */
};

/* The program lives in `arena`. */
struct synth_program model_program(struct arena *arena, const struct model *m,
                                   const struct load *load, enum phase phase);

#endif
