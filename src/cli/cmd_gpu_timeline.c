/*
 * strata gpu timeline: what a GPU did over time, from a recorded trace.
 */
#include "cli/captures.h"
#include "flow/flow_gpu_timeline.h"
#include "gpu/timeline_out.h"

struct args {
    struct gpu_timeline_job job;
};

static const struct args defaults = {.job = {.input = CAPTURE_INPUT()}};

static const struct opt options[] = {
    OPT_STRING(0, "nvtx", "NAME", struct args, job.range,
               "only the time of the first NVTX range or annotation of this name"),
    CAPTURE_OPTIONS(struct args, job.input),
    OPT_END,
};

static const struct example examples[] = {
    {"strata gpu timeline examples/kineto-small", "busy, idle, launches, gaps by cause"},
    {"strata gpu timeline examples/kineto-small -o out", "also as tables and a trace"},
    {0},
};

static void tell(struct session *s, const struct gpu_timeline_result *r)
{
    captures_read(s, r->fleet);
    for (size_t i = 0; i < r->n_written; i++)
        session_wrote(s, r->written[i]);
    if (s->common.json)
        session_document(s, &timeline_schema, origin_name(r->fleet->ranks.at[0]->origin),
                         &(struct timeline_set){r->timelines, r->n},
                         &(struct record_env){.arena = &s->arena});
    else if (!s->common.quiet)
        session_report(s, r->report);
}

static int run(struct session *s, const void *given)
{
    struct gpu_timeline_job job = ((const struct args *)given)->job;
    struct gpu_timeline_result result;

    job.path = s->operands.at[0];
    job.out = s->common.out;
    captures_input(s, &job.input);
    enum status status = flow_gpu_timeline(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK)
        tell(s, &result);
    gpu_timeline_result_free(&result);
    return session_code(status);
}

const struct command command_gpu_timeline = {
    .name = "timeline",
    .group = GROUP_GPU,
    .summary = "overlap, stream concurrency, launch latency and gaps of a recorded run",
    .usage = "[OPTIONS] TRACE",
    .details =
        "Reads a trace of a GPU (PyTorch profiler, Nsight Systems export, or strata's own) and "
        "tells, per device: busy and idle time, how much communication and copies kernels hide, "
        "how streams overlap, how long launches take to start, what the device waited for in each "
        "gap, what CUDA graphs cost, and which kernels take the time. Busy times are unions: work "
        "that runs side by side counts once.\n"
        "\n"
        "-o DIR writes report.md and, in DIR/timeline, the tables kernels.csv, memops.csv, "
        "api.csv, sync.csv, nvtx.csv, graphs.csv, streams.csv, overlap.csv, gaps.csv and "
        "trace.json.gz for trace viewers.\n"
        "\n"
        "--nvtx NAME looks only at the time of that range; work that crosses its borders is cut "
        "there.",
    .see = "docs/analyses/gpu-timeline.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_OUT,
    .schemas = {&timeline_schema},
    COMMAND_PARTS,
};
