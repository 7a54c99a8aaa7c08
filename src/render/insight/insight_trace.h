/*
 * insight_trace - the events of a capture as Insight reads them: the TRACE block of
 * visualize_data.bin, and trace.json.
 */
#ifndef STRATA_RENDER_INSIGHT_TRACE_H
#define STRATA_RENDER_INSIGHT_TRACE_H

#include "base/files/bin_blocks.h"
#include "render/insight/insight.h"

/* Where the importer of visualize_data.bin puts the kernel from base info. */
#define INSIGHT_KERNEL_LANE "kernel"

/* A slice by where it ends. */
struct insight_stop {
    nanos end;
    uint32_t lane, slice;
    bool is_other; /* no flag */
};

/* A process and its slices: a part of `order`. */
struct insight_core {
    struct str name;
    size_t first, n;
};

/* Some 64 KiB: not for the stack. */
struct insight_trace {
    struct text_out out;
    const struct cut *cut;
    const struct timeline_options *options;
    struct arena arena;
    VEC_OF(struct insight_core) cores;
    bool *has_lane;                    /* by lane: it is written */
    uint32_t *core_of;                 /* by lane */
    struct str *lane_names;            /* by lane */
    VEC_OF(struct insight_stop) order; /* by core and end */
    VEC_OF(struct insight_stop) stops; /* by lane and end, flags first; only with arrows */
    strid key_group, key_bytes, key_detail;
    bool has_events, is_stopped; /* is_stopped: by the user, or the sink failed */
};

struct insight_trace *insight_trace_new(const struct cut *cut,
                                        const struct timeline_options *options);
void insight_trace_free(struct insight_trace *w);

/* Writes the document to `out`, which the caller opens and closes. */
void insight_trace_put(struct insight_trace *w);

/* insight_pieces() with a sink of its own. */
void insight_trace_pieces(struct insight_trace *w, struct sink out,
                          void (*take)(void *ctx, const struct insight_event *e), void *ctx);

/* All that insight_put_args() needs; `w` is zeroed before. */
void insight_trace_keys(struct insight_trace *w, const struct cut *cut);

/* The arguments of a slice as an object, by key. Those that Insight looks for are there even when
 * they are empty. The group is no argument: it is handed out. */
void insight_put_args(struct insight_trace *w, const struct slice *s, struct attr *group);

/* A time in microseconds, and how long a slice is: nanoseconds with three decimals, cycles with as
 * many as it takes to count them again. */
void insight_put_time(struct text_out *out, const struct capture *cap, nanos ticks);
void insight_put_length(struct text_out *out, const struct capture *cap, const struct slice *s);

#endif
