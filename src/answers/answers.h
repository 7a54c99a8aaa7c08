/*
 * answers - an analysis asked and its report rendered, each by name: what the library offers.
 */
#ifndef STRATA_ANSWERS_ANSWERS_H
#define STRATA_ANSWERS_ANSWERS_H

#include "base/arena.h"
#include "base/diag.h"

struct capture;
struct report;

/* Asks one analysis by name; report_free() the report. */
enum status answer_analyze(const struct capture *cap, const char *analysis, struct diag *d,
                           struct report **out);

/* Writes a report in a format by name to a file, whole or not at all. */
enum status answer_render(const struct report *r, const char *format, const char *path,
                          struct diag *d);

/* What limits a capture's run, as texts and numbers that need the capture no more. */
struct answer_cause {
    const char *id;
    double saving_ms, saving_share;
    const char *confidence, *what, *action;
};

struct answer_diagnosis {
    struct arena arena; /* owns all texts */
    const char *text;   /* the verdict as a sentence */
    struct answer_cause verdict;
    struct answer_cause *causes; /* in their order */
    size_t n;
};

/* For answer_diagnosis_free(). */
struct answer_diagnosis *answer_diagnose(const struct capture *cap);
void answer_diagnosis_free(struct answer_diagnosis *d);

#endif
