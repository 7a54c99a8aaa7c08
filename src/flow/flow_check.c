/*
 * A capture against limits and a baseline.
 */
#include "flow/flow_check.h"

#include <math.h>

#include "analysis/bubbles.h"
#include "analysis/steps.h"
#include "analysis/study.h"
#include "capture/fleet.h"
#include "render/junit.h"
#include "report/quantity.h"

static const struct field gate_fields[] = {
    FIELD(struct gate_result, gate, "gate"),
    FIELD(struct gate_result, capture, "capture"),
    FIELD(struct gate_result, is_passed, "passed"),
    FIELD(struct gate_result, text, "text", .about = "the measured value and the limit"),
};
const struct record gate_result_record = RECORD(struct gate_result, gate_fields);

static const struct field gates_fields[] = {
    FIELD(struct gate_results, failed, "failed"),
    FIELD_LIST(struct gate_results, at, n, "gates", &gate_result_record),
};
static const struct record gates_record = RECORD(struct gate_results, gates_fields);

const struct schema check_gates_schema = {
    .name = "strata.check/1",
    .title = "a capture against limits",
    .record = &gates_record,
};

/* What is at hand while the gates of a capture are decided. */
struct checking {
    const struct check_job *job;
    struct study *st;
    struct arena *arena;
    struct gate_results *out;
    const char *capture;
};

static void decide(const struct checking *c, const char *gate, bool is_passed, struct str text)
{
    c->out->at[c->out->n++] = (struct gate_result){
        .gate = gate, .capture = c->capture, .is_passed = is_passed, .text = text.at};
    c->out->failed += !is_passed;
}

/* Sums over all steps, so that a short one counts as little as it takes. */
static void check_idle(const struct checking *c)
{
    const struct step_metrics *m = study_bubbles(c->st)->metrics;
    nanos idle = 0, time = 0;

    for (size_t i = 0; i < study_steps(c->st)->n; i++) {
        idle += m[i].underfeed;
        time += m[i].service;
    }
    const char *gate = arena_format(c->arena, "--max-idle %g%%", 100 * c->job->max_idle).at;
    if (time <= 0) {
        decide(c, gate, false, S("no step with device work"));
        return;
    }
    double share = (double)idle / (double)time;
    decide(c, gate, share <= c->job->max_idle,
           arena_format(c->arena, "idle for %.1f %% of %s in all steps (limit %g %%)", 100 * share,
                        quantity_text(c->arena, (double)time, UNIT_NS), 100 * c->job->max_idle));
}

static void check_step(const struct checking *c)
{
    const struct step_metrics *m = study_bubbles(c->st)->metrics;
    const struct steps *steps = study_steps(c->st);
    const char *limit = quantity_text(c->arena, (double)c->job->max_step, UNIT_NS);
    const char *gate = arena_format(c->arena, "--max-step %s", limit).at;
    size_t worst = 0, over = 0;

    for (size_t i = 0; i < steps->n; i++) {
        worst = m[i].service > m[worst].service ? i : worst;
        over += m[i].service > c->job->max_step;
    }
    if (steps->n == 0) {
        decide(c, gate, false, S("no steps"));
        return;
    }
    decide(c, gate, over == 0,
           arena_format(c->arena, "longest step %.*s: %s; %zu of %zu steps above %s",
                        STR_ARGS(steps->at[worst].id),
                        quantity_text(c->arena, (double)m[worst].service, UNIT_NS), over, steps->n,
                        limit));
}

static void check_gates(const struct checking *c)
{
    for (size_t i = 0; i < c->job->n_gates; i++) {
        const char *gate = arena_format(c->arena, "--fail-if %s", c->job->gates[i].text).at;
        struct str where;
        double value;
        if (gate_check(&c->job->gates[i], c->st, &where, &value))
            decide(c, gate, false,
                   arena_format(c->arena, "holds in %.*s: %g", STR_ARGS(where), value));
        else
            decide(c, gate, true, S("holds nowhere"));
    }
}

static void check_capture(const struct check_job *job, const struct capture *cap,
                          struct arena *arena, struct gate_results *out)
{
    struct study st;
    struct checking c = {job, &st, arena, out, arena_cstr(arena, str_of(cap->name))};

    study_begin(&st, cap, study_defaults());
    if (!isnan(job->max_idle))
        check_idle(&c);
    if (job->max_step > 0)
        check_step(&c);
    check_gates(&c);
    study_end(&st);
}

static void check_change(const struct checking *c, const struct comparison *made, size_t i)
{
    const struct diff_gate *gate = &c->job->changes[i];
    const char *name = compare_metric_name(gate->metric);

    if (made->n_groups == 0) {
        decide(c, c->job->change_texts[i], false, S("no group of steps could be compared"));
        return;
    }
    const struct compare_group *g = compare_gate(made, gate->group, gate->metric, gate->limit);
    if (g == NULL)
        decide(c, c->job->change_texts[i], true,
               arena_format(c->arena, "%s grew by at most %g %%, or within noise", name,
                            100 * gate->limit));
    else
        decide(c, c->job->change_texts[i], false,
               arena_format(c->arena,
                            "%s of g%zu grew by %.1f %% over the baseline (limit %g %%)%s", name,
                            g->index[SIDE_A], 100 * g->metrics[gate->metric].relative,
                            100 * gate->limit, g->is_judged ? "" : "; not tested for noise"));
}

static void check_pairs(const struct check_job *job, const struct diff_result *diff,
                        struct arena *arena, struct gate_results *out)
{
    for (size_t i = 0; i < diff->n; i++) {
        const struct comparison *made = diff->at[i].comparison;
        struct checking c = {job, NULL, arena, out, arena_cstr(arena, str_of(made->name[SIDE_B]))};
        for (size_t k = 0; k < job->n_changes; k++)
            check_change(&c, made, k);
    }
    if (diff->n == 0) {
        struct checking c = {job, NULL, arena, out, job->path};
        for (size_t k = 0; k < job->n_changes; k++)
            decide(&c, job->change_texts[k], false, S("no rank is in both"));
    }
}

static size_t most_results(const struct check_job *job, size_t ranks)
{
    return (ranks > 0 ? ranks : 1) * (2 + job->n_gates + job->n_changes);
}

/* The changes are checked on the same captures that were read for the comparison. */
static enum status check_with_baseline(const struct check_job *job, struct arena *arena,
                                       struct diag *d, struct gate_results *out)
{
    const struct diff_job diff = {.path = {job->baseline, job->path},
                                  .input = job->input,
                                  .compare = {.min_ratio = 0.01, .min_time = 10000}};
    struct diff_result made;

    enum status st = flow_diff(&diff, arena, d, &made);
    if (st == ST_OK) {
        const struct fleet *fleet = made.fleet[SIDE_B];
        out->at = ARENA_ARRAY(arena, struct gate_result, most_results(job, fleet->ranks.n));
        for (size_t i = 0; i < fleet->ranks.n; i++)
            check_capture(job, fleet->ranks.at[i], arena, out);
        check_pairs(job, &made, arena, out);
        out->fleet = made.fleet[SIDE_B];
        made.fleet[SIDE_B] = NULL;
    }
    diff_result_free(&made);
    return st;
}

enum status flow_check(const struct check_job *job, struct arena *arena, struct diag *d,
                       struct gate_results *out)
{
    *out = (struct gate_results){0};
    if (job->baseline != NULL)
        return check_with_baseline(job, arena, d, out);
    TRY(input_load_all(job->path, &job->input, d, &out->fleet));
    out->at = ARENA_ARRAY(arena, struct gate_result, most_results(job, out->fleet->ranks.n));
    for (size_t i = 0; i < out->fleet->ranks.n; i++)
        check_capture(job, out->fleet->ranks.at[i], arena, out);
    return ST_OK;
}

void gate_results_junit(const struct gate_results *results, const char *path, struct text *out)
{
    struct junit_case *cases = mem_grow(NULL, sizeof(*cases), results->n);

    for (size_t i = 0; i < results->n; i++) {
        const struct gate_result *g = &results->at[i];
        cases[i] = (struct junit_case){path, g->gate, g->capture, g->is_passed ? NULL : g->text};
    }
    junit_write(out, "strata check", cases, results->n);
    mem_free(cases);
}
