/*
 * plant: executes both twins, writes what a profiler would have recorded of them, and the truth.
 */
#include "report/record_file.h"
#include "synth/plant_truth.h"
#include "synth/rank_out.h"
#include "synth/synth.h"

enum { VARIANTS = 2, RUNS_MOST = MACHINE_KINDS * VARIANTS * 2 };

static const char *const variants[VARIANTS] = {"sick", "repaired"};

static const unsigned formats_of[MACHINE_KINDS] = {
    [MACHINE_GPU] = SYNTH_KINETO | SYNTH_CHROME,
    [MACHINE_NPU] = SYNTH_TEXT | SYNTH_DB | SYNTH_MSPROF,
};

struct planting {
    const struct synth_options *o;
    struct arena *arena;
    struct diag *d;
    enum plant_cause cause;
    struct plant_truth truth;
    struct synth_result *result;
};

static void run_write_step(void *out)
{
    rank_out_step(out);
}

/* One execution: a rank, the machine it is recorded from, and the program. */
struct execution {
    struct synth_options o;
    struct sim sim;
    struct machine m;
    struct plant p;
    struct rank_out *out; /* NULL: nobody records */
    nanos *marks;
};

static void run_prepare(struct planting *k, struct execution *e, enum machine_kind kind,
                        int variant, bool is_bare)
{
    static const struct synth_program program = {.phase = PHASE_TRAIN};

    e->o = *k->o;
    e->o.out = fs_join(k->arena, k->o->out, variants[variant]);
    e->o.formats &= formats_of[kind];
    e->o.mode = SYNTH_TRAIN;
    e->o.stacks = k->cause == PLANT_PYTHON_OVERHEAD;
    sim_init(&e->sim, &e->o, k->arena);
    e->sim.gpu = "NVIDIA H200";
    e->sim.gpu_memory = INT64_C(150754820096);
    e->sim.npu = "Ascend910B3";
    struct rank *rank = &e->sim.ranks[0];
    rank->step.program = &program;
    rank->threads = THREAD_COUNT;
    rank->streams = STREAM_COUNT;
    machine_init(&e->m, kind, e->o.seed, rank, &e->sim.names);
    e->m.is_bare = is_bare;
    plant_draw(&e->p, &e->m, k->cause, variant == 0, e->o.seed, e->o.steps);
    e->marks = ARENA_ARRAY(k->arena, nanos, (size_t)e->p.steps);
    e->out = is_bare ? NULL : ARENA_NEW(k->arena, struct rank_out);
}

static enum status execute(struct planting *k, struct execution *e, struct plant_run *run)
{
    if (e->out != NULL)
        TRY(rank_out_open(e->out, &e->sim, 0, k->arena, k->d));
    TRY(plant_execute(&e->p, e->marks, e->out != NULL ? run_write_step : NULL, e->out));
    plant_truth_account(run, &e->m, &e->p, e->marks, k->arena);
    if (e->out == NULL)
        return ST_OK;
    TRY(rank_out_close(e->out));
    const struct truth *t = &e->out->truth;
    run->files_n = t->files.n;
    run->files = ARENA_ARRAY(k->arena, struct truth_file, t->files.n);
    for (size_t i = 0; i < t->files.n; i++) { /* names below the folder of the whole */
        run->files[i] = t->files.at[i];
        run->files[i].name = arena_printf(k->arena, "%s/%s", run->variant, t->files.at[i].name);
    }
    rank_out_count(e->out, k->result);
    return ST_OK;
}

static enum status run_twin(struct planting *k, enum machine_kind kind, int variant, bool is_bare)
{
    struct plant_run *run = &k->truth.runs[k->truth.runs_n++];
    struct execution *e = ARENA_NEW(k->arena, struct execution);

    run_prepare(k, e, kind, variant, is_bare);
    *run = (struct plant_run){
        .machine = e->m.device->name, .variant = variants[variant], .is_recorded = !is_bare};
    enum status st = execute(k, e, run);
    if (e->out != NULL)
        rank_out_free(e->out);
    machine_fini(&e->m);
    sim_fini(&e->sim);
    return st;
}

static double share_saved(const struct plant_run *sick, const struct plant_run *repaired)
{
    return sick->step_ns > 0 ? (double)(sick->step_ns - repaired->step_ns) / (double)sick->step_ns
                             : 0;
}

/* Both twins on one machine, recorded and not. */
static enum status run_machine(struct planting *k, enum machine_kind kind)
{
    const struct plant_run *first = &k->truth.runs[k->truth.runs_n];
    int twins = plant_is_healthy(k->cause) ? 1 : VARIANTS;

    for (int bare = 0; bare < 2; bare++)
        for (int v = 0; v < twins; v++)
            TRY(run_twin(k, kind, v, bare == 1));
    if (twins == VARIANTS)
        k->truth.savings[k->truth.savings_n++] = (struct plant_saving){
            first->machine, share_saved(&first[0], &first[1]), share_saved(&first[2], &first[3])};
    return ST_OK;
}

static enum status check_formats(const struct planting *k)
{
    const struct plant_kind *kind = &plant_kinds[k->cause];
    unsigned fits = 0;

    for (int i = 0; i < MACHINE_KINDS; i++)
        if ((kind->machines & 1u << i) != 0)
            fits |= formats_of[i];
    if ((k->o->formats & ~fits) == 0)
        return ST_OK;
    return diag_fail(k->d, ST_UNSUPPORTED, "synth.plant-format", (struct where){0},
                     "%s can be planted in %s captures only", kind->id,
                     (kind->machines & 1u << MACHINE_GPU) != 0 ? "kineto and chrome"
                                                               : "text, db and msprof");
}

/* ---- ground_truth.json, schema strata.plant-truth/1 (docs/synth.md): times are nanoseconds ----
 */

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

enum status plant_run(const struct synth_options *o, struct arena *arena, struct diag *d,
                      struct synth_result *out)
{
    enum plant_cause cause = (enum plant_cause)(o->plant - 1);
    const struct plant_kind *kind = &plant_kinds[cause];
    struct planting k = {.o = o, .arena = arena, .d = d, .cause = cause, .result = out};

    TRY(check_formats(&k));
    k.truth = (struct plant_truth){.cause = kind->id,
                                   .also = kind->also,
                                   .planted = kind->planted,
                                   .repaired = kind->repaired,
                                   .change = kind->change,
                                   .is_healthy = plant_is_healthy(cause),
                                   .seed = o->seed,
                                   .runs = ARENA_ARRAY(arena, struct plant_run, RUNS_MOST)};
    out->ranks = ARENA_ARRAY(arena, struct synth_rank_result, RUNS_MOST);
    for (int i = 0; i < MACHINE_KINDS; i++)
        if ((o->formats & formats_of[i]) != 0)
            TRY(run_machine(&k, (enum machine_kind)i));
    out->truth = fs_join(arena, o->out, "ground_truth.json");
    return record_save(out->truth, &plant_record, &k.truth, d);
}
