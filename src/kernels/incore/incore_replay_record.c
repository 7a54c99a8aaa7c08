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
                     "task %s is none of this kernel; its tasks are %.*s%s", job->task_id,
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
static void take_cores(struct incore_replay_result *r)
{
    const struct task_graph *g = &r->graph;
    const struct graph_task *t = &g->tasks.at[r->task];
    const struct graph_incore *of[GRAPH_CORES];
    struct workspace_cores *cores = &r->ws.cores;

    for (size_t i = 0; i < GRAPH_CORES; i++) {
        of[i] = incore_of(g, t, i);
        add_includes(r, of[i]);
    }
    r->ws.has_cores = true;
    *cores = (struct workspace_cores){.cube = of[0] != NULL ? of[0]->source : NULL,
                                      .vector = of[1] != NULL ? of[1]->source : NULL};
    if (of[2] != NULL && of[1] == NULL)
        cores->vector = of[2]->source;
    else if (of[2] != NULL && strcmp(of[2]->source, of[1]->source) != 0)
        cores->second = of[2]->source;
    r->kernel.shape = cores->cube == NULL && of[2] == NULL     ? SHAPE_AIV
                      : cores->vector == NULL                  ? SHAPE_AIC
                                                               : SHAPE_MIX;
}

enum status incore_replay_record(const struct incore_replay_job *job,
                                 struct incore_replay_result *r, struct diag *d)
{
    struct graph_job graph = {.module = job->module,
                              .case_name = r->scene.case_name,
                              .arch = str_of(job->platform),
                              .is_trusted = job->is_trusted};
    int64_t *tasks;

    r->has_graph = true;
    TRY(graph_record(&graph, &r->graph, d));
    if (job->write_graph != NULL) {
        TRY(record_save(job->write_graph, graph_schema.record, &r->graph, d));
        vec_push(&r->wrote, job->write_graph);
    }
    r->n_tasks = graph_tasks_of(&r->graph, r->kernel.incore.path, r->kernel.incore.func_id,
                                &r->arena, &tasks);
    if (r->n_tasks == 0)
        return diag_fail(d, ST_NOT_FOUND, "replay.not-submitted",
                         (struct where){.path = r->scene.file},
                         "in this case the scene submits %zu tasks, but none of %.*s",
                         r->graph.tasks.n, STR_ARGS(r->kernel.incore.name));
    TRY(choose_task(job, r, tasks, r->n_tasks, d));
    const struct graph_task *t = &r->graph.tasks.at[r->task];
    graph_slots(&r->graph, r->task, &r->graph.arena, &r->slots);
    take_cores(r);
    r->ws.blocks = t->blocks;
    r->args_from = arena_printf(
        &r->arena, "task %lld of %zu that the scene submits, one of %zu of this kernel (%s:%u)",
        (long long)r->task, r->graph.tasks.n, r->n_tasks,
        arena_cstr(&r->arena, str_basename(t->file)), t->line);
    if (t->reads_results)
        diag_add(d, SEV_WARN, "replay.reads-results", (struct where){.path = r->scene.file},
                 "the orchestration reads what kernels would have written before it submits this "
                 "task: it was recorded with zeros there");
    return ST_OK;
}
