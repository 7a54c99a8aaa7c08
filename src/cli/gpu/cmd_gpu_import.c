/*
 * strata gpu import: files of other profilers as the folder of a run.
 */
#include "cli/gpu/gpu_options.h"
#include "gpu/collect/gpu_info.h"
#include "gpu/judge/report.h"
#include "report/report.h"

struct args {
    struct gpu_ask ask;
};

static const struct opt options[] = {
    OPT_GPU_WORK(struct args, ask),
    OPT_GPU_NAMES(struct args, ask),
};

static const struct example examples[] = {
    {"strata gpu import examples/gpu-rules/raw.csv examples/gpu-rules/source.csv --out run1",
     "pages of one Nsight Compute report"},
};

/* The block that reports of runs begin with, as files have it. */
static void import_describe(const void *result, struct report *r)
{
    const struct gpu_imported *imported = result;
    struct text text = {0};

    gpu_report_block(&imported->run, r->lang, &text);
    report_text(r, str_trim(text_view(&text)));
    text_free(&text);
}

static int import_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gpu_import_job job = gpu_job_of(s, &args->ask);
    struct gpu_imported imported;

    TRY_CODE(gpu_options_check(s, &args->ask));
    enum status st = gpu_import_run(&job, &imported, &s->diag);
    if (st == ST_OK)
        st = gpu_imported_save(&imported, s->common.out, gpu_info_time(&s->arena), &s->arena,
                               &s->diag);
    if (st == ST_OK) {
        gpu_note_inputs(s, &imported);
        session_wrote(s, imported.folder);
        session_give(s, &(struct answer){.schema = &gpu_import_schema,
                                         .origin = "measured",
                                         .result = &imported,
                                         .describe = import_describe});
    }
    gpu_imported_free(&imported);
    return session_code(st);
}

const struct command command_gpu_import = {
    .name = "import",
    .group = GROUP_RECORD,
    .summary = "create a run folder from other profilers' files",
    .usage = "[OPTIONS] FILE…",
    .details = "Reads Nsight Compute pages as CSV (raw, details, source; pages of one report are "
               "joined; gzip or - for standard input also work), counters by kernel, kernel "
               "summaries of nsys stats, or traces (Nsight Systems databases, PyTorch traces), "
               "which become a timeline run. Writes the folder that `strata gpu report` and "
               "`strata gpu compare` read: strata-out/profiles/MODE/KERNEL/PARAMS/TIME, or --out.\n"
               "\n"
               "Without a spec file every kernel with at least 1 % of the time becomes a stage. "
               "--spec, --param, --flops and --bytes describe the work, so that the report can "
               "give each stage's distance from its roofline floor.",
    .see = "docs/gpu.md",
    .common = COMMON_OUT,
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .schemas = {&gpu_import_schema},
    COMMAND_PARTS_ZERO,
    .run = import_run,
};
