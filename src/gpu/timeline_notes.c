#include "gpu/timeline_out.h"

#include <math.h>

/* Calls of graphs without their kernels make a busy device look idle. */
static bool is_unreliable(const struct timeline_device *d)
{
    return d->graphs.calls_without_work > 0;
}

size_t timeline_notes(const struct timeline *t, const struct timeline_device *d,
                      struct arena *arena, struct str *list)
{
    const struct timeline_graphs *g = &d->graphs;
    const struct timeline_launches *l = &d->launches;
    uint64_t kernels = d->count[TIMELINE_COMPUTE] + d->count[TIMELINE_COMM], streams = 0;
    nanos span = nanos_sub(d->window.end, d->window.begin);
    size_t n = 0;

    for (size_t i = 0; i < t->n_streams; i++)
        streams += &t->devices[t->streams[i].device] == d && t->streams[i].kernels > 0;
    if (d->n == 0)
        list[n++] = arena_str(arena, S("no device activity was recorded"));
    if (is_unreliable(d))
        list[n++] = arena_format(
            arena,
            "unreliable busy and idle times: %llu graph launches left no record of their kernels; "
            "record graph nodes",
            (unsigned long long)g->calls_without_work);
    if (g->rows > 0)
        list[n++] = arena_format(arena,
                                 "%llu graph launches were recorded as one row each; those whose "
                                 "kernels are missing count as busy time as a whole",
                                 (unsigned long long)g->rows);
    if (l->unlinked > 0)
        list[n++] = arena_format(arena,
                                 "%llu of %llu kernels have no launch call: no latency, and "
                                 "causes of gaps before them stay open",
                                 (unsigned long long)l->unlinked, (unsigned long long)kernels);
    if (streams > TIMELINE_PAIRED)
        list[n++] = arena_format(arena, "overlap of the %d busiest of %llu streams",
                                 TIMELINE_PAIRED, (unsigned long long)streams);
    if (d->overhead > 0 && span > 0)
        list[n++] =
            arena_format(arena, "profiler overhead and code loading cover %.1f %% of the span",
                         100 * (double)d->overhead / (double)span);
    return n;
}
