/*
 * quant - the types that weights are stored in and products computed in.
 *
 * A type of weights is more than a data type: FP8 with a scale for each 128 x 128 block runs other
 * kernels than FP8 with one scale, and four-bit weights may meet BF16 or FP8 activations.
 */
#ifndef STRATA_OPS_QUANT_H
#define STRATA_OPS_QUANT_H

#include "base/diag.h"
#include "ops/dtype.h"

/* What a product is computed in: which peak of a device counts. */
enum quant_peak { QUANT_BF16, QUANT_FP8, QUANT_INT8, QUANT_FP4 };

struct quant {
    struct str name;     /* as AIConfigurator has it: "fp8_block" */
    double weight_bytes; /* of one weight, scales included */
    double input_bytes;  /* of one value of the activations */
    enum quant_peak peak;
    enum dtype input, weight; /* of the elements of a row of a table */
    struct str scales;        /* how they are scaled where the types leave it open; else empty */
};

/* By name or alias, letter case does not matter; NULL: no such type. */
const struct quant *quant_find(struct str name);
const struct quant *quant_at(size_t i); /* NULL behind the last */
extern const struct quant *const quant_bf16;

/* The types of a model's parts. */
struct model_types {
    const struct quant *attention; /* its projections */
    const struct quant *gemm;      /* dense feed-forward parts and shared experts */
    const struct quant *experts;   /* routed ones */
    const struct quant *cache;     /* keys and values */
    const struct quant *comm;      /* what collectives move */
};

/* All BF16. */
struct model_types model_types_plain(void);

/* "gemm=fp8,moe=nvfp4,kv=fp8,comm=bf16" or one type for gemm and moe; gemm is also the attention's
 * unless "attention=" follows. What is not named stays. */
enum status model_types_read(struct str text, struct model_types *out, struct diag *d);

#endif
