/*
 * to_trace - the Ascend timeline: trace_view.json of torch_npu, or msprof_*.json without the
 * framework's half.
 *
 * One JSON array on one line. Lane names come at the end, behind the events that use them.
 */
#ifndef STRATA_SYNTH_TO_TRACE_H
#define STRATA_SYNTH_TO_TRACE_H

#include "synth/dialect.h"
#include "synth/truth.h"

struct to_trace {
    struct put put;
    struct dialect dialect;
    const struct sim *sim;
    const struct rank *rank;
    bool is_msprof;
    uint64_t events, complete; /* written; before the cut */
    int64_t flows;
    struct arena scratch;
};

enum status to_trace_open(struct to_trace *t, const char *path, const struct sim *s,
                          const struct rank *r, bool is_msprof, struct diag *d);
void to_trace_step(struct to_trace *t, const struct step_sets *sets);
void to_trace_end(struct to_trace *t); /* lane names and the closing bracket; then put_close() */
void to_trace_fini(struct to_trace *t);

#endif
