/*
 * pto_cpp_in - between the parts of kernels/pto/pto_cpp.h.
 */
#ifndef STRATA_KERNELS_PTO_PTO_CPP_IN_H
#define STRATA_KERNELS_PTO_PTO_CPP_IN_H

#include "kernels/pto/pto_cpp.h"
#include "kernels/pto/sim/core.h"

enum { PTO_CPP_TENSOR_BYTES = 128 };

/* Shared by the kernel's process and ours. */
struct pto_cpp_memory {
    _Alignas(64) unsigned char tensors[SLOT_COUNT][PTO_CPP_TENSOR_BYTES];
    struct pto_host_mark mark;
    const char *code; /* the child is a copy of us, so literals are where ours are */
    char text[512], file[256];
    uint64_t reached[SLOT_COUNT];
    int64_t args[SLOT_COUNT];
    int64_t core_args[PTO_CORES][SLOT_COUNT];
    int32_t local_context[32];
    int32_t global_context[PTO_CORES][32];
    int32_t line;
    bool has_failed, is_done;
};

/* Tensors with their contents, and the slots that name them. */
enum status pto_cpp_arguments(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d);
void pto_cpp_forget(struct pto_cpp_run *r);

/* Arguments as the source suggests them, every dimension `dim`. */
void pto_cpp_draft(const struct pto_cpp_job *job, struct pto_cpp_run *r, int64_t dim);

#endif
