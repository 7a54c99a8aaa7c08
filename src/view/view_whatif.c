/*
 * Changes of a replay, and a step of it before and after.
 */
#include "view/view_answers.h"

#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/whatif_answer.h"
#include "analysis/diagnose/whatif_changes.h"
#include "analysis/study.h"
#include "base/formats/json_write.h"
#include "base/tables/interval.h"
#include "page/page_set.h"
#include "view/view_http.h"

enum { CHANGES_MOST = 16, TASKS_MOST = 5000, WHOLE_BUCKETS = 500, WHOLE_LANES = 32 };
#define ALL_STEPS SIZE_MAX

struct view_whatif {
    const struct page_set *set;
    struct study study; /* with its own memory, and what the set's study has found */
    struct whatif w;
    bool has_work;
};

struct view_whatif *view_whatif_new(const struct page_set *set)
{
    struct view_whatif *v = mem_grow(NULL, sizeof(*v), 1);

    *v = (struct view_whatif){.set = set, .has_work = set->a->n > 0 && set->a->tasks.n > 0};
    study_begin(&v->study, set->cap, set->st->options);
    v->study.steps = set->st->steps;
    v->study.accounting = set->a;
    if (v->has_work) {
        whatif_init(&v->w, &v->study, set->a);
        study_diagnosis(&v->study);
    }
    return v;
}

void view_whatif_free(struct view_whatif *v)
{
    if (v == NULL)
        return;
    if (v->has_work)
        whatif_fini(&v->w);
    study_end(&v->study);
    mem_free(v);
}

static void put_kinds(struct json_writer *w)
{
    json_put_array(w, "changes");
    for (size_t i = 0; i < WHATIFS; i++) {
        json_write_object(w);
        json_put_text(w, "id", whatif_kinds[i].name);
        json_put_text(w, "summary", whatif_kinds[i].summary);
        json_write_end(w);
    }
    json_write_end(w);
}

/* As `strata whatif` values these changes, at least one, together. */
static void put_result(struct json_writer *w, const struct whatif_answer *a)
{
    const struct whatif_result *all = &a->together[a->n - 1];

    json_put_bool(w, "is_calibrated", a->is_calibrated);
    json_put_i64(w, "recorded_ns", a->recorded);
    json_put_i64(w, "changed_ns", all->profiled);
    json_put_f64(w, "saving", a->profiled_saving);
    if (a->is_calibrated) {
        json_put_i64(w, "bare_ns", a->bare);
        json_put_i64(w, "changed_bare_ns", all->bare);
        json_put_i64(w, "low_ns", all->bare_low);
        json_put_i64(w, "high_ns", all->bare_high);
        json_put_f64(w, "bare_saving", a->saving);
    }
    json_put_text(w, "bound", all->bound);
}

/* Where a task lies as recorded, or in the run that was made last; false: it is gone there. */
static bool find_time(const struct view_whatif *v, size_t task, bool is_changed,
                      struct interval *out)
{
    const struct device_task *t = &v->set->a->tasks.at[task];
    const struct whatif *of = &v->w;
    uint32_t node = of->replay->node_of_task[task];

    if (!is_changed) {
        *out = (struct interval){t->begin, t->end};
        return true;
    }
    *out = (struct interval){of->times.begin[node] + of->change.lead[node], of->times.end[node]};
    return (of->change.drop[node] & REPLAY_GONE) == 0;
}

/* Of all tasks, or of those of a step. */
static struct interval find_span(const struct view_whatif *v, size_t step, bool is_changed)
{
    struct interval span = {INT64_MAX, INT64_MIN}, at;

    for (size_t i = 0; i < v->set->a->tasks.n; i++) {
        if ((step != ALL_STEPS && v->set->a->tasks.at[i].step != step) ||
            !find_time(v, i, is_changed, &at))
            continue;
        span.begin = at.begin < span.begin ? at.begin : span.begin;
        span.end = at.end > span.end ? at.end : span.end;
    }
    return span.begin < span.end ? span : (struct interval){0, 0};
}

/* Tasks of a step, from the begin of its first one. */
static void put_step(struct json_writer *w, const struct view_whatif *v, const char *key,
                     size_t step, bool is_changed)
{
    const struct accounting *a = v->set->a;
    nanos first = find_span(v, step, is_changed).begin;
    struct interval at;
    size_t n = 0;

    json_put_array(w, key);
    for (size_t i = 0; i < a->tasks.n && n < TASKS_MOST; i++) {
        if (a->tasks.at[i].step != step || !find_time(v, i, is_changed, &at))
            continue;
        uint32_t slice = a->tasks.at[i].slice;
        nanos begin = nanos_sub(at.begin, first);
        json_write_array(w);
        json_write_u64(w, page_lane_of(v->set, slice));
        json_write_u64(w, v->set->what[slice]);
        json_write_i64(w, begin);
        json_write_i64(w, nanos_sub(at.end, first) - begin);
        json_write_end(w);
        n++;
    }
    json_write_end(w);
}

/* ---- the whole run ---- */

struct busy_lane {
    size_t lane; /* of the set */
    double busy[WHOLE_BUCKETS];
};

/* The entry of a lane; NULL when there are too many. */
static struct busy_lane *busy_lane(struct busy_lane *lanes, size_t *n, size_t lane)
{
    for (size_t i = 0; i < *n; i++)
        if (lanes[i].lane == lane)
            return &lanes[i];
    if (*n == WHOLE_LANES)
        return NULL;
    lanes[*n] = (struct busy_lane){.lane = lane};
    return &lanes[(*n)++];
}

static void add_busy(struct busy_lane *lane, nanos from, nanos to, nanos length)
{
    double width = (double)length / WHOLE_BUCKETS, at = (double)from, end = (double)to;

    for (size_t i = (size_t)(at / width); i < WHOLE_BUCKETS && at < end; i++) {
        double until = (double)(i + 1) * width < end ? (double)(i + 1) * width : end;
        lane->busy[i] += until > at ? (until - at) / width : 0;
        at = until > at ? until : at;
    }
}

/* The device lanes of the run in buckets, each with its busy part in percent. */
static void put_whole(struct json_writer *w, const struct view_whatif *v, const char *key,
                      bool is_changed, nanos length)
{
    struct busy_lane *lanes = mem_grow(NULL, sizeof(*lanes), WHOLE_LANES);
    nanos first = find_span(v, ALL_STEPS, is_changed).begin;
    struct interval at;
    size_t n = 0;

    for (size_t i = 0; length > 0 && i < v->set->a->tasks.n; i++) {
        if (!find_time(v, i, is_changed, &at))
            continue;
        struct busy_lane *lane =
            busy_lane(lanes, &n, page_lane_of(v->set, v->set->a->tasks.at[i].slice));
        if (lane != NULL)
            add_busy(lane, nanos_sub(at.begin, first), nanos_sub(at.end, first), length);
    }
    json_put_array(w, key);
    for (size_t i = 0; i < n; i++) {
        json_write_object(w);
        json_put_u64(w, "lane", lanes[i].lane);
        json_put_array(w, "busy");
        for (size_t k = 0; k < WHOLE_BUCKETS; k++)
            json_write_u64(w,
                           lanes[i].busy[k] < 1 ? num_u64_of(lanes[i].busy[k] * 100 + 0.5) : 100);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
    mem_free(lanes);
}

/* Both timelines: of a step, and of the run on one scale. */
static void put_timelines(struct json_writer *w, struct view_whatif *v,
                          const struct whatif_change *changes, size_t n, size_t step)
{
    struct interval before = find_span(v, ALL_STEPS, false);

    json_put_u64(w, "step", step);
    json_put_u64(w, "steps", v->set->a->n);
    whatif_times(&v->w, changes, n);
    struct interval after = find_span(v, ALL_STEPS, true);
    nanos length = before.end - before.begin;
    length = after.end - after.begin > length ? after.end - after.begin : length;
    put_step(w, v, "before", step, false);
    put_step(w, v, "after", step, true);
    json_put_i64(w, "run_ns", before.end - before.begin);
    json_put_i64(w, "changed_run_ns", after.end - after.begin);
    put_whole(w, v, "run_before", false, length);
    put_whole(w, v, "run_after", true, length);
}

bool view_whatif_answer(struct view_whatif *v, const struct view_call *call, struct text *out)
{
    struct whatif_change changes[CHANGES_MOST];
    const char *text, *unknown = NULL;
    struct json_writer w;
    int64_t step;
    size_t n = 0;

    if (!view_number(view_arg(call, "step", 0), (int64_t)v->set->a->n - 1, &step))
        step = (int64_t)(v->set->a->n / 2);
    for (size_t i = 0; n < CHANGES_MOST && (text = view_arg(call, "c", i)) != NULL; i++)
        if (whatif_parse(str_of(text), &changes[n]))
            n++;
        else
            unknown = text;
    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    if (unknown != NULL || !v->has_work) {
        json_put_text(&w, "error", v->has_work ? "no such change" : "no device work to replay");
    } else if (n == 0) {
        put_kinds(&w);
        json_put_i64(&w, "recorded_ns", study_diagnosis(&v->study)->device_period);
    } else {
        struct arena_mark mark = arena_mark(&v->study.scratch);
        put_result(&w, whatif_answer_find(&v->study, &v->w, changes, n));
        put_timelines(&w, v, changes, n, (size_t)step);
        arena_rewind(&v->study.scratch, mark);
    }
    json_write_end(&w);
    json_write_finish(&w);
    return unknown == NULL && v->has_work;
}
