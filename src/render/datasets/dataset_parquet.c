/*
 * parquet: one row group a chunk, one data page a column. Whole numbers are packed as differences,
 * texts by a dictionary where it pays; pages are compressed where that pays.
 *
 * Format reference: docs/formats/tables.md
 */
#include <endian.h>

#include "base/files/zstd_pack.h"
#include "base/formats/thrift.h"
#include "base/tables/pack_ints.h"
#include "render/datasets/dataset.h"

static const struct str magic = S_INIT("PAR1");

/* Numbers of the format. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { CODEC_NONE = 0, CODEC_ZSTD = 6 };
enum { OPTIONAL = 1, CONVERTED_UTF8 = 0 };
static const int types[] = {[VALUES_INT] = 2, [VALUES_REAL] = 5, [VALUES_TEXT] = 6};

/* A row group that was written. */
struct written_group {
    uint64_t offset, rows;
    size_t first; /* of its columns in `parts` */
};

struct parquet_writer {
    struct sink to;
    struct dataset_layout layout;
    uint64_t offset, rows;
    VEC_OF(struct written_group) groups;
    VEC_OF(struct dataset_part) parts;
    bool has_failed;
};

/* ---- pages ---- */

static void put_u32(struct text *out, uint32_t value)
{
    value = htole32(value);
    text_put(out, (struct str){(const char *)&value, sizeof(value)});
}

static void parquet_put_text(struct text *out, struct str text)
{
    put_u32(out, (uint32_t)text.n);
    text_put(out, text);
}

/* Which rows have a value. */
static void put_levels(struct text *out, const struct column_data *c, struct dataset_piece *p)
{
    size_t before = out->n;

    vec_reserve(&p->places, c->n);
    for (size_t i = 0; i < c->n; i++)
        p->places.at[i] = column_has(c, i);
    put_u32(out, 0);
    pack_hybrid(out, p->places.at, c->n, 1);
    uint32_t size = htole32((uint32_t)(out->n - before - sizeof(size)));
    memcpy(out->at + before, &size, sizeof(size));
}

/* The values that are there, one after the other: numbers of eight bytes, or places of texts. */
static const void *present(const struct column_data *c, struct dataset_piece *p)
{
    bool is_text = c->type == VALUES_TEXT;
    size_t n = 0;

    if (c->nulls == 0)
        return c->values;
    vec_reserve(&p->numbers, c->n);
    vec_reserve(&p->places, c->n);
    for (size_t i = 0; i < c->n; i++) {
        if (!column_has(c, i))
            continue;
        if (is_text)
            p->places.at[n++] = c->places[i];
        else
            p->numbers.at[n++] = c->numbers[i];
    }
    return is_text ? (const void *)p->places.at : p->numbers.at;
}

static void put_numbers(struct text *out, const struct column_data *c, struct dataset_piece *p,
                        struct dataset_part *part)
{
    const int64_t *numbers = present(c, p);

    part->least = INT64_MAX;
    part->most = INT64_MIN;
    for (size_t i = 0; i < part->values; i++) {
        part->least = numbers[i] < part->least ? numbers[i] : part->least;
        part->most = numbers[i] > part->most ? numbers[i] : part->most;
    }
    pack_delta(out, numbers, part->values);
}

static void put_reals(struct text *out, const struct column_data *c, struct dataset_piece *p,
                      const struct dataset_part *part)
{
    const int64_t *bits = present(c, p);

    for (size_t i = 0; i < part->values; i++) {
        uint64_t word = htole64((uint64_t)bits[i]);
        text_put(out, (struct str){(const char *)&word, sizeof(word)});
    }
}

static void put_texts(struct text *out, const struct column_data *c, struct dataset_piece *p,
                      const struct dataset_part *part)
{
    const uint32_t *places = present(c, p);

    if (!part->is_dictionary) {
        for (size_t i = 0; i < part->values; i++)
            parquet_put_text(out, c->texts.at[places[i]]);
        return;
    }
    unsigned width = pack_width(c->texts.n - 1);
    text_char(out, (char)width);
    pack_hybrid(out, places, part->values, width);
}

/* Packs the page that is in `page` behind its header. */
static void put_page(struct dataset_piece *p, struct dataset_part *part, int type, int encoding,
                     size_t values)
{
    struct thrift t = {0};
    struct str body = text_view(&p->page);

    if (part->is_compressed) {
        text_clear(&p->frame);
        zstd_pack(&p->frame, body);
        body = text_view(&p->frame);
    }
    thrift_i32(&t, 1, type);
    thrift_i32(&t, 2, (int32_t)p->page.n);
    thrift_i32(&t, 3, (int32_t)body.n);
    thrift_struct(&t, type == PAGE_DATA ? 5 : 7);
    thrift_i32(&t, 1, (int32_t)values);
    thrift_i32(&t, 2, encoding);
    if (type == PAGE_DATA) {
        thrift_i32(&t, 3, ENCODING_RLE);
        thrift_i32(&t, 4, ENCODING_RLE);
    }
    thrift_end(&t);
    thrift_end(&t);
    text_put(&p->bytes, text_view(&t.out));
    text_put(&p->bytes, body);
    part->plain += t.out.n + p->page.n;
    text_free(&t.out);
}

static int encoding_of(enum column_kind type, const struct dataset_part *part)
{
    if (type == VALUES_INT)
        return ENCODING_DELTA;
    return part->is_dictionary ? ENCODING_DICTIONARY : ENCODING_PLAIN;
}

static void put_pages(struct dataset_piece *p, const struct column_data *c,
                      struct dataset_part *part)
{
    part->offset = p->bytes.n;
    part->plain = 0;
    if (part->is_dictionary) {
        text_clear(&p->page);
        for (size_t i = 0; i < c->texts.n; i++)
            parquet_put_text(&p->page, c->texts.at[i]);
        put_page(p, part, PAGE_DICTIONARY, ENCODING_PLAIN, c->texts.n);
    }
    part->dictionary = p->bytes.n - part->offset;
    text_clear(&p->page);
    put_levels(&p->page, c, p);
    if (c->type == VALUES_INT)
        put_numbers(&p->page, c, p, part);
    else if (c->type == VALUES_REAL)
        put_reals(&p->page, c, p, part);
    else
        put_texts(&p->page, c, p, part);
    put_page(p, part, PAGE_DATA, encoding_of(c->type, part), c->n);
    part->packed = p->bytes.n - part->offset;
}

/* A dictionary pays when a text comes twice on average. A chunk that compression makes larger is
 * written again without. */
static void parquet_pack(const struct dataset_layout *layout, const struct column_chunk *chunk,
                         struct dataset_piece *piece)
{
    text_clear(&piece->bytes);
    piece->parts.n = 0;
    for (size_t i = 0; i < layout->n; i++) {
        const struct column_data *c = &chunk->at[i];
        struct dataset_part part = {.values = c->n - c->nulls, .nulls = c->nulls};
        part.is_dictionary = c->type == VALUES_TEXT && part.values > 0 &&
                             (!layout->columns[i].is_open || c->texts.n <= part.values / 2 + 1);
        part.is_compressed = !layout->is_plain;
        put_pages(piece, c, &part);
        if (part.is_compressed && part.packed >= part.plain) {
            piece->bytes.n = part.offset;
            part.is_compressed = false;
            put_pages(piece, c, &part);
        }
        vec_push(&piece->parts, part);
    }
}

/* ---- the file ---- */

static void hand_on(struct parquet_writer *w, struct str bytes)
{
    w->offset += bytes.n;
    if (!w->has_failed)
        w->has_failed = !w->to.write(w->to.ctx, bytes);
}

static void *open_file(const struct dataset_layout *layout, struct sink out)
{
    struct parquet_writer *w = mem_grow(NULL, sizeof(*w), 1);

    *w = (struct parquet_writer){.to = out, .layout = *layout};
    hand_on(w, magic);
    return w;
}

static void parquet_append(void *writer, const struct column_chunk *chunk,
                           const struct dataset_piece *piece)
{
    struct parquet_writer *w = writer;

    vec_push(&w->groups, ((struct written_group){w->offset, columns_rows(chunk), w->parts.n}));
    for (size_t i = 0; i < piece->parts.n; i++)
        vec_push(&w->parts, piece->parts.at[i]);
    w->rows += columns_rows(chunk);
    hand_on(w, text_view(&piece->bytes));
}

static void put_schema(struct thrift *t, const struct dataset_layout *layout)
{
    thrift_list(t, 2, THRIFT_STRUCT, layout->n + 1);
    thrift_item(t);
    thrift_binary(t, 4, str_of(layout->table));
    thrift_i32(t, 5, (int32_t)layout->n);
    thrift_end(t);
    for (size_t i = 0; i < layout->n; i++) {
        const struct column_info *c = &layout->columns[i];
        thrift_item(t);
        thrift_i32(t, 1, types[c->type]);
        thrift_i32(t, 3, OPTIONAL);
        thrift_binary(t, 4, c->name);
        if (c->type == VALUES_TEXT) {
            thrift_i32(t, 6, CONVERTED_UTF8);
            thrift_struct(t, 10); /* a logical type: */
            thrift_struct(t, 1);  /* string */
            thrift_end(t);
            thrift_end(t);
        }
        thrift_end(t);
    }
}

static void put_statistics(struct thrift *t, enum column_kind type, const struct dataset_part *part)
{
    thrift_struct(t, 12);
    thrift_i64(t, 3, (int64_t)part->nulls);
    if (type == VALUES_INT && part->values > 0) {
        uint64_t most = htole64((uint64_t)part->most), least = htole64((uint64_t)part->least);
        thrift_binary(t, 5, (struct str){(const char *)&most, sizeof(most)});
        thrift_binary(t, 6, (struct str){(const char *)&least, sizeof(least)});
    }
    thrift_end(t);
}

static void put_chunk(struct thrift *t, const struct column_info *c, const struct dataset_part *p,
                      uint64_t group)
{
    int64_t offset = (int64_t)(group + p->offset);

    thrift_item(t);
    thrift_i64(t, 2, offset);
    thrift_struct(t, 3);
    thrift_i32(t, 1, types[c->type]);
    thrift_list(t, 2, THRIFT_I32, p->is_dictionary ? 3 : 2);
    thrift_item_int(t, ENCODING_RLE);
    thrift_item_int(t, encoding_of(c->type, p));
    if (p->is_dictionary)
        thrift_item_int(t, ENCODING_PLAIN);
    thrift_list(t, 3, THRIFT_BINARY, 1);
    thrift_item_binary(t, c->name);
    thrift_i32(t, 4, p->is_compressed ? CODEC_ZSTD : CODEC_NONE);
    thrift_i64(t, 5, (int64_t)(p->values + p->nulls));
    thrift_i64(t, 6, (int64_t)p->plain);
    thrift_i64(t, 7, (int64_t)p->packed);
    thrift_i64(t, 9, offset + (int64_t)p->dictionary);
    if (p->is_dictionary)
        thrift_i64(t, 11, offset);
    put_statistics(t, c->type, p);
    thrift_end(t);
    thrift_end(t);
}

static void put_group(struct thrift *t, const struct parquet_writer *w,
                      const struct written_group *group)
{
    const struct dataset_part *parts = &w->parts.at[group->first];
    int64_t plain = 0;

    thrift_item(t);
    thrift_list(t, 1, THRIFT_STRUCT, w->layout.n);
    for (size_t i = 0; i < w->layout.n; i++) {
        put_chunk(t, &w->layout.columns[i], &parts[i], group->offset);
        plain += (int64_t)parts[i].plain;
    }
    thrift_i64(t, 2, plain);
    thrift_i64(t, 3, (int64_t)group->rows);
    thrift_end(t);
}

static void put_footer(struct thrift *t, const struct parquet_writer *w)
{
    thrift_i32(t, 1, 2);
    put_schema(t, &w->layout);
    thrift_i64(t, 3, (int64_t)w->rows);
    thrift_list(t, 4, THRIFT_STRUCT, w->groups.n);
    for (size_t i = 0; i < w->groups.n; i++)
        put_group(t, w, &w->groups.at[i]);
    if (w->layout.notes_n > 0) {
        thrift_list(t, 5, THRIFT_STRUCT, w->layout.notes_n);
        for (size_t i = 0; i < w->layout.notes_n; i++) {
            thrift_item(t);
            thrift_binary(t, 1, w->layout.notes[i].key);
            thrift_binary(t, 2, w->layout.notes[i].value);
            thrift_end(t);
        }
    }
    thrift_binary(t, 6, S("strata version " STRATA_VERSION));
    thrift_list(t, 7, THRIFT_STRUCT, w->layout.n); /* least and most as the type orders them */
    for (size_t i = 0; i < w->layout.n; i++) {
        thrift_item(t);
        thrift_struct(t, 1);
        thrift_end(t);
        thrift_end(t);
    }
    thrift_end(t);
}

static bool close_file(void *writer)
{
    struct parquet_writer *w = writer;
    struct thrift t = {0};

    put_footer(&t, w);
    put_u32(&t.out, (uint32_t)t.out.n);
    text_put(&t.out, magic);
    hand_on(w, text_view(&t.out));
    bool is_done = !w->has_failed;
    text_free(&t.out);
    vec_free(&w->groups);
    vec_free(&w->parts);
    mem_free(w);
    return is_done;
}

const struct dataset_form dataset_parquet = {
    .name = "parquet",
    .open = open_file,
    .pack = parquet_pack,
    .append = parquet_append,
    .close = close_file,
};
