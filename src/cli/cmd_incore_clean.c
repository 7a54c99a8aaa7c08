/*
 * strata incore clean: the trace of one kernel, made readable.
 */
#include <inttypes.h>
#include <unistd.h>

#include "cli/session.h"
#include "flow/flow_incore_clean.h"

struct args {
    const char *output_dir;
    bool compat, keep_scalar, keep_head, keep_counters, raw_metrics, copy_raw;
};

static const struct args defaults = {.copy_raw = true};

static const struct opt options[] = {
    OPT_FLAG(0, "compat", struct args, compat,
             "files, messages and exit codes of the public cleaner"),
    OPT_FLAG(0, "keep-scalar", struct args, keep_scalar, "draw the SCALAR pipe too"),
    OPT_FLAG(0, "keep-head", struct args, keep_head, "draw the slices cache_time and ccu_time"),
    OPT_FLAG(0, "keep-counters", struct args, keep_counters, "keep the throughput counters"),
    OPT_FLAG(0, "raw-metrics", struct args, raw_metrics,
             "write the table of instructions as it is in the file"),
    OPT_FLAG(0, "copy-raw", struct args, copy_raw,
             "copy the input's folder to raw_simulator when the output is elsewhere (yes)"),
    OPT_STRING(0, "output-dir", "DIR", struct args, output_dir, "the same as --out"),
    OPT_END,
};

static struct incore_clean_job job_of(const struct session *s, const struct args *args,
                                      const char *path)
{
    return (struct incore_clean_job){
        .path = path,
        .out = s->common.out != NULL ? s->common.out : args->output_dir,
        .rules = {.is_compat = args->compat,
                  .keep_scalar = args->keep_scalar,
                  .keep_head = args->keep_head,
                  .keep_counters = args->keep_counters && !args->compat},
        .raw_metrics = args->raw_metrics,
        .copy_raw = args->copy_raw,
    };
}

/* The reference's own words on standard error. */
static void compat_diag(const struct diag *d)
{
    struct out err;

    out_init(&err, STDERR_FILENO, false);
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
    enum status status = flow_incore_clean(job, &d, &result);
    for (size_t i = 0; i < result.wrote.n; i++) {
        out_printf(&s->out, "wrote %s\n", result.wrote.at[i]);
        if (i == 0 && result.skipped > 0)
            out_printf(&s->out,
                       "note: %" PRIu64 " sync flag(s) could not be re-anchored and were skipped\n",
                       result.skipped);
    }
    if (result.copied != NULL)
        out_printf(&s->out, "copied raw binary trace into %s\n", result.copied);
    compat_diag(&d);
    diag_fini(&d);
    incore_clean_result_free(&result);
    return status == ST_OK ? CODE_DONE : CODE_NO;
}

static int run_one(struct session *s, const struct incore_clean_job *job)
{
    struct incore_clean_result result;
    enum status status = flow_incore_clean(job, &s->diag, &result);

    for (size_t i = 0; i < result.wrote.n; i++)
        session_wrote(s, result.wrote.at[i]);
    incore_clean_result_free(&result);
    return session_code(status);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    int code = CODE_DONE;

    for (size_t i = 0; i < s->operands.n && code == CODE_DONE; i++) {
        struct incore_clean_job job = job_of(s, args, s->operands.at[i]);
        code = args->compat ? run_compat(s, &job) : run_one(s, &job);
    }
    return code;
}

const struct command command_incore_clean = {
    .name = "clean",
    .group = GROUP_INCORE,
    .summary = "make the trace of one kernel readable",
    .usage = "[OPTIONS] PATH...",
    .details = "Reads visualize_data.bin.",
    .see = "docs/formats/incore-clean.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .common = COMMON_OUT,
    .run = run,
};
