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
    {"strata memory examples/snapshot/fits.pickle examples/snapshot/fails.pickle",
     "two memory snapshots compared, by stack"},
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

static void memory_describe_diff(const void *diff, struct report *r)
{
    memory_diff_describe(diff, r);
}

/* Both are loaded, and of both the allocator's blocks are known. */
static int compare_two(struct session *s, const struct capture *a, const struct capture *b,
                       const struct args *args)
{
    struct study one, two;

    for (size_t side = 0; side < 2; side++)
        if ((side == 0 ? a : b)->snapshot == NULL) {
            diag_hint(&s->diag, "try", "strata diff, for two captures of other kinds");
            return session_code(diag_fail(&s->diag, ST_UNSUPPORTED, "memory.no-snapshot",
                                          (struct where){.path = s->operands.at[side]},
                                          "not a memory snapshot: there are no blocks to compare"));
        }
    study_begin(&one, a, study_defaults());
    study_begin(&two, b, study_defaults());
    struct memory_diff *diff = memory_compare(&one, &two);
    diff->top = (size_t)args->top;
    const struct record_env env = {.arena = &one.scratch};
    session_give(s,
                 &(struct answer){
                     .schema = &memory_diff_schema,
                     .origin = origin_name(a->origin),
                     .result = diff,
                     .env = &env,
                     .title = MESSAGE(session_lang(s), &s->arena, &memory_text.diff_title,
                                      PLACE("a", s->operands.at[0]), PLACE("b", s->operands.at[1])),
                     .describe = memory_describe_diff});
    study_end(&one);
    study_end(&two);
    return CODE_DONE;
}

static int memory_run_two(struct session *s, const struct args *args)
{
    struct capture *caps[2] = {NULL, NULL};
    int code = CODE_DONE;

    for (size_t side = 0; side < 2 && code == CODE_DONE; side++)
        code = session_code(captures_load_one(s, s->operands.at[side], args->input, &caps[side]));
    if (code == CODE_DONE)
        code = compare_two(s, caps[0], caps[1], args);
    capture_free(caps[0]);
    capture_free(caps[1]);
    return code;
}

static int memory_run(struct session *s, const void *given)
{
    static const struct per_rank_kind kind = {&memory_schema, &memory_ranks_schema, memory_find_one,
                                              memory_describe_one};
    const struct args *args = given;

    if (s->operands.n == 2)
        return memory_run_two(s, args);
    return captures_give_each(s, args->input, &kind, args, "memory");
}

const struct command command_memory = {
    .name = "memory",
    .group = GROUP_EXPLAIN,
    .summary = "device memory over time: peak, what lived then, growth",
    .usage = "[OPTIONS] CAPTURE [CAPTURE]",
    .details = "Reads allocator events (profile_memory=True), Ascend's memory tables, or a memory "
               "snapshot (torch.cuda.memory._dump_snapshot): the curve of allocated and reserved "
               "bytes, what lived at the peak by operator and module or by stack, memory that is "
               "reserved but not used, and how each step begins, peaks and ends. Of a snapshot "
               "also fragmentation, and what an out-of-memory error asked for and what held the "
               "memory. Two snapshots are compared by stack.",
    .see = "docs/analyses/memory.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 2},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_HTML,
    .schemas = {&memory_schema, &memory_ranks_schema, &memory_diff_schema},
    COMMAND_PARTS,
    .run = memory_run,
};
