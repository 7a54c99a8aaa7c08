/*
 * flow_diagnose - what limits a capture's run, as texts and numbers that need the capture no more.
 */
#ifndef STRATA_FLOW_FLOW_DIAGNOSE_H
#define STRATA_FLOW_FLOW_DIAGNOSE_H

#include "base/arena.h"

struct capture;

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
