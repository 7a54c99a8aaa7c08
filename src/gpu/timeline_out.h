/*
 * timeline_out - a timeline as tables, as a report and as a document for machines.
 */
#ifndef STRATA_GPU_TIMELINE_OUT_H
#define STRATA_GPU_TIMELINE_OUT_H

#include "base/csv_write.h"
#include "base/json_write.h"
#include "base/sink.h"
#include "gpu/timeline.h"

struct report;

/* One of the tables of a timeline. */
struct timeline_table {
    const char *file;    /* "kernels.csv" */
    const char *columns; /* with commas between */
    void (*rows)(const struct timeline *t, struct csv_write *out);
};

extern const struct timeline_table timeline_tables[];
extern const size_t timeline_tables_n;

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

/* The value of the key "result": an object with a list of devices. */
void timeline_write_json(struct timeline *const *list, size_t n, struct json_writer *j);

/* What a reader should know about the numbers; at most TIMELINE_NOTES texts into `list`, which
 * live in `arena`. */
enum { TIMELINE_NOTES = 8 };
size_t timeline_notes(const struct timeline *t, const struct timeline_device *d,
                      struct arena *arena, struct str *list);

#endif
