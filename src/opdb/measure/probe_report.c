/*
 * What a probe found, as records and as a report. See probe_job.h.
 */
#include "opdb/measure/probe_job.h"
#include "report/report.h"

enum { STATES = MEASURE_NOT_RUN + 1 };

static const struct field value_fields[] = {
    FIELD(struct probed_size, value, "value", .head = "value"),
    FIELD_OF_ENUM(struct probed_size, state, "state", measure_state_name, STATES, .head = "state"),
    FIELD(struct probed_size, us, "min_us", .head = "min us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct probed_size, why, "why", .head = "why", .missing = MISSING_EMPTY),
};
static const struct record value_record = RECORD(struct probed_size, value_fields);

static const struct field probe_fields[] = {
    FIELD(struct probed_sizes, op, "operator"),
    FIELD(struct probed_sizes, axis, "axis"),
    FIELD(struct probed_sizes, backend, "backend"),
    FIELD(struct probed_sizes, conclusion, "conclusion"),
    FIELD(struct probed_sizes, largest, "largest", .missing = MISSING_NOT_POSITIVE),
    FIELD_LIST(struct probed_sizes, at.at, at.n, "values", &value_record),
};
static const struct record probe_record = RECORD(struct probed_sizes, probe_fields);

const struct schema probed_sizes_schema = {
    .name = "strata.db-probe/1",
    .title = "which sizes an operator takes",
    .record = &probe_record,
};

void probed_sizes_describe(const void *result, struct report *report)
{
    const struct probed_sizes *p = result;

    report_line(report, "%.*s on %s, %.*s", STR_ARGS(p->op), p->backend, STR_ARGS(p->axis));
    report_records(report, &value_record, p->at.at, p->at.n, NULL);
    if (p->largest > 0)
        report_line(report, "%s; largest value that ran: %lld", p->conclusion,
                    (long long)p->largest);
    else
        report_line(report, "%s", p->conclusion);
}
