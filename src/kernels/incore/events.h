/*
 * events - the instructions and flags of an in-core trace, read from its JSON text.
 *
 * The trace of one kernel (the TRACE block of visualize_data.bin, or trace.json) is a Chrome trace
 * whose processes are cores and whose threads are pipes. One pass over the text gives a table of 64
 * bytes an instruction: numbers for the rules, and where in the text its parts stand, so that the
 * writer copies them untouched. Flags (B/E pairs of SET_FLAG, WAIT_FLAG, ...) become records.
 */
#ifndef STRATA_KERNELS_INCORE_EVENTS_H
#define STRATA_KERNELS_INCORE_EVENTS_H

#include "base/diag.h"
#include "base/tables/hash.h"
#include "base/tables/intern.h"

/* A part of an event's text: from the event's first byte; n 0: absent. */
struct incore_part {
    uint32_t at, n;
};

struct incore_instr {
    uint64_t at; /* of the event in the text */
    double ts, dur;
    uint32_t group; /* its core and pipe */
    uint32_t lane;  /* sub-lane, set by lanes.h */
    struct incore_part name, ts_text, dur_text, args;
};

/* A pid or tid: an interned text, and whether it stood there without quotes (a number). */
typedef uint32_t incore_value;

/* Instructions of one pipe of one core. */
struct incore_group {
    incore_value pid, tid;
    bool is_kept;    /* drawn; else it only counts for the breakdown */
    uint32_t first;  /* its part of `order` in lanes.h */
    uint32_t n;      /* instructions */
    uint32_t lanes;  /* sub-lanes, set by lanes.h */
    uint32_t drawn0; /* number of its first drawn lane, set by lanes.h */
};

enum incore_flag_kind {
    INCORE_FLAG,  /* SET_FLAG, WAIT_FLAG */
    INCORE_EVENT, /* set_event, wait_event (310P) */
    INCORE_INTRA, /* SET_INTRA_BLOCK, WAIT_INTRA_BLOCK: between cores */
    INCORE_FLAG_KINDS,
};

struct incore_flag {
    enum incore_flag_kind kind;
    incore_value pid, tid;
    struct str detail;
    double begin, end;
};

struct incore_flags {
    struct incore_flag *at;
    size_t n, cap;
};

/* A counter event that is passed on as it is. */
struct incore_raw {
    uint64_t at, n;
};

struct incore_rules {
    bool is_compat;     /* the reference cleaner's rules and nothing else */
    bool keep_scalar;   /* draw lane SCALAR */
    bool keep_head;     /* draw cache_time and ccu_time */
    bool keep_counters; /* pass on "MTE Throughput" */
    bool salvage;       /* of a text that is cut or damaged, what is whole */
    double mhz;         /* of logs that count cycles; 0: not known */
};

/* Tells how far the text has been read, so that a caller may drop what lies behind. */
struct incore_watch {
    void (*done)(void *ctx, uint64_t offset);
    void *ctx;
};

struct incore_trace {
    struct str text;
    struct incore_watch watch; /* for later passes over the text */
    struct incore_rules rules;
    struct arena arena; /* decoded texts */
    struct intern strings;
    VEC_OF(struct incore_instr) instrs; /* in the order of the text */
    VEC_OF(struct incore_group) groups; /* by first appearance */
    struct hash group_ids;              /* pid and tid -> group */
    struct incore_flags sets, waits;    /* in the order of their ends */
    VEC_OF(struct incore_raw) counters;
    struct str profiling_type, schema_version; /* as they stand in the text; empty: absent */
    uint64_t without_name, without_time;       /* instructions that were left out for it */
    uint64_t not_objects;                      /* elements of traceEvents that are no events */
    uint64_t open_flags;                       /* begins without an end, and ends without begin */
    struct str cut; /* with `salvage`: why reading stopped; empty: it did not */
};

/* Reads `text`, which must outlive the trace; incore_trace_free() in any case. On failure `reason`
 * (lives in the trace's arena) says what is wrong with the text. */
enum status incore_trace_read(struct incore_trace *t, struct str text, struct incore_rules rules,
                              struct incore_watch watch, struct str *reason);
void incore_trace_free(struct incore_trace *t);

/* The same without a text to read. Instructions and flags come in the order a text would have
 * them. The parts of an instruction, as JSON, are from its `at` of a text that becomes t->text when
 * all are added; `group` and `kind` follow from the names. */
void incore_trace_init(struct incore_trace *t, struct incore_rules rules);
void incore_trace_instr(struct incore_trace *t, struct str core, struct str pipe, struct str name,
                        struct incore_instr in);
void incore_trace_flag(struct incore_trace *t, struct str core, struct str pipe, struct str name,
                       struct incore_flag flag);

/* The group of a core's pipe, or UINT32_MAX. */
uint32_t incore_group_find(const struct incore_trace *t, incore_value pid, struct str pipe);

static inline struct str incore_value_text(const struct incore_trace *t, incore_value v)
{
    return intern_get(&t->strings, v >> 1);
}

static inline bool incore_value_is_raw(incore_value v)
{
    return (v & 1) != 0;
}

static inline struct str incore_part_text(const struct incore_trace *t,
                                          const struct incore_instr *in, struct incore_part part)
{
    return (struct str){t->text.at + in->at + part.at, part.n};
}

/* The name of an instruction, without its quotes. */
static inline struct str incore_name(const struct incore_trace *t, const struct incore_instr *in)
{
    struct str raw = incore_part_text(t, in, in->name);

    return raw.n >= 2 && *raw.at == '"' ? str_part(raw, 1, raw.n - 2) : raw;
}

/* In a pass over all instructions: tells the watch now and then. */
static inline void incore_watch_tick(const struct incore_trace *t, size_t instr)
{
    if (instr % 65536 == 65535 && t->watch.done != NULL)
        t->watch.done(t->watch.ctx, t->instrs.at[instr].at);
}

/* The raw JSON of the value that comes in `text`; false when reading stops. */
struct json;
bool incore_read_raw(struct json *j, struct str text, struct str *out);

#endif
