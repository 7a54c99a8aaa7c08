/*
 * flow - jobs that wire the boxes: input to analysis to render, each box knowing nothing of the
 * others. The command line and the library are two doors to the same jobs.
 */
#ifndef STRATA_FLOW_FLOW_H
#define STRATA_FLOW_FLOW_H

#include "base/diag.h"

struct capture;
struct report;

/* Reads a file or folder into a sealed capture; capture_free() it. */
enum status flow_load(const char *path, const char *format, struct diag *d, struct capture **out);

/* Asks one analysis by name; report_free() the report. */
enum status flow_analyze(const struct capture *cap, const char *analysis, struct diag *d,
                         struct report **out);

/* Writes a report in a format by name to a file, whole or not at all. */
enum status flow_render(const struct report *r, const char *format, const char *path,
                        struct diag *d);

#endif
