/*
 * strata check: a capture against limits and a baseline, for CI.
 */
#include <math.h>

#include "base/outfile.h"
#include "cli/captures.h"
#include "flow/flow_check.h"
#include "flow/flow_convert.h"
#include "render/render.h"
#include "report/report.h"

struct args {
    struct input_options input;
    const char *max_idle, *max_step, *baseline, *max_slowdown, *junit, *summary, *save;
    struct words fail_if;
    bool github, explain;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_STRING(0, "max-idle", "PCT", struct args, max_idle,
               "device idle time, as a share of all steps: 10%"),
    OPT_STRING(0, "max-step", "TIME", struct args, max_step, "longest step: 20ms"),
    OPT_STRING(0, "baseline", "PATH", struct args, baseline,
               "capture, or file of --save, to be no slower than"),
    OPT_STRING(0, "max-slowdown", "PCT", struct args, max_slowdown,
               "how much slower (default: 5%; of 4 or more runs 2.5%)"),
    OPT_STRING(0, "save", "FILE", struct args, save, "write the runs as a baseline (small JSON)"),
    OPT_LIST(0, "fail-if", "COND", struct args, fail_if,
             "'underfeed_ratio>0.2', or 'tail_gap_ms>10%' over it"),
    OPT_FLAG(0, "explain", struct args, explain, "show which parts of a step changed"),
    OPT_STRING(0, "junit", "FILE", struct args, junit, "write the results as JUnit XML"),
    OPT_STRING(0, "summary", "FILE", struct args, summary, "write the results as Markdown"),
    OPT_FLAG(0, "github", struct args, github, "print annotations of a GitHub workflow"),
    CAPTURE_OPTIONS(struct args, input),
    OPT_END,
};

static const struct example examples[] = {
    {"strata check examples/kineto-small --max-idle 10% --max-step 40ms", "limits"},
    {"strata check examples/ascend-small --baseline examples/ascend-small --junit check.xml",
     "against an earlier run, with a file for the CI system"},
    {"strata check examples/ascend-small examples/ascend-small --save base.json",
     "keep repeated runs as a baseline"},
    {0},
};

#define MAX_SLOWDOWN 0.05 /* of one run, unless given */

/* Runs that are compared as two sets, not step by step. */
static bool is_repeated(const struct session *s, const struct args *args)
{
    return s->operands.n > 1 || args->save != NULL || check_is_saved(s->operands.at[0]) ||
           (args->baseline != NULL && check_is_saved(args->baseline));
}

static bool is_change(const char *condition)
{
    return str_ends(str_trim(str_of(condition)), S("%"));
}

/* Conditions with a percentage are changes over the baseline, others are about the capture. */
static bool take_conditions(struct session *s, const struct args *args, struct check_job *job)
{
    struct gate *gates = ARENA_ARRAY(&s->arena, struct gate, args->fail_if.n);
    struct diff_gate *changes = ARENA_ARRAY(&s->arena, struct diff_gate, args->fail_if.n + 1);
    const char **texts = ARENA_ARRAY(&s->arena, const char *, args->fail_if.n + 1);

    job->gates = gates;
    job->changes = changes;
    job->change_texts = texts;
    if (args->baseline != NULL && !is_repeated(s, args)) {
        changes[0] = (struct diff_gate){.group = SIZE_MAX, .metric = COMPARE_SERVICE};
        changes[0].limit = isnan(job->max_slowdown) ? MAX_SLOWDOWN : job->max_slowdown;
        texts[0] = arena_format(&s->arena, "--baseline %s", args->baseline).at;
        job->n_changes = 1;
    }
    for (size_t i = 0; i < args->fail_if.n; i++) {
        const char *text = args->fail_if.at[i], *problem = NULL;
        if (!is_change(text)) {
            problem = gate_parse(&s->arena, text, &gates[job->n_gates++]);
        } else if (args->baseline == NULL || is_repeated(s, args)) {
            problem = "a change in percent needs one run and a capture as --baseline";
        } else {
            texts[job->n_changes] = arena_format(&s->arena, "--fail-if %s", text).at;
            if (diff_gate_parse(&s->arena, text, &changes[job->n_changes++], &problem))
                problem = NULL;
        }
        if (problem != NULL) {
            session_usage(s, "--fail-if '%s': %s", text, problem);
            return false;
        }
    }
    return true;
}

static void note_read(void *session, const struct fleet *fleet)
{
    captures_read(session, fleet);
}

/* Completes the job; false after a usage error. */
static bool complete(struct session *s, const struct args *args, struct check_job *job)
{
    *job = (struct check_job){.path = s->operands.at[0],
                              .baseline = args->baseline,
                              .repeats = (const char *const *)s->operands.at,
                              .n_repeats = s->operands.n,
                              .save = args->save,
                              .was_read = note_read,
                              .ctx = s,
                              .input = args->input,
                              .max_slowdown = NAN,
                              .max_idle = NAN};
    captures_input(s, &job->input);
    if (args->max_slowdown != NULL && !diff_percent(str_of(args->max_slowdown), &job->max_slowdown))
        session_usage(s, "--max-slowdown must be a percentage, not '%s'", args->max_slowdown);
    else if (args->github && s->common.json)
        session_usage(s, "--github and --json cannot both use standard output");
    else if (args->max_idle != NULL && !diff_percent(str_of(args->max_idle), &job->max_idle))
        session_usage(s, "--max-idle must be a percentage, not '%s'", args->max_idle);
    else if (args->max_step != NULL &&
             (!convert_time_parse(args->max_step, &job->max_step) || job->max_step <= 0))
        session_usage(s, "--max-step must be a time with its unit, such as 20ms, not '%s'",
                      args->max_step);
    else if (take_conditions(s, args, job)) {
        if (args->max_idle != NULL || job->max_step > 0 || job->n_gates + job->n_changes > 0 ||
            args->baseline != NULL || args->save != NULL)
            return true;
        session_usage(s, "check needs a gate (--max-idle, --max-step, --baseline, --fail-if) or "
                         "--save");
    }
    return false;
}

enum { EXPLAINED = 12 }; /* parts of a step that are shown */

/* What a person reads, on the screen or as a summary. */
static struct report *report_of(const struct gate_results *results, bool is_explained)
{
    struct report *r = report_new(LANG_EN, S(""));
    size_t shown = results->n_changes < EXPLAINED ? results->n_changes : EXPLAINED;

    for (size_t i = 0; i < results->n; i++) {
        const struct gate_result *g = &results->at[i];
        if (!g->is_passed || g->is_faster || is_explained)
            report_line(r, "%s  %s: %s: %s",
                        !g->is_passed  ? "failed"
                        : g->is_faster ? "faster"
                                       : "passed",
                        g->capture, g->gate, g->text);
    }
    report_line(r, "%zu of %zu gates passed", results->n - results->failed, results->n);
    if (is_explained && shown > 0)
        report_records(r, &run_change_record, results->changes, shown, NULL);
    return r;
}

static void print_text(struct session *s, const struct args *args,
                       const struct gate_results *results)
{
    if (results->n > 0)
        session_answer(s, report_of(results, args->explain));
}

static enum status save_text(struct session *s, const char *path, struct text *text)
{
    enum status st = outfile_save(path, text_view(text), &s->diag);

    text_free(text);
    if (st == ST_OK)
        session_wrote(s, path);
    return st;
}

static enum status write_summary(struct session *s, const char *path,
                                 const struct gate_results *results)
{
    struct report *r = report_of(results, true);
    struct text text = {0};

    render_write(&renderer_markdown, r, &(struct render_options){0}, text_sink(&text));
    report_free(r);
    return save_text(s, path, &text);
}

static void print_annotations(struct session *s, const struct gate_results *results)
{
    struct text lines = {0};

    gate_results_github(results, s->operands.at[0], &lines);
    struct sink to = session_sink(s);
    to.write(to.ctx, text_view(&lines));
    text_free(&lines);
}

static enum status write_junit(struct session *s, const char *path,
                               const struct gate_results *results)
{
    struct text xml = {0};

    gate_results_junit(results, s->operands.at[0], &xml);
    return save_text(s, path, &xml);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct gate_results results;
    struct check_job job;

    if (!complete(s, args, &job))
        return CODE_USAGE;
    enum status st = flow_check(&job, &s->arena, &s->diag, &results);
    if (st == ST_OK && results.fleet != NULL)
        captures_read(s, results.fleet);
    fleet_free(results.fleet);
    if (st == ST_OK && args->junit != NULL)
        st = write_junit(s, args->junit, &results);
    if (st == ST_OK && args->summary != NULL)
        st = write_summary(s, args->summary, &results);
    if (st == ST_OK && args->save != NULL)
        session_wrote(s, args->save);
    if (st != ST_OK)
        return session_code(st);
    if (s->common.json)
        session_document(s, &check_gates_schema, "measured", &results);
    else if (!s->common.quiet)
        print_text(s, args, &results);
    if (args->github)
        print_annotations(s, &results);
    return results.failed > 0 ? CODE_NO : CODE_DONE;
}

const struct command command_check = {
    .name = "check",
    .group = GROUP_COMPARE,
    .summary = "hold a capture to limits and a baseline, for CI",
    .usage = "[OPTIONS] CAPTURE…",
    .details =
        "Exits with 1 if a gate fails, with one line for each that does. A gate that cannot be "
        "decided fails: without steps, or with nothing to compare.\n"
        "\n"
        "--max-idle is the idle time of all steps divided by their time. --max-step is for the "
        "longest step. --baseline compares the groups of steps as `strata diff` does: they may be "
        "slower by --max-slowdown, or by noise. Several captures are repeats of one program: they "
        "are compared with the runs of the baseline as two sets, so that noise of single runs does "
        "not fail; a part of the step that grew against the rest is named. --save keeps such runs "
        "as a small file; such files are also read in place of captures. A --fail-if without a "
        "percentage is a condition of "
        "`strata anomaly` (a metric of its document), one with a percentage is one of `strata "
        "diff`. Each rank is checked by itself.",
    .see = "docs/howto/ci-gate.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1000},
    .common = COMMON_CAPTURE,
    .schemas = {&check_gates_schema, &runs_schema},
    COMMAND_PARTS,
};
