/*
 * rank_out - all files of one rank: a run is given to them step by step.
 */
#ifndef STRATA_SYNTH_RANK_OUT_H
#define STRATA_SYNTH_RANK_OUT_H

#include "synth/to.h"

struct rank_out {
    struct truth truth;
    struct outlet outlet;
    void *writers[TO_KINDS]; /* NULL: not asked for */
};

/* Opens the files that the options ask for; one that failed is only freed. */
enum status rank_out_open(struct rank_out *out, const struct sim *s, int rank, struct arena *arena,
                          struct diag *d);

/* Writes the step that the rank holds. */
void rank_out_step(struct rank_out *out);
enum status rank_out_close(struct rank_out *out);
void rank_out_free(struct rank_out *out); /* what is not closed is removed */

/* Adds the rank to the result, which has room for it, once it is closed. */
void rank_out_count(const struct rank_out *out, struct synth_result *result);

/* Size so far of the first of the formats that is written. */
uint64_t rank_out_bytes(const struct rank_out *out);

#endif
