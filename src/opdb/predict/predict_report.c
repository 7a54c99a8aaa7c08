/*
 * A predicted step as document, report and trace.
 */
#include <math.h>

#include "base/text/text.h"
#include "capture/capture.h"
#include "opdb/predict/predict_job.h"
#include "report/report.h"

static const struct field row_fields[] = {
    FIELD(struct predict_row, part, "part", .head = "part"),
    FIELD(struct predict_row, op, "operator", .head = "operator"),
    FIELD(struct predict_row, shapes, "shapes", .head = "shapes", .drop = 2),
    FIELD(struct predict_row, calls, "calls", .head = "calls"),
    FIELD(struct predict_row, each_us, "each_us", .head = "each us", .unit = UNIT_PLAIN),
    FIELD(struct predict_row, us, "us", .head = "all us", .unit = UNIT_PLAIN),
    FIELD(struct predict_row, low_us, "interval_low_us", .head = "from us", .unit = UNIT_PLAIN,
          .drop = 1),
    FIELD(struct predict_row, high_us, "interval_high_us", .head = "to us", .unit = UNIT_PLAIN,
          .drop = 1),
    FIELD(struct predict_row, source, "source", .head = "source"),
    FIELD(struct predict_row, weights, "weights",
          .about = "parameters that a card keeps for one of these calls"),
};
static const struct record row_record = RECORD(struct predict_row, row_fields);

static const struct field op_fields[] = {
    FIELD(struct predict_op, op, "operator", .head = "operator"),
    FIELD(struct predict_op, calls, "calls", .head = "calls"),
    FIELD(struct predict_op, measured_calls, "measured_calls", .head = "measured calls"),
    FIELD(struct predict_op, us, "us", .head = "predicted us", .unit = UNIT_PLAIN),
    FIELD(struct predict_op, measured_us, "measured_us", .head = "measured us", .unit = UNIT_PLAIN),
    FIELD(struct predict_op, error, "error", .head = "error %", .unit = UNIT_RATIO),
};
static const struct record op_record = RECORD(struct predict_op, op_fields);

static const struct field step_fields[] = {
    FIELD(struct predict_step, phase, "phase"),
    FIELD(struct predict_step, batch, "batch"),
    FIELD(struct predict_step, length, "length"),
    FIELD(struct predict_step, prompt, "prompt_tokens"),
    FIELD(struct predict_step, us, "us"),
    FIELD(struct predict_step, low_us, "interval_low_us"),
    FIELD(struct predict_step, high_us, "interval_high_us"),
    FIELD(struct predict_step, compute_us, "compute_us"),
    FIELD(struct predict_step, comm_us, "exposed_communication_us"),
    FIELD(struct predict_step, gap_us, "gap_us"),
    FIELD(struct predict_step, calls, "calls"),
    FIELD(struct predict_step, kernels, "kernels"),
    FIELD(struct predict_step, missed, "calls_missed"),
    FIELD(struct predict_step, measured_us, "measured_kernels_us",
          WHEN(struct predict_step, has_measured), .is_optional = true),
    FIELD(struct predict_step, measured_steps, "measured_steps",
          WHEN(struct predict_step, has_measured), .is_optional = true),
    FIELD(struct predict_step, error, "kernels_error", WHEN(struct predict_step, has_measured),
          .is_optional = true),
    FIELD_LIST(struct predict_step, rows.at, rows.n, "rows", &row_record),
    FIELD_LIST(struct predict_step, ops.at, ops.n, "operators", &op_record),
};
static const struct record step_record = RECORD(struct predict_step, step_fields);

static const struct field memory_fields[] = {
    FIELD(struct predict_memory, weight_bytes, "weight_bytes"),
    FIELD(struct predict_memory, cache_bytes, "cache_bytes"),
    FIELD(struct predict_memory, work_bytes, "activation_bytes"),
    FIELD(struct predict_memory, token_bytes, "cache_bytes_of_a_token"),
    FIELD(struct predict_memory, sequence_bytes, "state_bytes_of_a_sequence"),
    FIELD(struct predict_memory, device_bytes, "device_bytes", .about = "0: not known"),
};
static const struct record memory_record = RECORD(struct predict_memory, memory_fields);

static const struct field predict_fields[] = {
    FIELD(struct predict, model, "model"),
    FIELD(struct predict, layers, "layers"),
    FIELD(struct predict, tp, "tp"),
    FIELD(struct predict, pp, "pp"),
    FIELD(struct predict, dp, "dp"),
    FIELD(struct predict, ep, "ep"),
    FIELD(struct predict, expert_tp, "moe_tp"),
    FIELD(struct predict, gemm, "gemm_type"),
    FIELD(struct predict, experts, "moe_type"),
    FIELD(struct predict, cache, "cache_type"),
    FIELD_INSIDE(struct predict, memory, "memory", &memory_record, .about = "of one card"),
    FIELD_ROOM(struct predict, steps, n_steps, "steps", &step_record),
};
static const struct record predict_record = RECORD(struct predict, predict_fields);

const struct schema predict_schema = {
    .name = "strata.db-predict/1",
    .title = "predicted time of a step of a model",
    .record = &predict_record,
};

/* ---- the trace ---- */

static nanos ns_of(double us)
{
    return nanos_of(round(us * 1e3));
}

static void report_add_slice(struct capture *cap, lane_id lane, const struct predict_row *r,
                             double at)
{
    struct attr list[] = {
        attr_text(capture_key(cap, KEY_TYPE), capture_intern(cap, r->op)),
        attr_text(capture_key(cap, KEY_INPUT_SHAPES), capture_intern(cap, r->shapes)),
        attr_text(capture_intern(cap, S("source")), capture_intern(cap, str_of(r->source))),
    };

    capture_slice(cap, &(struct slice){.begin = ns_of(at),
                                       .dur = ns_of(r->each_us),
                                       .lane = lane,
                                       .name = capture_intern(cap, r->op),
                                       .set = attrs_set(&cap->attrs, list, ARRAY_LEN(list)),
                                       .kind = SLICE_COMPUTE});
}

/* The calls in their order: the rows of a layer come round once for each. */
static void add_step(struct capture *cap, const struct predict_step *s, int32_t device)
{
    double at = 0, gap = s->calls > 0 ? s->gap_us / (double)s->calls : 0;
    lane_id lane = capture_lane(
        cap, (struct lane_key){.kind = LANE_STREAM,
                               .device = device,
                               .process = capture_intern_format(
                                   cap, "empirical %s batch %lld length %lld", s->phase,
                                   (long long)s->batch, (long long)s->length),
                               .name = capture_intern(cap, S("0"))});

    for (size_t first = 0, last; first < s->rows.n; first = last) {
        uint64_t times = s->rows.at[first].calls;
        for (last = first; last < s->rows.n && s->rows.at[last].calls == times;)
            last++;
        for (uint64_t k = 0; k < times; k++)
            for (size_t i = first; i < last; i++)
                if (s->rows.at[i].source != NULL) {
                    report_add_slice(cap, lane, &s->rows.at[i], at);
                    at += s->rows.at[i].each_us + gap;
                }
    }
}

struct capture *predict_capture(const struct predict *p)
{
    struct capture *cap = capture_new();

    cap->origin = ORIGIN_ESTIMATED;
    for (size_t i = 0; i < p->n_steps; i++)
        add_step(cap, &p->steps[i], (int32_t)i);
    capture_seal(cap);
    return cap;
}

/* ---- the report ---- */

/* "all_reduce, GroupedMatmul": what has no answer, each once. */
static struct str missed_names(struct report *r, const struct predict_step *s)
{
    struct text names = {0};

    for (size_t i = 0; i < s->rows.n; i++) {
        bool is_new = s->rows.at[i].source == NULL;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = s->rows.at[k].source != NULL || !str_equal(s->rows.at[k].op, s->rows.at[i].op);
        if (is_new)
            text_format(&names, "%s%.*s", names.n > 0 ? ", " : "", STR_ARGS(s->rows.at[i].op));
    }
    return text_keep(&names, &r->arena);
}

/* The verdict, its parts, all rows, and what a capture has of them. */
static void describe_step(struct report *r, const struct predict *p, const struct predict_step *s)
{
    const char *phase = s->phase[0] == 'p' ? "Prefill" : "Decode";

    if (s->missed > 0)
        report_say(
            r, "%s of %lld x %lld: more than %.4g ms. %llu calls are not in the database: %.*s.",
            phase, (long long)s->batch, (long long)s->length, s->us / 1e3,
            (unsigned long long)s->missed, STR_ARGS(missed_names(r, s)));
    else
        report_say(r, "%s of %lld x %lld: %.4g ms, 80 %% interval %.4g to %.4g ms.", phase,
                   (long long)s->batch, (long long)s->length, s->us / 1e3, s->low_us / 1e3,
                   s->high_us / 1e3);
    if (s->prompt > 0)
        report_say(r, "The step computes %lld tokens of a prompt, too.", (long long)s->prompt);
    report_say(r,
               "Operators %.4g ms, exposed communication %.4g ms, gaps %.4g ms; %llu calls and "
               "%llu kernels in %lld layers.",
               s->compute_us / 1e3, s->comm_us / 1e3, s->gap_us / 1e3, (unsigned long long)s->calls,
               (unsigned long long)s->kernels, (long long)p->layers);
    report_records(r, &row_record, s->rows.at, s->rows.n, NULL);
    if (!s->has_measured)
        return;
    if (!isfinite(s->error)) {
        report_say(r, "The capture and the step have no operator in common: nothing to compare.");
        return;
    }
    report_say(r, "Kernels of one of %llu measured steps: %.4g ms; predicted %+.1f %%.",
               (unsigned long long)s->measured_steps, s->measured_us / 1e3, 100 * s->error);
    report_records(r, &op_record, s->ops.at, s->ops.n, NULL);
}

void predict_describe(const void *result, struct report *r)
{
    const struct predict *p = result;

    const struct predict_memory *m = &p->memory;

    for (size_t i = 0; i < p->n_steps; i++)
        describe_step(r, p, &p->steps[i]);
    report_say(r, "A card holds %.4g GB: weights %.4g, cache %.4g, activations %.3g.",
               predict_memory_needed(m) / 1e9, m->weight_bytes / 1e9, m->cache_bytes / 1e9,
               m->work_bytes / 1e9);
}
