#include "analysis/inventory.h"

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

/* How many runs have the shape whose keys begin with a given one. */
struct shape_uses {
    uint32_t uses, n; /* n: keys of the shape */
};

static void count_run(const struct attrs *attrs, attr_run run, struct shape_uses *shapes)
{
    struct attr_walk walk = attrs_walk(attrs, run);

    if (walk.left == 0)
        return;
    struct shape_uses *shape = &shapes[walk.column - attrs->columns.at];
    shape->uses++;
    shape->n = walk.left;
}

/* Adds to each key of a shape how many slices have a run of that shape. */
static void count_keys(struct inventory *inv, const struct shape_uses *shapes)
{
    const struct attrs *attrs = &inv->cap->attrs;
    struct hash keys = {0};

    for (size_t first = 0; first < attrs->columns.n; first++)
        for (size_t i = 0; i < shapes[first].n; i++) {
            strid key = attrs->columns.at[first + i].key;
            uint32_t fresh = (uint32_t)inv->attrs.n, at = hash_add(&keys, key, fresh);
            if (at == fresh)
                vec_push(&inv->attrs, ((struct inventory_attr){capture_text(inv->cap, key), 0}));
            inv->attrs.at[at].slices += shapes[first].uses;
        }
    hash_free(&keys);
}

/* The runs of a shape all have the same keys, so that values need not be looked at. */
static void count_attrs(struct inventory *inv)
{
    const struct slices *s = &inv->cap->slices;
    const struct attrs *attrs = &inv->cap->attrs;
    struct shape_uses *shapes = mem_grow(NULL, sizeof(*shapes), attrs->columns.n);

    memset(shapes, 0, sizeof(*shapes) * attrs->columns.n);
    for (size_t i = 0; i < s->n; i++) {
        count_run(attrs, s->set[i], shapes);
        count_run(attrs, s->own[i], shapes);
    }
    count_keys(inv, shapes);
    mem_free(shapes);
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
