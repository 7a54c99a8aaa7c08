/*
 * Segments of bytes, and windows of global memory, with who touches them.
 */
#include "kernels/pto/sim/hazards.h"

#include <string.h>

void pto_hazards_init(struct pto_hazards *h)
{
    memset(h, 0, sizeof(*h));
    for (size_t s = 0; s < PTO_SPACE_COUNT; s++)
        h->space[s].version = 1;
}

void pto_hazards_free(struct pto_hazards *h)
{
    for (size_t s = 0; s < PTO_SPACE_COUNT; s++)
        vec_free(&h->space[s].at);
    vec_free(&h->gm);
}

void pto_hazards_reset(struct pto_hazards *h)
{
    for (size_t s = 0; s < PTO_SPACE_COUNT; s++) {
        h->space[s].at.n = 0;
        h->space[s].version++;
    }
    h->gm.n = 0;
}

static void insert_segment(struct pto_hazards *h, enum pto_space space, size_t i,
                           const struct pto_segment *s)
{
    struct pto_segment copy = *s; /* `s` may lie in the array that moves */

    vec_push(&h->space[space].at, copy);
    struct pto_segment *at = h->space[space].at.at;
    memmove(&at[i + 1], &at[i], (h->space[space].at.n - 1 - i) * sizeof(*at));
    at[i] = copy;
    h->space[space].version++;
}

/* The first segment that ends after `lo`. */
static size_t find_segment(const struct pto_hazards *h, enum pto_space space, int64_t lo)
{
    const struct pto_segment *at = h->space[space].at.at;
    size_t first;

    vec_bisect(first, h->space[space].at.n, i, at[i].hi <= lo);
    return first;
}

/* Cuts so that [lo, hi) is a whole number of segments; returns the first. */
static size_t cut_segments(struct pto_hazards *h, enum pto_space space, int64_t lo, int64_t hi)
{
    size_t first = find_segment(h, space, lo), i = first;
    int64_t at = lo;

    while (at < hi) {
        if (i == h->space[space].at.n || h->space[space].at.at[i].lo >= hi) {
            insert_segment(h, space, i++, &(struct pto_segment){.lo = at, .hi = hi});
            break; /* nothing more in the range */
        }
        const struct pto_segment *s = &h->space[space].at.at[i];
        if (s->lo > at) {
            insert_segment(h, space, i++, &(struct pto_segment){.lo = at, .hi = s->lo});
            at = h->space[space].at.at[i].lo;
            continue;
        }
        if (s->lo < at) { /* only the first one can begin before the range */
            insert_segment(h, space, i, s);
            h->space[space].at.at[i].hi = at;
            h->space[space].at.at[i + 1].lo = at;
            first = ++i;
            continue;
        }
        if (s->hi > hi) {
            insert_segment(h, space, i, s);
            h->space[space].at.at[i].hi = hi;
            h->space[space].at.at[i + 1].lo = hi;
            break;
        }
        at = s->hi;
        i++;
    }
    return first;
}

/* The first segment of an access, from its place when that is still right. */
static size_t first_segment(struct pto_hazards *h, const struct pto_touch *t)
{
    struct pto_place *p = t->place;

    if (p && p->version == h->space[t->space].version && p->lo == t->lo && p->hi == t->hi)
        return p->first;
    size_t first = cut_segments(h, t->space, t->lo, t->hi);
    if (p)
        *p = (struct pto_place){t->lo, t->hi, h->space[t->space].version, (uint32_t)first};
    return first;
}

static void hazards_join(struct pto_moment *wait, struct pto_moment m, enum pto_cause cause)
{
    if (m.at <= wait->at)
        return;
    m.cause = (uint8_t)cause;
    *wait = m;
}

/* The vector pipe reads behind its own writes. */
static bool streams(const struct pto_hazards *h, const struct pto_segment *s,
                    const struct pto_touch *t)
{
    if (t->pipe != PTO_PIPE_V || s->write.from != PTO_PIPE_V)
        return false;
    return h->keeps_vector_order ||
           (t->is_stream && s->is_stream && s->write_lo == t->lo && s->write_hi == t->hi);
}

void pto_hazards_find(struct pto_hazards *h, const struct pto_touch *t, struct pto_moment *wait)
{
    if (t->lo >= t->hi)
        return;
    size_t i = first_segment(h, t);
    const struct pto_segment *at = h->space[t->space].at.at;
    for (size_t n = h->space[t->space].at.n; i < n && at[i].lo < t->hi; i++) {
        const struct pto_segment *s = &at[i];
        if (!t->is_write) {
            if (!streams(h, s, t))
                hazards_join(wait, s->write, PTO_CAUSE_RAW);
            continue;
        }
        if (h->ignore_reuse)
            continue;
        if (s->write.from != t->pipe)
            hazards_join(wait, s->write, PTO_CAUSE_WAW);
        /* Reads on other pipes; those of the same pipe are over when its queue is free. */
        uint32_t readers = s->readers & ~(1U << t->pipe);
        while (readers != 0) {
            unsigned p = (unsigned)__builtin_ctz(readers);
            readers &= readers - 1;
            hazards_join(wait, s->read[p], PTO_CAUSE_WAR);
        }
    }
}

void pto_hazards_note(struct pto_hazards *h, const struct pto_touch *t, struct pto_moment ready)
{
    if (t->lo >= t->hi)
        return;
    size_t i = first_segment(h, t);
    struct pto_segment *at = h->space[t->space].at.at;
    ready.from = (uint8_t)t->pipe;
    for (size_t n = h->space[t->space].at.n; i < n && at[i].lo < t->hi; i++) {
        struct pto_segment *s = &at[i];
        if (t->is_write) {
            if (ready.at >= s->write.at) /* one of the same pipe may take longer than a later one */
                s->write = ready;
            s->write_lo = t->lo;
            s->write_hi = t->hi;
            s->is_stream = t->is_stream;
        } else if (ready.at >= s->read[t->pipe].at) {
            s->read[t->pipe] = ready;
            s->readers |= 1U << t->pipe;
        }
    }
}

static int64_t window_end(const struct pto_gm_window *w)
{
    return w->rows > 0 ? w->at + (w->rows - 1) * w->stride + w->row_bytes : w->at;
}

bool pto_gm_windows_meet(const struct pto_gm_window *a, const struct pto_gm_window *b)
{
    if (a->root < 0 || b->root < 0)
        return true;
    if (a->root != b->root || a->at >= window_end(b) || b->at >= window_end(a))
        return false;
    if (!a->is_exact || !b->is_exact || a->stride != b->stride || a->stride <= 0)
        return true;
    /* equal strides: the columns of the two, on a circle of one stride */
    int64_t distance = (b->at - a->at) % a->stride;
    if (distance < 0)
        distance += a->stride;
    return distance < a->row_bytes || a->stride - distance < b->row_bytes;
}

void pto_hazards_find_gm(struct pto_hazards *h, enum pto_pipe pipe, const struct pto_gm_window *w,
                         bool is_write, struct pto_moment *wait)
{
    for (size_t i = 0; i < h->gm.n; i++) {
        const struct pto_gm_access *a = &h->gm.at[i];
        bool is_war = is_write && !a->is_write;
        if (a->ready.at <= wait->at || (!is_write && !a->is_write))
            continue;
        if (is_write && (a->ready.from == pipe || h->ignore_reuse))
            continue;
        if (pto_gm_windows_meet(&a->window, w))
            hazards_join(wait, a->ready,
                         is_war     ? PTO_CAUSE_WAR
                         : is_write ? PTO_CAUSE_WAW
                                    : PTO_CAUSE_RAW);
    }
}

enum { GM_ROOM = 64, GM_MOST = 4096 };

/* Two accesses of a kind become one that covers both. */
static void join_oldest(struct pto_hazards *h)
{
    struct pto_gm_access *a = &h->gm.at[0];

    for (size_t i = 1; i < h->gm.n; i++) {
        struct pto_gm_access *b = &h->gm.at[i];
        if (b->is_write != a->is_write || b->window.root != a->window.root ||
            b->ready.from != a->ready.from)
            continue;
        int64_t end = window_end(&a->window), other = window_end(&b->window);
        int64_t at = a->window.at < b->window.at ? a->window.at : b->window.at;
        if (other > end)
            end = other;
        b->window = (struct pto_gm_window){at, 1, end - at, end - at, b->window.root, false};
        if (a->ready.at > b->ready.at)
            b->ready = a->ready;
        break;
    }
    memmove(&h->gm.at[0], &h->gm.at[1], (h->gm.n - 1) * sizeof(h->gm.at[0]));
    h->gm.n--;
}

void pto_hazards_note_gm(struct pto_hazards *h, enum pto_pipe pipe, const struct pto_gm_window *w,
                         bool is_write, struct pto_moment ready, int64_t settled)
{
    ready.from = (uint8_t)pipe;
    if (h->gm.n >= GM_ROOM) {
        /* Accesses that are ready before any queue can start again delay nobody. */
        size_t kept = 0;
        for (size_t i = 0; i < h->gm.n; i++) {
            if (h->gm.at[i].ready.at > settled)
                h->gm.at[kept++] = h->gm.at[i];
        }
        h->gm.n = kept;
    }
    if (h->gm.n >= GM_MOST)
        join_oldest(h);
    vec_push(&h->gm, ((struct pto_gm_access){*w, ready, is_write}));
}

struct pto_moment pto_hazards_quiet(struct pto_hazards *h, enum pto_space space, int64_t lo,
                                    int64_t hi)
{
    struct pto_moment quiet = {.record = PTO_NO_RECORD};
    const struct pto_segment *at = h->space[space].at.at;

    for (size_t i = find_segment(h, space, lo); i < h->space[space].at.n && at[i].lo < hi; i++) {
        pto_moment_join(&quiet, at[i].write);
        for (uint32_t readers = at[i].readers; readers != 0; readers &= readers - 1)
            pto_moment_join(&quiet, at[i].read[__builtin_ctz(readers)]);
    }
    return quiet;
}
