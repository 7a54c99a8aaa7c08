/*
 * to_chrome - the run as a plain Chrome trace: named lanes, slices, arrows, a counter.
 *
 * What any program could write for a trace viewer, without the habits of a profiler. Times count
 * from the beginning of the capture.
 */
#ifndef STRATA_SYNTH_TO_CHROME_H
#define STRATA_SYNTH_TO_CHROME_H

#include "synth/dialect.h"
#include "synth/truth.h"

struct to_chrome {
    struct put put;
    const struct sim *sim;
    const struct rank *rank;
    uint64_t events, complete; /* written; before the cut */
};

enum status to_chrome_open(struct to_chrome *c, const char *path, const struct sim *s,
                           const struct rank *r, struct diag *d);
void to_chrome_step(struct to_chrome *c);
void to_chrome_end(struct to_chrome *c); /* then put_close() */

#endif
