/*
 * The diagnosis as a record: the object "diagnosis" of documents.
 */
#include "analysis/diagnose/diagnosis.h"
#include "report/record.h"

static const struct field site_fields[] = {
    FIELD(struct root_site, name, "name"),
    FIELD(struct root_site, thread, "thread"),
    FIELD(struct root_site, count, "count", .about = "in all steps that count"),
    FIELD(struct root_site, time, "ms", .form = FORM_MS, .about = "a step, mean"),
};
static const struct record site_record = RECORD(struct root_site, site_fields);

#define SHARE_FIELD(struct_, member, key_, ...)                                                    \
    FIELD(struct_, member, key_, .unit = UNIT_RATIO, .form = FORM_POINT, .decimals = 4,            \
          ##__VA_ARGS__)
#define CAUSE_FIELD(member, key_, ...) FIELD(struct diagnosis_cause, member, key_, ##__VA_ARGS__)

static struct field_value is_upper_bound(const void *record, const struct record_env *env)
{
    (void)env;
    return value_bool(((const struct diagnosis_cause *)record)->bound == SAVING_AT_MOST);
}

static const struct field cause_fields[] = {
    CAUSE_FIELD(id, "id"),
    CAUSE_FIELD(rank, "rank"),
    CAUSE_FIELD(saving, "saving_ms", .form = FORM_MS,
                .about = "a step without the profiler; of a slow step, once"),
    SHARE_FIELD(struct diagnosis_cause, saving_share, "saving_share"),
    SHARE_FIELD(struct diagnosis_cause, profiled_saving_share, "profiled_saving_share"),
    FIELD_OF_ENUM(struct diagnosis_cause, confidence, "confidence", confidence_name, CONFIDENCES),
    FIELD_CALC(FIELD_BOOL, "is_upper_bound", is_upper_bound),
    FIELD_OF_ENUM(struct diagnosis_cause, base, "saving_base", saving_base_name, SAVING_BASES,
                  .about = "what the share is of"),
    CAUSE_FIELD(base_time, "base_ms", .form = FORM_MS),
    FIELD_OF_ENUM(struct diagnosis_cause, bound, "saving_bound", saving_bound_name, SAVING_BOUNDS,
                  .about = "how the saving is to be read"),
    FIELD_ROOM_VALUES(struct diagnosis_cause, evidence, n_evidence, "evidence"),
    FIELD_ROOM(struct diagnosis_cause, found.sites, found.n_sites, "sites", &site_record),
    CAUSE_FIELD(action, "action"),
    CAUSE_FIELD(against, "against", .missing = MISSING_EMPTY),
    CAUSE_FIELD(record, "record", .missing = MISSING_EMPTY),
    CAUSE_FIELD(whatif, "whatif", .about = "the change of `strata whatif` that values it"),
};
static const struct record cause_record = RECORD(struct diagnosis_cause, cause_fields);

/* The verdict is the first cause, told shortly. */
static const struct field verdict_fields[] = {
    FIELD(struct diagnosis, verdict.id, "cause"),
    FIELD(struct diagnosis, text, "text"),
    FIELD(struct diagnosis, verdict.saving, "saving_ms", .form = FORM_MS,
          .about = "a step without the profiler; of a slow step, once"),
    SHARE_FIELD(struct diagnosis, verdict.saving_share, "saving_share"),
    SHARE_FIELD(struct diagnosis, verdict.profiled_saving_share, "profiled_saving_share"),
    FIELD_OF_ENUM(struct diagnosis, verdict.base, "saving_base", saving_base_name, SAVING_BASES,
                  .about = "what the share is of"),
    FIELD(struct diagnosis, verdict.base_time, "base_ms", .form = FORM_MS),
    FIELD(struct diagnosis, why_first, "why_first", .missing = MISSING_EMPTY,
          .about = "where another cause would save more"),
    FIELD_OF_ENUM(struct diagnosis, verdict.confidence, "confidence", confidence_name, CONFIDENCES),
    FIELD_OF_ENUM(struct diagnosis, verdict.bound, "saving_bound", saving_bound_name, SAVING_BOUNDS,
                  .about = "how the saving is to be read"),
    FIELD(struct diagnosis, verdict.action, "action"),
    FIELD(struct diagnosis, framework, "framework", .about = "whose options the actions name"),
};
static const struct record verdict_record = RECORD(struct diagnosis, verdict_fields);

static const struct field step_fields[] = {
    FIELD(struct diagnosis, steps, "count", .about = "steps that count: not the first"),
    FIELD(struct diagnosis, time, "time_ms", .form = FORM_MS, .about = "median, of the device"),
    FIELD(struct diagnosis, host_period, "host_period_ms", .form = FORM_MS,
          .missing = MISSING_NOT_POSITIVE, .about = "median distance of the host's marks"),
    FIELD(struct diagnosis, device_period, "device_period_ms", .form = FORM_MS,
          .about = "mean; of steps that differ (is_mixed), all together"),
    FIELD(struct diagnosis, is_mixed, "is_mixed"),
    FIELD(struct diagnosis, profiled, "profiled_ms", .form = FORM_MS,
          .about = "replayed; as device_period_ms"),
    FIELD(struct diagnosis, bare, "unprofiled_estimate_ms", .form = FORM_MS,
          WHEN(struct diagnosis, is_calibrated)),
};
static const struct record step_record = RECORD(struct diagnosis, step_fields);

static const struct field class_fields[] = {
    FIELD(struct diagnosis_class, name, "class", .head = "class"),
    FIELD(struct diagnosis_class, time, "ms", .head = "ms", .unit = UNIT_MS, .form = FORM_MS),
    SHARE_FIELD(struct diagnosis_class, share, "share", .head = "share %"),
};
static const struct record class_record = RECORD(struct diagnosis_class, class_fields);

static const struct field replay_fields[] = {
    SHARE_FIELD(struct diagnosis, identity_error, "identity_error"),
    FIELD(struct diagnosis, nodes, "nodes"),
    FIELD(struct diagnosis, edges, "edges"),
};
static const struct record replay_record = RECORD(struct diagnosis, replay_fields);

static const struct field group_fields[] = {
    FIELD(struct diagnosis_group, first, "first_step"),
    FIELD(struct diagnosis_group, steps, "steps"),
    FIELD(struct diagnosis_group, kernels, "kernels", .about = "compute kernels of each step"),
    FIELD(struct diagnosis_group, median, "time_ms", .form = FORM_MS, .about = "median"),
    FIELD(struct diagnosis_group, time, "total_ms", .form = FORM_MS, .about = "of all its steps"),
    FIELD(struct diagnosis_group, idle_share, "idle_share", .form = FORM_POINT, .decimals = 4,
          .about = "idle time of its steps by their total time"),
    SHARE_FIELD(struct diagnosis_group, share, "share", .about = "of the time of all steps"),
    FIELD(struct diagnosis_group, text, "text", .missing = MISSING_EMPTY,
          .about = "of steps that differ, what each kind spends its time on"),
};
static const struct record group_record = RECORD(struct diagnosis_group, group_fields);

static const struct field diagnosis_fields[] = {
    FIELD_GROUP("verdict", &verdict_record),
    FIELD_GROUP("step", &step_record),
    FIELD_LIST(struct diagnosis, classes, n_classes, "accounting", &class_record),
    FIELD_LIST(struct diagnosis, causes, n_causes, "causes", &cause_record),
    FIELD_GROUP("replay", &replay_record),
    FIELD_LIST(struct diagnosis, groups, n_groups, "groups", &group_record,
               .about = "steps that do the same work"),
    FIELD_ROOM_VALUES(struct diagnosis, missing, n_missing, "missing",
                      .about = "what the capture cannot show, and how to record it"),
};
const struct record diagnosis_record = RECORD(struct diagnosis, diagnosis_fields);

const struct schema diagnosis_schema = {
    .name = "strata.diagnosis/1",
    .title = "what limits a run, what it costs, what to do",
    .record = &diagnosis_record,
};
