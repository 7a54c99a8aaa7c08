/*
 * What a capture does not tell, and what that costs.
 */
#include "analysis/idle/gaps.h"

#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "text/anomaly.h"

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
    const struct message *text;
} files[] = {
    {SOURCE_KERNEL_TABLE, S_INIT(""), &anomaly_text.lacks_kernel_details},
    {SOURCE_COMM_MATRIX, S_INIT(""), &anomaly_text.lacks_comm_matrix},
    {SOURCE_STEP_TRACE_TIME, S_INIT(""), &anomaly_text.lacks_step_trace},
    {SOURCE_OP_STATISTIC, S_INIT(""), &anomaly_text.lacks_op_statistic},
    {SOURCE_PROFILER_INFO, S_INIT("profiler_info"), &anomaly_text.lacks_profiler_info},
    {SOURCE_PROFILER_INFO, S_INIT("profiler_metadata"), &anomaly_text.lacks_profiler_metadata},
};

static void gaps_add(struct gaps *gaps, bool is_true, bool is_file, const struct message *text)
{
    if (is_true)
        gaps->at[gaps->n++] = (struct gap){text, is_file};
}

struct gaps gaps_find(struct study *st)
{
    const struct capture *cap = st->cap;
    const struct steps *steps = study_steps(st);
    struct gaps out = {.n = 0};

    gaps_add(&out, steps->n == 0, false, &anomaly_text.lacks_kernels);
    gaps_add(&out, steps->n > 0 && steps->source == STEPS_PSEUDO, false, &anomaly_text.lacks_steps);
    gaps_add(&out, !(cap->has & HAS_HOST), false, &anomaly_text.lacks_host);
    gaps_add(&out, !(cap->has & HAS_STACKS), false, &anomaly_text.lacks_stacks);
    gaps_add(&out, !(cap->has & HAS_SHAPES), false, &anomaly_text.lacks_shapes);
    gaps_add(&out, (cap->has & HAS_COMM) && cap->comm_ops.n == 0, is_ascend_folder(cap),
             &anomaly_text.lacks_comm);
    gaps_add(&out, is_ascend_folder(cap) && !has_source(cap, SOURCE_TRACE_VIEW, S("")), true,
             steps->source == STEPS_FROM_COLUMN ? &anomaly_text.lacks_trace_column
                                                : &anomaly_text.lacks_trace);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        gaps_add(&out, is_ascend_folder(cap) && !has_source(cap, files[i].kind, files[i].prefix),
                 true, files[i].text);
    return out;
}
_Static_assert(7 + ARRAY_LEN(files) <= MAX_GAPS, "room for all gaps");
