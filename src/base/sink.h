/*
 * sink - where a writer's bytes go: a file, a growing buffer, a socket.
 */
#ifndef STRATA_BASE_SINK_H
#define STRATA_BASE_SINK_H

#include <stdbool.h>

#include "base/str.h"

/* `write` takes all of `text`, or returns false and is not called again. */
struct sink {
    bool (*write)(void *ctx, struct str text);
    void *ctx;
};

#endif
