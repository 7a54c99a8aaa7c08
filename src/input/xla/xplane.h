/*
 * xplane - what the files that read an XSpace share.
 *
 * in_xplane.c finds the planes; xplane_plane.c reads one: its lines come before the names of their
 * events, so its members are looked up first; xplane_stats.c makes attributes of what is known of
 * an event. Names and numbers are of one plane each.
 */
#ifndef STRATA_INPUT_XLA_XPLANE_H
#define STRATA_INPUT_XLA_XPLANE_H

#include "base/formats/proto_read.h"
#include "base/tables/id_map.h"
#include "input/import.h"

/* What a stat is for. */
enum xplane_role {
    XPLANE_UNKNOWN, /* not looked at yet */
    XPLANE_SKIP,
    XPLANE_SET,    /* the same for many events */
    XPLANE_OWN,    /* another one for nearly each */
    XPLANE_LINK,   /* the number of a call, by which its work is found */
    XPLANE_KERNEL, /* grid, block and registers in one text */
    XPLANE_COPY,   /* bytes of a copy in one text */
    XPLANE_FROM,   /* a number by which a consumer finds its producer: kind, then number */
    XPLANE_FROM_KIND,
    XPLANE_TO,
    XPLANE_TO_KIND,
};

struct xplane_stat_name {
    struct str name;
    strid key, text; /* as the name of an attribute, and as a value; 0: not yet */
    enum xplane_role role;
};

enum { XPLANE_SET_MOST = 24, XPLANE_OWN_MOST = 16 };

/* What the stats of one event tell. */
struct xplane_told {
    struct attr set[XPLANE_SET_MOST], own[XPLANE_OWN_MOST];
    size_t n_set, n_own;
    uint64_t from, to, from_kind, to_kind;
    int64_t link; /* 0: none */
    bool has_from, has_to;
    bool is_shared; /* of a name: all of it is set */
};

struct xplane_event_name {
    struct str name, display, message; /* the message has the stats that all its events share */
    strid text;                        /* 0: not yet */
    int8_t kind;                       /* of device work: enum slice_kind; -1: not yet */
    bool is_known;                     /* `shared` is filled in */
    attr_run set;                      /* of events that add nothing */
    struct xplane_told *shared;        /* NULL: it has no stats */
};

enum { XPLANE_STATS_MOST = 64 };

/* The stats of an event, as they lie in the file. */
struct xplane_stats {
    struct str at[XPLANE_STATS_MOST];
    size_t n;
};

/* Events of one name mostly repeat what was said of one before, byte by byte, but for numbers. */
enum { XPLANE_MEMOS = 1 << 12 };
struct xplane_memo {
    struct str bytes; /* of the stats that make the set; empty: none */
    uint32_t name;
    attr_run set;
};

/* What "regs:38 grid:160,1,1 block:1024,1,1" says. */
struct xplane_details {
    struct attr list[5];
    size_t n;
};

/* A call or a piece of work by the number that both have. */
struct xplane_link {
    int64_t number;
    uint32_t slice;
};

struct xplane_links {
    struct xplane_link *at;
    size_t n, cap;
};

/* An event that others point to or from. */
struct xplane_end {
    uint64_t key;
    uint32_t slice;
};

struct xplane_ends {
    struct xplane_end *at;
    size_t n, cap;
};

struct xplane {
    struct import *i;
    struct capture *cap;
    struct str text;       /* the whole file */
    const uint8_t *damage; /* the first byte that was not right; NULL: none */
    struct xplane_links calls, works;
    struct xplane_ends from, to; /* producers and consumers */
    VEC_OF(uint32_t) modules;    /* consumers that are runs of a module on a device */
    uint64_t planes;             /* that could be read */
    uint64_t aggregated;         /* events that are sums without a time */
    VEC_OF(struct xplane_details) details;
    struct hash details_of; /* text -> its place */
    struct arena scratch;
    strid scope, long_name; /* names of attributes */
};

/* What kind of plane a name says. */
enum xplane_kind { XPLANE_OTHER, XPLANE_DEVICE, XPLANE_HOST, XPLANE_TASK };
enum xplane_kind xplane_kind_of(struct str name, int32_t *device);

/* What stands on a row. */
enum xplane_class {
    XPLANE_WORK,  /* kernels and copies of a stream, operations of a TPU */
    XPLANE_WAITS, /* what a TPU waits for */
    XPLANE_STEPS,
    XPLANE_MODULES,
    XPLANE_DERIVED, /* made by the profiler from the others */
    XPLANE_COUNTERS,
    XPLANE_THREAD,
};

struct xplane_row {
    struct str message, name;
    int64_t id, timestamp;
    size_t events;
    enum xplane_class class;
    lane_id lane;
};

/* A plane and its tables. */
struct xplane_plane {
    struct xplane *x;
    struct str name;
    enum xplane_kind kind;
    int32_t device; /* -1: none */
    VEC_OF(struct xplane_row) rows;
    VEC_OF(struct str) stats; /* messages */
    VEC_OF(struct xplane_stat_name) stat_names;
    VEC_OF(struct xplane_event_name) event_names;
    struct id_map stat_ids, event_ids;
    struct xplane_memo *memos;
    bool has_streams; /* rows of streams beside those made from them */
    bool is_gpu;
};

/* Reads a plane into the capture. */
void xplane_read_plane(struct xplane *x, struct str message);

/* A value of a plane's own stats, as the profiler wrote it. */
struct xplane_value {
    struct str name, text; /* `text` is empty for a number */
    double real;
    int64_t number;
    bool is_number, is_unsigned;
};
bool xplane_stat_value(struct xplane_plane *p, struct str message, struct xplane_value *out);

/* What the stats of an event tell: its set, and in `told` the rest. `e` is the event's name, NULL
 * when there is none. */
attr_run xplane_stats_tell(struct xplane_plane *p, const struct xplane_stats *stats,
                           struct xplane_event_name *e, struct xplane_told *told);

#endif
