/*
 * strata incore clean: the trace of one kernel, made readable.
 */
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/text/inert.h"
#include "base/text/shell_word.h"
#include "cli/kernel/incore_clock.h"
#include "kernels/incore/incore_clean_job.h"
#include "kernels/pto/cost/chips.h"
#include "report/report.h"

struct args {
    struct incore_clean_job job;
    struct incore_clock clock;
    const char *output_dir;
};

static const struct args defaults = {.job = {.copy_raw = true}};

static const struct opt options[] = {
    OPT_FLAG(0, "compat", struct args, job.rules.is_compat,
             "same files, messages and exit codes as the public cleaner"),
    OPT_FLAG(0, "keep-scalar", struct args, job.rules.keep_scalar, "keep the SCALAR pipe"),
    OPT_FLAG(0, "keep-head", struct args, job.rules.keep_head,
             "keep the slices cache_time and ccu_time"),
    OPT_FLAG(0, "keep-counters", struct args, job.rules.keep_counters,
             "keep the throughput counters"),
    OPT_FLAG(0, "raw-metrics", struct args, job.raw_metrics,
             "write the instruction table unchanged"),
    OPT_FLAG(0, "copy-raw", struct args, job.copy_raw,
             "copy the input folder to raw_simulator (default: on)"),
    OPT_FLAG(0, "perfetto", struct args, job.perfetto, "also write Perfetto's binary format"),
    OPT_FLAG(0, "lossless", struct args, job.lossless,
             "also write every raw event, in non-overlapping rows"),
    OPT_FLAG(0, "salvage", struct args, job.rules.salvage,
             "use the intact part of a truncated or damaged file"),
    INCORE_CLOCK_MHZ(struct args, clock),
    OPT_GROUP("Provenance"),
    OPT_STRING(0, "kernel", "NAME", struct args, job.origin.kernel,
               "write to incore_<kernel>_<source>_<date>"),
    OPT_STRING(0, "source", "FILE", struct args, job.origin.source,
               "script that contains the kernel"),
    OPT_STRING(0, "name", "NAME", struct args, job.name, "name of that folder instead"),
    OPT_STRING(0, "workload", "TEXT", struct args, job.origin.workload,
               "loop bounds, lengths and other run-time values"),
    OPT_LIST(0, "patched", "NAME", struct args, job.origin.patched,
             "a control tensor that was replaced; needs --workload"),
    OPT_STRING(0, "chip", "NAME", struct args, job.origin.soc, "simulated chip, also for its clock",
               .alias = "soc"),
    OPT_STRING(0, "target", "NAME", struct args, job.origin.target,
               "compilation target of the kernel"),
    OPT_STRING(0, "simulator", "TEXT", struct args, job.origin.simulator,
               "simulator name and version"),
    OPT_GROUP("Compatibility"),
    OPT_STRING(0, "output-dir", "DIR", struct args, output_dir, "same as --out"),
};

/* A chip that is not in the table is a note for readers, and says nothing of a clock. */
static double clock_of(const struct args *args)
{
    struct pto_chip chip;
    struct diag quiet;

    if (args->clock.mhz > 0 || args->job.origin.soc == NULL)
        return args->clock.mhz;
    diag_init(&quiet);
    enum status st = pto_chip_find(str_of(args->job.origin.soc), PTO_A2A3, &chip, &quiet);
    diag_fini(&quiet);
    return st == ST_OK ? chip.trace_mhz : 0;
}

static struct incore_clean_job clean_job_of(struct session *s, const struct args *args,
                                            const char *path)
{
    struct incore_clean_job job = args->job;

    job.path = path;
    job.mhz = clock_of(args);
    job.out = s->common.out != NULL ? s->common.out : args->output_dir;
    /* What the results are called: as the folder of the run, or as the file that holds it. */
    struct str name = str_basename(str_of(incore_open_folder(path, &s->arena)));
    if (name.n == 0 || str_equal(name, S(".")) || str_equal(name, S("..")))
        name = S("incore");
    if (job.out == NULL && !job.rules.is_compat)
        job.out = arena_printf(&s->arena, "strata-out/%.*s", STR_ARGS(name));
    if (job.rules.is_compat) {
        job.rules.keep_counters = job.rules.salvage = job.perfetto = false;
        job.origin.kernel = NULL;
    }
    return job;
}

/* The reference's own words on standard error. */
static void compat_diag(const struct diag *d)
{
    struct out err;

    out_init(&err, STDERR_FILENO);
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        const struct diag_text *first = &e->first[0];
        if (e->severity == SEV_NOTE)
            continue;
        out_text(&err, e->severity == SEV_ERROR ? "error: " : "warning: ");
        if (first->where.path != NULL)
            out_printf(&err, "%s: ", first->where.path);
        out_printf(&err, "%s\n", first->text);
    }
    out_flush(&err);
    out_fini(&err);
}

static int run_compat(struct session *s, const struct incore_clean_job *job)
{
    struct incore_clean_result result;
    struct diag d;

    diag_init(&d);
    enum status status = incore_clean_run(job, &d, &result);
    for (size_t i = 0; i < result.wrote.n; i++) {
        out_printf(&s->out, "wrote %s\n", result.wrote.at[i]);
        if (i == 0 && result.study.arrows.skipped > 0)
            out_printf(&s->out,
                       "note: %" PRIu64 " sync flag(s) could not be re-anchored and were skipped\n",
                       result.study.arrows.skipped);
    }
    if (result.copied != NULL)
        out_printf(&s->out, "copied raw binary trace into %s\n", result.copied);
    if (!s->is_embedded)
        compat_diag(&d);
    diag_fini(&d);
    incore_clean_result_free(&result);
    return status == ST_OK ? CODE_DONE : CODE_NO;
}

static void clean_add_pipes(struct report *r, const struct incore_breakdown *b)
{
    static const struct column columns[] = {
        {"pipe", COLUMN_TEXT, 0},
        {"executed", COLUMN_NUMBER, UNIT_COUNT},
        {"cycles", COLUMN_NUMBER, UNIT_COUNT},
        {"busy", COLUMN_NUMBER, UNIT_COUNT},
        {"busy %", COLUMN_RIGHT, 0},
        {"depth", COLUMN_NUMBER, UNIT_COUNT},
        {"wait", COLUMN_NUMBER, UNIT_COUNT},
        {"bytes", COLUMN_NUMBER, UNIT_COUNT},
        {"simulator busy", COLUMN_NUMBER, UNIT_COUNT},
    };
    bool is_told = false;

    for (size_t i = 0; i < b->totals.n; i++)
        is_told = is_told || b->totals.at[i].told_cycles >= 0;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns) - !is_told);
    for (size_t i = 0; i < b->totals.n; i++) {
        const struct incore_use *use = &b->totals.at[i];
        table_text(r, t, use->pipe);
        table_number(t, (double)use->executed);
        table_number(t, (double)use->cycles);
        table_number(t, (double)use->busy_cycles);
        table_text(r, t, arena_format(&r->arena, "%.1f", 100 * use->busy));
        table_number(t, (double)use->max_depth);
        table_number(t, (double)use->wait_cycles);
        table_number(t, (double)use->bytes);
        if (is_told)
            table_number(t, use->told_cycles >= 0 ? (double)use->told_cycles : NAN);
    }
}

static void clean_describe(const void *result, struct report *r)
{
    const struct field_items *list = result;
    const struct incore_clean_result *at = list->at;

    for (size_t i = 0; i < list->n; i++) {
        const struct incore_clean_result *x = &at[i];
        const struct incore_breakdown *b = &x->study.breakdown;
        report_text(r, inert_line(&r->arena, str_of(x->study.bin)));
        report_line(r,
                    "  %" PRIu64 " instructions on %" PRIu64 " rows, %zu arrows, %" PRIu64
                    " unmatched flags",
                    x->instrs, x->rows, x->study.arrows.list.n, x->study.arrows.skipped);
        report_line(r, "  %.*s; cycles at %g MHz%s", STR_ARGS(b->verdict), b->mhz,
                    b->is_assumed ? " (assumed)" : "");
        clean_add_pipes(r, b);
    }
}

/* Which importer knows a file like this. */
static const char *format_of(const struct incore_study *study)
{
    struct str path = str_of(study->bin);

    if (study->made.n > 0)
        return str_ends(path, S(".dump")) ? "camodel-dump" : "core-trace";
    return str_ends(path, S(".json")) ? "core-trace" : "visualize-data";
}

static int run_one(struct session *s, const struct incore_clean_job *job,
                   struct incore_clean_result *result)
{
    enum status status = incore_clean_run(job, &s->diag, result);

    if (result->study.bin != NULL && status == ST_OK)
        session_read(s, result->study.bin, format_of(&result->study), result->study.t.instrs.n,
                     incore_study_lost(&result->study));
    for (size_t i = 0; i < result->wrote.n; i++)
        session_wrote(s, result->wrote.at[i]);
    if (result->copied != NULL)
        session_wrote(s, result->copied);
    return session_code(status);
}

/* The command as it would have to be typed for this run alone. */
static const char *command_of(struct arena *a, const struct incore_clean_job *job)
{
    const struct incore_origin *o = &job->origin;
    const struct {
        const char *name, *value;
    } texts[] = {
        {"--out", job->out},     {"--kernel", o->kernel},       {"--source", o->source},
        {"--name", job->name},   {"--workload", o->workload},   {"--soc", o->soc},
        {"--target", o->target}, {"--simulator", o->simulator},
    };
    const struct {
        const char *name;
        bool is_set;
    } flags[] = {
        {"--keep-scalar", job->rules.keep_scalar},
        {"--keep-head", job->rules.keep_head},
        {"--keep-counters", job->rules.keep_counters},
        {"--raw-metrics", job->raw_metrics},
        {"--no-copy-raw", !job->copy_raw},
        {"--perfetto", job->perfetto},
        {"--lossless", job->lossless},
        {"--salvage", job->rules.salvage},
    };
    struct str line = arena_format(a, "strata incore clean %s", shell_word(a, job->path));

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].value != NULL)
            line =
                arena_format(a, "%s %s %s", line.at, texts[i].name, shell_word(a, texts[i].value));
    for (size_t i = 0; i < o->patched.n; i++)
        line = arena_format(a, "%s --patched %s", line.at, shell_word(a, o->patched.at[i]));
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i].is_set)
            line = arena_format(a, "%s %s", line.at, flags[i].name);
    return job->mhz > 0 ? arena_printf(a, "%s --clock-mhz %g", line.at, job->mhz) : line.at;
}

static int clean_all(struct session *s, const struct args *args, const struct words *paths)
{
    struct incore_clean_result *results =
        ARENA_ARRAY(&s->arena, struct incore_clean_result, paths->n);
    int code = CODE_DONE;
    size_t n = 0;

    for (size_t i = 0; i < paths->n; i++) {
        struct incore_clean_job job = clean_job_of(s, args, paths->at[i]);
        if (paths->n > 1) /* results of several inputs must not meet */
            job.out = arena_printf(&s->arena, "%s/%zu", job.out, i + 1);
        job.origin.command = command_of(&s->arena, &job);
        int own = run_one(s, &job, &results[n]);
        code = code == CODE_DONE ? own : code;
        if (own == CODE_DONE)
            n++;
        else
            incore_clean_result_free(&results[n]);
    }
    session_give(s, &(struct answer){.schema = &incore_clean_schema,
                                     .origin = "simulated",
                                     .result = &(struct field_items){results, n},
                                     .describe = clean_describe});
    for (size_t i = 0; i < n; i++)
        incore_clean_result_free(&results[i]);
    return code;
}

static int clean_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct words paths = {0};
    int code = CODE_DONE;

    if (args->job.origin.patched.n > 0 && args->job.origin.workload == NULL)
        return session_usage(s, "--patched needs --workload with the run-time values");
    if (args->job.origin.kernel != NULL && !fs_is_name(args->job.origin.kernel))
        return session_usage(s, "--kernel must be a name, not a path: %s", args->job.origin.kernel);
    if (args->job.name != NULL && !fs_is_name(args->job.name))
        return session_usage(s, "--name must be a folder name, not a path: %s", args->job.name);
    if (args->clock.mhz < 0 || args->clock.mhz > 100000)
        return session_usage(s, "--clock-mhz must be a frequency in MHz, e.g. 1850");
    for (size_t i = 0; i < s->operands.n && code == CODE_DONE && args->job.rules.is_compat; i++) {
        struct incore_clean_job job = clean_job_of(s, args, s->operands.at[i]);
        code = run_compat(s, &job);
    }
    if (args->job.rules.is_compat)
        return code;
    for (size_t i = 0; i < s->operands.n && code == CODE_DONE; i++)
        code = session_code(incore_open_find(s->operands.at[i], &s->arena, &s->diag, &paths));
    if (code == CODE_DONE)
        code = clean_all(s, args, &paths);
    vec_free(&paths);
    return code;
}

static const struct example examples[] = {
    {"strata incore clean examples/incore -o cleaned --no-copy-raw",
     "a trace for Perfetto and the critical pipe"},
    {"strata incore clean examples/incore -o cleaned --lossless --no-copy-raw",
     "also every event of the raw trace"},
};

const struct command command_incore_clean = {
    .name = "clean",
    .group = GROUP_KERNELS,
    .summary = "make the trace of one kernel readable",
    .usage = "[OPTIONS] PATH...",
    .details =
        "Reads the operator simulator's trace of one kernel (visualize_data.bin, trace.json, a "
        "folder with them, or a folder of core model logs) and writes trace.clean.json, with one "
        "row per pipe, extra rows where instructions overlap, and an arrow for each flag pair; "
        "instr_metrics.json, the instruction table per core; and pipe_breakdown.json and "
        "summary.txt, with the utilisation of each pipe, the critical pipe and health checks. A "
        "folder with several runs gives one set of files per run.\n"
        "\n"
        "The files go to the folder of --out (default: strata-out/ and the name of the input's "
        "folder), never into the input, which is copied to raw_simulator beside them; "
        "--no-copy-raw prevents that. With --kernel the files go to a folder named after kernel, "
        "source and "
        "date. --compat writes exactly the files, messages and exit codes of the public cleaner "
        "(pypto clean_sim_trace), without --out also where that does: beside the input.",
    .see = "docs/formats/incore-clean.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .common = COMMON_OUT,
    .schemas = {&incore_clean_schema},
    COMMAND_PARTS,
    .run = clean_run,
};
