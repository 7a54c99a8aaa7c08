/*
 * recommend - what to do next, with the facts that ask for it and the one thing that is missing.
 */
#ifndef STRATA_ANALYSIS_IDLE_RECOMMEND_H
#define STRATA_ANALYSIS_IDLE_RECOMMEND_H

#include "report/finding.h"

struct study;

enum { RECOMMEND_EVIDENCE = 4 };

struct recommendation {
    const char *id;    /* stable: "record-stacks" */
    const char *scope; /* global, step_group, structure, side or op */
    struct str target; /* "g0", an operator; empty for the whole capture */
    enum priority priority;
    bool needs_followup;
    const char *evidence_gap; /* the one thing that is missing, or NULL */
    struct str message;
    struct str evidence[RECOMMEND_EVIDENCE];
    size_t n_evidence;
    struct phrase advice, because; /* message and first evidence, in any language */
};

struct recommendations {
    struct recommendation *at; /* by priority, then in the order of the rules */
    size_t n;
};

const struct recommendations *recommend_find(struct study *st);

#endif
