/*
 * strata anomaly: device idle time in each step.
 */

#include "analysis/idle/anomaly.h"
#include "answers/answer_anomaly.h"
#include "base/text/pattern.h"
#include "cli/captures.h"
#include "cli/page_answer.h"

struct args {
    struct anomaly_job job;
    const char *min_bubble;
    struct words fail_if;
    int step_window; /* 1: of the device */
};

static const struct args defaults = {
    .job = {.input = CAPTURE_INPUT(), .study = {.is_contract = true, .max_bubbles = 200}},
    .min_bubble = "100",
};

static const char *const step_sources[] = {"auto", "markers", "passes", "none", NULL};
static const char *const step_windows[] = {"host", "device", NULL};
static const char *const severities[] = {"none", "low", "medium", "high", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "min-bubble", "US", struct args, min_bubble,
               "shortest idle gap to list, in µs (default: 100)"),
    OPT_INT(0, "max-bubbles", "N", struct args, job.study.max_bubbles, 0, 1000000,
            "maximum number of gaps to list (default: 200)"),
    CAPTURE_OPTIONS(struct args, job.input),
    OPT_CHOICE(0, "step-source", step_sources, struct args, job.study.step_choice,
               "how steps are found (default: auto)"),
    OPT_STRING(0, "step-marker", "RE", struct args, job.study.step_marker,
               "names of host ranges to use as steps, if none are marked"),
    OPT_CHOICE(0, "step-window", step_windows, struct args, step_window,
               "start of a step: host mark or first kernel (default: host)"),
    OPT_FLAG(0, "busy-copies", struct args, job.study.busy_copies,
             "count device copies as busy (Ascend)"),
    OPT_INT(0, "top", "N", struct args, job.study.top, 1, 1000000,
            "rows of gaps and operators (default: fit one screen)"),
    OPT_FLAG(0, "no-arch", struct args, job.without_arch,
             "leave out the model architecture report"),
    OPT_STRING(0, "md", "FILE", struct args, job.markdown, "also write the report as Markdown"),
    OPT_CHOICE(0, "fail-on", severities, struct args, job.fail_on,
               "exit with 1 at this severity or above (default: none)"),
    OPT_LIST(0, "fail-if", "COND", struct args, fail_if,
             "exit with 1 if a metric is out of bounds; repeatable"),
};

static const struct example examples[] = {
    {"strata anomaly examples/ascend-small", "idle time of each step"},
    {"strata anomaly examples/ascend-small --json -o out", "as JSON"},
    {"strata anomaly examples/ascend-small --fail-if 'service_ms>50'", "a gate for CI"},
};

static int complete(struct session *s, const struct args *args, struct anomaly_job *job)
{
    struct gate *gates = ARENA_ARRAY(&s->arena, struct gate, args->fail_if.n);
    const char *marker = job->study.step_marker;
    struct pattern *pattern;
    char why[PATTERN_WHY];

    job->path = s->operands.at[0];
    job->out = s->common.out;
    job->is_dry_run = s->common.dry_run;
    job->lang = session_lang(s);
    job->study.device_windows = args->step_window == 1;
    job->gates = gates;
    job->n_gates = args->fail_if.n;
    captures_input(s, &job->input);
    if (!num_us(str_of(args->min_bubble), &job->study.min_bubble) || job->study.min_bubble < 0)
        return session_usage(s, "--min-bubble must be a number of microseconds, not '%s'",
                             args->min_bubble);
    pattern = marker != NULL ? pattern_new(marker, PATTERN_EXACT, why) : NULL;
    if (marker != NULL && pattern == NULL)
        return session_usage(s, "--step-marker: '%s' is not a regular expression", marker);
    pattern_free(pattern);
    for (size_t i = 0; i < args->fail_if.n; i++) {
        const char *problem = gate_parse(&s->arena, args->fail_if.at[i], &gates[i]);
        if (problem != NULL)
            return session_usage(s, "--fail-if '%s': %s", args->fail_if.at[i], problem);
    }
    return CODE_DONE;
}

static int anomaly_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct anomaly_job job = args->job;
    struct anomaly_result result;

    TRY_CODE(complete(s, args, &job));
    enum status status = answer_anomaly(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK) {
        const struct answer a = anomaly_answer(&result);
        if (!job.is_dry_run) {
            for (size_t i = 0; i < result.n && job.out != NULL; i++)
                session_wrote(s, result.at[i].json_path);
            if (job.out != NULL)
                captures_wrote_arch(s, &result.arch);
            if (job.markdown != NULL)
                session_wrote(s, job.markdown);
        }
        status = page_answer_view(s, &a, &result.ranks, "timeline");
    }
    bool is_shut = status == ST_OK && result.gates_reached > 0;
    anomaly_result_free(&result);
    return is_shut ? CODE_NO : session_code(status);
}

const struct command command_anomaly = {
    .name = "anomaly",
    .group = GROUP_EXPLAIN,
    .summary = "find device idle time in each step, and its causes",
    .usage = "[OPTIONS] CAPTURE",
    .details =
        "Reads a profile (a file, or a folder with one) and measures for every step how long no "
        "kernel ran on any stream: before the first kernel, between kernels and after the last. "
        "Each rank of a multi-rank folder is analysed separately.\n"
        "\n"
        "With --step-source auto steps come from the profiler's marks, else from the Step Id "
        "column; a profile with neither is one pseudo-step. markers uses marks only, passes uses "
        "the model's forward passes, and none treats the capture as one step.\n"
        "\n"
        "The result is printed. With -o DIR it is also written to DIR/anomaly_discovery.json "
        "(anomaly_discovery_rank<N>.json for several ranks), along with a model architecture "
        "report (model_architecture_report_<name>.md and .json). With --json the document is "
        "printed instead of the text.\n"
        "\n"
        "For CI, --fail-on medium or --fail-if sets a gate. A condition is a metric of the "
        "document, a comparison and a number: 'underfeed_ratio>0.2' for any step, "
        "'g0.service_ms_p95>50' or 'group.underfeed_ratio_avg>0.3' for groups of steps, "
        "'global.device_gap_ratio>0.5' for the whole capture. If a gate trips, the exit code is 1.",
    .see = "docs/analyses/anomaly.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_OUT | COMMON_DRY_RUN | COMMON_LANG | COMMON_HTML,
    COMMAND_PARTS,
    .run = anomaly_run,
};
