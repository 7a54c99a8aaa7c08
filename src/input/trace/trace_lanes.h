/*
 * trace_lanes - which rows of a trace are streams, collectives, threads, or something else.
 *
 * A trace tells rows by pid and tid, and says what they are in metadata events that may come last.
 * The name of the process decides, never the pid; rows without a name are known by what stands on
 * them.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_LANES_H
#define STRATA_INPUT_TRACE_TRACE_LANES_H

#include "capture/capture.h"
#include "input/trace/trace_words.h"

/* What stands on a row. */
enum trace_class {
    CLASS_HOST, /* a thread whose events say themselves what they are */
    CLASS_CANN, /* runtime calls of an Ascend host */
    CLASS_GC,
    CLASS_MARKS,  /* user marks */
    CLASS_DEVICE, /* a stream */
    CLASS_GROUP,  /* whole collectives */
    CLASS_WORK,   /* a stream whose events are told apart by their names */
    CLASS_STEPS,  /* steps of a device */
    CLASS_PART,   /* parts of collectives, and summaries: never busy */
    CLASS_COUNT
};

struct trace_process {
    strid pid; /* as text */
    strid name, labels;
    bool has_streams; /* of a device: rows of streams beside those made from them */
    bool has_groups;  /* of an Ascend device: rows beside those of parts of collectives */
};

struct trace_lane {
    strid pid, tid; /* as text */
    strid name;
    strid row_of; /* tid of the row that this one continues; 0: none */
    uint32_t process;
    uint32_t hints; /* of its events, a bit each */
    uint32_t open;  /* the last of its open B events, plus one */
    enum trace_class class;
};

struct trace_lanes {
    enum trace_dialect dialect;
    bool is_mindspore; /* rows that only MindSpore writes */
    VEC_OF(struct trace_lane) at;
    VEC_OF(struct trace_process) processes;
    struct hash lane_ids, process_ids;
};

void trace_lanes_fini(struct trace_lanes *t);

/* The row of these texts, added when it is new. */
uint32_t trace_lanes_get(struct trace_lanes *t, strid pid, strid tid);

#define TRACE_NO_LANE UINT32_MAX

/* Sets the class of each row and gives the lanes of the capture, by row, for mem_free(); rows on
 * which nothing stands get TRACE_NO_LANE.
 * `has_table`: streams of the capture are looked up by name, whatever their device. */
lane_id *trace_lanes_resolve(struct trace_lanes *t, struct capture *cap, bool has_table);

/* What an event with this hint is on a row of this class. */
enum slice_kind trace_kind(enum trace_class class, enum trace_hint hint);

#endif
