/*
 * floors - how long the stages of a run must take at least, without a measurement.
 */
#ifndef STRATA_GPU_JUDGE_FLOORS_H
#define STRATA_GPU_JUDGE_FLOORS_H

#include "gpu/collect/run.h"
#include "report/record.h"

enum { GPU_FLOOR_TEXTS = 6 };

/* A stage, or a group of stages that run at the same time. */
struct gpu_floor {
    struct str name, group; /* group: of a stage; empty: alone */
    struct gpu_work work;
    double peak, ridge, ai; /* NAN: not known */
    double compute_ns, memory_ns, floor_ns;
    const char *peak_name, *bound, *bound_shown;
    const char *shown[GPU_FLOOR_TEXTS]; /* numbers of the table */
};

struct gpu_floors {
    struct str device;
    double gbps;
    enum gpu_peak_source source;
    struct gpu_floor *at, *groups; /* stages; behind them groups */
    size_t n, n_groups;
    double total_ns; /* one after the other */
};

struct gpu_floors gpu_floors_of(struct arena *arena, const struct gpu_run *run);

/* A number with so many decimals, 4: with four digits; "-" when it is not known. */
const char *gpu_floor_text(struct arena *arena, int decimals, double value);

extern const struct record gpu_floor_record; /* the table */
extern const struct schema gpu_floors_schema;

#endif
