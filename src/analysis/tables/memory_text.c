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

static const struct field pool_fields[] = {
    POOL_FIELDS,
    FIELD(struct memory_pool, before, "before_bytes"),
    FIELD_LIST(struct memory_pool, ops.at, ops.n, "peak_by_operator", &use_record),
    FIELD_LIST(struct memory_pool, modules.at, modules.n, "peak_by_module", &use_record),
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
    if (p->failures > 0)
        report_text(r, REPORT_MESSAGE(r, &memory_text.failures, PLACE("n", p->failures)));
    if (p->growth > 0)
        report_text(
            r, REPORT_MESSAGE(r, &memory_text.leak, place_quantity("size", p->growth, UNIT_BYTES)));
    if (m->capacity > 0 && most > capacity_limit * m->capacity)
        report_text(r,
                    REPORT_MESSAGE(r, &memory_text.risk, place_quantity("size", most, UNIT_BYTES),
                                   place_quantity("whole", m->capacity, UNIT_BYTES)));
    if (p->peak_reserved > 0 && p->unused > unused_limit * p->peak_reserved)
        report_text(r, REPORT_MESSAGE(r, &memory_text.unused,
                                      place_quantity("size", p->unused, UNIT_BYTES),
                                      place_quantity("of", p->peak_reserved, UNIT_BYTES)));
    if (calls > 0)
        report_text(r, REPORT_MESSAGE(r, &memory_text.driver, PLACE("n", calls),
                                      place_quantity("time", (double)time, UNIT_NS)));
}

static void describe_pool(const struct memory_curves *m, const struct memory_pool *p, size_t top,
                          struct report *r)
{
    const struct record_env env = {.arena = &r->arena};
    size_t n = p->n_steps < STEPS_SHOWN ? p->n_steps : STEPS_SHOWN;

    report_heading(r, p->name);
    if (p->peak >= 0)
        report_text(r,
                    REPORT_MESSAGE(r, p->before > 0 ? &memory_text.peak : &memory_text.peak_own,
                                   place_quantity("size", p->peak, UNIT_BYTES),
                                   place_quantity("at", (double)(p->peak_at - m->begin), UNIT_NS),
                                   place_quantity("before", p->before, UNIT_BYTES)));
    describe_risks(m, p, r);
    describe_uses(&p->ops, &memory_text.by_operator, top, r);
    describe_uses(&p->modules, &memory_text.by_module, top, r);
    if (n > 0)
        report_records(r, &step_record, p->steps, n, &env);
    if (n < p->n_steps)
        report_text(r, REPORT_MESSAGE(r, &memory_text.more, PLACE("n", p->n_steps - n)));
}

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
