/*
 * strata memory: device memory over time and what held it.
 */
#include "analysis/tables/memory.h"
#include "cli/captures.h"
#include "cli/page_answer.h"
#include "report/report.h"

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

static int memory_run(struct session *s, const void *given)
{
    const struct args *args = given;
    enum status status = ST_OK;
    struct capture *cap;
    struct study st;

    TRY_CODE(session_code(captures_load_one(s, s->operands.at[0], args->input, &cap)));
    study_begin(&st, cap, study_with_passes());
    const struct memory_curves *memory = memory_find(&st);
    if (s->common.json) {
        const struct record_env env = {&cap->strings, &st.scratch, &memory->capacity};
        session_document_in(s, &memory_schema, origin_name(cap->origin), memory, &env);
    } else if (!s->common.quiet) {
        struct report *r = report_new(session_lang(s), str_of(cap->name));
        memory_describe(memory, (size_t)args->top, r);
        session_answer(s, r);
    }
    study_end(&st);
    if (s->page != NULL)
        status = page_answer_view(s, &cap, 1, study_with_passes(), "memory");
    capture_free(cap);
    return session_code(status);
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
    .schemas = {&memory_schema},
    COMMAND_PARTS,
    .run = memory_run,
};
