#include "analysis/step_table.h"

#include <stdlib.h>

static const char *const mark_sources[] = {
    [MARK_PROFILER_STEP] = "profiler_step",
    [MARK_ITERATION] = "iteration",
    [MARK_RANGE] = "range",
    [MARK_STEP_TRACE] = "step_trace",
};

static int by_begin(const void *a, const void *b)
{
    const struct step_row *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void take_marks(struct step_table *t, const struct capture *cap)
{
    enum mark_source best = cap->marks.at[0].source;

    for (size_t i = 1; i < cap->marks.n; i++)
        best = cap->marks.at[i].source < best ? cap->marks.at[i].source : best;
    for (size_t i = 0; i < cap->marks.n; i++) {
        const struct mark *m = &cap->marks.at[i];
        if (m->source == best)
            vec_push(&t->rows, ((struct step_row){m->name, m->number, m->begin, m->end}));
    }
    t->source = mark_sources[best];
}

/* A row for each step id of a kernel; it begins with the id's first kernel. */
static void take_ids(struct step_table *t, const struct capture *cap)
{
    const struct slices *s = &cap->slices;
    struct hash seen = {0};

    for (size_t i = 0; i < s->n; i++) {
        if (!slice_is_kernel((enum slice_kind)s->kind[i]))
            continue;
        struct attr id = capture_slice_attr(cap, i, KEY_STEP);
        if (id.type != ATTR_TEXT || id.text == 0)
            continue;
        uint32_t fresh = (uint32_t)t->rows.n, at = hash_add(&seen, id.text, fresh);
        if (at == fresh) {
            struct step_row row = {id.text, UNKNOWN, s->begin[i], slices_end(s, i)};
            num_i64(capture_text(cap, id.text), &row.number);
            vec_push(&t->rows, row);
        } else if (s->begin[i] < t->rows.at[at].begin) {
            t->rows.at[at].begin = s->begin[i];
        }
    }
    hash_free(&seen);
    t->source = "step_id";
}

/* Each row up to the next, the last up to the latest end of all. */
static void close_rows(struct step_table *t, const struct capture *cap)
{
    const struct slices *s = &cap->slices;
    struct step_row *last = &t->rows.at[t->rows.n - 1];

    for (size_t i = 0; i + 1 < t->rows.n; i++)
        t->rows.at[i].end = t->rows.at[i + 1].begin;
    last->end = last->end > last->begin ? last->end : last->begin;
    for (size_t i = 0; i < s->n; i++)
        if (slices_end(s, i) > last->end)
            last->end = slices_end(s, i);
}

void step_table_init(struct step_table *t, const struct capture *cap)
{
    *t = (struct step_table){.source = "none"};
    if (cap->marks.n > 0)
        take_marks(t, cap);
    else if ((cap->has & HAS_STEPS) != 0)
        take_ids(t, cap);
    if (t->rows.n == 0) {
        t->source = "none";
        return;
    }
    qsort(t->rows.at, t->rows.n, sizeof(*t->rows.at), by_begin);
    close_rows(t, cap);
}

void step_table_fini(struct step_table *t)
{
    vec_free(&t->rows);
}

ptrdiff_t step_table_at(const struct step_table *t, nanos time)
{
    size_t low = 0, high = t->rows.n; /* rows below `low` begin at or before `time` */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->rows.at[middle].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    /* Rows with one begin: the last of them has the time, the others are empty. */
    return low > 0 && time < t->rows.at[low - 1].end ? (ptrdiff_t)low - 1 : -1;
}
