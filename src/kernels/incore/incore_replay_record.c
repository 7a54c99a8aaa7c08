/*
 * The arguments of a kernel as its scene gives them: the orchestration is run and listened to.
 */
#include <stdlib.h>

#include "base/files/fs.h"
#include "kernels/incore/incore_replay_job.h"
#include "kernels/replay/paths.h"
#include "report/record_file.h"

/* The task that was asked for, by its number in the graph; else the usual one. */
static enum status choose_task(const struct incore_replay_job *job, struct incore_replay_result *r,
                               const int64_t *tasks, size_t n, struct diag *d)
{
    int64_t wanted = -1;

    r->task = graph_usual(&r->graph, tasks, n);
    if (job->task_id == NULL)
        return ST_OK;
    uint64_t hex;
    if (!num_i64(str_of(job->task_id), &wanted) && num_hex(str_of(job->task_id), &hex))
        wanted = (int64_t)hex;
    for (size_t i = 0; i < n; i++)
        if (tasks[i] == wanted) {
            r->task = wanted;
            return ST_OK;
        }
    struct str some = S("");
    for (size_t i = 0; i < n && i < 8; i++)
        some = arena_format(&r->arena, "%.*s%s%lld", STR_ARGS(some), i > 0 ? ", " : "",
                            (long long)tasks[i]);
    return diag_fail(d, ST_NOT_FOUND, "replay.no-task", (struct where){.path = r->scene.file},
                     "task %s is not one of this kernel; its tasks are %.*s%s", job->task_id,
                     STR_ARGS(some), n > 8 ? ", .." : "");
}

static const struct graph_incore *incore_of(const struct task_graph *g, const struct graph_task *t,
                                            size_t core)
{
    const struct graph_callable *c = &g->callables[g->runs.at[t->run].callable];

    return t->kernels[core] >= 0 ? &c->incores[t->kernels[core]] : NULL;
}

/* "$ASCEND_HOME_PATH/include" and the like: what is not set or not there is left out, as where the
 * scene is at home. */
static void add_includes(struct incore_replay_result *r, const struct graph_incore *incore)
{
    for (size_t i = 0; incore != NULL && i < incore->n_include_dirs; i++) {
        struct str dir = incore->include_dirs[i];
        if (dir.n > 1 && dir.at[0] == '$') {
            size_t slash = str_find_char(dir, '/');
            const char *value = getenv(arena_cstr(&r->arena, str_part(dir, 1, slash - 1)));
            if (value == NULL)
                continue;
            dir = arena_format(&r->arena, "%s%.*s", value, STR_ARGS(str_part(dir, slash, dir.n)));
        }
        const char *path = arena_cstr(&r->arena, dir);
        if (fs_is_dir(path))
            vec_push(&r->includes, path);
    }
}

/* The sources of the task: it may be more than the kernel that was asked for. */
static void take_cores(struct incore_replay_result *r, const char *cube, const char *vector,
                       const char *second)
{
    struct workspace_cores *cores = &r->ws.cores;
    bool is_pair = vector != NULL && second != NULL;

    r->ws.has_cores = true;
    *cores = (struct workspace_cores){.cube = cube, .vector = vector != NULL ? vector : second};
    if (is_pair && strcmp(vector, second) != 0)
        cores->second = second;
    r->kernel.shape = cube == NULL && second == NULL ? SHAPE_AIV
                      : cores->vector == NULL        ? SHAPE_AIC
                                                     : SHAPE_MIX;
}

static void take_task(struct incore_replay_result *r)
{
    const struct task_graph *g = &r->graph;
    const struct graph_task *t = &g->tasks.at[r->task];
    const char *sources[GRAPH_CORES];

    for (size_t i = 0; i < GRAPH_CORES; i++) {
        const struct graph_incore *one = incore_of(g, t, i);
        add_includes(r, one);
        sources[i] = one != NULL ? one->source : NULL;
    }
    vec_push(&r->includes, r->scene.folder); /* headers may be anywhere in the scene */
    take_cores(r, sources[0], sources[1], sources[2]);
}

void incore_replay_cores(struct incore_replay_result *r, const int64_t *func_ids, size_t n)
{
    const char *sources[GRAPH_CORES] = {NULL};
    size_t used = 1;

    for (size_t i = 0; i < n; i++) {
        const struct scene_incore *one = NULL;
        for (size_t k = 0; k < r->scene.n_incores && one == NULL; k++)
            if (r->scene.incores[k].func_id == func_ids[i])
                one = &r->scene.incores[k];
        if (one == NULL)
            continue;
        if (i == 0 && str_equal(one->core_type, S("aic")))
            sources[0] = one->path;
        else if (used < GRAPH_CORES)
            sources[used++] = one->path;
    }
    take_cores(r, sources[0], sources[1], sources[2]);
}

static enum status record_once(const struct incore_replay_job *job, struct incore_replay_result *r,
                               struct diag *d)
{
    struct graph_job graph = {.module = job->module,
                              .case_name = str_of(job->case_name),
                              .arch = str_of(job->platform),
                              .limit_ms = job->timeout_s * 1000,
                              .is_trusted = job->is_trusted};

    if (r->has_graph)
        return ST_OK;
    r->has_graph = true;
    return graph_record(&graph, &r->graph, d);
}

/* The scene of a module that computes what it has: its kernels are those of the record. */
static void scene_of(const struct incore_replay_job *job, struct incore_replay_result *r)
{
    const struct task_graph *g = &r->graph;
    struct scene *scene = &r->scene;
    struct arena *a = &r->arena;
    size_t n = 0;

    *scene = (struct scene){.file = job->module,
                            .module = paths_absolute(a, job->module),
                            .runtime = g->runtime,
                            .class_name = g->scene,
                            .case_name = g->case_name,
                            .platforms = g->platforms,
                            .n_platforms = g->n_platforms};
    scene->folder = paths_folder(a, scene->module);
    for (size_t i = 0; i < g->n_callables; i++)
        n += g->callables[i].n_incores;
    scene->incores = ARENA_ARRAY(a, struct scene_incore, n);
    for (size_t i = 0; i < g->n_callables; i++)
        for (size_t k = 0; k < g->callables[i].n_incores; k++) {
            const struct graph_incore *one = &g->callables[i].incores[k];
            scene->incores[scene->n_incores++] =
                (struct scene_incore){.func_id = one->func_id,
                                      .name = one->name,
                                      .source = str_of(one->source),
                                      .path = paths_absolute(a, one->source),
                                      .core_type = one->core_type};
        }
}

void incore_replay_not_recorded(const struct incore_replay_result *r, const struct diag *why,
                                enum severity severity, struct diag *d)
{
    const struct diag_entry *e = NULL;

    for (size_t i = 0; i < why->entries.n; i++)
        if (why->entries.at[i].severity == SEV_ERROR)
            e = &why->entries.at[i];
    diag_add(d, severity, "replay.not-recorded", (struct where){.path = r->scene.file},
             "the scene could not be run for its arguments: %s", e != NULL ? e->first[0].text : "");
}

enum status incore_replay_scene(const struct incore_replay_job *job, struct incore_replay_result *r,
                                struct diag *d)
{
    struct diag own, other;

    diag_init(&own);
    diag_init(&other);
    enum status status =
        scene_read(&r->arena, job->module, str_of(job->case_name), &r->scene, &own);
    if (status != ST_OK && status != ST_IO && status != ST_LIMIT && job->records &&
        !str_ends(str_of(job->module), S(".json"))) {
        enum status recorded = record_once(job, r, &other);
        if (recorded == ST_OK)
            scene_of(job, r);
        else if (status == ST_UNSUPPORTED) /* what is missing here helps as well as a scene file */
            incore_replay_not_recorded(r, &other, SEV_WARN, d);
        status = recorded == ST_OK || recorded == ST_CANCELLED ? recorded : status;
    }
    if (status != ST_OK || !r->has_graph)
        diag_merge(d, &own);
    diag_fini(&own);
    diag_fini(&other);
    return status;
}

/* The arguments of the kernel from a record of its scene, which is made once. */
enum status incore_replay_record(const struct incore_replay_job *job,
                                 struct incore_replay_result *r, struct diag *d)
{
    int64_t *tasks;

    TRY(record_once(job, r, d));
    if (job->write_graph != NULL) {
        TRY(record_save(job->write_graph, graph_schema.record, &r->graph, d));
        vec_push(&r->wrote, job->write_graph);
    }
    r->n_tasks = graph_tasks_of(&r->graph, r->kernel.incore.path, r->kernel.incore.func_id,
                                &r->arena, &tasks);
    if (r->n_tasks == 0)
        return diag_fail(
            d, ST_NOT_FOUND, "replay.not-submitted", (struct where){.path = r->scene.file},
            "in this case the scene submits %zu task%s, but none of %.*s", r->graph.tasks.n,
            r->graph.tasks.n == 1 ? "" : "s", STR_ARGS(r->kernel.incore.name));
    TRY(choose_task(job, r, tasks, r->n_tasks, d));
    const struct graph_task *t = &r->graph.tasks.at[r->task];
    graph_slots(&r->graph, r->task, &r->graph.arena, &r->slots);
    take_task(r);
    r->ws.blocks = t->blocks;
    r->args_from = arena_printf(
        &r->arena,
        "task %lld of 0 to %zu that the scene submits, one of %zu of this kernel (%s:%u)",
        (long long)r->task, r->graph.tasks.n - 1, r->n_tasks,
        arena_cstr(&r->arena, str_basename(t->file)), t->line);
    if (t->reads_results)
        diag_add(d, SEV_WARN, "replay.reads-results", (struct where){.path = r->scene.file},
                 "the orchestration reads what kernels would have written before it submits this "
                 "task: it was recorded with zeros there");
    return ST_OK;
}
