/*
 * plant_truth - where the time of a planted run went, counted from the machine's own records.
 *
 * Classes and their names are those of docs/analyses/accounting.md; nothing of the analysis is
 * used. Every border of every task cuts the timeline, and each piece is given to one class.
 */
#ifndef STRATA_SYNTH_PLANT_TRUTH_H
#define STRATA_SYNTH_PLANT_TRUTH_H

#include "report/record.h"
#include "synth/plant.h"
#include "synth/truth.h"

enum { PLANT_CLASSES = 40 };

struct plant_account {
    const char *class; /* "compute.gemm_tensor" */
    nanos ns;
};

/* The window of a step: from the end of the device work before to the end of its own. */
struct plant_step_truth {
    int64_t number;
    nanos begin, end;
    struct plant_account by[PLANT_CLASSES];
    size_t n;
};

/* One execution. */
struct plant_run {
    const char *machine; /* "H200" */
    const char *variant; /* "sick", "repaired" */
    bool is_recorded;    /* false: without a profiler; then there are no files */
    struct plant_step_truth *steps;
    size_t steps_n;
    nanos step_ns; /* mean over all steps but the first */
    struct truth_file *files;
    size_t files_n;
};

/* Fills the steps from what the machine did; they live in the arena. */
void plant_truth_account(struct plant_run *run, const struct machine *m, const struct plant *p,
                         const nanos *marks, struct arena *arena);

/* The whole document: both twins on one or two machines. */
struct plant_saving {
    const char *machine;
    double recorded, bare; /* shares of the sick run's step time */
};

struct plant_truth {
    const char *cause, *also, *planted, *repaired, *change;
    bool is_healthy;
    uint64_t seed;
    struct plant_saving savings[MACHINE_KINDS];
    size_t savings_n;
    struct plant_run *runs;
    size_t runs_n;
};

#endif
