/*
 * strata convert: a capture, or a part of it, in a format that other programs open.
 */
#include <unistd.h>

#include "answers/answer_convert.h"
#include "cli/captures.h"
#include "cli/compress.h"

struct args {
    struct convert_job job;
    const char *steps, *range;
    int compress; /* enum compress_choice */
};

enum { ROWS_NOT_GIVEN = -1 };

static const struct args defaults = {
    .job = {.rows = (enum timeline_rows)ROWS_NOT_GIVEN, .input = CAPTURE_INPUT()},
    .compress = COMPRESS_NOT_GIVEN,
};

/* In the order of enum timeline_rows. */
static const char *const what_choices[] = {"kernels", "slices", NULL};

static const struct opt options[] = {
    OPT_STRING(0, "to", "FORMAT", struct args, job.to, "format of OUT (default: by its name)"),
    OPT_STRING(0, "steps", "LIST", struct args, steps, "only these steps, e.g. 3-5,7"),
    OPT_STRING(0, "range", "A-B", struct args, range,
               "only this time range, e.g. 10ms-25ms or 2s-"),
    OPT_LIST(0, "lane", "GLOB", struct args, job.lanes,
             "only lanes whose name matches; repeatable"),
    OPT_FLAG(0, "clip", struct args, job.clip,
             "cut slices at the edges of the steps and the range"),
    OPT_CHOICE(0, "what", what_choices, struct args, job.rows,
               "rows of a table (default: kernels)"),
    OPT_COMPRESS(struct args, compress),
    OPT_INT(0, "width", "N", struct args, job.width, 50, 4096,
            "width of a picture (default: 1200 pixels, 100 characters)"),
    CAPTURE_OPTIONS(struct args, job.input),
};

static const struct example examples[] = {
    {"strata convert examples/ascend-small -o small.json", "a timeline for Perfetto or Chrome"},
    {"strata convert examples/ascend-small -o step1.pftrace --steps 1",
     "one step in Perfetto's binary format"},
    {"strata convert examples/ascend-small -o - --to csv --range 0-2ms --lane 'Stream 2'",
     "the kernels of one stream as a table"},
    {"strata convert examples/ascend-small -o small.parquet --what slices",
     "all slices for DuckDB or pandas"},
    {"strata convert examples/ascend-small -o small.folded", "stacks for a flame graph"},
    {"strata convert examples/ascend-small -o small.png", "a picture of all lanes"},
    {"strata convert examples/ascend-small -o - --to text", "the same in characters"},
    {"strata convert examples/ranks -o ranks.pftrace", "all ranks, on one clock"},
};

/* What the command line leaves to be worked out; CODE_DONE, or the code of the mistake. */
static int complete(struct session *s, const struct args *args, struct convert_job *job)
{
    struct convert_steps *steps = NULL;

    job->path = s->operands.at[0];
    job->out = s->common.out;
    job->sink = session_sink(s);
    job->is_dry_run = s->common.dry_run;
    job->csv_safe = s->common.csv_safe;
    job->is_plain = args->compress == COMPRESS_NONE;
    captures_input(s, &job->input);
    if (job->out == NULL)
        return session_usage(s, "convert needs -o FILE");
    if (args->steps != NULL) {
        job->steps_n = convert_steps_parse(args->steps, &s->arena, &steps);
        job->steps = steps;
        if (job->steps_n == 0)
            return session_usage(s, "--steps must be step numbers such as 3-5,7, not '%s'",
                                 args->steps);
    }
    if (args->range != NULL && !convert_range_parse(args->range, &job->range))
        return session_usage(s, "--range must be times such as 10ms-25ms or 2s-, not '%s'",
                             args->range);
    return CODE_DONE;
}

/* Checks that depend on the chosen format. */
static int check_format(struct session *s, const struct args *args, struct convert_job *job,
                        const struct timeline_format *format)
{
    bool is_stdout = strcmp(job->out, "-") == 0;

    if ((int)job->rows == ROWS_NOT_GIVEN)
        job->rows = TIMELINE_KERNELS;
    else if (!format->is_table)
        return session_usage(s,
                             "--what applies to csv, arrow and parquet; %s always holds everything",
                             format->name);
    if (args->compress != COMPRESS_NOT_GIVEN && !(format->is_query && format->is_table))
        return session_usage(s, COMPRESS_MISUSED, format->name);
    if (is_stdout && !job->is_dry_run)
        TRY_CODE(session_own_form(s, "-o -"));
    if (is_stdout && format->is_binary && !job->is_dry_run && !s->is_embedded &&
        isatty(STDOUT_FILENO) == 1)
        return session_usage(s, "%s is binary; write it to a file or a pipe", format->name);
    return CODE_DONE;
}

static void convert_give(struct session *s, const struct convert_job *job,
                         const struct convert_result *r)
{
    bool is_answer = strcmp(job->out, "-") == 0 && !job->is_dry_run;
    const struct answer a = convert_answer(r);

    captures_read(s, r->fleet);
    if (!is_answer && !job->is_dry_run)
        session_wrote(s, job->out);
    if (!is_answer)
        session_give(s, &a);
}

static int convert_run(struct session *s, const void *given)
{
    const struct args *args = given;
    const struct timeline_format *format;
    struct convert_job job = args->job;
    struct convert_result result;

    TRY_CODE(complete(s, args, &job));
    enum status status = convert_format(&job, &s->diag, &format);
    if (status != ST_OK)
        return CODE_USAGE;
    TRY_CODE(check_format(s, args, &job, format));
    status = answer_convert(&job, &s->diag, &result);
    if (status == ST_OK)
        convert_give(s, &job, &result);
    convert_result_free(&result);
    return session_code(status);
}

const struct command command_convert = {
    .name = "convert",
    .group = GROUP_TOOLS,
    .summary = "write a capture, or part of it, in another format",
    .usage = "[OPTIONS] CAPTURE -o OUT",
    .details =
        "Reads any capture and writes it as a Chrome trace (chrome: .json, chrome-gz: "
        ".json.gz), Perfetto's binary trace (perfetto: .pftrace, .perfetto-trace), a table "
        "(csv, arrow, parquet), a database of all tables of strata query (sqlite: .db, "
        ".sqlite), stacks of slices (folded for flame graphs; speedscope: .speedscope.json; "
        "pprof: .pb.gz), a file for MindStudio Insight (insight: visualize_data.bin) or a "
        "picture of how busy each lane is (png; text: .lanes.txt). OUT is replaced only when "
        "complete; - is standard output.\n"
        "\n"
        "--steps, --range and --lane cut a smaller trace out of a large one. Times of "
        "--range count from the start of the capture. A slice that crosses an edge stays "
        "whole unless --clip is given. An arrow is kept if both its ends are, a counter "
        "sample if it lies inside. With both --steps and --range only their intersection is "
        "kept. Steps come from the profiler's marks, else from the step ids of kernels; a "
        "step lasts until the next one begins.\n"
        "\n"
        "--lane takes a shell pattern for a lane's name as recorded (2), as shown ('Stream "
        "2'), or prefixed with its process ('GPU 0/*').\n"
        "\n"
        "Ranks of one job that lie in a folder come onto one clock, that of the lowest, by the "
        "ends "
        "of their collectives; where a rank shares none, by its wall clock. A timeline has their "
        "lanes one below the other, and its steps begin with the first rank; tables have a column "
        "for the rank, and each has its own steps.\n"
        "\n"
        "Slices of one lane that overlap without nesting, which viewers cannot draw, are "
        "spread over extra rows called 'name (2)' and so on.",
    .see = "docs/formats/chrome-output.md, docs/formats/perfetto.md, docs/formats/csv-output.md, "
           "docs/formats/tables.md, docs/formats/flame.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_OUT | COMMON_DRY_RUN | COMMON_CSV,
    .schemas = {&convert_schema},
    COMMAND_PARTS,
    .run = convert_run,
};
