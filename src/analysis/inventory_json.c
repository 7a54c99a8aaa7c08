/*
 * inventory as the JSON contract strata.info/1: counts are numbers, times are nanoseconds, what is
 * not known is null.
 */
#include "analysis/inventory.h"

static void put_known(struct json_writer *j, const char *key, int64_t value)
{
    json_put_known(j, key, value != UNKNOWN, value);
}

static void put_sources(const struct capture *cap, struct json_writer *j)
{
    json_put_array(j, "sources");
    for (size_t i = 0; i < cap->sources.n; i++) {
        const struct source *s = &cap->sources.at[i];
        json_write_object(j);
        json_put_str_or_null(j, "path", str_of(s->path));
        json_put_str_or_null(j, "format", str_of(s->format));
        json_put_u64(j, "bytes", s->bytes);
        json_put_u64(j, "rows", s->rows);
        json_put_u64(j, "lost", s->lost);
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_facts(const struct capture *cap, struct json_writer *j)
{
    const struct facts *f = &cap->facts;

    json_put_object(j, "facts");
    json_put_str_or_null(j, "kind", capture_text(cap, f->kind));
    json_put_str_or_null(j, "producer", capture_text(cap, f->producer));
    json_put_str_or_null(j, "host", capture_text(cap, f->host));
    put_known(j, "rank", f->rank);
    put_known(j, "world_size", f->world_size);
    put_known(j, "device", f->device);
    json_put_str_or_null(j, "device_name", capture_text(cap, f->device_name));
    put_known(j, "level", f->level);
    put_known(j, "record_shapes", f->record_shapes);
    put_known(j, "with_stack", f->with_stack);
    json_write_end(j);
}

static void put_clock(const struct capture *cap, struct json_writer *j)
{
    json_put_object(j, "clock");
    json_put_i64(j, "ticks_per_second", cap->clock.hz);
    json_put_known(j, "to_unix_ns", cap->clock.has_unix, cap->clock.to_unix);
    json_write_end(j);
}

static void put_span(struct json_writer *j, const char *key, bool is_there, nanos begin, nanos end)
{
    json_write_key(j, str_of(key));
    if (!is_there) {
        json_write_null(j);
        return;
    }
    json_write_object(j);
    json_put_i64(j, "begin_ns", begin);
    json_put_i64(j, "end_ns", end);
    json_put_i64(j, "dur_ns", nanos_sub(end, begin));
    json_write_end(j);
}

/* Kinds with their counts and times; every kind of the range stands there, so keys are stable. */
static void put_kinds(const struct inventory *inv, struct json_writer *j, const char *key,
                      uint64_t total, enum slice_kind first, enum slice_kind last)
{
    json_put_object(j, key);
    json_put_u64(j, "count", total);
    json_put_object(j, "by_kind");
    for (int k = (int)first; k <= (int)last; k++) {
        json_put_object(j, slice_kind_name((enum slice_kind)k));
        json_put_u64(j, "count", inv->slices[k]);
        json_put_i64(j, "dur_ns", inv->time[k]);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
}

static void put_steps(const struct inventory *inv, struct json_writer *j)
{
    json_put_object(j, "steps");
    json_put_u64(j, "count", inv->steps.rows.n);
    json_put_str_or_null(j, "source", str_of(inv->steps.source));
    json_put_array(j, "list");
    for (size_t i = 0; i < inv->steps.rows.n; i++) {
        const struct step_row *r = &inv->steps.rows.at[i];
        json_write_object(j);
        json_put_str_or_null(j, "name", capture_text(inv->cap, r->name));
        put_known(j, "number", r->number);
        json_put_i64(j, "begin_ns", r->begin);
        json_put_i64(j, "end_ns", r->end);
        json_write_end(j);
    }
    json_write_end(j);
    json_write_end(j);
}

static void put_lanes(const struct inventory *inv, struct json_writer *j)
{
    json_put_object(j, "lanes");
    for (int k = 0; k < LANE_KINDS; k++)
        json_put_u64(j, lane_kind_name((enum lane_kind)k), inv->lanes[k]);
    json_write_end(j);
}

static void put_flows(const struct inventory *inv, struct json_writer *j)
{
    json_put_object(j, "flows");
    json_put_u64(j, "count", inv->cap->flows.n);
    for (int k = 0; k < FLOW_KINDS; k++)
        json_put_u64(j, flow_kind_name((enum flow_kind)k), inv->flows[k]);
    json_write_end(j);
}

static void put_counters(const struct inventory *inv, struct json_writer *j)
{
    json_put_object(j, "counters");
    json_put_u64(j, "count", inv->cap->series.n);
    json_put_u64(j, "samples", inv->samples);
    json_write_end(j);
}

static void put_attrs(const struct inventory *inv, struct json_writer *j)
{
    json_put_object(j, "attributes");
    for (size_t i = 0; i < inv->attrs.n; i++) {
        json_write_key(j, inv->attrs.at[i].key);
        json_write_u64(j, inv->attrs.at[i].slices);
    }
    json_write_end(j);
}

static void put_gaps(const struct inventory *inv, struct json_writer *j)
{
    json_put_array(j, "missing");
    for (size_t i = 0; i < inv->gap_count; i++) {
        json_write_object(j);
        json_put_str_or_null(j, "name", str_of(inv->gaps[i].name));
        json_put_str_or_null(j, "text", str_of(inv->gaps[i].text));
        json_write_end(j);
    }
    json_write_end(j);
}

void inventory_write_json(const struct inventory *inv, struct json_writer *j)
{
    const struct capture *cap = inv->cap;

    json_write_object(j);
    json_put_str_or_null(j, "name", str_of(cap->name));
    json_put_str_or_null(j, "origin", str_of(origin_name(cap->origin)));
    put_facts(cap, j);
    put_sources(cap, j);
    put_clock(cap, j);
    put_span(j, "span", cap->slices.n > 0, inv->begin, inv->end);
    put_span(j, "device_span", inv->kernels > 0, inv->device_begin, inv->device_end);
    put_lanes(inv, j);
    json_put_u64(j, "slices", cap->slices.n);
    put_kinds(inv, j, "kernels", inv->kernels, SLICE_COMPUTE, SLICE_COPY);
    put_kinds(inv, j, "device_waits", inv->slices[SLICE_WAIT] + inv->slices[SLICE_CONTROL],
              SLICE_WAIT, SLICE_CONTROL);
    put_kinds(inv, j, "host_events", inv->host_events, SLICE_HOST_OP, SLICE_STEP);
    put_kinds(inv, j, "others", inv->slices[SLICE_INSTR] + inv->slices[SLICE_OTHER], SLICE_INSTR,
              SLICE_OTHER);
    put_steps(inv, j);
    put_flows(inv, j);
    put_counters(inv, j);
    json_put_u64(j, "collectives_told", cap->comm_ops.n);
    json_put_u64(j, "step_traces_told", cap->step_traces.n);
    put_attrs(inv, j);
    put_gaps(inv, j);
    json_write_end(j);
}
