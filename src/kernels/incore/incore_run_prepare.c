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
#include "base/tables/intern.h"
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

/* ---- the run that is gone on with ---- */

/* The value of `key=` in the README of a run; empty when there is none. */
static struct str readme_value(struct str readme, struct str key)
{
    struct str line;

    while (str_split(&readme, '\n', &line))
        if (line.n > key.n && str_starts(line, key) && line.at[key.n] == '=')
            return str_part(line, key.n + 1, line.n);
        else if (str_equal(line, S("sources:")))
            break;
    return S("");
}

const char *incore_run_build_of(struct arena *arena, const char *run_root)
{
    const char *path = fs_join(arena, run_root, "README.txt");
    struct mapfile map;
    const char *build = NULL;

    if (mapfile_open(&map, path, NULL) != ST_OK)
        return NULL;
    inputs_disown_path(path); /* the run that goes on writes it again */
    struct str value = readme_value(map.text, S("build_dir"));
    if (value.n > 0)
        build = arena_cstr(arena, value);
    mapfile_close(&map);
    return build;
}

/* The run of this build that was begun or gone on with last, among those in the folder of runs. */
static const char *last_root(struct incore_run *run, struct diag *d)
{
    const char *root = runs_folder(run->job), *found = NULL;
    const char *build = paths_absolute(run->arena, run->job->find.build_dir);
    struct fs_list list = {0};
    struct timespec newest = {0};

    if (fs_is_dir(root) && fs_list(run->arena, root, &list, NULL) != ST_OK)
        list.n = 0;
    for (size_t i = 0; i < list.n; i++) {
        const char *of =
            list.at[i].kind == FS_DIR ? incore_run_build_of(run->arena, list.at[i].path) : NULL;
        struct stat st;
        if (of == NULL || strcmp(of, build) != 0 ||
            stat(fs_join(run->arena, list.at[i].path, "README.txt"), &st) != 0)
            continue;
        if (found == NULL || st.st_mtim.tv_sec > newest.tv_sec ||
            (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec >= newest.tv_nsec)) {
            newest = st.st_mtim;
            found = list.at[i].path;
        }
    }
    if (found == NULL)
        diag_add(d, SEV_WARN, "incore-run.nothing-to-resume", (struct where){.path = root},
                 "no run of %s to continue here; a new one begins", run->job->find.build_dir);
    return found;
}

/* A run holds the results of one build: those of another would replace them. */
static enum status check_build(const struct incore_run *run, const struct run_rows *old,
                               struct diag *d)
{
    const char *build = paths_absolute(run->arena, run->job->find.build_dir);
    const char *of = incore_run_build_of(run->arena, run->run_root);
    struct where where = {.path = run->run_root};

    if (of != NULL && strcmp(of, build) != 0) {
        diag_hint(d, "try",
                  "--resume without a run folder, for the last run of this build, or no "
                  "--resume, for a new one");
        return diag_fail(d, ST_NOT_FOUND, "incore-run.other-build", where,
                         "this is a run of %s, not of %s; nothing in it was changed", of, build);
    }
    for (size_t i = 0; i < run->kernels.n; i++)
        for (size_t k = 0; k < old->n; k++) {
            const struct kernel_source *s = &run->kernels.at[i];
            if (strcmp(old->at[k].func, s->name) != 0 || old->at[k].source == NULL ||
                !fs_exists(old->at[k].source))
                continue;
            const char *was = paths_absolute(run->arena, old->at[k].source);
            const char *is = paths_absolute(run->arena, s->path);
            if (strcmp(was, is) == 0)
                continue;
            diag_hint(d, "try", "no --resume, for a new run, or another folder with --out");
            return diag_fail(d, ST_NOT_FOUND, "incore-run.other-build", where,
                             "%s of this run was made from %s, not from %s; nothing in it was "
                             "changed",
                             s->name, was, is);
        }
    return ST_OK;
}

/* Keeps the kernels that the run began with, unless others are asked for now; notes those of its
 * sources that are not gone on with. */
static void keep_selection(struct incore_run *run)
{
    const struct discover_job *find = &run->job->find;
    const char *readme = fs_join(run->arena, run->run_root, "README.txt");
    struct mapfile map;
    size_t kept = 0;

    if (mapfile_open(&map, readme, NULL) != ST_OK)
        return;
    struct str text = arena_str(run->arena, map.text), line;
    mapfile_close(&map);
    inputs_disown_path(readme); /* the run that goes on writes it again */
    for (size_t i = 0; find->funcs.n == 0 && find->source_glob == NULL && i < run->kernels.n; i++) {
        const char *path = paths_absolute(run->arena, run->kernels.at[i].path);
        if (str_contains(text, arena_format(run->arena, "\n%s\n", path)))
            run->kernels.at[kept++] = run->kernels.at[i];
    }
    if (kept > 0)
        run->kernels.n = kept;
    struct str mark = S("\nsources:\n");
    size_t at = str_find(text, mark);
    text = at < text.n ? str_part(text, at + mark.n, text.n) : S("");
    while (str_split(&text, '\n', &line))
        if (line.n > 0)
            vec_push(&run->earlier, arena_cstr(run->arena, line));
}

enum status incore_run_open_root(struct incore_run *run, struct arena *arena, struct run_rows *old,
                                 struct diag *d)
{
    static const char *const folders[] = {"builds", "funcs", "logs"};
    const struct incore_run_job *job = run->job;

    if (job->resume)
        run->run_root = job->resume_root != NULL ? job->resume_root : last_root(run, d);
    if (run->run_root != NULL) {
        if (!fs_is_dir(run->run_root))
            return diag_fail(d, ST_NOT_FOUND, "incore-run.no-run",
                             (struct where){.path = run->run_root}, "no run to resume");
        if (fs_exists(fs_join(arena, run->run_root, "manifest.json")) &&
            run_index_read(run->run_root, arena, old, NULL) != ST_OK)
            old->n = 0;
        keep_selection(run);
        TRY(check_build(run, old, d));
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

/* Sources of this run, then those that it began with and that are not gone on with now. */
static size_t all_sources(struct incore_run *run, const char ***out)
{
    const char **at = ARENA_ARRAY(run->arena, const char *, run->kernels.n + run->earlier.n + 1);
    struct intern known;
    size_t n = 0;

    intern_init(&known);
    for (; n < run->kernels.n; n++) {
        at[n] = paths_absolute(run->arena, run->kernels.at[n].path);
        intern_put(&known, str_of(at[n]));
    }
    for (size_t i = 0; i < run->earlier.n; i++)
        if (intern_find(&known, str_of(run->earlier.at[i])) == 0)
            at[n++] = run->earlier.at[i];
    intern_fini(&known);
    vec_free(&run->earlier);
    *out = at;
    return n;
}

enum status incore_run_write_readme(struct incore_run *run, struct diag *d)
{
    struct run_readme readme = {
        .repo_root =
            paths_absolute(run->arena, run->job->repo_root != NULL ? run->job->repo_root : "."),
        .build_dir = paths_absolute(run->arena, run->job->find.build_dir),
        .cann_set_env = run->set_env,
        .soc_version = run->soc,
        .generator = run->job->ptoas_root != NULL ? run->job->ptoas_root : "strata " STRATA_VERSION,
        .pto_isa_root = run->pto_isa_root,
    };
    const char **sources;

    readme.n = all_sources(run, &sources);
    readme.sources = sources;
    return run_index_readme(run->run_root, &readme, run->arena, d);
}
