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
#include "report/report.h"

static const struct field gate_fields[] = {
    FIELD(struct gate_result, gate, "gate"),
    FIELD(struct gate_result, capture, "capture"),
    FIELD(struct gate_result, is_passed, "passed"),
    FIELD_OF_ENUM(struct gate_result, verdict, "verdict", gate_verdict_name, GATE_UNKNOWN + 1),
    FIELD(struct gate_result, text, "text", .about = "the measured value and the limit"),
};
const struct record gate_result_record = RECORD(struct gate_result, gate_fields);

static const struct field gates_fields[] = {
    FIELD(struct gate_results, failed, "failed"),
    FIELD_LIST(struct gate_results, all.at, all.n, "gates", &gate_result_record),
    FIELD_POINTERS(struct gate_results, comparisons.at, comparisons.n, "comparisons",
                   &comparison_record, .about = "with the baseline, by rank"),
};
static const struct record gates_record = RECORD(struct gate_results, gates_fields);

const struct schema check_gates_schema = {
    .name = "strata.check/2",
    .title = "captures against limits and a baseline",
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

static void give(const struct checking *c, const char *gate, enum gate_verdict verdict,
                 struct str text)
{
    bool is_passed = verdict == GATE_PASS || (verdict == GATE_UNKNOWN && c->job->allows_unknown);

    vec_push(&c->out->all, ((struct gate_result){.gate = gate,
                                                 .capture = c->capture,
                                                 .is_passed = is_passed,
                                                 .verdict = verdict,
                                                 .text = text.at}));
    c->out->failed += !is_passed;
}

static void decide(const struct checking *c, const char *gate, bool is_passed, struct str text)
{
    give(c, gate, is_passed ? GATE_PASS : GATE_FAIL, text);
}

/* Lengths of marked steps are those of the marks. */
static const char *by_marks(const struct checking *c)
{
    return study_steps(c->st)->source == STEPS_PSEUDO ? "" : ", from mark to mark";
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
           arena_format(c->arena, "idle for %.1f %% of %s in all steps%s (limit %g %%)",
                        100 * share, quantity_text(c->arena, (double)time, UNIT_NS), by_marks(c),
                        100 * c->job->max_idle));
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
           arena_format(c->arena, "longest step %.*s: %s%s; %zu of %zu steps above %s",
                        STR_ARGS(steps->at[worst].id),
                        quantity_text(c->arena, (double)m[worst].service, UNIT_NS), by_marks(c),
                        over, steps->n, limit));
}

static void check_capture(struct checking *c, const struct capture *cap)
{
    struct study st;

    c->st = &st; /* cppcheck-suppress autoVariables ; until the end of this function */
    c->capture = arena_cstr(c->arena, str_of(cap->name));
    study_begin(&st, cap, study_contract());
    if (!isnan(c->job->max_idle))
        check_idle(c);
    if (c->job->max_step > 0)
        check_step(c);
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
    study_end(&st);
}

/* ---- runs ---- */

enum { SAVED_MOST = 256 << 20, SAVED_HEAD = 256 };

bool check_is_saved(const char *path)
{
    struct mapfile map;

    if (mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    struct str head = str_part(map.text, 0, SAVED_HEAD);
    bool is = str_contains(head, S("\"strata.baseline/"));
    mapfile_close(&map);
    return is;
}

/* Profiles of one side. */
struct check_runs {
    VEC_OF(const struct profile *) all;
    bool is_saved; /* some are of a file */
};

static enum status add_saved(struct checking *c, const char *path, struct check_runs *runs,
                             struct diag *d)
{
    struct where where = {.path = path};
    struct profile_list list = {0};
    struct tree_error error = {0};
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    const struct tree *file =
        map.text.n <= SAVED_MOST ? tree_read_json(c->arena, map.text, &error) : NULL;
    mapfile_close(&map);
    const char *problem =
        file != NULL ? profile_read(c->arena, file, &list) : "not a file of strata check --record";
    if (problem != NULL)
        return diag_fail(d, ST_FORMAT, "check.bad-baseline", where, "%s", problem);
    for (size_t i = 0; i < list.n; i++)
        vec_push(&runs->all, list.at[i]);
    runs->is_saved = true;
    return ST_OK;
}

static const struct profile *profile_of(const struct capture *cap, bool is_unmarked,
                                        struct arena *arena)
{
    struct study st;

    study_begin(&st, cap, study_contract());
    const struct profile *out = profile_make(&st, is_unmarked, arena);
    study_end(&st);
    return out;
}

/* Whether runs are asked for at all, and not only limits. */
static bool wants_profiles(const struct check_job *job)
{
    return job->baseline != NULL || job->record != NULL;
}

/* The captures of a path, or the runs of a file. Gates on captures alone are decided on the way. */
static enum status add_runs(struct checking *c, const char *path, bool is_checked,
                            struct check_runs *runs, struct diag *d)
{
    struct fleet *fleet;

    if (check_is_saved(path))
        return add_saved(c, path, runs, d);
    TRY(input_load_all(path, &c->job->input, d, &fleet));
    for (size_t i = 0; i < fleet->ranks.n; i++) {
        if (wants_profiles(c->job))
            vec_push(&runs->all, profile_of(fleet->ranks.at[i], false, c->arena));
        if (is_checked)
            check_capture(c, fleet->ranks.at[i]);
    }
    if (is_checked)
        c->job->was_read(c->job->ctx, fleet);
    fleet_free(fleet);
    return ST_OK;
}

/* ---- the baseline ---- */

/* What differs in the set-up of a stored baseline: such runs are not held against each other. */
static const struct likeness_part *unlike_part(const struct comparison *c)
{
    for (int i = 0; i < LIKENESS_PARTS; i++)
        if (c->likeness.parts[i].state == LIKENESS_DIFFERENT &&
            c->likeness.parts[i].text[SIDE_A].n > 0)
            return &c->likeness.parts[i];
    return NULL;
}

/* A baseline of another setting (model, device, sizes) gives no verdict at all, whatever its
 * times say. */
static void check_changes(struct checking *c, struct comparison *made, bool is_saved)
{
    const struct likeness_part *unlike = is_saved ? unlike_part(made) : NULL;

    vec_push(&c->out->comparisons, made);
    for (size_t i = 0; i < c->job->n_changes; i++) {
        struct str text;
        enum gate_verdict verdict = GATE_UNKNOWN;
        if (unlike != NULL)
            text = arena_format(c->arena,
                                "cannot be compared: the baseline differs in %s (%.*s, not %.*s). "
                                "Record a new one with strata check --record.",
                                unlike->name, STR_ARGS(unlike->text[SIDE_A]),
                                STR_ARGS(unlike->text[SIDE_B]));
        else
            verdict = diff_gate_decide(c->arena, made, &c->job->changes[i], &text);
        give(c, c->job->change_texts[i], verdict, text);
        c->out->all.at[c->out->all.n - 1].is_faster =
            verdict == GATE_PASS && made->verdict == NOISE_FASTER;
    }
}

static struct profile_list runs_of_rank(struct arena *arena, const struct check_runs *runs,
                                        int64_t rank)
{
    struct profile_list out = {ARENA_ARRAY(arena, const struct profile *, runs->all.n + 1), 0};

    for (size_t i = 0; i < runs->all.n; i++)
        if (runs->all.at[i]->rank == rank)
            out.at[out.n++] = runs->all.at[i];
    return out;
}

static bool is_first_of_rank(const struct check_runs *runs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (runs->all.at[k]->rank == runs->all.at[i]->rank)
            return false;
    return true;
}

static bool has_one_rank(const struct check_runs *runs)
{
    for (size_t i = 1; i < runs->all.n; i++)
        if (is_first_of_rank(runs, i))
            return false;
    return true;
}

static void check_nothing(struct checking *c, const char *text)
{
    for (size_t i = 0; i < c->job->n_changes; i++)
        give(c, c->job->change_texts[i], GATE_UNKNOWN, str_of(text));
}

/* Each rank with itself; a single one on both sides with the other. */
static void compare_ranks(struct checking *c, const struct check_runs *before,
                          const struct check_runs *after)
{
    bool is_single = has_one_rank(before) && has_one_rank(after);

    for (size_t i = 0; i < after->all.n; i++) {
        if (!is_first_of_rank(after, i))
            continue;
        int64_t rank = after->all.at[i]->rank;
        struct profile_list b = runs_of_rank(c->arena, after, rank),
                            a = is_single ? (struct profile_list){before->all.at, before->all.n}
                                          : runs_of_rank(c->arena, before, rank);
        c->capture = arena_cstr(c->arena, after->all.at[i]->name);
        if (!is_single)
            c->capture = arena_printf(c->arena, "rank %lld", (long long)rank);
        if (a.n == 0)
            check_nothing(c, "cannot be compared: not in the baseline");
        else
            check_changes(c, compare_find(a, b, c->job->compare, c->arena), before->is_saved);
    }
    for (size_t i = 0; i < before->all.n && !is_single; i++) {
        int64_t rank = before->all.at[i]->rank;
        if (!is_first_of_rank(before, i) || runs_of_rank(c->arena, after, rank).n > 0)
            continue;
        c->capture = arena_printf(c->arena, "rank %lld", (long long)rank);
        check_nothing(c, "cannot be compared: in the baseline only");
    }
}

/* Runs without marks on one side: their units are found without marks on the other too. A stored
 * baseline stays as it is. */
static bool are_mixed(const struct check_runs *before, const struct check_runs *after)
{
    bool marked[SIDES] = {before->all.at[0]->source == UNITS_MARKED,
                          after->all.at[0]->source == UNITS_MARKED};

    return marked[SIDE_A] != marked[SIDE_B];
}

static enum status add_unmarked(struct checking *c, const char *path, struct check_runs *runs,
                                struct diag *d)
{
    struct fleet *fleet;

    TRY(input_load_all(path, &c->job->input, d, &fleet));
    for (size_t i = 0; i < fleet->ranks.n; i++)
        vec_push(&runs->all, profile_of(fleet->ranks.at[i], true, c->arena));
    fleet_free(fleet);
    return ST_OK;
}

static enum status without_marks(struct checking *c, struct check_runs *before,
                                 struct check_runs *after, struct diag *d)
{
    if (before->is_saved || after->is_saved || !are_mixed(before, after))
        return ST_OK;
    before->all.n = after->all.n = 0;
    TRY(add_unmarked(c, c->job->baseline, before, d));
    for (size_t i = 0; i < c->job->n_paths; i++)
        TRY(add_unmarked(c, c->job->paths[i], after, d));
    return ST_OK;
}

static enum status compare_runs(struct checking *c, struct check_runs *after, struct diag *d)
{
    struct check_runs before = {0};
    enum status st = add_runs(c, c->job->baseline, false, &before, d);

    if (st == ST_OK && before.all.n > 0 && after->all.n > 0)
        st = without_marks(c, &before, after, d);
    if (st == ST_OK)
        compare_ranks(c, &before, after);
    vec_free(&before.all);
    return st;
}

static enum status record_runs(const struct checking *c, const struct check_runs *runs,
                               struct diag *d)
{
    struct profile_list list = {runs->all.at, runs->all.n};
    struct outfile file;

    for (size_t i = 0; i < runs->all.n; i++)
        if (runs->all.at[i]->source == UNITS_NONE)
            return diag_fail(d, ST_FORMAT, "check.no-steps",
                             (struct where){.path = arena_cstr(c->arena, runs->all.at[i]->name)},
                             "no step with device work to compare, and no kernel that repeats");
    TRY(outfile_open(&file, c->job->record, d));
    envelope_write(outfile_sink(&file),
                   &(struct envelope){.schema = &profile_schema,
                                      .result = &list,
                                      .env = &(struct record_env){.arena = c->arena}});
    return outfile_commit(&file, OUTFILE_FAST, d);
}

enum status answer_check(const struct check_job *job, struct arena *arena, struct diag *d,
                         struct gate_results *out)
{
    struct checking c = {job, NULL, arena, out, job->paths[0]};
    struct check_runs runs = {0};
    enum status st = ST_OK;

    *out = (struct gate_results){.path = job->paths[0], .is_explained = job->is_explained};
    for (size_t i = 0; i < job->n_paths && st == ST_OK; i++)
        st = add_runs(&c, job->paths[i], true, &runs, d);
    if (st == ST_OK && job->baseline != NULL)
        st = compare_runs(&c, &runs, d);
    if (st == ST_OK && job->record != NULL)
        st = record_runs(&c, &runs, d);
    vec_free(&runs.all);
    return st;
}

void gate_results_free(struct gate_results *results)
{
    vec_free(&results->all);
    vec_free(&results->comparisons);
}

/* ---- rendered ---- */

void gate_results_describe(const void *results, struct report *r)
{
    const struct gate_results *all = results;

    for (size_t i = 0; i < all->all.n; i++) {
        const struct gate_result *g = &all->all.at[i];
        const char *word = !g->is_passed                ? "failed"
                           : g->verdict == GATE_UNKNOWN ? "allowed"
                           : g->is_faster               ? "faster"
                                                        : "passed";
        bool is_told =
            !g->is_passed || g->is_faster || g->verdict == GATE_UNKNOWN || all->is_explained;
        /* What a comparison found says by itself what it was held to. */
        if (is_told && str_starts(str_of(g->gate), S("--baseline ")))
            report_line(r, "%s  %s: %s", word, g->capture, g->text);
        else if (is_told)
            report_line(r, "%s  %s: %s: %s", word, g->capture, g->gate, g->text);
    }
    if (all->all.n > 0)
        report_line(r, "%zu of %zu gates passed", all->all.n - all->failed, all->all.n);
    for (size_t i = 0; i < all->comparisons.n && all->is_explained; i++)
        compare_describe(all->comparisons.at[i], r);
}

static struct junit_case *cases_of(const struct gate_results *results)
{
    struct junit_case *cases = mem_grow(NULL, sizeof(*cases), results->all.n);

    for (size_t i = 0; i < results->all.n; i++) {
        const struct gate_result *g = &results->all.at[i];
        cases[i] =
            (struct junit_case){results->path, g->gate, g->capture, g->is_passed ? NULL : g->text};
    }
    return cases;
}

void gate_results_junit(const struct gate_results *results, struct text *out)
{
    struct junit_case *cases = cases_of(results);

    junit_write(out, "strata check", cases, results->all.n);
    mem_free(cases);
}

void gate_results_github(const struct gate_results *results, struct text *out)
{
    struct junit_case *cases = cases_of(results);

    junit_annotate(out, "strata check", cases, results->all.n);
    mem_free(cases);
}
