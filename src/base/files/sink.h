/*
 * sink - where bytes go: a file being written, a buffer, standard output.
 *
 * A writer calls write() and gets false once something went wrong; the sink keeps the reason.
 */
#ifndef STRATA_BASE_FILES_SINK_H
#define STRATA_BASE_FILES_SINK_H

#include <stdbool.h>

#include "base/str.h"

struct sink {
    bool (*write)(void *ctx, struct str text);
    void *ctx;
};

/* For struct sink: what is written goes nowhere. */
static inline bool sink_drop(void *ctx, struct str text)
{
    (void)ctx, (void)text;
    return true;
}

#endif
