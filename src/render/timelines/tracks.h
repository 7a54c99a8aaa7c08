/*
 * tracks - how a cut is drawn: processes, numbers for their lanes, and rows on which slices nest.
 *
 * Viewers draw a row for each (process, thread) number and want the slices on a row to nest. The
 * numbers of the source are kept where it gave some and they are not taken; other lanes get the
 * smallest free ones, in lane order. Slices of a lane that overlap without nesting are spread over
 * several rows: each goes to the first on which it fits.
 */
#ifndef STRATA_RENDER_TRACKS_H
#define STRATA_RENDER_TRACKS_H

#include "base/files/gz_write.h"
#include "base/tables/hash.h"
#include "render/timelines/timeline.h"

struct tracks_process {
    struct str name;                /* NUL-terminated, as all texts here */
    strid process;                  /* as the capture names it */
    int32_t device;                 /* -1: the lanes are threads */
    bool is_host, is_comm, has_pid; /* is_comm: collectives, which a device has beside it */
    int64_t pid, next_tid;
};

struct tracks_lane {
    uint32_t process; /* number in `processes` */
    int64_t tid;
    struct str name;
};

struct tracks {
    const struct cut *cut;
    struct arena arena;
    VEC_OF(struct tracks_process) processes; /* in order of their first lane */
    struct tracks_lane *lanes;               /* by lane; zero when not in the cut */
    uint32_t *series;                        /* by series: number of its process */
    uint32_t *by_to;                         /* arrows of the cut by the slice they lead to */
    struct hash process_ids, used_pids, used_tids;
};

/* With `device_pids` the process of a GPU gets its number, 0 too, as PyTorch's traces have it. */
void tracks_init(struct tracks *t, const struct cut *cut, bool device_pids);
void tracks_fini(struct tracks *t);

/* The arrows of slices that are asked for in order, once each. */
struct tracks_arrows {
    const struct tracks *tracks;
    size_t next_from, next_to; /* not yet asked for */
};

/* From that slice on. */
struct tracks_arrows tracks_arrows_from(const struct tracks *t, uint32_t slice);

/* The next arrow of the cut that begins, or ends, at that slice; false when there is none left. */
static inline bool tracks_arrow_from(struct tracks_arrows *a, uint32_t slice, size_t *flow)
{
    const struct cut *cut = a->tracks->cut;
    const struct capture *cap = cut->cap;

    while (a->next_from < cap->flows.n && cap->flows.at[a->next_from].from <= slice) {
        *flow = a->next_from++;
        if (cap->flows.at[*flow].from == slice && cut_has_flow(cut, &cap->flows.at[*flow]))
            return true;
    }
    return false;
}

static inline bool tracks_arrow_to(struct tracks_arrows *a, uint32_t slice, size_t *flow)
{
    const struct tracks *t = a->tracks;

    if (a->next_to >= t->cut->flows || t->cut->cap->flows.at[t->by_to[a->next_to]].to > slice)
        return false;
    *flow = t->by_to[a->next_to++];
    return true;
}

/* A thread number of that process that nothing has yet. */
int64_t tracks_fresh_tid(struct tracks *t, uint32_t process);

/* "main" for row 0, "main (2)" for row 1, ...; in `arena`. */
struct str tracks_row_name(const struct tracks *t, lane_id lane, size_t row, struct arena *arena);

/* Rows of one lane. The first ones nest, which costs a look at each; the rest hold one slice at a
 * time and are found by a heap, so that a lane of a million overlapping slices stays fast. */
enum { TRACKS_NESTING_ROWS = 32 };

struct tracks_open {
    nanos end;
    size_t row;
};

struct tracks_rows {
    struct {
        VEC_OF(nanos) ends; /* of the slices open on that row, innermost last */
    } nesting[TRACKS_NESTING_ROWS];
    VEC_OF(struct tracks_open) heap; /* rows behind those, by the end of their slice */
    size_t n;                        /* rows used */
    void (*ended)(void *ctx, size_t row, nanos end); /* a slice of a nesting row; may be NULL */
    void *ctx;
};

/* The row of the lane's next slice; slices come by begin. */
size_t tracks_place(struct tracks_rows *rows, nanos begin, nanos end);

/* Ends what is open and forgets all rows, for the next lane; the memory is kept. */
void tracks_next_lane(struct tracks_rows *rows);
void tracks_rows_free(struct tracks_rows *rows);

/* What the walk over a cut meets, in order. */
enum tracks_what { TRACKS_ROW, TRACKS_SLICE, TRACKS_END, TRACKS_SERIES, TRACKS_SAMPLE };

struct tracks_mark {
    enum tracks_what what;
    uint32_t number; /* of the lane, slice or series */
    size_t row;      /* of the lane; for a sample its number in the series */
    int64_t id;      /* of the row or series, as the format numbers them */
    int64_t first;   /* a row: the id of row 0 of its lane */
    nanos end;       /* a slice and its end */
};

/* How a format draws. */
struct tracks_pen {
    /* Called in order with the job's `ctx`. A row begins, row 0 with its lane; a series does. */
    int64_t (*number_row)(void *ctx, lane_id lane, size_t row);
    int64_t (*number_series)(void *ctx, size_t id); /* NULL: its samples suffice */
    bool has_ends;                                  /* ends of slices are drawn */

    /* Batches of marks are drawn side by side, each with a worker that writes to `out`. */
    void *(*begin)(const void *ctx, struct sink out);
    void (*draw)(void *worker, const struct tracks_mark *mark);
    void (*flush)(void *worker); /* the batch is over: all of it goes to `out` */
    void (*end)(void *worker);
};

struct tracks_job {
    const struct cut *cut;
    const struct timeline_options *options;
    const struct tracks_pen *pen;
    void *ctx;
    struct sink out;
    struct gz_write *gz; /* takes the text in place of `out`; NULL: it is not packed */
};

/* Draws lane by lane and then the series. False when the user interrupted or the output failed. */
bool tracks_draw(const struct tracks_job *job);

#endif
