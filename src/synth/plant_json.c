/*
 * plant_truth as ground_truth.json (docs/synth.md): times are nanoseconds.
 */
#include "synth/plant_truth.h"

static const struct field class_fields[] = {
    FIELD(struct plant_account, class, "class"),
    FIELD(struct plant_account, ns, "ns"),
};
static const struct record class_record = RECORD(struct plant_account, class_fields);

static const struct field step_fields[] = {
    FIELD(struct plant_step_truth, number, "step"),
    FIELD(struct plant_step_truth, begin, "begin_ns"),
    FIELD(struct plant_step_truth, end, "end_ns"),
    FIELD_ROOM(struct plant_step_truth, by, n, "accounting", &class_record),
};
static const struct record step_record = RECORD(struct plant_step_truth, step_fields);

static const struct field file_fields[] = {
    FIELD(struct truth_file, name, "path"),
    FIELD(struct truth_file, bytes, "bytes"),
};
static const struct record file_record = RECORD(struct truth_file, file_fields);

static const struct field run_fields[] = {
    FIELD(struct plant_run, machine, "machine"),
    FIELD(struct plant_run, variant, "variant"),
    FIELD(struct plant_run, is_recorded, "is_recorded"),
    FIELD(struct plant_run, step_ns, "step_ns"),
    FIELD_LIST(struct plant_run, files, files_n, "files", &file_record),
    FIELD_LIST(struct plant_run, steps, steps_n, "steps", &step_record),
};
static const struct record run_record = RECORD(struct plant_run, run_fields);

static const struct field saving_fields[] = {
    FIELD(struct plant_saving, machine, "machine"),
    FIELD(struct plant_saving, recorded, "recorded_share"),
    FIELD(struct plant_saving, bare, "bare_share"),
};
static const struct record saving_record = RECORD(struct plant_saving, saving_fields);

static const struct field plant_fields[] = {
    FIELD(struct plant_truth, cause, "cause"),
    FIELD(struct plant_truth, also, "also"),
    FIELD(struct plant_truth, is_healthy, "is_healthy"),
    FIELD(struct plant_truth, planted, "planted"),
    FIELD(struct plant_truth, repaired, "repaired"),
    FIELD(struct plant_truth, change, "change"),
    FIELD(struct plant_truth, seed, "seed"),
    FIELD_ROOM(struct plant_truth, savings, savings_n, "savings", &saving_record),
    FIELD_LIST(struct plant_truth, runs, runs_n, "runs", &run_record),
};
static const struct record plant_record = RECORD(struct plant_truth, plant_fields);

const struct schema plant_truth_schema = {
    .name = "strata.plant-truth/1",
    .title = "a planted problem and its repair",
    .record = &plant_record,
};
