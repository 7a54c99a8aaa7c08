/*
 * rules - what is said of a kernel: occupancy, what bounds it, its health, what would help.
 */
#ifndef STRATA_GPU_JUDGE_RULES_H
#define STRATA_GPU_JUDGE_RULES_H

#include "gpu/judge/kernel.h"
#include "gpu/judge/roofline.h"

/*
 * How many blocks of a kernel fit on a multiprocessor, from its resources alone.
 */

struct gpu_occupancy {
    bool is_known;
    uint32_t warps_per_block, max_warps;
    uint32_t lim_regs, lim_smem, lim_warps, lim_blocks; /* blocks a multiprocessor; 0: not known */
    uint32_t blocks_per_sm;
    const char *limiter; /* "registers", "shared memory", "warps", "blocks" or "barriers" */
    double theory_pct;
    double waves; /* NAN when the grid or the multiprocessors are not known */
    /* With one more block on each multiprocessor; NAN when warps or blocks forbid it. */
    double next_pct;
    double regs_to_free;  /* per thread; 0 when registers allow one more */
    double bytes_to_free; /* shared memory per block; likewise */
};

/* From the resources of the launch, else from the limits that the tool printed. */
struct gpu_occupancy gpu_occupancy_of(const struct gpu_kernel *k, struct str cc, double sm_count);

/* Percent, if the resource that limits it did not. */
double gpu_occupancy_roomy(const struct gpu_occupancy *o);

/*
 * What bounds a kernel: memory, compute or latency, by one fixed list of rules.
 *
 * The thresholds are 60 % for the pipes that compute, 70 % for device memory and 80 % for L1 and
 * L2; docs/gpu.md has the table. What was not collected cannot prove anything: a condition "at
 * least" on it fails, "less than" holds.
 */

#define GPU_COMPUTE_HIGH 60.0
#define GPU_DRAM_HIGH    70.0
#define GPU_CHIP_HIGH    80.0
#define GPU_ISSUE_HIGH   80.0
#define GPU_WEAK         0.75 /* of a threshold: where the weak band begins */

#define GPU_UNDERFILL_WAVES  0.5
#define GPU_UNDERFILL_ACTIVE 0.75   /* of the multiprocessors, or of the time they work */
#define GPU_GAIN_SHOWN       0.05   /* percent: what is less is printed as nothing */
#define GPU_EMPTY_NS         1500.0 /* of a kernel without work */
#define GPU_AT_LIMIT         75.0   /* percent that the busiest unit of a kernel at its limit is */
#define GPU_MODEL_PROVEN     50.0   /* percent of its roof that a stage without counters reaches */

enum gpu_bound {
    GPU_MEMORY,
    GPU_COMPUTE,
    GPU_LATENCY,
    GPU_UNPROVEN, /* what was measured proves none of them */
    GPU_BOUNDS
};

struct gpu_class {
    enum gpu_bound bound;
    const char *sub; /* "dram", "l1", "tensor", "fma", "issue", "balanced", "underfill", … */
    bool is_weak;
    bool is_model; /* no counters: by formulas and times alone */
    double confidence;
    bool no_compute, no_chip; /* not collected */
    bool has_locality_issue;
    int rule; /* 1 to 7 */
};

/* "Memory", "Compute", "Latency", "Unknown". */
const char *gpu_bound_name(enum gpu_bound bound);

/* `r` may hold NANs. */
struct gpu_class gpu_classify(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                              const struct gpu_roofline *r);

/* The class as reports for people have it: none at confidence 0, on the border between two. */
struct gpu_class gpu_class_shown(const struct gpu_class *c);

/* Cycles of a warp for each instruction that it issues: of all reasons to wait, and at least what
 * the number of warps says when not every reason was collected. 0: not known. */
double gpu_stall_time(const struct gpu_kernel *k, const struct gpu_occupancy *o);

/* The waves of a launch: computed where possible, because tools print two decimals. */
double gpu_waves(const struct gpu_kernel *k, const struct gpu_occupancy *o);

/* Whether the grid leaves multiprocessors without work: less than half a wave, and they were seen
 * idle or there are fewer blocks than multiprocessors. */
bool gpu_is_underfilled(const struct gpu_kernel *k, const struct gpu_occupancy *o);

/*
 * Six readings of a kernel against fixed limits, each with a hint.
 */

enum gpu_health { GPU_HEALTH_OK, GPU_HEALTH_WARN, GPU_HEALTH_BAD, GPU_HEALTH_NONE };

enum { GPU_HEALTH_ROWS = 6 };

struct gpu_health_row {
    const char *metric, *healthy, *if_not, *hint;
    double value;
    const char *unit; /* "%", "bytes" or "" */
    enum gpu_health state;
    const char *note; /* why it does not apply: "streaming", "not collected", …; else "" */
};

/* "ok", "warn", "bad", "n/a". */
const char *gpu_health_name(enum gpu_health state);

/* `is_tensor_type`: the declared type is one tensor cores work on. */
void gpu_health_check(const struct gpu_kernel *k, const struct gpu_occupancy *o,
                      const struct gpu_roofline *r, bool is_tensor_type,
                      struct gpu_health_row out[GPU_HEALTH_ROWS]);

/*
 * What would make a kernel faster, with the reading that says so and a gain that
 * no roof forbids.
 */

/* The parts of the peaks that real kernels reach. */
#define GPU_ETA_COMPUTE 0.80
#define GPU_ETA_MEMORY  0.90

struct gpu_opportunity {
    int id;             /* 1 to 14: O1 to O14 */
    const char *family; /* one entry each is ranked */
    struct str name;
    struct str trigger; /* "metric=value", and what goes with it */
    double gain;        /* percent of the duration, capped */
    double confidence;
    bool is_ranked; /* advice on the efficiency of one unit is shown, not ranked */
};

struct gpu_opportunities {
    VEC_OF(struct gpu_opportunity) all; /* best first; those not ranked last */
};

/* What the rules need to know of a stage. */
struct gpu_case {
    const struct gpu_kernel *kernel;
    const struct gpu_occupancy *occupancy;
    const struct gpu_roofline *roofline;
    const struct gpu_class *class;
    const struct gpu_peaks *peaks;
    struct gpu_work work;
    double peak_tflops;
    bool is_tensor_type; /* by the declared type */
    bool is_gemm;        /* operations by formula, at least as many a byte as the ridge asks for */
    double share;        /* of the whole duration, 0 to 1 */
};

/* Texts live in the arena. */
void gpu_opportunities_find(struct arena *arena, const struct gpu_case *c,
                            struct gpu_opportunities *out);

#endif
