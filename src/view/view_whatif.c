/*
 * Changes of a replay, and a step of it before and after.
 */
#include "view/view_answers.h"

#include "analysis/diagnose/whatif_changes.h"
#include "analysis/study.h"
#include "base/json_write.h"
#include "page/page_set.h"
#include "view/view_http.h"

enum { CHANGES_MOST = 16, TASKS_MOST = 5000 };

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
    if (v->has_work)
        whatif_init(&v->w, &v->study, set->a);
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

static void put_result(struct json_writer *w, const struct view_whatif *v,
                       const struct whatif_result *r)
{
    json_put_bool(w, "is_calibrated", r->is_calibrated);
    json_put_i64(w, "recorded_ns", v->w.profiled);
    json_put_i64(w, "changed_ns", r->profiled);
    json_put_f64(w, "saving", r->profiled_saving);
    if (r->is_calibrated) {
        json_put_i64(w, "bare_ns", v->w.bare);
        json_put_i64(w, "changed_bare_ns", r->bare);
        json_put_i64(w, "low_ns", r->bare_low);
        json_put_i64(w, "high_ns", r->bare_high);
        json_put_f64(w, "bare_saving", r->saving);
    }
    json_put_text(w, "bound", r->bound);
}

static void put_task(struct json_writer *w, const struct view_whatif *v, size_t task, nanos begin,
                     nanos end)
{
    uint32_t slice = v->set->a->tasks.at[task].slice;

    json_write_array(w);
    json_write_u64(w, page_lane_of(v->set, slice));
    json_write_u64(w, v->set->what[slice]);
    json_write_i64(w, begin);
    json_write_i64(w, end - begin);
    json_write_end(w);
}

/* Tasks of a step in the middle, from the begin of its first one: as recorded, or as the run that
 * was made last has them. */
static void put_step(struct json_writer *w, const struct view_whatif *v, const char *key,
                     bool is_changed)
{
    const struct accounting *a = v->set->a;
    const struct whatif *of = &v->w;
    nanos first = INT64_MAX;
    size_t n = 0;

    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1)
            json_put_array(w, key);
        for (size_t i = 0; i < a->tasks.n && n < TASKS_MOST; i++) {
            const struct device_task *t = &a->tasks.at[i];
            uint32_t node = of->replay->node_of_task[i];
            if (t->step != a->n / 2 || (is_changed && (of->change.drop[node] & REPLAY_GONE) != 0))
                continue;
            nanos begin = is_changed ? of->times.begin[node] + of->change.lead[node] : t->begin;
            nanos end = is_changed ? of->times.end[node] : t->end;
            first = begin < first ? begin : first;
            if (turn == 1) {
                put_task(w, v, i, nanos_sub(begin, first), nanos_sub(end, first));
                n++;
            }
        }
    }
    json_write_end(w);
}

bool view_whatif_answer(struct view_whatif *v, const struct view_call *call, struct text *out)
{
    struct whatif_change changes[CHANGES_MOST];
    const char *text, *unknown = NULL;
    struct json_writer w;
    size_t n = 0;

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
        json_put_i64(&w, "recorded_ns", v->w.profiled);
    } else {
        struct whatif_result r = whatif_run_bounded(&v->w, changes, n);
        put_result(&w, v, &r);
        put_step(&w, v, "before", false);
        whatif_times(&v->w, changes, n);
        put_step(&w, v, "after", true);
    }
    json_write_end(&w);
    json_write_finish(&w);
    return unknown == NULL && v->has_work;
}
