/*
 * Times and work by row, described.
 */
#include "analysis/analysis.h"
#include "analysis/ops/op_stats.h"
#include "text/ops.h"

ENUM_NAMES(op_by_name, enum op_by, "op", "module", "shape", "family", "range", "layer")
ENUM_NAMES(work_state_name, enum work_state, "known", "no_operator", "no_shapes", "no_rule",
           "no_fit", "copy_comm")

static struct field_value rate_of(const void *record, const struct record_env *env)
{
    const struct op_stat *s = record;

    (void)env;
    if (s->flops <= 0 || s->device <= 0)
        return value_none();
    return value_real(s->flops / (double)s->device / 1e3);
}

static struct field_value bandwidth_of(const void *record, const struct record_env *env)
{
    const struct op_stat *s = record;

    (void)env;
    if (s->effort.bytes <= 0 || s->effort.known <= 0)
        return value_none();
    return value_real(s->effort.bytes / (double)s->effort.known);
}

static struct field_value roof_share_of(const void *record, const struct record_env *env)
{
    const struct op_stat *s = record;

    (void)env;
    if (s->effort.rated <= 0)
        return value_none();
    return value_real(s->effort.roof / (double)s->effort.rated);
}

static struct field_value headroom_of(const void *record, const struct record_env *env)
{
    const struct op_stat *s = record;

    (void)env;
    return s->effort.rated > 0 ? value_real(op_stat_headroom(s)) : value_none();
}

#define TIME_FIELDS                                                                                \
    FIELD(struct op_stat, calls, "calls", .missing = MISSING_ZERO, .head = "calls", .drop = 1),    \
        FIELD(struct op_stat, kernels, "kernels", .head = "kernels", .drop = 1),                   \
        FIELD(struct op_stat, device, "device_ns", .head = "device ms", .unit = UNIT_MS),          \
        FIELD(struct op_stat, share, "share", .head = "device %", .unit = UNIT_RATIO, .drop = 2),  \
        FIELD(struct op_stat, own_kernels, "own_kernels"),                                         \
        FIELD(struct op_stat, own_device, "own_device_ns", .head = "self ms", .unit = UNIT_MS),    \
        FIELD(struct op_stat, own_share, "own_share", .head = "self %", .unit = UNIT_RATIO,        \
              .drop = 2),                                                                          \
        FIELD(struct op_stat, host, "host_ns", .missing = MISSING_ZERO, .head = "host ms",         \
              .unit = UNIT_MS, .drop = 1),                                                         \
        FIELD(struct op_stat, own_host, "own_host_ns", .missing = MISSING_ZERO,                    \
              .head = "host self ms", .unit = UNIT_MS, .drop = 2),                                 \
        FIELD(struct op_stat, flops, "flops", .missing = MISSING_ZERO),                            \
        FIELD_CALC(FIELD_F64, "tflops_per_s", rate_of, .head = "TFLOP/s", .drop = 1),              \
        FIELD(struct op_stat, effort.bytes, "bytes", .missing = MISSING_ZERO),                     \
        FIELD_CALC(FIELD_F64, "gb_per_s", bandwidth_of, .head = "GB/s", .drop = 1),                \
        FIELD(struct op_stat, effort.known, "known_ns"),                                           \
        FIELD_CALC(FIELD_F64, "roof_share", roof_share_of, .head = "roof %", .unit = UNIT_RATIO),  \
        FIELD_CALC(FIELD_F64, "headroom_ns", headroom_of, .head = "headroom ms", .unit = UNIT_MS)

static const struct field shape_fields[] = {
    FIELD(struct op_stat, name, "name", .head = "name"),
    FIELD(struct op_stat, shapes, "input_shapes", .missing = MISSING_EMPTY, .head = "shapes"),
    FIELD(struct op_stat, types, "input_types", .missing = MISSING_EMPTY, .head = "types",
          .drop = 2),
    TIME_FIELDS,
};
static const struct record shape_record = RECORD(struct op_stat, shape_fields);

static const struct field stat_fields[] = {
    FIELD(struct op_stat, name, "name", .head = "name"),
    TIME_FIELDS,
};
static const struct record stat_record = RECORD(struct op_stat, stat_fields);

static const struct field step_fields[] = {
    FIELD(struct op_step, id, "step", .head = "step"),
    FIELD(struct op_step, duration, "duration_ns", .head = "by marks ms", .unit = UNIT_MS),
    FIELD(struct op_step, flops, "flops", .missing = MISSING_ZERO),
    FIELD(struct op_step, bytes, "bytes", .missing = MISSING_ZERO),
    FIELD(struct op_step, mfu, "mfu", .missing = MISSING_ZERO, .head = "MFU %", .unit = UNIT_RATIO),
    FIELD(struct op_step, bandwidth, "bandwidth_share", .missing = MISSING_ZERO,
          .head = "bandwidth %", .unit = UNIT_RATIO),
    FIELD(struct op_step, known, "known_share", .head = "known %", .unit = UNIT_RATIO),
};
static const struct record step_record = RECORD(struct op_step, step_fields);

static struct field_value text_is_assumed(const void *record, const struct record_env *env)
{
    (void)env;
    return value_bool(((const struct op_stats *)record)->works->is_assumed);
}

static struct field_value text_device_of(const void *record, const struct record_env *env)
{
    const struct device *d = ((const struct op_stats *)record)->works->device;

    (void)env;
    return d != NULL ? value_text(str_of(d->name)) : value_none();
}

static struct field_value state_of(const void *record, const char *text,
                                   const struct record_env *env)
{
    const struct op_stats *s = record;

    (void)env;
    for (int i = 0; i < WORK_STATES; i++)
        if (str_equal(str_of(text), str_of(work_state_name((enum work_state)i))))
            return value_int(s->works->by[i]);
    return value_none();
}

#define STATE_FIELD(name) FIELD_LOOKED_UP(FIELD_I64, name "_ns", state_of, name)

static const struct field work_fields[] = {
    STATE_FIELD("known"),   STATE_FIELD("no_operator"), STATE_FIELD("no_shapes"),
    STATE_FIELD("no_rule"), STATE_FIELD("no_fit"),      STATE_FIELD("copy_comm"),
};
static const struct record work_record = RECORD(struct op_stats, work_fields);

static const struct field stats_fields[] = {
    FIELD_OF_ENUM(struct op_stats, by, "by", op_by_name, OP_BYS),
    FIELD(struct op_stats, kernels, "kernels"),
    FIELD(struct op_stats, linked, "linked_kernels"),
    FIELD(struct op_stats, device, "device_ns"),
    FIELD(struct op_stats, outside_kernels, "outside_kernels"),
    FIELD(struct op_stats, outside, "outside_ns"),
    FIELD(struct op_stats, flops, "flops", .missing = MISSING_ZERO),
    FIELD_CALC(FIELD_STR, "device", text_device_of, .missing = MISSING_EMPTY),
    FIELD_CALC(FIELD_BOOL, "device_assumed", text_is_assumed,
               .about = "the capture does not name its device"),
    FIELD_GROUP("work", &work_record),
    FIELD_LIST(struct op_stats, steps, n_steps, "steps", &step_record),
    FIELD_LIST(struct op_stats, at, n, "rows", &shape_record),
};
const struct record op_stats_record = RECORD(struct op_stats, stats_fields);

const struct schema op_stats_schema = {
    .name = "strata.ops/1",
    .title = "device and host time by operator, module, shape, family, range or layer",
    .record = &op_stats_record,
};

enum { ROWS_SHOWN = 30, STEPS_SHOWN = 10 };

static double share_of(const struct op_stats *s, enum work_state state)
{
    return num_share(s->works->by[state], s->device);
}

/* How much of the time the rates are told of, and why not of more. */
static void describe_work(const struct op_stats *s, struct report *r)
{
    const struct device *d = s->works->device;

    if (s->device <= 0)
        return;
    report_text(
        r, REPORT_MESSAGE(r, &ops_text.work,
                          place_quantity("known", share_of(s, WORK_KNOWN), UNIT_RATIO),
                          place_quantity("operator", share_of(s, WORK_NO_OPERATOR), UNIT_RATIO),
                          place_quantity("shapes", share_of(s, WORK_NO_SHAPES), UNIT_RATIO),
                          place_quantity("rule", share_of(s, WORK_NO_RULE), UNIT_RATIO),
                          place_quantity("fit", share_of(s, WORK_NO_FIT), UNIT_RATIO),
                          place_quantity("other", share_of(s, WORK_OTHER), UNIT_RATIO)));
    if (s->works->by[WORK_KNOWN] <= 0)
        return;
    if (d == NULL)
        report_text(r, report_message(r, &ops_text.no_device));
    else if (s->works->is_assumed)
        report_text(r,
                    REPORT_MESSAGE(r, &ops_text.assumed, PLACE("name", str_of(d->name)),
                                   PLACE("tflops", d->tflops[PEAK_BF16]), PLACE("gbps", d->gbps)));
    else
        report_text(r,
                    REPORT_MESSAGE(r, &ops_text.device, PLACE("name", str_of(d->name)),
                                   PLACE("tflops", d->tflops[PEAK_BF16]), PLACE("gbps", d->gbps)));
}

void op_stats_describe(const struct op_stats *s, struct report *r)
{
    const struct record_env env = {.arena = &r->arena};
    size_t most = s->top > 0 ? s->top : ROWS_SHOWN, n = s->n < most ? s->n : most;
    size_t steps = s->n_steps < STEPS_SHOWN ? s->n_steps : STEPS_SHOWN;

    report_text(r, REPORT_MESSAGE(r, &ops_text.summary, PLACE("kernels", s->kernels),
                                  place_quantity("device", (double)s->device, UNIT_NS),
                                  PLACE("outside", s->outside_kernels),
                                  place_quantity("time", (double)s->outside, UNIT_NS)));
    if (s->is_fallback)
        report_text(r, report_message(r, &ops_text.by_family));
    if (s->n == 0)
        report_text(r, report_message(r, s->by == OP_BY_MODULE  ? &ops_text.no_modules
                                         : s->by == OP_BY_LAYER ? &ops_text.no_layers
                                                                : &ops_text.nothing));
    report_records(r, s->by == OP_BY_SHAPE ? &shape_record : &stat_record, s->at, n, &env);
    if (n < s->n)
        report_text(r, REPORT_MESSAGE(r, &ops_text.more, PLACE("n", s->n - n)));
    describe_work(s, r);
    if (s->works->device == NULL || s->works->by[WORK_KNOWN] <= 0 || steps == 0)
        return;
    report_records(r, &step_record, s->steps + s->n_steps - steps, steps, &env);
    if (steps < s->n_steps)
        report_text(r, REPORT_MESSAGE(r, &ops_text.more_steps, PLACE("n", s->n_steps - steps)));
}
