/*
 * Rates of devices as times.
 */
#include "analysis/diagnose/roof.h"

#include "analysis/diagnose/limits.h"
#include "analysis/study.h"

#define ROOF_ASSUMED_DEVICE "910B3"

static double roof_trait(int64_t value, double unit)
{
    return value > 0 && value < INT64_C(1000000000000000) ? (double)value / unit : 0;
}

const struct device *roof_device(struct study *st, bool *is_assumed)
{
    const struct facts *f = &st->cap->facts;
    struct device_traits traits = {
        .name = capture_text(st->cap, f->device_name),
        .cc = capture_text(st->cap, f->device_cc),
        .cores = f->device_cores < 100000 ? roof_trait(f->device_cores, 1) : 0,
        .clock_mhz = f->device_clock < INT64_C(100000000000) ? roof_trait(f->device_clock, 1e6) : 0,
        .gbps = roof_trait(f->device_bandwidth, 1e9),
        .memory_bytes = roof_trait(f->device_memory, 1),
    };

    const struct device *known = device_of_traits(&traits, &st->scratch);
    bool is_unknown = known == NULL && capture_is_ascend(st->cap);
    if (is_assumed != NULL)
        *is_assumed = is_unknown;
    return is_unknown ? device_find(&device_builtin, S(ROOF_ASSUMED_DEVICE)) : known;
}

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

static double roof_tflops(const struct device *d, enum peak peak)
{
    return d != NULL ? d->tflops[peak] : 0;
}

static enum peak half_peak(const struct device *d)
{
    return device_product_peak(d, DTYPE_BF16);
}

bool roof_has_tf32(const struct device *d)
{
    return roof_tflops(d, PEAK_TF32) * 100 >= roof_tflops(d, PEAK_FP32) * LIMIT_TF32_WORTH;
}

enum peak roof_float_peak(const struct device *d)
{
    return roof_has_tf32(d) || roof_tflops(d, half_peak(d)) <= 0 ? PEAK_TF32 : half_peak(d);
}

double roof_float_gain(const struct device *d)
{
    enum peak peak = roof_float_peak(d);
    double gain = num_share(roof_tflops(d, peak) * roof_percent(d, ROOF_PRODUCT, peak, 0),
                            roof_tflops(d, PEAK_FP32) * LIMIT_SIMT_ROOF);

    return gain > 0 && gain < LIMIT_UNSHAPED_PRODUCT ? gain : LIMIT_UNSHAPED_PRODUCT;
}

static bool is_wide(enum peak peak)
{
    return peak == PEAK_TF32 || peak == PEAK_FP32 || peak == PEAK_FP64 || peak == PEAK_FP64_TENSOR;
}

/* The same for a device whose peak nobody measured. */
static int usual_percent(enum roof_kind kind, enum peak peak, double head)
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

int roof_percent(const struct device *d, enum roof_kind kind, enum peak peak, double head)
{
    int usual = usual_percent(kind, peak, head);
    bool is_known = d != NULL && d->reached > 0 && peak != PEAK_FP32;

    return is_known ? usual * (int)d->reached / LIMIT_GEMM_ROOF : usual;
}
