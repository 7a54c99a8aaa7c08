/*
 * A predicted step as document, report and trace.
 */
#include "flow/flow_predict.h"
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
    FIELD(struct predict_step, error, "kernels_error", WHEN(struct predict_step, has_measured),
          .is_optional = true),
    FIELD_LIST(struct predict_step, rows.at, rows.n, "rows", &row_record),
    FIELD_LIST(struct predict_step, ops.at, ops.n, "operators", &op_record),
};
static const struct record step_record = RECORD(struct predict_step, step_fields);

static const struct field predict_fields[] = {
    FIELD(struct predict, model, "model"),
    FIELD(struct predict, layers, "layers"),
    FIELD(struct predict, tp, "tp"),
    FIELD(struct predict, ep, "ep"),
    FIELD_ROOM(struct predict, steps, n_steps, "steps", &step_record),
};
static const struct record predict_record = RECORD(struct predict, predict_fields);

const struct schema predict_schema = {
    .name = "strata.db-predict/1",
    .title = "predicted time of a step of a model",
    .record = &predict_record,
};

/* ---- the trace ---- */

static void trace_name(struct json_writer *w, const char *what, int64_t pid, struct str name)
{
    json_write_object(w);
    json_put_text(w, "name", what);
    json_put_text(w, "ph", "M");
    json_put_i64(w, "pid", pid);
    json_put_i64(w, "tid", 0);
    json_put_object(w, "args");
    json_put_str(w, "name", name);
    json_write_end(w);
    json_write_end(w);
}

static void trace_event(struct json_writer *w, const struct predict_row *r, int64_t pid, double at)
{
    json_write_object(w);
    json_put_str(w, "name", r->op);
    json_put_text(w, "ph", "X");
    json_put_text(w, "cat", r->part);
    json_put_f64(w, "ts", at);
    json_put_f64(w, "dur", r->each_us);
    json_put_i64(w, "pid", pid);
    json_put_i64(w, "tid", 0);
    json_put_object(w, "args");
    json_put_str(w, "kernel_type", r->op);
    json_put_str(w, "kernel_shapes", r->shapes);
    json_put_text(w, "source", r->source);
    json_write_end(w);
    json_write_end(w);
}

/* The calls in their order: the rows of a layer come round once for each. */
static void trace_step(struct json_writer *w, const struct predict *p, const struct predict_step *s,
                       int64_t pid, double gap)
{
    double at = 0;

    trace_name(w, "process_name", pid,
               arena_format((struct arena *)&p->arena, "empirical %s batch %lld length %lld",
                            s->phase, (long long)s->batch, (long long)s->length));
    for (size_t first = 0, last; first < s->rows.n; first = last) {
        uint64_t times = s->rows.at[first].calls;
        for (last = first; last < s->rows.n && s->rows.at[last].calls == times;)
            last++;
        for (uint64_t k = 0; k < times; k++)
            for (size_t i = first; i < last; i++) {
                const struct predict_row *r = &s->rows.at[i];
                if (r->source == NULL)
                    continue;
                trace_event(w, r, pid, at);
                at += r->each_us + gap;
            }
    }
}

bool predict_trace(const void *of, struct sink sink)
{
    const struct predict *p = of;
    struct json_writer w;

    json_write_init(&w, sink, JSON_COMPACT);
    json_write_object(&w);
    json_put_array(&w, "traceEvents");
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct predict_step *s = &p->steps[i];
        trace_step(&w, p, s, (int64_t)i + 1, s->calls > 0 ? s->gap_us / (double)s->calls : 0);
    }
    json_write_end(&w);
    json_write_end(&w);
    return json_write_finish(&w);
}

/* ---- the report ---- */

static void describe(struct report *r, const struct predict *p, const struct predict_step *s)
{
    report_say(r, "%s of %lld x %lld: %.4g ms, 80 %% interval %.4g to %.4g ms.",
               s->phase[0] == 'p' ? "Prefill" : "Decode", (long long)s->batch, (long long)s->length,
               s->us / 1e3, s->low_us / 1e3, s->high_us / 1e3);
    report_say(r,
               "Operators %.4g ms, exposed communication %.4g ms, gaps %.4g ms; %llu calls and "
               "%llu kernels in %lld layers.",
               s->compute_us / 1e3, s->comm_us / 1e3, s->gap_us / 1e3, (unsigned long long)s->calls,
               (unsigned long long)s->kernels, (long long)p->layers);
    if (s->missed > 0)
        report_say(r, "%llu calls are not in the database and count as 0.",
                   (unsigned long long)s->missed);
    report_records(r, &row_record, s->rows.at, s->rows.n, NULL);
    if (!s->has_measured)
        return;
    report_say(r, "Kernels of one of %llu measured steps: %.4g ms; predicted %+.1f %%.",
               (unsigned long long)s->measured_steps, s->measured_us / 1e3, 100 * s->error);
    report_records(r, &op_record, s->ops.at, s->ops.n, NULL);
}

struct report *predict_report(const struct predict *p)
{
    struct report *r = report_new(LANG_EN, S(""));

    for (size_t i = 0; i < p->n_steps; i++)
        describe(r, p, &p->steps[i]);
    return r;
}
