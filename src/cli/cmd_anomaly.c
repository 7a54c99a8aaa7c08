/*
 * strata anomaly: where the device sat idle.
 */
#include <regex.h>

#include "base/pool.h"
#include "cli/session.h"
#include "flow/flow_anomaly.h"
#include "render/render.h"

struct args {
    const char *min_bubble;
    int64_t max_bubbles;
    int64_t rank, device;
    int source; /* enum input_source */
    const char *markdown;
    int fail_on; /* enum severity_level */
    struct opt_list fail_if;
    bool without_arch, busy_copies;
    int step_source; /* enum step_choice */
    int step_window; /* 1: of the device */
    const char *step_marker;
    int64_t top;
};

static const struct args defaults = {
    .min_bubble = "100", .max_bubbles = 200, .rank = -1, .device = -1};

static const char *const sources[] = {"auto", "csv", "trace", "db", NULL};
static const char *const step_sources[] = {"auto", "markers", "passes", "none", NULL};
static const char *const step_windows[] = {"host", "device", NULL};
static const char *const severities[] = {"none", "low", "medium", "high", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "min-bubble", "US", struct args, min_bubble,
               "list idle windows from this many microseconds on (100)"),
    OPT_INT(0, "max-bubbles", "N", struct args, max_bubbles, 0, 1000000,
            "list at most this many of them (200)"),
    OPT_INT(0, "rank", "N", struct args, rank, 0, INT32_MAX, "only this rank of a folder of ranks"),
    OPT_INT(0, "device", "N", struct args, device, 0, INT32_MAX, "only this device"),
    OPT_CHOICE(0, "source", sources, struct args, source,
               "which files to believe when several tell of the same kernels (auto)"),
    OPT_CHOICE(0, "step-source", step_sources, struct args, step_source,
               "where steps come from: marks, else step ids (auto); the model's passes; nowhere"),
    OPT_STRING(0, "step-marker", "RE", struct args, step_marker,
               "host ranges with such names are steps, when the profiler marked none"),
    OPT_CHOICE(0, "step-window", step_windows, struct args, step_window,
               "a step begins with its mark, or with the first kernel launched in it"),
    OPT_FLAG(0, "busy-copies", struct args, busy_copies, "copies of an Ascend device are work"),
    OPT_INT(0, "top", "N", struct args, top, 1, 1000000, "rows of gaps and operators in the text"),
    OPT_FLAG(0, "no-arch", struct args, without_arch,
             "write no report on the model's architecture"),
    OPT_STRING(0, "md", "FILE", struct args, markdown, "also write the report as Markdown"),
    OPT_CHOICE(0, "fail-on", severities, struct args, fail_on,
               "exit with 1 when the severity is this or worse (none: never)"),
    OPT_LIST(0, "fail-if", "COND", struct args, fail_if,
             "exit with 1 when a metric is out of bounds; may be repeated"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata anomaly examples/ascend-small", "the idle time of each step"},
    {"strata anomaly examples/ascend-small --json -o out", "the same for programs"},
    {"strata anomaly examples/ascend-small --fail-if 'service_ms>50'", "a gate for CI"},
    {0},
};

static void print(struct session *s, const struct anomaly_result *result)
{
    struct render_options look = {.color = s->out.color};

    if (s->common.json) {
        anomaly_result_write(result, session_sink(s));
        return;
    }
    for (size_t i = 0; i < result->n && !s->common.quiet; i++) {
        if (i > 0)
            out_bytes(&s->out, S("\n"));
        renderer_text.write(result->at[i].report, &look, session_sink(s));
    }
}

static void list_files(struct session *s, const struct anomaly_job *job,
                       const struct anomaly_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        session_wrote(s, result->at[i].json_path);
    for (size_t i = 0; i < result->arch.n; i++) {
        session_wrote(s, result->arch.at[i].markdown_path);
        session_wrote(s, result->arch.at[i].json_path);
    }
    if (result->arch.cover.markdown_path != NULL) {
        session_wrote(s, result->arch.cover.markdown_path);
        session_wrote(s, result->arch.cover.json_path);
    }
    if (job->markdown != NULL)
        session_wrote(s, job->markdown);
}

/* Fills the job; false, and the usage error told, when a value makes no sense. */
static bool take_args(struct session *s, const struct args *args, struct anomaly_job *out)
{
    struct anomaly_job job = anomaly_job_new(s->operands.at[0]);

    job.input.format = s->common.format;
    job.input.rank = args->rank;
    job.input.device = args->device;
    job.input.source = (enum input_source)args->source;
    job.out = s->common.out;
    job.is_dry_run = s->common.dry_run;
    job.study.max_bubbles = (size_t)args->max_bubbles;
    job.study.top = (size_t)args->top;
    job.study.step_choice = (enum step_choice)args->step_source;
    job.study.step_marker = args->step_marker;
    job.study.device_windows = args->step_window == 1;
    job.input.busy_copies = args->busy_copies;
    job.markdown = args->markdown;
    job.without_arch = args->without_arch;
    job.fail_on = (enum severity_level)args->fail_on;
    *out = job;
    if (!num_us(str_of(args->min_bubble), &out->study.min_bubble) || out->study.min_bubble < 0) {
        session_usage(s, "--min-bubble takes a number of microseconds, not '%s'", args->min_bubble);
        return false;
    }
    regex_t pattern;
    if (args->step_marker != NULL) {
        if (regcomp(&pattern, args->step_marker, REG_EXTENDED | REG_NOSUB) != 0) {
            session_usage(s, "--step-marker: '%s' is not a regular expression", args->step_marker);
            return false;
        }
        regfree(&pattern);
    }
    struct gate *gates = ARENA_ARRAY(&s->arena, struct gate, args->fail_if.n);
    out->gates = gates;
    out->n_gates = args->fail_if.n;
    for (size_t i = 0; i < args->fail_if.n; i++) {
        const char *problem = gate_parse(&s->arena, args->fail_if.at[i], &gates[i]);
        if (problem != NULL) {
            session_usage(s, "--fail-if '%s': %s", args->fail_if.at[i], problem);
            return false;
        }
    }
    return true;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct anomaly_result result;
    struct anomaly_job job;

    if (!take_args(s, args, &job))
        return CODE_USAGE;
    job.input.pool = pool_new((size_t)s->common.jobs);
    enum status status = flow_anomaly(&job, &s->arena, &s->diag, &result);
    pool_free(job.input.pool);
    if (status == ST_OK) {
        print(s, &result);
        if (!job.is_dry_run)
            list_files(s, &job, &result);
    }
    bool is_shut = status == ST_OK && result.gates_reached > 0;
    anomaly_result_free(&result);
    return is_shut ? CODE_NO : session_code(status);
}

const struct command command_anomaly = {
    .name = "anomaly",
    .group = GROUP_EXPLAIN,
    .summary = "find where the device sat idle, step by step",
    .usage = "[OPTIONS] CAPTURE",
    .details = "Reads a profile, from a file or a folder that holds one, and measures for every "
               "step how long no kernel ran on any stream: before the first kernel, between "
               "kernels and after the last. In a folder of several ranks each is measured alone.\n"
               "\n"
               "Steps come from the marks of the timeline, else from the Step Id column; a profile "
               "without either is a single pseudo-step. The result is printed and written to "
               "anomaly_discovery.json (anomaly_discovery_rank<N>.json for each of several ranks) "
               "in the folder strata/ inside the capture's folder (beside a single file), or in "
               "the one that -o names, beside a report on the model's architecture "
               "(model_architecture_report_<name>.md and .json). With --json the document is "
               "printed in place of the text.\n"
               "\n"
               "Gates make a check of it: --fail-on medium, or --fail-if with the name of a metric "
               "in the document, a comparison and a number: 'underfeed_ratio>0.2' for any step, "
               "'g0.service_ms_p95>50' or 'group.underfeed_ratio_avg>0.3' for groups of steps, "
               "'global.device_gap_ratio>0.5' for the whole. A gate that is reached gives exit "
               "code 1.",
    .see = "docs/analyses/anomaly.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_OUT | COMMON_FORMAT | COMMON_DRY_RUN | COMMON_JOBS,
    .examples = examples,
    .run = run,
};
