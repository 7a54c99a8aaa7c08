/*
 * What an allocator held.
 */
#include "capture/snapshot.h"

ENUM_NAMES(snapshot_state_name, enum snapshot_state, "active_allocated", "active_pending_free",
           "inactive")

ENUM_NAMES(snapshot_action_name, enum snapshot_action, "alloc", "free_requested", "free_completed",
           "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "other")

void snapshot_before(const struct snapshot *s, const struct snapshot_trace *t, int64_t *allocated,
                     int64_t *reserved)
{
    *allocated = *reserved = 0;
    for (size_t i = 0; i < s->segments.n; i++) {
        const struct snapshot_segment *segment = &s->segments.at[i];
        if (segment->device != t->device)
            continue;
        *reserved = nanos_add(*reserved, segment->bytes);
        for (size_t k = segment->first; k < segment->first + segment->n; k++)
            if (s->blocks.at[k].state != SNAPSHOT_INACTIVE)
                *allocated = nanos_add(*allocated, s->blocks.at[k].requested);
    }
    for (size_t i = t->first; i < t->first + t->n; i++) {
        *allocated = nanos_sub(*allocated, snapshot_allocates(&s->events.at[i]));
        *reserved = nanos_sub(*reserved, snapshot_reserves(&s->events.at[i]));
    }
}

void snapshot_free(struct snapshot *s)
{
    if (s == NULL)
        return;
    vec_free(&s->events);
    vec_free(&s->blocks);
    vec_free(&s->segments);
    vec_free(&s->ranges);
    vec_free(&s->traces);
    mem_free(s);
}
