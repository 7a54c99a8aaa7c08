#include "analysis/inventory.h"

#include <assert.h>
#include <stdlib.h>

static bool is_host(enum slice_kind kind)
{
    return kind >= SLICE_HOST_OP && kind <= SLICE_STEP;
}

static void stretch(nanos *begin, nanos *end, bool is_first, nanos from, nanos to)
{
    *begin = is_first || from < *begin ? from : *begin;
    *end = is_first || to > *end ? to : *end;
}

static void count_slices(struct inventory *inv)
{
    const struct slices *s = &inv->cap->slices;

    for (size_t i = 0; i < s->n; i++) {
        enum slice_kind kind = (enum slice_kind)s->kind[i];
        nanos end = slices_end(s, i);
        stretch(&inv->begin, &inv->end, i == 0, s->begin[i], end);
        if (slice_is_kernel(kind))
            stretch(&inv->device_begin, &inv->device_end, inv->kernels++ == 0, s->begin[i], end);
        inv->host_events += is_host(kind);
        inv->slices[kind]++;
        inv->time[kind] = nanos_add(inv->time[kind], s->dur[i]);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct inventory_attr *x = a, *y = b;

    return str_compare(x->key, y->key);
}

/* Adds to each key of a run how many slices use the run. */
static void count_run(struct inventory *inv, struct hash *keys, attr_run run, uint32_t uses)
{
    struct attr_walk walk = attrs_walk(&inv->cap->attrs, run);
    struct attr a;

    while (attrs_next(&walk, &a)) {
        uint32_t fresh = (uint32_t)inv->attrs.n, at = hash_add(keys, a.key, fresh);
        if (at == fresh)
            vec_push(&inv->attrs, ((struct inventory_attr){capture_text(inv->cap, a.key), 0}));
        inv->attrs.at[at].slices += uses;
    }
}

static void count_attrs(struct inventory *inv)
{
    const struct slices *s = &inv->cap->slices;
    struct hash keys = {0}, sets = {0}; /* sets repeat: count the uses of each first */
    VEC_OF(uint32_t) uses = {0};
    VEC_OF(attr_run) runs = {0};

    for (size_t i = 0; i < s->n; i++) {
        uint32_t fresh = (uint32_t)runs.n, at = hash_add(&sets, s->set[i], fresh);
        if (at == fresh) {
            vec_push(&runs, s->set[i]);
            vec_push(&uses, 0);
        }
        assert(at < uses.n && uses.at != NULL);
        uses.at[at]++;
        if (s->own[i] != 0)
            count_run(inv, &keys, s->own[i], 1);
    }
    for (size_t i = 0; i < runs.n; i++)
        count_run(inv, &keys, runs.at[i], uses.at[i]);
    vec_free(&uses);
    vec_free(&runs);
    hash_free(&sets);
    hash_free(&keys);
    if (inv->attrs.n > 0)
        qsort(inv->attrs.at, inv->attrs.n, sizeof(*inv->attrs.at), by_key);
}

static void gap(struct inventory *inv, bool is_there, const char *name, const char *text)
{
    if (!is_there)
        inv->gaps[inv->gap_count++] = (struct inventory_gap){name, text};
}

static void find_gaps(struct inventory *inv)
{
    const struct capture *cap = inv->cap;
    bool has_kernels = inv->kernels > 0, has_host = (cap->has & HAS_HOST) != 0;

    gap(inv, has_kernels, "kernels", "no device work: record device activity");
    gap(inv, has_host, "host_events",
        "no host events: why the device idled cannot be told; record CPU activity");
    gap(inv, !has_kernels || !has_host || cap->flows.n > 0, "flows",
        "no arrows from launches to kernels: launch latency cannot be told");
    gap(inv, !has_kernels || (cap->has & HAS_SHAPES) != 0, "shapes",
        "no shapes: work per kernel cannot be told; record with record_shapes=True");
    gap(inv, !has_host || (cap->has & HAS_STACKS) != 0, "stacks",
        "no Python stacks: idle time cannot be traced to code; record with with_stack=True");
    gap(inv, inv->steps.rows.n > 0, "steps",
        "no step marks: the whole span counts as one step; call the profiler's step()");
    gap(inv, cap->clock.has_unix, "wall_clock",
        "times count from an unknown moment: ranks cannot be aligned by them");
}

void inventory_init(struct inventory *inv, const struct capture *cap)
{
    *inv = (struct inventory){.cap = cap};
    count_slices(inv);
    for (size_t i = 0; i < cap->lanes.n; i++)
        if (cap->lanes.at[i].n > 0) /* a lane that was only named holds nothing */
            inv->lanes[cap->lanes.at[i].key.kind]++;
    for (size_t i = 0; i < cap->flows.n; i++)
        inv->flows[cap->flows.at[i].kind]++;
    for (size_t i = 0; i < cap->series.n; i++)
        inv->samples += cap->series.at[i].samples.n;
    for (size_t i = 0; i < cap->sources.n; i++) {
        inv->bytes += cap->sources.at[i].bytes;
        inv->rows += cap->sources.at[i].rows;
        inv->lost += cap->sources.at[i].lost;
    }
    step_table_init(&inv->steps, cap);
    count_attrs(inv);
    find_gaps(inv);
}

void inventory_fini(struct inventory *inv)
{
    step_table_fini(&inv->steps);
    vec_free(&inv->attrs);
}
