/*
 * Operations by type, and the bytes that each level of memory moved. See roofline.h.
 */
#include <math.h>

#include "gpu/judge/roofline.h"

enum { SECTOR = 32 };

ENUM_NAMES(gpu_flop_name, enum gpu_flop_type, "fp64", "fp32", "fp16", "tensor_fp64", "tensor_tf32",
           "tensor_bf16", "tensor_fp16", "tensor_fp8", "tensor_fp4", "tensor_int8")

enum peak gpu_flop_peak(enum gpu_flop_type type)
{
    static const enum peak peaks[GPU_FLOP_TYPES] = {
        PEAK_FP64, PEAK_FP32, PEAK_FP16, PEAK_FP64_TENSOR, PEAK_TF32,
        PEAK_BF16, PEAK_FP16, PEAK_FP8,  PEAK_FP4,         PEAK_INT8,
    };

    return peaks[type];
}

/* What feeds a type. Sums of adds, products and fused ones count the fused ones once: these are
 * added a second time. */
static const struct {
    enum gpu_flop_type type;
    enum gpu_metric metric;
    double ops;
} parts[] = {
    {GPU_FLOPS_FP64, GPU_M_DOUBLE_OPS, 1},
    {GPU_FLOPS_FP64, GPU_M_DFMA, 1},
    {GPU_FLOPS_FP32, GPU_M_FFMA, 2},
    {GPU_FLOPS_FP32, GPU_M_FADD, 1},
    {GPU_FLOPS_FP32, GPU_M_FMUL, 1},
    {GPU_FLOPS_FP16, GPU_M_HALF_OPS, 2},
    {GPU_FLOPS_FP16, GPU_M_HFMA, 2},
    {GPU_FLOPS_TENSOR_FP64, GPU_M_OPS_FP64, 1},
    {GPU_FLOPS_TENSOR_TF32, GPU_M_OPS_TF32, 1},
    {GPU_FLOPS_TENSOR_BF16, GPU_M_OPS_BF16, 1},
    {GPU_FLOPS_TENSOR_FP16, GPU_M_OPS_FP16, 1},
    {GPU_FLOPS_TENSOR_FP16, GPU_M_OPS_FP16_TO_FP16, 1},
    {GPU_FLOPS_TENSOR_FP16, GPU_M_OPS_FP16_HMMA, 1},
    {GPU_FLOPS_TENSOR_FP16, GPU_M_OPS_FP16_GMMA, 1},
    {GPU_FLOPS_TENSOR_FP8, GPU_M_OPS_FP8, 1},
    {GPU_FLOPS_TENSOR_FP8, GPU_M_OPS_FP8_TO_FP16, 1},
    {GPU_FLOPS_TENSOR_FP4, GPU_M_OPS_FP4, 1},
    {GPU_FLOPS_TENSOR_FP4, GPU_M_OPS_FP4_TO_FP16, 1},
    {GPU_FLOPS_TENSOR_INT8, GPU_M_OPS_INT8, 1},
    {GPU_FLOPS_TENSOR_INT8, GPU_M_OPS_INT8_IMMA, 1},
    {GPU_FLOPS_TENSOR_INT8, GPU_M_OPS_INT8_GMMA, 1},
};

struct gpu_flops gpu_counted_flops(const struct gpu_kernel *k)
{
    struct gpu_flops f = {.total = NAN};
    double tensor = 0, all = 0;
    bool is_known = false;

    for (size_t i = 0; i < GPU_FLOP_TYPES; i++)
        f.of[i] = NAN;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        enum gpu_metric metric = parts[i].metric;
        /* Where only the fused ones were collected, they are all there is. */
        bool is_alone = (metric == GPU_M_DFMA && isnan(k->m[GPU_M_DOUBLE_OPS])) ||
                        (metric == GPU_M_HFMA && isnan(k->m[GPU_M_HALF_OPS]));
        double ops = (is_alone ? 2 : 1) * parts[i].ops * k->m[metric];
        double *of = &f.of[parts[i].type];
        if (!isnan(ops))
            *of = isnan(*of) ? ops : *of + ops;
    }
    /* Compilers set registers to constants by fused operations on halves: where they are few among
     * all instructions, that is what they are. */
    if (k->m[GPU_M_HALF_OPS] < 0.15 * k->m[GPU_M_THREAD_INST_ON])
        f.of[GPU_FLOPS_FP16] = 0;
    for (size_t i = 0; i < GPU_FLOP_TYPES; i++) {
        if (isnan(f.of[i]))
            continue;
        is_known = true;
        all += f.of[i];
        tensor += i >= GPU_FLOPS_TENSOR_FP64 ? f.of[i] : 0;
    }
    /* No operations of one sort say nothing about the other. */
    bool is_partial = tensor == 0 && gpu_uses_tensor(k);
    if (is_known && !is_partial && (all > 0 || !isnan(f.of[GPU_FLOPS_FP32])))
        f.total = all;
    return f;
}

enum gpu_flop_type gpu_flops_main(const struct gpu_flops *f, const struct gpu_peaks *peaks)
{
    enum gpu_flop_type main = GPU_FLOP_TYPES;
    double longest = 0;

    for (unsigned i = 0; i < GPU_FLOP_TYPES; i++) {
        double peak = peaks->tflops[gpu_flop_peak((enum gpu_flop_type)i)];
        double takes = f->of[i] / (peak > 0 ? peak : 1);
        if (takes > longest) {
            longest = takes;
            main = (enum gpu_flop_type)i;
        }
    }
    return main;
}

void gpu_levels_of(const struct gpu_kernel *k, double flops, const struct gpu_peaks *peaks,
                   struct gpu_level out[GPU_LEVELS])
{
    const double *m = k->m;
    double l2 = m[GPU_M_L2_HIT_SECT] + m[GPU_M_L2_MISS_SECT];

    out[GPU_LEVEL_L1] = (struct gpu_level){
        .name = "L1", .bytes = SECTOR * m[GPU_M_L1_SECT], .peak_gbps = m[GPU_M_L1_PEAK] / 1e9};
    out[GPU_LEVEL_L2] =
        (struct gpu_level){.name = "L2", .bytes = SECTOR * l2, .peak_gbps = m[GPU_M_L2_PEAK] / 1e9};
    out[GPU_LEVEL_DRAM] = (struct gpu_level){.name = "DRAM",
                                             .bytes = gpu_dram_bytes(k),
                                             .peak_gbps = peaks->gbps > 0 ? peaks->gbps : NAN};
    for (size_t i = 0; i < GPU_LEVELS; i++) {
        out[i].gbps = out[i].bytes / m[GPU_M_DUR_NS];
        out[i].pct = 100 * out[i].gbps / out[i].peak_gbps;
        out[i].ai = out[i].bytes > 0 ? flops / out[i].bytes : NAN;
    }
}
