/*
 * arch_testing - captures of a few kernels, written in one line each, for the tests of arch_*.
 */
#ifndef STRATA_ANALYSIS_ARCH_TESTING_H
#define STRATA_ANALYSIS_ARCH_TESTING_H

#include "analysis/testing_study.h"

/* A kernel on a stream; collectives by their name. */
static inline void add_on(const char *stream, const char *name, nanos begin, nanos dur)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, str_of(stream))};
    struct attr set = attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, S("AI_CORE")));
    struct str text = str_of(name);
    bool is_comm = str_starts(text, S("hcom_")) || str_starts(text, S("nccl"));

    capture_slice(cap, &(struct slice){.begin = begin,
                                       .dur = dur,
                                       .lane = capture_lane(cap, key),
                                       .name = capture_intern(cap, text),
                                       .set = attrs_set(&cap->attrs, &set, 1),
                                       .kind = is_comm ? SLICE_COMM : SLICE_COMPUTE});
}

/* Kernels of stream 1 from `begin` on, 10 us each with 1 us between, names parted by blanks.
 * Gives the end of the last. */
static inline nanos add_row(nanos begin, const char *names)
{
    struct str rest = str_of(names), name;

    while (str_split(&rest, ' ', &name)) {
        char text[256];
        memcpy(text, name.at, name.n);
        text[name.n] = '\0';
        add_on("1", text, begin, 10 * US);
        begin += 11 * US;
    }
    return begin;
}

static inline void is_gpu(void)
{
    cap->facts.vendor = VENDOR_NVIDIA;
}

#endif
