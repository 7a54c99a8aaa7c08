/*
 * strata arch: the model, reconstructed from its kernels.
 */
#include "analysis/arch/arch.h"
#include "analysis/arch/arch_rules.h"
#include "answers/answer_arch.h"
#include "cli/captures.h"
#include "cli/page_answer.h"

struct args {
    struct arch_job job;
};

static const struct args defaults = {.job = {.input = CAPTURE_INPUT()}};

static const struct opt options[] = {
    OPT_STRING(0, "marker", "RE", struct args, job.marker,
               "regular expression for kernels that mark layers"),
    OPT_STRING(0, "rules", "FILE", struct args, job.rules,
               "kernel families to try before the built-in ones (YAML)"),
    CAPTURE_OPTIONS(struct args, job.input),
};

static const struct example examples[] = {
    {"strata arch examples/ascend-small -o out", "passes, layers and their cost"},
    {"strata arch examples/ascend-small --json -o out", "as JSON"},
};

static int arch_run(struct session *s, const void *given)
{
    struct arch_job job = ((const struct args *)given)->job;
    struct arch_result result;
    const char *problem = job.marker != NULL ? arch_pattern_problem(&s->arena, job.marker) : NULL;

    if (problem != NULL)
        return session_usage(s, "--marker '%s': %s", job.marker, problem);
    job.paths = s->operands.at;
    job.n_paths = s->operands.n;
    job.out = s->common.out;
    job.is_dry_run = s->common.dry_run;
    job.lang = session_lang(s);
    captures_input(s, &job.input);
    enum status status = answer_arch(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK) {
        const struct answer a = arch_answer(&result);
        if (job.out != NULL && !job.is_dry_run)
            captures_wrote_arch(s, &result);
        status = page_answer_view(s, &a, &result.ranks, "model");
    }
    arch_result_free(&result);
    return session_code(status);
}

const struct command command_arch = {
    .name = "arch",
    .group = GROUP_EXPLAIN,
    .summary = "reconstruct the model from its kernels: passes and layers",
    .usage = "[OPTIONS] CAPTURE...",
    .details =
        "Reconstructs the model from its kernels alone: attention kernels mark layers, layers form "
        "passes, and the kernels between two markers distinguish dense layers from MoE layers. "
        "Without attention kernels, repeating patterns on the main stream are used.\n"
        "\n"
        "Prints a summary. With -o DIR the report is written as "
        "DIR/model_architecture_report_<capture>.md, always with ten sections, and as JSON under "
        "the same name; several ranks get one report each and a cover page. With --json the "
        "document is printed.\n"
        "\n"
        "--marker names layer markers that the built-in table does not have. --rules reads a YAML "
        "list of maps with family, pattern and, optionally, phase (prefill or decode). Families: "
        "attention, moe_dispatch_fused, moe_gate, moe_gemm, comm, matmul, norm, rope, kvcache, "
        "activation, quant, sampling, embedding, elementwise. Patterns are extended regular "
        "expressions and ignore case.",
    .see = "docs/analyses/architecture.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 4096},
    .common = COMMON_CAPTURE | COMMON_OUT | COMMON_DRY_RUN | COMMON_LANG | COMMON_HTML,
    .schemas = {&arch_schema},
    COMMAND_PARTS,
    .run = arch_run,
};
