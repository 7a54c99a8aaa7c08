/*
 * strata gpu annotate: the source of a run's kernels, with the samples of each line.
 */
#include "cli/session.h"
#include "gpu/collect/gpu_jobs.h"
#include "report/report.h"

struct args {
    const char *kernel;
    bool sass;
};

static const struct opt options[] = {
    OPT_STRING(0, "kernel", "NAME", struct args, kernel, "kernels whose name matches"),
    OPT_FLAG(0, "sass", struct args, sass, "instructions below their lines"),
};

static const struct example examples[] = {
    {"strata gpu annotate examples/gpu-rules/run --kernel scale",
     "source lines with samples and stall reasons"},
};

/* What was found, which is the document, and how much of it to show. */
struct annotated {
    struct gpu_annotations found;
    bool sass;
};

static void annotate_describe(const void *result, struct report *r)
{
    const struct annotated *x = result;

    for (size_t i = 0; i < x->found.at.n; i++)
        gpu_annotated_show(&x->found.at.at[i], x->sass, r);
}

static int annotate_run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct annotated x = {.sass = args->sass};

    enum status st =
        gpu_annotated_read(s->operands.at[0], args->kernel, &s->arena, &x.found, &s->diag);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &gpu_annotate_schema,
                                         .origin = "measured",
                                         .result = &x,
                                         .describe = annotate_describe});
    gpu_annotated_free(&x.found);
    return session_code(st);
}

const struct command command_gpu_annotate = {
    .name = "annotate",
    .group = GROUP_RECORD,
    .summary = "print kernel source with samples per line",
    .usage = "[OPTIONS] DIR",
    .details = "Prints the source files of a run's kernels: percent of the kernel's samples, the "
               "stall reason that most of them have, line number and text. Lines need kernels that "
               "were compiled with -lineinfo. --sass adds the sampled instructions; their text "
               "needs nvdisasm when the run is recorded, otherwise only offsets are shown.",
    .see = "docs/gpu.md",
    .operands = {.kind = OPERAND_DIR, .min = 1, .max = 1},
    .schemas = {&gpu_annotate_schema},
    COMMAND_PARTS_ZERO,
    .run = annotate_run,
};
