/*
 * strata gpu compare: what changed from one run to another.
 */
#include "cli/session.h"
#include "gpu/collect/run_record.h"
#include "gpu/collect/rundir.h"
#include "gpu/judge/report.h"
#include "gpu/judge/versions.h"
#include "report/report.h"

struct args {
    bool force;
    double gate;
    const char *devlog;
};

static const struct args defaults = {.gate = -1};

static const struct opt options[] = {
    OPT_FLAG(0, "force-compare", struct args, force,
             "compare even if parameters, device or clocks differ"),
    OPT_DOUBLE(0, "gate", "PERCENT", struct args, gate,
               "exit code 1 if a run is that much slower than the one before"),
    OPT_STRING(0, "devlog", "FILE", struct args, devlog,
               "versions of a development log before those of the folders"),
};

static const struct example examples[] = {
    {"strata gpu compare examples/gpu-rules/run examples/gpu-rules/run", "a run against itself"},
    {"strata gpu compare --gate 5 examples/gpu-rules/run examples/gpu-rules/run",
     "fail when the second run is over 5 % slower"},
};

static void describe_changes(const void *result, struct report *r)
{
    const struct gpu_run *run = result;

    report_records(r, &gpu_change_record, run->changes.at, run->changes.n, NULL);
}

static void describe_versions(const void *result, struct report *r)
{
    const struct gpu_versions *v = result;

    report_records(r, &gpu_version_record, v->at.at, v->at.n, NULL);
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
    session_give(s, &(struct answer){.schema = &gpu_compare_schema,
                                     .origin = "measured",
                                     .result = b,
                                     .describe = describe_changes});
    return CODE_DONE;
}

/* Runs that do not compare with the first one are refused. */
static enum status add_run(struct session *s, const struct args *args, struct gpu_versions *v,
                           const struct gpu_run *first, const char *path)
{
    struct gpu_run run;

    TRY(gpu_rundir_load(path, &run, &s->diag));
    const char *refusal = gpu_compare_refusal(first, &run);
    if (refusal == NULL || args->force) {
        gpu_versions_add(v, &run, path, &s->arena);
    } else {
        diag_fail(&s->diag, ST_UNSUPPORTED, "gpu.not-comparable", (struct where){.path = path},
                  "%s", refusal);
        diag_hint(&s->diag, "try", "--force-compare");
    }
    gpu_run_free(&run);
    return refusal == NULL || args->force ? ST_OK : ST_UNSUPPORTED;
}

static int compare_many(struct session *s, const struct args *args)
{
    struct gpu_versions v = {.allowed = args->gate >= 0 ? args->gate : 0};
    struct gpu_run first;
    bool has_first = false;
    enum status st = ST_OK;

    if (args->devlog != NULL)
        st = gpu_versions_of_log(&v, args->devlog, &s->arena, &s->diag);
    if (st == ST_OK && s->operands.n > 0) {
        st = gpu_rundir_load(s->operands.at[0], &first, &s->diag);
        has_first = st == ST_OK;
    }
    if (has_first)
        gpu_versions_add(&v, &first, s->operands.at[0], &s->arena);
    for (size_t i = 1; i < s->operands.n && st == ST_OK; i++)
        st = add_run(s, args, &v, &first, s->operands.at[i]);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &gpu_versions_schema,
                                         .origin = "measured",
                                         .result = &v,
                                         .describe = describe_versions});
    int code = st == ST_UNSUPPORTED             ? CODE_NO
               : st != ST_OK                    ? session_code(st)
               : v.is_slower && args->gate >= 0 ? CODE_NO
                                                : CODE_DONE;
    if (has_first)
        gpu_run_free(&first);
    gpu_versions_free(&v);
    return code;
}

static int compare_run(struct session *s, const void *given)
{
    const struct args *args = given;

    if (s->operands.n == 2 && args->devlog == NULL && args->gate < 0) {
        struct gpu_run a, b;
        TRY_CODE(session_code(gpu_rundir_load(s->operands.at[0], &a, &s->diag)));
        enum status st = gpu_rundir_load(s->operands.at[1], &b, &s->diag);
        int code = st == ST_OK ? compare(s, args, &a, &b) : session_code(st);
        if (st == ST_OK)
            gpu_run_free(&b);
        gpu_run_free(&a);
        return code;
    }
    if (s->operands.n < 2 && args->devlog == NULL)
        return session_usage(s, "compare takes two or more folders, or --devlog");
    return compare_many(s, args);
}

const struct command command_gpu_compare = {
    .name = "compare",
    .group = GROUP_RECORD,
    .summary = "compare GPU runs",
    .usage = "[OPTIONS] DIR_A DIR_B…",
    .details =
        "DIR_A and DIR_B are run folders; DIR_A is the older run. More folders, or --devlog, give "
        "a "
        "table with one row for each version, oldest first; with --gate the exit code is 1 when a "
        "version is slower than the one before by more than that percentage and the noise. "
        "Durations that differ by at most "
        "1 %, or by at most twice the spread of both runs, are marked \xe2\x89\x88. Runs that "
        "differ in parameters, device, mode or clocks are rejected with exit code 1.",
    .see = "docs/gpu.md",
    .operands = {.kind = OPERAND_DIR, .min = 0, .max = SIZE_MAX},
    .schemas = {&gpu_compare_schema, &gpu_versions_schema},
    COMMAND_PARTS,
    .run = compare_run,
};
