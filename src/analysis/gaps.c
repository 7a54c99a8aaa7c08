/*
 * What a capture does not tell, and what that costs.
 */
#include "analysis/gaps.h"

#include "analysis/steps.h"
#include "analysis/study.h"

static bool has_source(const struct capture *cap, enum source_kind kind, struct str prefix)
{
    for (size_t i = 0; i < cap->sources.n; i++)
        if (cap->sources.at[i].kind == kind &&
            str_starts(str_basename(str_of(cap->sources.at[i].path)), prefix))
            return true;
    return false;
}

/* The text files of one rank of an Ascend profiler: a folder, not one file on its own. */
static bool is_ascend_folder(const struct capture *cap)
{
    return cap->sources.n > 1 && !has_source(cap, SOURCE_DATABASE, S("")) &&
           (has_source(cap, SOURCE_KERNEL_TABLE, S("")) ||
            has_source(cap, SOURCE_TRACE_VIEW, S("")));
}

static const struct {
    enum source_kind kind;
    struct str prefix; /* of the file's name */
    const char *text;
} files[] = {
    {SOURCE_KERNEL_TABLE, S_INIT(""),
     "no kernel_details.csv: kernels come from the timeline, without types, shapes and waits"},
    {SOURCE_COMM_MATRIX, S_INIT(""),
     "no communication_matrix.json: which ranks exchange how much is not known"},
    {SOURCE_STEP_TRACE_TIME, S_INIT(""),
     "no step_trace_time.csv: the profiler's own step times cannot be compared"},
    {SOURCE_OP_STATISTIC, S_INIT(""),
     "no op_statistic.csv: the profiler's own operator totals are not known"},
    {SOURCE_PROFILER_INFO, S_INIT("profiler_info"),
     "no profiler_info.json: how the profile was recorded is not known"},
    {SOURCE_PROFILER_INFO, S_INIT("profiler_metadata"),
     "no profiler_metadata.json: communication groups have no names"},
};

static void add(struct gaps *gaps, bool is_true, bool is_file, const char *text)
{
    if (is_true)
        gaps->at[gaps->n++] = (struct gap){text, is_file};
}

struct gaps gaps_find(struct study *st)
{
    const struct capture *cap = st->cap;
    const struct steps *steps = study_steps(st);
    struct gaps out = {.n = 0};

    add(&out, steps->n == 0, false, "no kernels: there is no device work to judge");
    add(&out, steps->n > 0 && steps->source == STEPS_PSEUDO, false,
        "no step marks: the whole device span is one pseudo-step");
    add(&out, !(cap->has & HAS_HOST), false,
        "no host events: causes of idle time cannot be narrowed");
    add(&out, !(cap->has & HAS_STACKS), false,
        "no call stacks: idle time cannot be traced to code");
    add(&out, !(cap->has & HAS_SHAPES), false, "no shapes: steps of different sizes look alike");
    add(&out, (cap->has & HAS_COMM) && cap->comm_ops.n == 0, is_ascend_folder(cap),
        "no communication.json: no bandwidth, communication totals come from the rows");
    add(&out, is_ascend_folder(cap) && !has_source(cap, SOURCE_TRACE_VIEW, S("")), true,
        steps->source == STEPS_FROM_COLUMN
            ? "no trace_view.json: steps come from the Step Id column, and the host is not seen"
            : "no trace_view.json: the host is not seen, and steps are not marked");
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        add(&out, is_ascend_folder(cap) && !has_source(cap, files[i].kind, files[i].prefix), true,
            files[i].text);
    return out;
}
_Static_assert(7 + ARRAY_LEN(files) <= MAX_GAPS, "room for all gaps");
