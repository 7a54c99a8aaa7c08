/*
 * Packs the items of a set, chunk by chunk, side by side.
 */
#include "page/page_encode.h"

#include "base/formats/json_write.h"
#include "base/run/pool.h"
#include "base/tables/radix.h"
#include "base/text/inert.h"
#include "page/page_data.h"

enum {
    SLICE_COLUMNS = 15,
    COLUMN_GAP = 0,
    COLUMN_DUR,
    COLUMN_WHAT,
    COLUMN_STEP,
    COLUMN_WAIT,
    COLUMN_MORE,
    COLUMN_SLACK,
    COLUMN_FAMILY,
    ARROW_COLUMNS = 3,
    GAP_COLUMNS = 11,
    MANY = 3000000, /* slices of a capture that are packed fast */
    SAMPLE = 16,    /* every so many chunks are packed for an estimate */
};

/* Numbers of one chunk, column by column. */
struct encoder {
    uint64_t *columns[PAGE_COLUMNS];
    struct page_columns view;
};

static void encoder_init(struct encoder *d, size_t columns, size_t n)
{
    *d = (struct encoder){.view = {.n = n, .columns = columns}};
    uint64_t *all = mem_grow(NULL, sizeof(*all), columns * n + 1);
    for (size_t c = 0; c < columns; c++)
        d->columns[c] = all + c * n;
}

static void encoder_use(struct encoder *d, size_t column)
{
    d->view.at[column] = d->columns[column];
}

/* What is packed: chunks and their bytes, in order. */
struct packing {
    const struct page_set *set;
    struct page_chunk *chunks;
    size_t *from; /* first item of each chunk in its lane or list */
    struct text *packed;
    size_t n, stride;
    const void *list; /* of arrows or gaps */
};

static void packing_free(struct packing *j)
{
    for (size_t i = 0; i < j->n; i++)
        text_free(&j->packed[i]);
    mem_free(j->chunks);
    mem_free(j->from);
    mem_free(j->packed);
}

static void packing_init(struct packing *j, const struct page_set *set, size_t room)
{
    *j = (struct packing){.set = set, .stride = 1};
    j->chunks = mem_grow(NULL, sizeof(*j->chunks), room + 1);
    j->from = mem_grow(NULL, sizeof(*j->from), room + 1);
    j->packed = mem_grow(NULL, sizeof(*j->packed), room + 1);
    memset(j->packed, 0, (room + 1) * sizeof(*j->packed));
}

static void cut(struct packing *j, uint32_t lane, size_t n)
{
    for (size_t from = 0; from < n; from += PAGE_CHUNK) {
        j->chunks[j->n] =
            (struct page_chunk){.lane = lane, .n = n - from < PAGE_CHUNK ? n - from : PAGE_CHUNK};
        j->from[j->n++] = from;
    }
}

static void packing_finish(struct packing *j, struct page_pack *pack, struct page_chunks *out,
                           size_t columns)
{
    out->columns = columns;
    out->at.n = 0;
    for (size_t i = 0; i < j->n; i++) {
        j->chunks[i].place = page_pack_add(pack, text_view(&j->packed[i]));
        vec_push(&out->at, j->chunks[i]);
    }
    packing_free(j);
}

/* ---- slices ---- */

struct item {
    nanos begin, dur;
    uint32_t what, step;
};

/* Item number `i` of a lane, a slice or a bundle. */
static struct item item_at(const struct page_set *set, const struct page_lane *lane,
                           const struct page_items *items, size_t i)
{
    if (lane->is_merged)
        return (struct item){items->begin[i], items->dur[i], items->what[i], items->step[i]};
    size_t slice = set->cap->lanes.at[lane->lane].first + i;
    nanos begin = page_time(set, set->cap->slices.begin[slice]);
    nanos end = page_time(set, slices_end(&set->cap->slices, slice));
    return (struct item){begin, end > begin ? end - begin : 0, set->what[slice], set->step[slice]};
}

static void fill_waits(struct encoder *d, const struct page_set *set, const struct page_lane *lane,
                       size_t from)
{
    size_t slice = set->cap->lanes.at[lane->lane].first + from;

    if (lane->is_merged || set->cap->lanes.at[lane->lane].key.kind != LANE_STREAM)
        return;
    for (size_t i = 0; i < d->view.n; i++) {
        struct attr a = attrs_get(&set->cap->attrs, set->cap->slices.own[slice + i],
                                  capture_key(set->cap, KEY_WAIT));
        d->columns[COLUMN_WAIT][i] = a.type == ATTR_TIME && a.time > 0 ? (uint64_t)a.time : 0;
    }
    encoder_use(d, COLUMN_WAIT);
}

static void fill_bundles(struct encoder *d, const struct page_set *set,
                         const struct page_items *items, size_t from)
{
    for (size_t i = 0; i < d->view.n; i++) {
        d->columns[COLUMN_MORE][i] = items->more[from + i];
        d->columns[COLUMN_SLACK][i] = (uint64_t)items->slack[from + i];
    }
    encoder_use(d, COLUMN_MORE);
    encoder_use(d, COLUMN_SLACK);
    /* Busy time of the families that a bundle is not named after. */
    size_t at;
    vec_bisect(at, items->mixes.n, i, items->mixes.at[i].item < from);
    if (at == items->mixes.n || items->mixes.at[at].item >= from + d->view.n)
        return;
    for (size_t f = 0; f < PAGE_FAMILIES; f++) {
        memset(d->columns[COLUMN_FAMILY + f], 0, d->view.n * sizeof(uint64_t));
        encoder_use(d, COLUMN_FAMILY + f);
    }
    for (; at < items->mixes.n && items->mixes.at[at].item < from + d->view.n; at++) {
        const struct page_mix *mix = &items->mixes.at[at];
        for (size_t f = 0; f < PAGE_FAMILIES; f++)
            if (f != set->whats.at[items->what[mix->item]].family)
                d->columns[COLUMN_FAMILY + f][mix->item - from] = (uint64_t)mix->by[f];
    }
}

/* Differences to the slice before: most are small, and zero bytes pack well. */
static void pack_slices(void *ctx, size_t i)
{
    struct packing *j = ctx;
    struct page_chunk *chunk = &j->chunks[i * j->stride];
    size_t from = j->from[i * j->stride];
    const struct page_lane *lane = &j->set->lanes.at[chunk->lane];
    const struct page_items *items = &j->set->items[chunk->lane];
    uint32_t step = 0;
    struct encoder d;

    encoder_init(&d, SLICE_COLUMNS, chunk->n);
    d.view.is_fast = j->set->n_slices >= MANY;
    chunk->first = chunk->end = item_at(j->set, lane, items, from).begin;
    for (size_t k = 0; k < chunk->n; k++) {
        struct item it = item_at(j->set, lane, items, from + k);
        d.columns[COLUMN_GAP][k] = page_zigzag(it.begin - chunk->end);
        d.columns[COLUMN_DUR][k] = (uint64_t)it.dur;
        d.columns[COLUMN_WHAT][k] = it.what;
        d.columns[COLUMN_STEP][k] = page_zigzag((int64_t)it.step - step);
        chunk->end = it.begin + it.dur;
        step = it.step;
    }
    for (size_t c = COLUMN_GAP; c <= COLUMN_STEP; c++)
        encoder_use(&d, c);
    fill_waits(&d, j->set, lane, from);
    if (lane->is_merged)
        fill_bundles(&d, j->set, items, from);
    page_deflate_columns(&d.view, chunk->widths, &j->packed[i * j->stride]);
    mem_free(d.columns[0]);
}

static void cut_slices(struct packing *j, const struct page_set *set)
{
    size_t room = 0;

    for (size_t i = 0; i < set->lanes.n; i++)
        room += set->lanes.at[i].n / PAGE_CHUNK + 1;
    packing_init(j, set, room);
    for (size_t i = 0; i < set->lanes.n; i++)
        cut(j, (uint32_t)i, set->lanes.at[i].n);
}

double page_encode_estimate(const struct page_set *set)
{
    struct packing j;
    double bytes = 0, items = 0;

    cut_slices(&j, set);
    j.stride = j.n > 4 * SAMPLE ? SAMPLE : 1;
    size_t n = (j.n + j.stride - 1) / j.stride;
    pool_for(set->pool, n, pack_slices, &j);
    for (size_t i = 0; i < n; i++) {
        bytes += (double)j.packed[i * j.stride].n;
        items += (double)j.chunks[i * j.stride].n;
    }
    packing_free(&j);
    return items > 0 ? bytes / items * (double)set->n_items * 4 / 3 : 0;
}

/* ---- arrows ---- */

struct arrow {
    uint64_t to, from;
    uint32_t kind;
};

static void pack_arrows(void *ctx, size_t i)
{
    struct packing *j = ctx;
    struct page_chunk *chunk = &j->chunks[i];
    const struct arrow *at = (const struct arrow *)j->list + j->from[i];
    uint64_t to = 0, from = 0;
    struct encoder d;

    encoder_init(&d, ARROW_COLUMNS, chunk->n);
    for (size_t k = 0; k < chunk->n; k++) {
        d.columns[0][k] = at[k].to - to;
        d.columns[1][k] = page_zigzag((int64_t)(at[k].from - from));
        d.columns[2][k] = at[k].kind;
        to = at[k].to;
        from = at[k].from;
    }
    for (size_t c = 0; c < ARROW_COLUMNS; c++)
        encoder_use(&d, c);
    page_deflate_columns(&d.view, chunk->widths, &j->packed[i]);
    mem_free(d.columns[0]);
}

/* Arrows between items, by target; doubles that bundles made are joined. */
static struct arrow *find_arrows(const struct page_set *set, size_t *count)
{
    const struct capture *cap = set->cap;
    struct radix_item *order = mem_grow(NULL, sizeof(*order), cap->flows.n * 2 + 1);
    struct arrow *out = mem_grow(NULL, sizeof(*out), cap->flows.n + 1);
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < cap->flows.n; i++) {
        uint64_t to = page_item(set, cap->flows.at[i].to);
        if (to > 0 && page_item(set, cap->flows.at[i].from) > 0)
            order[n++] = (struct radix_item){to, (uint32_t)i};
    }
    radix_sort(order, order + n, n);
    for (size_t i = 0; i < n; i++) {
        const struct flow *f = &cap->flows.at[order[i].value];
        struct arrow a = {order[i].key - 1, page_item(set, f->from) - 1, f->kind};
        const struct arrow *last = kept > 0 ? &out[kept - 1] : NULL;
        if (last == NULL || last->to != a.to || last->from != a.from || last->kind != a.kind)
            out[kept++] = a;
    }
    mem_free(order);
    *count = kept;
    return out;
}

static void encode_arrows(struct page_set *set, struct page_pack *pack)
{
    size_t n;
    struct arrow *arrows = find_arrows(set, &n);
    struct packing j;

    packing_init(&j, set, n / PAGE_CHUNK + 1);
    j.list = arrows;
    cut(&j, 0, n);
    pool_for(set->pool, j.n, pack_arrows, &j);
    packing_finish(&j, pack, &set->arrows, ARROW_COLUMNS);
    mem_free(arrows);
}

/* ---- gaps ---- */

static void pack_gaps(void *ctx, size_t i)
{
    struct packing *j = ctx;
    const struct page_set *set = j->set;
    struct page_chunk *chunk = &j->chunks[i];
    const struct idle_piece *const *at = (const struct idle_piece *const *)j->list + j->from[i];
    uint64_t last[5] = {0};
    uint32_t step = 0, gap = 0;
    struct encoder d;

    encoder_init(&d, GAP_COLUMNS, chunk->n);
    chunk->first = chunk->end = page_time(set, at[0]->at.begin);
    for (size_t k = 0; k < chunk->n; k++) {
        const struct idle_piece *p = at[k];
        nanos begin = page_time(set, p->at.begin), end = page_time(set, p->at.end);
        const uint32_t slices[5] = {set->a->tasks.at[p->task].slice, p->launch, p->filled_by,
                                    p->enabled_by, p->waits_for};
        d.columns[0][k] = page_zigzag(begin - chunk->end);
        d.columns[1][k] = (uint64_t)(end - begin);
        d.columns[2][k] = p->cause;
        d.columns[3][k] = page_zigzag((int64_t)p->step + 1 - step);
        d.columns[4][k] = page_zigzag((int64_t)p->gap - gap);
        d.columns[5][k] = p->state;
        for (size_t c = 0; c < 5; c++) {
            uint64_t item = page_item(set, slices[c]);
            d.columns[6 + c][k] = page_zigzag((int64_t)(item - last[c]));
            last[c] = item;
        }
        chunk->end = end;
        step = p->step + 1;
        gap = p->gap;
    }
    for (size_t c = 0; c < GAP_COLUMNS; c++)
        encoder_use(&d, c);
    page_deflate_columns(&d.view, chunk->widths, &j->packed[i]);
    mem_free(d.columns[0]);
}

static void encode_gaps(struct page_set *set, struct page_pack *pack)
{
    const struct idle_piece **kept =
        mem_grow(NULL, sizeof(struct idle_piece *), set->a->pieces.n + 1);
    size_t n = 0;
    struct packing j;

    for (size_t i = 0; i < set->a->pieces.n; i++) {
        const struct idle_piece *p = &set->a->pieces.at[i];
        if (p->at.end - p->at.begin >= set->least_gap)
            kept[n++] = p;
    }
    packing_init(&j, set, n / PAGE_CHUNK + 1);
    j.list = kept;
    cut(&j, 0, n);
    pool_for(set->pool, j.n, pack_gaps, &j);
    packing_finish(&j, pack, &set->gaps, GAP_COLUMNS);
    mem_free(kept);
}

/* ---- dictionary ---- */

struct texts {
    const struct page_set *set;
    struct hash known;
    struct json_writer *w;
    uint32_t n;
};

static uint32_t text_number(struct texts *t, strid id, bool is_name)
{
    uint32_t n = id == 0 ? 0 : hash_add(&t->known, id, t->n);

    if (id != 0 && n == t->n) {
        t->n++;
        json_write_string(t->w, is_name ? page_name(t->set, capture_text(t->set->cap, id))
                                        : page_shape(t->set, id));
    }
    return n;
}

static void write_dictionary(const struct page_set *set, struct text *out)
{
    uint32_t *columns = mem_grow(NULL, sizeof(*columns), 5 * (set->whats.n + 1));
    uint32_t *column[5];
    static void (*const begin[5])(struct json_writer * w) = {
        page_put_dictionary_name, page_put_dictionary_family, page_put_dictionary_kind,
        page_put_dictionary_shapes, page_put_dictionary_types};
    struct json_writer w;
    struct texts texts = {.set = set, .w = &w, .n = 1};

    for (size_t c = 0; c < 5; c++)
        column[c] = columns + c * set->whats.n;
    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    page_put_dictionary_texts(&w);
    json_write_string(&w, S(""));
    for (size_t i = 0; i < set->whats.n; i++) {
        const struct page_what *what = &set->whats.at[i];
        column[0][i] = text_number(&texts, what->name, true);
        column[1][i] = what->family;
        column[2][i] = what->kind;
        column[3][i] = text_number(&texts, what->shapes, false);
        column[4][i] = text_number(&texts, what->types, false);
    }
    json_write_end(&w);
    for (size_t c = 0; c < 5; c++) {
        begin[c](&w);
        for (size_t i = 0; i < set->whats.n; i++)
            json_write_u64(&w, column[c][i]);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
    hash_free(&texts.known);
    mem_free(columns);
}

void page_encode(struct page_set *set, struct page_pack *pack)
{
    struct packing j;
    struct text plain = {0}, packed = {0};

    write_dictionary(set, &plain);
    page_deflate(text_view(&plain), &packed);
    set->dictionary = page_pack_add(pack, text_view(&packed));
    set->dictionary_size = plain.n;
    text_free(&plain);
    text_free(&packed);
    cut_slices(&j, set);
    pool_for(set->pool, j.n, pack_slices, &j);
    packing_finish(&j, pack, &set->slices, SLICE_COLUMNS);
    encode_arrows(set, pack);
    encode_gaps(set, pack);
}

/* ---- overview ---- */

static void add_share(double *buckets, double width, nanos begin, nanos end)
{
    size_t at = (size_t)((double)begin / width);

    for (; at < PAGE_BUCKETS && (double)at * width < (double)end; at++) {
        double from = (double)at * width, to = from + width;
        from = (double)begin > from ? (double)begin : from;
        to = (double)end < to ? (double)end : to;
        buckets[at] += to > from ? (to - from) / width : 0;
    }
}

/* What is on top in a lane: slices that no other one holds. */
static void overview_of(const struct page_set *set, size_t lane_at, struct text *out)
{
    const struct page_lane *lane = &set->lanes.at[lane_at];
    double shares[PAGE_FAMILIES][PAGE_BUCKETS] = {{0}};
    double width = (double)(set->to > 0 ? set->to : 1) / PAGE_BUCKETS;
    enum lane_kind kind = set->cap->lanes.at[lane->lane].key.kind;
    nanos busy_to = 0;

    for (size_t i = 0; i < lane->n; i++) {
        struct item it = item_at(set, lane, &set->items[lane_at], i);
        nanos from = it.begin > busy_to ? it.begin : busy_to, end = it.begin + it.dur;
        const struct page_what *what = &set->whats.at[it.what];
        if (!page_is_busy(kind, what->kind) || end <= from)
            continue;
        add_share(shares[what->family], width, from, end);
        busy_to = end;
    }
    for (size_t f = 0; f < PAGE_FAMILIES; f++)
        for (size_t b = 0; b < PAGE_BUCKETS; b++)
            text_char(out,
                      (char)(unsigned char)(shares[f][b] > 1 ? 255 : shares[f][b] * 255 + 0.5));
}

int page_lane_shares(const struct page_set *set, size_t lane_at, double busy[PAGE_BUCKETS],
                     double waits[PAGE_BUCKETS])
{
    const struct page_lane *lane = &set->lanes.at[lane_at];
    double width = (double)(set->to > 0 ? set->to : 1) / PAGE_BUCKETS;
    nanos by[PAGE_FAMILIES] = {0}, busy_to = 0;
    int most = 0;

    for (int i = 0; i < PAGE_BUCKETS; i++)
        busy[i] = waits[i] = 0;
    for (size_t i = 0; i < lane->n; i++) {
        struct item it = item_at(set, lane, &set->items[lane_at], i);
        const struct page_what *what = &set->whats.at[it.what];
        nanos from = it.begin > busy_to ? it.begin : busy_to, end = it.begin + it.dur;
        if (what->kind == SLICE_WAIT)
            add_share(waits, width, it.begin, end);
        if (what->kind == SLICE_WAIT || what->kind == SLICE_CONTROL || end <= from)
            continue;
        add_share(busy, width, from, end);
        by[what->family] += end - from;
        busy_to = end;
    }
    for (int f = 0; f < PAGE_FAMILIES; f++)
        most = by[f] > by[most] ? f : most;
    return most;
}

void page_overview(const struct page_set *set, struct text *out)
{
    for (size_t i = 0; i < set->lanes.n; i++)
        if (set->lanes.at[i].is_open)
            overview_of(set, i, out);
}
