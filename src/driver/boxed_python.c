/*
 * Running somebody's Python.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/run/proc.h"
#include "driver/boxed.h"
#include "driver/driver.h"

enum { PYTHON_LIMIT_MS = 60000, MOST_ARGS = 16, MOST_SAID = 1 << 20 };
#define MOST_MEMORY ((int64_t)4 << 30)
#define MOST_FILE   ((int64_t)1 << 30)

/* The interpreter itself, behind scripts that choose among several, and the folder of its own
 * modules. */
static enum status find_python(const struct boxed_python *job, struct arena *arena,
                               const char **program, const char **home, struct diag *d)
{
    static const char ask[] = "import sys; print(sys.executable); print(sys.base_prefix)";
    struct probe_result found = driver_probe(DRIVER_PYTHON, arena);
    const char *const argv[] = {found.path, "-I", "-S", "-c", ask, NULL};
    struct proc_result done;
    struct diag quiet;
    struct str line, said;

    diag_init(&quiet);
    bool is_there =
        found.state == PROBE_FOUND && proc_run(&(struct proc_spec){.argv = argv, .limit_ms = 10000},
                                               arena, &done, &quiet) == ST_OK;
    diag_fini(&quiet);
    said = is_there ? done.out : S("");
    if (!str_split(&said, '\n', &line) || line.n == 0 || line.at[0] != '/') {
        diag_hint(d, "try", "install python3, or name one in STRATA_PYTHON");
        return diag_fail(d, ST_TOOL, "replay.no-python", (struct where){.path = job->source},
                         "the arguments of a scene are made in Python, and no python3 was found");
    }
    *program = arena_cstr(arena, line);
    *home = str_split(&said, '\n', &line) && line.n > 1 ? arena_cstr(arena, line) : NULL;
    return ST_OK;
}

/* "path:line: text" at the end of what it said. */
static enum status report_python(const struct boxed_python *job, const struct proc_result *done,
                                 struct arena *arena, struct diag *d)
{
    struct str said = str_trim(done->err), line = said;
    struct where where = {.path = job->source};
    int64_t number;

    for (size_t i = said.n; i-- > 0;)
        if (said.at[i] == '\n') {
            line = str_part(said, i + 1, said.n);
            break;
        }
    if (done->end == PROC_TIMED_OUT || done->code == SIGXCPU)
        return diag_fail(d, ST_LIMIT, "replay.scene-failed", where,
                         "the Python part of the scene did not end in time");
    if (done->code == SIGKILL)
        return diag_fail(d, ST_LIMIT, "replay.scene-failed", where,
                         "the Python part of the scene needs more memory than it gets");
    size_t colon = str_find(line, S(": "));
    struct str place = str_part(line, 0, colon);
    size_t cut = place.n;
    while (cut > 0 && place.at[cut - 1] != ':')
        cut--;
    if (colon < line.n && cut > 1 && num_i64(str_part(place, cut, place.n), &number)) {
        where.path = arena_cstr(arena, str_part(place, 0, cut - 1));
        where.line = number > 0 ? (uint64_t)number : 0;
        line = str_part(line, colon + 2, line.n);
    }
    if (line.n == 0)
        line = S("the Python part of the scene fails");
    return diag_fail(d, ST_FORMAT, "replay.scene-failed", where, "%.*s", STR_ARGS(line));
}

/* Our program on somebody's source, in the folder that it may write to, which `take` reads
 * afterwards. */
static enum status run_in(const struct boxed_python *job, const char *cache, const char *folder,
                          struct arena *arena, struct diag *d)
{
    const char *argv[MOST_ARGS + 8], *program = NULL, *home = NULL, *ours = NULL;
    const char *const env[] = {arena_printf(arena, "TMPDIR=%s", folder), NULL};
    int64_t limit_ms = job->limit_ms > 0 ? job->limit_ms : PYTHON_LIMIT_MS;
    struct sandbox_program box = {.folder = folder,
                                  .runs_code = true,
                                  .seconds = limit_ms / 1000 + 1,
                                  .bytes = MOST_MEMORY,
                                  .file_bytes = MOST_FILE};
    struct proc_result done;
    struct diag quiet;
    size_t n = 0;

    TRY(find_python(job, arena, &program, &home, d));
    TRY(boxed_unpack(arena, cache, job->part, &ours, d));
    const char *fixed[] = {program, "-I", "-S", "-B", fs_join(arena, ours, job->program)};
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        argv[n++] = fixed[i];
    for (size_t i = 0; i < MOST_ARGS && job->args[i] != NULL; i++)
        argv[n++] = job->args[i];
    argv[n++] = folder;
    argv[n] = NULL;
    boxed_show(&box.read, arena, job->source, program, ours);
    if (home != NULL)
        boxed_show_path(&box.read, arena, home);
    struct proc_spec spec = {.argv = argv,
                             .env = env,
                             .limit_ms = limit_ms,
                             .keep_max = MOST_SAID,
                             .box = job->is_trusted ? NULL : &box};
    diag_init(&quiet);
    enum status status = proc_run(&spec, arena, &done, &quiet);
    diag_fini(&quiet);
    vec_free(&box.read);
    if (status == ST_CANCELLED)
        return status;
    return status == ST_OK ? job->take(job->ctx, folder, d) : report_python(job, &done, arena, d);
}

enum status boxed_python_run(const struct boxed_python *job, struct arena *arena, struct diag *d)
{
    const char *cache;

    TRY(boxed_cache(arena, &cache, d));
    TRY(boxed_check(job->source, "Python part of the scene", job->is_trusted, d));
    char *folder = arena_cstr(arena, arena_format(arena, "%s/scene-XXXXXX", cache));
    if (mkdtemp(folder) == NULL)
        return diag_fail(d, ST_IO, "pto-cpp.cache", (struct where){.path = cache},
                         "cannot be written");
    remove_tree_hold(folder);
    enum status status = run_in(job, cache, folder, arena, d);
    remove_tree_drop(folder);
    remove_tree(folder);
    return status;
}
