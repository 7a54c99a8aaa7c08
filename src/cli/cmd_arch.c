/*
 * strata arch: what model ran, told from its kernels.
 */
#include "analysis/arch.h"
#include "analysis/arch_rules.h"
#include "cli/captures.h"
#include "flow/flow_arch.h"
#include "text/arch.h"

struct args {
    struct arch_job job;
};

static const struct args defaults = {.job = {.input = {.rank = -1, .device = -1}}};

static const struct opt options[] = {
    OPT_STRING(0, "marker", "RE", struct args, job.marker,
               "kernels that mark layers, as a regular expression"),
    OPT_STRING(0, "rules", "FILE", struct args, job.rules,
               "families of kernels, tried before the built-in ones (YAML)"),
    OPT_RANK(struct args, job.input, "only this rank of a folder of ranks"),
    OPT_DEVICE(struct args, job.input),
    OPT_SOURCE(struct args, job.input),
    OPT_END,
};

static const struct example examples[] = {
    {"strata arch examples/ascend-small", "passes, layers and what they cost"},
    {"strata arch examples/ascend-small --json -o out", "the same for programs"},
    {0},
};

static void print(struct session *s, const struct arch_result *result)
{
    if (s->common.json) {
        arch_result_write(result, session_sink(s));
        return;
    }
    for (size_t i = 0; i < result->n && !s->common.quiet; i++)
        if (result->n == 1)
            out_printf(&s->out, "%s\n", result->at[i].summary);
        else
            out_bytes(&s->out, MESSAGE(session_lang(s), &s->arena, &arch_text.rank_summary,
                                       PLACE("rank", result->at[i].rank),
                                       PLACE("summary", result->at[i].summary)));
}

static int run(struct session *s, const void *given)
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
    enum status status = flow_arch(&job, &s->arena, &s->diag, &result);
    if (status == ST_OK) {
        print(s, &result);
        for (size_t i = 0; i < result.n && !job.is_dry_run; i++) {
            session_wrote(s, result.at[i].markdown_path);
            session_wrote(s, result.at[i].json_path);
        }
        if (result.cover.markdown_path != NULL && !job.is_dry_run) {
            session_wrote(s, result.cover.markdown_path);
            session_wrote(s, result.cover.json_path);
        }
    }
    arch_result_free(&result);
    return session_code(status);
}

const struct command command_arch = {
    .name = "arch",
    .group = GROUP_EXPLAIN,
    .summary = "reconstruct the model that ran: passes, layers, their types and costs",
    .usage = "[OPTIONS] CAPTURE...",
    .details = "Reads a profile and tells from its kernels alone what model ran: attention kernels "
               "mark layers, layers form passes through the model, and what lies between two "
               "markers tells dense layers from those with experts. Where no attention kernel is "
               "found, the main stream is searched for what repeats.\n"
               "\n"
               "The report is written as model_architecture_report_<capture>.md, with ten sections "
               "whatever the capture holds, and as a JSON document of the same name, to the folder "
               "strata/ inside the capture's folder (beside a single file), or to the one that -o "
               "names. Several ranks give one report each and a cover. With --json the document is "
               "printed.\n"
               "\n"
               "--marker names kernels that mark layers where the built-in table does not know "
               "them. --rules reads a YAML list of maps with family, pattern and, if wanted, phase "
               "(prefill or decode). Families: attention, moe_dispatch_fused, moe_gate, moe_gemm, "
               "comm, matmul, norm, rope, kvcache, activation, quant, sampling, embedding, "
               "elementwise. Patterns are extended regular expressions, any case.",
    .see = "docs/analyses/architecture.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 4096},
    .common = COMMON_OUT | COMMON_FORMAT | COMMON_DRY_RUN | COMMON_JOBS | COMMON_LANG,
    .schemas = {&arch_schema},
    COMMAND_PARTS,
};
