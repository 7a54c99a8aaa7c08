/*
 * Every kernel of a build in turn or side by side; each ends as a row of the index.
 */
#include "kernels/incore/incore_run_job.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/run/cancel.h"
#include "base/run/pool.h"
#include "base/tables/intern.h"
#include "kernels/incore/incore_run.h"

enum status incore_run_private(const char *path, struct diag *d)
{
    TRY(fs_mkdir_own(path, d));
    if (chmod(path, 0700) != 0)
        return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = path}, "%s",
                         fs_error_text(errno));
    return ST_OK;
}

struct pipeline {
    struct incore_run *run;
    struct incore_run_result *result;
    struct run_rows old;
    struct intern names; /* of `index`: names of kernels, in its order */
    struct run_rows
        index; /* what the files tell: `old`, with the rows of `result` in their place */
    struct incore_kernel *slots;
    size_t next;
    bool is_serial;
    enum status status;
    struct diag *d;
};

static const struct run_row *job_row_of(const struct pipeline *p, const char *func)
{
    strid id = intern_find(&p->names, str_of(func));

    return id <= p->old.n ? &p->old.at[id - 1] : NULL;
}

/* Rows of kernels that are not run now stay, so that nothing is lost when a run is gone on with:
 * those come first, the others in the order of the run. */
static void job_begin_index(struct pipeline *p)
{
    size_t n = 0;

    intern_init(&p->names);
    for (size_t i = 0; i < p->old.n; i++)
        if (intern_put(&p->names, str_of(p->old.at[i].func)) == n + 1)
            p->old.at[n++] = p->old.at[i];
    p->old.n = n;
    for (size_t i = 0; i < n; i++)
        vec_push(&p->index, p->old.at[i]);
    for (size_t i = 0; i < p->run->kernels.n; i++)
        intern_put(&p->names, str_of(p->run->kernels.at[i].name));
}

static void job_index(struct pipeline *p, const struct run_row *row)
{
    strid id = intern_find(&p->names, str_of(row->func));

    if (id <= p->index.n)
        p->index.at[id - 1] = *row;
    else
        vec_push(&p->index, *row);
}

static bool next_kernel(void *ctx, size_t slot)
{
    struct pipeline *p = ctx;

    if (p->next >= p->run->kernels.n || cancelled())
        return false;
    incore_kernel_begin(&p->slots[slot], &p->run->kernels.at[p->next], p->next + 1);
    p->slots[slot].says_now = p->is_serial;
    p->next++;
    return true;
}

static void work_kernel(void *ctx, size_t slot)
{
    struct pipeline *p = ctx;
    struct incore_kernel *k = &p->slots[slot];

    incore_run_kernel(p->run, k, job_row_of(p, k->source->name));
}

static void job_say(const struct incore_run *run, const char *line)
{
    if (run->job->say != NULL)
        run->job->say(run->job->say_ctx, line);
}

static void print_result(const struct incore_run *run, struct incore_kernel *k)
{
    const struct run_row *r = &k->row;
    bool is_exported = run_row_is_exported(r);
    bool has_warning = is_exported && !run_row_is_quiet(r);
    struct arena *a = &k->arena;

    for (size_t i = 0; i < k->lines.n; i++)
        job_say(run, k->lines.at[i]);
    if (!is_exported) {
        job_say(run, arena_printf(a, "[%02zu/%02zu] FAILED %s: %s: %s", k->number, run->kernels.n,
                                  r->func, r->status, r->message != NULL ? r->message : ""));
    } else {
        job_say(run, arena_printf(a,
                                  "[%02zu/%02zu] %s %s: artifacts=%lld core_traces=%lld "
                                  "instr_csv=%lld (from collect)%s%s",
                                  k->number, run->kernels.n, has_warning ? "WARN" : "OK", r->func,
                                  (long long)r->artifact_count, (long long)r->core_trace_count,
                                  (long long)r->instr_csv_count, has_warning ? " -- " : "",
                                  has_warning ? r->message : ""));
    }
    for (size_t i = 0; i < r->n_hints; i++)
        job_say(run, arena_printf(a, "        hint: %s", r->hints[i]));
}

/* A row that equals the old one down to the time it took was copied from the index of the run
 * that is resumed: it is counted, not printed again. */
static bool merge_kernel(void *ctx, size_t slot)
{
    struct pipeline *p = ctx;
    struct incore_kernel *k = &p->slots[slot];
    const struct run_row *old = job_row_of(p, k->source->name);
    bool was_done = old != NULL && k->row.duration_sec == old->duration_sec &&
                    run_row_is_exported(&k->row) && k->row.hash == old->hash;

    if (cancelled()) {
        p->status = ST_CANCELLED;
        return false;
    }
    if (was_done)
        p->result->resumed++;
    else
        print_result(p->run, k);
    vec_push(&p->result->rows, run_row_keep(&k->row, &p->result->arena));
    job_index(p, &p->result->rows.at[p->result->rows.n - 1]);
    bool is_failed = !run_row_is_exported(&k->row);
    incore_kernel_end(k);
    p->status = run_index_write(p->run->run_root, p->result->backend, &p->index, p->d);
    progress_tick(p->run->job->progress, "kernels", p->result->rows.n, p->run->kernels.n);
    return p->status == ST_OK && (p->run->job->keep_going || !is_failed);
}

static enum status run_all(struct incore_run *run, struct pipeline *p)
{
    static const struct pool_pipe steps = {next_kernel, work_kernel, merge_kernel};
    size_t jobs = run->job->jobs > 0 ? (size_t)run->job->jobs : pool_default_width();
    struct pool *pool = pool_new(run->kernels.n < jobs ? run->kernels.n : jobs);
    size_t slots = pool_width(pool) * 2;

    p->is_serial = pool_width(pool) == 1;
    p->slots = ARENA_ARRAY(run->arena, struct incore_kernel, slots);
    progress_tick(run->job->progress, "kernels", 0, run->kernels.n);
    pool_pipe(pool, slots, &steps, p);
    pool_free(pool);
    for (size_t i = 0; i < slots; i++) /* begun, but nobody wants them any more */
        if (p->slots[i].source != NULL) {
            if (p->slots[i].folder != NULL)
                remove_tree(p->slots[i].folder);
            incore_kernel_end(&p->slots[i]);
        }
    return cancelled() ? ST_CANCELLED : p->status;
}

enum status incore_run_list(struct incore_run_job *job, struct arena *arena,
                            struct kernel_sources *out, struct diag *d)
{
    if (job->find.build_dir == NULL)
        TRY(incore_run_case(job, arena, d));
    if (job->find.source_glob == NULL && !fs_is_dir(job->find.build_dir))
        return diag_fail(d, ST_NOT_FOUND, "incore-run.no-build",
                         (struct where){.path = job->find.build_dir}, "no such build folder");
    return discover_kernels(&job->find, arena, out, d);
}

static enum status job_prepare(struct incore_run *run, struct incore_run_job *job,
                               struct incore_run_result *result, struct pipeline *p, struct diag *d)
{
    TRY(incore_run_list(job, run->arena, &run->kernels, d));
    run->backend = run->job->backend;
    if (run->backend != INCORE_SIM)
        run->set_env = cann_find_set_env(run->arena, run->job->cann_set_env);
    if (run->backend == INCORE_AUTO)
        run->backend = run->set_env != NULL ? INCORE_MSPROF : INCORE_SIM;
    result->backend = run->backend == INCORE_SIM ? "sim" : "msprof";
    result->planned = run->kernels.n;
    TRY(incore_run_survey(run, d));
    if (run->backend == INCORE_MSPROF)
        TRY(incore_run_toolchain(run, d));
    else
        run->soc = job->soc;
    TRY(incore_run_open_root(run, run->arena, &p->old, d));
    result->planned = run->kernels.n;
    result->run_root = run->run_root;
    struct fs_list list = {0};
    if (fs_list(run->arena, run->funcs, &list, NULL) != ST_OK)
        list.n = 0;
    for (size_t i = 0; i < list.n; i++)
        if (fs_is_leftover(list.at[i].name))
            remove_tree(list.at[i].path);
    return incore_run_write_readme(run, d);
}

enum status incore_run_run(struct incore_run_job *job, struct diag *d,
                           struct incore_run_result *result)
{
    *result = (struct incore_run_result){.backend = "sim"};
    arena_init(&result->arena);
    struct incore_run run = {.job = job, .arena = &result->arena};
    struct pipeline p = {.run = &run, .result = result, .d = d};
    enum status st = job_prepare(&run, job, result, &p, d);
    if (st == ST_OK) {
        job_begin_index(&p);
        run.costs = pto_costs_new();
        st = run_all(&run, &p);
        pto_costs_free(run.costs);
        intern_fini(&p.names);
    }
    vec_free(&p.index);
    vec_free(&p.old);
    vec_free(&run.earlier);
    return st;
}

void incore_run_result_free(struct incore_run_result *result)
{
    vec_free(&result->rows);
    arena_free(&result->arena);
}

static struct field_value exported_of(const void *record, const struct record_env *env)
{
    (void)env;
    return value_uint(run_rows_exported(&((const struct incore_run_result *)record)->rows));
}

static const struct field run_fields[] = {
    FIELD(struct incore_run_result, run_root, "run_root"),
    FIELD(struct incore_run_result, backend, "backend"),
    FIELD(struct incore_run_result, planned, "planned"),
    FIELD_CALC(FIELD_U64, "exported", exported_of),
    FIELD(struct incore_run_result, resumed, "resumed"),
    FIELD_LIST(struct incore_run_result, rows.at, rows.n, "kernels", &run_row_record),
};
static const struct record run_record = RECORD(struct incore_run_result, run_fields);

const struct schema incore_run_schema = {
    .name = "strata.incore-run/1",
    .title = "kernels of a build, run on the core simulator",
    .record = &run_record,
};
