#include "flow/flow_anomaly.h"

#include "analysis/anomaly.h"
#include "analysis/study.h"
#include "base/fs.h"
#include "capture/capture.h"
#include "flow/flow.h"
#include "report/report.h"

static const char results_folder[] = "strata";

struct anomaly_job anomaly_job_new(const char *path)
{
    struct study_options listing = study_defaults();

    return (struct anomaly_job){
        .path = path,
        .min_bubble = listing.min_bubble,
        .max_bubbles = listing.max_bubbles,
    };
}

/* The folder a file is in: "a/b.csv" gives "a", "b.csv" gives ".". */
static const char *folder_of(struct arena *arena, const char *path)
{
    struct str name = str_basename(str_of(path));
    size_t n = (size_t)(name.at - path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return n > 0 ? arena_cstr(arena, (struct str){path, n}) : ".";
}

/* strata/ in a capture's folder, beside a capture's file, or here when that cannot be written. */
static const char *results_of(struct arena *arena, const struct anomaly_job *job)
{
    if (job->out != NULL)
        return job->out;
    const char *home = fs_is_dir(job->path) ? job->path : folder_of(arena, job->path);
    return fs_is_writable_dir(home) ? fs_join(arena, home, results_folder) : results_folder;
}

static enum status save(const char *folder, const char *path, const struct json_buffer *json,
                        struct diag *d)
{
    struct outfile file;

    TRY(fs_mkdirs(folder, d));
    TRY(outfile_open(&file, path, d));
    outfile_write(&file, (struct str){json->at, json->n});
    return outfile_commit(&file, OUTFILE_FAST, d);
}

enum status flow_anomaly(const struct anomaly_job *job, struct arena *arena, struct diag *d,
                         struct anomaly_result *out)
{
    struct study_options options = {job->min_bubble, job->max_bubbles};
    const char *folder = results_of(arena, job);
    struct study st;

    *out = (struct anomaly_result){0};
    out->json_path = fs_join(arena, folder, "anomaly_discovery.json");
    TRY(flow_load(job->path, job->format, d, &out->cap));
    study_begin(&st, out->cap, options);
    out->report = report_new(str_of(out->cap->name));
    anomaly_describe(&st, out->report);
    anomaly_write_json(&st, d, json_buffer_sink(&out->json));
    study_end(&st);
    return job->is_dry_run ? ST_OK : save(folder, out->json_path, &out->json, d);
}

void anomaly_result_free(struct anomaly_result *result)
{
    capture_free(result->cap);
    report_free(result->report);
    json_buffer_free(&result->json);
}
