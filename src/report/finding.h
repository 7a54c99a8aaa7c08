/*
 * finding - one thing worth a person's attention.
 *
 * Facts are measured; causes are suspected and say how sure they are; gaps name what would have
 * settled the question. The three never mix.
 */
#ifndef STRATA_REPORT_FINDING_H
#define STRATA_REPORT_FINDING_H

#include "base/tables/vec.h"
#include "report/message.h"

enum priority { PRIORITY_P0, PRIORITY_P1, PRIORITY_P2, PRIORITY_P3 };

enum certainty { CERTAINTY_PROBABLE, CERTAINTY_POSSIBLE, CERTAINTY_INSUFFICIENT };

struct cause {
    enum certainty certainty;
    struct str text;
};

struct finding {
    const char *id; /* stable: "INTERNAL_BUBBLE_HEAVY" */
    enum lang lang;
    enum priority priority;
    struct str subject; /* "step 3", a kernel's name */
    struct str fact;    /* one declarative sentence with its numbers */
    VEC_OF(struct cause) causes;
    VEC_OF(struct str) gaps;
    VEC_OF(struct str) advice;
};

const char *priority_name(enum priority priority); /* "P0" */
const char *certainty_name(enum certainty certainty);

#endif
