/*
 * The anomaly job: captures in, reports, documents and gates out.
 */
#include "answers/answer_anomaly.h"

#include "analysis/arch/arch.h"
#include "analysis/idle/anomaly.h"
#include "analysis/study.h"
#include "answers/results.h"
#include "base/files/fs.h"
#include "capture/fleet.h"
#include "report/report.h"

static const char *file_name(struct arena *arena, const struct capture *cap, bool is_alone)
{
    if (is_alone)
        return "anomaly_discovery.json";
    struct str name =
        arena_format(arena, "anomaly_discovery_rank%lld.json", (long long)cap->facts.rank);
    return name.at;
}

/* Counts the gates that one capture reaches, and says which. */
static size_t check_gates(const struct anomaly_job *job, struct study *st, struct diag *d)
{
    enum severity_level severity = study_judgement(st)->severity;
    struct where where = {.path = st->cap->name};
    size_t reached = 0;

    if (job->fail_on != SEVERITY_NONE && severity >= job->fail_on) {
        diag_add(d, SEV_WARN, "anomaly.gate", where, "severity is %s",
                 severity_level_name(severity));
        reached++;
    }
    for (size_t i = 0; i < job->n_gates; i++) {
        struct str step;
        double value;
        if (!gate_check(&job->gates[i], st, &step, &value))
            continue;
        diag_add(d, SEV_WARN, "anomaly.gate", where, "%s holds in %.*s: %g", job->gates[i].text,
                 STR_ARGS(step), value);
        reached++;
    }
    return reached;
}

/* The forward passes of a capture's model, as the windows of steps. */
static struct interval_set find_passes(const struct capture *cap, const struct arch_options *name,
                                       struct arena *arena)
{
    struct study st;

    study_begin(&st, cap, study_defaults());
    const struct arch_layers *layers = arch_find(&st, name)->layers;
    struct interval_set passes = {ARENA_ARRAY(arena, struct interval, layers->n_passes),
                                  layers->n_passes};
    for (size_t i = 0; i < passes.n; i++)
        passes.at[i] = layers->passes[i].at;
    study_end(&st);
    return passes;
}

/* One capture: its report and document, and its architecture with the facts at hand. */
static void analyse(const struct anomaly_job *job, size_t i, struct arena *arena, struct diag *d,
                    struct anomaly_result *out)
{
    struct study_options options = job->study;
    struct arch_options name = {.name = str_of(arch_words(arena, job->path))};
    const struct capture *cap = out->fleet->ranks.at[i];
    struct anomaly_finding *finding = &out->at[i];
    struct study st;

    if (options.step_choice == STEP_CHOICE_PASSES)
        options.passes = find_passes(cap, &name, arena);
    study_begin(&st, cap, options);
    const struct arch *arch = job->without_arch ? NULL : arch_find(&st, &name);
    finding->report = report_new(job->lang, str_of(cap->name));
    anomaly_describe(&st, finding->report);
    if (arch != NULL)
        anomaly_describe_structures(&st, arch, finding->report);
    if (job->wants_json || job->out != NULL)
        anomaly_write_json(&st, arch, text_sink(&finding->json));
    if (arch != NULL && job->out != NULL)
        arch_document_fill(&st, arch, job->lang, arena, &out->arch.at[i]);
    out->gates_reached += check_gates(job, &st, d);
    study_end(&st);
}

enum status answer_anomaly(const struct anomaly_job *job, struct arena *arena, struct diag *d,
                           struct anomaly_result *out)
{
    enum status st = ST_OK;

    *out = (struct anomaly_result){0};
    TRY(input_load_all(job->path, &job->input, d, &out->fleet));
    out->at = ARENA_ARRAY(arena, struct anomaly_finding, out->fleet->ranks.n);
    out->n = out->fleet->ranks.n;
    if (!job->without_arch) {
        out->arch.at = ARENA_ARRAY(arena, struct arch_document, out->n);
        out->arch.n = out->n;
        out->arch.lang = job->lang;
    }
    for (size_t i = 0; i < out->n && st == ST_OK; i++) {
        const struct capture *cap = out->fleet->ranks.at[i];
        if (job->out != NULL)
            out->at[i].json_path = fs_join(arena, job->out, file_name(arena, cap, out->n == 1));
        analyse(job, i, arena, d, out);
        if (job->out != NULL && !job->is_dry_run)
            st = results_save(job->out, out->at[i].json_path,
                              (struct str){out->at[i].json.at, out->at[i].json.n}, d);
    }
    if (st == ST_OK && !job->without_arch && job->out != NULL)
        st = arch_result_save(&out->arch, job->path, job->out, job->is_dry_run, arena, d);
    if (st == ST_OK && job->markdown != NULL && !job->is_dry_run)
        st = results_save_markdown(job->markdown, &out->at->report, sizeof(*out->at), out->n, d);
    return st;
}

void anomaly_result_free(struct anomaly_result *result)
{
    for (size_t i = 0; i < result->n; i++) {
        report_free(result->at[i].report);
        text_free(&result->at[i].json);
    }
    arch_result_free(&result->arch);
    fleet_free(result->fleet);
}

void anomaly_result_write(const struct anomaly_result *result, struct sink out)
{
    for (size_t i = 0; i < result->n; i++)
        results_put(out, "strata.anomaly-set/1", i, result->n,
                    (struct str){result->at[i].json.at, result->at[i].json.n});
}
