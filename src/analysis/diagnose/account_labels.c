/* What people read for each class of a step's time. */
#include "analysis/diagnose/accounting.h"
#include "text/classes.h"

static const struct message *const labels[ACCOUNT_CLASSES] = {
    [ACCOUNT_COMPUTE + FAMILY_GEMM_TENSOR] = &classes_text.gemm,
    [ACCOUNT_COMPUTE + FAMILY_GEMM_SIMT] = &classes_text.gemm_simt,
    [ACCOUNT_COMPUTE + FAMILY_ATTENTION] = &classes_text.attention,
    [ACCOUNT_COMPUTE + FAMILY_CONV] = &classes_text.conv,
    [ACCOUNT_COMPUTE + FAMILY_REDUCE] = &classes_text.reduce,
    [ACCOUNT_COMPUTE + FAMILY_ELEMENTWISE] = &classes_text.elementwise,
    [ACCOUNT_COMPUTE + FAMILY_LAYOUT] = &classes_text.layout,
    [ACCOUNT_COMPUTE + FAMILY_INDEX_SORT] = &classes_text.index,
    [ACCOUNT_COMPUTE + FAMILY_EMBEDDING] = &classes_text.embedding,
    [ACCOUNT_COMPUTE + FAMILY_OPTIMIZER] = &classes_text.optimizer,
    [ACCOUNT_COMPUTE + FAMILY_RANDOM] = &classes_text.random,
    [ACCOUNT_COMPUTE + FAMILY_AICPU] = &classes_text.aicpu,
    [ACCOUNT_COMPUTE + FAMILY_OTHER] = &classes_text.other,
    [ACCOUNT_COMM] = &classes_text.comm,
    [ACCOUNT_COPY + COPY_H2D_PAGEABLE] = &classes_text.h2d_pageable,
    [ACCOUNT_COPY + COPY_H2D_PINNED] = &classes_text.h2d_pinned,
    [ACCOUNT_COPY + COPY_H2D] = &classes_text.h2d,
    [ACCOUNT_COPY + COPY_D2H_PAGEABLE] = &classes_text.d2h_pageable,
    [ACCOUNT_COPY + COPY_D2H_PINNED] = &classes_text.d2h_pinned,
    [ACCOUNT_COPY + COPY_D2H] = &classes_text.d2h,
    [ACCOUNT_COPY + COPY_D2D] = &classes_text.d2d,
    [ACCOUNT_COPY + COPY_P2P] = &classes_text.p2p,
    [ACCOUNT_COPY + COPY_MEMSET] = &classes_text.memset,
    [ACCOUNT_COPY + COPY_OTHER] = &classes_text.copy_other,
    [ACCOUNT_IDLE + CAUSE_DEVICE_LATENCY] = &classes_text.idle_latency,
    [ACCOUNT_IDLE + CAUSE_DEVICE_DEPENDENCY] = &classes_text.idle_dependency,
    [ACCOUNT_IDLE + CAUSE_SYNC] = &classes_text.idle_sync,
    [ACCOUNT_IDLE + CAUSE_ALLOCATOR] = &classes_text.idle_alloc,
    [ACCOUNT_IDLE + CAUSE_COMPILE] = &classes_text.idle_compile,
    [ACCOUNT_IDLE + CAUSE_COPY_STAGING] = &classes_text.idle_staging,
    [ACCOUNT_IDLE + CAUSE_LAUNCH] = &classes_text.idle_launch,
    [ACCOUNT_IDLE + CAUSE_OPERATOR] = &classes_text.idle_operator,
    [ACCOUNT_IDLE + CAUSE_INPUT] = &classes_text.idle_input,
    [ACCOUNT_IDLE + CAUSE_PYTHON] = &classes_text.idle_python,
    [ACCOUNT_IDLE + CAUSE_UNTRACED] = &classes_text.idle_untraced,
    [ACCOUNT_IDLE + CAUSE_UNKNOWN] = &classes_text.idle_unknown,
};

const struct message *account_class_label(int class)
{
    return labels[class];
}
