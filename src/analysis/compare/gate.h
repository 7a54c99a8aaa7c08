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
#ifndef STRATA_ANALYSIS_COMPARE_GATE_H
#define STRATA_ANALYSIS_COMPARE_GATE_H

#include "report/record.h"

struct study;

enum gate_scope { GATE_STEPS, GATE_INVENTORY, GATE_ACCOUNTING, GATE_GROUPS, GATE_GLOBAL };

struct gate {
    const char *text;
    enum gate_scope scope;
    size_t group; /* only this one; SIZE_MAX: any */
    const struct field *metric;
    unsigned relation;
    double limit;
};

/* What is wrong with a condition, for a message; NULL when it is fine. `text` is kept. */
const char *gate_parse(struct arena *arena, const char *text, struct gate *out);

/* Whether it holds somewhere: the gate is shut. `where` is "Step#3", "g0" or "global" and lives in
 * the study's scratch. */
bool gate_check(const struct gate *gate, struct study *st, struct str *where, double *value);

#endif
