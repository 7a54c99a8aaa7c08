/*
 * slices - the events of a capture, one entry each, in columns.
 *
 * Column widths in bytes: begin 8, dur 8, lane 4, name 4, set 4, own 4, kind 1 = 33 a slice.
 */
#ifndef STRATA_CAPTURE_SLICES_H
#define STRATA_CAPTURE_SLICES_H

#include "capture/attrs.h"
#include "capture/lane.h"

struct pool;

/* One slice, as it is added and as it is read back. */
struct slice {
    nanos begin, dur;
    lane_id lane;
    strid name;
    attr_run set, own;
    enum slice_kind kind;
};

struct slices {
    nanos *begin, *dur;
    lane_id *lane;
    strid *name;
    attr_run *set, *own;
    uint8_t *kind; /* enum slice_kind */
    size_t n, cap;
};

/* Room for `count` slices in all. */
void slices_reserve(struct slices *s, size_t count);
void slices_push(struct slices *s, const struct slice *slice);
void slices_free(struct slices *s);

static inline struct slice slices_at(const struct slices *s, size_t i)
{
    return (struct slice){
        .begin = s->begin[i],
        .dur = s->dur[i],
        .lane = s->lane[i],
        .name = s->name[i],
        .set = s->set[i],
        .own = s->own[i],
        .kind = (enum slice_kind)s->kind[i],
    };
}

/* Puts slice `from` where slice `to` is. */
static inline void slices_move(struct slices *s, size_t to, size_t from)
{
    s->begin[to] = s->begin[from];
    s->dur[to] = s->dur[from];
    s->lane[to] = s->lane[from];
    s->name[to] = s->name[from];
    s->set[to] = s->set[from];
    s->own[to] = s->own[from];
    s->kind[to] = s->kind[from];
}

static inline nanos slices_end(const struct slices *s, size_t i)
{
    return nanos_add(s->begin[i], s->dur[i]);
}

/* Sorts by (lane, begin, longest first); equal ones keep the order they came in. When `tell` is
 * set, gives the new place of each old number for mem_free(), or NULL when nothing moved. */
uint32_t *slices_sort(struct slices *s, bool tell);

/* Sorts those from number `first` on and leaves the others alone. `pool` may be NULL. */
void slices_sort_from(struct slices *s, size_t first, struct pool *pool);

#endif
