/*
 * versions - several runs of one workload beside each other, oldest first.
 */
#ifndef STRATA_GPU_JUDGE_VERSIONS_H
#define STRATA_GPU_JUDGE_VERSIONS_H

#include "base/tables/vec.h"
#include "gpu/collect/run.h"
#include "report/record.h"

/* One run. Percentages compare durations: negative is faster. */
struct gpu_version {
    struct str version;
    const char *path; /* of its folder, or of the log */
    double duration_us;
    double change;  /* from the run before; NAN: the first */
    double total;   /* from the first one */
    double cv;      /* spread of its duration; NAN: not known */
    bool is_noise;  /* the change from the run before */
    bool is_slower; /* by more than noise and the allowed percentage */
    double tflops, gbps, tc_pct, dram_pct, occ_pct;
    struct str bound;
};

struct gpu_versions {
    VEC_OF(struct gpu_version) at;
    double allowed; /* percent that a run may be slower than the one before */
    bool is_slower; /* one of them is */
};

/* Adds a run behind those there are. */
void gpu_versions_add(struct gpu_versions *v, const struct gpu_run *run, const char *path,
                      struct arena *arena);

/* Adds what a development log holds (gpu_devlog_write), in its order. ST_FORMAT when that is
 * nothing. */
enum status gpu_versions_of_log(struct gpu_versions *v, const char *path, struct arena *arena,
                                struct diag *d);

void gpu_versions_free(struct gpu_versions *v);

extern const struct record gpu_version_record;
extern const struct schema gpu_versions_schema; /* over struct gpu_versions */

#endif
