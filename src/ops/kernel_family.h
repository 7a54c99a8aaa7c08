/*
 * kernel_family - what kind of work a kernel does: matrix product, convolution, attention, ...
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

/* Whether a product or convolution of this name works without tensor cores. */
static inline bool kernel_rate_is_simt(enum kernel_rate rate, bool is_float)
{
    return rate == RATE_SIMT || rate == RATE_FP64 || (rate == RATE_BY_TYPE && is_float);
}

#endif
