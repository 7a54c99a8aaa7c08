/*
 * The catalogue, a row for each cause.
 */
#include "analysis/diagnose/root_cause.h"

#include "ops/name_tokens.h"
#include "text/diagnosis.h"

ENUM_NAMES(framework_name, enum framework, "pytorch", "torch_npu", "vllm", "sglang", "xla",
           "mindspore", "native")

const struct root_cause_kind root_causes[ROOT_CAUSES] =
    {
        [ROOT_HEALTHY] =
            {
                .id = "healthy",
                .what = &diagnosis_text.what_healthy,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_healthy,
            },
        [ROOT_UNKNOWN] =
            {
                .id = "unknown",
                .what = &diagnosis_text.what_unknown,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_unknown,
            },
        [ROOT_LAUNCH_BOUND] =
            {
                .id = "launch_bound",
                .what = &diagnosis_text.what_launch,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_launch,
                .against = &diagnosis_text.not_launch,
                .record = &diagnosis_text.record_launch,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_launch_npu,
                .actions[FRAMEWORK_VLLM] = &diagnosis_text.do_launch_vllm,
                .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_launch_sglang,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_launch_xla,
                .whatif = "no_launch_cost",
                .flags = ROOT_GENERIC | ROOT_OF_LAUNCHES,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_launch_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_launch_mindspore,
            },
        [ROOT_HOST_SYNC] =
            {
                .id = "host_sync",
                .what = &diagnosis_text.what_sync,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_sync,
                .against = &diagnosis_text.not_sync,
                .record = &diagnosis_text.record_sync,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_sync_xla,
                .whatif = "no_sync no_nonzero",
                .flags = ROOT_OF_LAUNCHES,
            },
        [ROOT_INPUT_PIPELINE] =
            {
                .id = "input_pipeline",
                .what = &diagnosis_text.what_input,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_input,
                .against = &diagnosis_text.not_input,
                .record = &diagnosis_text.record_input,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_input_xla,
                .whatif = "input_ready:input",
                .flags = ROOT_OF_STRETCHES,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_input_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_input_mindspore,
            },
        [ROOT_CPU_OPERATOR] =
            {
                .id = "cpu_operator",
                .what = &diagnosis_text.what_cpu_op,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_cpu_op,
                .against = &diagnosis_text.not_cpu_op,
                .record = &diagnosis_text.record_cpu_op,
                .whatif = "input_ready:cpu_operator",
                .flags = ROOT_OF_STRETCHES,
            },
        [ROOT_HOST_UNTRACED] =
            {
                .id = "host_untraced",
                .what = &diagnosis_text.what_untraced,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_untraced,
                .against = &diagnosis_text.not_untraced,
                .record = &diagnosis_text.record_untraced,
                .actions[FRAMEWORK_VLLM] = &diagnosis_text.do_untraced_vllm,
                .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_untraced_sglang,
                .whatif = "input_ready:untraced",
                .flags = ROOT_OF_STRETCHES | ROOT_WEAK,
            },
        [ROOT_PYTHON_OVERHEAD] =
            {
                .id = "python_overhead",
                .what = &diagnosis_text.what_python,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_python,
                .against = &diagnosis_text.not_python,
                .record = &diagnosis_text.record_python,
                .actions[FRAMEWORK_VLLM] = &diagnosis_text.do_python_vllm,
                .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_python_sglang,
                .whatif = "input_ready:python",
                .flags = ROOT_OF_STRETCHES,
            },
        [ROOT_ALLOCATOR] =
            {
                .id = "allocator",
                .what = &diagnosis_text.what_alloc,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_alloc,
                .against = &diagnosis_text.not_alloc,
                .record = &diagnosis_text.record_alloc,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_alloc_npu,
                .whatif = "no_alloc",
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_alloc_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_alloc_mindspore,
            },
        [ROOT_COMPILATION] =
            {
                .id = "compilation",
                .what = &diagnosis_text.what_compile,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_compile,
                .against = &diagnosis_text.not_compile,
                .record = &diagnosis_text.record_compile,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_compile_npu,
                .actions[FRAMEWORK_VLLM] = &diagnosis_text.do_compile_vllm,
                .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_compile_sglang,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_compile_xla,
                .whatif = "no_compile",
                .flags = ROOT_OF_STRETCHES,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_compile_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_compile_mindspore,
            },
        [ROOT_PAGEABLE_COPY] =
            {
                .id = "pageable_copy",
                .what = &diagnosis_text.what_pageable,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_pageable,
                .against = &diagnosis_text.not_pageable,
                .whatif = "pinned_copies",
                .flags = ROOT_BETWEEN_STREAMS,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_pageable_native,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_pageable_xla,
            },
        [ROOT_COPY_EXPOSED] =
            {
                .id = "copy_exposed",
                .what = &diagnosis_text.what_copy,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_copy,
                .against = &diagnosis_text.not_copy,
                .record = &diagnosis_text.record_copy,
                .whatif = "overlap_copies",
                .gone = "no_transfers",
                .flags = ROOT_BETWEEN_STREAMS | ROOT_UPPER_BOUND | ROOT_WEAK,
            },
        [ROOT_COPY_UNNEEDED] =
            {
                .id = "copy_unneeded",
                .what = &diagnosis_text.what_unneeded,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_unneeded,
                .against = &diagnosis_text.not_unneeded,
                .record = &diagnosis_text.record_unneeded,
                .whatif = "no_copies",
                .flags = ROOT_BETWEEN_STREAMS | ROOT_UPPER_BOUND | ROOT_WEAK,
            },
        [ROOT_NO_OVERLAP] =
            {
                .id = "no_overlap",
                .what = &diagnosis_text.what_overlap,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_overlap,
                .against = &diagnosis_text.not_overlap,
                .record = &diagnosis_text.record_overlap,
                .whatif = "overlap_copies",
                .flags = ROOT_BETWEEN_STREAMS | ROOT_UPPER_BOUND | ROOT_WEAK,
            },
        [ROOT_COMM_EXPOSED] =
            {
                .id = "comm_exposed",
                .what = &diagnosis_text.what_comm,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_comm,
                .against = &diagnosis_text.not_comm,
                .record = &diagnosis_text.record_comm,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_comm_xla,
                .whatif = "overlap_comm",
                .gone = "no_comm",
                .flags = ROOT_BETWEEN_STREAMS | ROOT_UPPER_BOUND,
            },
        [ROOT_NO_TENSOR_CORE] =
            {
                .id = "gemm_no_tensor_core",
                .what = &diagnosis_text.what_no_tensor,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_no_tensor,
                .against = &diagnosis_text.not_no_tensor,
                .record = &diagnosis_text.record_no_tensor,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_no_tensor_npu,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_no_tensor_xla,
                .whatif = "gemm_at_roof",
                .flags = ROOT_OF_TASKS | ROOT_NEEDS_SHAPES,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_no_tensor_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_no_tensor_mindspore,
            },
        [ROOT_FP64_USED] =
            {
                .id = "fp64_used",
                .what = &diagnosis_text.what_fp64,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_fp64,
                .against = &diagnosis_text.not_fp64,
                .record = &diagnosis_text.record_fp64,
                .whatif = "no_fp64",
                .flags = ROOT_OF_TASKS | ROOT_NEEDS_SHAPES,
            },
        [ROOT_GEMM_INEFFICIENT] =
            {
                .id = "gemm_inefficient",
                .what = &diagnosis_text.what_gemm,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_gemm,
                .against = &diagnosis_text.not_gemm,
                .record = &diagnosis_text.record_gemm,
                .whatif = "family_at_roof:gemm_tensor family_at_roof:conv",
                .flags = ROOT_OF_TASKS | ROOT_GENERIC | ROOT_NEEDS_SHAPES,
            },
        [ROOT_ATTENTION_UNFUSED] =
            {
                .id = "attention_unfused",
                .what = &diagnosis_text.what_attention,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_attention,
                .against = &diagnosis_text.not_attention,
                .record = &diagnosis_text.record_attention,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_attention_npu,
                .actions[FRAMEWORK_VLLM] = &diagnosis_text.do_attention_vllm,
                .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_attention_sglang,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_attention_xla,
                .whatif = "fuse_attention",
                .flags = ROOT_OF_TASKS | ROOT_NEEDS_SHAPES,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_attention_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_attention_mindspore,
            },
        [ROOT_ELEMENTWISE_UNFUSED] =
            {
                .id = "elementwise_unfused",
                .what = &diagnosis_text.what_elementwise,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_elementwise,
                .against = &diagnosis_text.not_elementwise,
                .record = &diagnosis_text.record_elementwise,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_elementwise_npu,
                .actions[FRAMEWORK_SGLANG] = &diagnosis_text.do_elementwise_sglang,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_elementwise_xla,
                .whatif = "fuse_elementwise",
                .flags = ROOT_OF_TASKS | ROOT_GENERIC,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_elementwise_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_elementwise_mindspore,
            },
        [ROOT_LAYOUT_COPIES] =
            {
                .id = "layout_copies",
                .what = &diagnosis_text.what_layout,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_layout,
                .against = &diagnosis_text.not_layout,
                .record = &diagnosis_text.record_layout,
                .whatif = "drop_layout",
                .flags = ROOT_OF_TASKS | ROOT_UPPER_BOUND,
            },
        [ROOT_OPTIMIZER_UNFUSED] =
            {
                .id = "optimizer_unfused",
                .what = &diagnosis_text.what_optimizer,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_optimizer,
                .against = &diagnosis_text.not_optimizer,
                .record = &diagnosis_text.record_optimizer,
                .actions[FRAMEWORK_NPU] = &diagnosis_text.do_optimizer_npu,
                .actions[FRAMEWORK_XLA] = &diagnosis_text.do_optimizer_xla,
                .whatif = "fuse_optimizer",
                .flags = ROOT_OF_TASKS,
                .actions[FRAMEWORK_NATIVE] = &diagnosis_text.do_optimizer_native,
                .actions[FRAMEWORK_MINDSPORE] = &diagnosis_text.do_optimizer_native,
            },
        [ROOT_INDEX_SORT_HEAVY] =
            {
                .id = "index_sort_heavy",
                .what = &diagnosis_text.what_index,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_index,
                .against = &diagnosis_text.not_index,
                .record = &diagnosis_text.record_index,
                .whatif = "family_at_roof:index_sort",
                .flags = ROOT_OF_TASKS | ROOT_NEEDS_SHAPES | ROOT_WEAK,
            },
        [ROOT_AICPU_EXPOSED] =
            {
                .id = "aicpu_exposed",
                .what = &diagnosis_text.what_aicpu,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_aicpu,
                .against = &diagnosis_text.not_aicpu,
                .record = &diagnosis_text.record_aicpu,
                .flags = ROOT_OF_TASKS | ROOT_UPPER_BOUND,
            },
        [ROOT_DEVICE_DEPENDENCY] =
            {
                .id = "device_dependency",
                .what = &diagnosis_text.what_depend,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_depend,
                .against = &diagnosis_text.not_depend,
                .record = &diagnosis_text.record_depend,
                .whatif = "no_stream_wait",
                .flags = ROOT_BETWEEN_STREAMS | ROOT_UPPER_BOUND,
            },
        [ROOT_SLOW_STEP_MORE_WORK] =
            {
                .id = "slow_step_more_work",
                .what = &diagnosis_text.what_slow_more,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_slow_more,
                .against = &diagnosis_text.not_slow_more,
                .record = &diagnosis_text.record_slow_more,
                .flags = ROOT_OF_STEP,
            },
        [ROOT_SLOW_STEP_SAME_WORK] =
            {
                .id = "slow_step_same_work",
                .what = &diagnosis_text.what_slow_same,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_slow_same,
                .against = &diagnosis_text.not_slow_same,
                .record = &diagnosis_text.record_slow_same,
                .flags = ROOT_OF_STEP,
            },
        [ROOT_CLOCK_DROP] =
            {
                .id = "clock_drop",
                .what = &diagnosis_text.what_clock,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_clock,
                .against = &diagnosis_text.not_clock,
                .record = &diagnosis_text.record_clock,
                .flags = ROOT_OF_STEP,
            },
        [ROOT_VARIABLE_SHAPES] =
            {
                .id = "variable_shapes",
                .what = &diagnosis_text.what_shapes,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_shapes,
                .against = &diagnosis_text.not_shapes,
                .record = &diagnosis_text.record_shapes,
                .whatif = "no_alloc",
                .flags = ROOT_BETWEEN_STREAMS | ROOT_NEEDS_SHAPES,
            },
        [ROOT_START_UP] =
            {
                .id = "start_up",
                .what = &diagnosis_text.what_start,
                .actions[FRAMEWORK_PYTORCH] = &diagnosis_text.do_start,
                .against = &diagnosis_text.not_start,
                .record = &diagnosis_text.record_start,
                .whatif = "no_start_up",
            },
};

struct str root_cause_label(enum lang lang, enum root_cause cause)
{
    struct str what = message_in(lang, root_causes[cause].what);
    size_t end = str_find(what, lang == LANG_ZH ? S("：") : S(":"));

    return str_part(what, 0, end);
}

const struct message *root_cause_action(enum root_cause cause, enum framework framework)
{
    const struct message *own = root_causes[cause].actions[framework];

    return own != NULL ? own : root_causes[cause].actions[FRAMEWORK_PYTORCH];
}

/* The first sign that the capture has. Servers are known by what their host does: libraries of
 * kernels are used by others, too. */
static const struct {
    enum framework framework;
    const char *words; /* lower case, anywhere in a name */
    bool is_host;
} signs[] = {
    {FRAMEWORK_PYTORCH, "optimizer.step# autograd::engine", true}, /* nobody serves and trains */
    {FRAMEWORK_VLLM, "vllm", true},
    {FRAMEWORK_VLLM, "vllm::reshape_and_cache", false},
    {FRAMEWORK_SGLANG, "sglang sgl_kernel", true},
    {FRAMEWORK_XLA, "xlamodule xla_gpu xla::gpu pjrt", false},
    {FRAMEWORK_MINDSPORE, "mindspore gradients/default default/network", false},
    {FRAMEWORK_PYTORCH, "aten:: at::native c10:: torch", false},
};

/* Names of what the host does, a bit each. */
static uint8_t *find_host_names(const struct capture *cap)
{
    uint8_t *bits = mem_grow(NULL, 1, cap->strings.strings.n / 8 + 1);

    memset(bits, 0, cap->strings.strings.n / 8 + 1);
    for (size_t i = 0; i < cap->slices.n; i++) {
        enum slice_kind kind = (enum slice_kind)cap->slices.kind[i];
        if (kind == SLICE_HOST_OP || kind == SLICE_PYTHON || kind == SLICE_ANNOTATION)
            bits[cap->slices.name[i] / 8] |= (uint8_t)(1 << cap->slices.name[i] % 8);
    }
    return bits;
}

enum framework framework_of(const struct capture *cap)
{
    uint8_t *bits = find_host_names(cap);
    char buf[NAME_TOKENS_MOST];
    size_t best = ARRAY_LEN(signs);

    for (size_t i = 1; i < cap->strings.strings.n; i++) {
        struct str name = name_tokens_lower(capture_text(cap, (strid)i), buf);
        bool is_host = (bits[i / 8] >> i % 8 & 1) != 0;
        for (size_t k = 0; k < best; k++)
            if ((is_host || !signs[k].is_host) && name_tokens_any(name, signs[k].words))
                best = k;
    }
    mem_free(bits);
    enum framework found = best < ARRAY_LEN(signs) ? signs[best].framework : FRAMEWORK_NATIVE;
    if (capture_is_ascend(cap))
        return found == FRAMEWORK_MINDSPORE ? found : FRAMEWORK_NPU;
    /* Kineto is PyTorch's; a capture with a host and without any sign is not. */
    struct str kind = capture_text(cap, cap->facts.kind);
    bool is_foreign = str_equal(kind, S("nsys")) || str_starts(kind, S("rocprof"));
    return found == FRAMEWORK_NATIVE && !is_foreign ? FRAMEWORK_PYTORCH : found;
}
