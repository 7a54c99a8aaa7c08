/*
 * opportunities - what would make a kernel faster, with the reading that says so and a gain that
 * no roof forbids.
 */
#ifndef STRATA_GPU_OPPORTUNITIES_H
#define STRATA_GPU_OPPORTUNITIES_H

#include "gpu/classify.h"

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
    bool uses_compression;
    double share; /* of the whole duration, 0 to 1 */
};

/* Texts live in the arena. */
void gpu_opportunities_find(struct arena *arena, const struct gpu_case *c,
                            struct gpu_opportunities *out);
void gpu_opportunities_free(struct gpu_opportunities *list);

#endif
