/*
 * One kernel of a scene: its arguments, its workspace, and a run of it.
 */
#include "kernels/incore/incore_replay_job.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/text/num.h"
#include "kernels/incore/incore_run.h"
#include "kernels/replay/args.h"
#include "kernels/replay/draft.h"
#include "kernels/replay/paths.h"

enum { DRAFT_DIM = 128 };

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* What the source suggests, when nobody else knows. */
static enum status draft_of(const struct incore_replay_job *job, struct incore_replay_result *r,
                            struct diag *d)
{
    struct mapfile map;

    if (job->write_arg_spec == NULL) {
        diag_hint(d, "try", "--write-arg-spec FILE for a draft of the arguments to fill in");
        return args_recipe(&r->arena, &r->scene, &r->kernel, &r->slots, d);
    }
    TRY(mapfile_open(&map, r->kernel.incore.path, d));
    draft_slots(arena_str(&r->arena, map.text), DRAFT_DIM, &r->arena, &r->slots);
    mapfile_close(&map);
    diag_add(d, SEV_WARN, "replay.guessed", (struct where){.path = r->kernel.incore.path},
             "shapes and values of %zu arguments are guesses to be corrected: every tensor %d x "
             "%d, every value 1",
             r->slots.n, DRAFT_DIM, DRAFT_DIM);
    return ST_OK;
}

/* Whether a built-in recipe has all that this kernel reads. */
static bool has_recipe(struct incore_replay_result *r)
{
    struct slots tried = {0};
    enum status status = args_recipe(&r->arena, &r->scene, &r->kernel, &tried, NULL);

    vec_free(&tried);
    return status == ST_OK;
}

/* Whether the scene's orchestration gave the arguments. What is in the way is told where nobody
 * else knows them. */
static bool try_record(const struct incore_replay_job *job, struct incore_replay_result *r,
                       bool is_needed, enum status *status, struct diag *d)
{
    struct diag own;

    diag_init(&own);
    *status = incore_replay_record(job, r, &own);
    if (*status == ST_OK || is_needed || *status == ST_CANCELLED)
        diag_merge(d, &own);
    else
        incore_replay_not_recorded(r, &own, SEV_NOTE, d);
    diag_fini(&own);
    return *status == ST_OK;
}

/* Only a scene that names its orchestration can be recorded. */
static bool is_recordable(const struct incore_replay_job *job, const struct incore_replay_result *r)
{
    return job->records &&
           (r->scene.doc == NULL ||
            tree_get(tree_get(r->scene.doc, S("orchestration")), S("source")) != NULL);
}

/* The slots whose values are wanted; NULL in `out` when nothing was said. */
static enum status read_restores(const struct incore_replay_job *job, bool *slots, const bool **out,
                                 struct diag *d)
{
    *out = job->restore_args.n > 0 ? slots : NULL;
    for (size_t i = 0; i < job->restore_args.n; i++) {
        struct str word = str_of(job->restore_args.at[i]);
        int64_t slot = -1;
        if (str_equal(word, S("all")) || str_equal(word, S("none")))
            memset(slots, word.at[0] == 'a', SLOT_COUNT * sizeof(*slots));
        else if (num_i64(word, &slot) && slot >= 0 && slot < SLOT_LOCAL)
            slots[slot] = true;
        else
            return diag_fail(d, ST_FORMAT, "replay.bad-index", (struct where){0},
                             "--restore-arg %s: neither a slot from 0 to %d nor all or none",
                             job->restore_args.at[i], SLOT_LOCAL - 1);
    }
    return ST_OK;
}

/* The task's arguments from a dump; its other cores run what the dump says. */
static enum status take_dump(const struct incore_replay_job *job, struct incore_replay_result *r,
                             struct diag *d)
{
    bool restores[SLOT_COUNT] = {false};
    struct args_dump_job dump = {.folder = job->dump_dir,
                                 .task_id = job->task_id,
                                 .func_id = r->kernel.incore.func_id,
                                 .is_reliable = strcmp(job->platform, "a5") != 0};
    struct args_dump task;

    TRY(read_restores(job, restores, &dump.restores, d));
    TRY(args_dump(&r->arena, &dump, &task, &r->slots, d));
    if (task.task.n > 0)
        r->args_from = arena_printf(&r->arena, "task %.*s of %s", STR_ARGS(task.task), task.path);
    if (task.n_kernels > 1)
        incore_replay_cores(r, task.kernels, task.n_kernels);
    return ST_OK;
}

/* Where the arguments come from, in order of priority. */
static enum status find_slots(const struct incore_replay_job *job, struct incore_replay_result *r,
                              struct diag *d)
{
    const char *from = r->scene.file;
    bool in_scene = !args_has_recipe(&r->scene) && args_in_scene(&r->scene);
    bool has_other = in_scene || has_recipe(r) || job->write_arg_spec != NULL;
    enum status status = ST_OK;

    r->task = -1;
    if (job->arg_spec != NULL) {
        from = job->arg_spec;
        r->args_from = from;
        TRY(args_read(&r->arena, from, &r->slots, d));
    } else if (job->dump_dir != NULL) {
        from = job->dump_dir;
        r->args_from = from;
        TRY(take_dump(job, r, d));
    } else if (is_recordable(job, r) && try_record(job, r, !has_other, &status, d)) {
        ;
    } else if (status == ST_CANCELLED || (status != ST_OK && !has_other)) {
        diag_hint(d, "try", "--write-arg-spec FILE for a draft of the arguments to fill in");
        return status;
    } else if (in_scene) {
        r->args_from = "the scene file";
        TRY(args_scene(&r->arena, &r->scene, &r->slots, d));
    } else if (has_recipe(r)) {
        r->args_from = "a built-in recipe";
        TRY(args_recipe(&r->arena, &r->scene, &r->kernel, &r->slots, d));
    } else {
        r->args_from = "the kernel's source, guessed";
        TRY(draft_of(job, r, d));
    }
    for (size_t i = 0; i < job->set_args.n; i++)
        TRY(args_set(&r->arena, job->set_args.at[i], &r->slots, d));
    TRY(slots_check(&r->slots, from, d));
    struct str missing = slots_missing(&r->slots, &r->kernel, &r->arena);
    if (missing.n > 0)
        diag_add(d, SEV_WARN, "replay.unset", (struct where){.path = from},
                 "the kernel reads slots that no source sets; they are 0: %.*s", STR_ARGS(missing));
    return ST_OK;
}

/* Integers of zeros are loop bounds and tables as often as data. */
static void note_control(const struct incore_replay_result *r, struct diag *d)
{
    for (size_t i = 0; i < r->slots.n; i++) {
        const struct slot *s = &r->slots.at[i];
        if (s->is_tensor && !s->dtype->is_float && s->role == ROLE_INPUT &&
            str_equal(s->fill, S("zero")) &&
            (s->memory == NULL ||
             (s->memory->data.n == 0 && str_equal(s->memory->fill, S("zero")))))
            diag_add(d, SEV_NOTE, "replay.zero-control", (struct where){.path = r->scene.file},
                     "%.*s is all zeros: loops and addresses that depend on it collapse",
                     STR_ARGS(s->name));
    }
}

static enum status pick_folder(const struct incore_replay_job *job, struct incore_replay_result *r,
                               struct diag *d)
{
    struct str name = fs_safe_name(&r->arena, str_part(r->kernel.incore.name, 0, 80), '_');
    struct str one_case = fs_safe_name(&r->arena, str_part(r->scene.case_name, 0, 80), '_');

    r->ws.folder = job->out;
    for (int64_t later = 0; r->ws.folder == NULL || (job->out == NULL && fs_exists(r->ws.folder));
         later++)
        r->ws.folder =
            arena_printf(&r->arena, "strata-out/insight_trace_%.*s_%.*s_%s", STR_ARGS(one_case),
                         STR_ARGS(name), now_text(&r->arena, NOW_NAME, later));
    if (fs_exists(fs_join(&r->arena, r->ws.folder, "insight_trace_config.json")))
        return ST_OK; /* a workspace of ours, made anew */
    for (size_t i = 0; i < WORKSPACE_FILES; i++) {
        const char *path = fs_join(&r->arena, r->ws.folder, workspace_files[i]);
        if (fs_exists(path)) {
            diag_hint(d, "try", "another folder with --out");
            return diag_fail(d, ST_IO, "replay.exists", (struct where){.path = path},
                             "already exists and is not a workspace; not overwritten");
        }
    }
    return ST_OK;
}

static bool is_of_recipe(const struct incore_replay_result *r)
{
    return strcmp(r->args_from, "a built-in recipe") == 0;
}

static void fill_workspace(const struct incore_replay_job *job, struct incore_replay_result *r)
{
    const char *home = variable("HOME"), *isa = job->pto_isa_root;
    const char *cann = job->cann_home;
    struct workspace *ws = &r->ws;

    if (cann == NULL)
        cann = variable("CANN_HOME") != NULL ? variable("CANN_HOME") : variable("ASCEND_HOME_PATH");
    if (isa == NULL)
        isa = variable("PTO_ISA_ROOT");
    if (isa == NULL && home != NULL)
        isa = fs_join(&r->arena, home, "pto-isa");
    ws->module = r->scene.module;
    ws->runtime = job->runtime != NULL            ? job->runtime
                  : str_is_name(r->scene.runtime) ? arena_cstr(&r->arena, r->scene.runtime)
                                                  : "tensormap_and_ringbuffer";
    ws->case_name = r->scene.case_name;
    ws->kernel = &r->kernel;
    ws->slots = &r->slots;
    ws->soc = job->soc != NULL ? job->soc : ws->platform->soc;
    ws->cann_home = cann != NULL ? paths_absolute(&r->arena, cann) : "";
    ws->pto_isa_root = isa != NULL ? paths_absolute(&r->arena, isa) : "";
    ws->repo_root = paths_repository(&r->arena, r->scene.folder);
    if (ws->repo_root == NULL)
        ws->repo_root = r->scene.folder;
    if (r->task < 0)
        ws->blocks =
            is_of_recipe(r) ? spmd_blocks(&r->kernel, ws->platform, job->blocks) : job->blocks;
    ws->device = job->device;
    ws->launch_count = job->launch_count;
    ws->timeout_s = job->timeout_s;
    ws->sim_minutes = job->sim_minutes;
}

/* Kernels include headers of the runtime, which lie in a folder of its name. */
static void note_runtime(const struct incore_replay_result *r, struct diag *d)
{
    struct str named = r->scene.runtime;

    if (named.n > 0 && !str_equal(named, str_of(r->ws.runtime)))
        diag_add(d, SEV_WARN, "replay.runtime", (struct where){.path = r->scene.file},
                 "the scene uses runtime %.*s, the workspace %s (--runtime)", STR_ARGS(named),
                 r->ws.runtime);
}

static enum status make_workspace(const struct incore_replay_job *job,
                                  struct incore_replay_result *r, struct diag *d)
{
    if (job->module == NULL || job->case_name == NULL)
        return diag_fail(d, ST_NOT_FOUND, "replay.no-module", (struct where){0},
                         "simpler backend requires test_module and --case");
    r->ws.platform = platform_find(str_of(job->platform));
    if (r->ws.platform == NULL)
        return diag_fail(d, ST_UNSUPPORTED, "replay.platform", (struct where){0},
                         "Unknown platform family: '%s'", job->platform);
    TRY(incore_replay_scene(job, r, d));
    TRY(kernel_select(&r->scene, &job->choice, &r->kernel, d));
    TRY(find_slots(job, r, d));
    if (job->write_arg_spec != NULL) {
        return args_save(job->write_arg_spec, &r->slots, &r->arena, &r->wrote, d);
    }
    TRY(scene_check_platform(&r->scene, str_of(job->platform), &r->arena, d));
    if (is_of_recipe(r))
        TRY(spmd_find(&r->kernel, r->ws.platform, &r->ws.spmd, d));
    else
        r->ws.spmd = spmd_plain(r->task >= 0 ? r->ws.blocks : job->blocks);
    TRY(pick_folder(job, r, d));
    fill_workspace(job, r);
    note_runtime(r, d);
    note_control(r, d);
    TRY(workspace_write(&r->ws, d));
    r->workspace = r->ws.folder;
    r->has_kernel = true;
    for (size_t i = 0; i < WORKSPACE_FILES; i++)
        vec_push(&r->wrote, fs_join(&r->arena, r->workspace, workspace_files[i]));
    return ST_OK;
}

/* The vendor's simulator where it is, else the embedded one. */
static bool wants_msprof(const struct incore_replay_job *job, struct incore_replay_result *r)
{
    if (job->backend != REPLAY_AUTO)
        return job->backend == REPLAY_MSPROF;
    return job->pto == NULL &&
           (fs_find_program(&r->arena, "msprof") != NULL || fs_is_dir(r->ws.cann_home));
}

static enum status run_workspace(const struct incore_replay_job *job,
                                 struct incore_replay_result *r, struct diag *d)
{
    if (wants_msprof(job, r))
        return incore_replay_msprof(job, r, d);
    if (job->pto != NULL || r->kernel.is_runnable)
        return incore_replay_sim(job, r, d);
    struct where where = {.path = r->kernel.incore.path};
    if (job->backend == REPLAY_AUTO) {
        diag_add(d, SEV_WARN, "replay.not-run", where,
                 "nothing was simulated: msprof is not installed, and for the built-in simulator "
                 "the kernel must include pto/pto-inst.hpp or be given as PTO text (--pto)");
        return ST_OK;
    }
    diag_hint(d, "try", "--pto with the kernel as PTO text, or --backend msprof");
    return diag_fail(d, ST_UNSUPPORTED, "replay.no-pto", where,
                     "the kernel does not include pto/pto-inst.hpp; the workspace was written");
}

enum status incore_replay_run(const struct incore_replay_job *job, struct diag *d,
                              struct incore_replay_result *out)
{
    *out = (struct incore_replay_result){0};
    arena_init(&out->arena);
    if (job->is_ptoas)
        return incore_replay_ptoas(job, out, d);
    TRY(make_workspace(job, out, d));
    return job->is_dry || job->write_arg_spec ? ST_OK : run_workspace(job, out, d);
}

void incore_replay_result_free(struct incore_replay_result *r)
{
    vec_free(&r->slots);
    vec_free(&r->wrote);
    vec_free(&r->includes);
    if (r->has_graph)
        graph_free(&r->graph);
    arena_free(&r->arena);
}

static const struct field replay_fields[] = {
    FIELD(struct incore_replay_result, workspace, "workspace"),
    FIELD(struct incore_replay_result, simulator, "simulator"),
    FIELD(struct incore_replay_result, backend, "backend"),
    FIELD(struct incore_replay_result, kernel.incore.name, "kernel",
          WHEN(struct incore_replay_result, has_kernel)),
    FIELD(struct incore_replay_result, kernel.incore.func_id, "func_id",
          WHEN(struct incore_replay_result, has_kernel)),
    FIELD_OF_ENUM(struct incore_replay_result, kernel.shape, "shape", shape_name, 3,
                  WHEN(struct incore_replay_result, has_kernel)),
    FIELD(struct incore_replay_result, ws.blocks, "hw_block_num",
          WHEN(struct incore_replay_result, has_kernel)),
    FIELD(struct incore_replay_result, args_from, "args_from",
          WHEN(struct incore_replay_result, has_kernel)),
    FIELD(struct incore_replay_result, task, "task", .missing = MISSING_NEGATIVE,
          WHEN(struct incore_replay_result, has_kernel)),
    FIELD_LIST(struct incore_replay_result, slots.at, slots.n, "args", &slot_told_record,
               WHEN(struct incore_replay_result, has_kernel)),
    FIELD(struct incore_replay_result, cycles, "cycles", .missing = MISSING_NOT_POSITIVE),
};
static const struct record replay_record = RECORD(struct incore_replay_result, replay_fields);

const struct schema incore_replay_schema = {
    .name = "strata.incore-replay/1",
    .title = "a kernel launched alone",
    .record = &replay_record,
};
