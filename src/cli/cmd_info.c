/*
 * strata info: what is in a capture, and what is missing from it.
 */
#include "answers/answer_info.h"
#include "cli/captures.h"

struct args {
    struct input_options input;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata info examples/ascend-small", "contents of a profile"},
    {"strata info examples/ascend-small --json", "as JSON"},
};

static int info_run(struct session *s, const void *given)
{
    const struct args *args = given;
    VEC_OF(struct fleet *) fleets = {0};
    VEC_OF(const char *) roots = {0}; /* of each capture: the path that was given */
    enum status st = ST_OK;

    for (size_t i = 0; i < s->operands.n && st == ST_OK; i++) {
        struct fleet *fleet;
        st = captures_load(s, s->operands.at[i], args->input, &fleet);
        if (st != ST_OK)
            break;
        vec_push(&fleets, fleet);
        for (size_t k = 0; k < fleet->ranks.n; k++)
            vec_push(&roots, s->operands.at[i]);
    }
    struct inventory *list = ARENA_ARRAY(&s->arena, struct inventory, roots.n);
    size_t n = 0;
    for (size_t i = 0; i < fleets.n; i++)
        for (size_t k = 0; k < fleets.at[i]->ranks.n; k++)
            inventory_init(&list[n++], fleets.at[i]->ranks.at[k]);
    const struct info_result result = {{list, n}, roots.at, &s->diag, s->common.verbose};
    const struct answer a = info_answer(&result);
    if (st == ST_OK)
        session_give(s, &a);
    for (size_t i = 0; i < n; i++)
        inventory_fini(&list[i]);
    for (size_t i = 0; i < fleets.n; i++)
        fleet_free(fleets.at[i]);
    vec_free(&roots);
    vec_free(&fleets);
    return session_code(st);
}

const struct command command_info = {
    .name = "info",
    .group = GROUP_LOOK,
    .summary = "show what a capture contains and what is missing",
    .usage = "[OPTIONS] PATH...",
    .details = "Reads files or folders and lists their contents: sources with rows kept and lost, "
               "the profiler's settings, time span, lanes, steps, kernels and host events by kind "
               "with total durations, arrows, counters and attributes. Then it lists missing data, "
               "with the consequence and how to record it, and data lost while reading.\n"
               "\n"
               "Several captures, or a folder of ranks, get one line each; -v adds details.",
    .see = "docs/queries.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 4096},
    .common = COMMON_CAPTURE | COMMON_LANG,
    .schemas = {&inventory_schema},
    COMMAND_PARTS,
    .run = info_run,
};
