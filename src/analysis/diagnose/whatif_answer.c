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

/* Whether a change is one of those that value a cause, in one place alone perhaps. */
static bool values_cause(const struct diagnosis_cause *c, const struct whatif_change *change)
{
    struct str left = str_of(c->whatif != NULL ? c->whatif : ""), one;

    if (root_causes[c->found.cause].flags & ROOT_OF_STEP)
        return change->id == WHATIF_EVEN_STEP;
    while (left.n > 0 && str_split(&left, ' ', &one)) {
        struct whatif_change of;
        if (whatif_parse(one, &of) && of.id == change->id &&
            (str_equal(of.site, change->site) || of.site.n == 0))
            return true;
    }
    return false;
}

/* The step time that follows from savings, with its range around it. */
static void set_times(const struct whatif *w, struct whatif_result *r, double saving,
                      double profiled)
{
    nanos bare = w->bare - nanos_of(saving * (double)w->bare), more = bare - r->bare;

    r->bare = bare;
    r->bare_low += more;
    r->bare_high += more;
    r->profiled = w->profiled - nanos_of(profiled * (double)w->profiled);
}

/* No more than the cause saves; what runs alone is as long as the accounting says. */
static void take_savings(const struct whatif *w, struct whatif_result *r,
                         const struct diagnosis_cause *c)
{
    bool is_share = c->found.is_share,
         is_less = r->saving <= c->saving_share && r->profiled_saving <= c->profiled_saving_share;

    if (!is_share && is_less)
        return;
    r->saving = is_share ? c->saving_share : fmin(r->saving, c->saving_share);
    r->profiled_saving =
        is_share ? c->profiled_saving_share : fmin(r->profiled_saving, c->profiled_saving_share);
    set_times(w, r, r->saving, r->profiled_saving);
}

/* A change that values a cause is worth what the diagnosis says: no more than what it removes
 * takes. The replay alone would also move what waits for something else. Where the diagnosis has
 * no such cause, the recording does not show that this limits the run. */
static void value_as_diagnosed(const struct diagnosis *d, const struct whatif *w,
                               const struct whatif_change *change, struct whatif_result *r)
{
    r->reading = SAVING_AT_MOST;
    r->confidence = CONFIDENCE_POSSIBLE;
    for (size_t i = 0; i < d->n_causes; i++) {
        const struct diagnosis_cause *c = &d->causes[i];
        if (!values_cause(c, change))
            continue;
        if (c->base != BASE_RUN) /* the change is worth that once, the cause says */
            take_savings(w, r, c);
        r->cause = c->id;
        r->reading = (int)c->bound;
        r->confidence = (int)c->confidence;
    }
}

/* On top of others a change saves no more than by itself; step times are after all so far. */
static void join(const struct whatif *w, struct whatif_answer *out, size_t i,
                 const struct whatif_result *alone)
{
    struct whatif_result *r = &out->together[i];

    r->saving = fmin(r->saving, alone->saving);
    r->profiled_saving = fmin(r->profiled_saving, alone->profiled_saving);
    r->cause = alone->cause;
    r->reading = alone->reading;
    r->confidence = alone->confidence;
    out->saving += r->saving;
    out->profiled_saving += r->profiled_saving;
    set_times(w, r, out->saving, out->profiled_saving);
}

/* The changes by themselves, then together. */
static void run_asked(struct whatif *w, const struct diagnosis *d,
                      const struct whatif_change *changes, size_t n, struct whatif_answer *out)
{
    double saved = 0, profiled = 0;

    whatif_run_each(w, changes, n, out->single);
    for (size_t i = 0; i < n; i++) {
        whatif_bound(w, &changes[i], 1, &out->single[i]);
        value_as_diagnosed(d, w, &changes[i], &out->single[i]);
    }
    out->singles = n;
    whatif_run_growing(w, changes, n, out->together); /* each on top of those before it */
    for (out->n = 0; out->n < n; out->n++) {
        struct whatif_result *r = &out->together[out->n];
        double all = r->saving, all_profiled = r->profiled_saving;
        whatif_bound(w, changes, out->n + 1, r);
        r->saving = all - saved;
        r->profiled_saving = all_profiled - profiled;
        saved = all;
        profiled = all_profiled;
        join(w, out, out->n, &out->single[out->n]);
    }
}

/* All changes by themselves; the best combination of those that are worth something. */
static void run_all(struct whatif *w, const struct diagnosis *d, struct whatif_answer *out)
{
    struct whatif_change all[WHATIF_CANDIDATES], worth[WHATIF_CANDIDATES];
    struct whatif_result results[WHATIF_CANDIDATES], alone[WHATIF_CANDIDATES];
    double least = LIMIT_WORTH / 100.0;
    size_t n = 0, candidates = whatif_candidates(all);

    whatif_run_each(w, all, candidates, results);
    for (size_t i = 0; i < candidates; i++) {
        struct whatif_result r = results[i];
        bool is_gone = all[i].id == WHATIF_NO_COMM || all[i].id == WHATIF_NO_TRANSFERS;
        if (all[i].id == WHATIF_NO_LAUNCH_COST && w->a->missing != NULL)
            continue; /* no launch is recorded whose cost could go */
        if (!is_gone && r.saving < least && r.profiled_saving < least)
            continue;
        whatif_bound(w, &all[i], 1, &r);
        value_as_diagnosed(d, w, &all[i], &r);
        if (r.saving < least && r.profiled_saving < least)
            continue;
        if (is_gone && r.cause == NULL) /* nobody can do without */
            continue;
        if (!is_gone) {
            worth[n] = all[i];
            alone[n++] = r;
        }
        out->single[out->singles++] = r;
    }
    out->n = whatif_greedy(w, worth, alone, n, least, out->together);
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->singles; k++)
            if (strcmp(out->together[i].change, out->single[k].change) == 0 &&
                str_equal(out->together[i].site, out->single[k].site))
                join(w, out, i, &out->single[k]);
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
    if (w->is_device_assumed)
        return arena_printf(arena,
                            "the device is not named, so kernels are compared with the "
                            "roofs of %s (--chip)",
                            w->device->name);
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
    return out;
}

/* ---- as a record ---- */

#define RESULT_BARE(member, key_, ...)                                                             \
    FIELD(struct whatif_result, member, key_, .form = FORM_MS,                                     \
          WHEN(struct whatif_result, is_calibrated), ##__VA_ARGS__)

static const struct field result_fields[] = {
    FIELD(struct whatif_result, change, "change"),
    FIELD(struct whatif_result, site, "site", .missing = MISSING_EMPTY),
    RESULT_BARE(bare, "unprofiled_ms",
                .about = "estimated step time without a profiler; null: its cost is unknown"),
    RESULT_BARE(bare_low, "unprofiled_low_ms"),
    RESULT_BARE(bare_high, "unprofiled_high_ms"),
    FIELD(struct whatif_result, saving, "saving_share", .about = "of the step without the profiler",
          WHEN(struct whatif_result, is_calibrated)),
    FIELD(struct whatif_result, profiled, "profiled_ms", .form = FORM_MS,
          .about = "step time under the profiler"),
    FIELD(struct whatif_result, profiled_saving, "profiled_saving_share",
          .about = "of the step as recorded"),
    FIELD(struct whatif_result, bound, "upper_bound",
          .about = "why the saving is an upper bound; null: it is a prediction"),
    FIELD(struct whatif_result, cause, "cause",
          .about = "that it repairs, by its id in the diagnosis; null: none is listed"),
    FIELD_OF_ENUM(struct whatif_result, reading, "saving_bound", saving_bound_name, SAVING_BOUNDS,
                  .about = "how the saving is to be read"),
    FIELD_OF_ENUM(struct whatif_result, confidence, "confidence", confidence_name, CONFIDENCES,
                  .about = "of that cause"),
};
static const struct record result_record = RECORD(struct whatif_result, result_fields);

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

static const struct column bare_columns[] = {
    {"change", COLUMN_TEXT, UNIT_PLAIN},
    {"site", COLUMN_TEXT, UNIT_PLAIN},
    {"step ms", COLUMN_NUMBER, UNIT_MS},
    {"from", COLUMN_NUMBER, UNIT_MS},
    {"to", COLUMN_NUMBER, UNIT_MS},
    {"saves %", COLUMN_NUMBER, UNIT_RATIO},
    {"saving is", COLUMN_TEXT, UNIT_PLAIN},
    {"confidence", COLUMN_TEXT, UNIT_PLAIN},
    {"recorded saves %", COLUMN_NUMBER, UNIT_RATIO},
};
/* Where the profiler's cost is unknown. */
static const struct column recorded_columns[] = {
    {"change", COLUMN_TEXT, UNIT_PLAIN},    {"site", COLUMN_TEXT, UNIT_PLAIN},
    {"step ms", COLUMN_NUMBER, UNIT_MS},    {"saves %", COLUMN_NUMBER, UNIT_RATIO},
    {"saving is", COLUMN_TEXT, UNIT_PLAIN}, {"confidence", COLUMN_TEXT, UNIT_PLAIN},
};

/* Without the profiler where its cost is known, beside what the recording itself would save. */
static void describe_results(const struct whatif_answer *a, const struct whatif_result *at,
                             size_t n, struct report *r)
{
    bool is_bare = a->is_calibrated;
    struct table *t = report_table(r, is_bare ? bare_columns : recorded_columns,
                                   is_bare ? ARRAY_LEN(bare_columns) : ARRAY_LEN(recorded_columns));

    for (size_t i = 0; i < n; i++) {
        table_text(r, t, str_of(at[i].change));
        table_text(r, t, at[i].site);
        table_number(t, (double)(is_bare ? at[i].bare : at[i].profiled));
        if (is_bare) {
            table_number(t, (double)at[i].bare_low);
            table_number(t, (double)at[i].bare_high);
        }
        table_number(t, is_bare ? at[i].saving : at[i].profiled_saving);
        table_word(r, t, saving_bound_word((enum saving_bound)at[i].reading));
        table_word(r, t, confidence_name((enum confidence)at[i].confidence));
        if (is_bare)
            table_number(t, at[i].profiled_saving);
    }
}

void whatif_answer_describe(const struct whatif_answer *a, struct report *r)
{
    bool is_unlisted = false;

    describe_head(a, r);
    if (a->singles == 0) {
        report_say(r, "No change saves %d %% or more.", LIMIT_WORTH);
        return;
    }
    report_heading(
        r, arena_format(&r->arena, "Each change by itself: shares of %s%s",
                        quantity_text(&r->arena, (double)(a->is_calibrated ? a->bare : a->recorded),
                                      UNIT_NS),
                        a->is_calibrated ? " without the profiler" : ""));
    describe_results(a, a->single, a->singles, r);
    for (size_t i = 0; i < a->singles; i++) {
        is_unlisted |= a->single[i].cause == NULL;
        if (a->single[i].bound != NULL)
            report_line(r, "%s is an upper bound: %s.", a->single[i].change, a->single[i].bound);
    }
    if (is_unlisted)
        report_line(r, "What `strata diagnose` does not list is possible at most: the recording "
                       "does not show that it limits the run.");
    if (a->n < 2)
        return;
    report_heading(r, S("One on top of the other"));
    describe_results(a, a->together, a->n, r);
    const char *profiled = quantity_text(&r->arena, a->profiled_saving, UNIT_RATIO);
    if (a->is_calibrated)
        report_say(r, "Together they save %s (%s as recorded).",
                   quantity_text(&r->arena, a->saving, UNIT_RATIO), profiled);
    else
        report_say(r, "Together they save %s.", profiled);
}
