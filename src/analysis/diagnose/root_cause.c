/*
 * The catalogue, a row for each cause.
 */
#include "analysis/diagnose/root_cause.h"

#include "analysis/diagnose/name_tokens.h"
#include "text/diagnosis.h"

ENUM_NAMES(framework_name, enum framework, "pytorch", "torch_npu", "vllm", "sglang", "xla")

#define ROOT_TEXTS(key)                                                                            \
    .what = &diagnosis_text.what_##key, .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_##key
#define ROOT_DOUBTS(key)                                                                           \
    .against = &diagnosis_text.not_##key, .record = &diagnosis_text.record_##key

const struct root_cause_kind root_causes[ROOT_CAUSES] = {
    [ROOT_HEALTHY] = {"healthy", ROOT_TEXTS(healthy)},
    [ROOT_UNKNOWN] = {"unknown", ROOT_TEXTS(unknown)},
    [ROOT_LAUNCH_BOUND] = {"launch_bound", ROOT_TEXTS(launch), ROOT_DOUBTS(launch),
                           .actions[FRAMEWORK_NPU] = &diagnosis_text.do_launch_npu,
                           .actions[FRAMEWORK_VLLM] = &diagnosis_text.do_launch_vllm,
                           .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_launch_sglang,
                           .actions[FRAMEWORK_XLA] = &diagnosis_text.do_launch_xla,
                           .whatif = "no_launch_cost", .flags = ROOT_GENERIC},
    [ROOT_HOST_SYNC] = {"host_sync", ROOT_TEXTS(sync), ROOT_DOUBTS(sync), .whatif = "no_sync"},
    [ROOT_INPUT_PIPELINE] = {"input_pipeline", ROOT_TEXTS(input), ROOT_DOUBTS(input),
                             .whatif = "input_ready"},
    [ROOT_CPU_OPERATOR] = {"cpu_operator", ROOT_TEXTS(cpu_op), ROOT_DOUBTS(cpu_op),
                           .whatif = "input_ready"},
    [ROOT_HOST_UNTRACED] = {"host_untraced", ROOT_TEXTS(untraced), ROOT_DOUBTS(untraced),
                            .whatif = "input_ready", .flags = ROOT_WEAK},
    [ROOT_PYTHON_OVERHEAD] = {"python_overhead", ROOT_TEXTS(python), ROOT_DOUBTS(python),
                              .whatif = "input_ready"},
    [ROOT_ALLOCATOR] = {"allocator", ROOT_TEXTS(alloc), ROOT_DOUBTS(alloc),
                        .actions[FRAMEWORK_NPU] = &diagnosis_text.do_alloc_npu,
                        .whatif = "no_alloc"},
    [ROOT_COMPILATION] = {"compilation", ROOT_TEXTS(compile), ROOT_DOUBTS(compile),
                          .actions[FRAMEWORK_NPU] = &diagnosis_text.do_compile_npu,
                          .whatif = "no_compile"},
    [ROOT_PAGEABLE_COPY] = {"pageable_copy", ROOT_TEXTS(pageable),
                            .against = &diagnosis_text.not_pageable, .whatif = "pinned_copies"},
    [ROOT_COPY_EXPOSED] = {"copy_exposed", ROOT_TEXTS(copy), ROOT_DOUBTS(copy),
                           .whatif = "overlap_copies", .flags = ROOT_UPPER_BOUND | ROOT_WEAK},
    [ROOT_COPY_UNNEEDED] = {"copy_unneeded", ROOT_TEXTS(unneeded), ROOT_DOUBTS(unneeded),
                            .whatif = "no_copies", .flags = ROOT_UPPER_BOUND | ROOT_WEAK},
    [ROOT_NO_OVERLAP] = {"no_overlap", ROOT_TEXTS(overlap), ROOT_DOUBTS(overlap),
                         .whatif = "overlap_copies", .flags = ROOT_UPPER_BOUND | ROOT_WEAK},
    [ROOT_COMM_EXPOSED] = {"comm_exposed", ROOT_TEXTS(comm), ROOT_DOUBTS(comm),
                           .actions[FRAMEWORK_XLA] = &diagnosis_text.do_comm_xla,
                           .whatif = "overlap_comm", .flags = ROOT_UPPER_BOUND},
    [ROOT_NO_TENSOR_CORE] = {"gemm_no_tensor_core", ROOT_TEXTS(no_tensor), ROOT_DOUBTS(no_tensor),
                             .actions[FRAMEWORK_NPU] = &diagnosis_text.do_no_tensor_npu,
                             .whatif = "gemm_at_roof", .flags = ROOT_NEEDS_SHAPES},
    [ROOT_FP64_USED] = {"fp64_used", ROOT_TEXTS(fp64), ROOT_DOUBTS(fp64), .whatif = "fp64_as_float",
                        .flags = ROOT_NEEDS_SHAPES},
    [ROOT_GEMM_INEFFICIENT] = {"gemm_inefficient", ROOT_TEXTS(gemm), ROOT_DOUBTS(gemm),
                               .whatif = "tensor_at_roof",
                               .flags = ROOT_GENERIC | ROOT_NEEDS_SHAPES},
    [ROOT_ATTENTION_UNFUSED] = {"attention_unfused", ROOT_TEXTS(attention), ROOT_DOUBTS(attention),
                                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_attention_npu,
                                .whatif = "fuse_attention", .flags = ROOT_NEEDS_SHAPES},
    [ROOT_ELEMENTWISE_UNFUSED] = {"elementwise_unfused", ROOT_TEXTS(elementwise),
                                  ROOT_DOUBTS(elementwise),
                                  .actions[FRAMEWORK_NPU] = &diagnosis_text.do_elementwise_npu,
                                  .whatif = "fuse_elementwise", .flags = ROOT_GENERIC},
    [ROOT_LAYOUT_COPIES] = {"layout_copies", ROOT_TEXTS(layout), ROOT_DOUBTS(layout),
                            .whatif = "drop_layout", .flags = ROOT_UPPER_BOUND},
    [ROOT_OPTIMIZER_UNFUSED] = {"optimizer_unfused", ROOT_TEXTS(optimizer), ROOT_DOUBTS(optimizer),
                                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_optimizer_npu,
                                .whatif = "fuse_optimizer"},
    [ROOT_INDEX_SORT_HEAVY] = {"index_sort_heavy", ROOT_TEXTS(index), ROOT_DOUBTS(index),
                               .whatif = "sort_at_roof", .flags = ROOT_NEEDS_SHAPES | ROOT_WEAK},
    [ROOT_AICPU_EXPOSED] = {"aicpu_exposed", ROOT_TEXTS(aicpu), ROOT_DOUBTS(aicpu),
                            .flags = ROOT_UPPER_BOUND},
    [ROOT_DEVICE_DEPENDENCY] = {"device_dependency", ROOT_TEXTS(depend), ROOT_DOUBTS(depend),
                                .whatif = "no_stream_wait", .flags = ROOT_UPPER_BOUND},
    [ROOT_SLOW_STEP_MORE_WORK] = {"slow_step_more_work", ROOT_TEXTS(slow_more),
                                  ROOT_DOUBTS(slow_more), .flags = ROOT_OF_STEP},
    [ROOT_SLOW_STEP_SAME_WORK] = {"slow_step_same_work", ROOT_TEXTS(slow_same),
                                  ROOT_DOUBTS(slow_same), .flags = ROOT_OF_STEP},
    [ROOT_CLOCK_DROP] = {"clock_drop", ROOT_TEXTS(clock), ROOT_DOUBTS(clock),
                         .flags = ROOT_OF_STEP},
    [ROOT_VARIABLE_SHAPES] = {"variable_shapes", ROOT_TEXTS(shapes), ROOT_DOUBTS(shapes)},
};

const char *root_cause_name(enum root_cause cause)
{
    return root_causes[cause].id;
}

const struct message *root_cause_action(enum root_cause cause, enum framework framework)
{
    const struct message *own = root_causes[cause].actions[framework];

    return own != NULL ? own : root_causes[cause].actions[FRAMEWORK_PYTORCH];
}

/* The first that any name of the capture has; all others are called PyTorch. */
static const struct {
    enum framework framework;
    const char *words; /* lower case, anywhere in a name */
} signs[] = {
    {FRAMEWORK_VLLM, "vllm"},
    {FRAMEWORK_SGLANG, "sglang sgl_kernel"},
    {FRAMEWORK_XLA, "xlamodule xla_gpu xla::gpu pjrt"},
};

enum framework framework_of(const struct capture *cap)
{
    enum framework found = capture_is_ascend(cap) ? FRAMEWORK_NPU : FRAMEWORK_PYTORCH;
    char buf[NAME_TOKENS_MOST];
    size_t best = ARRAY_LEN(signs);

    for (size_t i = 1; i < cap->strings.strings.n; i++) {
        struct str name = name_tokens_lower(capture_text(cap, (strid)i), buf);
        for (size_t k = 0; k < best; k++)
            if (name_tokens_any(name, signs[k].words))
                best = k;
    }
    return best < ARRAY_LEN(signs) && !capture_is_ascend(cap) ? signs[best].framework : found;
}
