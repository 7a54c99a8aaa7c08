/*
 * The build, when a user's script has to make it first.
 */
#include <stdlib.h>
#include <time.h>

#include "base/fs.h"
#include "flow/incore_run.h"

static void to_words(struct arena *arena, const struct incore_run_job *job, const char ***out)
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
    *out = argv;
}

enum status incore_run_case(struct incore_run_job *job, struct arena *arena, struct diag *d)
{
    const char *root = job->build_output_root;
    const char **env = ARENA_ARRAY(arena, const char *, job->case_env.n + 1);
    struct discover_builds before, after;
    struct cann_done done;
    const char **argv;

    if (job->run_command == NULL && !fs_exists(job->case_script))
        return diag_fail(d, ST_NOT_FOUND, "incore-run.no-case",
                         (struct where){.path = job->case_script}, "case script not found");
    for (size_t i = 0; i < job->case_env.n; i++)
        env[i] = job->case_env.at[i];
    discover_builds(root, arena, &before);
    int64_t begin_ns = (int64_t)time(NULL) * 1000000000;
    const char *folder =
        fs_join(arena, root,
                arena_format(arena, "kernel_insight_case_run_%s", now_text(arena, NOW_NAME, 0)).at);
    TRY(fs_mkdirs(folder, d));
    const char *log = fs_join(arena, folder, "case_run.log");
    to_words(arena, job, &argv);
    struct cann_step step = {.argv = argv, .env = env, .log = log};
    TRY(cann_run(&step, arena, &done, d));
    if (done.rc != 0)
        return diag_fail(d, ST_TOOL, "incore-run.case-failed", (struct where){.path = log},
                         "the case ended with %d", done.rc);
    discover_builds(root, arena, &after);
    job->find.build_dir = discover_pick(&after, &before, begin_ns);
    if (job->find.build_dir == NULL)
        return diag_fail(d, ST_NOT_FOUND, "incore-run.no-case-build", (struct where){0},
                         "no case build output directory found under %s", root);
    return ST_OK;
}
