/*
 * The answer as a record and as a report.
 */
#include "analysis/diagnose/whatif_answer.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/whatif_changes.h"
#include "analysis/study.h"
#include "report/report.h"

ORDER_BY(by_saving, struct whatif_result,
         ORDER(y->saving, x->saving) ?: strcmp(x->change, y->change)
                                     ?: str_compare(x->site, y->site));

/* A change that values a cause is worth what the diagnosis says: no more than what it removes
 * takes. The replay alone would also move what waits for something else. */
static void value_as_diagnosed(const struct diagnosis *d, const struct whatif *w,
                               const struct whatif_change *change, struct whatif_result *r)
{
    for (size_t i = 0; i < d->n_causes; i++) {
        const struct diagnosis_cause *c = &d->causes[i];
        struct whatif_change whole;
        if (c->whatif == NULL || !whatif_parse(str_of(c->whatif), &whole) ||
            whole.id != change->id || !str_equal(whole.site, change->site))
            continue;
        r->saving = fmin(r->saving, c->saving_share);
        r->profiled_saving = fmin(r->profiled_saving, c->profiled_saving_share);
        r->bare = w->bare - nanos_of(r->saving * (double)w->bare);
        r->profiled = w->profiled - nanos_of(r->profiled_saving * (double)w->profiled);
    }
}

/* The changes by themselves, then together. */
static void run_asked(struct whatif *w, const struct diagnosis *d,
                      const struct whatif_change *changes, size_t n, struct whatif_answer *out)
{
    double saved = 0, profiled = 0;

    whatif_run_each(w, changes, n, out->single);
    for (size_t i = 0; i < n; i++) {
        value_as_diagnosed(d, w, &changes[i], &out->single[i]);
        whatif_bound(w, &changes[i], 1, &out->single[i]);
    }
    out->singles = n;
    whatif_run_growing(w, changes, n, out->together); /* each on top of those before it */
    for (size_t i = 0; i < n; i++) {
        struct whatif_result r = out->together[i];
        whatif_bound(w, changes, i + 1, &r);
        double all = r.saving, all_profiled = r.profiled_saving;
        r.saving = all - saved;
        r.profiled_saving = all_profiled - profiled;
        saved = all;
        profiled = all_profiled;
        out->together[out->n++] = r;
    }
}

/* All changes by themselves; the best combination of those that are worth something. */
static void run_all(struct whatif *w, const struct diagnosis *d, struct whatif_answer *out)
{
    struct whatif_change all[WHATIF_CANDIDATES], worth[WHATIF_CANDIDATES];
    struct whatif_result results[WHATIF_CANDIDATES];
    double least = LIMIT_WORTH / 100.0;
    size_t n = 0, candidates = whatif_candidates(all);

    whatif_run_each(w, all, candidates, results);
    for (size_t i = 0; i < candidates; i++) {
        struct whatif_result r = results[i];
        value_as_diagnosed(d, w, &all[i], &r);
        if (r.saving < least && r.profiled_saving < least)
            continue;
        whatif_bound(w, &all[i], 1, &r);
        worth[n++] = all[i];
        out->single[out->singles++] = r;
    }
    out->n = whatif_greedy(w, worth, out->single, n, least, out->together);
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->singles; k++)
            if (strcmp(out->together[i].change, out->single[k].change) == 0 &&
                str_equal(out->together[i].site, out->single[k].site)) {
                /* On top of others a change saves no more than by itself. */
                out->together[i].saving = fmin(out->together[i].saving, out->single[k].saving);
                out->together[i].profiled_saving =
                    fmin(out->together[i].profiled_saving, out->single[k].profiled_saving);
            }
    qsort(out->single, out->singles, sizeof(*out->single), by_saving);
}

/* A node has the time since the one before it on the path ended. */
static struct whatif_path path_of(struct whatif *w)
{
    const struct trace_replay *r = w->replay;
    uint32_t *nodes = mem_grow(NULL, sizeof(*nodes), r->n + 1);
    nanos by[REPLAY_TASK + 1] = {0}, last = 0;

    whatif_times(w, NULL, 0);
    size_t n = trace_replay_path(r, &w->times, nodes, r->n);
    for (size_t i = 0; i < n; i++) {
        nanos end = w->times.end[nodes[i]], from = i > 0 ? last : w->times.begin[nodes[i]];
        by[r->nodes[nodes[i]].kind] += end > from ? end - from : 0;
        last = end;
    }
    mem_free(nodes);
    double all = (double)by[REPLAY_HOST] + (double)by[REPLAY_WAIT] + (double)by[REPLAY_TASK];
    return (struct whatif_path){n, num_share((double)by[REPLAY_HOST], all),
                                num_share((double)by[REPLAY_WAIT], all),
                                num_share((double)by[REPLAY_TASK], all)};
}

static const char *missing_of(const struct whatif *w, struct arena *arena)
{
    const struct accounting *a = w->a;
    /* Work of no step was launched before the recording began. */
    double linked = num_share((double)a->host.links, (double)(a->tasks.n - a->orphans));

    if (a->missing != NULL)
        return a->missing;
    if (linked < LIMIT_LINKED / 100.0)
        return arena_printf(arena, "only %.0f %% of the device work has a recorded launch",
                            100 * linked);
    size_t askers = 0;
    for (size_t i = 0; i < a->host.count; i++)
        askers += !a->host.at[i].is_queue;
    if (w->device == NULL)
        return "the device is not named, so what kernels could reach is unknown (--chip)";
    return askers > 1 ? "several threads launch at once; what one waits for on another is "
                        "not recorded"
                      : NULL;
}

/* Of all steps together, where they differ too much for a mean, and as long as the recording. */
static void scale_results(struct whatif_result *at, size_t n, double scale)
{
    for (size_t i = 0; i < n; i++) {
        at[i].profiled = nanos_of((double)at[i].profiled * scale);
        at[i].bare = nanos_of((double)at[i].bare * scale);
        at[i].bare_low = nanos_of((double)at[i].bare_low * scale);
        at[i].bare_high = nanos_of((double)at[i].bare_high * scale);
    }
}

const struct whatif_answer *whatif_answer_find(struct study *st, struct whatif *w,
                                               const struct whatif_change *changes, size_t n)
{
    struct whatif_answer *out = ARENA_NEW(&st->scratch, struct whatif_answer);
    size_t room = n > WHATIF_CANDIDATES ? n : WHATIF_CANDIDATES;
    struct whatif_result base = whatif_run_bounded(w, NULL, 0);
    const struct diagnosis *d = study_diagnosis(st);
    bool is_scaled = d->replay_scale > 0 && d->replay_scale != 1;

    *out = (struct whatif_answer){
        .steps = d->steps > 0 ? d->steps : w->a->n,
        .is_pseudo = w->a->is_pseudo,
        .is_mixed = d->is_mixed,
        .recorded = d->steps > 0 ? d->device_period : w->a->step_time,
        .profiled = w->profiled,
        .bare = w->bare,
        .bare_low = base.bare_low,
        .bare_high = base.bare_high,
        .identity_error = w->replay->identity_error,
        .nodes = w->replay->n,
        .edges = w->replay->edges,
        .latency = w->replay->latency,
        .gap = w->replay->gap,
        .path = path_of(w),
        .cost_origin = w->cost->origin,
        .is_calibrated = profiler_cost_is_known(w->cost),
        .single = ARENA_ARRAY(&st->scratch, struct whatif_result, room),
        .together = ARENA_ARRAY(&st->scratch, struct whatif_result, room),
        .missing = missing_of(w, &st->scratch),
    };
    if (is_scaled) {
        out->profiled = d->profiled;
        out->bare = d->bare;
        out->bare_low = nanos_of((double)out->bare_low * d->replay_scale);
        out->bare_high = nanos_of((double)out->bare_high * d->replay_scale);
    }
    if (n > 0)
        run_asked(w, d, changes, n, out);
    else
        run_all(w, d, out);
    if (is_scaled) {
        scale_results(out->single, out->singles, d->replay_scale);
        scale_results(out->together, out->n, d->replay_scale);
    }
    for (size_t i = 0; i < out->n; i++) {
        out->saving += out->together[i].saving;
        out->profiled_saving += out->together[i].profiled_saving;
    }
    return out;
}

/* ---- as a record ---- */

#define RESULT_BARE(member, key_, head_, ...)                                                      \
    FIELD(struct whatif_result, member, key_, .head = head_, .unit = UNIT_MS, .form = FORM_MS,     \
          WHEN(struct whatif_result, is_calibrated), ##__VA_ARGS__)

static const struct field result_fields[] = {
    FIELD(struct whatif_result, change, "change", .head = "change"),
    FIELD(struct whatif_result, site, "site", .head = "site", .missing = MISSING_EMPTY),
    RESULT_BARE(bare, "unprofiled_ms", "step ms",
                .about = "estimated step time without a profiler; null: its cost is unknown"),
    RESULT_BARE(bare_low, "unprofiled_low_ms", "from"),
    RESULT_BARE(bare_high, "unprofiled_high_ms", "to"),
    FIELD(struct whatif_result, saving, "saving_share", .head = "saves %", .unit = UNIT_RATIO,
          WHEN(struct whatif_result, is_calibrated)),
    FIELD(struct whatif_result, profiled, "profiled_ms", .head = "recorded ms", .unit = UNIT_MS,
          .form = FORM_MS, .about = "step time under the profiler"),
    FIELD(struct whatif_result, profiled_saving, "profiled_saving_share",
          .head = "recorded saves %", .unit = UNIT_RATIO),
    FIELD(struct whatif_result, bound, "upper_bound",
          .about = "why the saving is an upper bound; null: it is a prediction"),
};
static const struct record result_record = RECORD(struct whatif_result, result_fields);

/* The table where the profiler's cost is unknown. */
static const struct field recorded_fields[] = {
    FIELD(struct whatif_result, change, "change", .head = "change"),
    FIELD(struct whatif_result, site, "site", .head = "site", .missing = MISSING_EMPTY),
    FIELD(struct whatif_result, profiled, "profiled_ms", .head = "step ms", .unit = UNIT_MS,
          .form = FORM_MS),
    FIELD(struct whatif_result, profiled_saving, "profiled_saving_share", .head = "saves %",
          .unit = UNIT_RATIO),
};
static const struct record recorded_record = RECORD(struct whatif_result, recorded_fields);

#define ANSWER_MS(member, key_, ...)                                                               \
    FIELD(struct whatif_answer, member, key_, .form = FORM_MS, ##__VA_ARGS__)
#define ANSWER_BARE(member, key_) ANSWER_MS(member, key_, WHEN(struct whatif_answer, is_calibrated))

static const struct field step_fields[] = {
    FIELD(struct whatif_answer, steps, "count"),
    FIELD(struct whatif_answer, is_mixed, "is_mixed", .about = "times are of all steps together"),
    ANSWER_MS(recorded, "recorded_ms"),
    ANSWER_MS(profiled, "profiled_ms"),
    ANSWER_BARE(bare, "unprofiled_ms"),
    ANSWER_BARE(bare_low, "unprofiled_low_ms"),
    ANSWER_BARE(bare_high, "unprofiled_high_ms"),
};
static const struct record step_record = RECORD(struct whatif_answer, step_fields);

static const struct field replay_fields[] = {
    FIELD(struct whatif_answer, identity_error, "identity_error"),
    FIELD(struct whatif_answer, nodes, "nodes"),
    FIELD(struct whatif_answer, edges, "edges"),
    FIELD(struct whatif_answer, latency, "latency_ns"),
    FIELD(struct whatif_answer, gap, "gap_ns"),
    FIELD(struct whatif_answer, cost_origin, "profiler_cost"),
};
static const struct record replay_record = RECORD(struct whatif_answer, replay_fields);

static const struct field path_fields[] = {
    FIELD(struct whatif_answer, path.nodes, "nodes"),
    FIELD(struct whatif_answer, path.host, "host_share"),
    FIELD(struct whatif_answer, path.wait, "wait_share"),
    FIELD(struct whatif_answer, path.device, "device_share"),
};
static const struct record path_record = RECORD(struct whatif_answer, path_fields);

static const struct field answer_fields[] = {
    FIELD_GROUP("step", &step_record),
    FIELD_GROUP("replay", &replay_record),
    FIELD_GROUP("critical_path", &path_record),
    FIELD_LIST(struct whatif_answer, single, singles, "changes", &result_record),
    FIELD_LIST(struct whatif_answer, together, n, "together", &result_record),
    FIELD(struct whatif_answer, saving, "saving_share", WHEN(struct whatif_answer, is_calibrated)),
    FIELD(struct whatif_answer, profiled_saving, "profiled_saving_share"),
    FIELD(struct whatif_answer, missing, "missing"),
};
const struct record whatif_record = RECORD(struct whatif_answer, answer_fields);

const struct schema whatif_schema = {
    .name = "strata.whatif/2",
    .title = "predicted step time after changes",
    .record = &whatif_record,
};

/* ---- as a report ---- */

static const struct field kind_fields[] = {
    FIELD(struct whatif_kind, name, "change", .head = "change"),
    FIELD(struct whatif_kind, summary, "summary", .head = "what it changes"),
};
static const struct record kind_record = RECORD(struct whatif_kind, kind_fields);

const struct schema whatif_kinds_schema = {
    .name = "strata.whatif-kinds/1",
    .title = "changes that strata whatif can make",
    .record = &kind_record,
    .is_list = true,
};

void whatif_answer_kinds(struct report *r)
{
    report_records(r, &kind_record, whatif_kinds, WHATIFS, NULL);
}

static void describe_head(const struct whatif_answer *a, struct report *r)
{
    struct arena *arena = &r->arena;
    const char *what = a->is_mixed ? "All steps" : a->is_pseudo ? "Whole capture" : "Step time";
    const char *recorded = quantity_text(arena, (double)a->recorded, UNIT_NS);

    if (a->is_calibrated)
        report_say(r, "%s: %s recorded, about %s without the profiler (%s to %s).", what, recorded,
                   quantity_text(arena, (double)a->bare, UNIT_NS),
                   quantity_text(arena, (double)a->bare_low, UNIT_NS),
                   quantity_text(arena, (double)a->bare_high, UNIT_NS));
    else
        report_say(r, "%s: %s recorded; without the profiler unknown (%s).", what, recorded,
                   a->cost_origin);
    if (a->is_mixed)
        report_line(r, "Times below are of %zu steps together: they differ too much for a mean.",
                    a->steps);
    report_line(r, "Replaying the run unchanged is off by %s.",
                quantity_text(arena, a->identity_error, UNIT_RATIO));
    report_line(r, "The critical path is %s host, %s device (table critical_path of a query).",
                quantity_text(arena, a->path.host + a->path.wait, UNIT_RATIO),
                quantity_text(arena, a->path.device, UNIT_RATIO));
    if (a->missing != NULL)
        report_line(r, "Missing: %s.", a->missing);
}

void whatif_answer_describe(const struct whatif_answer *a, struct report *r)
{
    const struct record *record = a->is_calibrated ? &result_record : &recorded_record;

    describe_head(a, r);
    if (a->singles == 0) {
        report_say(r, "No change saves %d %% or more.", LIMIT_WORTH);
        return;
    }
    report_heading(r, S("Each change by itself"));
    report_records(r, record, a->single, a->singles, NULL);
    for (size_t i = 0; i < a->singles; i++)
        if (a->single[i].bound != NULL)
            report_line(r, "%s is an upper bound: %s.", a->single[i].change, a->single[i].bound);
    if (a->n < 2)
        return;
    report_heading(r, S("One on top of the other"));
    report_records(r, record, a->together, a->n, NULL);
    const char *profiled = quantity_text(&r->arena, a->profiled_saving, UNIT_RATIO);
    if (a->is_calibrated)
        report_say(r, "Together they save %s (%s as recorded).",
                   quantity_text(&r->arena, a->saving, UNIT_RATIO), profiled);
    else
        report_say(r, "Together they save %s.", profiled);
}
