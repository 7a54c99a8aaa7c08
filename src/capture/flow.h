/*
 * flow - an arrow from one slice to another: a launch and its kernel, a call and its queue entry.
 */
#ifndef STRATA_CAPTURE_FLOW_H
#define STRATA_CAPTURE_FLOW_H

#include <stdint.h>

enum flow_kind {
    FLOW_LAUNCH,   /* host call to device work */
    FLOW_QUEUE,    /* into and out of a task queue of the host */
    FLOW_BACKWARD, /* forward operator to its backward twin */
    FLOW_FLAG,     /* one pipe of a core releases another */
    FLOW_OTHER,
};

struct flow {
    uint32_t from, to; /* slice numbers */
    enum flow_kind kind;
};

const char *flow_kind_name(enum flow_kind kind);

#endif
