/*
 * flow - jobs that wire the boxes: input to analysis to render, each box knowing nothing of the
 * others. The command line and the library are two doors to the same jobs.
 */
#ifndef STRATA_FLOW_FLOW_H
#define STRATA_FLOW_FLOW_H

#include "base/arena.h"
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

/* What limits a capture's run, as texts and numbers that need the capture no more. */
struct flow_cause {
    const char *id;
    double saving_ms, saving_share;
    const char *confidence, *what, *action;
};

struct flow_diagnosis {
    struct arena arena; /* owns all texts */
    const char *text;   /* the verdict as a sentence */
    struct flow_cause verdict;
    struct flow_cause *causes; /* in their order */
    size_t n;
};

/* For flow_diagnosis_free(). */
struct flow_diagnosis *flow_diagnose(const struct capture *cap);
void flow_diagnosis_free(struct flow_diagnosis *d);

#endif
