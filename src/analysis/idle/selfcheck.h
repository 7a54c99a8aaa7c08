/*
 * selfcheck - numbers that two sources give, compared.
 *
 * Profilers write summaries of their own beside the timeline. Where they disagree with what the
 * timeline says by more than rounding explains, that is a finding about the data.
 */
#ifndef STRATA_ANALYSIS_IDLE_SELFCHECK_H
#define STRATA_ANALYSIS_IDLE_SELFCHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "report/message.h"

struct study;

struct selfcheck {
    struct str name;    /* "busy of Step#50 equals computing and exposed communication, us" */
    struct phrase what; /* the name in any language */
    double expected, actual;
    bool is_ok;
};

struct selfchecks {
    struct selfcheck *at;
    size_t n;
};

const struct selfchecks *selfcheck_find(struct study *st);

#endif
