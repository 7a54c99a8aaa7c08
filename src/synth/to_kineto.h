/*
 * to_kineto - the same work told as a GPU run by the PyTorch profiler (Kineto JSON).
 *
 * Every kernel keeps its times; launches become CUDA runtime calls inside their operator, AICPU
 * work becomes a kernel on a side stream, collectives become NCCL kernels. Times count from
 * baseTimeNanoseconds, which stands behind the events.
 */
#ifndef STRATA_SYNTH_TO_KINETO_H
#define STRATA_SYNTH_TO_KINETO_H

#include "synth/dialect.h"
#include "synth/truth.h"

struct to_kineto {
    struct put put;
    const struct sim *sim;
    const struct rank *rank;
    const char *name;          /* traceName */
    uint64_t events, complete; /* written; before the cut */
    int64_t index, external;
    nanos last;
};

/* `path` and `name` are kept. */
enum status to_kineto_open(struct to_kineto *k, const char *path, const char *name,
                           const struct sim *s, const struct rank *r, struct diag *d);
void to_kineto_step(struct to_kineto *k, const struct step_sets *sets);
void to_kineto_end(struct to_kineto *k); /* then put_close() */

#endif
