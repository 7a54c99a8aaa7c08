/*
 * Parquet: the footer says where the chunks of columns are, a chunk is a row of pages.
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
enum { TYPE_BOOL, TYPE_I32, TYPE_I64, TYPE_I96, TYPE_FLOAT, TYPE_DOUBLE, TYPE_BYTES, TYPE_FIXED };
enum { REQUIRED, OPTIONAL, REPEATED };
enum { PAGE_DATA = 0, PAGE_INDEX = 1, PAGE_DICTIONARY = 2, PAGE_DATA_2 = 3 };
enum { CONVERTED_DECIMAL = 5, CONVERTED_U8 = 11, CONVERTED_U32 = 13 };
enum {
    ENCODING_PLAIN = 0,
    ENCODING_PLAIN_DICTIONARY = 2,
    ENCODING_RLE = 3,
    ENCODING_DELTA = 5,
    ENCODING_DELTA_LENGTH = 6,
    ENCODING_DICTIONARY = 8,
};

enum { TAIL = 8, NONE = -1, PATH_BYTES = 1024 };

bool parquet_is(struct str head)
{
    return str_starts(head, S("PAR1"));
}

static enum status damaged(const struct parquet *p, uint64_t byte, const char *what)
{
    return diag_fail(p->diag, ST_FORMAT, "parquet.damaged",
                     (struct where){.path = p->path, .byte = byte + 1}, "Parquet: %s", what);
}

static enum status unsupported(const struct parquet *p, struct str column, const char *what,
                               int64_t number)
{
    diag_hint(p->diag, "try", "DuckDB: COPY (FROM '%s') TO 'new.parquet' (COMPRESSION zstd)",
              p->path);
    return diag_fail(
        p->diag, ST_UNSUPPORTED, "parquet.unsupported", (struct where){.path = p->path},
        "Parquet: column %.*s: %s%.0lld, not read here", STR_ARGS(column), what, (long long)number);
}

/* ---- the footer ---- */

struct footer {
    struct parquet *p;
    struct thrift_in in;
    uint64_t begin; /* of the footer in the file */
    VEC_OF(struct parquet_column) columns;
    VEC_OF(struct parquet_group) groups;
    VEC_OF(struct parquet_note) notes;
};

static uint64_t footer_at(const struct footer *f)
{
    return (uint64_t)(f->in.text.at - f->p->text.at);
}

static enum status footer_damaged(const struct footer *f, const char *what)
{
    return damaged(f->p, f->in.is_bad ? f->begin : footer_at(f), what);
}

/* One node of the schema, which is a tree in the order of its nodes. */
struct schema_node {
    struct str name;
    int64_t type, width, repetition, children, converted;
    bool is_decimal;
};

/* The part of a logical type that matters here: which one it is. */
static void read_logical(struct footer *f, struct schema_node *node)
{
    enum { LOGICAL_DECIMAL = 5 };
    enum thrift_type type;
    int id;

    thrift_open(&f->in);
    while (thrift_next(&f->in, &id, &type)) {
        node->is_decimal = node->is_decimal || id == LOGICAL_DECIMAL;
        thrift_skip(&f->in, type);
    }
}

static struct schema_node read_node(struct footer *f)
{
    struct schema_node node = {.type = NONE, .converted = NONE};
    enum thrift_type type;
    int id;

    thrift_open(&f->in);
    while (thrift_next(&f->in, &id, &type)) {
        if (id == 1 && type == THRIFT_I32)
            node.type = thrift_number(&f->in);
        else if (id == 2 && type == THRIFT_I32)
            node.width = thrift_number(&f->in);
        else if (id == 3 && type == THRIFT_I32)
            node.repetition = thrift_number(&f->in);
        else if (id == 4 && type == THRIFT_BINARY)
            node.name = thrift_bytes(&f->in);
        else if (id == 5 && type == THRIFT_I32)
            node.children = thrift_number(&f->in);
        else if (id == 6 && type == THRIFT_I32)
            node.converted = thrift_number(&f->in);
        else if (id == 10 && type == THRIFT_STRUCT)
            read_logical(f, &node);
        else
            thrift_skip(&f->in, type);
    }
    node.is_decimal = node.is_decimal || node.converted == CONVERTED_DECIMAL;
    return node;
}

static struct parquet_column column_of(const struct schema_node *node, bool is_nested)
{
    struct parquet_column c = {.name = node->name,
                               .is_optional = node->repetition == OPTIONAL,
                               .type = (int)node->type,
                               .converted = node->converted};

    if (node->type == TYPE_FLOAT || node->type == TYPE_DOUBLE)
        c.kind = VALUES_REAL;
    else if (node->type == TYPE_BYTES || node->type == TYPE_FIXED)
        c.kind = VALUES_TEXT;
    if (node->type == TYPE_FIXED && (node->width < 1 || node->width > LIMIT_FIELD_BYTES))
        c.why = "values of an impossible width";
    else
        c.width = (int)node->width;
    if (is_nested || node->repetition == REPEATED)
        c.why = "a nested column";
    else if (node->is_decimal)
        c.why = "decimals";
    else if (node->type == TYPE_I96)
        c.why = "times of 96 bits";
    else if (node->type < TYPE_BOOL || node->type > TYPE_FIXED)
        c.why = "an unknown type";
    return c;
}

/* Nodes that are open: how many children are still to come, and the name up to here. */
struct schema_level {
    int64_t left;
    size_t name;
};

/* Leaves in order are the columns; one below an inner node has its name in front. */
static enum status read_schema(struct footer *f)
{
    struct schema_level levels[LIMIT_PARQUET_DEPTH];
    char path[PATH_BYTES];
    size_t depth = 0, n_path = 0;
    enum thrift_type type;
    size_t n = thrift_items(&f->in, &type);

    for (size_t i = 0; i < n && !f->in.is_bad && type == THRIFT_STRUCT; i++) {
        struct schema_node node = read_node(f);
        if (i > 0 && depth == 0)
            return footer_damaged(f, "its schema has a node outside");
        if (depth > 0)
            levels[depth - 1].left--;
        if (node.children > 0 || i == 0) {
            if (depth == LIMIT_PARQUET_DEPTH || node.name.n + n_path + 1 > sizeof(path))
                return footer_damaged(f, "its schema is nested too deep");
            levels[depth++] = (struct schema_level){node.children, n_path};
            if (i > 0) {
                memcpy(path + n_path, node.name.at, node.name.n);
                path[n_path + node.name.n] = '.';
                n_path += node.name.n + 1;
            }
        } else {
            struct parquet_column c = column_of(&node, depth > 1);
            c.name = arena_format(&f->p->arena, "%.*s%.*s", (int)n_path, path, STR_ARGS(node.name));
            vec_push(&f->columns, c);
        }
        for (; depth > 0 && levels[depth - 1].left <= 0; depth--)
            n_path = levels[depth - 1].name;
        if (f->columns.n > LIMIT_CSV_COLUMNS)
            return footer_damaged(f, "too many columns");
    }
    return ST_OK;
}

/* Where a chunk begins: its dictionary, when it has one in front. */
static void read_chunk_meta(struct footer *f, struct parquet_chunk *chunk)
{
    int64_t data = 0, dictionary = 0, bytes = 0, values = 0, codec = NONE;
    enum thrift_type type;
    int id;

    thrift_open(&f->in);
    while (thrift_next(&f->in, &id, &type)) {
        if (id == 4 && type == THRIFT_I32)
            codec = thrift_number(&f->in);
        else if (id == 5 && type == THRIFT_I64)
            values = thrift_number(&f->in);
        else if (id == 7 && type == THRIFT_I64)
            bytes = thrift_number(&f->in);
        else if (id == 9 && type == THRIFT_I64)
            data = thrift_number(&f->in);
        else if (id == 11 && type == THRIFT_I64)
            dictionary = thrift_number(&f->in);
        else
            thrift_skip(&f->in, type);
    }
    int64_t begin = dictionary > 0 && dictionary < data ? dictionary : data;
    bool is_inside = begin >= 0 && bytes >= 0 && (uint64_t)begin <= f->begin &&
                     (uint64_t)bytes <= f->begin - (uint64_t)begin;
    *chunk = (struct parquet_chunk){.begin = is_inside ? (uint64_t)begin : 0,
                                    .end = is_inside ? (uint64_t)(begin + bytes) : 0,
                                    .values = values > 0 ? (uint64_t)values : 0,
                                    .codec = codec >= 0 && codec < 100 ? (int)codec : 99};
}

static struct parquet_chunk read_chunk(struct footer *f)
{
    struct parquet_chunk chunk = {.codec = NONE};
    enum thrift_type type;
    int id;

    thrift_open(&f->in);
    while (thrift_next(&f->in, &id, &type)) {
        if (id == 3 && type == THRIFT_STRUCT)
            read_chunk_meta(f, &chunk);
        else
            thrift_skip(&f->in, type);
    }
    return chunk;
}

static enum status read_group(struct footer *f)
{
    struct parquet_group group = {
        .chunks = ARENA_ARRAY(&f->p->arena, struct parquet_chunk, f->columns.n)};
    enum thrift_type type, inner;
    size_t n = 0;
    int id;

    thrift_open(&f->in);
    while (thrift_next(&f->in, &id, &type)) {
        if (id == 1 && type == THRIFT_LIST) {
            n = thrift_items(&f->in, &inner);
            if (n != f->columns.n || inner != THRIFT_STRUCT)
                return footer_damaged(f, "a row group has other columns than the schema");
            for (size_t i = 0; i < n; i++)
                group.chunks[i] = read_chunk(f);
        } else if (id == 3 && type == THRIFT_I64) {
            int64_t rows = thrift_number(&f->in);
            if (rows < 0 || rows > LIMIT_PARQUET_ROWS)
                return footer_damaged(f, "a row group has too many rows");
            group.rows = (uint64_t)rows;
        } else {
            thrift_skip(&f->in, type);
        }
    }
    if (!f->in.is_bad && n != f->columns.n)
        return footer_damaged(f, "a row group without columns");
    f->p->rows += group.rows;
    vec_push(&f->groups, group);
    return ST_OK;
}

static enum status read_groups(struct footer *f)
{
    enum thrift_type type;
    size_t n = thrift_items(&f->in, &type);

    if (n > 0 && type != THRIFT_STRUCT)
        return footer_damaged(f, "row groups of another type");
    for (size_t i = 0; i < n && !f->in.is_bad; i++)
        TRY(read_group(f));
    return ST_OK;
}

static void read_notes(struct footer *f)
{
    enum thrift_type type, inner;
    int id;

    for (size_t n = thrift_items(&f->in, &inner); n > 0 && !f->in.is_bad; n--) {
        struct parquet_note note = {0};
        thrift_open(&f->in);
        while (thrift_next(&f->in, &id, &type)) {
            if ((id == 1 || id == 2) && type == THRIFT_BINARY)
                *(id == 1 ? &note.key : &note.value) = thrift_bytes(&f->in);
            else
                thrift_skip(&f->in, type);
        }
        vec_push(&f->notes, note);
    }
}

static enum status read_footer(struct footer *f)
{
    enum thrift_type type;
    int id;

    while (thrift_next(&f->in, &id, &type)) {
        if (id == 2 && type == THRIFT_LIST && f->columns.n == 0)
            TRY(read_schema(f));
        else if (id == 4 && type == THRIFT_LIST && f->groups.n == 0)
            TRY(read_groups(f));
        else if (id == 5 && type == THRIFT_LIST && f->notes.n == 0)
            read_notes(f);
        else
            thrift_skip(&f->in, type);
    }
    if (f->in.is_bad)
        return damaged(f->p, f->begin, "its footer cannot be read");
    return ST_OK;
}

static void keep_footer(struct footer *f)
{
    struct parquet *p = f->p;

    p->n = f->columns.n;
    p->n_groups = f->groups.n;
    p->n_notes = f->notes.n;
    p->columns = ARENA_ARRAY(&p->arena, struct parquet_column, p->n);
    p->groups = ARENA_ARRAY(&p->arena, struct parquet_group, p->n_groups);
    p->notes = ARENA_ARRAY(&p->arena, struct parquet_note, p->n_notes);
    if (p->n > 0)
        memcpy(p->columns, f->columns.at, p->n * sizeof(*p->columns));
    if (p->n_groups > 0)
        memcpy(p->groups, f->groups.at, p->n_groups * sizeof(*p->groups));
    if (p->n_notes > 0)
        memcpy(p->notes, f->notes.at, p->n_notes * sizeof(*p->notes));
}

static uint32_t word_at(const char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return le32toh(word);
}

static enum status find_footer(struct parquet *p, struct footer *f)
{
    struct str text = p->text;

    if (!parquet_is(text))
        return damaged(p, 0, "it does not begin with PAR1");
    if (text.n < 4 + TAIL || !str_ends(text, S("PAR1")))
        return damaged(p, text.n, "cut short: the footer, which comes last, is missing");
    uint32_t size = word_at(text.at + text.n - TAIL);
    if (size > text.n - TAIL - 4)
        return damaged(p, text.n - TAIL, "its footer is larger than the file");
    *f = (struct footer){.p = p, .begin = text.n - TAIL - size};
    f->in.text = str_part(text, f->begin, size);
    return read_footer(f);
}

enum status parquet_open(struct parquet *p, const char *path, struct str text, struct diag *d)
{
    struct footer f = {0};

    *p = (struct parquet){.text = text, .path = path, .diag = d};
    if (text.at == NULL) {
        TRY(mapfile_open(&p->map, path, d));
        p->text = p->map.text;
    }
    arena_init(&p->arena);
    enum status st = find_footer(p, &f);
    if (st == ST_OK)
        keep_footer(&f);
    vec_free(&f.columns);
    vec_free(&f.groups);
    vec_free(&f.notes);
    if (st != ST_OK)
        parquet_close(p);
    return st;
}

void parquet_close(struct parquet *p)
{
    mapfile_close(&p->map);
    arena_free(&p->arena);
}

int parquet_find(const struct parquet *p, struct str name)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_equal(p->columns[i].name, name))
            return (int)i;
    return -1;
}

struct str parquet_note(const struct parquet *p, struct str key)
{
    for (size_t i = 0; i < p->n_notes; i++)
        if (str_equal(p->notes[i].key, key))
            return p->notes[i].value;
    return S("");
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
    return damaged(r->p, r->at, what);
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
    *out = word_at(bytes.at);
    return true;
}

static int64_t widen(const struct parquet_column *c, int32_t number)
{
    bool is_unsigned = c->converted >= CONVERTED_U8 && c->converted <= CONVERTED_U32;

    return is_unsigned ? (int64_t)(uint32_t)number : number;
}

static bool plain_numbers(const struct parquet_column *c, struct str in, int64_t *out, size_t n)
{
    if (c->type == TYPE_BOOL) {
        if (in.n < (n + 7) / 8)
            return false;
        for (size_t i = 0; i < n; i++)
            out[i] = (uint8_t)in.at[i / 8] >> i % 8 & 1;
        return true;
    }
    size_t width = c->type == TYPE_I32 ? sizeof(int32_t) : sizeof(int64_t);
    if (in.n / width < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        if (c->type == TYPE_I32) {
            out[i] = widen(c, (int32_t)word_at(in.at + 4 * i));
        } else {
            memcpy(&word, in.at + 8 * i, sizeof(word));
            out[i] = (int64_t)le64toh(word);
        }
    }
    return true;
}

static bool plain_reals(const struct parquet_column *c, struct str in, double *out, size_t n)
{
    size_t width = c->type == TYPE_FLOAT ? sizeof(float) : sizeof(double);

    if (in.n / width < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        uint32_t half = word_at(in.at + width * i);
        float single;
        memcpy(&single, &half, sizeof(single));
        out[i] = (double)single;
        if (c->type == TYPE_DOUBLE) {
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
        if ((c->type == TYPE_BYTES && !take_word(&in, &size)) || !take(&in, size, &out[i]))
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

    if (!unpack_delta(&in, lengths, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (lengths[i] < 0 || !take(&in, (size_t)lengths[i], &out[i]))
            return false;
    return true;
}

static bool dictionary_values(struct chunk_reader *r, struct str in, size_t to, size_t n)
{
    struct parquet_values *out = r->out;
    uint32_t *places = out->places;

    if (n == 0)
        return true;
    if (in.n == 0)
        return false;
    unsigned width = (uint8_t)in.at[0];
    in = str_part(in, 1, in.n);
    if (!unpack_hybrid(&in, places, n, width))
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
        !unpack_hybrid(&runs, r->out->places, n, 1))
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
    void *at = (char *)out->values + to * width_of(c->kind);
    bool is_good;

    if (encoding == ENCODING_PLAIN) {
        is_good = plain_values(c, in, at, n);
    } else if (encoding == ENCODING_DICTIONARY || encoding == ENCODING_PLAIN_DICTIONARY) {
        is_good = (n == 0 || r->has_dictionary) && dictionary_values(r, in, to, n);
    } else if (encoding == ENCODING_RLE && c->type == TYPE_BOOL) {
        is_good = run_values(r, in, at, n);
    } else if (encoding == ENCODING_DELTA && c->kind == VALUES_INT && c->type != TYPE_BOOL) {
        is_good = unpack_delta(&in, at, n);
        for (size_t i = 0; is_good && c->type == TYPE_I32 && i < n; i++)
            out->numbers[to + i] = widen(c, (int32_t)out->numbers[to + i]);
    } else if (encoding == ENCODING_DELTA_LENGTH && c->type == TYPE_BYTES) {
        is_good = length_texts(r, in, at, n);
    } else {
        return unsupported(r->p, c->name, "encoding number ", encoding);
    }
    return is_good ? ST_OK : page_damaged(r, "a page has fewer values than it says, or wrong ones");
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
    if (r->column->is_optional && !unpack_hybrid(&levels, out->places, n, 1))
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
        return damaged(p, chunk->begin, "a column has another number of values than its row group");
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
