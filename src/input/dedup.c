/* Kernels that are told twice, halves of collectives, twins of fused operators. */
#include "input/dedup.h"

#include <stdlib.h>

#include "base/text/char.h"

/* ---- removing slices ---- */

void dedup_drop(struct capture *cap, const uint32_t *keep)
{
    struct slices *s = &cap->slices;
    uint32_t *place = mem_grow(NULL, sizeof(*place), s->n > 0 ? s->n : 1);
    size_t n = 0, flows = 0;

    for (size_t i = 0; i < s->n; i++)
        if (keep[i] == i) {
            slices_move(s, n, i);
            place[i] = (uint32_t)n++;
        }
    for (size_t i = 0; i < s->n; i++)
        if (keep[i] != i)
            place[i] = keep[i] == UINT32_MAX ? UINT32_MAX : place[keep[i]];
    for (size_t i = 0; i < cap->flows.n; i++) {
        struct flow f = cap->flows.at[i];
        f.from = place[f.from];
        f.to = place[f.to];
        if (f.from != UINT32_MAX && f.to != UINT32_MAX)
            cap->flows.at[flows++] = f;
    }
    cap->flows.n = flows;
    s->n = n;
    mem_free(place);
}

/* ---- one collective in two rows ---- */

/* A row of a collective; rows with equal device, time and key are one collective. */
struct row {
    int32_t device;
    nanos us; /* begin, in whole microseconds */
    strid key;
    uint32_t slice;
};

struct dedup_rows {
    VEC_OF(struct row) list;
    struct intern keys;
    struct hash known; /* the keys of attribute sets that have a type */
};

static strid lower_key(struct dedup_rows *rows, struct str text)
{
    char lower[256];

    if (text.n > sizeof(lower))
        return intern_put(&rows->keys, text);
    for (size_t i = 0; i < text.n; i++)
        lower[i] = char_lower(text.at[i]);
    return intern_put(&rows->keys, (struct str){lower, text.n});
}

/* The type, or else the name, in lower case. The type is in the set, of which there are few. */
static strid dedup_key_of(struct dedup_rows *rows, const struct capture *cap, uint32_t slice)
{
    attr_run set = cap->slices.set[slice];
    uint32_t key;

    if (hash_get(&rows->known, set, &key))
        return key;
    struct str type = capture_slice_text(cap, slice, KEY_TYPE);
    if (type.n == 0)
        return lower_key(rows, capture_text(cap, cap->slices.name[slice]));
    key = lower_key(rows, type);
    if (attrs_get(&cap->attrs, set, capture_key(cap, KEY_TYPE)).type == ATTR_TEXT)
        hash_put(&rows->known, set, key);
    return key;
}

static int32_t dedup_device_of(const struct capture *cap, uint32_t slice)
{
    return cap->lanes.at[cap->slices.lane[slice]].key.device;
}

ORDER_BY(by_key, struct row,
         ORDER(x->device, y->device) ?: ORDER(x->us, y->us) ?: ORDER(x->key, y->key)
         ?: ORDER(x->slice, y->slice));

static bool is_real_stream(const struct capture *cap, uint32_t slice)
{
    const struct lane_key *key = &cap->lanes.at[cap->slices.lane[slice]].key;

    return key->kind == LANE_STREAM && !str_equal(capture_text(cap, key->name), S("N/A"));
}

static nanos wait_of(const struct capture *cap, uint32_t slice)
{
    struct attr wait = capture_slice_attr(cap, slice, KEY_WAIT);

    return wait.type == ATTR_TIME ? wait.time : -1;
}

/* The rows [from, to) are one collective: the one on a real stream stays, with the largest
 * duration. The row that came first in time knows the wait; its double follows at once. */
static void dedup_join(struct capture *cap, const struct row *rows, size_t n, uint32_t *keep)
{
    uint32_t stays = rows[0].slice, waits = stays;
    nanos longest = 0;

    for (size_t i = 0; i < n; i++) {
        if (!is_real_stream(cap, stays) && is_real_stream(cap, rows[i].slice))
            stays = rows[i].slice;
        if (wait_of(cap, rows[i].slice) > wait_of(cap, waits))
            waits = rows[i].slice;
        if (cap->slices.dur[rows[i].slice] > longest)
            longest = cap->slices.dur[rows[i].slice];
    }
    cap->slices.dur[stays] = longest;
    cap->slices.own[stays] = cap->slices.own[waits];
    for (size_t i = 0; i < n; i++)
        keep[rows[i].slice] = stays;
}

static size_t join_doubles(struct capture *cap)
{
    struct slices *s = &cap->slices;
    struct dedup_rows rows = {0};
    uint32_t *keep = NULL;
    size_t joined = 0;

    intern_init(&rows.keys);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->kind[i] != SLICE_COMM)
            continue;
        nanos us = s->begin[i] / 1000 - (s->begin[i] % 1000 < 0);
        vec_push(&rows.list,
                 ((struct row){dedup_device_of(cap, i), us, dedup_key_of(&rows, cap, i), i}));
    }
    if (rows.list.n > 1)
        qsort(rows.list.at, rows.list.n, sizeof(*rows.list.at), by_key);
    for (size_t i = 0, end; i < rows.list.n; i = end) {
        const struct row *a = &rows.list.at[i];
        for (end = i + 1; end < rows.list.n; end++) {
            const struct row *b = &rows.list.at[end];
            if (a->device != b->device || a->us != b->us || a->key != b->key)
                break;
        }
        if (end - i == 1)
            continue;
        if (keep == NULL) {
            keep = mem_grow(NULL, sizeof(*keep), s->n);
            for (uint32_t k = 0; k < s->n; k++)
                keep[k] = k;
        }
        dedup_join(cap, a, end - i, keep);
        joined += end - i - 1;
    }
    if (keep != NULL)
        dedup_drop(cap, keep);
    mem_free(keep);
    vec_free(&rows.list);
    hash_free(&rows.known);
    intern_fini(&rows.keys);
    return joined;
}

/* ---- device halves ---- */

struct parent {
    int32_t device;
    nanos begin, end;
};

/* Collectives by (device, begin). latest[i] is the latest end of those of the same device up to i;
 * longest is a tree of maxima over their durations: node i has the children 2i and 2i + 1. */
struct parents {
    VEC_OF(struct parent) list;
    nanos *latest, *longest;
};

ORDER_BY(by_begin, struct parent,
         ORDER(x->device, y->device) ?: ORDER(x->begin, y->begin) ?: ORDER(x->end, y->end));

static nanos later(nanos a, nanos b)
{
    return a > b ? a : b;
}

static void index_parents(struct parents *p)
{
    size_t n = p->list.n;

    qsort(p->list.at, n, sizeof(*p->list.at), by_begin);
    p->latest = mem_grow(NULL, sizeof(nanos), n);
    p->longest = mem_grow(NULL, sizeof(nanos), 2 * n);
    for (size_t i = 0; i < n; i++) {
        const struct parent *at = &p->list.at[i];
        bool is_first = i == 0 || at[-1].device != at->device;
        p->latest[i] = is_first ? at->end : later(p->latest[i - 1], at->end);
        p->longest[n + i] = nanos_sub(at->end, at->begin);
    }
    for (size_t i = n; i-- > 1;)
        p->longest[i] = later(p->longest[2 * i], p->longest[2 * i + 1]);
}

/* Number of parents that come before (device, begin), `begin` included. */
static size_t parents_until(const struct parents *p, int32_t device, nanos begin)
{
    const struct parent *at = p->list.at;
    size_t n;

    vec_bisect(n, p->list.n, i,
               at[i].device < device || (at[i].device == device && at[i].begin <= begin));
    return n;
}

/*
 * Whether at least 90 % of [begin, begin + dur) lies inside one parent: one that begins before and
 * lasts until 90 % are over, or one that begins within the first 10 % and is at least 90 % long.
 */
static bool has_parent(const struct parents *p, int32_t device, nanos begin, nanos dur)
{
    nanos most = dur - dur / 10;
    size_t before = parents_until(p, device, begin);
    size_t until = parents_until(p, device, nanos_add(begin, dur - most));

    if (before > 0 && p->list.at[before - 1].device == device &&
        p->latest[before - 1] >= nanos_add(begin, most))
        return true;
    nanos longest = -1; /* duration of the parents from `before` to `until` */
    for (before += p->list.n, until += p->list.n; before < until; before /= 2, until /= 2) {
        if (before & 1)
            longest = later(longest, p->longest[before++]);
        if (until & 1)
            longest = later(longest, p->longest[--until]);
    }
    return longest >= most;
}

/* Halves without a whole count as communication of their own. */
static void free_lone_halves(struct capture *cap)
{
    struct slices *s = &cap->slices;
    struct parents p = {0};
    size_t halves = 0;

    for (size_t i = 0; i < s->n; i++)
        halves += s->kind[i] == SLICE_COMM_PART;
    if (halves == 0)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->kind[i] == SLICE_COMM &&
            str_starts_nocase(capture_text(cap, cap->slices.name[i]), S("hcom_")))
            vec_push(&p.list,
                     ((struct parent){dedup_device_of(cap, i), s->begin[i], slices_end(s, i)}));
    if (p.list.n > 0)
        index_parents(&p);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->kind[i] == SLICE_COMM_PART &&
            (p.list.n == 0 || !has_parent(&p, dedup_device_of(cap, i), s->begin[i], s->dur[i])))
            s->kind[i] = SLICE_COMM;
    vec_free(&p.list);
    mem_free(p.latest);
    mem_free(p.longest);
}

/* ---- twins of fused operators ---- */

static bool cut_aicpu(struct str *text)
{
    size_t n = strlen("aicpu");

    if (text->n <= n || !str_equal_nocase(str_part(*text, text->n - n, n), S("aicpu")))
        return false;
    text->n -= n;
    return true;
}

static bool is_known(const struct hash *known, strid id)
{
    uint32_t value;

    return id != 0 && hash_get(known, id, &value);
}

/* "MatmulAllReduceAicpu" beside a "MatmulAllReduce" that computes is its communication. */
static void name_twins(struct capture *cap)
{
    struct slices *s = &cap->slices;
    struct hash known = {0};
    bool has_twins = false;

    for (uint32_t i = 0; i < s->n; i++) {
        if (s->kind[i] == SLICE_AICPU) {
            struct str name = capture_text(cap, s->name[i]);
            struct str type = capture_slice_text(cap, i, KEY_TYPE);
            has_twins = has_twins || cut_aicpu(&name) || cut_aicpu(&type);
        }
    }
    for (uint32_t i = 0; i < s->n && has_twins; i++)
        if (s->kind[i] == SLICE_COMPUTE) {
            struct attr type = capture_slice_attr(cap, i, KEY_TYPE);
            hash_put(&known, s->name[i], 1);
            if (type.type == ATTR_TEXT)
                hash_put(&known, type.text, 1);
        }
    for (uint32_t i = 0; i < s->n && has_twins; i++) {
        if (s->kind[i] != SLICE_AICPU)
            continue;
        struct str name = capture_text(cap, s->name[i]);
        struct str type = capture_slice_text(cap, i, KEY_TYPE);
        if ((cut_aicpu(&name) && is_known(&known, intern_find(&cap->strings, name))) ||
            (cut_aicpu(&type) && is_known(&known, intern_find(&cap->strings, type))))
            s->kind[i] = SLICE_COMM;
    }
    hash_free(&known);
}

size_t dedup_kernels(struct capture *cap)
{
    const struct slices *s = &cap->slices;
    bool is_ascend = capture_is_ascend(cap); /* tables of kernels have no copies there */

    cap->kernels_read = 0;
    for (size_t i = 0; i < s->n; i++)
        cap->kernels_read += slice_is_kernel((enum slice_kind)s->kind[i]) &&
                             !(is_ascend && s->kind[i] == SLICE_COPY);
    name_twins(cap);
    /* Records of a GPU are one a kernel: two that begin at once are two. */
    size_t joined = capture_is_ascend(cap) ? join_doubles(cap) : 0;
    free_lone_halves(cap);
    return joined;
}
