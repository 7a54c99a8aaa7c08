/*
 * page_set - the timeline of one capture as a page holds it: lanes in the order they are drawn, a
 * dictionary of what slices are, the step of each, and the packed items.
 *
 * Times are nanoseconds since `origin`. An item is a slice, or a bundle of short ones where a page
 * would be too large.
 */
#ifndef STRATA_PAGE_PAGE_SET_H
#define STRATA_PAGE_PAGE_SET_H

#include "analysis/diagnose/accounting.h"
#include "analysis/study.h"
#include "page/page_kernels.h"
#include "page/page_pack.h"

struct arch;
struct memory_curves;
struct pool;

/* Colours: what a kernel does. */
enum page_family {
    PAGE_MATRIX,
    PAGE_ATTENTION,
    PAGE_VECTOR,
    PAGE_LAYOUT,
    PAGE_COMM,
    PAGE_COPY,
    PAGE_OTHER,
    PAGE_HOST,
};

enum { PAGE_FAMILIES = PAGE_HOST + 1 };

/* In the order in which they are drawn. */
enum page_group_kind { GROUP_DEVICE, GROUP_PIPES, GROUP_COMM, GROUP_HOST, GROUP_OTHER };

struct page_group {
    struct str name;
    enum page_group_kind kind;
    bool is_open;
};

/* Ranges over the kernels of a stream have a lane of their own, behind that of the kernels. */
enum page_lane_part { LANE_WHOLE, LANE_WORK, LANE_RANGES };

struct page_lane {
    lane_id lane;
    enum page_lane_part part;
    struct str name;
    uint32_t group;
    bool is_open;
    size_t depth;    /* rows */
    nanos busy;      /* union of what is busy */
    double told;     /* busy share as a simulator tells it; 0: it does not */
    size_t first, n; /* items */
    size_t slices;
    bool is_merged; /* has bundles */
};

/* An entry of the dictionary. */
struct page_what {
    strid name, shapes, types;
    uint8_t kind, family; /* enum slice_kind, enum page_family */
    size_t count;
};

/* Items of one lane in columns; of a bundle `more` is the number of slices less one, `slack` the
 * time in it that is not busy. */
struct page_items {
    nanos *begin, *dur;
    uint32_t *what, *step;
    uint32_t *more; /* NULL: no bundles */
    nanos *slack;
    size_t n, cap;
    VEC_OF(struct page_mix) mixes; /* ascending */
};

/* Bundles of several families: their busy time in each. */
struct page_mix {
    uint32_t item;
    nanos by[PAGE_FAMILIES];
};

struct page_chunk {
    struct page_place place;
    uint32_t lane;
    size_t n;
    nanos first, end;
    uint8_t widths[PAGE_COLUMNS];
};

struct page_chunks {
    VEC_OF(struct page_chunk) at;
    size_t columns;
};

/* A part of the critical path: which lane it leads along, and from when to when. */
struct page_leg {
    uint32_t lane; /* place in `lanes` */
    nanos from, to;
};

struct page_set {
    struct study *st;
    struct study apart; /* of what is found at the same time as accounting and diagnosis */
    const struct capture *cap;
    const struct accounting *a;
    struct arena *arena; /* of `apart` */
    struct pool *pool;
    struct hash *aliases; /* of names that are not shown; NULL: all are */
    nanos origin, to;
    size_t most_lanes; /* 0: any number */
    size_t left_out;   /* lanes beyond */
    VEC_OF(struct page_group) groups;
    VEC_OF(struct page_lane) lanes;
    VEC_OF(struct page_what) whats; /* by frequency */
    uint32_t *lane_of;     /* by lane of the capture: place of its work, and then of its ranges */
    uint32_t *what, *step; /* by slice; a step is its place plus one */
    struct page_items *items; /* by lane */
    uint32_t *item_of;        /* by slice: its item's number; NULL: as `first_item` says */
    size_t n_slices, n_items;
    nanos least_gap; /* shorter ones are left out */
    struct page_chunks slices, arrows, gaps;
    struct page_place dictionary;
    uint64_t dictionary_size;
    struct page_kernels kernels;
    const struct arch *arch; /* NULL: no layers were found */
    const struct memory_curves *memory;
    VEC_OF(struct page_leg) path; /* by time; empty: not known */
    bool has_clock;               /* fitted to those of other ranks: */
    double ahead, drift;          /* of the first one's, at the origin, ns; and a nanosecond */
};

/* `st` outlives it. */
void page_set_init(struct page_set *set, struct study *st, struct pool *pool);

/* Finds lanes, dictionary and steps once the accounting, `a`, is there. */
void page_set_fill(struct page_set *set);

void page_set_fini(struct page_set *set);

/* Forgets the items. */
void page_set_reset(struct page_set *set);

/* A time as pages hold it: 0 to 2^53 - 1. */
nanos page_time(const struct page_set *set, nanos t);

/* The place in `lanes` of a slice; UINT32_MAX: it is not in the page. */
uint32_t page_lane_of(const struct page_set *set, uint32_t slice);

/* The number of a slice's item plus one; 0 when it is not in the page. */
uint64_t page_item(const struct page_set *set, uint32_t slice);

/* A name or path from the capture as a page shows it: harmless, cut when long, and an alias where
 * names are not to be shown. */
struct str page_name(const struct page_set *set, struct str name);

/* Shapes, types and chips: the same, with an alias only for what does not look like one. */
struct str page_shape(const struct page_set *set, strid text);

/* On lanes of a device: a range that stands over its kernels. */
static inline bool page_is_range(enum lane_kind lane, uint8_t kind)
{
    return (lane == LANE_STREAM || lane == LANE_COMM) && kind > SLICE_CONTROL;
}

/* Whether time in slices of that kind is busy. */
static inline bool page_is_busy(enum lane_kind lane, uint8_t kind)
{
    return kind != SLICE_WAIT && kind != SLICE_CONTROL && !page_is_range(lane, kind);
}

/* Whether counters or an allocator's events tell of memory. */
bool page_has_memory(const struct page_set *set);

enum page_family page_family_of(enum kernel_family family);

/* Pipes of a core have colours of their own. */
enum page_family page_family_of_pipe(struct str pipe);

/*
 * Fewer items where a page would be too large (page_thin.c): a run of neighbours in a row of a
 * lane, each shorter than q and less than q apart, becomes one bundle that keeps their count and
 * busy time by family and is named after its longest slice. Host slices are thinned before parts of
 * communication, and those before device slices.
 */
enum page_thin_class { THIN_HOST, THIN_COMM, THIN_DEVICE };

enum { THIN_CLASSES = THIN_DEVICE + 1, THIN_PYTHON_DEPTH = 8 };

struct page_thinning {
    bool drops_python;     /* Python frames at depth THIN_PYTHON_DEPTH and below are left out */
    nanos q[THIN_CLASSES]; /* 0: complete */
};

/* The least thinning with at most `most` items, or the strongest there is. */
struct page_thinning page_thin_choose(const struct page_set *set, size_t most);

/* Makes the items of all lanes; sets first, n, depth and busy of each. */
void page_thin_apply(struct page_set *set, const struct page_thinning *thinning);

#endif
