/*
 * kineto - the same work told as a GPU run by the PyTorch profiler (Kineto JSON).
 *
 * Every kernel keeps its times; launches become CUDA runtime calls inside their operator, AICPU
 * work becomes a kernel on a side stream, collectives become NCCL kernels. Times count from
 * baseTimeNanoseconds, which stands behind the events.
 */
#ifndef STRATA_SYNTH_KINETO_H
#define STRATA_SYNTH_KINETO_H

#include "synth/dialect.h"
#include "synth/truth.h"

struct kineto {
    struct put put;
    const struct sim *sim;
    const struct rank *rank;
    const char *name;          /* traceName */
    uint64_t events, complete; /* written; before the cut */
    int64_t index, external;
    nanos last;
};

/* `path` and `name` are kept. */
enum status kineto_open(struct kineto *k, const char *path, const char *name, const struct sim *s,
                        const struct rank *r, struct diag *d);
void kineto_step(struct kineto *k, const struct step_sets *sets);
void kineto_end(struct kineto *k); /* then put_close() */

#endif
