/*
 * timeline_testing - captures of a few slices, for tests of timelines.
 */
#ifndef STRATA_GPU_TIMELINE_TESTING_H
#define STRATA_GPU_TIMELINE_TESTING_H

#include "base/testing.h"
#include "capture/classify.h"
#include "gpu/timeline/timeline.h"

struct timeline_scene {
    struct capture *cap;
    struct timeline *t;
    struct timeline_device *d; /* the first one */
};

static inline void scene_begin(struct timeline_scene *s)
{
    *s = (struct timeline_scene){.cap = capture_new()};
}

static inline lane_id scene_stream(struct timeline_scene *s, const char *name)
{
    return capture_lane(s->cap, (struct lane_key){.kind = LANE_STREAM,
                                                  .device = 0,
                                                  .name = capture_intern(s->cap, str_of(name))});
}

static inline lane_id scene_thread(struct timeline_scene *s)
{
    return capture_lane(s->cap, (struct lane_key){.kind = LANE_THREAD,
                                                  .device = -1,
                                                  .name = capture_intern(s->cap, S("Thread 5")),
                                                  .pid = 4,
                                                  .tid = 5});
}

static inline uint32_t scene_put(struct timeline_scene *s, lane_id lane, enum slice_kind kind,
                                 const char *name, nanos begin, nanos end)
{
    return capture_slice(s->cap, &(struct slice){.begin = begin,
                                                 .dur = end - begin,
                                                 .lane = lane,
                                                 .name = capture_intern(s->cap, str_of(name)),
                                                 .kind = kind});
}

static inline uint32_t scene_kernel(struct timeline_scene *s, const char *stream, const char *name,
                                    nanos begin, nanos end)
{
    return scene_put(s, scene_stream(s, stream),
                     classify_kernel(VENDOR_NVIDIA, S(""), str_of(name), S("")), name, begin, end);
}

static inline uint32_t scene_call(struct timeline_scene *s, const char *name, nanos begin,
                                  nanos end)
{
    return scene_put(s, scene_thread(s), SLICE_RUNTIME, name, begin, end);
}

/* A kernel and the call that launched it. */
static inline void scene_launch(struct timeline_scene *s, nanos call, nanos call_end,
                                const char *stream, nanos begin, nanos end)
{
    uint32_t from = scene_call(s, "cudaLaunchKernel", call, call_end);

    capture_flow(s->cap, FLOW_LAUNCH, from, scene_kernel(s, stream, "k", begin, end));
}

static inline void scene_of_test(struct timeline_scene *s, struct interval window)
{
    capture_seal(s->cap);
    s->t = timeline_new(s->cap, &(struct timeline_choice){.window = window});
    s->d = s->t->n_devices > 0 ? &s->t->devices[0] : NULL;
}

static inline void scene_end(struct timeline_scene *s)
{
    timeline_free(s->t);
    capture_free(s->cap);
}

#endif
