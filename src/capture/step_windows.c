#include "capture/step_windows.h"

#include <stdlib.h>

static struct step_windows from_marks(const struct capture *cap, struct arena *arena)
{
    struct step_windows out = {ARENA_ARRAY(arena, struct step_window, cap->marks.n), 0};
    enum mark_source best = MARK_STEP_TRACE;

    for (size_t i = 0; i < cap->marks.n; i++)
        if (cap->marks.at[i].source < best)
            best = cap->marks.at[i].source;
    for (size_t i = 0; i < cap->marks.n; i++) {
        const struct mark *m = &cap->marks.at[i];
        if (m->source == best)
            out.at[out.n++] = (struct step_window){m->number, {m->begin, m->end}};
    }
    return out;
}

static int by_begin(const void *a, const void *b)
{
    const struct step_window *x = a, *y = b;

    if (x->at.begin != y->at.begin)
        return x->at.begin < y->at.begin ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static struct step_windows from_ids(const struct capture *cap, struct arena *arena)
{
    VEC_OF(struct step_window) found = {0};
    struct hash seen = {0};
    struct step_windows out = {0};

    for (size_t i = 0; i < cap->slices.n; i++) {
        nanos begin = cap->slices.begin[i];
        int64_t number;
        if (!slice_is_kernel((enum slice_kind)cap->slices.kind[i]) ||
            !num_i64(capture_slice_text(cap, i, KEY_STEP), &number))
            continue;
        uint32_t id = hash_add(&seen, (uint64_t)number, (uint32_t)found.n);
        if (id == found.n)
            vec_push(&found, ((struct step_window){number, {begin, begin}}));
        else if (begin < found.at[id].at.begin)
            found.at[id].at = (struct interval){begin, begin};
    }
    out.at = ARENA_ARRAY(arena, struct step_window, found.n);
    out.n = found.n;
    if (found.n > 0) {
        memcpy(out.at, found.at, sizeof(*found.at) * found.n);
        qsort(out.at, out.n, sizeof(*out.at), by_begin);
    }
    hash_free(&seen);
    vec_free(&found);
    return out;
}

struct step_windows step_windows_find(const struct capture *cap, struct arena *arena)
{
    struct step_windows w = cap->marks.n > 0              ? from_marks(cap, arena)
                            : (cap->has & HAS_STEPS) != 0 ? from_ids(cap, arena)
                                                          : (struct step_windows){0};

    if (w.n == 0)
        return w;
    for (size_t i = 0; i + 1 < w.n; i++)
        w.at[i].at.end = w.at[i + 1].at.begin;
    struct interval *last = &w.at[w.n - 1].at;
    for (size_t i = 0; i < cap->slices.n; i++)
        if (slice_is_kernel((enum slice_kind)cap->slices.kind[i]) &&
            cap->slices.begin[i] >= last->begin && slices_end(&cap->slices, i) > last->end)
            last->end = slices_end(&cap->slices, i);
    return w;
}

const struct step_window *step_windows_at(struct step_windows w, nanos time)
{
    size_t low = 0, high = w.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w.at[middle].at.end > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low < w.n && w.at[low].at.begin <= time ? &w.at[low] : NULL;
}
