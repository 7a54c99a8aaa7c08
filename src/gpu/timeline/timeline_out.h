/*
 * timeline_out - a timeline as tables, as a report and as a document for machines.
 */
#ifndef STRATA_GPU_TIMELINE_TIMELINE_OUT_H
#define STRATA_GPU_TIMELINE_TIMELINE_OUT_H

#include "capture/capture.h"
#include "gpu/collect/run.h"
#include "gpu/timeline/timeline.h"
#include "report/record.h"

struct report;

/* A table on its way into a sink. */
struct timeline_csv {
    struct csv_write csv;
    const struct record *record;
    struct record_env env;
    uint64_t n;
    bool is_over; /* the user interrupted */
};

void timeline_csv_put(struct timeline_csv *out, const void *row);

/* One of the tables of a timeline. */
struct timeline_table {
    const char *file; /* "kernels.csv" */
    const struct record *record;
    void (*rows)(const struct timeline *t, struct timeline_csv *out);
};

enum { TIMELINE_TABLES = 9 };
extern const struct timeline_table timeline_tables[TIMELINE_TABLES];

/* Those of results, for the list. */
extern const struct record timeline_stream_record, timeline_pair_record;
void timeline_stream_rows(const struct timeline *t, struct timeline_csv *out);
void timeline_pair_rows(const struct timeline *t, struct timeline_csv *out);

/* The table of `n` timelines: the devices of one run. False when the sink refused or the user
 * interrupted. */
bool timeline_table_write(const struct timeline_table *table, struct timeline *const *list,
                          size_t n, struct sink sink);

/* The sections of a report on a timeline, after whatever the report has: device, summary, streams,
 * overlap, launch latency, gaps, graphs, top kernels, notes. */
void timeline_describe(const struct timeline *t, struct report *r);

/* The same of one device, without the device's own section and the notes. */
void timeline_describe_device(const struct timeline *t, const struct timeline_device *d,
                              struct report *r);

/* The document, over a struct timeline_set; needs env->arena. */
struct timeline_set {
    struct timeline *const *list;
    size_t n;
    const char *path; /* that was read */
};

/* A whole report on it, with a title. */
void timeline_set_describe(const struct timeline_set *set, struct report *r);
extern const struct schema timeline_schema;

/* What a reader should know about the numbers; at most TIMELINE_NOTES texts into `list`, which
 * live in `arena`. */
enum { TIMELINE_NOTES = 8 };
size_t timeline_notes(const struct timeline *t, const struct timeline_device *d,
                      struct arena *arena, struct str *list);

struct str timeline_stream_name(const struct timeline *t, uint32_t stream);

/*
 * A timeline as part of a run: its kernels, its sections of the report, and the
 * opportunities that only a timeline shows (O12 launch overhead, O13 stages that could overlap).
 *
 *     timeline_run_kernels(t, d, &run);
 *     gpu_run_stages(&run, …);
 *     timeline_run_sections(t, d, &run);
 *     gpu_run_judge(&run);
 */

/* Adds one kernel for each name and launch shape of a device, with the median of its durations. The
 * run must have no other kernels. */
void timeline_run_kernels(const struct timeline *t, struct timeline_device *d, struct gpu_run *run);

/* Adds sections, notes and opportunities, and tells the timeline the stages of its kernels. Groups
 * of concurrent stages get their efficiency. */
void timeline_run_sections(struct timeline *t, struct timeline_device *d, struct gpu_run *run);

/*
 * Counters that a framework's profiler collected by kernel and left in its trace: events
 * "cuda_profiler_range" of Kineto, whose arguments are counters.
 *
 * Such a trace tells no times of kernels: ranges stand one behind the other in equal lengths.
 */

/* Adds a kernel for each range to the run; returns how many. */
size_t gpu_ranges_read(const struct capture *cap, struct gpu_run *run);

#endif
