/*
 * gpu_timeline_job - a capture of a GPU in, its timeline analysis and its tables out.
 */
#ifndef STRATA_GPU_TIMELINE_GPU_TIMELINE_JOB_H
#define STRATA_GPU_TIMELINE_GPU_TIMELINE_JOB_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/tables/interval.h"
#include "input/input.h"
#include "report/message.h"

struct fleet;
struct timeline_device;
struct timeline;

struct gpu_timeline_job {
    const char *path;
    struct input_options input;
    const char *out;   /* folder for report.md and timeline/; NULL: write nothing */
    const char *range; /* only the time of the first range of this name; NULL: all */
    bool may_be_idle;  /* no work on any device is no failure */
    enum lang lang;    /* of report.md */
};

struct gpu_timeline_result {
    struct fleet *fleet;
    struct timeline **timelines; /* one for each capture: the devices of a run */
    size_t n;
    const char **written; /* paths of files, in the job's arena */
    size_t n_written;
};

struct gpu_timeline_job gpu_timeline_job_new(const char *path);

/* Call gpu_timeline_result_free() in any case. A report of nsys is read by way of that program. */
enum status gpu_timeline_run(const struct gpu_timeline_job *job, struct arena *arena,
                             struct diag *d, struct gpu_timeline_result *result);
void gpu_timeline_result_free(struct gpu_timeline_result *result);

/* Whether only nsys can open it, by its name. */
bool gpu_timeline_is_report(const char *path);

/* The device with most kernel time over all results, and the timeline it is in; `candidates` counts
 * those with any work. NULL when there is none. */
struct timeline_device *gpu_timeline_busiest(const struct gpu_timeline_result *results, size_t n,
                                             struct timeline **of, size_t *candidates);

/* Writes the tables of `n` timelines and trace.json.gz of each capture (with the device's number
 * in the name when there are several) into the folder `dir`, which is made when it is new. Gives
 * the paths in `written`, which has room for GPU_TIMELINE_FILES and `n` more. */
enum { GPU_TIMELINE_FILES = 16 };
enum status gpu_timeline_save(struct timeline *const *list, size_t n, const char *dir,
                              struct arena *arena, struct diag *d, const char **written,
                              size_t *n_written);

#endif
