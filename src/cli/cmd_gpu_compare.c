/*
 * strata gpu compare: what changed from one run to another.
 */
#include "cli/session.h"
#include "gpu/report.h"
#include "gpu/run_record.h"
#include "gpu/rundir.h"
#include "report/report.h"

struct args {
    bool force;
};

static const struct opt options[] = {
    OPT_FLAG(0, "force-compare", struct args, force,
             "compare even if parameters, device or clocks differ"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata gpu compare examples/gpu-rules/run examples/gpu-rules/run", "a run against itself"},
    {0},
};

static void print_text(struct session *s, const struct gpu_run *b)
{
    struct report *r = report_new(LANG_EN, S(""));

    report_records(r, &gpu_change_record, b->changes.at, b->changes.n, NULL);
    session_report(s, r);
    report_free(r);
}

static int compare(struct session *s, const struct args *args, const struct gpu_run *a,
                   struct gpu_run *b)
{
    const char *refusal = gpu_compare_refusal(a, b);

    if (refusal != NULL && !args->force) {
        diag_fail(&s->diag, ST_UNSUPPORTED, "gpu.not-comparable",
                  (struct where){.path = s->operands.at[1]}, "%s", refusal);
        diag_hint(&s->diag, "try", "--force-compare");
        return CODE_NO;
    }
    if (refusal != NULL)
        diag_add(&s->diag, SEV_WARN, "gpu.compared-anyway",
                 (struct where){.path = s->operands.at[1]}, "%s", refusal);
    gpu_compare(a, b);
    if (s->common.json)
        session_document(s, &gpu_compare_schema, "measured", b, NULL);
    else
        print_text(s, b);
    return CODE_DONE;
}

static int run(struct session *s, const void *given)
{
    struct gpu_run a, b;

    enum status st = gpu_rundir_load(s->operands.at[0], &a, &s->diag);
    if (st != ST_OK)
        return session_code(st);
    st = gpu_rundir_load(s->operands.at[1], &b, &s->diag);
    int code = st == ST_OK ? compare(s, given, &a, &b) : session_code(st);
    if (st == ST_OK)
        gpu_run_free(&b);
    gpu_run_free(&a);
    return code;
}

const struct command command_gpu_compare = {
    .name = "compare",
    .group = GROUP_RECORD,
    .summary = "compare two GPU runs",
    .usage = "[OPTIONS] DIR_A DIR_B",
    .details =
        "DIR_A and DIR_B are run folders; DIR_A is the older run. Durations that differ by at most "
        "1 %, or by at most twice the spread of both runs, are marked \xe2\x89\x88. Runs that "
        "differ in parameters, device, mode or clocks are rejected with exit code 1.",
    .see = "docs/gpu.md",
    .operands = {.kind = OPERAND_DIR, .min = 2, .max = 2},
    .schemas = {&gpu_compare_schema},
    COMMAND_PARTS_ZERO,
};
