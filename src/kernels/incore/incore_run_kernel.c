/*
 * One kernel from its texts to its row in the index: skipped when an earlier run has its results,
 * else simulated in a folder with a temporary name that is renamed when all is there.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/run/now.h"
#include "base/tables/hash.h"
#include "kernels/incore/incore_clean_job.h"
#include "kernels/incore/incore_lint.h"
#include "kernels/incore/incore_run.h"

/* A name for a folder in funcs/: hidden names are ours. */
static const char *folder_name(struct arena *arena, const char *name)
{
    return name[0] == '.' ? arena_printf(arena, "_%s", name) : name;
}

/* Everything that decides the results: texts, options, data. */
static const char *hash_of(const struct incore_run *run, struct incore_kernel *k)
{
    const struct incore_run_job *job = run->job;
    const struct words *lists[] = {&job->args, &job->inputs, &job->fills, &job->dims};
    uint64_t h = hash_stable_mix(hash_stable_bytes(k->text), hash_stable_bytes(k->cpp));

    if (k->is_cpp && run->backend == INCORE_SIM)
        h = hash_stable_mix(h, incore_run_cpp_key(run, k));
    h = hash_stable_mix(h, hash_stable_bytes(str_of(run->target)));
    h = hash_stable_mix(h, hash_stable_bytes(str_of(run->soc != NULL ? run->soc : "")));
    h = hash_stable_mix(h, (uint64_t)run->backend * 2 + job->allow_synthetic);
    h = hash_stable_mix(h, (uint64_t)job->launch_count);
    h = hash_stable_mix(h, hash_stable_bytes(S(STRATA_VERSION)));
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (size_t i = 0; i < lists[l]->n; i++)
            h = hash_stable_mix(h, hash_stable_bytes(str_of(lists[l]->at[i])) + l);
    for (size_t i = 0; i < job->inputs.n; i++) {
        struct str text = str_of(job->inputs.at[i]);
        struct mapfile map = {0};
        const char *path =
            arena_cstr(&k->arena, str_part(text, str_find_char(text, '=') + 1, text.n));
        if (mapfile_open(&map, path, NULL) == ST_OK)
            h = hash_stable_mix(h, hash_stable_bytes(map.text));
        mapfile_close(&map);
    }
    return arena_printf(&k->arena, "%016llx", (unsigned long long)h);
}

static bool is_lint_clean(const char *path)
{
    struct incore_lint lint;
    struct mapfile map;
    bool is_clean = false;

    if (path == NULL || path[0] == '\0')
        return false;
    if (mapfile_open(&map, path, NULL) == ST_OK) {
        incore_lint_init(&lint);
        incore_lint_check(&lint, map.text, (struct lint_file){.size = map.text.n});
        is_clean = incore_lint_opens(&lint);
        incore_lint_fini(&lint);
        mapfile_close(&map);
    }
    return is_clean;
}

static bool is_done(const struct incore_kernel *k, const struct run_row *old)
{
    return old != NULL && run_row_is_exported(old) && old->hash != NULL &&
           strcmp(old->hash, k->row.hash) == 0 && is_lint_clean(old->visualize_data_bin) &&
           is_lint_clean(old->trace_json);
}

/* ---- what a reader of the trace should see first ---- */

/* Busy pipes, for a run whose simulator told nothing but the trace. */
static void note_costs(struct incore_kernel *k, const struct incore_breakdown *b)
{
    struct run_row *row = &k->row;
    const struct incore_use *most = NULL;

    for (size_t i = 0; i < b->cores.n; i++) {
        double span = b->cores.at[i].end - b->cores.at[i].begin;
        row->span_us = span > row->span_us ? span : row->span_us;
    }
    row->cycles = num_i64_of(row->span_us * b->mhz + 0.5);
    for (size_t i = 0; i < b->uses.n && row->n_pipes < RUN_PIPES; i++) {
        const struct incore_use *use = &b->uses.at[i];
        if (use->busy_cycles == 0)
            continue;
        row->pipes[row->n_pipes++] = (struct run_pipe){
            .name = arena_printf(&k->arena, "%.*s %.*s", STR_ARGS(use->core), STR_ARGS(use->pipe)),
            .cycles = (int64_t)use->busy_cycles,
            .share = use->busy,
        };
        if (most == NULL || use->busy > most->busy) {
            most = use;
            row->critical = row->pipes[row->n_pipes - 1].name;
            row->critical_share = use->busy;
        }
    }
    row->bound = arena_cstr(&k->arena, b->verdict);
}

/* An idle trace is one of data that nobody supplied only where data decides anything. */
static bool is_for_this(const struct incore_kernel *k, const struct incore_check *check)
{
    return k->may_lack_data || strcmp(check->code, "incore.degenerate") != 0;
}

/* Of the container that the row names: checks that everyone should see, in row->checks and the
 * message; and what the run cost, where that is not known yet. */
static void kernel_judge(struct incore_kernel *k)
{
    struct incore_study study;
    struct diag own;

    if (k->row.visualize_data_bin == NULL)
        return;
    diag_init(&own);
    if (incore_open_judged(&study, k->row.visualize_data_bin, 0, &own) == ST_OK) {
        for (size_t i = 0; i < study.health.list.n; i++)
            if (is_for_this(k, &study.health.list.at[i]))
                run_row_warn(&k->row, &k->arena,
                             arena_cstr(&k->arena, study.health.list.at[i].text));
        if (k->row.cycles == 0)
            note_costs(k, &study.breakdown);
    }
    incore_study_close(&study);
    diag_fini(&own);
}

static void clean_kernel(const struct incore_run *run, struct incore_kernel *k)
{
    struct incore_clean_result result;
    struct incore_clean_job job = {
        .path = k->row.visualize_data_bin,
        .out = run->job->output_root != NULL ? run->job->output_root : run->job->find.build_dir,
        .copy_raw = true,
        .mhz = k->mhz,
        .origin =
            {
                .kernel = folder_name(&k->arena, k->source->name),
                .source = k->source->path,
                .workload = k->row.workload,
                .soc = k->chip != NULL ? k->chip : run->soc,
                .target = run->target,
                .simulator = run->backend == INCORE_SIM ? "strata-sim " STRATA_VERSION : "msprof",
                .command = run->job->command,
            },
    };

    if (incore_clean_run(&job, &k->diag, &result) != ST_OK)
        run_row_check(&k->row, arena_printf(&k->arena, "not cleaned: %s", incore_kernel_error(k)));
    incore_clean_result_free(&result);
}

/* Gives the whole folder its name and notes what is in it. */
static void finish_kernel(struct incore_run *run, struct incore_kernel *k)
{
    if (!fs_is_dir(k->folder))
        return;
    remove_tree(k->final);
    if (rename(k->folder, k->final) != 0) {
        k->row.status = "failed";
        k->row.message = arena_printf(&k->arena, "%s: %s", k->final, fs_error_text(errno));
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
    kernel_judge(k);
    if (run->job->clean)
        clean_kernel(run, k);
}

void incore_run_kernel(struct incore_run *run, struct incore_kernel *k, const struct run_row *old)
{
    struct incore_texts texts;
    nanos begin = now_ns();
    const char *name = folder_name(&k->arena, k->source->name);

    k->final = fs_join(&k->arena, run->funcs, name);
    k->folder = fs_join(&k->arena, run->funcs,
                        arena_printf(&k->arena, FS_MARK "%ld-%s", (long)getpid(), name));
    if (incore_kernel_open(k, &texts) != ST_OK) {
        k->row.message = incore_kernel_error(k);
    } else {
        k->row.hash = hash_of(run, k);
        if (is_done(k, old)) {
            k->row = *old;
            incore_kernel_close(&texts);
            return;
        }
        remove_tree(k->folder);
        remove_tree(k->final);
        remove_tree_hold(k->folder);
        if (incore_run_private(k->folder, &k->diag) != ST_OK ||
            incore_run_private(fs_join(&k->arena, k->folder, "collect"), &k->diag) != ST_OK)
            k->row.message = incore_kernel_error(k);
        else if (run->backend == INCORE_SIM && k->is_cpp)
            incore_run_cpp(run, k);
        else if (run->backend == INCORE_SIM)
            incore_run_sim(run, k);
        else
            incore_run_msprof(run, k);
        finish_kernel(run, k);
        remove_tree_drop(k->folder);
    }
    incore_kernel_close(&texts);
    k->row.duration_sec = (double)(now_ns() - begin) / 1e9;
}
