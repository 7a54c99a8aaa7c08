/*
 * strata check: a capture against limits and a baseline, for CI.
 */
#include <math.h>

#include "answers/answer_check.h"
#include "answers/answer_convert.h"
#include "answers/results.h"
#include "cli/captures.h"
#include "report/report.h"

struct args {
    struct check_job job;
    const char *max_idle, *max_step, *max_slowdown, *noise, *save, *junit, *summary;
    struct words fail_if;
    bool github;
};

static const struct args defaults = {.job = {.input = CAPTURE_INPUT(), .max_idle = NAN}};

static const struct opt options[] = {
    OPT_STRING(0, "max-idle", "PCT", struct args, max_idle,
               "device idle time, as a share of all steps: 10%"),
    OPT_STRING(0, "max-step", "TIME", struct args, max_step, "longest step: 20ms"),
    OPT_STRING(0, "baseline", "PATH", struct args, job.baseline,
               "capture, or file of --record, to be no slower than"),
    OPT_STRING(0, "max-slowdown", "PCT", struct args, max_slowdown,
               "how much slower (default: 5%)"),
    OPT_STRING(0, "noise", "PCT", struct args, noise,
               "allowance for noise between runs (default: 1)"),
    OPT_FLAG(0, "allow-unknown", struct args, job.allows_unknown,
             "pass where a comparison cannot tell"),
    OPT_STRING(0, "record", "FILE", struct args, job.record, "write the runs as a baseline (JSON)"),
    OPT_STRING(0, "save", "FILE", struct args, save, "the same, by its older name"),
    OPT_LIST(0, "fail-if", "COND", struct args, fail_if,
             "'underfeed_ratio>0.2', or 'tail_gap_ms>10%' over it"),
    OPT_FLAG(0, "explain", struct args, job.is_explained, "show what changed"),
    OPT_STRING(0, "junit", "FILE", struct args, junit, "write the results as JUnit XML"),
    OPT_STRING(0, "summary", "FILE", struct args, summary, "write the results as Markdown"),
    OPT_FLAG(0, "github", struct args, github, "print annotations of a GitHub workflow"),
    CAPTURE_OPTIONS(struct args, job.input),
};

static const struct example examples[] = {
    {"strata check examples/kineto-small --max-idle 10% --max-step 40ms", "limits"},
    {"strata check examples/ascend-small --baseline examples/ascend-small --junit check.xml",
     "against an earlier run, with a file for the CI system"},
    {"strata check examples/unpinned/before.pt.trace.json.gz --record base.json",
     "keep repeated runs as a baseline"},
};

/* Conditions with a percentage are changes over the baseline, others are about the capture. */
static int take_conditions(struct session *s, const struct args *args, struct check_job *job)
{
    struct gate *gates = ARENA_ARRAY(&s->arena, struct gate, args->fail_if.n);
    struct diff_gate *changes = ARENA_ARRAY(&s->arena, struct diff_gate, args->fail_if.n + 1);
    const char **texts = ARENA_ARRAY(&s->arena, const char *, args->fail_if.n + 1);

    job->gates = gates;
    job->changes = changes;
    job->change_texts = texts;
    if (job->baseline != NULL) {
        changes[0] =
            (struct diff_gate){.kind = S(""), .metric = UNIT_LENGTH, .limit = job->compare.limit};
        texts[0] = arena_format(&s->arena, "--baseline %s", job->baseline).at;
        job->n_changes = 1;
    }
    for (size_t i = 0; i < args->fail_if.n; i++) {
        const char *text = args->fail_if.at[i], *problem = NULL;
        if (!str_ends(str_trim(str_of(text)), S("%"))) {
            problem = gate_parse(&s->arena, text, &gates[job->n_gates++]);
        } else if (job->baseline == NULL) {
            problem = "a change in percent needs --baseline";
        } else {
            texts[job->n_changes] = arena_format(&s->arena, "--fail-if %s", text).at;
            if (diff_gate_parse(&s->arena, text, &changes[job->n_changes++], &problem))
                problem = NULL;
        }
        if (problem != NULL)
            return session_usage(s, "--fail-if '%s': %s", text, problem);
    }
    return CODE_DONE;
}

static void note_read(void *session, const struct fleet *fleet)
{
    captures_read(session, fleet);
}

static int complete(struct session *s, const struct args *args, struct check_job *job)
{
    job->paths = (const char *const *)s->operands.at;
    job->n_paths = s->operands.n;
    job->compare = compare_defaults();
    job->record = job->record != NULL ? job->record : args->save;
    job->was_read = note_read;
    job->ctx = s;
    captures_input(s, &job->input);
    if (args->max_slowdown != NULL &&
        !diff_percent(str_of(args->max_slowdown), &job->compare.limit))
        return session_usage(s, "--max-slowdown must be a percentage, not '%s'",
                             args->max_slowdown);
    if (args->noise != NULL && !diff_percent(str_of(args->noise), &job->compare.between))
        return session_usage(s, "--noise must be a percentage, not '%s'", args->noise);
    if (args->github)
        TRY_CODE(session_own_form(s, "--github"));
    if (args->max_idle != NULL && !diff_percent(str_of(args->max_idle), &job->max_idle))
        return session_usage(s, "--max-idle must be a percentage, not '%s'", args->max_idle);
    if (args->max_step != NULL &&
        (!convert_time_parse(args->max_step, &job->max_step) || job->max_step <= 0))
        return session_usage(s, "--max-step must be a time with its unit, such as 20ms, not '%s'",
                             args->max_step);
    TRY_CODE(take_conditions(s, args, job));
    if (args->max_idle != NULL || job->max_step > 0 || job->n_gates + job->n_changes > 0 ||
        job->baseline != NULL || job->record != NULL)
        return CODE_DONE;
    return session_usage(s, "check needs a gate (--max-idle, --max-step, --baseline, --fail-if) or "
                            "--record");
}

static enum status write_files(struct session *s, const struct args *args,
                               const struct gate_results *results)
{
    struct text xml = {0};
    enum status st = ST_OK;

    if (args->junit != NULL) {
        gate_results_junit(results, &xml);
        st = session_save(s, args->junit, text_view(&xml));
    }
    if (st == ST_OK && args->summary != NULL) {
        struct gate_results explained = *results;
        explained.is_explained = true;
        const struct answer a = {
            .result = &explained, .title = S(""), .describe = gate_results_describe};
        st = results_save_markdown(args->summary, &a, LANG_EN, &s->diag);
        session_wrote(s, args->summary);
    }
    text_free(&xml);
    return st;
}

/* Without gates (--record) there is nothing to tell. */
static void describe_results(const void *found, size_t i, struct report *r)
{
    const struct gate_results *results = found;

    (void)i;
    if (results->all.n > 0)
        gate_results_describe(results, r);
}

static void give_results(struct session *s, const struct args *args,
                         const struct gate_results *results)
{
    struct text lines = {0};

    session_give(s, &(struct answer){.schema = &check_gates_schema,
                                     .origin = "measured",
                                     .result = results,
                                     .title = S(""),
                                     .describe_part = describe_results,
                                     .n_parts = 1});
    if (args->github)
        gate_results_github(results, &lines);
    out_raw(&s->out, text_view(&lines));
    text_free(&lines);
}

static int cli_check_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gate_results results = {0};
    struct check_job job = args->job;

    if (args->github)
        out_for_ci();
    TRY_CODE(complete(s, args, &job));
    enum status st = answer_check(&job, &s->arena, &s->diag, &results);
    if (st == ST_OK)
        st = write_files(s, args, &results);
    if (st == ST_OK && job.record != NULL)
        session_wrote(s, job.record);
    if (st == ST_OK)
        give_results(s, args, &results);
    bool is_shut = results.failed > 0;
    gate_results_free(&results);
    return st != ST_OK ? session_code(st) : is_shut ? CODE_NO : CODE_DONE;
}

const struct command command_check = {
    .name = "check",
    .group = GROUP_COMPARE,
    .summary = "hold a capture to limits and a baseline, for CI",
    .usage = "[OPTIONS] CAPTURE…",
    .details =
        "Exits with 1 if a gate fails, with one line for each that does. A gate that cannot be "
        "decided fails: without steps, with fewer than five of them on a side, or with nothing to "
        "compare; --allow-unknown passes what a comparison cannot tell.\n"
        "\n"
        "--max-idle is the idle time of all steps divided by their time. --max-step is for the "
        "longest step. --baseline compares as `strata diff` does: B passes when it is shown to be "
        "slower by less than --max-slowdown. --record keeps captures as a baseline: a file that "
        "holds the lengths of steps, the device and the software, and is rejected where those "
        "differ. Several captures are runs of one program: from four a side on their noise is "
        "measured, else --noise is allowed for. A --fail-if without a percentage is a condition of "
        "`strata anomaly` (a metric of its document), one with a percentage is one of `strata "
        "diff`. Each rank is checked by itself.",
    .see = "docs/howto/ci-gate.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1000},
    .common = COMMON_CAPTURE,
    .schemas = {&check_gates_schema, &profile_schema},
    COMMAND_PARTS,
    .run = cli_check_run,
};
