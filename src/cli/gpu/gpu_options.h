/*
 * gpu_options - what several commands of `strata gpu` ask for: parameters, formulas, peaks.
 */
#ifndef STRATA_CLI_GPU_GPU_OPTIONS_H
#define STRATA_CLI_GPU_GPU_OPTIONS_H

#include "cli/session.h"
#include "gpu/collect/gpu_jobs.h"

#define OPT_GPU_WORK(type, member)                                                                 \
    OPT_LIST('p', "param", "NAME=VALUE", type, member.params, "problem size or type; repeatable"), \
        OPT_STRING(0, "flops", "EXPR", type, member.flops,                                         \
                   "floating-point operations, e.g. \"2*m*n*k\""),                                 \
        OPT_STRING(0, "bytes", "EXPR", type, member.bytes, "minimum bytes moved"),                 \
        OPT_STRING(0, "dtype", "TYPE", type, member.dtype, "data type: bf16, fp16, fp8, fp32, …"), \
        OPT_STRING(0, "chip", "NAME", type, member.device, "chip, as listed by `strata devices`",  \
                   .alias = "device"),                                                             \
        OPT_STRING(0, "spec", "FILE", type, member.spec, "workload spec file (docs/gpu.md)"),      \
        OPT_DOUBLE(0, "peak-tflops", "X", type, member.peaks.tflops,                               \
                   "compute peak in TFLOP/s (default: of the device)"),                            \
        OPT_DOUBLE(0, "peak-gbps", "X", type, member.peaks.gbps,                                   \
                   "memory bandwidth in GB/s (default: of the device)")

#define OPT_GPU_NAMES(type, member)                                                                \
    OPT_STRING(0, "kernel", "NAME", type, member.kernel, "title of the report"),                   \
        OPT_STRING(0, "version", "NAME", type, member.version, "version label (default: base)")

/* Parameters and formulas of the command line: CODE_DONE, or CODE_USAGE when one is wrong. What a
 * plan has to add to a formula is not known here, and is judged with it. */
int gpu_options_check(struct session *s, const struct gpu_ask *ask);

/* The files of the command line as a job. */
static inline struct gpu_import_job gpu_job_of(struct session *s, const struct gpu_ask *ask)
{
    return (struct gpu_import_job){(const char *const *)s->operands.at, s->operands.n, *ask};
}

/* The files that were read, for the frame of the answer. */
static inline void gpu_note_inputs(struct session *s, const struct gpu_imported *from)
{
    for (size_t i = 0; i < from->inputs.n; i++)
        session_read(s, from->inputs.at[i].path, from->inputs.at[i].format, from->inputs.at[i].rows,
                     from->inputs.at[i].lost);
}

#endif
