/*
 * Counters and device memory over time, as JSON.
 */
#include "analysis/tables/memory.h"

#include "page/page_data.h"

enum { COUNTER_POINTS = 2000, COUNTER_MOST = 64, POOL_MOST = 16, USE_MOST = 5 };

/* Points that keep the least and the largest of each bucket, in their order. */
static size_t thin_counter(const struct sample *samples, size_t n, const struct sample **out)
{
    size_t buckets = COUNTER_POINTS / 2, kept = 0;

    if (n <= COUNTER_POINTS) {
        for (size_t i = 0; i < n; i++)
            out[i] = &samples[i];
        return n;
    }
    for (size_t b = 0; b < buckets; b++) {
        size_t from = b * n / buckets, to = (b + 1) * n / buckets, low = from, high = from;
        for (size_t i = from; i < to; i++) {
            low = samples[i].value < samples[low].value ? i : low;
            high = samples[i].value > samples[high].value ? i : high;
        }
        out[kept++] = &samples[low < high ? low : high];
        if (low != high)
            out[kept++] = &samples[low < high ? high : low];
    }
    return kept;
}

static const char *counter_role(struct str name)
{
    return str_contains_nocase(name, S("reserved"))    ? "reserved"
           : str_contains_nocase(name, S("allocated")) ? "allocated"
                                                       : NULL;
}

/* The rest of an object that has its name: when, and how much. */
static void put_samples(struct json_writer *w, const struct page_set *set,
                        const struct sample *samples, size_t n)
{
    const struct sample *points[COUNTER_POINTS];
    size_t kept = thin_counter(samples, n, points);

    page_put_counter_n(w, n);
    page_put_counter_t(w);
    for (size_t i = 0; i < kept; i++)
        json_write_i64(w, page_time(set, points[i]->at));
    json_write_end(w);
    page_put_counter_v(w);
    for (size_t i = 0; i < kept; i++)
        json_write_f64(w, points[i]->value);
    json_write_end(w);
}

void page_json_counters(struct json_writer *w, const struct page_set *set)
{
    page_put_set_counters(w);
    for (size_t i = 0; i < set->cap->series.n && i < COUNTER_MOST; i++) {
        const struct series *series = &set->cap->series.at[i];
        struct str name = capture_text(set->cap, series->name);
        json_write_object(w);
        page_put_counter_name(w, page_name(set, name));
        page_put_counter_role(w, counter_role(name));
        page_put_counter_process(w, page_name(set, capture_text(set->cap, series->process)));
        page_put_counter_unit(w, capture_text(set->cap, series->unit));
        put_samples(w, set, series->samples.at, series->samples.n);
        json_write_end(w);
    }
    json_write_end(w);
}

/* ---- memory ---- */

static void put_curve(struct json_writer *w, const struct page_set *set,
                      const struct memory_pool *pool, const char *role)
{
    struct sample *samples = mem_grow(NULL, sizeof(*samples), pool->n_events + 1);
    bool is_allocated = role[0] == 'a';
    size_t n = 0;

    for (size_t i = 0; i < pool->n_events; i++) {
        const struct memory_event *e = &pool->events[i];
        double bytes = is_allocated ? e->allocated : e->reserved;
        if (bytes >= 0)
            samples[n++] = (struct sample){e->at, bytes};
    }
    if (n > 0) {
        json_write_object(w);
        page_put_counter_name(w, str_of(role));
        page_put_counter_role(w, role);
        page_put_counter_process(w, page_name(set, pool->name));
        page_put_counter_unit(w, S("B"));
        put_samples(w, set, samples, n);
        json_write_end(w);
    }
    mem_free(samples);
}

/* The pool with the largest peak behind `last`, the one before; NULL: none of the rest held
 * anything. */
static const struct memory_pool *next_pool(const struct memory_curves *m,
                                           const struct memory_pool *last)
{
    const struct memory_pool *best = NULL;

    for (size_t i = 0; m != NULL && i < m->n; i++) {
        const struct memory_pool *p = &m->at[i];
        bool is_left = last == NULL || p->peak < last->peak || (p->peak == last->peak && p > last);
        if (is_left && p->peak > 0 && (best == NULL || p->peak > best->peak))
            best = p;
    }
    return best;
}

void page_json_memory(struct json_writer *w, const struct page_set *set)
{
    const struct memory_pool *pool = next_pool(set->memory, NULL);

    page_put_set_memory(w);
    for (size_t n = 0; pool != NULL && n < POOL_MOST; n++) {
        json_write_object(w);
        page_put_memory_pool_name(w, page_name(set, pool->name));
        page_put_memory_pool_curves(w);
        put_curve(w, set, pool, "allocated");
        put_curve(w, set, pool, "reserved");
        json_write_end(w);
        page_put_memory_pool_peak(w, pool->peak);
        page_put_memory_pool_at(w, page_time(set, pool->peak_at));
        page_put_memory_pool_before(w, pool->before);
        page_put_memory_pool_uses(w);
        for (size_t i = 0; i < pool->ops.n && i < USE_MOST; i++) {
            json_write_object(w);
            page_put_memory_use_name(w, page_name(set, pool->ops.at[i].name));
            page_put_memory_use_bytes(w, pool->ops.at[i].bytes);
            page_put_memory_use_n(w, pool->ops.at[i].n);
            json_write_end(w);
        }
        json_write_end(w);
        json_write_end(w);
        pool = next_pool(set->memory, pool);
    }
    json_write_end(w);
}

bool page_has_memory(const struct page_set *set)
{
    bool has = set->cap->series.n > 0;

    for (size_t i = 0; set->memory != NULL && i < set->memory->n; i++)
        has |= set->memory->at[i].peak >= 0;
    return has;
}
