#include "capture/slices.h"

#include "base/arena.h"

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

static void store(struct slices *s, size_t i, const struct slice *slice)
{
    s->begin[i] = slice->begin;
    s->dur[i] = slice->dur;
    s->lane[i] = slice->lane;
    s->name[i] = slice->name;
    s->set[i] = slice->set;
    s->own[i] = slice->own;
    s->kind[i] = (uint8_t)slice->kind;
}

void slices_push(struct slices *s, const struct slice *slice)
{
    if (s->n == s->cap)
        slices_reserve(s, s->n + 1);
    store(s, s->n++, slice);
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

static void insert_sort(const struct slices *s, uint32_t *order, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t moved = order[i];
        size_t k = i;
        for (; k > 0 && is_before(s, moved, order[k - 1]); k--)
            order[k] = order[k - 1];
        order[k] = moved;
    }
}

/* Stable; `spare` has room for half of them. Parts that are in order already are not moved, so
 * nearly sorted lanes, which is what profilers write, cost one look at each slice. */
static void merge_sort(const struct slices *s, uint32_t *order, size_t n, uint32_t *spare)
{
    if (n <= SORT_BLOCK) {
        insert_sort(s, order, n);
        return;
    }
    size_t half = n / 2, left = 0, right = half, to = 0;
    merge_sort(s, order, half, spare);
    merge_sort(s, order + half, n - half, spare);
    while (to < half && !is_before(s, order[half], order[to]))
        to++;
    size_t n_left = half - to;
    memcpy(spare, order + to, n_left * sizeof(*order));
    while (left < n_left && right < n)
        order[to++] = is_before(s, order[right], spare[left]) ? order[right++] : spare[left++];
    memcpy(order + to, spare + left, (n_left - left) * sizeof(*order));
}

/* The slices from `first` on in the order they are to have: by lane, then by time. */
static uint32_t *find_order(const struct slices *s, size_t first)
{
    size_t n = s->n - first;
    lane_id top = 0;
    uint32_t *order = mem_grow(NULL, sizeof(*order), n);

    for (size_t i = first; i < s->n; i++)
        top = s->lane[i] > top ? s->lane[i] : top;
    size_t *end = mem_grow(NULL, sizeof(*end), (size_t)top + 1);
    memset(end, 0, sizeof(*end) * ((size_t)top + 1));
    for (size_t i = first; i < s->n; i++)
        end[s->lane[i]]++;
    size_t sum = 0, longest = 0;
    for (size_t lane = 0; lane <= top; lane++) {
        size_t count = end[lane];
        longest = count > longest ? count : longest;
        end[lane] = sum;
        sum += count;
    }
    for (size_t i = first; i < s->n; i++)
        order[end[s->lane[i]]++] = (uint32_t)i;
    uint32_t *spare = mem_grow(NULL, sizeof(*spare), longest / 2 + 1);
    for (size_t lane = 0, from = 0; lane <= top; from = end[lane++])
        merge_sort(s, order + from, end[lane] - from, spare);
    mem_free(spare);
    mem_free(end);
    return order;
}

/* The columns are taken one by one through a single spare one: memory that is touched for the
 * first time costs more than anything else here. Columns of eight bytes change places with it. */
static void apply_order(struct slices *s, size_t first, const uint32_t *order)
{
    size_t n = s->n - first;
    nanos *spare = mem_grow(NULL, sizeof(*spare), s->cap);
    nanos **wide[] = {&s->begin, &s->dur};
    uint32_t **narrow[] = {&s->lane, &s->name, &s->set, &s->own};

    for (size_t c = 0; c < ARRAY_LEN(wide); c++) {
        nanos *column = *wide[c];
        memcpy(spare, column, first * sizeof(*spare));
        for (size_t i = 0; i < n; i++)
            spare[first + i] = column[order[i]];
        *wide[c] = spare;
        spare = column;
    }
    for (size_t c = 0; c < ARRAY_LEN(narrow); c++) {
        uint32_t *column = *narrow[c], *copy = (uint32_t *)spare;
        for (size_t i = 0; i < n; i++)
            copy[i] = column[order[i]];
        memcpy(column + first, copy, n * sizeof(*copy));
    }
    uint8_t *copy = (uint8_t *)spare;
    for (size_t i = 0; i < n; i++)
        copy[i] = s->kind[order[i]];
    memcpy(s->kind + first, copy, n);
    mem_free(spare);
}

void slices_sort_from(struct slices *s, size_t first)
{
    if (first >= s->n || is_sorted(s, first))
        return;
    uint32_t *order = find_order(s, first);
    apply_order(s, first, order);
    mem_free(order);
}

uint32_t *slices_sort(struct slices *s, bool tell)
{
    uint32_t *place = NULL;

    if (is_sorted(s, 0))
        return NULL;
    uint32_t *order = find_order(s, 0);
    if (tell) {
        place = mem_grow(NULL, sizeof(*place), s->n);
        for (size_t i = 0; i < s->n; i++)
            place[order[i]] = (uint32_t)i;
    }
    apply_order(s, 0, order);
    mem_free(order);
    return place;
}
