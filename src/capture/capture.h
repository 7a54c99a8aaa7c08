/*
 * capture - one profiled process or core: lanes, slices, arrows, counters, names, sources.
 *
 * Importers and simulators fill a capture; capture_seal() puts it in order; from then on it is
 * const everywhere, so any number of readers need no locks. The capture owns all its memory.
 */
#ifndef STRATA_CAPTURE_CAPTURE_H
#define STRATA_CAPTURE_CAPTURE_H

#include "capture/facts.h"
#include "capture/lane.h"
#include "capture/slices.h"
#include "capture/snapshot.h"
#include "capture/source.h"

/*
 * What a tick of a capture's times is, and where it lies in real time.
 *
 * Ticks are nanoseconds in nearly every profile; a simulated core counts cycles. `to_unix` is what
 * has to be added to a time to get nanoseconds since 1970; profilers that print times from the
 * start of the recording say so apart, so the store keeps the file's own times.
 */
struct clock {
    int64_t hz; /* ticks a second: 1 000 000 000 for nanoseconds */
    nanos to_unix;
    bool has_unix; /* `to_unix` is known */
};

/*
 * A text that came with a timeline and is carried along: a source file of the kernel, a
 * table of its instructions, what a device counted. As blocks of visualize_data.bin.
 */
struct document {
    uint8_t type;    /* of its block: BIN_SOURCE, BIN_API_INSTR, ... of base/files/bin_blocks.h */
    uint8_t version; /* of an instruction table: BIN_NEW or BIN_MARK; BIN_MARK elsewhere */
    struct str path; /* of a source file; empty elsewhere */
    struct str text; /* source, JSON, or bytes; never empty */
};

/* An arrow from one slice to another: a launch and its kernel, a call and its queue entry. */
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

/* A counter sampled over time: bandwidth, clock, memory in use. */
typedef uint32_t series_id;

struct sample {
    nanos at;
    double value;
};

struct series {
    strid process, name, unit;     /* process and unit may be 0 */
    VEC_OF(struct sample) samples; /* by time once sealed */
};

/* Attribute names that analyses look for; capture_key() gives their ids. */
enum capture_key {
    KEY_TYPE,  /* operator type, in the set */
    KEY_CORE,  /* execution unit, normalised, in the set */
    KEY_STATE, /* dynamic or static, in the set */
    KEY_BLOCK_DIM,
    KEY_MIX_BLOCK_DIM,
    KEY_INPUT_SHAPES,
    KEY_INPUT_DTYPES,
    KEY_INPUT_FORMATS,
    KEY_OUTPUT_SHAPES,
    KEY_OUTPUT_DTYPES,
    KEY_OUTPUT_FORMATS,
    KEY_STEP, /* step id as text, own */
    KEY_WAIT, /* gap to the previous row, own */
    KEY_TASK, /* task id, own */
    KEY_LINK, /* what ties a launch to its kernel: connection or correlation id, own */
    KEY_STACK,
    KEY_CAT, /* category of a trace event, in the set */
    KEY_COUNT
};

/* How often something was dropped, by the code of its diagnostic. */
struct loss {
    const char *code; /* a literal */
    uint64_t count;
    bool is_kernel; /* a row of a kernel table */
};

struct capture {
    struct arena arena;
    struct intern strings;
    struct attrs attrs;
    VEC_OF(struct lane) lanes;
    struct hash lane_ids;
    struct slices slices;
    VEC_OF(struct flow) flows; /* by (from, to) once sealed */
    VEC_OF(struct series) series;
    VEC_OF(struct mark) marks; /* by begin once sealed */
    VEC_OF(struct allocation) allocations;
    struct snapshot *snapshot; /* of an allocator; NULL: none */
    VEC_OF(struct comm_op) comm_ops;
    VEC_OF(struct comm_link) comm_links;
    VEC_OF(struct comm_group) comm_groups;
    VEC_OF(struct step_trace) step_traces;
    VEC_OF(struct document) documents; /* in the order they came */
    VEC_OF(struct source) sources;
    VEC_OF(struct told_kernels) told; /* to compare with the kernels that are here */
    VEC_OF(struct loss) losses;
    struct facts facts;
    struct clock clock;
    strid keys[KEY_COUNT];
    const char *name; /* base name of what was opened; lives in the arena */
    enum origin origin;
    uint64_t kernels_read;  /* kernels before doubles were joined */
    uint64_t times_clipped; /* by the seal, as they were out of range (capture/clip_times.h) */
    unsigned has;           /* mask of enum has, set by the seal */
    bool is_sealed;
    bool is_shared; /* whoever keeps it for several jobs frees it: capture_free() does nothing */
};

struct capture *capture_new(void);
void capture_free(struct capture *cap);

static inline strid capture_intern(struct capture *cap, struct str text)
{
    return intern_put(&cap->strings, text);
}

strid capture_intern_format(struct capture *cap, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline struct str capture_text(const struct capture *cap, strid id)
{
    return intern_get(&cap->strings, id);
}

static inline strid capture_key(const struct capture *cap, enum capture_key key)
{
    return cap->keys[key];
}

/* Viewers and words of Ascend fit this capture; else those of GPUs, for unknown devices too. */
static inline bool capture_is_ascend(const struct capture *cap)
{
    return cap->facts.vendor == VENDOR_ASCEND;
}

/* Makes it a capture of the inside of one Ascend core. */
void capture_set_incore(struct capture *cap);

/* The lane with this key, added when it is new. The one after LIMIT_LANES holds all others. */
lane_id capture_lane(struct capture *cap, struct lane_key key);

/* Adds a slice; its number holds until the seal, which renumbers slices and arrows together. */
uint32_t capture_slice(struct capture *cap, const struct slice *slice);

/* Adds an arrow between two slices. */
void capture_flow(struct capture *cap, enum flow_kind kind, uint32_t from, uint32_t to);

/* The counter of that name, added when it is new; and one sample of it. */
series_id capture_series(struct capture *cap, strid process, strid name, strid unit);
void capture_sample(struct capture *cap, series_id series, nanos at, double value);

/* Adds a document, whose texts are copied; and the first one of a type, or NULL. */
void capture_document_add(struct capture *cap, struct document document);
const struct document *capture_document(const struct capture *cap, uint8_t type);

/* Records a file that was read; `path` is copied. */
void capture_source(struct capture *cap, struct source source);

/* Records how many kernels a file tells of whose kernels were not taken; `path` is copied. */
void capture_told(struct capture *cap, const char *path, uint64_t count);

/* Sorts slices by lane and time, samples and marks by time; sets each lane's range and the has
 * mask. Of marks with equal source and number only the earliest stays. */
void capture_seal(struct capture *cap);

/* An attribute of a slice by its well-known key, own values first; of type ATTR_NONE, or empty,
 * when absent. */
struct attr capture_slice_attr(const struct capture *cap, size_t slice, enum capture_key key);
struct str capture_slice_text(const struct capture *cap, size_t slice, enum capture_key key);

#endif
