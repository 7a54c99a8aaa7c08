#include "flow/flow_incore_run.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/incore_lint.h"
#include "base/cancel.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/mapfile.h"
#include "base/pool.h"
#include "flow/flow_incore_clean.h"
#include "flow/incore_run.h"

/* ---- small things ---- */

const char *incore_run_stamp(struct arena *arena, int64_t later)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char text[32];
    int64_t second;
    struct tm parts = {0};
    bool is_given = epoch != NULL && num_i64(str_of(epoch), &second) && second >= 0 &&
                    second < (int64_t)1 << 40;
    time_t t = (time_t)((is_given ? second : (int64_t)time(NULL)) + later);

    if (is_given)
        gmtime_r(&t, &parts);
    else
        localtime_r(&t, &parts);
    strftime(text, sizeof(text), "%Y%m%d_%H%M%S", &parts);
    return arena_cstr(arena, str_of(text));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

void incore_run_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

enum status incore_run_private(const char *path, struct diag *d)
{
    TRY(fs_mkdirs(path, d));
    if (chmod(path, 0700) != 0)
        return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = path}, "%s",
                         fs_error_text(errno));
    return ST_OK;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void incore_kernel_step(const struct incore_run *run, struct incore_kernel *k, const char *step)
{
    const char *line = arena_format(&k->arena, "[%02zu/%02zu] %s %s", k->number, run->kernels.n,
                                    step, k->source->name)
                           .at;

    if (k->says_now && run->job->say != NULL)
        run->job->say(run->job->say_ctx, line);
    else
        vec_push(&k->lines, line);
}

/* Whether `name` means argument `i`: by its name in the text or the source, or by its number. */
bool incore_kernel_names(const struct incore_kernel *k, struct str name, size_t i)
{
    int64_t number;

    if (name.n > 0 && name.at[0] == '%')
        name = str_part(name, 1, name.n);
    if (i < k->sizes.n && str_equal(k->sizes.args[i].name, name))
        return true;
    if (k->has_entry && i < k->entry.n_params && str_equal(k->entry.params[i].name, name))
        return true;
    return num_i64(name, &number) && number >= 0 && (uint64_t)number == i;
}

struct str incore_kernel_given(const struct incore_kernel *k, const struct incore_given *list,
                               size_t i)
{
    struct str value = {0};

    for (size_t n = 0; n < list->n; n++) {
        struct str text = str_of(list->at[n]);
        size_t equal = str_find_char(text, '=');
        if (incore_kernel_names(k, str_part(text, 0, equal), i))
            value = str_part(text, equal + 1, text.n);
    }
    return value;
}

const char *incore_kernel_error(struct incore_kernel *k)
{
    for (size_t i = 0; i < k->diag.entries.n; i++) {
        const struct diag_entry *e = &k->diag.entries.at[i];
        const struct diag_text *t = &e->first[0];
        if (e->severity != SEV_ERROR)
            continue;
        if (t->where.path == NULL)
            return arena_cstr(&k->arena, str_of(t->text));
        if (t->where.line == 0)
            return arena_format(&k->arena, "%s: %s", t->where.path, t->text).at;
        bool has_column = strncmp(t->text, "column ", 7) == 0;
        return arena_format(&k->arena, "%s:%llu:%s%s", t->where.path,
                            (unsigned long long)t->where.line, has_column ? "" : " ",
                            t->text + (has_column ? 7 : 0))
            .at;
    }
    return cancelled() ? "interrupted" : "failed without a word";
}

/* ---- reading the kernels' texts ---- */

enum status incore_kernel_open(struct incore_kernel *k, struct incore_texts *t)
{
    const struct kernel_source *s = k->source;

    *t = (struct incore_texts){0};
    if (s->pto != NULL) {
        TRY(mapfile_open(&t->pto, s->pto, &k->diag));
        if (t->pto.text.n > LIMIT_PTO_BYTES)
            return diag_fail(&k->diag, ST_LIMIT, "incore-run.too-large",
                             (struct where){.path = s->pto},
                             "%zu MB are no kernel: texts of up to %d MB are read",
                             t->pto.text.n >> 20, LIMIT_PTO_BYTES >> 20);
        k->text = t->pto.text;
    }
    if (s->cpp != NULL) {
        struct diag own;
        diag_init(&own);
        TRY(mapfile_open(&t->cpp, s->cpp, &k->diag));
        if (t->cpp.text.n <= LIMIT_PTO_BYTES) {
            k->cpp = t->cpp.text;
            k->has_entry = entry_find(&k->arena, k->cpp, s->cpp, &k->entry, &own) == ST_OK;
        }
        diag_fini(&own);
    }
    gm_text_scan(&k->arena, k->text, k->has_entry ? k->entry.name : str_of(s->stem), &k->sizes);
    return ST_OK;
}

void incore_kernel_close(struct incore_texts *t)
{
    mapfile_close(&t->pto);
    mapfile_close(&t->cpp);
}

/* A path that means the same from everywhere. */
static const char *from_root(struct arena *arena, const char *path)
{
    char here[PATH_MAX];

    return path[0] == '/' || getcwd(here, sizeof(here)) == NULL ? path : fs_join(arena, here, path);
}

void incore_kernel_begin(struct incore_kernel *k, const struct kernel_source *s, size_t number)
{
    *k = (struct incore_kernel){.source = s, .number = number};
    arena_init(&k->arena);
    diag_init(&k->diag);
    k->row = (struct run_row){.func = s->name,
                              .status = "failed",
                              .source = from_root(&k->arena, s->path),
                              .intensity = -1};
}

void incore_kernel_end(struct incore_kernel *k)
{
    vec_free(&k->lines);
    diag_fini(&k->diag);
    arena_free(&k->arena);
    k->source = NULL;
}

/* ---- one kernel ---- */

/* A name for a folder in funcs/: hidden names are ours. */
static const char *folder_name(struct arena *arena, const char *name)
{
    return name[0] == '.' ? arena_format(arena, "_%s", name).at : name;
}

/* Everything that decides the results: texts, options, data. */
static const char *hash_of(const struct incore_run *run, struct incore_kernel *k)
{
    const struct incore_run_job *job = run->job;
    const struct incore_given *lists[] = {&job->args, &job->inputs, &job->fills, &job->dims};
    uint64_t h = hash_mix(hash_bytes(k->text), hash_bytes(k->cpp));

    h = hash_mix(h, hash_bytes(str_of(run->target)));
    h = hash_mix(h, hash_bytes(str_of(run->soc != NULL ? run->soc : "")));
    h = hash_mix(h, (uint64_t)run->backend * 2 + job->allow_synthetic);
    h = hash_mix(h, (uint64_t)job->launch_count);
    h = hash_mix(h, hash_bytes(S(STRATA_VERSION)));
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (size_t i = 0; i < lists[l]->n; i++)
            h = hash_mix(h, hash_bytes(str_of(lists[l]->at[i])) + l);
    for (size_t i = 0; i < job->inputs.n; i++) {
        struct str text = str_of(job->inputs.at[i]);
        struct mapfile map = {0};
        struct diag own;
        diag_init(&own);
        const char *path =
            arena_cstr(&k->arena, str_part(text, str_find_char(text, '=') + 1, text.n));
        if (mapfile_open(&map, path, &own) == ST_OK)
            h = hash_mix(h, hash_bytes(map.text));
        mapfile_close(&map);
        diag_fini(&own);
    }
    return arena_format(&k->arena, "%016llx", (unsigned long long)h).at;
}

static bool is_lint_clean(const char *path)
{
    struct incore_lint lint;
    struct mapfile map;
    struct diag own;
    bool is_clean = false;

    if (path == NULL || path[0] == '\0')
        return false;
    diag_init(&own);
    if (mapfile_open(&map, path, &own) == ST_OK) {
        incore_lint_init(&lint);
        incore_lint_check(&lint, map.text, (struct lint_file){.size = map.text.n});
        is_clean = incore_lint_opens(&lint);
        incore_lint_fini(&lint);
        mapfile_close(&map);
    }
    diag_fini(&own);
    return is_clean;
}

static bool is_done(const struct incore_kernel *k, const struct run_row *old)
{
    return old != NULL && run_row_is_exported(old) && old->hash != NULL &&
           strcmp(old->hash, k->row.hash) == 0 && is_lint_clean(old->visualize_data_bin) &&
           is_lint_clean(old->trace_json);
}

static const struct run_row *row_of(const struct run_rows *rows, const char *func)
{
    for (size_t i = 0; i < rows->n; i++)
        if (strcmp(rows->at[i].func, func) == 0)
            return &rows->at[i];
    return NULL;
}

static void clean_kernel(const struct incore_run *run, struct incore_kernel *k)
{
    struct incore_clean_result result;
    struct incore_clean_job job = {
        .path = k->row.visualize_data_bin,
        .out = run->job->output_root != NULL ? run->job->output_root : run->job->find.build_dir,
        .copy_raw = true,
        .kernel = folder_name(&k->arena, k->source->name),
        .source = k->source->path,
        .workload = k->row.workload,
        .soc = k->chip != NULL ? k->chip : run->soc,
        .mhz = k->mhz,
        .target = run->target,
        .simulator = run->backend == INCORE_SIM ? "strata-sim " STRATA_VERSION : "msprof",
        .command = run->job->command,
    };

    if (flow_incore_clean(&job, &k->diag, &result) != ST_OK)
        run_row_check(&k->row,
                      arena_format(&k->arena, "not cleaned: %s", incore_kernel_error(k)).at);
    incore_clean_result_free(&result);
}

/* Gives the whole folder its name and notes what is in it. */
static void finish_kernel(struct incore_run *run, struct incore_kernel *k)
{
    if (!fs_is_dir(k->folder))
        return;
    incore_run_remove(k->final);
    if (rename(k->folder, k->final) != 0) {
        k->row.status = "failed";
        k->row.message = arena_format(&k->arena, "%s: %s", k->final, fs_error_text(errno)).at;
        return;
    }
    const char *collect = fs_join(&k->arena, k->final, "collect");
    const char *out = fs_join(&k->arena, collect, "out");
    k->row.collect_dir = collect;
    if (k->row.export_dir == NULL) {
        k->row.export_dir = out;
        k->row.export_src = run_row_is_exported(&k->row) ? out : NULL;
    }
    run_row_count(&k->row, k->row.export_dir, &k->arena);
    if (!run_row_is_exported(&k->row))
        return;
    incore_run_judge(k);
    if (run->job->clean)
        clean_kernel(run, k);
}

static void run_kernel(struct incore_run *run, struct incore_kernel *k, const struct run_row *old)
{
    struct incore_texts texts;
    double begin = seconds_now();
    const char *name = folder_name(&k->arena, k->source->name);

    k->final = fs_join(&k->arena, run->funcs, name);
    k->folder = fs_join(&k->arena, run->funcs, arena_format(&k->arena, ".tmp-%s", name).at);
    if (incore_kernel_open(k, &texts) != ST_OK) {
        k->row.message = incore_kernel_error(k);
    } else {
        k->row.hash = hash_of(run, k);
        if (is_done(k, old)) {
            k->row = *old;
            incore_kernel_close(&texts);
            return;
        }
        incore_run_remove(k->folder);
        incore_run_remove(k->final);
        if (incore_run_private(k->folder, &k->diag) != ST_OK ||
            incore_run_private(fs_join(&k->arena, k->folder, "collect"), &k->diag) != ST_OK)
            k->row.message = incore_kernel_error(k);
        else if (run->backend == INCORE_SIM)
            incore_run_sim(run, k);
        else
            incore_run_msprof(run, k);
        finish_kernel(run, k);
    }
    incore_kernel_close(&texts);
    k->row.duration_sec = seconds_now() - begin;
}

/* ---- all kernels ---- */

struct pipeline {
    struct incore_run *run;
    struct incore_run_result *result;
    struct run_rows old;
    struct incore_kernel *slots;
    size_t next;
    bool is_serial;
    enum status status;
    struct diag *d;
};

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

    run_kernel(p->run, k, row_of(&p->old, k->source->name));
}

/* A row that outlives its kernel: every text is copied. */
static struct run_row keep_row(const struct run_row *row, struct arena *arena)
{
    struct run_row kept = *row;
    const char **texts[] = {&kept.func,       &kept.status,
                            &kept.source,     &kept.symbol,
                            &kept.demangled,  &kept.app,
                            &kept.kernel_lib, &kept.case_dir,
                            &kept.build_dir,  &kept.collect_dir,
                            &kept.export_dir, &kept.export_src,
                            &kept.trace_json, &kept.visualize_data_bin,
                            &kept.message,    &kept.hash,
                            &kept.workload,   &kept.critical,
                            &kept.bound};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (*texts[i] != NULL)
            *texts[i] = arena_cstr(arena, str_of(*texts[i]));
    for (size_t i = 0; i < kept.n_pipes; i++)
        kept.pipes[i].name = arena_cstr(arena, str_of(kept.pipes[i].name));
    for (size_t i = 0; i < kept.n_checks; i++)
        kept.checks[i] = arena_cstr(arena, str_of(kept.checks[i]));
    for (size_t i = 0; i < kept.n_hints; i++)
        kept.hints[i] = arena_cstr(arena, str_of(kept.hints[i]));
    for (size_t i = 0; i < kept.n_advice; i++)
        kept.advice[i] = arena_cstr(arena, str_of(kept.advice[i]));
    return kept;
}

static void say(const struct incore_run *run, const char *line)
{
    if (run->job->say != NULL)
        run->job->say(run->job->say_ctx, line);
}

static void say_result(const struct incore_run *run, struct incore_kernel *k)
{
    const struct run_row *r = &k->row;
    bool is_exported = run_row_is_exported(r);
    bool has_warning = is_exported && r->message != NULL && r->message[0] != '\0' &&
                       strcmp(r->message, "collect produced traces directly") != 0 &&
                       strcmp(r->message, "ok") != 0;
    struct arena *a = &k->arena;

    for (size_t i = 0; i < k->lines.n; i++)
        say(run, k->lines.at[i]);
    if (!is_exported) {
        say(run, arena_format(a, "[%02zu/%02zu] FAILED %s: %s: %s", k->number, run->kernels.n,
                              r->func, r->status, r->message != NULL ? r->message : "")
                     .at);
    } else {
        say(run, arena_format(a,
                              "[%02zu/%02zu] %s %s: artifacts=%lld core_traces=%lld "
                              "instr_csv=%lld (from collect)%s%s",
                              k->number, run->kernels.n, has_warning ? "WARN" : "OK", r->func,
                              (long long)r->artifact_count, (long long)r->core_trace_count,
                              (long long)r->instr_csv_count, has_warning ? " -- " : "",
                              has_warning ? r->message : "")
                     .at);
    }
    for (size_t i = 0; i < r->n_hints; i++)
        say(run, arena_format(a, "        hint: %s", r->hints[i]).at);
}

static bool merge_kernel(void *ctx, size_t slot)
{
    struct pipeline *p = ctx;
    struct incore_kernel *k = &p->slots[slot];
    const struct run_row *old = row_of(&p->old, k->source->name);
    bool was_done = old != NULL && k->row.duration_sec == old->duration_sec &&
                    run_row_is_exported(&k->row) && k->row.hash == old->hash;

    if (cancelled()) {
        p->status = ST_CANCELLED;
        return false;
    }
    if (was_done)
        p->result->resumed++;
    else
        say_result(p->run, k);
    vec_push(&p->result->rows, keep_row(&k->row, &p->result->arena));
    bool is_failed = !run_row_is_exported(&k->row);
    incore_kernel_end(k);
    p->status = run_index_write(p->run->run_root, p->result->backend, &p->result->rows, p->d);
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
                incore_run_remove(p->slots[i].folder);
            incore_kernel_end(&p->slots[i]);
        }
    return cancelled() ? ST_CANCELLED : p->status;
}

static void drop_leftovers(struct incore_run *run)
{
    struct fs_list list = {0};
    struct diag own;

    diag_init(&own);
    if (fs_list(run->arena, run->funcs, &list, &own) != ST_OK)
        list.n = 0;
    for (size_t i = 0; i < list.n; i++)
        if (str_starts(list.at[i].name, S(".tmp-")))
            incore_run_remove(list.at[i].path);
    diag_fini(&own);
}

static void choose_backend(struct incore_run *run)
{
    run->backend = run->job->backend;
    if (run->backend == INCORE_SIM)
        return;
    run->set_env = cann_find_set_env(run->arena, run->job->cann_set_env);
    if (run->backend == INCORE_AUTO)
        run->backend = run->set_env != NULL ? INCORE_MSPROF : INCORE_SIM;
}

enum status flow_incore_run_list(struct incore_run_job *job, struct arena *arena,
                                 struct kernel_sources *out, struct diag *d)
{
    if (job->find.build_dir == NULL)
        TRY(incore_run_case(job, arena, d));
    if (job->find.source_glob == NULL && !fs_is_dir(job->find.build_dir))
        return diag_fail(d, ST_NOT_FOUND, "incore-run.no-build",
                         (struct where){.path = job->find.build_dir}, "no such build folder");
    return discover_kernels(&job->find, arena, out, d);
}

static enum status prepare(struct incore_run *run, struct incore_run_job *job,
                           struct incore_run_result *result, struct pipeline *p, struct diag *d)
{
    TRY(flow_incore_run_list(job, run->arena, &run->kernels, d));
    choose_backend(run);
    result->backend = run->backend == INCORE_SIM ? "sim" : "msprof";
    result->planned = run->kernels.n;
    TRY(incore_run_survey(run, d));
    if (run->backend == INCORE_MSPROF)
        TRY(incore_run_toolchain(run, d));
    else
        run->soc = job->soc;
    TRY(incore_run_open_root(run, run->arena, &p->old, d));
    result->run_root = run->run_root;
    drop_leftovers(run);
    return incore_run_write_readme(run, d);
}

enum status flow_incore_run(struct incore_run_job *job, struct diag *d,
                            struct incore_run_result *result)
{
    *result = (struct incore_run_result){.backend = "sim"};
    arena_init(&result->arena);
    struct incore_run run = {.job = job, .arena = &result->arena};
    struct pipeline p = {.run = &run, .result = result, .d = d};
    enum status st = prepare(&run, job, result, &p, d);
    if (st == ST_OK) {
        run.costs = pto_costs_new();
        st = run_all(&run, &p);
        pto_costs_free(run.costs);
    }
    vec_free(&p.old);
    return st;
}

void incore_run_result_free(struct incore_run_result *result)
{
    vec_free(&result->rows);
    arena_free(&result->arena);
}
