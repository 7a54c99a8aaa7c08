/* What documents and people read for each class of a step's time. */
#include "analysis/diagnose/accounting.h"
#include "text/classes.h"

static const struct {
    const char *name;
    const struct message *label;
} classes[ACCOUNT_CLASSES] = {
    [ACCOUNT_COMPUTE + FAMILY_GEMM_TENSOR] = {"compute.gemm_tensor", &classes_text.gemm},
    [ACCOUNT_COMPUTE + FAMILY_GEMM_SIMT] = {"compute.gemm_simt", &classes_text.gemm_simt},
    [ACCOUNT_COMPUTE + FAMILY_ATTENTION] = {"compute.attention", &classes_text.attention},
    [ACCOUNT_COMPUTE + FAMILY_CONV] = {"compute.conv", &classes_text.conv},
    [ACCOUNT_COMPUTE + FAMILY_REDUCE] = {"compute.norm_softmax_reduce", &classes_text.reduce},
    [ACCOUNT_COMPUTE + FAMILY_ELEMENTWISE] = {"compute.elementwise", &classes_text.elementwise},
    [ACCOUNT_COMPUTE + FAMILY_LAYOUT] = {"compute.layout", &classes_text.layout},
    [ACCOUNT_COMPUTE + FAMILY_INDEX_SORT] = {"compute.index_sort", &classes_text.index},
    [ACCOUNT_COMPUTE + FAMILY_EMBEDDING] = {"compute.embedding", &classes_text.embedding},
    [ACCOUNT_COMPUTE + FAMILY_OPTIMIZER] = {"compute.optimizer", &classes_text.optimizer},
    [ACCOUNT_COMPUTE + FAMILY_RANDOM] = {"compute.random", &classes_text.random},
    [ACCOUNT_COMPUTE + FAMILY_AICPU] = {"compute.aicpu", &classes_text.aicpu},
    [ACCOUNT_COMPUTE + FAMILY_OTHER] = {"compute.other", &classes_text.other},
    [ACCOUNT_COMM] = {"comm_exposed", &classes_text.comm},
    [ACCOUNT_COPY + COPY_H2D_PAGEABLE] = {"copy_exposed.h2d_pageable", &classes_text.h2d_pageable},
    [ACCOUNT_COPY + COPY_H2D_PINNED] = {"copy_exposed.h2d_pinned", &classes_text.h2d_pinned},
    [ACCOUNT_COPY + COPY_H2D] = {"copy_exposed.h2d", &classes_text.h2d},
    [ACCOUNT_COPY + COPY_D2H_PAGEABLE] = {"copy_exposed.d2h_pageable", &classes_text.d2h_pageable},
    [ACCOUNT_COPY + COPY_D2H_PINNED] = {"copy_exposed.d2h_pinned", &classes_text.d2h_pinned},
    [ACCOUNT_COPY + COPY_D2H] = {"copy_exposed.d2h", &classes_text.d2h},
    [ACCOUNT_COPY + COPY_D2D] = {"copy_exposed.d2d", &classes_text.d2d},
    [ACCOUNT_COPY + COPY_P2P] = {"copy_exposed.p2p", &classes_text.p2p},
    [ACCOUNT_COPY + COPY_MEMSET] = {"copy_exposed.memset", &classes_text.memset},
    [ACCOUNT_COPY + COPY_OTHER] = {"copy_exposed.other", &classes_text.copy_other},
    [ACCOUNT_IDLE + CAUSE_DEVICE_LATENCY] = {"idle.device_latency", &classes_text.idle_latency},
    [ACCOUNT_IDLE +
        CAUSE_DEVICE_DEPENDENCY] = {"idle.device_dependency", &classes_text.idle_dependency},
    [ACCOUNT_IDLE + CAUSE_SYNC] = {"idle.sync", &classes_text.idle_sync},
    [ACCOUNT_IDLE + CAUSE_ALLOCATOR] = {"idle.allocator", &classes_text.idle_alloc},
    [ACCOUNT_IDLE + CAUSE_COMPILE] = {"idle.compile_load", &classes_text.idle_compile},
    [ACCOUNT_IDLE + CAUSE_COPY_STAGING] = {"idle.copy_staging", &classes_text.idle_staging},
    [ACCOUNT_IDLE + CAUSE_LAUNCH] = {"idle.launch", &classes_text.idle_launch},
    [ACCOUNT_IDLE + CAUSE_OPERATOR] = {"idle.cpu_operator", &classes_text.idle_operator},
    [ACCOUNT_IDLE + CAUSE_INPUT] = {"idle.input", &classes_text.idle_input},
    [ACCOUNT_IDLE + CAUSE_PYTHON] = {"idle.python", &classes_text.idle_python},
    [ACCOUNT_IDLE + CAUSE_UNTRACED] = {"idle.untraced", &classes_text.idle_untraced},
    [ACCOUNT_IDLE + CAUSE_START_UP] = {"idle.start_up", &classes_text.idle_start_up},
    [ACCOUNT_IDLE + CAUSE_UNKNOWN] = {"idle.unknown", &classes_text.idle_unknown},
};

const char *account_class_name(int class)
{
    return classes[class].name;
}

const struct message *account_class_label(int class)
{
    return classes[class].label;
}
