/*
 * What is said of a capture without device work: where the host's time is, and how to record the
 * device where the host launched something.
 */
#include <stdlib.h>

#include "analysis/diagnose/diagnosis_in.h"
#include "text/diagnosis.h"

struct host_sum {
    strid name;
    nanos time;
};

ORDER_BY(by_host_time, struct host_sum, ORDER(y->time, x->time) ?: ORDER(x->name, y->name));

/* The outermost operators of the host with most time, up to `room`; gives how many. */
static size_t find_host_tops(const struct capture *cap, struct host_sum *out, size_t room)
{
    VEC_OF(struct host_sum) sums = {0};
    struct hash names = {0};
    const struct slices *s = &cap->slices;

    for (size_t k = 0; k < cap->lanes.n; k++) {
        const struct lane *lane = &cap->lanes.at[k];
        nanos end = INT64_MIN;
        for (size_t i = lane->first; i < lane->first + lane->n; i++) {
            if (s->kind[i] != SLICE_HOST_OP || s->begin[i] < end)
                continue;
            end = slices_end(s, i);
            uint32_t fresh = (uint32_t)sums.n, at = hash_add(&names, s->name[i], fresh);
            if (at == fresh)
                vec_push(&sums, ((struct host_sum){s->name[i], 0}));
            sums.at[at].time = nanos_add(sums.at[at].time, nanos_sub(end, s->begin[i]));
        }
    }
    if (sums.n > 1)
        qsort(sums.at, sums.n, sizeof(*sums.at), by_host_time);
    size_t n = sums.n < room ? sums.n : room;
    for (size_t i = 0; i < n; i++)
        out[i] = sums.at[i];
    vec_free(&sums);
    hash_free(&names);
    return n;
}

/* " Most host time is in aten::mm (3.0 ms), aten::add (1.0 ms)."; without text: no operators. */
static struct wording tell_host_tops(const struct capture *cap, struct arena *arena)
{
    struct host_sum tops[ROOT_SITES];
    size_t n = find_host_tops(cap, tops, ROOT_SITES);
    struct wording all = {0};

    for (size_t i = 0; i < n; i++) {
        struct wording one =
            WORDING(arena, &diagnosis_text.host_top_item,
                    PLACE("name", cause_short_name(arena, capture_text(cap, tops[i].name))),
                    place_quantity("time", (double)tops[i].time, UNIT_NS));
        all = i == 0 ? one
                     : WORDING(arena, &diagnosis_text.host_top_items,
                               place_wording("first", wording_keep(arena, all)),
                               place_wording("second", wording_keep(arena, one)));
    }
    return n > 0 ? WORDING(arena, &diagnosis_text.host_top,
                           place_wording("first", wording_keep(arena, all)))
                 : wording_plain(S(""));
}

/* Calls that launch kernels or graphs. */
static size_t count_launches(const struct capture *cap)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++) {
        if (cap->slices.kind[i] != SLICE_RUNTIME)
            continue;
        enum call_kind kind = host_call_kind(capture_text(cap, cap->slices.name[i]));
        n += kind == CALL_LAUNCH || kind == CALL_GRAPH;
    }
    return n;
}

struct wording cause_no_work(const struct capture *cap, struct arena *arena)
{
    struct message_place top =
        place_wording("top", wording_keep(arena, tell_host_tops(cap, arena)));
    size_t launches = count_launches(cap);

    if (launches == 0)
        return WORDING(arena, &diagnosis_text.no_device_work, top);
    bool is_native = framework_of(cap) == FRAMEWORK_NATIVE;
    struct wording how = cause_plain(arena, is_native ? &diagnosis_text.how_gpu_side_native
                                                      : &diagnosis_text.how_gpu_side);
    return WORDING(arena, &diagnosis_text.no_gpu_side, PLACE("n", launches),
                   place_wording("how", wording_keep(arena, how)), top);
}
