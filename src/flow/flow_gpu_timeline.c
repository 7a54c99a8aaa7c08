#include "flow/flow_gpu_timeline.h"

#include "base/cancel.h"
#include "base/fs.h"
#include "capture/cut.h"
#include "gpu/timeline_out.h"
#include "render/render.h"
#include "render/timeline.h"
#include "report/report.h"

struct gpu_timeline_job gpu_timeline_job_new(const char *path)
{
    return (struct gpu_timeline_job){.path = path, .input = input_defaults()};
}

/* ---- files ---- */

struct content {
    const struct timeline *t;
    const struct timeline_table *table; /* NULL: the trace */
};

static bool write_trace(const struct timeline *t, struct sink out)
{
    static const struct timeline_options options = {0};
    struct cut cut;

    cut_init(&cut, t->cap, &(struct cut_options){0});
    bool ok = timeline_by_ending(S("trace.json.gz"))->write(&cut, &options, out);
    cut_fini(&cut);
    return ok;
}

static enum status save(const struct timeline *t, const struct timeline_table *table,
                        const char *path, struct diag *d)
{
    struct outfile file;

    TRY(outfile_open(&file, path, d));
    bool ok = table != NULL ? table->write(t, outfile_sink(&file))
                            : write_trace(t, outfile_sink(&file));
    if (!ok && cancelled()) {
        outfile_abort(&file);
        return ST_CANCELLED;
    }
    return outfile_commit(&file, OUTFILE_FAST, d);
}

enum status gpu_timeline_save(const struct timeline *t, const char *dir, struct arena *arena,
                              struct diag *d, const char **written, size_t *n)
{
    TRY(fs_mkdirs(dir, d));
    for (size_t i = 0; i <= timeline_tables_n; i++) {
        const struct timeline_table *table = i < timeline_tables_n ? &timeline_tables[i] : NULL;
        const char *path = fs_join(arena, dir, table != NULL ? table->file : "trace.json.gz");
        TRY(save(t, table, path, d));
        written[(*n)++] = path;
    }
    return ST_OK;
}

static enum status save_report(const struct report *r, const char *path, struct diag *d)
{
    struct render_options look = {0};
    struct outfile file;

    TRY(outfile_open(&file, path, d));
    renderer_markdown.write(r, &look, outfile_sink(&file));
    return outfile_commit(&file, OUTFILE_FAST, d);
}

static enum status save_all(const struct gpu_timeline_job *job, struct arena *arena,
                            struct diag *d, struct gpu_timeline_result *result)
{
    const char *path = fs_join(arena, job->out, "report.md");

    result->written = ARENA_ARRAY(arena, const char *, GPU_TIMELINE_FILES);
    TRY(gpu_timeline_save(result->timeline, fs_join(arena, job->out, "timeline"), arena, d,
                          result->written, &result->n_written));
    TRY(save_report(result->report, path, d));
    result->written[result->n_written++] = path;
    return ST_OK;
}

/* ---- what to look at ---- */

static bool is_range(uint8_t kind)
{
    return kind == SLICE_ANNOTATION || kind == SLICE_STEP;
}

/* The time of the first range of that name on a host thread. */
static enum status find_window(const struct gpu_timeline_job *job, const struct capture *cap,
                               struct diag *d, struct interval *out)
{
    strid name = intern_find(&cap->strings, str_of(job->range));
    bool found = false;

    for (lane_id k = 0; k < cap->lanes.n && name != 0; k++) {
        const struct lane *lane = &cap->lanes.at[k];
        for (size_t i = lane->first; lane->key.kind == LANE_THREAD && i < lane->first + lane->n;
             i++)
            if (cap->slices.name[i] == name && is_range(cap->slices.kind[i]) &&
                (!found || cap->slices.begin[i] < out->begin)) {
                *out = (struct interval){cap->slices.begin[i], slices_end(&cap->slices, i)};
                found = true;
            }
    }
    if (found && out->end > out->begin)
        return ST_OK;
    return diag_fail(d, ST_NOT_FOUND, "gpu-timeline.no-range", (struct where){.path = job->path},
                     "no range of the host is called '%s', or it has no length", job->range);
}

static enum status check_work(const struct gpu_timeline_job *job, const struct timeline *t,
                              struct diag *d)
{
    for (size_t i = 0; i < t->n_devices; i++)
        if (t->devices[i].n > 0)
            return ST_OK;
    return diag_fail(d, ST_NOT_FOUND, "gpu-timeline.no-work", (struct where){.path = job->path},
                     "no kernel, copy or fill of a device%s",
                     job->range != NULL ? " in this range" : "; was the device recorded?");
}

enum status flow_gpu_timeline(const struct gpu_timeline_job *job, struct arena *arena,
                              struct diag *d, struct gpu_timeline_result *result)
{
    struct timeline_choice choice = {0};

    *result = (struct gpu_timeline_result){0};
    TRY(input_load(job->path, &job->input, d, &result->cap));
    if (job->range != NULL)
        TRY(find_window(job, result->cap, d, &choice.window));
    result->timeline = timeline_new(result->cap, &choice);
    TRY(check_work(job, result->timeline, d));
    result->report = report_new(S("GPU timeline"));
    report_summary(result->report, str_of(job->path));
    timeline_describe(result->timeline, result->report);
    return job->out != NULL ? save_all(job, arena, d, result) : ST_OK;
}

void gpu_timeline_result_free(struct gpu_timeline_result *result)
{
    timeline_free(result->timeline);
    report_free(result->report);
    capture_free(result->cap);
}
