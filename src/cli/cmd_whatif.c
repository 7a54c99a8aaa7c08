/*
 * strata whatif: what a change to the program would save.
 */
#include "answers/answer_whatif.h"
#include "cli/captures.h"
#include "report/report.h"

struct args {
    struct input_options input;
    struct words changes;
    const char *chip;
    bool list;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_LIST(0, "change", "ID[:SITE]", struct args, changes,
             "change to make; repeatable (default: try all)"),
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "chip of the run, if the capture does not name it"),
    OPT_FLAG(0, "list", struct args, list, "list the changes"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata whatif examples/kineto-small", "what each change would save"},
    {"strata whatif examples/kineto-small --change no_launch_cost --change no_sync -o x.json",
     "two changes, and the predicted trace"},
};

static int take_changes(struct session *s, const struct args *args, struct whatif_job *job)
{
    struct whatif_change *changes = ARENA_ARRAY(&s->arena, struct whatif_change, args->changes.n);

    for (size_t i = 0; i < args->changes.n; i++)
        if (!whatif_parse(str_of(args->changes.at[i]), &changes[i]))
            return session_usage(s, "no change is called '%s'; see --list", args->changes.at[i]);
    job->changes = changes;
    job->n = args->changes.n;
    return CODE_DONE;
}

static int cli_whatif_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct whatif_job job = {.input = args->input, .chip = args->chip, .out = s->common.out};
    struct whatif_outcome outcome;

    if (args->list) {
        struct report *r = report_new(LANG_EN, S(""));
        whatif_answer_kinds(r);
        session_answer(s, r);
        return CODE_DONE;
    }
    if (s->operands.n != 1)
        return session_usage(s, "whatif takes one capture");
    TRY_CODE(take_changes(s, args, &job));
    job.path = s->operands.at[0];
    captures_input(s, &job.input);
    enum status status = answer_whatif(&job, &s->diag, &outcome);
    if (status == ST_OK) {
        captures_read_one(s, outcome.cap);
        if (job.out != NULL)
            session_wrote(s, job.out);
        if (s->common.json) {
            session_document(s, &whatif_schema, origin_name(ORIGIN_ESTIMATED), outcome.answer);
        } else if (!s->common.quiet) {
            struct report *r = report_new(LANG_EN, str_of(outcome.cap->name));
            whatif_answer_describe(outcome.answer, r);
            session_answer(s, r);
        }
    }
    whatif_outcome_free(&outcome);
    return session_code(status);
}

const struct command command_whatif = {
    .name = "whatif",
    .group = GROUP_EXPLAIN,
    .summary = "predict what a change to the program would save",
    .usage = "[OPTIONS] CAPTURE",
    .details =
        "Replays the run with something changed: launches that cost nothing, syncs that wait for "
        "nothing, copies from pinned memory, and so on (--list). Each change is valued by itself, "
        "and the best ones on top of each other, so that their savings add up.\n"
        "\n"
        "Times are estimates for the program without a profiler, with their range, and for the "
        "run as it was recorded. How well an unchanged replay reproduces the recording is printed. "
        "SITE limits a change to an operator, a call or a kernel of that name. With -o the "
        "predicted timeline is written, to be opened beside the recorded one.",
    .see = "docs/whatif.md",
    .operands = {.kind = OPERAND_FILE, .min = 0, .max = 1},
    .common = COMMON_FORMAT | COMMON_JOBS | COMMON_OUT,
    .schemas = {&whatif_schema},
    COMMAND_PARTS,
    .run = cli_whatif_run,
};
