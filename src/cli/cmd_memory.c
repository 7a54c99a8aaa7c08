/*
 * strata memory: device memory over time and what held it.
 */
#include "analysis/tables/memory.h"
#include "answers/per_rank.h"
#include "cli/captures.h"
#include "text/memory.h"

struct args {
    struct input_options input;
    int64_t top;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_INT(0, "top", "N", struct args, top, 1, INT32_MAX, "rows to show (default: 12)"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata memory examples/memory", "peak, what lived then, growth by step"},
    {"strata memory examples/memory --json", "the same as JSON"},
};

static void memory_find_one(struct study *st, const void *args, struct rank_answer *out)
{
    struct memory_curves *m = memory_find(st);
    const struct memory_pool *most = NULL;

    m->top = (size_t)((const struct args *)args)->top;
    for (size_t i = 0; i < m->n; i++)
        most = most == NULL || m->at[i].peak > most->peak ? &m->at[i] : most;
    out->result = m;
    out->env = (struct record_env){&st->cap->strings, &st->scratch, &m->capacity};
    out->summary = most == NULL
                       ? wording_of(&st->scratch, phrase_plain(&memory_text.of_rank_none))
                       : WORDING(&st->scratch, &memory_text.of_rank, PLACE("pool", most->name),
                                 place_quantity("peak", most->peak, UNIT_BYTES));
    out->weight = most != NULL ? most->peak : 0;
}

static void memory_describe_one(const void *memory, struct report *r)
{
    memory_describe(memory, r);
}

PER_RANK_SCHEMA(memory_ranks_schema, "strata.memory-ranks/1", "device memory of several captures",
                &memory_record);

static int memory_run(struct session *s, const void *given)
{
    static const struct per_rank_kind kind = {&memory_schema, &memory_ranks_schema, memory_find_one,
                                              memory_describe_one};
    const struct args *args = given;

    return captures_give_each(s, args->input, &kind, args, "memory");
}

const struct command command_memory = {
    .name = "memory",
    .group = GROUP_EXPLAIN,
    .summary = "device memory over time: peak, what lived then, growth",
    .usage = "[OPTIONS] CAPTURE",
    .details = "Reads allocator events (profile_memory=True) or Ascend's memory tables: the curve "
               "of allocated and reserved bytes, what lived at the peak by operator and module, "
               "memory that is reserved but not used, and how each step begins, peaks and ends.",
    .see = "docs/analyses/memory.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_HTML,
    .schemas = {&memory_schema, &memory_ranks_schema},
    COMMAND_PARTS,
    .run = memory_run,
};
