/*
 * sink - somewhere text goes: a file, a buffer, standard output.
 *
 * Writers (CSV, JSON, the report renderers) know a sink and nothing else about their target.
 */
#ifndef STRATA_BASE_SINK_H
#define STRATA_BASE_SINK_H

#include <stdbool.h>

#include "base/str.h"

struct sink {
    /* Takes all of `text`, or returns false once and for all. */
    bool (*write)(void *ctx, struct str text);
    void *ctx;
};

#endif
