/*
 * What a probe found, as records and as a report. See flow_probe.h.
 */
#include "opdb/measure/probe_job.h"
#include "report/report.h"

enum { STATES = MEASURE_NOT_RUN + 1 };

static const struct field value_fields[] = {
    FIELD(struct flow_probed, value, "value", .head = "value"),
    FIELD_OF_ENUM(struct flow_probed, state, "state", measure_state_name, STATES, .head = "state"),
    FIELD(struct flow_probed, us, "min_us", .head = "min us", .missing = MISSING_NOT_POSITIVE),
    FIELD(struct flow_probed, why, "why", .head = "why", .missing = MISSING_EMPTY),
};
static const struct record value_record = RECORD(struct flow_probed, value_fields);

static const struct field probe_fields[] = {
    FIELD(struct flow_probe, op, "operator"),
    FIELD(struct flow_probe, axis, "axis"),
    FIELD(struct flow_probe, backend, "backend"),
    FIELD(struct flow_probe, conclusion, "conclusion"),
    FIELD(struct flow_probe, largest, "largest", .missing = MISSING_NOT_POSITIVE),
    FIELD_LIST(struct flow_probe, at.at, at.n, "values", &value_record),
};
static const struct record probe_record = RECORD(struct flow_probe, probe_fields);

const struct schema flow_probe_schema = {
    .name = "strata.db-probe/1",
    .title = "which sizes an operator takes",
    .record = &probe_record,
};

void flow_probe_describe(const struct flow_probe *p, struct report *report)
{
    report_line(report, "%.*s on %s, %.*s", STR_ARGS(p->op), p->backend, STR_ARGS(p->axis));
    report_records(report, &value_record, p->at.at, p->at.n, NULL);
    if (p->largest > 0)
        report_line(report, "%s; largest value that ran: %lld", p->conclusion,
                    (long long)p->largest);
    else
        report_line(report, "%s", p->conclusion);
}
