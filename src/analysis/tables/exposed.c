/*
 * Exposed communication per step, found and described.
 */
#include "analysis/tables/exposed.h"

#include "analysis/analysis.h"
#include "analysis/steps/steps.h"
#include "text/anomaly.h"

const struct exposed *exposed_find(struct study *st)
{
    const struct steps *steps = study_steps(st);
    struct exposed *out = ARENA_NEW(&st->scratch, struct exposed);
    struct interval_set comm = study_gather(st, study_is_comm);
    struct interval_set compute = study_gather(st, study_is_compute);
    struct interval *room = ARENA_ARRAY(&st->scratch, struct interval, comm.n);

    *out = (struct exposed){ARENA_ARRAY(&st->scratch, struct exposed_step, steps->n), steps->n,
                            .all = {.id = S("all steps")}};
    for (size_t i = 0; i < steps->n; i++) {
        struct interval window = steps->at[i].window;
        struct interval_set inside = interval_clip(comm, window, room);
        nanos length = interval_length(inside), service = nanos_sub(window.end, window.begin);
        nanos exposed = length - interval_overlap(inside, compute);
        out->steps[i] = (struct exposed_step){steps->at[i].id, service, length, exposed,
                                              num_share(exposed, service)};
        out->all.service = nanos_add(out->all.service, service);
        out->all.comm = nanos_add(out->all.comm, length);
        out->all.exposed = nanos_add(out->all.exposed, exposed);
    }
    out->all.share = num_share(out->all.exposed, out->all.service);
    return out;
}

static const struct field step_fields[] = {
    FIELD(struct exposed_step, id, "step_id", .head = "step"),
    FIELD(struct exposed_step, service, "service_ns", .head = "by marks ms", .unit = UNIT_MS),
    FIELD(struct exposed_step, comm, "communication_ns", .head = "comm ms", .unit = UNIT_MS),
    FIELD(struct exposed_step, exposed, "exposed_ns", .head = "exposed ms", .unit = UNIT_MS),
    FIELD(struct exposed_step, share, "exposed_share", .head = "exposed %", .unit = UNIT_RATIO),
};
static const struct record step_record = RECORD(struct exposed_step, step_fields);

static const struct field exposed_fields[] = {
    FIELD_LIST(struct exposed, steps, n, "steps", &step_record),
    FIELD_INSIDE(struct exposed, all, "all", &step_record),
};
static const struct record exposed_record = RECORD(struct exposed, exposed_fields);

const struct schema exposed_schema = {
    .name = "strata.exposed/1",
    .title = "communication that no compute hides, step by step",
    .record = &exposed_record,
};

static void exposed_describe(struct study *st, struct report *r)
{
    const struct exposed *e = exposed_find(st);

    report_text(
        r, REPORT_MESSAGE(
               r, &anomaly_text.exposed, place_quantity("comm", (double)e->all.comm, UNIT_NS),
               place_quantity("exposed", (double)e->all.exposed, UNIT_NS),
               place_quantity("share", e->all.share, UNIT_RATIO),
               PLACE("time",
                     REPORT_MESSAGE(r, &anomaly_text.by_marks,
                                    place_quantity("time", (double)e->all.service, UNIT_NS)))));
    report_records(r, &step_record, e->steps, e->n, NULL);
}

static const void *tables_exposed_find(struct study *st)
{
    return exposed_find(st);
}

const struct analysis analysis_exposed = {
    .name = "exposed",
    .summary = "communication that no compute hides",
    .needs = HAS_KERNELS | HAS_COMM,
    .schema = &exposed_schema,
    .find = tables_exposed_find,
    .run = exposed_describe,
};
