/*
 * gate - conditions on named metrics that turn an analysis into a yes or no.
 *
 *     underfeed_ratio>0.2          any step
 *     g0.service_ms_avg>=45        one group
 *     group.underfeed_ratio_p95>1  any group
 *     global.device_gap_ratio>0.5  the whole capture
 *
 * Names are those of the JSON document; comparisons are > >= < <= == !=.
 */
#ifndef STRATA_ANALYSIS_GATE_H
#define STRATA_ANALYSIS_GATE_H

#include <stdbool.h>

#include "base/str.h"

struct study;

enum gate_result {
    GATE_CLEAR,   /* the condition holds nowhere */
    GATE_REACHED, /* it holds somewhere: the gate is shut */
    GATE_SYNTAX,  /* not a condition */
    GATE_NO_NAME, /* no such metric */
};

struct gate_outcome {
    enum gate_result result;
    struct str where; /* "Step#3", "g0" or "global"; lives in the study's scratch */
    double value;
    const char *nearest; /* after GATE_NO_NAME: a metric with a similar name, or NULL */
};

struct gate_outcome gate_check(struct study *st, struct str condition);

#endif
