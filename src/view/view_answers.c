/*
 * Statistics, search and single slices.
 */
#include "view/view_answers.h"

#include <stdlib.h>

#include "base/formats/json_write.h"
#include "base/tables/interval.h"
#include "base/text/inert.h"
#include "render/timelines/timeline.h"

enum { NAMES_MOST = 1000, NAME_BYTES = 2000 }; /* in an answer; of a name */

/* As the page has it. The set's own arena is not for requests, which run side by side. */
static void put_name(struct json_writer *w, const struct page_set *set, strid name)
{
    struct arena arena;
    struct str text = capture_text(set->cap, name);

    arena_init(&arena);
    json_put_str(w, "name",
                 inert_line(&arena, str_part(text, 0, text.n < NAME_BYTES ? text.n : NAME_BYTES)));
    arena_free(&arena);
}

/* ---- a range of time ---- */

struct name_sum {
    strid name;
    uint32_t what;
    size_t count;
    nanos sum;
};

ORDER_BY(largest_first, struct name_sum, ORDER(y->sum, x->sum) ?: ORDER(x->what, y->what));

struct range {
    const struct view_rows *rows;
    nanos from, to;
    struct hash places; /* by name */
    VEC_OF(struct name_sum) names;
    VEC_OF(struct interval) busy;
    nanos families[PAGE_FAMILIES];
};

static void answers_add_slice(struct range *r, size_t slice, enum lane_kind lane)
{
    const struct page_set *set = r->rows->set;
    const struct page_what *what = &set->whats.at[set->what[slice]];
    nanos begin = view_begin(r->rows, slice), end = view_end(r->rows, slice);
    uint32_t fresh = (uint32_t)r->names.n, at = hash_add(&r->places, what->name, fresh);

    begin = begin > r->from ? begin : r->from;
    end = end < r->to ? end : r->to;
    if (at == fresh)
        vec_push(&r->names, ((struct name_sum){what->name, set->what[slice], 0, 0}));
    r->names.at[at].count++;
    r->names.at[at].sum += end - begin;
    if (!page_is_busy(lane, what->kind))
        return;
    r->families[what->family] += end - begin;
    if (r->busy.n > 0) {
        struct interval *last = &r->busy.at[r->busy.n - 1];
        if (begin >= last->begin && begin <= last->end) {
            last->end = end > last->end ? end : last->end;
            return;
        }
    }
    vec_push(&r->busy, ((struct interval){begin, end}));
}

static void put_names(struct json_writer *w, struct range *r)
{
    nanos sum = 0;
    size_t count = 0;

    if (r->names.n > 0)
        qsort(r->names.at, r->names.n, sizeof(*r->names.at), largest_first);
    json_put_array(w, "by_name");
    for (size_t i = 0; i < r->names.n; i++) {
        const struct name_sum *one = &r->names.at[i];
        sum += one->sum;
        count += one->count;
        if (i >= NAMES_MOST)
            continue;
        json_write_object(w);
        put_name(w, r->rows->set, one->name);
        json_put_u64(w, "what", one->what);
        json_put_u64(w, "count", one->count);
        json_put_i64(w, "sum_ns", one->sum);
        json_write_end(w);
    }
    json_write_end(w);
    json_put_u64(w, "names", r->names.n);
    json_put_u64(w, "count", count);
    json_put_i64(w, "sum_ns", sum);
}

static void put_idle(struct json_writer *w, const struct range *r)
{
    const struct page_set *set = r->rows->set;
    nanos by[IDLE_CAUSES] = {0};

    for (size_t i = 0; i < set->a->pieces.n; i++) {
        const struct idle_piece *p = &set->a->pieces.at[i];
        nanos begin = page_time(set, p->at.begin), end = page_time(set, p->at.end);
        begin = begin > r->from ? begin : r->from;
        end = end < r->to ? end : r->to;
        by[p->cause] += end > begin ? end - begin : 0;
    }
    json_put_array(w, "idle");
    for (size_t i = 0; i < IDLE_CAUSES; i++)
        json_write_i64(w, by[i]);
    json_write_end(w);
}

void view_range(const struct view_rows *rows, const struct view_list *lanes, nanos from, nanos to,
                bool has_gaps, struct text *out)
{
    struct range r = {.rows = rows, .from = from, .to = to};
    struct json_writer w;

    for (size_t i = 0; i < lanes->n; i++) {
        struct view_walk walk = view_walk(rows, lanes->at[i], from, to);
        for (size_t k; (k = view_walk_next(&walk)) != SIZE_MAX;)
            answers_add_slice(&r, k, walk.lane->kind);
    }
    struct interval_set busy = {r.busy.at, r.busy.n};
    interval_merge(&busy);
    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    json_put_i64(&w, "from", from);
    json_put_i64(&w, "to", to);
    json_put_i64(&w, "busy_ns", interval_length(busy));
    put_names(&w, &r);
    json_put_array(&w, "families");
    for (size_t f = 0; f < PAGE_FAMILIES; f++)
        json_write_i64(&w, r.families[f]);
    json_write_end(&w);
    if (has_gaps)
        put_idle(&w, &r);
    json_write_end(&w);
    json_write_finish(&w);
    vec_free(&r.names);
    vec_free(&r.busy);
    hash_free(&r.places);
}

/* ---- search ---- */

/* The entries of the dictionary whose name holds the query. */
static bool *find_names(const struct page_set *set, struct str query)
{
    bool *hits = mem_grow(NULL, sizeof(*hits), set->whats.n + 1);

    for (size_t i = 0; i < set->whats.n; i++)
        hits[i] = str_contains_nocase(capture_text(set->cap, set->whats.at[i].name), query);
    return hits;
}

void view_search(const struct view_rows *rows, struct str query, size_t most, struct text *out)
{
    const struct page_set *set = rows->set;
    bool *hits = find_names(set, query);
    size_t found = 0;
    struct json_writer w;

    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    json_put_array(&w, "hits");
    for (size_t lane = 0; lane < set->lanes.n; lane++) {
        struct view_walk walk = view_walk(rows, lane, 0, set->to + 1);
        for (size_t k; (k = view_walk_next(&walk)) != SIZE_MAX;) {
            if (!hits[set->what[k]] || ++found > most)
                continue;
            json_write_array(&w);
            json_write_u64(&w, lane);
            json_write_u64(&w, k - walk.lane->first);
            json_write_i64(&w, view_begin(rows, k));
            json_write_end(&w);
        }
    }
    json_write_end(&w);
    json_put_u64(&w, "found", found);
    json_put_bool(&w, "more", found > most);
    json_write_end(&w);
    json_write_finish(&w);
    mem_free(hits);
}

/* ---- one slice ---- */

size_t view_slice_near(const struct view_rows *rows, size_t lane, nanos begin, uint32_t what)
{
    enum { AROUND = 1024 }; /* times of a thinned page are rounded */
    const struct view_lane *of = &rows->lanes[lane];
    size_t at, best = SIZE_MAX;
    nanos nearest = INT64_MAX;

    vec_bisect(at, of->n, i, view_begin(rows, of->first + i) < begin);
    size_t end = of->n - at > AROUND ? at + AROUND : of->n;
    for (size_t i = at > AROUND ? at - AROUND : 0; i < end; i++) {
        nanos away = nanos_sub(view_begin(rows, of->first + i), begin);
        away = away < 0 ? -away : away;
        if (rows->set->what[of->first + i] == what && away < nearest) {
            nearest = away;
            best = i;
        }
    }
    return best;
}

bool view_slice(const struct view_rows *rows, size_t lane, size_t n, struct text *out)
{
    const struct page_set *set = rows->set;
    const struct view_lane *of = &rows->lanes[lane];
    struct json_writer w;

    if (n >= of->n)
        return false;
    struct slice slice = slices_at(&set->cap->slices, of->first + n);
    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    json_put_u64(&w, "id", of->first + n);
    put_name(&w, set, slice.name);
    json_put_text(&w, "kind", slice_kind_name(slice.kind));
    json_put_i64(&w, "start_ns", view_begin(rows, of->first + n));
    json_put_i64(&w, "dur_ns", slice.dur);
    json_put_u64(&w, "what", set->what[of->first + n]);
    json_put_u64(&w, "step", set->step[of->first + n]);
    json_write_end(&w);
    json_write_finish(&w);
    out->n--; /* the closing brace, behind which the attributes stand */
    struct text_out *args = mem_grow(NULL, sizeof(*args), 1);
    text_out_open(args, text_sink(out));
    timeline_args(args, set->cap, &slice, S(",\"args\":"), S(""));
    text_out_close(args);
    mem_free(args);
    text_char(out, '}');
    return true;
}
