/*
 * Memory described.
 */
#include "analysis/analysis.h"
#include "analysis/tables/memory.h"
#include "text/memory.h"

static struct field_value share_of_capacity(const void *record, const struct record_env *env)
{
    const struct memory_pool *p = record;
    const double *capacity = env->user;
    double most = p->peak_reserved >= 0 ? p->peak_reserved : p->peak;

    return *capacity > 0 && most >= 0 ? value_real(most / *capacity) : value_none();
}

static struct field_value unused_share(const void *record, const struct record_env *env)
{
    const struct memory_pool *p = record;

    (void)env;
    return p->unused >= 0 && p->peak_reserved > 0 ? value_real(p->unused / p->peak_reserved)
                                                  : value_none();
}

/* A column of a table alone. */
#define MB_FIELD(struct_, member, head_)                                                           \
    FIELD(struct_, member, NULL, .head = (head_), .scale = 1e6, .missing = MISSING_NEGATIVE,       \
          .unit = UNIT_PLAIN)

static const struct field use_fields[] = {
    FIELD(struct memory_use, name, "name", .head = "name"),
    FIELD(struct memory_use, n, "allocations", .head = "allocations"),
    FIELD(struct memory_use, bytes, "bytes"),
    MB_FIELD(struct memory_use, bytes, "size MB"),
    FIELD(struct memory_use, share, "share", .head = "share %", .unit = UNIT_RATIO),
};
static const struct record use_record = RECORD(struct memory_use, use_fields);

static const struct field step_fields[] = {
    FIELD(struct memory_step, id, "step", .head = "step"),
    FIELD(struct memory_step, begin, "begin_bytes"),
    MB_FIELD(struct memory_step, begin, "begin MB"),
    FIELD(struct memory_step, peak, "peak_bytes"),
    MB_FIELD(struct memory_step, peak, "peak MB"),
    FIELD(struct memory_step, end, "end_bytes"),
    MB_FIELD(struct memory_step, end, "end MB"),
    FIELD(struct memory_step, growth, "growth_bytes"),
    FIELD(struct memory_step, growth, NULL, .head = "growth MB", .scale = 1e6, .unit = UNIT_PLAIN),
    FIELD(struct memory_step, allocations, "allocations", .head = "allocations"),
    FIELD(struct memory_step, taken, "taken_bytes"),
    MB_FIELD(struct memory_step, taken, "taken MB"),
    FIELD(struct memory_step, driver_calls, "driver_calls", .head = "driver calls"),
    FIELD(struct memory_step, driver_time, "driver_ns", .head = "driver ms", .unit = UNIT_MS),
};
static const struct record step_record = RECORD(struct memory_step, step_fields);

#define POOL_FIELDS                                                                                \
    FIELD(struct memory_pool, name, "pool", .head = "pool"),                                       \
        FIELD(struct memory_pool, n_events, "events", .head = "events"),                           \
        FIELD(struct memory_pool, allocations, "allocations", .head = "allocations"),              \
        FIELD(struct memory_pool, failures, "out_of_memory"),                                      \
        FIELD(struct memory_pool, first, "first_bytes", .missing = MISSING_NEGATIVE),              \
        MB_FIELD(struct memory_pool, first, "begin MB"),                                           \
        FIELD(struct memory_pool, peak, "peak_bytes", .missing = MISSING_NEGATIVE),                \
        MB_FIELD(struct memory_pool, peak, "peak MB"),                                             \
        FIELD(struct memory_pool, peak_at, "peak_at_ns"),                                          \
        FIELD(struct memory_pool, last, "last_bytes", .missing = MISSING_NEGATIVE),                \
        MB_FIELD(struct memory_pool, last, "end MB"),                                              \
        FIELD(struct memory_pool, reserved_at_peak, "reserved_at_peak_bytes",                      \
              .missing = MISSING_NEGATIVE),                                                        \
        FIELD(struct memory_pool, peak_reserved, "peak_reserved_bytes",                            \
              .missing = MISSING_NEGATIVE),                                                        \
        MB_FIELD(struct memory_pool, peak_reserved, "reserved MB"),                                \
        FIELD(struct memory_pool, unused, "unused_bytes", .missing = MISSING_NEGATIVE),            \
        FIELD_CALC(FIELD_F64, "unused_share", unused_share, .missing = MISSING_NEGATIVE,           \
                   .head = "unused %", .unit = UNIT_RATIO),                                        \
        FIELD_CALC(FIELD_F64, "capacity_share", share_of_capacity, .missing = MISSING_NEGATIVE,    \
                   .head = "of device %", .unit = UNIT_RATIO),                                     \
        FIELD(struct memory_pool, growth, "growth_per_step_bytes", .missing = MISSING_ZERO)

static const struct field pool_heads[] = {POOL_FIELDS};
static const struct record pool_table = RECORD(struct memory_pool, pool_heads);

static const struct field failure_fields[] = {
    FIELD(struct memory_failure, at, "at_ns"),
    FIELD(struct memory_failure, bytes, "bytes"),
    MB_FIELD(struct memory_failure, bytes, "asked for MB"),
    FIELD(struct memory_failure, device_free, "device_free_bytes"),
    MB_FIELD(struct memory_failure, device_free, "free on device MB"),
    FIELD(struct memory_failure, allocated, "allocated_bytes"),
    MB_FIELD(struct memory_failure, allocated, "allocated MB"),
    FIELD(struct memory_failure, reserved, "reserved_bytes"),
    MB_FIELD(struct memory_failure, reserved, "reserved MB"),
    FIELD_LIST(struct memory_failure, stacks.at, stacks.n, "held_by_stack", &use_record),
};
static const struct record failure_record = RECORD(struct memory_failure, failure_fields);

static const struct field held_fields[] = {
    FIELD(struct memory_snapshot, segments, "segments", .head = "segments"),
    FIELD(struct memory_snapshot, blocks, "blocks", .head = "blocks"),
    FIELD(struct memory_snapshot, reserved, "reserved_bytes"),
    MB_FIELD(struct memory_snapshot, reserved, "reserved MB"),
    FIELD(struct memory_snapshot, requested, "requested_bytes"),
    MB_FIELD(struct memory_snapshot, requested, "requested MB"),
    FIELD(struct memory_snapshot, rounding, "rounding_bytes"),
    MB_FIELD(struct memory_snapshot, rounding, "rounding MB"),
    FIELD(struct memory_snapshot, inactive, "inactive_bytes"),
    MB_FIELD(struct memory_snapshot, inactive, "inactive MB"),
    FIELD(struct memory_snapshot, fragmented, "fragmented_bytes"),
    MB_FIELD(struct memory_snapshot, fragmented, "fragmented MB"),
    FIELD(struct memory_snapshot, largest_inactive, "largest_inactive_bytes"),
    MB_FIELD(struct memory_snapshot, largest_inactive, "largest inactive MB"),
    FIELD(struct memory_snapshot, pending, "pending_free_bytes"),
    FIELD(struct memory_snapshot, alive, "alive_in_events"),
    FIELD(struct memory_snapshot, matched, "alive_that_are_blocks"),
    FIELD(struct memory_snapshot, unknown_frees, "frees_of_unknown"),
    FIELD(struct memory_snapshot, settings, "settings", .missing = MISSING_EMPTY),
    FIELD_LIST(struct memory_snapshot, failures, n_failures, "failures", &failure_record),
    FIELD_LIST(struct memory_snapshot, growth.at, growth.n, "growth_by_stack", &use_record),
    FIELD_LIST(struct memory_snapshot, now.at, now.n, "active_by_stack", &use_record),
};
static const struct record held_record = RECORD(struct memory_snapshot, held_fields);

static const struct field pool_fields[] = {
    POOL_FIELDS,
    FIELD(struct memory_pool, before, "before_bytes"),
    FIELD_LIST(struct memory_pool, ops.at, ops.n, "peak_by_operator", &use_record),
    FIELD_LIST(struct memory_pool, modules.at, modules.n, "peak_by_module", &use_record),
    FIELD_LIST(struct memory_pool, stacks.at, stacks.n, "peak_by_stack", &use_record),
    FIELD_POINTER(struct memory_pool, held, "snapshot", &held_record),
    FIELD_LIST(struct memory_pool, steps, n_steps, "steps", &step_record),
};
static const struct record pool_record = RECORD(struct memory_pool, pool_fields);

static const struct field memory_fields[] = {
    FIELD(struct memory_curves, begin, "begin_ns"),
    FIELD(struct memory_curves, capacity, "capacity_bytes", .missing = MISSING_ZERO),
    FIELD_LIST(struct memory_curves, at, n, "pools", &pool_record),
};
const struct record memory_record = RECORD(struct memory_curves, memory_fields);

const struct schema memory_schema = {
    .name = "strata.memory/1",
    .title = "device memory: curve, peak and what lived then, steps",
    .record = &memory_record,
};

enum { ROWS_SHOWN = 12, STEPS_SHOWN = 10 };

static void describe_uses(const struct memory_uses *u, const struct message *head, size_t top,
                          struct report *r)
{
    const struct record_env env = {.arena = &r->arena};

    if (u->n == 0 || (u->n == 1 && str_equal(u->at[0].name, S("unknown"))))
        return;
    report_text(r, report_message(r, head));
    report_records(r, &use_record, u->at, u->n < top ? u->n : top, &env);
    if (u->n > top)
        report_text(r, REPORT_MESSAGE(r, &memory_text.more, PLACE("n", u->n - top)));
}

static const double unused_limit = 0.3, capacity_limit = 0.9;

static void describe_risks(const struct memory_curves *m, const struct memory_pool *p,
                           struct report *r)
{
    double most = p->peak_reserved >= 0 ? p->peak_reserved : p->peak;
    size_t calls = 0;
    nanos time = 0;

    for (size_t i = 0; i < p->n_steps; i++) {
        calls += p->steps[i].driver_calls;
        time = nanos_add(time, p->steps[i].driver_time);
    }
    if (p->failures > 0 && p->held == NULL)
        report_text(r, REPORT_MESSAGE(r, &memory_text.failures, PLACE("n", p->failures)));
    if (p->growth > 0)
        report_text(
            r, REPORT_MESSAGE(r, &memory_text.leak, place_quantity("size", p->growth, UNIT_BYTES)));
    if (m->capacity > 0 && most > capacity_limit * m->capacity)
        report_text(r,
                    REPORT_MESSAGE(r, &memory_text.risk, place_quantity("size", most, UNIT_BYTES),
                                   place_quantity("whole", m->capacity, UNIT_BYTES)));
    /* A snapshot shows what is not allocated, and why: see describe_held(). */
    if (p->held == NULL && p->peak_reserved > 0 && p->unused > unused_limit * p->peak_reserved)
        report_text(r, REPORT_MESSAGE(r, &memory_text.unused,
                                      place_quantity("size", p->unused, UNIT_BYTES),
                                      place_quantity("of", p->peak_reserved, UNIT_BYTES)));
    if (calls > 0)
        report_text(r, REPORT_MESSAGE(r, &memory_text.driver, PLACE("n", calls),
                                      place_quantity("time", (double)time, UNIT_NS)));
}

/* Whether there was room enough for what was asked for, but in pieces. */
static void describe_failure(const struct memory_snapshot *h, size_t top, struct report *r)
{
    const struct memory_failure *f = &h->failures[h->n_failures - 1];
    const struct record_env env = {.arena = &r->arena};
    double room = f->reserved - f->allocated + f->device_free;
    bool is_expandable = str_contains(h->settings, S("expandable_segments:True"));

    report_text(r, REPORT_MESSAGE(r, &memory_text.failure, PLACE("n", h->n_failures),
                                  place_quantity("size", f->bytes, UNIT_BYTES),
                                  place_quantity("free", f->device_free, UNIT_BYTES),
                                  place_quantity("allocated", f->allocated, UNIT_BYTES),
                                  place_quantity("reserved", f->reserved, UNIT_BYTES)));
    report_text(r, REPORT_MESSAGE(r,
                                  f->bytes > room ? &memory_text.failure_full
                                  : is_expandable ? &memory_text.failure_pieces
                                                  : &memory_text.failure_fragmented,
                                  place_quantity("room", room, UNIT_BYTES)));
    if (h->n_failures > 1)
        report_records(r, &failure_record, h->failures, h->n_failures < top ? h->n_failures : top,
                       &env);
    describe_uses(&f->stacks, &memory_text.by_failure, top, r);
}

/* Room that is reserved beside what was asked for, and whether it could have been used. */
static void describe_held(const struct memory_pool *p, size_t top, struct report *r)
{
    const struct memory_snapshot *h = p->held;

    report_text(r, REPORT_MESSAGE(r, &memory_text.held,
                                  place_quantity("reserved", h->reserved, UNIT_BYTES),
                                  place_quantity("requested", h->requested, UNIT_BYTES),
                                  place_quantity("rounding", h->rounding, UNIT_BYTES),
                                  place_quantity("inactive", h->inactive, UNIT_BYTES),
                                  place_quantity("fragmented", h->fragmented, UNIT_BYTES),
                                  place_quantity("largest", h->largest_inactive, UNIT_BYTES)));
    describe_uses(&h->growth, &memory_text.by_growth, top, r);
    if (p->n_events == 0)
        describe_uses(&h->now, &memory_text.by_block, top, r);
    if (h->alive != h->matched)
        report_text(r, REPORT_MESSAGE(r, &memory_text.unmatched, PLACE("n", h->alive),
                                      PLACE("matched", h->matched)));
}

static void describe_pool(const struct memory_curves *m, const struct memory_pool *p, size_t top,
                          struct report *r)
{
    const struct record_env env = {.arena = &r->arena};
    size_t n = p->n_steps < STEPS_SHOWN ? p->n_steps : STEPS_SHOWN;

    report_heading(r, p->name);
    if (p->held != NULL && p->held->n_failures > 0)
        describe_failure(p->held, top, r);
    bool has_times = p->snapshot == NULL || p->snapshot->has_times;
    if (p->peak >= 0 && p->n_events > 0 && !has_times)
        report_text(r, REPORT_MESSAGE(r, &memory_text.peak_event,
                                      place_quantity("size", p->peak, UNIT_BYTES),
                                      PLACE("n", (uint64_t)p->peak_at),
                                      place_quantity("before", p->before, UNIT_BYTES)));
    else if (p->peak >= 0 && p->n_events > 0)
        report_text(r,
                    REPORT_MESSAGE(r, p->before > 0 ? &memory_text.peak : &memory_text.peak_own,
                                   place_quantity("size", p->peak, UNIT_BYTES),
                                   place_quantity("at", (double)(p->peak_at - m->begin), UNIT_NS),
                                   place_quantity("before", p->before, UNIT_BYTES)));
    describe_risks(m, p, r);
    describe_uses(&p->ops, &memory_text.by_operator, top, r);
    describe_uses(&p->modules, &memory_text.by_module, top, r);
    describe_uses(&p->stacks, &memory_text.by_stack, top, r);
    if (p->held != NULL)
        describe_held(p, top, r);
    if (n > 0)
        report_records(r, &step_record, p->steps, n, &env);
    if (n < p->n_steps)
        report_text(r, REPORT_MESSAGE(r, &memory_text.more, PLACE("n", p->n_steps - n)));
}

/* ---- two snapshots ---- */

static const struct field change_fields[] = {
    FIELD(struct memory_change, stack, "stack", .head = "stack"),
    FIELD(struct memory_change, n, "blocks", .head = "blocks"),
    FIELD(struct memory_change, before, "before_bytes"),
    MB_FIELD(struct memory_change, before, "A MB"),
    FIELD(struct memory_change, after, "after_bytes"),
    MB_FIELD(struct memory_change, after, "B MB"),
    FIELD(struct memory_change, delta, "change_bytes"),
    FIELD(struct memory_change, delta, NULL, .head = "change MB", .scale = 1e6, .unit = UNIT_PLAIN),
};
static const struct record change_record = RECORD(struct memory_change, change_fields);

static const struct field diff_fields[] = {
    FIELD(struct memory_diff, name[0], "before"),
    FIELD(struct memory_diff, name[1], "after"),
    FIELD(struct memory_diff, live[0], "live_before_bytes"),
    FIELD(struct memory_diff, live[1], "live_after_bytes"),
    FIELD(struct memory_diff, reserved[0], "reserved_before_bytes"),
    FIELD(struct memory_diff, reserved[1], "reserved_after_bytes"),
    FIELD(struct memory_diff, peak[0], "peak_before_bytes"),
    FIELD(struct memory_diff, peak[1], "peak_after_bytes"),
    FIELD(struct memory_diff, n, "changed_stacks"),
    FIELD_LIST(struct memory_diff, at, n, "changes", &change_record),
};
static const struct record diff_record = RECORD(struct memory_diff, diff_fields);

const struct schema memory_diff_schema = {
    .name = "strata.memory-diff/1",
    .title = "two memory snapshots: what is alive in one and not in the other, by stack",
    .record = &diff_record,
};

static void describe_sides(const struct memory_diff *d, const struct message *words,
                           const double sides[2], struct report *r)
{
    report_text(r, REPORT_MESSAGE(r, words, place_quantity("before", sides[0], UNIT_BYTES),
                                  place_quantity("after", sides[1], UNIT_BYTES), PLACE("n", d->n)));
}

void memory_diff_describe(const struct memory_diff *d, struct report *r)
{
    const struct record_env env = {.arena = &r->arena};
    size_t top = d->top > 0 ? d->top : ROWS_SHOWN;

    describe_sides(d, d->n > 0 ? &memory_text.diff : &memory_text.diff_none, d->live, r);
    describe_sides(d, &memory_text.diff_peak, d->peak, r);
    describe_sides(d, &memory_text.diff_reserved, d->reserved, r);
    if (d->n > 0)
        report_records(r, &change_record, d->at, d->n < top ? d->n : top, &env);
    if (d->n > top)
        report_text(r, REPORT_MESSAGE(r, &memory_text.more, PLACE("n", d->n - top)));
}

/* ---- one ---- */

void memory_describe(const struct memory_curves *m, struct report *r)
{
    const struct record_env env = {.arena = &r->arena, .user = &m->capacity};

    if (m->n == 0) {
        report_text(r, report_message(r, &memory_text.nothing));
        return;
    }
    report_records(r, &pool_table, m->at, m->n, &env);
    for (size_t i = 0; i < m->n; i++)
        describe_pool(m, &m->at[i], m->top > 0 ? m->top : ROWS_SHOWN, r);
}
