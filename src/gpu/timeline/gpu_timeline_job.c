/*
 * A capture loaded, analysed and written as tables. See gpu_timeline_job.h.
 */
#include "gpu/timeline/gpu_timeline_job.h"

#include "base/files/fs.h"
#include "base/files/remove_tree.h"
#include "base/run/cancel.h"
#include "base/text/shell_word.h"
#include "capture/cut.h"
#include "capture/fleet.h"
#include "driver/driver.h"
#include "driver/ncu_run.h"
#include "gpu/timeline/timeline_out.h"
#include "render/render.h"
#include "render/timelines/timeline.h"
#include "report/report.h"

struct gpu_timeline_job gpu_timeline_job_new(const char *path)
{
    struct gpu_timeline_job job = {.path = path, .input = input_defaults()};

    job.input.joins_devices = true;
    return job;
}

/* ---- files ---- */

static enum status job_finish(struct outfile *file, struct diag *d)
{
    if (!cancelled())
        return outfile_commit(file, OUTFILE_FAST, d);
    outfile_abort(file);
    return ST_CANCELLED;
}

static const char *trace_name(struct arena *arena, struct timeline *const *list, size_t n, size_t i)
{
    if (n == 1 || list[i]->n_devices == 0)
        return n == 1 ? "trace.json.gz" : arena_printf(arena, "trace-%zu.json.gz", i);
    return arena_printf(arena, "trace-device%d.json.gz", (int)list[i]->devices[0].device);
}

enum status gpu_timeline_save(struct timeline *const *list, size_t n, const char *dir,
                              struct arena *arena, struct diag *d, const char **written,
                              size_t *n_written)
{
    static const struct timeline_options options = {0};
    struct outfile file;
    struct cut cut;

    TRY(fs_mkdir_own(dir, d));
    for (size_t i = 0; i < TIMELINE_TABLES; i++) {
        const char *path = fs_join(arena, dir, timeline_tables[i].file);
        TRY(outfile_open(&file, path, d));
        timeline_table_write(&timeline_tables[i], list, n, outfile_sink(&file));
        TRY(job_finish(&file, d));
        written[(*n_written)++] = path;
    }
    for (size_t i = 0; i < n; i++) {
        const char *path = fs_join(arena, dir, trace_name(arena, list, n, i));
        TRY(outfile_open(&file, path, d));
        cut_init(&cut, list[i]->cap, &(struct cut_options){0});
        timeline_by_ending(S("trace.json.gz"))->write(&cut, &options, outfile_sink(&file));
        cut_fini(&cut);
        TRY(job_finish(&file, d));
        written[(*n_written)++] = path;
    }
    return ST_OK;
}

static enum status save_all(const struct gpu_timeline_job *job, struct arena *arena, struct diag *d,
                            struct gpu_timeline_result *result)
{
    const char *path = fs_join(arena, job->out, "report.md");

    result->written = ARENA_ARRAY(arena, const char *, GPU_TIMELINE_FILES + result->n);
    TRY(gpu_timeline_save(result->timelines, result->n, fs_join(arena, job->out, "timeline"), arena,
                          d, result->written, &result->n_written));
    struct render_options look = {0};
    struct outfile file;
    TRY(outfile_open(&file, path, d));
    struct report *report = report_new(job->lang, S(""));
    timeline_set_describe(&(struct timeline_set){result->timelines, result->n, job->path}, report);
    render_write(&renderer_markdown, report, &look, outfile_sink(&file));
    report_free(report);
    TRY(outfile_commit(&file, OUTFILE_FAST, d));
    result->written[result->n_written++] = path;
    return ST_OK;
}

/* ---- what to look at ---- */

static enum status check_work(const struct gpu_timeline_job *job,
                              const struct gpu_timeline_result *result, struct diag *d)
{
    for (size_t k = 0; k < result->n; k++)
        for (size_t i = 0; i < result->timelines[k]->n_devices; i++)
            if (result->timelines[k]->devices[i].n > 0)
                return ST_OK;
    return diag_fail(d, ST_NOT_FOUND, "gpu-timeline.no-work", (struct where){.path = job->path},
                     "no kernel, copy or memset on a device%s",
                     job->range != NULL ? " in this range" : "; was device activity recorded?");
}

static bool is_same_file(const struct capture *a, const struct capture *b)
{
    return a->sources.n > 0 && b->sources.n > 0 &&
           strcmp(a->sources.at[0].path, b->sources.at[0].path) == 0;
}

static enum status analyse(const struct gpu_timeline_job *job, struct arena *arena, struct diag *d,
                           struct gpu_timeline_result *result)
{
    result->timelines = ARENA_ARRAY(arena, struct timeline *, result->fleet->ranks.n);
    for (size_t i = 0; i < result->fleet->ranks.n; i++) {
        const struct capture *cap = result->fleet->ranks.at[i];
        struct timeline_choice choice = {.pool = job->input.pool};
        if (job->range != NULL && !timeline_find_window(cap, str_of(job->range), &choice.window))
            return diag_fail(d, ST_NOT_FOUND, "gpu-timeline.no-range",
                             (struct where){.path = job->path},
                             "no host range '%s', or it is empty", job->range);
        result->timelines[result->n++] = timeline_new(cap, &choice);
    }
    if (job->range == NULL) {
        /* An export of several devices becomes several captures, which stand side by side. */
        for (size_t i = 0, k; i < result->n; i = k) {
            for (k = i + 1; k < result->n; k++)
                if (!is_same_file(result->timelines[i]->cap, result->timelines[k]->cap))
                    break;
            if (k > i + 1)
                timeline_count_empty_graphs(result->timelines + i, k - i);
        }
    }
    return job->may_be_idle ? ST_OK : check_work(job, result, d);
}

static enum status job_load(const char *path, const struct gpu_timeline_job *job,
                            struct arena *arena, struct diag *d, struct gpu_timeline_result *result)
{
    TRY(input_load_all(path, &job->input, d, &result->fleet));
    return analyse(job, arena, d, result);
}

/* ---- reports that only their own tools can open ---- */

bool gpu_timeline_is_report(const char *path)
{
    static const struct str ends[] = {S_INIT(".nsys-rep"), S_INIT(".qdrep"), S_INIT(".qdstrm")};

    return STR_ANY(str_ends, str_of(path), ends);
}

static enum status reject_report(const char *path, struct arena *arena, struct diag *d)
{
    diag_fail(d, ST_UNSUPPORTED, "gpu.report-file", (struct where){.path = path},
              "a report of Nsight Systems that only nsys can open, which is not installed here");
    diag_hint(d, "try",
              "where it is: nsys export --type sqlite -o run.sqlite %s && strata run.sqlite",
              shell_word(arena, path));
    return ST_UNSUPPORTED;
}

/* By way of a database that lives as long as it is read. */
static enum status load_report(const struct gpu_timeline_job *job, struct arena *arena,
                               struct diag *d, struct gpu_timeline_result *result)
{
    struct probe_result tool = driver_probe(DRIVER_NSYS, arena);

    if (tool.state != PROBE_FOUND)
        return reject_report(job->path, arena, d);
    const char *folder = remove_tree_temporary(arena);
    if (folder == NULL)
        return diag_fail(d, ST_IO, "gpu.no-folder", (struct where){.path = job->path},
                         "no temporary folder for its database");
    remove_tree_hold(folder);
    const char *database = fs_join(arena, folder, "database");
    enum status st = nsys_export(tool.path, job->path, database, d);
    if (st == ST_OK)
        st = job_load(database, job, arena, d, result);
    remove_tree_drop(folder);
    remove_tree(folder);
    return st;
}

enum status gpu_timeline_run(const struct gpu_timeline_job *job, struct arena *arena,
                             struct diag *d, struct gpu_timeline_result *result)
{
    *result = (struct gpu_timeline_result){0};
    TRY(gpu_timeline_is_report(job->path) ? load_report(job, arena, d, result)
                                          : job_load(job->path, job, arena, d, result));
    return job->out != NULL ? save_all(job, arena, d, result) : ST_OK;
}

void gpu_timeline_result_free(struct gpu_timeline_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        timeline_free(result->timelines[i]);
    fleet_free(result->fleet);
}

struct timeline_device *gpu_timeline_busiest(const struct gpu_timeline_result *results, size_t n,
                                             struct timeline **of, size_t *candidates)
{
    struct timeline_device *best = NULL;

    *candidates = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t k = 0; k < results[r].n; k++)
            for (size_t i = 0; i < results[r].timelines[k]->n_devices; i++) {
                struct timeline_device *d = &results[r].timelines[k]->devices[i];
                *candidates += d->n > 0;
                if (d->n > 0 && (best == NULL || d->kernel_busy > best->kernel_busy)) {
                    best = d;
                    *of = results[r].timelines[k];
                }
            }
    return best;
}
