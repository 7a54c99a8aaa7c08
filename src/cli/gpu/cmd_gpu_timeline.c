/*
 * strata gpu timeline: what a GPU did over time, from a recorded trace.
 */
#include "cli/captures.h"
#include "gpu/timeline/gpu_timeline_job.h"
#include "gpu/timeline/timeline_out.h"

struct args {
    struct gpu_timeline_job job;
};

static const struct args defaults = {.job = {.input = CAPTURE_INPUT()}};

static const struct opt options[] = {
    OPT_STRING(0, "nvtx", "NAME", struct args, job.range,
               "only the first NVTX range or annotation of this name"),
    CAPTURE_OPTIONS(struct args, job.input),
};

static const struct example examples[] = {
    {"strata gpu timeline examples/kineto-small", "busy, idle, launches, gaps by cause"},
    {"strata gpu timeline examples/kineto-small -o out", "also write tables and a trace"},
};

static void gpu_timeline_describe(const void *set, struct report *r)
{
    timeline_set_describe(set, r);
}

static int timeline_command_run(struct session *s, const void *given)
{
    struct gpu_timeline_job job = ((const struct args *)given)->job;
    struct gpu_timeline_result result;

    job.path = s->operands.at[0];
    job.out = s->common.out;
    job.lang = session_lang(s);
    captures_input(s, &job.input);
    enum status status = gpu_timeline_run(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK) {
        captures_read(s, result.fleet);
        for (size_t i = 0; i < result.n_written; i++)
            session_wrote(s, result.written[i]);
        session_give(s, &(struct answer){
                            .schema = &timeline_schema,
                            .origin = origin_name(result.fleet->ranks.at[0]->origin),
                            .result = &(struct timeline_set){result.timelines, result.n, job.path},
                            .describe = gpu_timeline_describe,
                        });
    }
    gpu_timeline_result_free(&result);
    return session_code(status);
}

const struct command command_gpu_timeline = {
    .name = "timeline",
    .group = GROUP_RECORD,
    .summary = "analyse a GPU trace: overlap, launch latency, gaps",
    .usage = "[OPTIONS] TRACE",
    .details =
        "Reads a GPU trace (PyTorch profiler, Nsight Systems export, or strata's own) and reports "
        "per device: busy and idle time, communication and copies hidden by kernels, stream "
        "overlap, launch latency, the cause of each gap, CUDA graph cost, and the kernels that "
        "take the most time. Busy times are unions: concurrent work counts once.\n"
        "\n"
        "-o DIR writes report.md and, in DIR/timeline, the tables kernels.csv, memops.csv, "
        "api.csv, sync.csv, nvtx.csv, graphs.csv, streams.csv, overlap.csv, gaps.csv and "
        "trace.json.gz for trace viewers.\n"
        "\n"
        "--nvtx NAME restricts the analysis to that range; work that crosses its edges is clipped.",
    .see = "docs/analyses/gpu-timeline.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_OUT | COMMON_LANG,
    .schemas = {&timeline_schema},
    COMMAND_PARTS,
    .run = timeline_command_run,
};
