/*
 * strata gpu compare: what changed from one run to another.
 */
#include <math.h>

#include "base/files/fs.h"
#include "cli/gpu/gpu_options.h"
#include "gpu/collect/gpu_jobs.h"
#include "gpu/collect/rundir.h"
#include "gpu/judge/compare.h"
#include "gpu/judge/report.h"
#include "report/report.h"

struct args {
    bool force, allow_unknown;
    double gate;
    const char *devlog;
};

static const struct args defaults = {.gate = -1};

static const struct opt options[] = {
    OPT_FLAG(0, "force-compare", struct args, force,
             "compare even if parameters, device or clocks differ"),
    OPT_DOUBLE(0, "gate", "PERCENT", struct args, gate,
               "exit code 1 if a run is that much slower than the one before"),
    OPT_FLAG(0, "allow-unknown", struct args, allow_unknown, "pass --gate where it cannot tell"),
    OPT_STRING(0, "devlog", "FILE", struct args, devlog,
               "versions of a development log before those of the folders"),
};

static const struct example examples[] = {
    {"strata gpu compare examples/gpu-rules/run examples/gpu-rules/run", "a run against itself"},
    {"strata gpu compare --gate 5 examples/gpu-rules/run examples/gpu-rules/run",
     "fail when the second run is over 5 % slower"},
};

/* A run of a folder, or of files that `strata gpu import` reads. */
struct gpu_loaded {
    struct gpu_imported imported; /* owns the run */
    struct gpu_run *run;          /* NULL: not loaded */
    bool is_imported;
};

static enum status load(struct session *s, const char *path, struct gpu_loaded *out)
{
    const char *const paths[] = {path};
    const struct gpu_import_job job = {.paths = paths, .n_paths = 1};
    enum status st;

    *out = (struct gpu_loaded){.is_imported = !fs_is_dir(path)};
    if (out->is_imported) {
        st = gpu_import_run(&job, &out->imported, &s->diag);
        if (st == ST_OK)
            gpu_note_inputs(s, &out->imported);
        else
            gpu_imported_free(&out->imported);
    } else
        st = gpu_rundir_load(path, &out->imported.run, &s->diag);
    if (st == ST_OK)
        out->run = &out->imported.run;
    return st;
}

static void unload(struct gpu_loaded *l)
{
    if (l->run != NULL && l->is_imported)
        gpu_imported_free(&l->imported);
    else if (l->run != NULL)
        gpu_run_free(l->run);
    l->run = NULL;
}

/* Says why two runs cannot be compared; false when that is forced. */
static bool is_refused(struct session *s, const struct args *args, const struct gpu_run *a,
                       struct gpu_run *b, const char *path)
{
    const char *refusal = gpu_compare_refusal(a, b);

    if (refusal != NULL && !args->force) {
        diag_fail(&s->diag, ST_UNSUPPORTED, "gpu.not-comparable", (struct where){.path = path},
                  "%s", refusal);
        diag_hint(&s->diag, "try", "--force-compare");
        return true;
    }
    if (refusal != NULL)
        diag_add(&s->diag, SEV_WARN, "gpu.compared-anyway", (struct where){.path = path}, "%s",
                 arena_cstr(&s->arena, str_of(refusal)));
    return false;
}

static int compare(struct session *s, const struct args *args, const struct gpu_run *a,
                   struct gpu_run *b)
{
    if (is_refused(s, args, a, b, s->operands.at[1]))
        return CODE_NO;
    session_give(s, &(struct answer){.schema = &gpu_compare_schema,
                                     .origin = "measured",
                                     .result = gpu_compare_find(a, b),
                                     .title = S(""),
                                     .describe = gpu_compare_describe});
    return CODE_DONE;
}

/* The newest version against the one before, by what both launch; NULL: nothing. */
static const struct gpu_comparison *match_versions(struct session *s, const struct gpu_run *before,
                                                   struct gpu_run *run, const char *path)
{
    const struct gpu_comparison *c = gpu_compare_find(before, run);

    if (c->matched > 0 || c->is_whole)
        return c;
    diag_fail(&s->diag, ST_UNSUPPORTED, "gpu.not-comparable", (struct where){.path = path},
              "no launch is in both runs");
    return NULL;
}

/* Runs that do not compare with the first one are refused. */
static enum status add_version(struct session *s, const struct args *args, struct gpu_versions *v,
                               struct gpu_loaded *runs, size_t i)
{
    const char *path = s->operands.at[i];
    const struct gpu_comparison *change = NULL;

    TRY(load(s, path, &runs[i]));
    if (i > 0 && is_refused(s, args, runs[0].run, runs[i].run, path))
        return ST_UNSUPPORTED;
    if (i > 0 && (change = match_versions(s, runs[i - 1].run, runs[i].run, path)) == NULL)
        return ST_UNSUPPORTED;
    gpu_versions_add(v, runs[i].run, path, change, &s->arena);
    if (i > 1)
        unload(&runs[i - 1]);
    return ST_OK;
}

static int compare_many(struct session *s, const struct args *args)
{
    struct gpu_versions v = {.allowed = args->gate >= 0 ? args->gate : NAN};
    struct gpu_loaded *runs = ARENA_ARRAY(&s->arena, struct gpu_loaded, s->operands.n + 1);
    enum status st = ST_OK;

    if (args->devlog != NULL)
        st = gpu_versions_of_log(&v, args->devlog, &s->arena, &s->diag);
    for (size_t i = 0; i < s->operands.n && st == ST_OK; i++)
        st = add_version(s, args, &v, runs, i);
    bool is_shut = v.gate == GATE_FAIL || (v.gate == GATE_UNKNOWN && !args->allow_unknown);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &gpu_versions_schema,
                                         .origin = "measured",
                                         .result = &v,
                                         .title = S(""),
                                         .describe = gpu_versions_describe});
    int code = st == ST_UNSUPPORTED         ? CODE_NO
               : st != ST_OK                ? session_code(st)
               : is_shut && args->gate >= 0 ? CODE_NO
                                            : CODE_DONE;
    for (size_t i = 0; i < s->operands.n; i++)
        unload(&runs[i]);
    gpu_versions_free(&v);
    return code;
}

static int compare_run(struct session *s, const void *given)
{
    const struct args *args = given;

    if (s->operands.n == 2 && args->devlog == NULL && args->gate < 0) {
        struct gpu_loaded a, b = {.run = NULL};
        enum status st = load(s, s->operands.at[0], &a);
        if (st == ST_OK)
            st = load(s, s->operands.at[1], &b);
        int code = st == ST_OK ? compare(s, args, a.run, b.run) : session_code(st);
        unload(&b);
        unload(&a);
        return code;
    }
    if (s->operands.n < 2 && args->devlog == NULL)
        return session_usage(s, "compare takes two or more runs, or --devlog");
    return compare_many(s, args);
}

const struct command command_gpu_compare = {
    .name = "compare",
    .group = GROUP_RECORD,
    .summary = "compare GPU runs",
    .usage = "[OPTIONS] A B…",
    .details =
        "A and B are run folders, or pages of Nsight Compute as CSV; A is the older run. Launches "
        "are matched by the name of their kernel, grid, block and order; those that one run has "
        "alone are listed and count in no figure. Each kernel's change has a 99 % interval from "
        "its launches, by the rule of `strata diff`. More runs, or --devlog, give a table with one "
        "row for each version, oldest first; with --gate the exit code is 1 unless each version is "
        "shown to be slower than the one before by less than that percentage, or is the same "
        "recording. Runs that differ in parameters, device, mode or clocks are rejected with exit "
        "code 1.",
    .see = "docs/gpu.md",
    .operands = {.kind = OPERAND_FILE, .min = 0, .max = SIZE_MAX},
    .schemas = {&gpu_compare_schema, &gpu_versions_schema},
    COMMAND_PARTS,
    .run = compare_run,
};
