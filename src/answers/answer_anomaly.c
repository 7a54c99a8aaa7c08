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

    study_begin(&st, cap, study_contract());
    const struct arch_layers *layers = arch_find(&st, name)->layers;
    struct interval_set passes = {ARENA_ARRAY(arena, struct interval, layers->n_passes),
                                  layers->n_passes};
    for (size_t i = 0; i < passes.n; i++)
        passes.at[i] = layers->passes[i].at;
    study_end(&st);
    return passes;
}

/* One capture, and its architecture with the facts at hand. */
static void analyse(const struct anomaly_job *job, size_t i, struct arena *arena, struct diag *d,
                    struct anomaly_result *out)
{
    struct arch_options name = {.name = str_of(arch_words(arena, job->path))};
    struct anomaly_finding *finding = &out->at[i];

    finding->study = &out->ranks.ranks[i];
    if (job->study.step_choice == STEP_CHOICE_PASSES)
        finding->study->options.passes = find_passes(finding->study->cap, &name, arena);
    out->n = i + 1;
    if (!job->without_arch)
        finding->arch = arch_find(finding->study, &name);
    if (finding->arch != NULL && job->out != NULL)
        arch_document_fill(finding->study, finding->arch, job->lang, arena, &out->arch.at[i]);
    out->gates_reached += check_gates(job, finding->study, d);
}

static void anomaly_describe_part(const void *found, size_t i, struct report *r)
{
    const struct anomaly_result *result = found;
    struct anomaly_finding *finding = &result->at[i];

    r->title = str_of(finding->study->cap->name);
    anomaly_describe(finding->study, r);
    if (finding->arch != NULL)
        anomaly_describe_structures(finding->study, finding->arch, r);
}

static bool anomaly_write(const void *found, struct sink sink)
{
    const struct anomaly_result *result = found;
    struct text json = {0};
    bool is_written = true;

    for (size_t i = 0; i < result->n; i++) {
        struct anomaly_finding *one = &result->at[i];
        text_clear(&json);
        is_written &= anomaly_write_json(one->study, one->arch, text_sink(&json));
        results_put(sink, "strata.anomaly-set/1", i, result->n, text_view(&json));
    }
    text_free(&json);
    return is_written;
}

struct answer anomaly_answer(const struct anomaly_result *result)
{
    return (struct answer){.schema = result->n == 1 ? &anomaly_schema : NULL,
                           .result = result,
                           .title = S(""),
                           .describe_part = anomaly_describe_part,
                           .n_parts = result->n,
                           .write = anomaly_write};
}

static enum status anomaly_save(const struct anomaly_job *job, struct anomaly_finding *one,
                                struct diag *d)
{
    struct text json = {0};

    anomaly_write_json(one->study, one->arch, text_sink(&json));
    enum status st = results_save(job->out, one->json_path, text_view(&json), d);
    text_free(&json);
    return st;
}

enum status answer_anomaly(const struct anomaly_job *job, struct arena *arena, struct diag *d,
                           struct anomaly_result *out)
{
    enum status st = ST_OK;

    *out = (struct anomaly_result){0};
    TRY(input_load_all(job->path, &job->input, d, &out->fleet));
    size_t n = out->fleet->ranks.n;
    fleet_study_begin(&out->ranks, out->fleet, job->study);
    out->at = ARENA_ARRAY(arena, struct anomaly_finding, n);
    if (!job->without_arch)
        out->arch = (struct arch_result){
            .at = ARENA_ARRAY(arena, struct arch_document, n), .n = n, .lang = job->lang};
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        analyse(job, i, arena, d, out);
        if (job->out == NULL)
            continue;
        out->at[i].json_path =
            fs_join(arena, job->out, file_name(arena, out->fleet->ranks.at[i], n == 1));
        if (!job->is_dry_run)
            st = anomaly_save(job, &out->at[i], d);
    }
    if (st == ST_OK && !job->without_arch && job->out != NULL)
        st = arch_result_save(&out->arch, job->path, job->out, job->is_dry_run, arena, d);
    const struct answer a = anomaly_answer(out);
    if (st == ST_OK && job->markdown != NULL && !job->is_dry_run)
        st = results_save_markdown(job->markdown, &a, job->lang, d);
    return st;
}

void anomaly_result_free(struct anomaly_result *result)
{
    if (result->ranks.n > 0)
        fleet_study_end(&result->ranks);
    arch_result_free(&result->arch);
    fleet_free(result->fleet);
}
