/*
 * roofline - how long work must take at least on a device, how far a measurement is from that, and
 * the statistics of repeated timings.
 */
#ifndef STRATA_GPU_JUDGE_ROOFLINE_H
#define STRATA_GPU_JUDGE_ROOFLINE_H

#include "base/arena.h"
#include "device/device.h"
#include "gpu/judge/kernel.h"

/*
 * How fast a device can be: its roof for each type and its memory bandwidth.
 *
 * What the user says comes first, then what the device says of itself (bus times clock, operations
 * per cycle times clock), then the table of src/device.
 */

/* A device as its driver describes it. 0 and empty mean "not known". */
struct gpu_device {
    struct str name, uuid, cc, driver, cuda, ecc, mig;
    double sm_count, l2_bytes, mem_bytes, bus_bits, mem_clock_khz, sm_clock_khz;
    double gbps; /* where it is told itself */
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

/* FLOP per byte; 0 when one side is not known. */
double gpu_ridge(const struct gpu_peaks *p, enum peak peak);

/* Repeated durations of one thing, in ns. */
struct gpu_timing {
    size_t n;
    double median, p10, p90, min; /* NAN without runs */
    double cv;                    /* 1.4826 * MAD / median */
    double low, high;             /* 95 % confidence interval of the median, by order statistics */
};

struct gpu_timing gpu_timing_of(const double *ns, size_t n);

enum gpu_work_source { GPU_WORK_NONE, GPU_WORK_FORMULA, GPU_WORK_COUNTER, GPU_WORK_SOURCES };
const char *gpu_work_source_name(enum gpu_work_source source);

/* What has to be done; NAN where not known. */
struct gpu_work {
    double flops, bytes;
    enum gpu_work_source flops_source, bytes_source;
};

/* Operations that the counters saw, by type: those of the tensor cores, and those of the pipes
 * beside them, where an add or a product is one, a fused one two, and packed halves count twice. */
enum gpu_flop_type {
    GPU_FLOPS_FP64,
    GPU_FLOPS_FP32,
    GPU_FLOPS_FP16,
    GPU_FLOPS_TENSOR_FP64,
    GPU_FLOPS_TENSOR_TF32,
    GPU_FLOPS_TENSOR_BF16,
    GPU_FLOPS_TENSOR_FP16,
    GPU_FLOPS_TENSOR_FP8,
    GPU_FLOPS_TENSOR_FP4,
    GPU_FLOPS_TENSOR_INT8,
    GPU_FLOP_TYPES
};

struct gpu_flops {
    double of[GPU_FLOP_TYPES]; /* NAN: not collected */
    double total; /* NAN: nothing, or tensor cores were busy and their operations are not known */
};

struct gpu_flops gpu_counted_flops(const struct gpu_kernel *k);

/* "fp32", "tensor_bf16", and the roof that holds for it. */
const char *gpu_flop_name(enum gpu_flop_type type);
enum peak gpu_flop_peak(enum gpu_flop_type type);

/* The type whose operations take longest at its peak; GPU_FLOP_TYPES: none was counted. */
enum gpu_flop_type gpu_flops_main(const struct gpu_flops *f, const struct gpu_peaks *peaks);

/* What a level of memory moved for one launch: measured, without a formula. */
enum { GPU_LEVEL_L1, GPU_LEVEL_L2, GPU_LEVEL_DRAM, GPU_LEVELS };

struct gpu_level {
    const char *name;
    double bytes;     /* NAN: not collected */
    double gbps;      /* achieved */
    double peak_gbps; /* NAN: not known */
    double pct;       /* of that peak */
    double ai;        /* FLOP per byte of this level */
};

void gpu_levels_of(const struct gpu_kernel *k, double flops, const struct gpu_peaks *peaks,
                   struct gpu_level out[GPU_LEVELS]);

/* Everything NAN or 0 where it cannot be told. */
struct gpu_roofline {
    double tflops, gbps; /* achieved, by the work that had to be done */
    double dram_gbps;    /* achieved, by the bytes that memory moved */
    double ai, ai_dram;  /* FLOP per byte: of the work, and measured */
    double pct_compute, pct_memory, pct_roof;
    double floor_ns, gap; /* gap: duration over floor */
    double traffic;       /* bytes moved over bytes needed */
    double ridge;
    const char *bound; /* "memory", "compute", or "" */
    bool is_over_roof; /* over 105 % of the roof: the formula or the timing is wrong */
    bool is_over_dram; /* more than 102 % of the bandwidth was moved */
    bool is_too_fast;  /* under half the floor: overstated work, or it lives in L2 */
    bool is_cached;    /* the working set is below 0.8 of L2 */
};

struct gpu_roofline gpu_roofline_of(double dur_ns, struct gpu_work work, double dram_bytes,
                                    double peak_tflops, const struct gpu_peaks *peaks);

/* The least time in ns: max(F/P, B/W), where each side is divided by the part of its peak that
 * can be had. NAN when neither is known. */
double gpu_floor_ns(struct gpu_work work, double peak_tflops, double gbps, double eta_compute,
                    double eta_memory);

#endif
