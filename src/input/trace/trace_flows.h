/*
 * trace_flows - the arrows of a trace: pairs of ends, and the slices they stand at.
 *
 * An arrow's ends come as events of their own, anywhere in the file, and name no slice: two ends
 * belong together by category and id, and an end belongs to the slice of its thread that begins at
 * its time, or else to the innermost one around it. Both is settled when all slices are known and
 * sorted; until then an end costs 24 bytes.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_FLOWS_H
#define STRATA_INPUT_TRACE_TRACE_FLOWS_H

#include "capture/capture.h"

struct flow_end {
    uint64_t id;
    nanos at;
    uint32_t lane; /* as the caller numbers lanes */
    uint32_t slice;
};

struct flow_cat {
    strid name;
    bool is_text; /* ids are hashes of texts */
    enum flow_kind kind;
    VEC_OF(struct flow_end) starts, finishes;
};

/* A slice of the timeline that is not in the capture, because another one is the same work. */
struct flow_alias {
    nanos at;
    uint32_t lane; /* as the caller numbers lanes */
    uint32_t slice;
};

struct trace_flows {
    VEC_OF(struct flow_cat) cats;
    VEC_OF(struct flow_alias) aliases;
};

void trace_flows_fini(struct trace_flows *f);

/* The number of a category. */
uint32_t trace_flows_cat(struct trace_flows *f, strid name, bool is_text, enum flow_kind kind);

/*
 * Pairs the ends and adds the arrows to `cap`, whose slices from `first` on are sorted; the ends'
 * lanes are numbers into `lanes`, which has the capture's lanes. Ends without a partner or a slice
 * are normal and cost nothing. `pool` may be NULL.
 */
void trace_flows_bind(struct trace_flows *f, struct capture *cap, size_t first,
                      const lane_id *lanes, struct pool *pool);

#endif
