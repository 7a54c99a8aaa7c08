/*
 * strata diagnose: what limits a run, what that costs, what to do.
 */
#include "analysis/diagnose/diagnosis.h"
#include "analysis/study.h"
#include "cli/captures.h"
#include "flow/flow_chip.h"
#include "report/record.h"
#include "report/report.h"

struct args {
    struct input_options input;
    const char *chip;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "chip of the run, if the capture does not name it"),
    CAPTURE_OPTIONS(struct args, input),
    OPT_END,
};

static const struct example examples[] = {
    {"strata diagnose examples/kineto-small", "the verdict and its causes"},
    {"strata diagnose examples/kineto-small --json", "the same as JSON"},
    {0},
};

static void print(struct session *s, struct study *st)
{
    const struct capture *cap = st->cap;

    if (s->common.json) {
        const struct record_env env = {&cap->strings, &st->scratch, NULL};
        session_document(s, &diagnosis_schema, origin_name(ORIGIN_ESTIMATED), study_diagnosis(st),
                         &env);
    } else if (!s->common.quiet) {
        struct report *r = report_new(session_lang(s), str_of(cap->name));
        diagnosis_describe(study_diagnosis(st), r);
        session_report(s, r);
        report_free(r);
    }
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct capture *cap;
    struct study st;

    enum status status = captures_load_one(s, s->operands.at[0], args->input, &cap);
    if (status != ST_OK)
        return session_code(status);
    status = flow_chip(cap, args->chip, &s->diag);
    study_begin(&st, cap, study_defaults());
    if (status == ST_OK)
        print(s, &st);
    study_end(&st);
    capture_free(cap);
    return session_code(status);
}

const struct command command_diagnose = {
    .name = "diagnose",
    .group = GROUP_EXPLAIN,
    .summary = "name what limits a run, what it costs and what to do",
    .usage = "[OPTIONS] CAPTURE",
    .details =
        "Accounts for every nanosecond of the steps, replays the run with each possible cause "
        "taken out, and names the one whose removal saves most. Savings are estimates for the "
        "program without a profiler, as far as the profiler's cost is known.\n"
        "\n"
        "The confidence is sure, likely, possible or unknown. The report ends with what the "
        "capture "
        "cannot show and how to record it.",
    .see = "docs/diagnosis.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_LANG,
    .schemas = {&diagnosis_schema},
    COMMAND_PARTS,
};
