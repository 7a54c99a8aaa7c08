/*
 * Several captures as one, and the orders that queries walk.
 */
#include "analysis/sql/sql_view.h"

#include "analysis/sql/sql_accounts.h"

#include <stdlib.h>

struct sql_steps {
    struct step_table table;
    bool is_filled;
};

const struct step_table *sql_steps_of(const struct sql_part *p)
{
    if (!p->steps->is_filled)
        step_table_init(&p->steps->table, p->cap);
    p->steps->is_filled = true;
    return &p->steps->table;
}

static void count_sets(struct sql_view *v, const struct capture *cap)
{
    uint32_t kinds[SLICE_KINDS] = {0};

    for (size_t i = 0; i < cap->slices.n; i++)
        kinds[cap->slices.kind[i]]++;
    for (int set = 0; set < SQL_SETS; set++)
        for (int kind = 0; kind < SLICE_KINDS; kind++)
            if (sql_set_has((enum sql_set)set, (enum slice_kind)kind))
                v->counts[set] += kinds[kind];
}

enum status sql_view_init(struct sql_view *v, const struct capture *const *caps, size_t n,
                          struct diag *d)
{
    uint64_t slices = 0, lanes = 0;

    *v = (struct sql_view){.part_count = n};
    for (size_t i = 0; i < n; i++) {
        slices += caps[i]->slices.n;
        lanes += caps[i]->lanes.n;
    }
    if (slices >= UINT32_MAX || lanes >= UINT32_MAX)
        return diag_fail(d, ST_LIMIT, "query.too-large", (struct where){0},
                         "%llu slices are more than one query can number",
                         (unsigned long long)slices);
    v->parts = mem_grow(NULL, sizeof(*v->parts), n + 1);
    for (size_t i = 0; i < n; i++) {
        v->parts[i] = (struct sql_part){.cap = caps[i], .base = v->slices, .lane_base = v->lanes};
        v->parts[i].steps = mem_grow(NULL, sizeof(struct sql_steps), 1);
        memset(v->parts[i].steps, 0, sizeof(struct sql_steps));
        v->parts[i].accounts = mem_grow(NULL, sizeof(struct sql_accounts), 1);
        memset(v->parts[i].accounts, 0, sizeof(struct sql_accounts));
        v->slices += (uint32_t)caps[i]->slices.n;
        v->lanes += (uint32_t)caps[i]->lanes.n;
        count_sets(v, caps[i]);
    }
    return ST_OK;
}

void sql_view_fini(struct sql_view *v)
{
    for (size_t i = 0; v->parts != NULL && i < v->part_count; i++) {
        if (v->parts[i].steps->is_filled)
            step_table_fini(&v->parts[i].steps->table);
        mem_free(v->parts[i].steps);
        sql_accounts_fini(v->parts[i].accounts);
        mem_free(v->parts[i].accounts);
        mem_free(v->parts[i].name_rank);
    }
    for (int set = 0; set < SQL_SETS; set++) {
        mem_free(v->by_name[set].at);
        mem_free(v->by_name[set].first);
        mem_free(v->by_name[set].dur);
        mem_free(v->by_time[set].at);
    }
    mem_free(v->parts);
    mem_free(v->step_of);
    vec_free(&v->names);
    vec_free(&v->steps);
}

/* The last part whose first number, at `offset` in it, is not above `number`. */
static const struct sql_part *part_below(const struct sql_view *v, uint32_t number, bool is_lane)
{
    size_t low = 0, high = v->part_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        const struct sql_part *p = &v->parts[middle];
        if ((is_lane ? p->lane_base : p->base) <= number)
            low = middle;
        else
            high = middle;
    }
    return &v->parts[low];
}

const struct sql_part *sql_part_of(const struct sql_view *v, uint32_t g)
{
    return part_below(v, g, false);
}

const struct sql_part *sql_part_of_lane(const struct sql_view *v, uint32_t lane)
{
    return part_below(v, lane, true);
}

/* A name as one capture numbers it. */
struct used_name {
    struct str text;
    uint32_t part;
    strid id;
};

ORDER_BY(by_text, struct used_name, str_compare(x->text, y->text));

/* Names get numbers in byte order, which is SQLite's BINARY collation; equal texts of different
 * captures share one. */
static void rank_names(struct sql_view *v)
{
    VEC_OF(struct used_name) used = {0};

    if (v->part_count == 0 || v->parts[0].name_rank != NULL)
        return;
    for (size_t p = 0; p < v->part_count; p++) {
        const struct capture *cap = v->parts[p].cap;
        size_t strings = cap->strings.strings.n + 1;
        uint32_t *rank = mem_grow(NULL, sizeof(*rank), strings);
        memset(rank, 0, sizeof(*rank) * strings);
        v->parts[p].name_rank = rank;
        for (size_t i = 0; i < cap->slices.n; i++) {
            strid id = cap->slices.name[i];
            if (rank[id] == 0)
                vec_push(&used, ((struct used_name){capture_text(cap, id), (uint32_t)p, id}));
            rank[id] = 1;
        }
    }
    if (used.n > 0)
        qsort(used.at, used.n, sizeof(*used.at), by_text);
    for (size_t i = 0; i < used.n; i++) {
        if (i == 0 || !str_equal(used.at[i].text, used.at[i - 1].text))
            vec_push(&v->names, used.at[i].text);
        v->parts[used.at[i].part].name_rank[used.at[i].id] = (uint32_t)v->names.n - 1;
    }
    vec_free(&used);
}

bool sql_find_name(const struct sql_view *v, struct str name, uint32_t *rank)
{
    size_t place;

    vec_bisect(place, v->names.n, i, str_compare(v->names.at[i], name) < 0);
    *rank = (uint32_t)place;
    return place < v->names.n && str_equal(v->names.at[place], name);
}

/* A counting sort: stable, two passes. */
const struct sql_order *sql_by_name(struct sql_view *v, enum sql_set set)
{
    struct sql_order *o = &v->by_name[set];

    if (o->is_built)
        return o;
    rank_names(v);
    size_t names = v->names.n;
    uint32_t *next = mem_grow(NULL, sizeof(*next), names + 1);
    o->first = mem_grow(NULL, sizeof(*o->first), names + 1);
    o->at = mem_grow(NULL, sizeof(*o->at), (size_t)v->counts[set] + 1);
    memset(o->first, 0, sizeof(*o->first) * (names + 1));
    for (size_t p = 0; p < v->part_count; p++) {
        const struct slices *s = &v->parts[p].cap->slices;
        for (size_t i = 0; i < s->n; i++)
            if (sql_set_has(set, (enum slice_kind)s->kind[i]))
                o->first[v->parts[p].name_rank[s->name[i]] + 1]++;
    }
    for (size_t r = 0; r < names; r++) {
        o->first[r + 1] += o->first[r];
        next[r] = o->first[r];
    }
    for (size_t p = 0; p < v->part_count; p++) {
        const struct slices *s = &v->parts[p].cap->slices;
        for (size_t i = 0; i < s->n; i++)
            if (sql_set_has(set, (enum slice_kind)s->kind[i]))
                o->at[next[v->parts[p].name_rank[s->name[i]]]++] = v->parts[p].base + (uint32_t)i;
    }
    mem_free(next);
    o->n = v->counts[set];
    o->is_built = true;
    return o;
}

const nanos *sql_dur_by_name(struct sql_view *v, enum sql_set set)
{
    const struct sql_part *p = v->parts;

    sql_by_name(v, set);
    struct sql_order *o = &v->by_name[set];
    if (o->dur != NULL)
        return o->dur;
    o->dur = mem_grow(NULL, sizeof(*o->dur), (size_t)o->n + 1);
    for (size_t k = 0; k < o->n; k++) {
        uint32_t g = o->at[k];
        if (g < p->base || g - p->base >= p->cap->slices.n)
            p = sql_part_of(v, g);
        o->dur[k] = p->cap->slices.dur[g - p->base];
    }
    return o->dur;
}

struct moment {
    nanos begin;
    uint32_t g;
};

/* Every lane is a sorted run: neighbours are merged until one is left. `ends` of the runs. */
static struct moment *merge_runs(struct moment *from, struct moment *to, size_t *ends, size_t runs)
{
    while (runs > 1) {
        size_t kept = 0, begin = 0;
        for (size_t r = 0; r < runs; r += 2) {
            size_t middle = ends[r], end = r + 1 < runs ? ends[r + 1] : ends[r];
            size_t x = begin, y = middle; /* two runs go to the same place; ties keep order */
            for (size_t k = begin; k < end; k++)
                to[k] = x < middle && (y >= end || from[x].begin <= from[y].begin) ? from[x++]
                                                                                   : from[y++];
            begin = ends[kept++] = end;
        }
        struct moment *other = from;
        from = to;
        to = other;
        runs = kept;
    }
    return from;
}

const struct sql_order *sql_by_time(struct sql_view *v, enum sql_set set)
{
    struct sql_order *o = &v->by_time[set];
    VEC_OF(size_t) ends = {0};
    size_t n = 0, room = (size_t)v->counts[set] + 1;

    if (o->is_built)
        return o;
    struct moment *list = mem_grow(NULL, sizeof(*list), room);
    struct moment *other = mem_grow(NULL, sizeof(*other), room);
    for (size_t p = 0; p < v->part_count; p++) {
        const struct slices *s = &v->parts[p].cap->slices;
        for (size_t i = 0; i < s->n; i++) {
            if (!sql_set_has(set, (enum slice_kind)s->kind[i]))
                continue;
            if (n > 0 && s->begin[i] < list[n - 1].begin)
                vec_push(&ends, n);
            list[n++] = (struct moment){s->begin[i], v->parts[p].base + (uint32_t)i};
        }
    }
    vec_push(&ends, n);
    const struct moment *sorted = merge_runs(list, other, ends.at, ends.n);
    o->at = mem_grow(NULL, sizeof(*o->at), room);
    for (size_t i = 0; i < n; i++)
        o->at[i] = sorted[i].g;
    o->n = (uint32_t)n;
    o->is_built = true;
    mem_free(list);
    mem_free(other);
    vec_free(&ends);
    return o;
}

static struct sql_step step_of_text(struct str text)
{
    struct sql_step step = {.text = text};

    step.is_number = num_i64(text, &step.number);
    return step;
}

/* A slice's own step id; without one, the step of the capture's table that it begins in. */
static void fill_steps(struct sql_view *v, const struct sql_part *part)
{
    const struct capture *cap = part->cap;
    const struct step_table *table = sql_steps_of(part);
    uint32_t windows = (uint32_t)v->steps.n;
    struct hash ids = {0};

    for (size_t i = 0; i < table->rows.n; i++) {
        const struct step_row *r = &table->rows.at[i];
        struct sql_step step = {true, r->number, capture_text(cap, r->name)};
        step.is_number = r->number != UNKNOWN;
        vec_push(&v->steps, step);
    }
    for (size_t i = 0; i < cap->slices.n; i++) {
        struct attr id = capture_slice_attr(cap, i, KEY_STEP);
        uint32_t *out = &v->step_of[part->base + i];
        if (id.type == ATTR_TEXT && id.text != 0) {
            uint32_t fresh = (uint32_t)v->steps.n;
            *out = hash_add(&ids, id.text, fresh);
            if (*out == fresh)
                vec_push(&v->steps, step_of_text(capture_text(cap, id.text)));
        } else {
            ptrdiff_t at = step_table_at(table, cap->slices.begin[i]);
            *out = at >= 0 ? windows + (uint32_t)at : 0;
        }
    }
    hash_free(&ids);
}

void sql_need_steps(struct sql_view *v)
{
    if (v->step_of != NULL)
        return;
    v->step_of = mem_grow(NULL, sizeof(*v->step_of), (size_t)v->slices + 1);
    vec_push(&v->steps, (struct sql_step){0}); /* none */
    for (size_t p = 0; p < v->part_count; p++)
        fill_steps(v, &v->parts[p]);
}
