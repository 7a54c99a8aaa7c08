/*
 * perfetto - what the files that read Perfetto's binary trace share.
 *
 * A trace is packets of several writers (sequences) side by side, in no order of time. A packet may
 * name what an earlier one of its sequence has interned, count on a clock of its own, and stand on
 * a track that is described later. So events become records first, and slices when all are there.
 */
#ifndef STRATA_INPUT_PERFETTO_PERFETTO_H
#define STRATA_INPUT_PERFETTO_PERFETTO_H

#include "base/formats/proto_read.h"
#include "base/tables/id_map.h"
#include "input/import.h"

/* ---- tracks ---- */

enum perfetto_track_kind { TRACK_NAMED, TRACK_THREAD, TRACK_SEQUENCE, TRACK_ASYNC, TRACK_QUEUE };

struct perfetto_track {
    enum perfetto_track_kind kind;
    uint64_t uuid, parent;       /* of TRACK_NAMED; else numbers that it is known by */
    strid name, process, thread; /* 0: not told */
    int64_t pid, tid;
    bool has_process, has_thread, is_counter, is_incremental;
    uint8_t counter_type; /* 1 thread time, 2 instructions */
    int64_t multiplier;
    strid unit;
    bool is_resolved, is_own, is_warp; /* is_own: strata wrote which lane it is */
    struct lane_key key;               /* of its lane, once resolved */
    lane_id lane;
    bool has_lane;
    series_id series; /* plus one; 0: none */
};

/* ---- records ---- */

enum perfetto_what {
    RECORD_BEGIN,
    RECORD_END,
    RECORD_INSTANT,
    RECORD_WHOLE, /* with its length */
    RECORD_COUNT, /* a counter's value */
};

struct perfetto_record {
    nanos at;
    union {
        nanos dur;    /* RECORD_WHOLE */
        double value; /* RECORD_COUNT */
    };
    uint32_t track;
    strid name, category;
    attr_run set, own;
    uint8_t what;
    uint8_t kind;        /* of the slice: enum slice_kind */
    uint16_t generation; /* of the counter's sums */
};

enum { PERFETTO_NOTES = 64 };

/* The annotations of an event as attributes; what rocprofv3 says in them apart. */
struct perfetto_notes {
    struct attr set[PERFETTO_NOTES], own[PERFETTO_NOTES];
    size_t n_set, n_own;
    nanos begin, end;
    int64_t agent, to, from;
    strid stream;
    bool has_begin, has_end, has_agent, has_copy;
};

/* Times and place that a profiler told besides: rocprofv3's annotations. */
struct perfetto_told {
    uint32_t record;
    nanos begin, end;
    bool has_times, is_device, is_copy;
    int32_t device, other; /* of a copy: to and from; -1: none */
    strid stream;
};

/* A use of a flow by a record, in the order of time. */
struct perfetto_use {
    uint64_t id;
    uint32_t record;
    bool is_last;
};

/* Numbers of flows that strata writes have the kind of the arrow in them: place times this, plus
 * the kind. */
enum { PERFETTO_FLOW_KINDS = 8 };

/* An arrow between two records, or between a record and a stage of a GPU, by its number. */
struct perfetto_arrow {
    uint64_t from, to;
    bool is_from_stage, is_to_stage;
};

/* ---- sequences ---- */

struct perfetto_clock {
    uint32_t id;
    uint64_t multiplier;
    bool is_incremental;
    int64_t last;
};

enum { PERFETTO_CLOCKS = 16, PERFETTO_EXTRA = 8 };

/* Lists of what a sequence has interned. Places of the first four are texts of the capture. */
enum perfetto_list {
    LIST_CATEGORIES,
    LIST_NAMES,
    LIST_KEYS,
    LIST_TEXTS,
    LIST_STAGES,
    LIST_CONTEXTS,
    LIST_KERNELS,
    LIST_ARGUMENTS,
    LIST_COUNTERS,
    PERFETTO_LISTS
};

struct perfetto_sequence {
    uint64_t machine, id;
    bool is_valid;
    uint16_t generation;
    struct id_map lists[PERFETTO_LISTS];
    struct perfetto_clock clocks[PERFETTO_CLOCKS];
    size_t n_clocks;
    bool has_clock, has_track; /* defaults */
    bool has_thread, has_thread_track;
    uint32_t clock;
    uint64_t track;
    uint64_t extra[PERFETTO_EXTRA], extra_real[PERFETTO_EXTRA]; /* default counter tracks */
    size_t n_extra, n_extra_real;
    int64_t pid, tid, thread_us; /* of the old thread descriptor */
    uint64_t thread_track;       /* of a track's, when has_thread_track */
};

/* What a clock showed when the trace's own one showed another time. */
struct perfetto_pair {
    int64_t clock, trace;
};

struct perfetto_domain {
    VEC_OF(struct perfetto_pair) pairs;
};

/* ---- GPUs ---- */

struct perfetto_stage {
    strid name;
};

struct perfetto_context {
    int64_t pid, api;
};

struct perfetto_kernel {
    strid name, mangled, arch;
};

/* A counter of a GPU as it is described. */
struct perfetto_gpu_counter {
    int64_t gpu;
    strid name;
    bool is_forward; /* a value holds from its time on; else it held up to there */
};

struct perfetto_gpu_table {
    VEC_OF(struct perfetto_gpu_counter) list;
    struct id_map ids;
};

struct perfetto_last {
    series_id series;
    size_t sample; /* plus one; 0: none */
};

struct perfetto {
    struct import *i;
    struct capture *cap;
    struct str text;
    uint64_t member; /* byte of the packet in work */
    int depth;       /* of packets inside packets */

    VEC_OF(struct perfetto_sequence) sequences;
    struct hash sequence_ids;
    VEC_OF(struct perfetto_domain) domains;
    struct hash domain_ids;
    uint32_t primary;
    bool has_snapshot;

    VEC_OF(struct perfetto_track) tracks;
    struct hash track_ids, processes; /* pid -> track */

    VEC_OF(struct perfetto_record) records;
    VEC_OF(struct perfetto_told) told;
    VEC_OF(struct perfetto_use) uses;
    VEC_OF(struct perfetto_arrow) arrows;
    struct hash stage_records; /* number of a stage -> its record */
    struct hash open_arrows;   /* number of an old arrow -> the record it left */

    VEC_OF(struct perfetto_stage) stages;
    VEC_OF(struct perfetto_context) contexts;
    VEC_OF(struct perfetto_kernel) kernels;
    VEC_OF(struct perfetto_gpu_table) gpu_tables; /* the first is that of the whole trace */
    VEC_OF(strid) old_queues, old_stages;         /* of the whole trace, in old traces */
    struct hash gpu_series;                       /* GPU and counter -> its place in `lasts` */
    VEC_OF(struct perfetto_last) lasts;

    uint64_t packets, skipped, unmatched, lost_kinds;
    bool is_own, has_rocprof;
    nanos shift; /* what strata has added to all times */
    strid key_begin, key_end, key_agent, key_to, key_from, key_stream; /* of rocprofv3 */
    strid key_block, key_grid, key_bytes, key_link;
};

/* Reads the packets of a trace, or of one that was packed into a packet. */
void perfetto_read_packets(struct perfetto *p, struct str text);

/* A time of the sequence as one of the trace; false when the clock is not known. */
bool perfetto_time(struct perfetto *p, struct perfetto_sequence *s, uint64_t at, uint32_t clock,
                   nanos *out);

/* An entry of an interned list: 1 number, 2 text. False: damaged. */
bool perfetto_entry(struct str message, uint64_t *id, struct str *text);

/* The text that a sequence has interned; 0: none. */
strid perfetto_text(const struct perfetto_sequence *s, enum perfetto_list list, uint64_t id);

/* An event of a track; a stage, or a sample of counters, of a GPU. */
void perfetto_take_event(struct perfetto *p, struct perfetto_sequence *s, struct str message,
                         uint64_t at, bool has_time, uint32_t clock);
void perfetto_take_notes(struct perfetto *p, const struct perfetto_sequence *s,
                         const struct str *messages, size_t count, struct perfetto_notes *notes);
void perfetto_take_stage(struct perfetto *p, struct perfetto_sequence *s, struct str message,
                         nanos at);
void perfetto_take_gpu_counters(struct perfetto *p, struct perfetto_sequence *s, struct str message,
                                nanos at, bool has_time);
void perfetto_intern_gpu(struct perfetto *p, struct perfetto_sequence *s, uint32_t field,
                         struct str message);
void perfetto_gpu_info(struct perfetto *p, struct str message);

/* The track with this number; of a thread, a sequence, an asynchronous event or a queue. */
uint32_t perfetto_track(struct perfetto *p, enum perfetto_track_kind kind, uint64_t a, uint64_t b);
void perfetto_describe_track(struct perfetto *p, struct perfetto_sequence *s, struct str message);

/* The lane, or the counter, that a track is. All descriptions are there. */
lane_id perfetto_lane(struct perfetto *p, uint32_t track);

/* A track of tools inside a kernel: a group of warps of a block. */
bool perfetto_is_warp(struct perfetto *p, uint32_t track);
series_id perfetto_series(struct perfetto *p, uint32_t track);

/* Makes slices, samples and arrows of all records. */
void perfetto_make_slices(struct perfetto *p);

/* A record; gives its number. */
uint32_t perfetto_record(struct perfetto *p, const struct perfetto_record *record);

#endif
