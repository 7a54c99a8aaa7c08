/*
 * inventory: counts of everything a capture holds, what is missing, and the JSON contract
 * strata.info/1, in which counts are numbers, times nanoseconds and what is not known null.
 */
#include "analysis/tables/inventory.h"

#include <stdlib.h>

#include "analysis/steps/step_table.h"

static void stretch(struct inventory_span *span, nanos begin, nanos end)
{
    span->begin = span->is_there && span->begin < begin ? span->begin : begin;
    span->end = span->is_there && span->end > end ? span->end : end;
    span->dur = nanos_sub(span->end, span->begin);
    span->is_there = true;
}

static struct inventory_group group(const struct inventory *inv, enum slice_kind first,
                                    enum slice_kind last)
{
    struct inventory_group g = {.kinds = &inv->kinds[first], .n = last - first + 1};

    for (size_t i = 0; i < g.n; i++)
        g.count += g.kinds[i].count;
    return g;
}

static void count_slices(struct inventory *inv)
{
    const struct slices *s = &inv->cap->slices;

    for (unsigned k = 0; k < SLICE_KINDS; k++)
        inv->kinds[k].name = slice_kind_name((enum slice_kind)k);
    for (size_t i = 0; i < s->n; i++) {
        struct inventory_kind *kind = &inv->kinds[s->kind[i]];
        nanos end = slices_end(s, i);
        stretch(&inv->span, s->begin[i], end);
        if (slice_is_kernel((enum slice_kind)s->kind[i]))
            stretch(&inv->device, s->begin[i], end);
        kind->count++;
        kind->dur = nanos_add(kind->dur, s->dur[i]);
    }
    inv->kernels = group(inv, SLICE_COMPUTE, SLICE_COPY);
    inv->waits = group(inv, SLICE_WAIT, SLICE_CONTROL);
    inv->host = group(inv, SLICE_HOST_OP, SLICE_STEP);
    inv->others = group(inv, SLICE_INSTR, SLICE_OTHER);
}

static void list_facts(struct inventory *inv)
{
    const struct capture *cap = inv->cap;
    const struct facts *f = &cap->facts;

    inv->facts = (struct inventory_facts){
        .kind = capture_text(cap, f->kind),
        .producer = capture_text(cap, f->producer),
        .host = capture_text(cap, f->host),
        .device_name = capture_text(cap, f->device_name),
        .rank = f->rank,
        .world_size = f->world_size,
        .device = f->device,
        .level = f->level,
        .record_shapes = f->record_shapes,
        .with_stack = f->with_stack,
    };
}

static void list_steps(struct inventory *inv)
{
    struct step_table table;

    step_table_init(&table, inv->cap);
    inv->step_source = table.source;
    for (size_t i = 0; i < table.rows.n; i++) {
        const struct step_row *r = &table.rows.at[i];
        vec_push(&inv->steps, ((struct inventory_step){capture_text(inv->cap, r->name), r->number,
                                                       r->begin, r->end}));
    }
    step_table_fini(&table);
}

ORDER_BY(by_key, struct inventory_attr, str_compare(x->key, y->key));

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

/* The runs of a shape all have the same keys, so that values need not be looked at. */
static void count_attrs(struct inventory *inv)
{
    const struct slices *s = &inv->cap->slices;
    const struct attrs *attrs = &inv->cap->attrs;
    struct shape_uses *shapes = mem_grow(NULL, sizeof(*shapes), attrs->columns.n);
    struct hash keys = {0};

    memset(shapes, 0, sizeof(*shapes) * attrs->columns.n);
    for (size_t i = 0; i < s->n; i++) {
        count_run(attrs, s->set[i], shapes);
        count_run(attrs, s->own[i], shapes);
    }
    for (size_t first = 0; first < attrs->columns.n; first++)
        for (size_t i = 0; i < shapes[first].n; i++) {
            strid key = attrs->columns.at[first + i].key;
            uint32_t fresh = (uint32_t)inv->attrs.n, at = hash_add(&keys, key, fresh);
            if (at == fresh)
                vec_push(&inv->attrs, ((struct inventory_attr){capture_text(inv->cap, key), 0}));
            inv->attrs.at[at].slices += shapes[first].uses;
        }
    hash_free(&keys);
    mem_free(shapes);
    if (inv->attrs.n > 0)
        qsort(inv->attrs.at, inv->attrs.n, sizeof(*inv->attrs.at), by_key);
}

static void gap(struct inventory *inv, bool is_there, const char *name, const char *text)
{
    if (!is_there)
        vec_push(&inv->gaps, ((struct inventory_gap){name, text}));
}

static void find_gaps(struct inventory *inv)
{
    const struct capture *cap = inv->cap;
    bool has_kernels = inv->kernels.count > 0, has_host = (cap->has & HAS_HOST) != 0;

    gap(inv, has_kernels, "kernels", "no device work: record device activity");
    gap(inv, has_host, "host_events",
        "no host events: causes of idle time are unknown; record CPU activity");
    gap(inv, !has_kernels || !has_host || cap->flows.n > 0, "flows",
        "no arrows from launches to kernels: launch latency is unknown");
    gap(inv, !has_kernels || (cap->has & HAS_SHAPES) != 0, "shapes",
        "no shapes: work per kernel is unknown; record with record_shapes=True");
    gap(inv, !has_host || (cap->has & HAS_STACKS) != 0, "stacks",
        "no Python stacks: idle time cannot be traced to code; record with with_stack=True");
    gap(inv, inv->steps.n > 0, "steps",
        "no step marks: the whole span counts as one step; call the profiler's step()");
    gap(inv, cap->clock.has_unix, "wall_clock",
        "times count from an unknown moment: ranks cannot be aligned by them");
}

void inventory_init(struct inventory *inv, const struct capture *cap)
{
    *inv = (struct inventory){
        .cap = cap,
        .name = cap->name,
        .origin = cap->origin,
        .sources = cap->sources.at,
        .n_sources = cap->sources.n,
        .clock = cap->clock,
        .slice_count = cap->slices.n,
        .flow_count = cap->flows.n,
        .counter_count = cap->series.n,
        .collectives = cap->comm_ops.n,
        .step_traces = cap->step_traces.n,
    };
    count_slices(inv);
    for (size_t i = 0; i < cap->lanes.n; i++)
        if (cap->lanes.at[i].n > 0) /* a lane that was only named holds nothing */
            inv->lanes[cap->lanes.at[i].key.kind]++;
    for (size_t i = 0; i < cap->flows.n; i++)
        inv->flows[cap->flows.at[i].kind]++;
    for (size_t i = 0; i < cap->series.n; i++)
        inv->samples += cap->series.at[i].samples.n;
    for (size_t i = 0; i < cap->sources.n; i++)
        inv->lost += cap->sources.at[i].lost;
    list_facts(inv);
    list_steps(inv);
    count_attrs(inv);
    find_gaps(inv);
}

void inventory_fini(struct inventory *inv)
{
    vec_free(&inv->steps);
    vec_free(&inv->gaps);
    vec_free(&inv->attrs);
}

static const struct field facts_fields[] = {
    FIELD(struct inventory_facts, kind, "kind", .missing = MISSING_EMPTY),
    FIELD(struct inventory_facts, producer, "producer", .missing = MISSING_EMPTY),
    FIELD(struct inventory_facts, host, "host", .missing = MISSING_EMPTY),
    FIELD(struct inventory_facts, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory_facts, world_size, "world_size", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory_facts, device, "device", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory_facts, device_name, "device_name", .missing = MISSING_EMPTY),
    FIELD(struct inventory_facts, level, "level", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory_facts, record_shapes, "record_shapes", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory_facts, with_stack, "with_stack", .missing = MISSING_NEGATIVE),
};
static const struct record facts_record = RECORD(struct inventory_facts, facts_fields);

static const struct field source_fields[] = {
    FIELD(struct source, path, "path"),   FIELD(struct source, format, "format"),
    FIELD(struct source, bytes, "bytes"), FIELD(struct source, rows, "rows"),
    FIELD(struct source, lost, "lost"),
};
static const struct record source_record = RECORD(struct source, source_fields);

static const struct field clock_fields[] = {
    FIELD(struct clock, hz, "ticks_per_second"),
    FIELD(struct clock, to_unix, "to_unix_ns", WHEN(struct clock, has_unix)),
};
static const struct record clock_record = RECORD(struct clock, clock_fields);

static const struct field span_fields[] = {
    FIELD(struct inventory_span, begin, "begin_ns"),
    FIELD(struct inventory_span, end, "end_ns"),
    FIELD(struct inventory_span, dur, "dur_ns"),
};
static const struct record span_record = RECORD(struct inventory_span, span_fields);

/* Every kind of a group stands there, so keys are stable. */
static const struct field kind_fields[] = {
    FIELD(struct inventory_kind, name, "name"),
    FIELD(struct inventory_kind, count, "count"),
    FIELD(struct inventory_kind, dur, "dur_ns"),
};
static const struct record kind_record = RECORD(struct inventory_kind, kind_fields);

static const struct field group_fields[] = {
    FIELD(struct inventory_group, count, "count"),
    FIELD_KEYED(struct inventory_group, kinds, n, "by_kind", &kind_record),
};
static const struct record group_record = RECORD(struct inventory_group, group_fields);

static const struct field step_fields[] = {
    FIELD(struct inventory_step, name, "name", .missing = MISSING_EMPTY),
    FIELD(struct inventory_step, number, "number", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory_step, begin, "begin_ns"),
    FIELD(struct inventory_step, end, "end_ns"),
};
static const struct record step_record = RECORD(struct inventory_step, step_fields);

static const struct field steps_fields[] = {
    FIELD(struct inventory, steps.n, "count"),
    FIELD(struct inventory, step_source, "source"),
    FIELD_LIST(struct inventory, steps.at, steps.n, "list", &step_record),
};
static const struct record steps_record = RECORD(struct inventory, steps_fields);

static const struct field flow_fields[] = {
    FIELD(struct inventory, flow_count, "count"),
    FIELD(struct inventory, flows[FLOW_LAUNCH], "launch"),
    FIELD(struct inventory, flows[FLOW_QUEUE], "queue"),
    FIELD(struct inventory, flows[FLOW_BACKWARD], "backward"),
    FIELD(struct inventory, flows[FLOW_FLAG], "flag"),
    FIELD(struct inventory, flows[FLOW_OTHER], "other"),
};
static const struct record flow_record = RECORD(struct inventory, flow_fields);

static const struct field counter_fields[] = {
    FIELD(struct inventory, counter_count, "count"),
    FIELD(struct inventory, samples, "samples"),
};
static const struct record counter_record = RECORD(struct inventory, counter_fields);

static const struct field attr_fields[] = {
    FIELD(struct inventory_attr, key, "key"),
    FIELD(struct inventory_attr, slices, "slices"),
};
static const struct record attr_record = RECORD(struct inventory_attr, attr_fields);

static const struct field gap_fields[] = {
    FIELD(struct inventory_gap, name, "name"),
    FIELD(struct inventory_gap, text, "text"),
};
static const struct record gap_record = RECORD(struct inventory_gap, gap_fields);

static const struct field inventory_fields[] = {
    FIELD(struct inventory, name, "name"),
    FIELD_OF_ENUM(struct inventory, origin, "origin", origin_name, ORIGIN_INFERRED + 1),
    FIELD_INSIDE(struct inventory, facts, "facts", &facts_record),
    FIELD_LIST(struct inventory, sources, n_sources, "sources", &source_record),
    FIELD_INSIDE(struct inventory, clock, "clock", &clock_record),
    FIELD_INSIDE(struct inventory, span, "span", &span_record,
                 WHEN(struct inventory, span.is_there)),
    FIELD_INSIDE(struct inventory, device, "device_span", &span_record,
                 WHEN(struct inventory, device.is_there)),
    FIELD_BY_ENUM(struct inventory, lanes, "lanes", lane_kind_name),
    FIELD(struct inventory, slice_count, "slices"),
    FIELD_INSIDE(struct inventory, kernels, "kernels", &group_record),
    FIELD_INSIDE(struct inventory, waits, "device_waits", &group_record),
    FIELD_INSIDE(struct inventory, host, "host_events", &group_record),
    FIELD_INSIDE(struct inventory, others, "others", &group_record),
    FIELD_GROUP("steps", &steps_record),
    FIELD_GROUP("flows", &flow_record),
    FIELD_GROUP("counters", &counter_record),
    FIELD(struct inventory, collectives, "collectives_told"),
    FIELD(struct inventory, step_traces, "step_traces_told"),
    FIELD_KEYED(struct inventory, attrs.at, attrs.n, "attributes", &attr_record),
    FIELD_LIST(struct inventory, gaps.at, gaps.n, "missing", &gap_record),
};
static const struct record inventory_record = RECORD(struct inventory, inventory_fields);

static const struct field list_fields[] = {
    FIELD_LIST(struct inventory_list, at, n, "captures", &inventory_record),
};
static const struct record list_record = RECORD(struct inventory_list, list_fields);

const struct schema inventory_schema = {
    .name = "strata.info/1",
    .title = "what captures hold, and what is missing from them",
    .record = &list_record,
};
