/*
 * Before the first kernel: the build that a case makes, which chip, are the given values of use,
 * where do results go.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/files/fs.h"
#include "base/files/inputs.h"
#include "base/files/mapfile.h"
#include "kernels/incore/incore_run.h"
#include "kernels/replay/paths.h"

static const char latest_name[] = "latest_all_funcs_kernel_insight_export_root.txt";

/* ---- the build, when a user's script has to make it first ---- */

static const char **to_words(struct arena *arena, const struct incore_run_job *job)
{
    size_t max = job->case_args.n + 16, n = 0;
    const char **argv = ARENA_ARRAY(arena, const char *, max);

    if (job->task_submit) {
        const char *wrap[] = {"task-submit", "--run", "--device",
                              job->task_device != NULL ? job->task_device : "auto"};
        for (size_t i = 0; i < ARRAY_LEN(wrap); i++)
            argv[n++] = wrap[i];
    }
    if (job->run_command != NULL) {
        argv[n++] = "bash";
        argv[n++] = "-lc";
        argv[n++] = job->run_command;
    } else {
        argv[n++] = "python3";
        argv[n++] = job->case_script;
        for (size_t i = 0; i < job->case_args.n; i++)
            argv[n++] = job->case_args.at[i];
    }
    return argv;
}

enum status incore_run_case(struct incore_run_job *job, struct arena *arena, struct diag *d)
{
    const char *root = job->build_output_root;
    const char **env = ARENA_ARRAY(arena, const char *, job->case_env.n + 1);
    struct discover_builds before, after;
    struct cann_done done;

    if (job->run_command == NULL && !fs_exists(job->case_script))
        return diag_fail(d, ST_NOT_FOUND, "incore-run.no-case",
                         (struct where){.path = job->case_script}, "case script not found");
    for (size_t i = 0; i < job->case_env.n; i++)
        env[i] = job->case_env.at[i];
    discover_builds(root, arena, &before);
    int64_t begin_ns = (int64_t)time(NULL) * 1000000000;
    const char *folder =
        fs_join(arena, root,
                arena_printf(arena, "kernel_insight_case_run_%s", now_text(arena, NOW_NAME, 0)));
    TRY(fs_mkdirs(folder, d));
    const char *log = fs_join(arena, folder, "case_run.log");
    struct cann_step step = {.argv = to_words(arena, job), .env = env, .log = log};
    TRY(cann_run(&step, arena, &done, d));
    if (done.rc != 0)
        return diag_fail(d, ST_TOOL, "incore-run.case-failed", (struct where){.path = log},
                         "the case exited with status %d", done.rc);
    discover_builds(root, arena, &after);
    job->find.build_dir = discover_pick(&after, &before, begin_ns);
    if (job->find.build_dir == NULL)
        return diag_fail(d, ST_NOT_FOUND, "incore-run.no-case-build", (struct where){0},
                         "no case build output directory found under %s", root);
    return ST_OK;
}

/* ---- what the kernels say ---- */

struct survey {
    struct str groups[2]; /* names of kernels for a2a3 and a5 */
    size_t n[2];
    bool *is_used; /* by given option, all lists in turn */
};

static void survey_given(const struct incore_kernel *k, const struct words *list, bool *is_used)
{
    size_t n = k->sizes.n > k->entry.n_params ? k->sizes.n : k->entry.n_params;

    if (k->slots.n > 0)
        n = SLOT_COUNT;

    for (size_t g = 0; g < list->n; g++) {
        struct str text = str_of(list->at[g]);
        struct str name = str_part(text, 0, str_find_char(text, '='));
        char mark[256];
        snprintf(mark, sizeof(mark), "${%.*s}", STR_ARGS(name));
        for (size_t i = 0; i < n && !is_used[g]; i++)
            is_used[g] = incore_kernel_names(k, name, i);
        is_used[g] = is_used[g] || str_contains(k->text, str_of(mark));
    }
}

static void survey_kernel(struct incore_run *run, size_t i, struct survey *out)
{
    const struct words *lists[] = {&run->job->args, &run->job->inputs, &run->job->fills,
                                   &run->job->dims};
    struct incore_kernel k;
    struct incore_texts texts;
    bool *is_used = out->is_used;

    incore_kernel_begin(&k, &run->kernels.at[i], i + 1);
    if (incore_kernel_open(&k, &texts) == ST_OK && (k.source->pto != NULL || k.is_cpp)) {
        if (!k.is_cpp) {
            int which = strcmp(discover_target(k.text), "a5") == 0;
            out->n[which]++;
            if (out->groups[which].n < 400)
                out->groups[which] =
                    arena_format(run->arena, "%.*s%s%s", STR_ARGS(out->groups[which]),
                                 out->groups[which].n > 0 ? ", " : "", k.source->name);
        }
        for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
            survey_given(&k, lists[l], is_used);
            is_used += lists[l]->n;
        }
    }
    incore_kernel_close(&texts);
    incore_kernel_end(&k);
}

static enum status check_given(const struct words *list, const char *option, const bool *is_used,
                               struct diag *d)
{
    for (size_t i = 0; i < list->n; i++)
        if (!is_used[i])
            return diag_fail(d, ST_NOT_FOUND, "incore-run.no-argument", (struct where){0},
                             "%s %s: no kernel has this argument", option, list->at[i]);
    return ST_OK;
}

static enum status choose_target(struct incore_run *run, const struct survey *s, struct diag *d)
{
    const char *given = run->job->target;

    if (given == NULL && s->n[0] > 0 && s->n[1] > 0)
        return diag_fail(
            d, ST_UNSUPPORTED, "incore-run.mixed-targets", (struct where){0},
            "kernels for two targets: a2a3 (%.*s) and a5 (%.*s); choose with --target or --func",
            STR_ARGS(s->groups[0]), STR_ARGS(s->groups[1]));
    run->target = given != NULL ? given : s->n[1] > 0 ? "a5" : "a2a3";
    int other = strcmp(run->target, "a5") != 0;
    if (given != NULL && s->n[other] > 0)
        diag_add(d, SEV_WARN, "incore-run.other-target", (struct where){0},
                 "--target %s, but these kernels are for %s: %.*s", given, other ? "a5" : "a2a3",
                 STR_ARGS(s->groups[other]));
    return ST_OK;
}

enum status incore_run_survey(struct incore_run *run, struct diag *d)
{
    const struct incore_run_job *job = run->job;
    size_t n = job->args.n + job->inputs.n + job->fills.n + job->dims.n;
    struct survey s = {.is_used = ARENA_ARRAY(run->arena, bool, n + 1)};
    const bool *used = s.is_used;

    for (size_t i = 0; i < run->kernels.n; i++)
        survey_kernel(run, i, &s);
    TRY(choose_target(run, &s, d));
    TRY(check_given(&job->args, "--arg", used, d));
    TRY(check_given(&job->inputs, "--input", used += job->args.n, d));
    TRY(check_given(&job->fills, "--fill", used += job->inputs.n, d));
    return check_given(&job->dims, "--dim", used + job->fills.n, d);
}

/* Where runs go: never into the build unless that is asked for. */
static const char *runs_folder(const struct incore_run_job *job)
{
    return job->output_root != NULL ? job->output_root : "strata-out";
}

/* The folder of the run: a new one, in the next free second. */
static enum status make_root(struct incore_run *run, struct diag *d)
{
    const struct incore_run_job *job = run->job;
    const char *root = runs_folder(job);

    TRY(fs_mkdirs(root, d));
    for (int64_t later = 0; later < 3600; later++) {
        run->run_root = fs_join(
            run->arena, root,
            arena_printf(run->arena, "%s_%s", job->name, now_text(run->arena, NOW_NAME, later)));
        if (mkdir(run->run_root, 0700) == 0)
            return ST_OK;
        if (errno != EEXIST)
            break;
    }
    return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = run->run_root}, "%s",
                     fs_error_text(errno));
}

/* A run may have ended before it was noted: then *is_new, as without --resume. */
static const char *last_root(struct incore_run *run, struct diag *d, bool *is_new)
{
    const char *path = fs_join(run->arena, runs_folder(run->job), latest_name);
    struct mapfile map;

    *is_new = !fs_exists(path);
    if (*is_new)
        diag_add(d, SEV_WARN, "incore-run.nothing-to-resume",
                 (struct where){.path = runs_folder(run->job)},
                 "no run to continue here; a new one begins");
    if (*is_new || mapfile_open(&map, path, d) != ST_OK)
        return NULL;
    const char *root = arena_cstr(run->arena, str_trim(map.text));
    mapfile_close(&map);
    return root;
}

/* Keeps the kernels that the run began with, unless others are asked for now. */
static void keep_selection(struct incore_run *run)
{
    const struct discover_job *find = &run->job->find;
    const char *readme = fs_join(run->arena, run->run_root, "README.txt");
    struct mapfile map;
    size_t kept = 0;

    if (find->funcs.n > 0 || find->source_glob != NULL || mapfile_open(&map, readme, NULL) != ST_OK)
        return;
    struct str text = map.text;
    inputs_disown_path(readme); /* the run that goes on writes it again */
    for (size_t i = 0; i < run->kernels.n; i++) {
        const char *path = paths_absolute(run->arena, run->kernels.at[i].path);
        if (str_contains(text, arena_format(run->arena, "\n%s\n", path)))
            run->kernels.at[kept++] = run->kernels.at[i];
    }
    mapfile_close(&map);
    if (kept > 0)
        run->kernels.n = kept;
}

enum status incore_run_open_root(struct incore_run *run, struct arena *arena, struct run_rows *old,
                                 struct diag *d)
{
    static const char *const folders[] = {"builds", "funcs", "logs"};
    const struct incore_run_job *job = run->job;
    bool is_new = !job->resume;

    if (job->resume)
        run->run_root = job->resume_root != NULL ? job->resume_root : last_root(run, d, &is_new);
    if (!is_new) {
        if (run->run_root == NULL)
            return ST_IO;
        if (!fs_is_dir(run->run_root))
            return diag_fail(d, ST_NOT_FOUND, "incore-run.no-run",
                             (struct where){.path = run->run_root}, "no run to resume");
        if (fs_exists(fs_join(arena, run->run_root, "manifest.json")) &&
            run_index_read(run->run_root, arena, old, NULL) != ST_OK)
            old->n = 0;
        keep_selection(run);
    } else {
        TRY(make_root(run, d));
    }
    run->run_root = paths_absolute(run->arena, run->run_root);
    TRY(incore_run_private(run->run_root, d));
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        if (run->backend == INCORE_MSPROF || strcmp(folders[i], "funcs") == 0)
            TRY(incore_run_private(fs_join(run->arena, run->run_root, folders[i]), d));
    run->funcs = fs_join(run->arena, run->run_root, "funcs");
    const char *path = fs_join(run->arena, runs_folder(job), latest_name);
    bool is_noted =
        outfile_resave(path, arena_format(run->arena, "%s\n", run->run_root), NULL) == ST_OK;
    if (!is_noted)
        diag_add(d, SEV_WARN, "incore-run.no-latest", (struct where){.path = path},
                 "cannot be written; --resume will need the run folder");
    return ST_OK;
}

enum status incore_run_write_readme(struct incore_run *run, struct diag *d)
{
    const char **sources = ARENA_ARRAY(run->arena, const char *, run->kernels.n + 1);

    for (size_t i = 0; i < run->kernels.n; i++)
        sources[i] = paths_absolute(run->arena, run->kernels.at[i].path);
    struct run_readme readme = {
        .repo_root =
            paths_absolute(run->arena, run->job->repo_root != NULL ? run->job->repo_root : "."),
        .build_dir = paths_absolute(run->arena, run->job->find.build_dir),
        .cann_set_env = run->set_env,
        .soc_version = run->soc,
        .generator = run->job->ptoas_root != NULL ? run->job->ptoas_root : "strata " STRATA_VERSION,
        .pto_isa_root = run->pto_isa_root,
        .sources = sources,
        .n = run->kernels.n,
    };
    return run_index_readme(run->run_root, &readme, run->arena, d);
}
