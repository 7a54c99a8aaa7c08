/*
 * Counters and device memory over time, as JSON.
 */
#include "analysis/tables/memory.h"

#include <stdlib.h>

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
    struct memory_walk walk = memory_walk(set->cap, pool);
    bool is_allocated = role[0] == 'a';
    struct memory_event e;
    size_t n = 0;

    while (memory_next(&walk, &e)) {
        double bytes = is_allocated ? e.allocated : e.reserved;
        if (bytes >= 0)
            samples[n++] = (struct sample){e.at, bytes};
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

/* ---- segments and blocks of a snapshot ---- */

enum { SEGMENT_MOST = 64, BLOCK_MOST = 4000, NOT_USED = -1, OTHER_USE = -2 };

ORDER_BY(largest_segment_first, struct snapshot_segment,
         ORDER(y->bytes, x->bytes) ?: ORDER(x->address, y->address));

/* The place of a stack among those that hold most; OTHER_USE: further behind. */
static int use_of(const struct memory_pool *pool, struct str stack)
{
    const struct memory_uses *now = &pool->held->now;

    for (size_t i = 0; i < now->n && i < USE_MOST; i++)
        if (str_equal(now->at[i].name, stack.n > 0 ? stack : S("unknown")))
            return (int)i;
    return OTHER_USE;
}

static void put_block(struct json_writer *w, double bytes, int use)
{
    json_write_array(w);
    json_write_f64(w, bytes);
    json_write_i64(w, use);
    json_write_end(w);
}

/* Blocks of one use that follow each other are one. */
static size_t put_blocks(struct json_writer *w, const struct page_set *set,
                         const struct memory_pool *pool, const struct snapshot_segment *segment)
{
    double bytes = 0;
    size_t n = 0;
    int use = NOT_USED;

    page_put_memory_segment_blocks(w);
    for (size_t k = segment->first; k < segment->first + segment->n; k++) {
        const struct snapshot_block *b = &pool->snapshot->blocks.at[k];
        int own = b->state == SNAPSHOT_INACTIVE ? NOT_USED
                                                : use_of(pool, capture_text(set->cap, b->stack));
        if (own != use && bytes > 0) {
            put_block(w, bytes, use);
            bytes = 0;
            n++;
        }
        use = own;
        bytes += (double)b->bytes;
    }
    if (bytes > 0)
        put_block(w, bytes, use);
    json_write_end(w);
    return n + 1;
}

static void put_segments(struct json_writer *w, const struct page_set *set,
                         const struct memory_pool *pool)
{
    const struct snapshot *s = pool->snapshot;
    VEC_OF(struct snapshot_segment) own = {0};
    size_t blocks = 0;

    for (size_t i = 0; i < s->segments.n; i++)
        if (s->segments.at[i].device == pool->trace->device)
            vec_push(&own, s->segments.at[i]);
    if (own.n > 1)
        qsort(own.at, own.n, sizeof(*own.at), largest_segment_first);
    page_put_memory_held_segments_total(w, (int64_t)own.n);
    page_put_memory_held_segments(w);
    for (size_t i = 0; i < own.n && i < SEGMENT_MOST && blocks < BLOCK_MOST; i++) {
        json_write_object(w);
        page_put_memory_segment_bytes(w, (double)own.at[i].bytes);
        blocks += put_blocks(w, set, pool, &own.at[i]);
        json_write_end(w);
    }
    json_write_end(w);
    vec_free(&own);
}

/* Ends the list. */
static void put_uses(struct json_writer *w, const struct page_set *set,
                     const struct memory_uses *uses)
{
    for (size_t i = 0; i < uses->n && i < USE_MOST; i++) {
        json_write_object(w);
        page_put_memory_use_name(w, page_name(set, uses->at[i].name));
        page_put_memory_use_bytes(w, uses->at[i].bytes);
        page_put_memory_use_n(w, uses->at[i].n);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_held(struct json_writer *w, const struct page_set *set,
                     const struct memory_pool *pool)
{
    const struct memory_snapshot *h = pool->held;

    page_put_memory_pool_held(w);
    page_put_memory_held_reserved(w, h->reserved);
    page_put_memory_held_requested(w, h->requested);
    page_put_memory_held_rounding(w, h->rounding);
    page_put_memory_held_inactive(w, h->inactive);
    page_put_memory_held_fragmented(w, h->fragmented);
    page_put_memory_held_uses(w);
    put_uses(w, set, &h->now);
    put_segments(w, set, pool);
    json_write_end(w);
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
        put_uses(w, set, pool->snapshot != NULL ? &pool->stacks : &pool->ops);
        if (pool->held != NULL)
            put_held(w, set, pool);
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
