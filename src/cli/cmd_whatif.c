/*
 * strata whatif: what a change to the program would save.
 */
#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/whatif_changes.h"
#include "answers/answer_whatif.h"
#include "answers/per_rank.h"
#include "cli/captures.h"
#include "device/user_devices.h"
#include "text/whatif.h"

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

/* The changes asked for, and how it went with the captures so far. */
struct whatif_asked {
    struct session *s;
    struct whatif_job job;
    enum status status;
};

static void whatif_find(struct study *st, const void *ctx, struct rank_answer *out)
{
    struct whatif_asked *asked = *(struct whatif_asked *const *)ctx;
    const struct whatif_answer *answer = NULL;
    static const struct whatif_answer nothing;

    if (asked->status == ST_OK)
        asked->status = answer_whatif(st, &asked->job, &asked->s->diag, &answer);
    out->result = answer != NULL ? answer : &nothing;
    out->env = (struct record_env){.arena = &st->scratch};
    if (answer == NULL)
        return;
    const struct whatif_result *best = answer->singles > 0 ? &answer->single[0] : NULL;
    bool is_bare = answer->is_calibrated;
    double saving = best == NULL ? 0 : is_bare ? best->saving : best->profiled_saving;
    if (best == NULL)
        out->summary = wording_of(&st->scratch, phrase_plain(&whatif_text.of_rank_none));
    else
        out->summary = WORDING(
            &st->scratch,
            best->reading == SAVING_AT_MOST ? &whatif_text.of_rank_most : &whatif_text.of_rank,
            PLACE("change", best->change), place_quantity("share", saving, UNIT_RATIO),
            place_quantity("base", (double)(is_bare ? answer->bare : answer->recorded), UNIT_NS));
    out->weight = saving;
}

static void whatif_describe(const void *answer, struct report *r)
{
    whatif_answer_describe(answer, r);
}

static void whatif_describe_kinds(const void *kinds, struct report *r)
{
    (void)kinds;
    whatif_answer_kinds(r);
}

PER_RANK_SCHEMA(whatif_ranks_schema, "strata.whatif-ranks/2",
                "predicted step time after changes, of several captures", &whatif_record);

static int whatif_give(struct session *s, struct whatif_asked *asked, struct fleet_study *fs)
{
    static const struct per_rank_kind kind = {&whatif_schema, &whatif_ranks_schema, whatif_find,
                                              whatif_describe};
    if (fs->n > 1 && asked->job.out != NULL)
        return session_usage(s, "-o writes the trace of one capture; choose it by --rank");
    const struct per_rank *all = per_rank_find(fs, &kind, &asked);
    if (asked->status != ST_OK)
        return session_code(asked->status);
    if (asked->job.out != NULL)
        session_wrote(s, asked->job.out);
    const struct answer a = per_rank_answer(all, str_basename(str_of(s->operands.at[0])),
                                            origin_name(ORIGIN_ESTIMATED));
    session_give(s, &a);
    return CODE_DONE;
}

static int cli_whatif_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct whatif_asked asked = {.s = s, .job = {.out = s->common.out}};
    struct input_options input = args->input;
    struct fleet_study fs;
    struct fleet *fleet;
    enum status status = ST_OK;

    if (args->list) {
        session_give(s, &(struct answer){.schema = &whatif_kinds_schema,
                                         .result = &(struct field_items){whatif_kinds, WHATIFS},
                                         .title = S(""),
                                         .describe = whatif_describe_kinds});
        return CODE_DONE;
    }
    if (s->operands.n != 1)
        return session_usage(s, "whatif takes one capture, or a folder of ranks");
    TRY_CODE(take_changes(s, args, &asked.job));
    captures_input(s, &input);
    asked.job.pool = input.pool;
    TRY_CODE(session_code(captures_load(s, s->operands.at[0], args->input, &fleet)));
    for (size_t i = 0; status == ST_OK && i < fleet->ranks.n; i++)
        status = user_devices_chip(fleet->ranks.at[i], args->chip, &s->diag);
    fleet_study_begin(&fs, fleet, study_with_passes());
    int code = status == ST_OK ? whatif_give(s, &asked, &fs) : session_code(status);
    fleet_study_end(&fs);
    fleet_free(fleet);
    return code;
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
    .schemas = {&whatif_schema, &whatif_ranks_schema, &whatif_kinds_schema},
    COMMAND_PARTS,
    .run = cli_whatif_run,
};
