/*
 * Parquet: a chunk of a column is a row of pages, the first of which may be a dictionary.
 *
 * Format reference: docs/formats/tables.md
 */
#include "base/formats/parquet_read.h"

#include <endian.h>

#include "base/files/unpack.h"
#include "base/formats/thrift.h"
#include "base/limits.h"
#include "base/tables/pack_ints.h"

/* Numbers of the format. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, PAGE_DATA_2 = 3 };
enum { CONVERTED_U8 = 11, CONVERTED_U32 = 13 };
enum {
    ENCODING_PLAIN = 0,
    ENCODING_PLAIN_DICTIONARY = 2,
    ENCODING_RLE = 3,
    ENCODING_DELTA = 5,
    ENCODING_DELTA_LENGTH = 6,
    ENCODING_DICTIONARY = 8,
};

enum { NONE = -1 };

static enum status unsupported(const struct parquet *p, struct str column, const char *what,
                               int64_t number)
{
    diag_hint(p->diag, "try", "DuckDB: COPY (FROM '%s') TO 'new.parquet' (COMPRESSION zstd)",
              p->path);
    return diag_fail(
        p->diag, ST_UNSUPPORTED, "parquet.unsupported", (struct where){.path = p->path},
        "Parquet: column %.*s: %s%.0lld, not read here", STR_ARGS(column), what, (long long)number);
}

/* ---- pages ---- */

/* A chunk in work. */
struct chunk_reader {
    const struct parquet *p;
    const struct parquet_column *column;
    struct parquet_values *out;
    uint64_t at, end; /* in the file */
    int codec;
    size_t room, done; /* rows */
    void *dictionary;
    size_t n_dictionary;
    bool has_dictionary;
    uint64_t unpacked; /* bytes of all pages */
};

struct page {
    int64_t kind, plain, packed, values, encoding, levels, level_bytes, repetition_bytes;
    bool is_stored;
};

static enum status page_damaged(const struct chunk_reader *r, const char *what)
{
    return parquet_damaged(r->p, r->at, what);
}

/* The part of a page's head that depends on its kind. Of the first version: 1 values, 2 encoding,
 * 3 encoding of levels. Of the second: 1 values, 4 encoding, 5 and 6 bytes of levels, 7 packed. */
static void read_page_part(struct thrift_in *in, struct page *page, bool is_second)
{
    enum thrift_type type;
    int id;

    thrift_open(in);
    while (thrift_next(in, &id, &type)) {
        if (id == 1 && type == THRIFT_I32)
            page->values = thrift_number(in);
        else if (id == (is_second ? 4 : 2) && type == THRIFT_I32)
            page->encoding = thrift_number(in);
        else if (!is_second && id == 3 && type == THRIFT_I32)
            page->levels = thrift_number(in);
        else if (is_second && id == 5 && type == THRIFT_I32)
            page->level_bytes = thrift_number(in);
        else if (is_second && id == 6 && type == THRIFT_I32)
            page->repetition_bytes = thrift_number(in);
        else if (is_second && id == 7 && type == THRIFT_FALSE)
            page->is_stored = true;
        else
            thrift_skip(in, type);
    }
}

/* Fields: 1 kind, 2 bytes unpacked, 3 bytes packed, 5, 7 or 8 the part by kind. */
static enum status read_page_head(struct chunk_reader *r, struct page *page)
{
    struct thrift_in in = {.text = str_part(r->p->text, r->at, r->end - r->at)};
    size_t before = in.text.n;
    enum thrift_type type;
    int id;

    *page = (struct page){.kind = NONE, .levels = ENCODING_RLE};
    while (thrift_next(&in, &id, &type)) {
        if (id == 1 && type == THRIFT_I32)
            page->kind = thrift_number(&in);
        else if (id == 2 && type == THRIFT_I32)
            page->plain = thrift_number(&in);
        else if (id == 3 && type == THRIFT_I32)
            page->packed = thrift_number(&in);
        else if ((id == 5 || id == 7 || id == 8) && type == THRIFT_STRUCT)
            read_page_part(&in, page, id == 8);
        else
            thrift_skip(&in, type);
    }
    if (in.is_bad)
        return page_damaged(r, "the head of a page cannot be read");
    r->at += before - in.text.n;
    if (page->packed < 0 || (uint64_t)page->packed > r->end - r->at || page->plain < 0 ||
        page->plain > LIMIT_PARQUET_PAGE || page->values < 0 || page->values > LIMIT_PARQUET_ROWS)
        return page_damaged(r, "the head of a page states an impossible size");
    return ST_OK;
}

/* The bytes of a page, or of the part of one behind its levels. */
static enum status unpack_page(struct chunk_reader *r, struct str packed, size_t plain,
                               bool is_stored, struct str *out)
{
    static const struct {
        enum unpack_codec codec;
        bool is_read;
        const char *name;
    } codecs[] = {
        {UNPACK_STORED, true, "stored"},
        {UNPACK_SNAPPY, true, "Snappy"},
        {UNPACK_ZLIB, true, "gzip"},
        {UNPACK_STORED, false, "compression LZO, number "},
        {UNPACK_STORED, false, "compression Brotli, number "},
        {UNPACK_STORED, false, "compression LZ4, number "},
        {UNPACK_ZSTD, true, "zstd"},
        {UNPACK_STORED, false, "compression LZ4, number "},
    };

    bool is_known = r->codec >= 0 && (size_t)r->codec < ARRAY_LEN(codecs);
    if (!is_known || !codecs[r->codec].is_read)
        return unsupported(r->p, r->column->name,
                           is_known ? codecs[r->codec].name : "compression number ", r->codec);
    if (is_stored || r->codec == 0) {
        *out = packed;
        return ST_OK;
    }
    r->unpacked += plain;
    if (r->unpacked > LIMIT_PARQUET_BYTES)
        return page_damaged(r, "a column of a row group unpacks to too much");
    char *room = arena_alloc(&r->out->arena, plain);
    if (!unpack_block(codecs[r->codec].codec, packed, room, plain))
        return page_damaged(r, "a compressed page does not unpack to its size");
    *out = (struct str){room, plain};
    return ST_OK;
}

/* ---- values ---- */

static bool take(struct str *in, size_t n, struct str *out)
{
    *out = str_part(*in, 0, n);
    if (in->n < n)
        return false;
    *in = str_part(*in, n, in->n);
    return true;
}

static bool take_word(struct str *in, uint32_t *out)
{
    struct str bytes;

    if (!take(in, sizeof(*out), &bytes))
        return false;
    *out = parquet_word(bytes.at);
    return true;
}

static int64_t parquet_widen(const struct parquet_column *c, int32_t number)
{
    bool is_unsigned = c->converted >= CONVERTED_U8 && c->converted <= CONVERTED_U32;

    return is_unsigned ? (int64_t)(uint32_t)number : number;
}

/* Numbers as they are; booleans are bits. */
static bool plain_numbers(const struct parquet_column *c, struct str in, int64_t *out, size_t n)
{
    if (c->type == PARQUET_BOOL) {
        if (in.n < (n + 7) / 8)
            return false;
        for (size_t i = 0; i < n; i++)
            out[i] = (uint8_t)in.at[i / 8] >> i % 8 & 1;
        return true;
    }
    size_t width = c->type == PARQUET_I32 ? sizeof(int32_t) : sizeof(int64_t);
    if (in.n / width < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        if (c->type == PARQUET_I32) {
            out[i] = parquet_widen(c, (int32_t)parquet_word(in.at + 4 * i));
        } else {
            memcpy(&word, in.at + 8 * i, sizeof(word));
            out[i] = (int64_t)le64toh(word);
        }
    }
    return true;
}

/* Of either width. */
static bool plain_reals(const struct parquet_column *c, struct str in, double *out, size_t n)
{
    size_t width = c->type == PARQUET_FLOAT ? sizeof(float) : sizeof(double);

    if (in.n / width < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        uint32_t half = parquet_word(in.at + width * i);
        float single;
        memcpy(&single, &half, sizeof(single));
        out[i] = (double)single;
        if (c->type == PARQUET_DOUBLE) {
            memcpy(&word, in.at + 8 * i, sizeof(word));
            word = le64toh(word);
            memcpy(&out[i], &word, sizeof(word));
        }
    }
    return true;
}

static bool plain_texts(const struct parquet_column *c, struct str in, struct str *out, size_t n)
{
    uint32_t size = (uint32_t)c->width;

    for (size_t i = 0; i < n; i++)
        if ((c->type == PARQUET_BYTES && !take_word(&in, &size)) || !take(&in, size, &out[i]))
            return false;
    return true;
}

static bool plain_values(const struct parquet_column *c, struct str in, void *out, size_t n)
{
    switch (c->kind) {
    case VALUES_INT:
        return plain_numbers(c, in, out, n);
    case VALUES_REAL:
        return plain_reals(c, in, out, n);
    case VALUES_TEXT:
        break;
    }
    return plain_texts(c, in, out, n);
}

static size_t width_of(enum column_kind kind)
{
    return kind == VALUES_TEXT ? sizeof(struct str) : sizeof(int64_t);
}

/* The value at place `from` of a list of the same kind. */
static inline void copy_value(struct parquet_values *out, size_t to, const void *list, size_t from)
{
    switch (out->kind) {
    case VALUES_INT:
        out->numbers[to] = ((const int64_t *)list)[from];
        return;
    case VALUES_REAL:
        out->reals[to] = ((const double *)list)[from];
        return;
    case VALUES_TEXT:
        out->texts[to] = ((const struct str *)list)[from];
    }
}

static void clear_value(struct parquet_values *out, size_t to)
{
    switch (out->kind) {
    case VALUES_INT:
        out->numbers[to] = 0;
        return;
    case VALUES_REAL:
        out->reals[to] = 0;
        return;
    case VALUES_TEXT:
        out->texts[to] = S("");
    }
}

/* Texts whose lengths come first, as differences. */
static bool length_texts(struct chunk_reader *r, struct str in, struct str *out, size_t n)
{
    int64_t *lengths = ARENA_ARRAY(&r->out->arena, int64_t, n);

    if (!pack_get_delta(&in, lengths, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (lengths[i] < 0 || !take(&in, (size_t)lengths[i], &out[i]))
            return false;
    return true;
}

/* Places in the dictionary, behind a byte that says how many bits each has. */
static bool dictionary_values(struct chunk_reader *r, struct str in, size_t to, size_t n)
{
    struct parquet_values *out = r->out;
    uint32_t *places = out->places;

    if (in.n == 0)
        return false;
    unsigned width = (uint8_t)in.at[0];
    in = str_part(in, 1, in.n);
    if (!pack_get_hybrid(&in, places, n, width))
        return false;
    for (size_t i = 0; i < n; i++)
        if (places[i] >= r->n_dictionary)
            return false;
    for (size_t i = 0; i < n; i++)
        copy_value(out, to + i, r->dictionary, places[i]);
    return true;
}

/* Booleans as runs, behind their length. */
static bool run_values(struct chunk_reader *r, struct str in, int64_t *out, size_t n)
{
    struct str runs;
    uint32_t size;

    if (!take_word(&in, &size) || !take(&in, size, &runs) ||
        !pack_get_hybrid(&runs, r->out->places, n, 1))
        return false;
    for (size_t i = 0; i < n; i++)
        out[i] = r->out->places[i];
    return true;
}

/* `n` values without gaps, to row `to` on. */
static enum status read_values(struct chunk_reader *r, int64_t encoding, struct str in, size_t to,
                               size_t n)
{
    const struct parquet_column *c = r->column;
    struct parquet_values *out = r->out;
    bool is_good;

    if (n == 0)
        return ST_OK;
    void *at = (char *)out->values + to * width_of(c->kind);
    if (encoding == ENCODING_PLAIN) {
        is_good = plain_values(c, in, at, n);
    } else if (encoding == ENCODING_DICTIONARY || encoding == ENCODING_PLAIN_DICTIONARY) {
        is_good = r->has_dictionary && dictionary_values(r, in, to, n);
    } else if (encoding == ENCODING_RLE && c->type == PARQUET_BOOL) {
        is_good = run_values(r, in, at, n);
    } else if (encoding == ENCODING_DELTA && c->kind == VALUES_INT && c->type != PARQUET_BOOL) {
        is_good = pack_get_delta(&in, at, n);
        for (size_t i = 0; is_good && c->type == PARQUET_I32 && i < n; i++)
            out->numbers[to + i] = parquet_widen(c, (int32_t)out->numbers[to + i]);
    } else if (encoding == ENCODING_DELTA_LENGTH && c->type == PARQUET_BYTES) {
        is_good = length_texts(r, in, at, n);
    } else {
        return unsupported(r->p, c->name, "encoding number ", encoding);
    }
    return is_good ? ST_OK
                   : page_damaged(r, "a page has fewer values than it states, or wrong ones");
}

/* ---- rows ---- */

/* Room for `n` more rows. */
static void reserve_rows(struct chunk_reader *r, size_t n)
{
    struct parquet_values *out = r->out;
    size_t width = width_of(out->kind), want = r->done + n;

    if (want <= out->room)
        return;
    if (want < out->room * 2)
        want = out->room * 2;
    out->values = mem_grow(out->values, width, want);
    out->places = mem_grow(out->places, sizeof(*out->places), want);
    out->valid = mem_grow(out->valid, sizeof(*out->valid), want / 64 + 1);
    out->room = want;
}

/* The values of a page stand without gaps from row `from` on: moves them to their rows. */
static void spread(struct parquet_values *out, size_t from, size_t n, size_t present)
{
    for (size_t i = n; i-- > 0;) {
        if (parquet_has(out, from + i))
            copy_value(out, from + i, out->values, from + --present);
        else
            clear_value(out, from + i);
    }
}

/* Which of the next `n` rows have a value, from levels of 0 and 1; how many. */
static bool read_levels(struct chunk_reader *r, struct str levels, size_t n, size_t *present)
{
    struct parquet_values *out = r->out;

    *present = n;
    if (r->column->is_optional && !pack_get_hybrid(&levels, out->places, n, 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t row = r->done + i;
        bool has = !r->column->is_optional || out->places[i] != 0;
        *present -= !has;
        if (row % 64 == 0)
            out->valid[row / 64] = 0;
        out->valid[row / 64] |= (uint64_t)has << row % 64;
    }
    return true;
}

static enum status read_data(struct chunk_reader *r, const struct page *page, struct str packed)
{
    struct arena_mark before = arena_mark(&r->out->arena);
    struct str body, levels = S("");
    size_t n = (size_t)page->values, present;
    uint32_t size;

    if (n > r->room - r->done)
        return page_damaged(r, "a column has more values than its row group has rows");
    if (r->column->is_optional && page->levels != ENCODING_RLE)
        return unsupported(r->p, r->column->name, "levels with encoding number ", page->levels);
    reserve_rows(r, n);
    if (page->kind == PAGE_DATA_2) {
        int64_t front = page->level_bytes + page->repetition_bytes;
        if (page->repetition_bytes != 0 || front < 0 || front > page->packed || front > page->plain)
            return page_damaged(r, "the head of a page states an impossible size");
        take(&packed, (size_t)front, &levels);
        TRY(unpack_page(r, packed, (size_t)(page->plain - front), page->is_stored, &body));
    } else {
        TRY(unpack_page(r, packed, (size_t)page->plain, false, &body));
        if (r->column->is_optional && (!take_word(&body, &size) || !take(&body, size, &levels)))
            return page_damaged(r, "the levels of a page are cut short");
    }
    if (!read_levels(r, levels, n, &present))
        return page_damaged(r, "the levels of a page cannot be read");
    TRY(read_values(r, page->encoding, body, r->done, present));
    if (present < n)
        spread(r->out, r->done, n, present);
    if (r->column->kind != VALUES_TEXT || page->encoding >= ENCODING_DICTIONARY)
        arena_rewind(&r->out->arena, before); /* no text of it is in the page */
    r->out->nulls += n - present;
    r->done += n;
    return ST_OK;
}

static enum status read_dictionary(struct chunk_reader *r, const struct page *page,
                                   struct str packed)
{
    size_t n = (size_t)page->values;
    struct str body;

    if (r->has_dictionary)
        return page_damaged(r, "a column of a row group has two dictionaries");
    if (page->encoding != ENCODING_PLAIN && page->encoding != ENCODING_PLAIN_DICTIONARY)
        return unsupported(r->p, r->column->name, "dictionary with encoding number ",
                           page->encoding);
    TRY(unpack_page(r, packed, (size_t)page->plain, false, &body));
    if (n > 8 * body.n) /* a value has a bit at least */
        return page_damaged(r, "a dictionary is cut short");
    r->dictionary = arena_array(&r->out->arena, width_of(r->column->kind), n);
    if (!plain_values(r->column, body, r->dictionary, n))
        return page_damaged(r, "a dictionary is cut short");
    r->n_dictionary = n;
    r->has_dictionary = true;
    return ST_OK;
}

static enum status read_pages(struct chunk_reader *r)
{
    while (r->done < r->room) {
        struct page page;
        if (r->at >= r->end)
            return page_damaged(r, "a column has fewer values than its row group has rows");
        TRY(read_page_head(r, &page));
        struct str packed = str_part(r->p->text, r->at, (size_t)page.packed);
        if (page.kind == PAGE_DATA || page.kind == PAGE_DATA_2)
            TRY(read_data(r, &page, packed));
        else if (page.kind == PAGE_DICTIONARY)
            TRY(read_dictionary(r, &page, packed));
        r->at += (uint64_t)page.packed;
    }
    return ST_OK;
}

enum status parquet_read(const struct parquet *p, size_t group, size_t column,
                         struct parquet_values *out)
{
    const struct parquet_column *c = &p->columns[column];
    const struct parquet_group *g = &p->groups[group];
    const struct parquet_chunk *chunk = &g->chunks[column];
    struct chunk_reader r = {.p = p,
                             .column = c,
                             .out = out,
                             .at = chunk->begin,
                             .end = chunk->end,
                             .codec = chunk->codec,
                             .room = (size_t)g->rows};

    if (out->kind == VALUES_TEXT || c->kind == VALUES_TEXT)
        parquet_values_free(out); /* elements of another size */
    arena_free(&out->arena);
    arena_init(&out->arena);
    out->kind = c->kind;
    out->n = out->nulls = 0;
    if (c->why != NULL)
        return unsupported(p, c->name, c->why, 0);
    if (chunk->values != g->rows)
        return parquet_damaged(p, chunk->begin,
                               "a column has another number of values than its row group");
    enum status st = read_pages(&r);
    out->n = st == ST_OK ? r.done : 0;
    return st;
}

void parquet_values_free(struct parquet_values *values)
{
    mem_free(values->values);
    mem_free(values->places);
    mem_free(values->valid);
    arena_free(&values->arena);
    *values = (struct parquet_values){0};
}
