/*
 * testing_diagnose - captures of a main thread and a few streams, made by hand.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_TESTING_DIAGNOSE_H
#define STRATA_ANALYSIS_DIAGNOSE_TESTING_DIAGNOSE_H

#include <stdio.h>

#include "analysis/testing_study.h"

static inline uint32_t put(struct lane_key key, enum slice_kind kind, const char *name, nanos begin,
                           nanos end)
{
    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = end - begin,
                                              .lane = capture_lane(cap, key),
                                              .name = capture_intern(cap, str_of(name)),
                                              .kind = kind});
}

/* An event of the main thread. */
static inline uint32_t host(enum slice_kind kind, const char *name, nanos begin, nanos end)
{
    struct lane_key key = {.kind = LANE_THREAD, .device = -1, .pid = 1, .tid = 1};

    return put(key, kind, name, begin, end);
}

/* A task of a stream. */
static inline uint32_t task(const char *stream, enum slice_kind kind, const char *name, nanos begin,
                            nanos end)
{
    struct lane_key key = {
        .kind = LANE_STREAM, .device = 0, .name = capture_intern(cap, str_of(stream))};

    return put(key, kind, name, begin, end);
}

/* An event of a thread of its own. */
static inline uint32_t other_host(int64_t tid, enum slice_kind kind, const char *name, nanos begin,
                                  nanos end)
{
    struct lane_key key = {.kind = LANE_THREAD, .device = -1, .pid = 1, .tid = tid};

    return put(key, kind, name, begin, end);
}

/* An operator of the main thread with shapes and types of its inputs. */
static inline void shaped_op(const char *name, const char *shapes, const char *types, nanos begin,
                             nanos end)
{
    struct lane_key key = {.kind = LANE_THREAD, .device = -1, .pid = 1, .tid = 1};
    struct attr list[] = {
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, str_of(shapes))),
        attr_text(capture_key(cap, KEY_INPUT_DTYPES), capture_intern(cap, str_of(types)))};

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = end - begin,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, str_of(name)),
                                       .own = attrs_own(&cap->attrs, list, 2),
                                       .kind = SLICE_HOST_OP});
}

/* A kernel of that name and the call that launched it. */
static inline void launch_named(const char *name, nanos call, nanos call_end, nanos begin,
                                nanos end)
{
    uint32_t from = host(SLICE_RUNTIME, "cudaLaunchKernel", call, call_end);

    capture_flow(cap, FLOW_LAUNCH, from, task("7", SLICE_COMPUTE, name, begin, end));
}

/* A kernel and the call that launched it. */
static inline void launch(nanos call, nanos call_end, nanos begin, nanos end)
{
    launch_named("elementwise", call, call_end, begin, end);
}

/* A mark of the profiler. */
static inline void step_mark(int64_t number, nanos begin, nanos end)
{
    char name[32];

    snprintf(name, sizeof(name), "ProfilerStep#%lld", (long long)number);
    host(SLICE_STEP, name, begin, end);
    vec_push(&cap->marks, ((struct mark){.source = MARK_PROFILER_STEP,
                                         .name = capture_intern(cap, str_of(name)),
                                         .number = number,
                                         .begin = begin,
                                         .end = end}));
}

#endif
