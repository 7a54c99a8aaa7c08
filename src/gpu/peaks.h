/*
 * peaks - how fast a device can be: its roof for each type and its memory bandwidth.
 *
 * What the user says comes first, then what the device says of itself (bus times clock, operations
 * per cycle times clock), then the table of src/device.
 */
#ifndef STRATA_GPU_PEAKS_H
#define STRATA_GPU_PEAKS_H

#include "base/arena.h"
#include "device/device.h"

/* A device as its driver describes it. 0 and empty mean "not known". */
struct gpu_device {
    struct str name, uuid, cc, driver, cuda, ecc, mig;
    double sm_count, l2_bytes, mem_bytes, bus_bits, mem_clock_khz, sm_clock_khz;
};

enum gpu_peak_source {
    GPU_PEAKS_NONE,
    GPU_PEAKS_TABLE,
    GPU_PEAKS_DEVICE,
    GPU_PEAKS_USER,
    GPU_PEAK_SOURCES
};

struct gpu_peaks {
    enum gpu_peak_source source;  /* the best one that was used */
    double gbps;                  /* 0: not known, also below */
    double tflops[PEAK_COUNT];    /* the roofs */
    double datasheet[PEAK_COUNT]; /* those of the table */
    double l2_bytes;
    double sm_count; /* of the driver, else of the table */
    struct str cc;
};

/* 0 where the user gave nothing; `tflops` then holds for every type. */
struct gpu_peak_override {
    double tflops, gbps;
};

struct gpu_peaks gpu_peaks_of(const struct device_table *table, const struct gpu_device *device,
                              struct gpu_peak_override user);

/* "user", "device", "table" or "none". */
const char *gpu_peak_source_name(enum gpu_peak_source source);

/* The roof that a type of numbers has; false for a type that has none. */
bool gpu_peak_of_dtype(struct str dtype, enum peak *peak);

/* Whether tensor cores work on that type. */
bool gpu_dtype_is_tensor(struct str dtype);

/* FLOP per byte; 0 when one side is not known. */
double gpu_ridge(const struct gpu_peaks *p, enum peak peak);

#endif
