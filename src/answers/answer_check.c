/*
 * A capture against limits and a baseline.
 */
#include "answers/answer_check.h"

#include <math.h>

#include "analysis/idle/bubbles.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "base/files/mapfile.h"
#include "base/files/outfile.h"
#include "capture/fleet.h"
#include "render/render.h"
#include "report/envelope.h"
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
    FIELD_LIST(struct gate_results, changes, n_changes, "changes", &run_change_record,
               .missing = MISSING_EMPTY, .is_optional = true,
               .about = "of repeated runs over the baseline: the step, then its parts"),
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
    for (size_t i = 0; i < c.job->n_gates; i++) {
        const char *gate = arena_format(c.arena, "--fail-if %s", c.job->gates[i].text).at;
        struct str where;
        double value;
        if (gate_check(&c.job->gates[i], c.st, &where, &value))
            decide(&c, gate, false,
                   arena_format(c.arena, "holds in %.*s: %g", STR_ARGS(where), value));
        else
            decide(&c, gate, true, S("holds nowhere"));
    }
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

    enum status st = answer_diff(&diff, arena, d, &made);
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

/* ---- repeated runs ---- */

static void make_room(struct gate_results *out, struct arena *arena, size_t n)
{
    struct gate_result *more = ARENA_ARRAY(arena, struct gate_result, out->n + n);

    if (out->n > 0)
        memcpy(more, out->at, out->n * sizeof(*more));
    out->at = more;
}

enum { SAVED_MOST = 16 << 20, SAVED_HEAD = 256 };

bool check_is_saved(const char *path)
{
    struct mapfile map;

    if (mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    struct str head = str_part(map.text, 0, SAVED_HEAD);
    bool is = str_contains(head, S("\"strata.baseline/1\""));
    mapfile_close(&map);
    return is;
}

static enum status add_capture(const struct capture *cap, struct runs *runs, struct diag *d)
{
    struct study st;

    study_begin(&st, cap, study_defaults());
    bool is_added = runs_add(runs, &st);
    study_end(&st);
    if (is_added)
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "check.no-steps", (struct where){.path = cap->name},
                     "no step with device work to compare");
}

/* The captures of a path, or the runs of a file. */
static enum status add_runs(const struct check_job *job, const char *path, struct runs *runs,
                            struct diag *d, struct fleet **fleet)
{
    enum status st = ST_OK;

    *fleet = NULL;
    if (check_is_saved(path)) {
        struct where where = {.path = path};
        struct tree_error error = {0};
        struct mapfile map;
        TRY(mapfile_open(&map, path, d));
        const struct tree *file =
            map.text.n <= SAVED_MOST ? tree_read_json(runs->arena, map.text, &error) : NULL;
        mapfile_close(&map);
        if (file != NULL && runs_read(runs, file))
            return ST_OK;
        return diag_fail(d, ST_FORMAT, "check.bad-baseline", where,
                         "not a file of strata check --save");
    }
    TRY(input_load_all(path, &job->input, d, fleet));
    for (size_t i = 0; i < (*fleet)->ranks.n && st == ST_OK; i++)
        st = add_capture((*fleet)->ranks.at[i], runs, d);
    return st;
}

static enum status save_runs(const struct check_job *job, const struct runs *runs, struct diag *d)
{
    struct outfile file;

    TRY(outfile_open(&file, job->save, d));
    envelope_write(outfile_sink(&file),
                   &(struct envelope){.schema = &runs_schema,
                                      .result = runs,
                                      .env = &(struct record_env){.arena = runs->arena}});
    return outfile_commit(&file, OUTFILE_FAST, d);
}

/* "MatMul, Add +0.480 ms (94 % of it)" */
static const char *parts_text(struct arena *arena, const struct run_changes *c,
                              const struct run_cause *cause)
{
    double all = c->step.after - c->step.before;
    struct text names = {0};

    for (size_t i = 0; i < cause->n; i++)
        text_format(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARGS(cause->parts[i]->name));
    const char *made = arena_printf(
        arena, "%.*s %s%s%s", STR_ARGS(text_view(&names)), cause->growth < 0 ? "-" : "+",
        quantity_text(arena, fabs(cause->growth), UNIT_NS),
        cause->growth / all > 0 ? arena_printf(arena, " (%.0f %% of it)", 100 * cause->growth / all)
                                : "");
    text_free(&names);
    return made;
}

/* ": MatMul +0.480 ms (94 % of it)", the parts that made the step slower or faster; of a step whose
 * parts all changed alike the largest change. */
static const char *main_cause(struct arena *arena, const struct run_changes *c, double limit)
{
    bool is_slower = runs_are_slower(c, limit);
    struct run_cause cause = {.n = 0};

    if (is_slower) {
        cause = runs_cause(c, limit);
    } else if (c->n > 0 && runs_are_faster(c, limit)) {
        const struct run_change *least = &c->at[c->n - 1];
        cause =
            (struct run_cause){.parts = {least}, .n = 1, .growth = least->after - least->before};
    }
    if (cause.n == 0)
        return "";
    return arena_printf(arena, ": %s%s",
                        !cause.is_alike    ? ""
                        : cause.is_kernels ? "all kernels alike, most of it "
                                           : "all parts alike, most of it ",
                        parts_text(arena, c, &cause));
}

#define LIMIT_JUDGED 0.025 /* unless given: of runs that are enough to judge noise */
#define LIMIT_FEW    0.05

static void decide_slowdown(const struct checking *c, const struct run_changes *changes)
{
    const struct run_change *step = &changes->step;
    const char *gate = arena_printf(c->arena, "--baseline %s", c->job->baseline);
    double limit = isnan(step->p) ? LIMIT_FEW : LIMIT_JUDGED;
    const char *chance = isnan(step->p) ? ": too few to judge noise, record 4 of each"
                                        : arena_printf(c->arena, ", p %.2g", step->p);

    limit = isnan(c->job->max_slowdown) ? limit : c->job->max_slowdown;
    decide(c, gate, !runs_are_slower(changes, limit),
           arena_format(c->arena, "step %s, %+.1f %% over %s (limit %g %%; %zu and %zu runs%s)%s",
                        quantity_text(c->arena, step->after, UNIT_NS), 100 * step->relative,
                        quantity_text(c->arena, step->before, UNIT_NS), 100 * limit,
                        changes->runs[0], changes->runs[1], chance,
                        main_cause(c->arena, changes, limit)));
    c->out->at[c->out->n - 1].is_faster = runs_are_faster(changes, limit);
}

static void compare_rank(struct checking *c, const struct runs *before, const struct runs *after,
                         const char *name)
{
    c->capture = name;
    if (before->names.n == 0 || after->names.n == 0) {
        decide(c, arena_printf(c->arena, "--baseline %s", c->job->baseline), false,
               before->names.n == 0 ? S("not in the baseline") : S("in the baseline only"));
        return;
    }
    struct run_changes changes = runs_compare(before, after);
    decide_slowdown(c, &changes);
    /* The step, then its parts, for the document and the explanation; of several ranks those of the
     * one that grew most. */
    if (c->out->n_changes > 0 && !(changes.step.relative > c->out->changes[0].relative))
        return;
    struct run_change *list = ARENA_ARRAY(c->arena, struct run_change, changes.n + 1);

    list[0] = changes.step;
    if (changes.n > 0)
        memcpy(list + 1, changes.at, changes.n * sizeof(*list));
    c->out->changes = list;
    c->out->n_changes = changes.n + 1;
}

/* One more gate for each rank of the two sides together. */
static void compare_ranks(struct checking *c, const struct runs *before, const struct runs *after)
{
    const struct run_ranks a = runs_ranks(before), b = runs_ranks(after);

    make_room(c->out, c->arena, a.n + b.n);
    if (a.n == 1 && b.n == 1) {
        compare_rank(c, before, after, c->job->path);
        return;
    }
    for (size_t i = 0, k = 0; i < a.n || k < b.n;) {
        bool has_a = i < a.n && (k == b.n || a.at[i] <= b.at[k]);
        bool has_b = k < b.n && (i == a.n || b.at[k] <= a.at[i]);
        int64_t rank = has_a ? a.at[i] : b.at[k];
        struct runs x = runs_of_rank(before, rank), y = runs_of_rank(after, rank);
        compare_rank(c, &x, &y, arena_printf(c->arena, "rank %lld", (long long)rank));
        runs_free(&x);
        runs_free(&y);
        i += has_a;
        k += has_b;
    }
}

static enum status compare_runs(const struct check_job *job, const struct runs *after,
                                struct diag *d, struct gate_results *out)
{
    struct checking c = {job, NULL, after->arena, out, job->path};
    struct fleet *fleet;
    struct runs before;

    runs_init(&before, after->arena);
    enum status st = add_runs(job, job->baseline, &before, d, &fleet);
    fleet_free(fleet);
    if (st == ST_OK)
        compare_ranks(&c, &before, after);
    runs_free(&before);
    return st;
}

static enum status check_run(const struct check_job *job, const char *path, struct runs *runs,
                             struct diag *d, struct gate_results *out)
{
    struct fleet *fleet;
    enum status st = add_runs(job, path, runs, d, &fleet);

    for (size_t i = 0; st == ST_OK && fleet != NULL && i < fleet->ranks.n; i++) {
        make_room(out, runs->arena, most_results(job, 1));
        check_capture(job, fleet->ranks.at[i], runs->arena, out);
    }
    if (st == ST_OK && fleet != NULL)
        job->was_read(job->ctx, fleet);
    fleet_free(fleet);
    return st;
}

static enum status check_repeats(const struct check_job *job, struct arena *arena, struct diag *d,
                                 struct gate_results *out)
{
    enum status st = ST_OK;
    struct runs runs;

    runs_init(&runs, arena);
    for (size_t i = 0; i < job->n_repeats && st == ST_OK; i++)
        st = check_run(job, job->repeats[i], &runs, d, out);
    if (st == ST_OK && job->baseline != NULL)
        st = compare_runs(job, &runs, d, out);
    if (st == ST_OK && job->save != NULL)
        st = save_runs(job, &runs, d);
    runs_free(&runs);
    return st;
}

enum status answer_check(const struct check_job *job, struct arena *arena, struct diag *d,
                         struct gate_results *out)
{
    *out = (struct gate_results){0};
    if (job->save != NULL || job->n_repeats > 1 || check_is_saved(job->path) ||
        (job->baseline != NULL && check_is_saved(job->baseline)))
        return check_repeats(job, arena, d, out);
    if (job->baseline != NULL)
        return check_with_baseline(job, arena, d, out);
    TRY(input_load_all(job->path, &job->input, d, &out->fleet));
    out->at = ARENA_ARRAY(arena, struct gate_result, most_results(job, out->fleet->ranks.n));
    for (size_t i = 0; i < out->fleet->ranks.n; i++)
        check_capture(job, out->fleet->ranks.at[i], arena, out);
    return ST_OK;
}

static struct junit_case *cases_of(const struct gate_results *results, const char *path)
{
    struct junit_case *cases = mem_grow(NULL, sizeof(*cases), results->n);

    for (size_t i = 0; i < results->n; i++) {
        const struct gate_result *g = &results->at[i];
        cases[i] = (struct junit_case){path, g->gate, g->capture, g->is_passed ? NULL : g->text};
    }
    return cases;
}

void gate_results_junit(const struct gate_results *results, const char *path, struct text *out)
{
    struct junit_case *cases = cases_of(results, path);

    junit_write(out, "strata check", cases, results->n);
    mem_free(cases);
}

void gate_results_github(const struct gate_results *results, const char *path, struct text *out)
{
    struct junit_case *cases = cases_of(results, path);

    junit_annotate(out, "strata check", cases, results->n);
    mem_free(cases);
}
