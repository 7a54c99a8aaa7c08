/*
 * strata diff: what changed from one capture to another.
 */
#include "answers/answer_diff.h"
#include "answers/results.h"
#include "cli/answer.h"
#include "cli/captures.h"
#include "cli/page_answer.h"
#include "text/diff.h"

struct args {
    struct diff_job job;
    const char *min_effect, *min_time, *fail_above, *noise, *markdown;
    struct words fail_if;
    enum answer_form to;
    struct page_choice page;
};

static const struct args defaults = {
    .job = {.input = CAPTURE_INPUT()}, .min_effect = "1%", .min_time = "10"};

/* In the order of enum op_by, behind "nothing". */
static const char *const bys[] = {"kernel", "op",    "module", "shape",
                                  "family", "range", "layer",  NULL};

static const struct opt options[] = {
    OPT_CHOICE(0, "by", bys, struct args, job.compare.by, "what to compare by (default: kernel)"),
    OPT_STRING(0, "min-effect", "PCT", struct args, min_effect,
               "ignore changes below this percentage (default: 1)"),
    OPT_STRING(0, "min-time", "US", struct args, min_time,
               "ignore changes below this many µs (default: 10)"),
    OPT_STRING(0, "fail-above", "PCT", struct args, fail_above,
               "exit with 1 unless B is shown to be slower by less"),
    OPT_STRING(0, "noise", "PCT", struct args, noise,
               "allowance for noise between runs (default: 1)"),
    OPT_LIST(0, "fail-if", "COND", struct args, fail_if,
             "exit with 1 if a metric grew, e.g. 'tail_gap_ms>10%'"),
    CAPTURE_OPTIONS(struct args, job.input),
    OPT_STRING(0, "md", "FILE", struct args, markdown, "also write the report as Markdown"),
    ANSWER_OPTION(struct args, to),
    PAGE_OPTIONS(struct args, page),
};

static const struct example examples[] = {
    {"strata diff examples/ascend-small examples/ascend-small",
     "a capture against itself: no change"},
    {"strata diff examples/ascend-small examples/ascend-small --fail-above 5%", "a gate for CI"},
    {"strata diff examples/kineto-small examples/kineto-small --by op", "by operator"},
};

static int take_gates(struct session *s, const struct args *args, struct diff_job *job)
{
    struct diff_gate *gates = ARENA_ARRAY(&s->arena, struct diff_gate, args->fail_if.n + 1);
    const char *problem;

    job->gates = gates;
    if (args->fail_above != NULL) {
        struct diff_gate gate = {.kind = S(""), .metric = UNIT_LENGTH};
        if (!diff_percent(str_of(args->fail_above), &gate.limit))
            return session_usage(s, "--fail-above must be a percentage, not '%s'",
                                 args->fail_above);
        job->compare.limit = gate.limit;
        gates[job->n_gates++] = gate;
    }
    for (size_t i = 0; i < args->fail_if.n; i++)
        if (!diff_gate_parse(&s->arena, args->fail_if.at[i], &gates[job->n_gates++], &problem))
            return session_usage(s, "--fail-if '%s': %s", args->fail_if.at[i], problem);
    return CODE_DONE;
}

static int complete(struct session *s, const struct args *args, struct diff_job *job)
{
    job->path[SIDE_A] = s->operands.at[0];
    job->path[SIDE_B] = s->operands.at[1];
    job->compare.between = NOISE_BETWEEN;
    job->compare.limit = NOISE_LIMIT;
    captures_input(s, &job->input);
    if (!diff_percent(str_of(args->min_effect), &job->compare.min_ratio))
        return session_usage(s, "--min-effect must be a percentage, not '%s'", args->min_effect);
    if (!num_us(str_of(args->min_time), &job->compare.min_time) || job->compare.min_time < 0)
        return session_usage(s, "--min-time must be a number of microseconds, not '%s'",
                             args->min_time);
    if (args->noise != NULL && !diff_percent(str_of(args->noise), &job->compare.between))
        return session_usage(s, "--noise must be a percentage, not '%s'", args->noise);
    return take_gates(s, args, job);
}

static int compare_captures(struct session *s, const void *given)
{
    const struct args *args = given;
    struct diff_job job = args->job;
    struct diff_result result;

    TRY_CODE(complete(s, args, &job));
    enum status status = answer_diff(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK) {
        captures_read(s, result.fleet[SIDE_A]);
        captures_read(s, result.fleet[SIDE_B]);
        const struct answer a = {.schema = &diff_schema,
                                 .origin = origin_name(result.fleet[SIDE_A]->ranks.at[0]->origin),
                                 .result = &result,
                                 .title = MESSAGE(session_lang(s), &s->arena, &diff_text.title,
                                                  PLACE("a", job.path[SIDE_A]),
                                                  PLACE("b", job.path[SIDE_B])),
                                 .describe = diff_describe};
        if (args->markdown != NULL) {
            status = results_save_markdown(args->markdown, &a, session_lang(s), &s->diag);
            session_wrote(s, args->markdown);
        }
        if (status == ST_OK)
            status = page_answer_give(s, &a, page_answer_diff, &result);
    }
    bool is_shut = status == ST_OK && result.gates_reached > 0;
    diff_result_free(&result);
    return is_shut ? CODE_NO : session_code(status);
}

static int diff_run(struct session *s, const void *given)
{
    const struct args *args = given;
    enum answer_form form = args->to;

    TRY_CODE(answer_form(s, &form));
    const struct path_way *way = answer_pair(s);
    if (way == NULL)
        return CODE_USAGE;
    if (way == &path_ways[KIND_CAPTURE])
        return answer_write(
            s, form,
            (struct answer_part){compare_captures, given, false, PAGE_COMPARE, args->page});
    if (args->fail_above != NULL || args->fail_if.n > 0)
        return session_usage(s, "--fail-above and --fail-if are for captures, not for %s",
                             way->what);
    return answer_write(
        s, form, (struct answer_part){answer_compare, way, way->is_text, way->page, args->page});
}

const struct command command_diff = {
    .name = "diff",
    .group = GROUP_COMPARE,
    .summary = "compare two runs of any kind: changes beyond noise",
    .usage = "[OPTIONS] A B",
    .details =
        "A and B are captures, GPU runs (as in `strata gpu compare`), instruction traces "
        "(`strata incore diff`), or a predicted trace and the measured table (`strata db "
        "m6`). What they are is found out from their content; the options below are for "
        "captures.\n"
        "\n"
        "First checks whether the two do the same work (operators, shapes, kernels, device, "
        "software); what does not is called neither slower nor faster. Then compares units: "
        "steps of one kind, or without marks what repeats. The change of their mean length "
        "has a 99 % interval, from the scatter and correlation of the units and an allowance "
        "for what differs from run to run (--noise). It is divided among operators, their "
        "kernels and causes of idle time, which add up to it. With fewer than five units on "
        "a side there is no verdict. Folders of several ranks are compared rank by rank.\n"
        "\n"
        "--by op, module, shape, family, range or layer compares device time per step by "
        "what launched the kernels, as strata ops groups it: for runs whose kernels have "
        "other names (another device, another library).\n"
        "\n"
        "For CI, --fail-above 5% gives exit code 1 unless B is shown to be slower by less "
        "than that. --fail-if does the same for a metric and may be repeated. `strata check` "
        "does it against a stored baseline.",
    .see = "docs/analyses/diff.md",
    .operands = {.kind = OPERAND_FILE, .min = 2, .max = 2},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_OUT | COMMON_HTML,
    .schemas = {&diff_schema},
    COMMAND_PARTS,
    .run = diff_run,
};
