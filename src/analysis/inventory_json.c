/*
 * inventory as the JSON contract strata.info/1: counts are numbers, times are nanoseconds, what is
 * not known is null.
 */
#include "analysis/inventory.h"

struct doc_span {
    nanos begin, end, length;
};

static const struct field span_fields[] = {
    FIELD(struct doc_span, begin, "begin_ns"),
    FIELD(struct doc_span, end, "end_ns"),
    FIELD(struct doc_span, length, "dur_ns"),
};
static const struct record span_record = RECORD(struct doc_span, span_fields);

/* Some neighbouring kinds; every one stands there, so keys are stable. */
struct doc_kind {
    const char *name;
    uint64_t count;
    nanos time;
};

struct doc_kinds {
    uint64_t count;
    struct field_items by_kind;
};

static const struct field kind_fields[] = {
    FIELD(struct doc_kind, name, "kind"),
    FIELD(struct doc_kind, count, "count"),
    FIELD(struct doc_kind, time, "dur_ns"),
};
static const struct record kind_record = RECORD(struct doc_kind, kind_fields);

static const struct field kinds_fields[] = {
    FIELD(struct doc_kinds, count, "count"),
    FIELD_KEYED_ITEMS(struct doc_kinds, by_kind, "by_kind", &kind_record),
};
static const struct record kinds_record = RECORD(struct doc_kinds, kinds_fields);

struct doc_step {
    struct str name;
    int64_t number;
    nanos begin, end;
};

static const struct field step_fields[] = {
    FIELD(struct doc_step, name, "name", .missing = MISSING_EMPTY),
    FIELD(struct doc_step, number, "number", .missing = MISSING_NEGATIVE),
    FIELD(struct doc_step, begin, "begin_ns"),
    FIELD(struct doc_step, end, "end_ns"),
};
static const struct record step_record = RECORD(struct doc_step, step_fields);

/* One capture. Names are looked up beforehand: each capture has its own. */
struct doc {
    struct inventory inv;
    const char *name;
    enum origin origin;
    struct facts facts;
    struct str kind, producer, host, device_name;
    struct field_items sources, steps;
    struct clock clock;
    struct doc_span span, device_span;
    bool has_slices, has_kernels;
    uint64_t n_slices, n_flows, n_series, n_collectives, n_step_traces;
    struct doc_kinds kernels, waits, host_events, others;
};

static const struct field facts_fields[] = {
    FIELD(struct doc, kind, "kind", .missing = MISSING_EMPTY),
    FIELD(struct doc, producer, "producer", .missing = MISSING_EMPTY),
    FIELD(struct doc, host, "host", .missing = MISSING_EMPTY),
    FIELD(struct doc, facts.rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, facts.world_size, "world_size", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, facts.device, "device", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, device_name, "device_name", .missing = MISSING_EMPTY),
    FIELD(struct doc, facts.level, "level", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, facts.record_shapes, "record_shapes", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, facts.with_stack, "with_stack", .missing = MISSING_NEGATIVE),
};
static const struct record facts_record = RECORD(struct doc, facts_fields);

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

static const struct field steps_fields[] = {
    FIELD(struct doc, inv.steps.rows.n, "count"),
    FIELD(struct doc, inv.steps.source, "source"),
    FIELD_ITEMS(struct doc, steps, "list", FIELD_OBJECT, &step_record),
};
static const struct record steps_record = RECORD(struct doc, steps_fields);

static const struct field flow_fields[] = {
    FIELD(struct doc, n_flows, "count"),
    FIELD(struct doc, inv.flows[FLOW_LAUNCH], "launch"),
    FIELD(struct doc, inv.flows[FLOW_QUEUE], "queue"),
    FIELD(struct doc, inv.flows[FLOW_BACKWARD], "backward"),
    FIELD(struct doc, inv.flows[FLOW_FLAG], "flag"),
    FIELD(struct doc, inv.flows[FLOW_OTHER], "other"),
};
static const struct record flow_record = RECORD(struct doc, flow_fields);

static const struct field counter_fields[] = {
    FIELD(struct doc, n_series, "count"),
    FIELD(struct doc, inv.samples, "samples"),
};
static const struct record counter_record = RECORD(struct doc, counter_fields);

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

static struct field_items list_gaps(const void *record, const struct record_env *env)
{
    const struct doc *d = record;

    (void)env;
    return (struct field_items){d->inv.gaps, d->inv.gap_count};
}

static const struct field doc_fields[] = {
    FIELD(struct doc, name, "name"),
    FIELD_OF_ENUM(struct doc, origin, "origin", origin_name, ORIGIN_INFERRED + 1),
    FIELD_GROUP("facts", &facts_record),
    FIELD_ITEMS(struct doc, sources, "sources", FIELD_OBJECT, &source_record),
    FIELD_INSIDE(struct doc, clock, "clock", &clock_record),
    FIELD_INSIDE(struct doc, span, "span", &span_record, WHEN(struct doc, has_slices)),
    FIELD_INSIDE(struct doc, device_span, "device_span", &span_record,
                 WHEN(struct doc, has_kernels)),
    FIELD_BY_ENUM(struct doc, inv.lanes, "lanes", lane_kind_name),
    FIELD(struct doc, n_slices, "slices"),
    FIELD_INSIDE(struct doc, kernels, "kernels", &kinds_record),
    FIELD_INSIDE(struct doc, waits, "device_waits", &kinds_record),
    FIELD_INSIDE(struct doc, host_events, "host_events", &kinds_record),
    FIELD_INSIDE(struct doc, others, "others", &kinds_record),
    FIELD_GROUP("steps", &steps_record),
    FIELD_GROUP("flows", &flow_record),
    FIELD_GROUP("counters", &counter_record),
    FIELD(struct doc, n_collectives, "collectives_told"),
    FIELD(struct doc, n_step_traces, "step_traces_told"),
    FIELD_KEYED(struct doc, inv.attrs.at, inv.attrs.n, "attributes", &attr_record),
    FIELD_MADE(FIELD_OBJECT, "missing", list_gaps, &gap_record),
};
static const struct record doc_record = RECORD(struct doc, doc_fields);

static const struct field info_fields[] = {
    FIELD_ITEMS(struct inventory_list, captures, "captures", FIELD_OBJECT, &doc_record),
};
static const struct record info_record = RECORD(struct inventory_list, info_fields);

const struct schema inventory_schema = {
    .name = "strata.info/1",
    .title = "what captures hold, and what is missing from them",
    .record = &info_record,
};

static struct doc_kinds kinds_of(const struct inventory *inv, struct arena *arena,
                                 enum slice_kind first, enum slice_kind last)
{
    struct doc_kind *list = ARENA_ARRAY(arena, struct doc_kind, SLICE_KINDS);
    struct doc_kinds out = {.by_kind = {list, last - first + 1}};

    for (enum slice_kind k = first; k <= last; k++) {
        list[k - first] = (struct doc_kind){slice_kind_name(k), inv->slices[k], inv->time[k]};
        out.count += inv->slices[k];
    }
    return out;
}

static struct field_items steps_of(const struct inventory *inv, struct arena *arena)
{
    struct doc_step *list = ARENA_ARRAY(arena, struct doc_step, inv->steps.rows.n);

    for (size_t i = 0; i < inv->steps.rows.n; i++) {
        const struct step_row *r = &inv->steps.rows.at[i];
        list[i] = (struct doc_step){capture_text(inv->cap, r->name), r->number, r->begin, r->end};
    }
    return (struct field_items){list, inv->steps.rows.n};
}

static struct doc doc_of(const struct inventory *inv, struct arena *arena)
{
    const struct capture *cap = inv->cap;

    return (struct doc){
        .inv = *inv,
        .name = cap->name,
        .origin = cap->origin,
        .facts = cap->facts,
        .kind = capture_text(cap, cap->facts.kind),
        .producer = capture_text(cap, cap->facts.producer),
        .host = capture_text(cap, cap->facts.host),
        .device_name = capture_text(cap, cap->facts.device_name),
        .sources = {cap->sources.at, cap->sources.n},
        .steps = steps_of(inv, arena),
        .clock = cap->clock,
        .span = {inv->begin, inv->end, nanos_sub(inv->end, inv->begin)},
        .device_span = {inv->device_begin, inv->device_end,
                        nanos_sub(inv->device_end, inv->device_begin)},
        .has_slices = cap->slices.n > 0,
        .has_kernels = inv->kernels > 0,
        .n_slices = cap->slices.n,
        .n_flows = cap->flows.n,
        .n_series = cap->series.n,
        .n_collectives = cap->comm_ops.n,
        .n_step_traces = cap->step_traces.n,
        .kernels = kinds_of(inv, arena, SLICE_COMPUTE, SLICE_COPY),
        .waits = kinds_of(inv, arena, SLICE_WAIT, SLICE_CONTROL),
        .host_events = kinds_of(inv, arena, SLICE_HOST_OP, SLICE_STEP),
        .others = kinds_of(inv, arena, SLICE_INSTR, SLICE_OTHER),
    };
}

struct inventory_list inventory_tell(const struct inventory *list, size_t n, struct arena *arena)
{
    struct doc *docs = ARENA_ARRAY(arena, struct doc, n);

    for (size_t i = 0; i < n; i++)
        docs[i] = doc_of(&list[i], arena);
    return (struct inventory_list){{docs, n}};
}
