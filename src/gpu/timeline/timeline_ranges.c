/*
 * Ranges on host threads (NVTX, annotations) and the device work that was launched inside them.
 */
#include "gpu/timeline/timeline_in.h"

#include <string.h>

struct walker {
    struct timeline *t;
    VEC_OF(uint32_t) open;   /* ranges around the current time, outermost first */
    VEC_OF(uint32_t) parent; /* by range */
};

static bool is_range(uint8_t kind)
{
    return kind == SLICE_ANNOTATION || kind == SLICE_STEP;
}

static void walk_lane(struct walker *w, const struct lane *lane)
{
    const struct slices *s = &w->t->cap->slices;

    w->open.n = 0;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        if (!is_range(s->kind[i]) && s->kind[i] != SLICE_RUNTIME)
            continue;
        while (w->open.n > 0 &&
               slices_end(s, w->t->ranges.at[w->open.at[w->open.n - 1]].slice) <= s->begin[i])
            w->open.n--;
        uint32_t around = w->open.n > 0 ? w->open.at[w->open.n - 1] : TIMELINE_NONE;
        if (is_range(s->kind[i])) {
            vec_push(&w->parent, around);
            vec_push(&w->open, (uint32_t)w->t->ranges.n);
            vec_push(&w->t->ranges, ((struct timeline_range){.slice = (uint32_t)i,
                                                             .depth = (uint32_t)w->open.n - 1,
                                                             .begin = INT64_MAX,
                                                             .end = INT64_MIN}));
        } else {
            w->t->range_of[i] = around;
        }
    }
}

static void widen(struct timeline_range *r, nanos begin, nanos end, uint64_t kernels)
{
    r->kernels += kernels;
    r->begin = begin < r->begin ? begin : r->begin;
    r->end = end > r->end ? end : r->end;
}

static bool has_ranges(const struct capture *cap)
{
    for (lane_id k = 0; k < cap->lanes.n; k++) {
        const struct lane *lane = &cap->lanes.at[k];
        for (size_t i = lane->first; lane->key.kind == LANE_THREAD && i < lane->first + lane->n;
             i++)
            if (is_range(cap->slices.kind[i]))
                return true;
    }
    return false;
}

void timeline_find_ranges(struct timeline *t)
{
    const struct capture *cap = t->cap;
    struct walker w = {.t = t};

    if (!has_ranges(cap))
        return;
    t->range_of = mem_grow(NULL, sizeof(*t->range_of), cap->slices.n + 1);
    memset(t->range_of, 0xff, cap->slices.n * sizeof(*t->range_of));
    for (lane_id k = 0; k < cap->lanes.n; k++)
        if (cap->lanes.at[k].key.kind == LANE_THREAD)
            walk_lane(&w, &cap->lanes.at[k]);
    for (size_t k = 0; k < t->n_devices; k++)
        for (size_t i = 0; i < t->devices[k].n; i++) {
            const struct device_task *op = &t->devices[k].tasks[i];
            uint32_t call = timeline_call(&t->devices[k], op);
            uint32_t range = call != TIMELINE_NONE ? t->range_of[call] : TIMELINE_NONE;
            if (range != TIMELINE_NONE)
                widen(&t->ranges.at[range], op->begin, op->end, timeline_is_kernel(op));
        }
    /* Inner ranges have larger numbers than the ones around them. */
    for (size_t i = t->ranges.n; i-- > 0;)
        if (w.parent.at[i] != TIMELINE_NONE && t->ranges.at[i].begin <= t->ranges.at[i].end)
            widen(&t->ranges.at[w.parent.at[i]], t->ranges.at[i].begin, t->ranges.at[i].end,
                  t->ranges.at[i].kernels);
    vec_free(&w.open);
    vec_free(&w.parent);
}

bool timeline_find_window(const struct capture *cap, struct str range, struct interval *out)
{
    strid name = intern_find(&cap->strings, range);
    bool found = false;

    for (lane_id k = 0; k < cap->lanes.n && name != 0; k++) {
        const struct lane *lane = &cap->lanes.at[k];
        for (size_t i = lane->first; lane->key.kind == LANE_THREAD && i < lane->first + lane->n;
             i++)
            if (cap->slices.name[i] == name && is_range(cap->slices.kind[i]) &&
                (!found || cap->slices.begin[i] < out->begin)) {
                *out = (struct interval){cap->slices.begin[i], slices_end(&cap->slices, i)};
                found = true;
            }
    }
    return found && out->end > out->begin;
}
