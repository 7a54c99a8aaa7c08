/*
 * compare - what changed between two GPU runs, kernel by kernel.
 *
 * Launches are matched by the name of their kernel, their grid and block, and their order among
 * those of this kind. Figures are of matched launches only: a kernel that one run has alone makes
 * nothing faster or slower. The others are listed. Rule for noise: analysis/compare/noise.h.
 */
#ifndef STRATA_GPU_JUDGE_COMPARE_H
#define STRATA_GPU_JUDGE_COMPARE_H

#include "analysis/compare/noise.h"
#include "base/tables/vec.h"
#include "gpu/collect/run.h"
#include "report/record.h"

struct report;

/* Launches of one kernel with one shape. Nanoseconds. */
struct gpu_kernel_change {
    struct str name, shape; /* "128x1x1 of 256x1x1" */
    uint64_t launches[2];
    uint64_t matched;
    double total[2];            /* of matched launches */
    struct noise_change change; /* of a matched launch */
};

struct gpu_comparison {
    struct gpu_kernel_change *kernels; /* by size of the change */
    size_t n_kernels;                  /* with matched launches */
    struct gpu_kernel_change *unmatched;
    size_t n_unmatched;
    uint64_t matched, alone[2]; /* launches */
    double total[2];            /* of matched launches; of a run that was timed as a whole: a run */
    bool is_whole;              /* that */
    double relative, low, high; /* NAN: not known */
    double fastest, slowest; /* all matched launches if each were the fastest of B, slowest of A */
    bool is_equal;           /* every launch, or run, lasts as long: the same recording */
    bool is_doubled;         /* the fastest of B take over twice as long as the slowest of A */
    enum noise_verdict verdict;
    struct noise_change timings;
    struct gpu_change *changes; /* rows of the table "vs Baseline" */
    size_t n_changes;
};

/* The result lives in the arena of `b`, whose `changes` are filled. */
const struct gpu_comparison *gpu_compare_find(const struct gpu_run *a, struct gpu_run *b);

/* What a gate of `limit`, 0.05 for 5 %, says of matched launches. */
enum gate_verdict gpu_compare_gate(const struct gpu_comparison *c, double limit);

/* Of a struct gpu_comparison, for struct answer. */
void gpu_compare_describe(const void *comparison, struct report *r);
extern const struct schema gpu_compare_schema;

/* ---- several runs of one workload beside each other, oldest first: versions.c ---- */

/* One run. Percentages compare durations: negative is faster. */
struct gpu_version {
    struct str version;
    const char *path; /* of its folder, or of the log */
    double duration_us;
    double change;              /* from the run before; NAN: the first */
    double total;               /* from the first one */
    enum noise_verdict verdict; /* of the change from the run before */
    enum gate_verdict gate;     /* of the allowed percentage */
    double tflops, gbps, tc_pct, dram_pct, occ_pct;
    struct str bound;
};

struct gpu_versions {
    VEC_OF(struct gpu_version) at;
    double allowed;         /* percent that a run may be slower than the one before; NAN: no gate */
    enum gate_verdict gate; /* the worst of them */
};

/* Adds a run behind those there are; `change` is that from the run before, or NULL: durations
 * alone, as a log has them, tell nothing but a run that takes over twice as long. */
void gpu_versions_add(struct gpu_versions *v, const struct gpu_run *run, const char *path,
                      const struct gpu_comparison *change, struct arena *arena);

/* The gate in one sentence, with what to record. */
void gpu_versions_describe(const void *versions, struct report *r);

/* Adds what a development log holds (gpu_devlog_write), in its order. ST_FORMAT when that is
 * nothing. */
enum status gpu_versions_of_log(struct gpu_versions *v, const char *path, struct arena *arena,
                                struct diag *d);

void gpu_versions_free(struct gpu_versions *v);

extern const struct record gpu_version_record;
extern const struct schema gpu_versions_schema; /* over struct gpu_versions */

#endif
