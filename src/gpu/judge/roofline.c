/*
 * Floors, roofs and timings. See roofline.h.
 */
#include "gpu/judge/roofline.h"

#include <math.h>

#include "base/tables/ranked.h"

ENUM_NAMES(gpu_work_source_name, enum gpu_work_source, "none", "formula", "counter")

struct gpu_timing gpu_timing_of(const double *ns, size_t n)
{
    struct gpu_timing t = {.n = n,
                           .median = NAN,
                           .p10 = NAN,
                           .p90 = NAN,
                           .min = NAN,
                           .cv = NAN,
                           .low = NAN,
                           .high = NAN};

    if (n == 0)
        return t;
    double *list = mem_grow(NULL, sizeof(*list), n); /* in order, then how far from the median */
    memcpy(list, ns, n * sizeof(*list));
    ranked_sort(list, n);
    t.median = ranked_middle(list, n);
    t.p10 = ranked_nearest(list, n, 0.1);
    t.p90 = ranked_nearest(list, n, 0.9);
    t.min = list[0];
    double half = (double)n / 2, reach = 0.98 * sqrt((double)n);
    double low = fmax(1, floor(half - reach)), high = fmin((double)n, ceil(half + 1 + reach));
    t.low = list[(size_t)low - 1];
    t.high = list[(size_t)high - 1];
    for (size_t i = 0; i < n; i++)
        list[i] = fabs(list[i] - t.median);
    ranked_sort(list, n);
    t.cv = t.median > 0 ? 1.4826 * ranked_middle(list, n) / t.median : NAN;
    mem_free(list);
    return t;
}

double gpu_floor_ns(struct gpu_work work, double peak_tflops, double gbps, double eta_compute,
                    double eta_memory)
{
    double compute = peak_tflops > 0 ? work.flops / (eta_compute * peak_tflops * 1e3) : NAN;
    double memory = gbps > 0 ? work.bytes / (eta_memory * gbps) : NAN;

    return fmax(compute, memory); /* passes over the one that is missing */
}

struct gpu_roofline gpu_roofline_of(double dur_ns, struct gpu_work work, double dram_bytes,
                                    double peak_tflops, const struct gpu_peaks *peaks)
{
    double w = peaks->gbps > 0 ? peaks->gbps : NAN;
    double p = peak_tflops > 0 ? peak_tflops : NAN;
    struct gpu_roofline r = {
        .tflops = work.flops / dur_ns / 1e3,
        .gbps = work.bytes / dur_ns,
        .dram_gbps = dram_bytes / dur_ns,
        .ai = work.flops / work.bytes,
        .ai_dram = work.flops / dram_bytes,
        .floor_ns = gpu_floor_ns(work, peak_tflops, peaks->gbps, 1, 1),
        .traffic = dram_bytes / work.bytes,
        .ridge = 1000 * p / w,
        .bound = "",
    };

    r.pct_compute = 100 * r.tflops / p;
    r.pct_memory = 100 * r.gbps / w;
    r.gap = dur_ns / r.floor_ns;
    /* roof = min(P, AI * W), in TFLOP/s */
    r.pct_roof = work.flops > 0 ? 100 * r.tflops / fmin(p, r.ai * w / 1e3) : r.pct_memory;
    if (r.ai < r.ridge || (work.flops == 0 && work.bytes > 0))
        r.bound = "memory";
    else if (r.ai >= r.ridge)
        r.bound = "compute";
    r.is_over_roof = r.pct_roof > 105;
    r.is_over_dram = r.dram_gbps > 1.02 * w;
    r.is_too_fast = dur_ns < 0.5 * r.floor_ns;
    r.is_cached = peaks->l2_bytes > 0 && work.bytes > 0 && work.bytes < 0.8 * peaks->l2_bytes;
    return r;
}
