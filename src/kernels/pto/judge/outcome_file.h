/*
 * outcome_file - what a simulator says itself of the run behind a trace, in a table beside it
 * (simulator/strata_outcome.csv).
 *
 * A trace shows when instructions began and when their results were there. It does not show when
 * the core was started, nor how long of that time an instruction held its pipe, nor why it was sent
 * late: from the trace alone what bounds a kernel is an estimate (incore_pace()). Our simulator
 * knows, so that a trace that it left is judged as the run was, at every door.
 */
#ifndef STRATA_KERNELS_PTO_OUTCOME_FILE_H
#define STRATA_KERNELS_PTO_OUTCOME_FILE_H

#include "base/text/text_out.h"
#include "report/limits.h"

#define PTO_OUTCOME_FILE "strata_outcome.csv"

struct pto_outcome_kept {
    struct limit_list limits; /* in cycles: `total` from the start of the core to the last result */
    int64_t start;            /* cycles of it before the first instruction */
    double mhz;
    struct str chip;
    uint64_t instructions; /* of the trace */
};

bool pto_outcome_keep(const struct pto_outcome_kept *o, struct sink sink);

/* False: not such a table, or one whose numbers cannot be. The texts are views into it. */
bool pto_outcome_recall(struct str csv, struct pto_outcome_kept *out);

#endif
