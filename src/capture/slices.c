/*
 * Slices in columns, and how the seal sorts them.
 */
#include "capture/slices.h"

#include "base/arena.h"
#include "base/run/pool.h"

void slices_reserve(struct slices *s, size_t count)
{
    if (count <= s->cap)
        return;
    size_t more = s->cap > 0 ? s->cap + s->cap / 2 : 256;
    s->cap = count > more ? count : more;
    s->begin = mem_grow(s->begin, sizeof(*s->begin), s->cap);
    s->dur = mem_grow(s->dur, sizeof(*s->dur), s->cap);
    s->lane = mem_grow(s->lane, sizeof(*s->lane), s->cap);
    s->name = mem_grow(s->name, sizeof(*s->name), s->cap);
    s->set = mem_grow(s->set, sizeof(*s->set), s->cap);
    s->own = mem_grow(s->own, sizeof(*s->own), s->cap);
    s->kind = mem_grow(s->kind, sizeof(*s->kind), s->cap);
}

void slices_push(struct slices *s, const struct slice *slice)
{
    if (s->n == s->cap)
        slices_reserve(s, s->n + 1);
    size_t i = s->n++;
    s->begin[i] = slice->begin;
    s->dur[i] = slice->dur;
    s->lane[i] = slice->lane;
    s->name[i] = slice->name;
    s->set[i] = slice->set;
    s->own[i] = slice->own;
    s->kind[i] = (uint8_t)slice->kind;
}

void slices_free(struct slices *s)
{
    mem_free(s->begin);
    mem_free(s->dur);
    mem_free(s->lane);
    mem_free(s->name);
    mem_free(s->set);
    mem_free(s->own);
    mem_free(s->kind);
    *s = (struct slices){0};
}

static bool is_before(const struct slices *s, uint32_t a, uint32_t b)
{
    return s->begin[a] < s->begin[b] || (s->begin[a] == s->begin[b] && s->dur[a] > s->dur[b]);
}

static bool is_sorted(const struct slices *s, size_t first)
{
    for (size_t i = first + 1; i < s->n; i++)
        if (s->lane[i - 1] > s->lane[i] ||
            (s->lane[i - 1] == s->lane[i] && is_before(s, (uint32_t)i, (uint32_t)(i - 1))))
            return false;
    return true;
}

enum { SORT_BLOCK = 24 }; /* shorter parts are sorted by insertion */

/* Stable; `spare` has room for half of them. Parts that are in order already are not looked at
 * again, so nearly sorted lanes, which is what profilers write, cost one look at each slice. */
static void merge_sort(const struct slices *s, uint32_t *order, size_t n, uint32_t *spare)
{
    if (n <= SORT_BLOCK) {
        for (size_t i = 1; i < n; i++) {
            uint32_t moved = order[i];
            size_t k = i;
            for (; k > 0 && is_before(s, moved, order[k - 1]); k--)
                order[k] = order[k - 1];
            order[k] = moved;
        }
        return;
    }
    size_t half = n / 2, left = 0, right = half, to = 0;
    merge_sort(s, order, half, spare);
    merge_sort(s, order + half, n - half, spare);
    if (!is_before(s, order[half], order[half - 1]))
        return;
    while (to < half && !is_before(s, order[half], order[to]))
        to++;
    size_t n_left = half - to;
    memcpy(spare, order + to, n_left * sizeof(*order));
    while (left < n_left && right < n)
        order[to++] = is_before(s, order[right], spare[left]) ? order[right++] : spare[left++];
    memcpy(order + to, spare + left, (n_left - left) * sizeof(*order));
}

/* A part of the work that is shared out. */
struct sorting {
    struct slices *s;
    size_t first, n;
    uint32_t *order;
    size_t *end; /* of each lane, in `order` */
    const void *from;
    void *to;
    size_t width; /* of an entry of the column at hand, in bytes */
};

static void sort_lane(void *ctx, size_t lane)
{
    const struct sorting *w = ctx;
    size_t from = lane > 0 ? w->end[lane - 1] : 0, n = w->end[lane] - from;

    if (n < 2)
        return;
    uint32_t *spare = mem_grow(NULL, sizeof(*spare), n / 2 + 1);
    merge_sort(w->s, w->order + from, n, spare);
    mem_free(spare);
}

/* Finds the order that the slices from `first` on are to have: by lane, then by time. */
static void find_order(struct sorting *w, struct pool *pool)
{
    const struct slices *s = w->s;
    lane_id top = 0;
    size_t sum = 0;

    for (size_t i = w->first; i < s->n; i++)
        top = s->lane[i] > top ? s->lane[i] : top;
    w->end = mem_grow(NULL, sizeof(*w->end), (size_t)top + 1);
    memset(w->end, 0, sizeof(*w->end) * ((size_t)top + 1));
    for (size_t i = w->first; i < s->n; i++)
        w->end[s->lane[i]]++;
    for (size_t lane = 0; lane <= top; lane++) {
        size_t count = w->end[lane];
        w->end[lane] = sum;
        sum += count;
    }
    w->order = mem_grow(NULL, sizeof(*w->order), w->n);
    for (size_t i = w->first; i < s->n; i++)
        w->order[w->end[s->lane[i]]++] = (uint32_t)i;
    pool_for(pool, (size_t)top + 1, sort_lane, w);
    mem_free(w->end);
}

enum { RANGE = 1 << 16 }; /* rows that one thread takes at a time */

/* Fetches a range of a column in its new order. */
static void fetch(void *ctx, size_t range)
{
    const struct sorting *w = ctx;
    size_t i = range * RANGE, end = w->n - i < RANGE ? w->n : i + RANGE;

    if (w->width == sizeof(nanos))
        for (nanos *to = w->to; i < end; i++)
            to[i] = ((const nanos *)w->from)[w->order[i]];
    else if (w->width == sizeof(uint32_t))
        for (uint32_t *to = w->to; i < end; i++)
            to[i] = ((const uint32_t *)w->from)[w->order[i]];
    else
        for (uint8_t *to = w->to; i < end; i++)
            to[i] = ((const uint8_t *)w->from)[w->order[i]];
}

/* Puts a range of it in place. */
static void put_back(void *ctx, size_t range)
{
    const struct sorting *w = ctx;
    size_t i = range * RANGE, n = w->n - i < RANGE ? w->n - i : RANGE;

    memcpy((char *)w->to + i * w->width, (const char *)w->from + i * w->width, n * w->width);
}

static void slices_share(struct sorting *w, struct pool *pool, void (*fn)(void *ctx, size_t range),
                         const void *from, void *to, size_t width)
{
    w->from = from;
    w->to = to;
    w->width = width;
    pool_for(pool, (w->n + RANGE - 1) / RANGE, fn, w);
}

/* The columns are taken one by one through a single spare one: memory that is touched for the
 * first time costs more than anything else here. Columns of eight bytes change places with it. */
static void apply_order(struct sorting *w, struct pool *pool)
{
    struct slices *s = w->s;
    nanos *spare = mem_grow(NULL, sizeof(*spare), s->cap);
    nanos **wide[] = {&s->begin, &s->dur};
    uint32_t *narrow[] = {s->lane, s->name, s->set, s->own};

    for (size_t c = 0; c < ARRAY_LEN(wide); c++) {
        nanos *column = *wide[c];
        memcpy(spare, column, w->first * sizeof(*spare));
        slices_share(w, pool, fetch, column, spare + w->first, sizeof(*spare));
        *wide[c] = spare;
        spare = column;
    }
    for (size_t c = 0; c < ARRAY_LEN(narrow); c++) {
        slices_share(w, pool, fetch, narrow[c], spare, sizeof(*narrow[c]));
        slices_share(w, pool, put_back, spare, narrow[c] + w->first, sizeof(*narrow[c]));
    }
    slices_share(w, pool, fetch, s->kind, spare, sizeof(*s->kind));
    slices_share(w, pool, put_back, spare, s->kind + w->first, sizeof(*s->kind));
    mem_free(spare);
}

static uint32_t *sort(struct slices *s, size_t first, struct pool *pool, bool tell)
{
    struct sorting w = {.s = s, .first = first, .n = s->n - first};
    uint32_t *place = NULL;

    if (first >= s->n || is_sorted(s, first))
        return NULL;
    find_order(&w, pool);
    if (tell) {
        place = mem_grow(NULL, sizeof(*place), s->n);
        for (size_t i = 0; i < s->n; i++)
            place[w.order[i]] = (uint32_t)i;
    }
    apply_order(&w, pool);
    mem_free(w.order);
    return place;
}

void slices_sort_from(struct slices *s, size_t first, struct pool *pool)
{
    sort(s, first, pool, false);
}

uint32_t *slices_sort(struct slices *s, bool tell)
{
    return sort(s, 0, NULL, tell);
}
