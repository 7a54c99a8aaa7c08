/*
 * dtype - types of elements: their sizes, and every name that a vendor gives them.
 *
 * The table is dtypes.def. Who needs the type of a text asks dtype_of() and nobody compares names:
 * "c10::BFloat16" of PyTorch, "DT_BF16" of Ascend, "bfloat16_t" of C++ and "bf16" of XLA are one
 * type. Numbers that a library has for types (NCCL, ACL, CUDA) stand with the calls of that
 * library.
 */
#ifndef STRATA_OPS_DTYPE_H
#define STRATA_OPS_DTYPE_H

#include "base/str.h"

enum dtype {
    DTYPE_NONE, /* no tensor: "", "DT_UNDEFINED", "ScalarList" */
#define DTYPE(code, ...) DTYPE_##code,
#include "ops/dtypes.def"
#undef DTYPE
    DTYPE_UNKNOWN, /* a name that is none of ours */
    DTYPES
};

enum dtype_kind {
    DTYPE_KIND_NONE,
    DTYPE_KIND_FLOAT,
    DTYPE_KIND_INT,
    DTYPE_KIND_UINT,
    DTYPE_KIND_BOOL,
    DTYPE_KIND_COMPLEX,
};

/* By any name of the table. */
enum dtype dtype_of(struct str name);

/* The type that the name of a kernel has inside it ("gemm_bf16_128x128"); DTYPE_NONE: it has none.
 */
enum dtype dtype_in(struct str name);

const char *dtype_name(enum dtype type);   /* "bf16"; "none", "unknown" */
struct str dtype_ascend(enum dtype type);  /* "DT_BF16"; empty: Ascend's tables have no name */
struct str dtype_runtime(enum dtype type); /* "BFLOAT16"; empty: the PTO runtime has none */
enum dtype_kind dtype_kind(enum dtype type);

/* Of one element; 0: no tensor, or not known. */
unsigned dtype_bits(enum dtype type);
static inline double dtype_bytes(enum dtype type)
{
    return dtype_bits(type) / 8.0;
}

static inline bool dtype_is_float(enum dtype type)
{
    return dtype_kind(type) == DTYPE_KIND_FLOAT;
}

#endif
