/*
 * Rates of devices as times.
 */
#include "analysis/diagnose/roof.h"

#include "analysis/diagnose/limits.h"

double roof_flops_time(const struct device *d, double flops, enum peak peak, int percent)
{
    double tflops = d != NULL ? d->tflops[peak] : 0;

    return tflops > 0 ? flops / (tflops * 1e3 * percent / 100) : 0;
}

double roof_bytes_time(const struct device *d, double bytes, int percent)
{
    double gbps = d != NULL ? d->gbps : 0;

    return gbps > 0 ? bytes / (gbps * percent / 100) : 0;
}

enum peak roof_peak(struct tensor_type type)
{
    return type.is_float8 ? PEAK_FP8 : type.is_half ? PEAK_BF16 : PEAK_TF32;
}

static bool is_wide(enum peak peak)
{
    return peak == PEAK_TF32 || peak == PEAK_FP32 || peak == PEAK_FP64 || peak == PEAK_FP64_TENSOR;
}

int roof_percent(enum roof_kind kind, enum peak peak, double head)
{
    switch (kind) {
    case ROOF_CONVOLUTION:
        return is_wide(peak) ? LIMIT_CONV_TF32_ROOF : LIMIT_CONV_ROOF;
    case ROOF_ATTENTION:
        return peak == PEAK_FP32              ? LIMIT_ATTENTION_SIMT
               : head >= LIMIT_ATTENTION_HEAD ? LIMIT_ATTENTION_WIDE
                                              : LIMIT_ATTENTION_ROOF;
    default:
        return is_wide(peak) ? LIMIT_TENSOR_ROOF : LIMIT_GEMM_ROOF;
    }
}
