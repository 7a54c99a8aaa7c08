/*
 * pto_cpp_in - between the parts of kernels/pto/pto_cpp.h.
 */
#ifndef STRATA_KERNELS_PTO_PTO_CPP_IN_H
#define STRATA_KERNELS_PTO_PTO_CPP_IN_H

#include "kernels/pto/pto_cpp.h"
#include "kernels/pto/sim/core.h"

enum { PTO_CPP_TENSOR_BYTES = 128, PTO_CPP_PARTS = 160 }; /* slots, and windows of 64 ranks */

#define PTO_CPP_LIMIT_MS  60000
#define PTO_CPP_MOST_DATA ((int64_t)1 << 30) /* of the kernel's own */

/* What a kernel can end with; a record has the number. */
#define PTO_CPP_CODES(X)                                                                           \
    X("pto-cpp.crash")                                                                             \
    X("pto-cpp.address")                                                                           \
    X("pto-cpp.call")                                                                              \
    X("pto-cpp.calls")                                                                             \
    X("pto-cpp.deadlock")                                                                          \
    X("pto-cpp.gm")                                                                                \
    X("pto-cpp.load")                                                                              \
    X("pto-cpp.memory")                                                                            \
    X("pto-cpp.no-sandbox")                                                                        \
    X("pto-cpp.operand")                                                                           \
    X("pto-cpp.refused")                                                                           \
    X("pto-cpp.sandbox")

/* Shared by the kernel's process and ours. The kernel can write anything here, at any time: what is
 * read is checked, and nothing in it is a pointer that we follow. */
struct pto_cpp_memory {
    _Alignas(64) unsigned char tensors[SLOT_COUNT][PTO_CPP_TENSOR_BYTES];
    struct pto_host_mark mark;
    uint32_t code; /* of PTO_CPP_CODES */
    char text[512], file[256];
    uint64_t reached[PTO_CPP_PARTS];
    int64_t args[SLOT_COUNT];
    int64_t core_args[PTO_CORES][SLOT_COUNT];
    int32_t local_context[32];
    int32_t global_context[PTO_CORES][32];
    int32_t line;
    uint8_t has_failed, is_done; /* a bool may only be 0 or 1 */
};

struct pto_cpp_objects {
    const char *object[PTO_CORES]; /* cube, vectors; NULL: that core has no part */
};

/* In the child: writes the stream to `out`, what the kernel prints to `said`. */
_Noreturn void pto_cpp_child(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                             const struct pto_cpp_objects *l, int out, int said);

enum status pto_cpp_run_once(const struct pto_cpp_job *job, struct pto_cpp_run *r,
                             const struct pto_cpp_objects *l, struct diag *d);

/* Tensors with their contents, and the slots that name them. */
enum status pto_cpp_arguments(const struct pto_cpp_job *job, struct pto_cpp_run *r, struct diag *d);
void pto_cpp_forget(struct pto_cpp_run *r);

/* Arguments as the source suggests them, every dimension `dim`. */
void pto_cpp_draft(const struct pto_cpp_job *job, struct pto_cpp_run *r, int64_t dim);

#endif
