/*
 * One kernel from its texts to its row in the index: skipped when an earlier run has its results,
 * else simulated in a folder with a temporary name that is renamed when all is there.
 */
#include <errno.h>
#include <stdio.h>

#include "analysis/incore_lint.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/now.h"
#include "flow/flow_incore_clean.h"
#include "flow/incore_run.h"

/* A name for a folder in funcs/: hidden names are ours. */
static const char *folder_name(struct arena *arena, const char *name)
{
    return name[0] == '.' ? arena_format(arena, "_%s", name).at : name;
}

/* Everything that decides the results: texts, options, data. */
static const char *hash_of(const struct incore_run *run, struct incore_kernel *k)
{
    const struct incore_run_job *job = run->job;
    const struct words *lists[] = {&job->args, &job->inputs, &job->fills, &job->dims};
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

void incore_run_kernel(struct incore_run *run, struct incore_kernel *k, const struct run_row *old)
{
    struct incore_texts texts;
    nanos begin = now_ns();
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
    k->row.duration_sec = (double)(now_ns() - begin) / 1e9;
}
