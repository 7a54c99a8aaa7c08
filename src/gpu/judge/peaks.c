/*
 * Roofs and bandwidth of a device. See roofline.h.
 */
#include "gpu/judge/roofline.h"

bool gpu_peak_of_dtype(struct str dtype, enum peak *peak)
{
    return peak_of_dtype(dtype_of(dtype), peak);
}

ENUM_NAMES(gpu_peak_source_name, enum gpu_peak_source, "none", "table", "device", "user")

/* 2 transfers a clock: 2 * 3,201,000 kHz * 6016 bit / 8 = 4814.3 GB/s on an H200. */
static void derive(struct gpu_peaks *p, const struct gpu_device *device, const struct device *known)
{
    const struct device_rate *rate = known != NULL ? device_rate_of(known) : NULL;

    /* The rates of a chip that is not in the table: by its cc alone. */
    for (size_t i = 0; known == NULL && rate == NULL && i < device_rate_count; i++)
        if (device_rates[i].family == NULL && str_equal(p->cc, str_of(device_rates[i].cc)))
            rate = &device_rates[i];
    if (device->bus_bits > 0 && device->mem_clock_khz > 0) {
        p->gbps = 2 * device->mem_clock_khz * 1e3 * device->bus_bits / 8 / 1e9;
        p->source = GPU_PEAKS_DEVICE;
    }
    if (device->gbps > 0) {
        p->gbps = device->gbps;
        p->source = GPU_PEAKS_DEVICE;
    }
    if (rate == NULL || !(device->sm_count > 0) || !(device->sm_clock_khz > 0))
        return;
    for (size_t i = 0; i < PEAK_COUNT; i++)
        if (rate->ops[i] > 0) {
            p->tflops[i] = rate->ops[i] * device->sm_count * device->sm_clock_khz * 1e3 / 1e12;
            p->source = GPU_PEAKS_DEVICE;
        }
}

/* What the device itself says goes before the table, and what the user gives before both. */
struct gpu_peaks gpu_peaks_of(const struct device_table *table, const struct gpu_device *device,
                              struct gpu_peak_override user)
{
    const struct device *known = device->name.n > 0 ? device_find(table, device->name) : NULL;
    struct gpu_peaks p = {
        .l2_bytes = device->l2_bytes, .sm_count = device->sm_count, .cc = device->cc};

    if (known != NULL) {
        p.source = GPU_PEAKS_TABLE;
        p.gbps = known->gbps;
        memcpy(p.tflops, known->tflops, sizeof(p.tflops));
        memcpy(p.datasheet, known->tflops, sizeof(p.datasheet));
        if (!(p.l2_bytes > 0))
            p.l2_bytes = known->l2_mb * 1e6;
        if (!(p.sm_count > 0))
            p.sm_count = known->cores;
        if (p.cc.n == 0 && known->cc != NULL)
            p.cc = str_of(known->cc);
    }
    derive(&p, device, known);
    if (user.gbps > 0)
        p.gbps = user.gbps;
    for (size_t i = 0; i < PEAK_COUNT && user.tflops > 0; i++)
        p.tflops[i] = user.tflops;
    if (user.gbps > 0 || user.tflops > 0)
        p.source = GPU_PEAKS_USER;
    return p;
}

double gpu_ridge(const struct gpu_peaks *p, enum peak peak)
{
    return p->gbps > 0 ? 1000 * p->tflops[peak] / p->gbps : 0;
}
