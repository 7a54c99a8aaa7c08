/*
 * gpu_options - what several commands of `strata gpu` ask for: parameters, formulas, peaks.
 */
#ifndef STRATA_CLI_GPU_OPTIONS_H
#define STRATA_CLI_GPU_OPTIONS_H

#include "cli/session.h"
#include "flow/flow_gpu_import.h"

#define OPT_GPU_WORK(type, member)                                                                 \
    OPT_LIST('p', "param", "NAME=VALUE", type, member.params,                                      \
             "a size or type of the problem; may be repeated"),                                    \
        OPT_STRING(0, "flops", "EXPR", type, member.flops, "operations, as \"2*m*n*k\""),          \
        OPT_STRING(0, "bytes", "EXPR", type, member.bytes, "bytes that must move"),                \
        OPT_STRING(0, "dtype", "TYPE", type, member.dtype, "bf16, fp16, fp8, fp32, …"),            \
        OPT_STRING(0, "device", "NAME", type, member.device,                                       \
                   "the chip, as `strata devices` "                                                \
                   "lists it"),                                                                    \
        OPT_STRING(0, "spec", "FILE", type, member.spec, "a workload plan (docs/gpu.md)"),         \
        OPT_DOUBLE(0, "peak-tflops", "X", type, member.peaks.tflops, "use this compute roof"),     \
        OPT_DOUBLE(0, "peak-gbps", "X", type, member.peaks.gbps, "use this memory bandwidth")

#define OPT_GPU_NAMES(type, member)                                                                \
    OPT_STRING(0, "kernel", "NAME", type, member.kernel, "what the report is called"),             \
        OPT_STRING(0, "version", "NAME", type, member.version, "which version this is (base)")

/* Parameters and formulas of the command line: CODE_DONE, or CODE_USAGE when one is wrong. What a
 * plan has to add to a formula is not known here, and is judged with it. */
int gpu_options_check(struct session *s, const struct gpu_ask *ask);

/* The files of the command line as a job. */
static inline struct gpu_import_job gpu_job_of(struct session *s, const struct gpu_ask *ask)
{
    return (struct gpu_import_job){(const char *const *)s->operands.at, s->operands.n, *ask};
}

/* The files that were read, for the frame of the answer. */
static inline void gpu_tell_inputs(struct session *s, const struct gpu_imported *from)
{
    for (size_t i = 0; i < from->inputs.n; i++)
        session_read(s, from->inputs.at[i].path, from->inputs.at[i].format, from->inputs.at[i].rows,
                     from->inputs.at[i].lost);
}

#endif
