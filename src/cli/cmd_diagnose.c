/*
 * strata diagnose: what limits a run, what that costs, what to do.
 */
#include "analysis/diagnose/diagnosis.h"

#include "analysis/ranks/rank_verdicts.h"
#include "cli/captures.h"
#include "cli/page_answer.h"
#include "device/user_devices.h"
#include "report/report.h"
#include "text/diagnosis.h"

struct args {
    struct input_options input;
    const char *chip;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "device of the run, if the capture does not name it"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata diagnose examples/kineto-small", "the verdict and its causes"},
    {"strata diagnose examples/kineto-small --json", "the same as JSON"},
};

/* A capture of totals has no run that something could limit. */
static void describe_totals(const void *diagnosis, struct report *r)
{
    (void)diagnosis;
    report_text(r, report_message(r, &diagnosis_text.totals));
}

struct about {
    const struct diagnosis *diagnosis;
    const struct diag_entry *damage; /* NULL: the file is whole */
};

/* A file that ends in the middle says so before its verdict. */
static const struct diag_entry *find_damage(const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++) {
        struct str code = str_of(d->entries.at[i].code);
        if (str_ends(code, S(".truncated")) || str_ends(code, S(".damaged")))
            return &d->entries.at[i];
    }
    return NULL;
}

static void describe_one(const void *given, struct report *r)
{
    const struct about *about = given;

    if (about->damage != NULL)
        report_text(r, REPORT_MESSAGE(r, &diagnosis_text.not_whole,
                                      PLACE("why", about->damage->first[0].text)));
    diagnosis_describe(about->diagnosis, r);
}

static struct answer answer_one(struct session *s, struct study *st)
{
    struct record_env *env = ARENA_NEW(&s->arena, struct record_env);
    struct about *about = ARENA_NEW(&s->arena, struct about);

    *about = (struct about){study_diagnosis(st), find_damage(&s->diag)};
    *env = (struct record_env){&st->cap->strings, &st->scratch, NULL};
    return (struct answer){.schema = &diagnosis_schema,
                           .origin = origin_name(ORIGIN_ESTIMATED),
                           .result = about->diagnosis,
                           .env = env,
                           .title = str_of(st->cap->name),
                           .about = about,
                           .describe = captures_are_totals(s) ? describe_totals : describe_one};
}

static struct answer answer_ranks(struct session *s, struct fleet_study *fs)
{
    return (struct answer){.schema = &rank_verdicts_schema,
                           .origin = origin_name(ORIGIN_ESTIMATED),
                           .result = fleet_study_verdicts(fs),
                           .title = str_basename(str_of(s->operands.at[0])),
                           .describe = rank_verdicts_describe};
}

static int diagnose_run(struct session *s, const void *given)
{
    const struct args *args = given;
    enum status status = ST_OK;
    struct fleet_study fs;
    struct fleet *fleet;

    TRY_CODE(session_code(captures_load(s, s->operands.at[0], args->input, &fleet)));
    for (size_t i = 0; status == ST_OK && i < fleet->ranks.n; i++)
        status = user_devices_chip(fleet->ranks.at[i], args->chip, &s->diag);
    fleet_study_begin(&fs, fleet, study_with_passes());
    if (status == ST_OK) {
        const struct answer a = fs.n > 1 ? answer_ranks(s, &fs) : answer_one(s, &fs.ranks[0]);
        status = page_answer_give(s, &a, page_answer_fleet, &fs);
    }
    fleet_study_end(&fs);
    fleet_free(fleet);
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
        "capture cannot show and how to record it. Of a folder with several ranks or devices each "
        "is judged, and the slowest is named.",
    .see = "docs/diagnosis.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_HTML,
    .schemas = {&diagnosis_schema, &rank_verdicts_schema},
    .run = diagnose_run,
    COMMAND_PARTS,
};
