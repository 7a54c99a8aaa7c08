/*
 * kernel_family - what kind of work a kernel does (matrix product, convolution, attention, ...),
 * and what it is for in a model (norm, router, cache of keys and values, ...). Both are columns of
 * families.def.
 *
 * The launching operator decides, innermost outward; under matrix products, convolutions and
 * attention the kernel's name does, and it decides alone where no operator is recorded (nodes of a
 * graph). Rules and their order: docs/analyses/accounting.md.
 */
#ifndef STRATA_OPS_KERNEL_FAMILY_H
#define STRATA_OPS_KERNEL_FAMILY_H

#include "base/str.h"

enum kernel_family {
    FAMILY_GEMM_TENSOR,
    FAMILY_GEMM_SIMT,
    FAMILY_ATTENTION,
    FAMILY_CONV,
    FAMILY_REDUCE, /* norms, softmax, reductions */
    FAMILY_ELEMENTWISE,
    FAMILY_LAYOUT,
    FAMILY_INDEX_SORT,
    FAMILY_EMBEDDING,
    FAMILY_OPTIMIZER,
    FAMILY_RANDOM,
    FAMILY_AICPU,
    FAMILY_OTHER,
};

enum { KERNEL_FAMILIES = FAMILY_OTHER + 1 };

/* What a kernel is for in a model. */
enum kernel_role {
    KERNEL_ROLE_ATTENTION,
    KERNEL_ROLE_MOE_FUSED, /* dispatch, expert FFN and combine in one kernel, or its halves */
    KERNEL_ROLE_MOE_GATE,
    KERNEL_ROLE_MOE_GEMM,
    KERNEL_ROLE_COMM,
    KERNEL_ROLE_MATMUL,
    KERNEL_ROLE_NORM,
    KERNEL_ROLE_ROPE,
    KERNEL_ROLE_KVCACHE,
    KERNEL_ROLE_ACTIVATION,
    KERNEL_ROLE_QUANT,
    KERNEL_ROLE_SAMPLING,
    KERNEL_ROLE_EMBEDDING,
    KERNEL_ROLE_ELEMENTWISE,
    KERNEL_ROLE_OTHER,
};

enum {
    KERNEL_ROLES = KERNEL_ROLE_OTHER + 1,
    KERNEL_ROLE_NAME = 8192 /* bytes that are looked at */
};

/* Which units do the multiplications of a matrix product or convolution. */
enum kernel_rate { RATE_BY_TYPE, RATE_TENSOR, RATE_SIMT, RATE_FP64 };

/* What a kernel's name says by itself. */
struct kernel_name {
    enum kernel_family family; /* FAMILY_GEMM_TENSOR for every matrix product */
    enum kernel_rate rate;
    bool is_native; /* one of PyTorch's own */
};

/* "gemm_tensor", "norm_softmax_reduce", ... */
const char *kernel_family_name(enum kernel_family family);

/* The family of an operator ("aten::addmm", "MatMulV3"); FAMILY_OTHER when it says nothing. */
enum kernel_family kernel_family_of_operator(struct str op);

/* The same of a type of kernel that Ascend names ("Add", "MatMulV3"). */
enum kernel_family kernel_family_of_type(struct str type);

struct kernel_name kernel_family_of_name(struct str name);

/* The family of a kernel under an operator of family `op`. `is_float` is whether the operator's
 * first input is a 32-bit float, for names that do not tell the rate. */
enum kernel_family kernel_family_of(enum kernel_family op, struct kernel_name name, bool is_float);

/* "attention", "moe_gemm", ... */
const char *kernel_role_name(enum kernel_role role);

/* The role of a kernel by its name and by what it is called without numbers and prefixes. */
enum kernel_role kernel_role_of(struct str name, struct str type, bool is_ascend);

/* Whether a product or convolution of this name works without tensor cores. */
static inline bool kernel_rate_is_simt(enum kernel_rate rate, bool is_float)
{
    return rate == RATE_SIMT || rate == RATE_FP64 || (rate == RATE_BY_TYPE && is_float);
}

#endif
