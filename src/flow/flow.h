/*
 * flow - jobs that wire the boxes: input to analysis to render, each box knowing nothing of the
 * others. The command line and the library are two doors to the same jobs.
 */
#ifndef STRATA_FLOW_FLOW_H
#define STRATA_FLOW_FLOW_H

#include "base/diag.h"

struct capture;
struct fleet;
struct report;

/* Reads a file or folder into a sealed capture; capture_free() it. */
enum status flow_load(const char *path, const char *format, struct diag *d, struct capture **out);

/* What to read of a path: one format, one rank. */
struct flow_reading {
    const char *format; /* NULL: find out */
    int64_t rank;       /* -1: all */
    size_t jobs;        /* threads; 0: as many as processors */
    bool pmu;           /* keep the counter columns of kernel tables */
};

/* Reads a file or folder into the captures of its ranks; fleet_free() them. */
enum status flow_load_fleet(const char *path, const struct flow_reading *how, struct diag *d,
                            struct fleet **out);

/* Asks one analysis by name; report_free() the report. */
enum status flow_analyze(const struct capture *cap, const char *analysis, struct diag *d,
                         struct report **out);

/* Writes a report in a format by name to a file, whole or not at all. */
enum status flow_render(const struct report *r, const char *format, const char *path,
                        struct diag *d);

#endif
