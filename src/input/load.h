/*
 * load - reads the files of one bundle into captures: one, or one for each device.
 */
#ifndef STRATA_INPUT_LOAD_H
#define STRATA_INPUT_LOAD_H

#include "capture/capture.h"
#include "input/bundle.h"

struct loaded {
    VEC_OF(struct capture *) list; /* sealed; the caller frees them and the list */
};

/* A file of the bundle that cannot be read is told and left out; an error only when none of those
 * that bring kernels can. `name` is what the captures are called. */
enum status load_bundle(const struct bundle *b, const char *name,
                        const struct input_options *options, struct diag *d, struct loaded *out);

#endif
