/*
 * Parquet: the footer says which columns there are and where their chunks lie.
 *
 * Format reference: docs/formats/tables.md
 */
#include "base/formats/parquet_read.h"

#include <endian.h>

#include "base/formats/thrift.h"
#include "base/limits.h"

/* Numbers of the format. */
enum { REQUIRED, OPTIONAL, REPEATED };
enum { CONVERTED_DECIMAL = 5 };

enum { TAIL = 8, NONE = -1, PATH_BYTES = 1024 };

bool parquet_is(struct str head)
{
    return str_starts(head, S("PAR1"));
}

enum status parquet_damaged(const struct parquet *p, uint64_t byte, const char *what)
{
    return diag_fail(p->diag, ST_FORMAT, "parquet.damaged",
                     (struct where){.path = p->path, .byte = byte + 1}, "Parquet: %s", what);
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
    return parquet_damaged(f->p, f->in.is_bad ? f->begin : footer_at(f), what);
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

/* Fields: 1 type, 2 width, 3 repetition, 4 name, 5 children, 6 converted and 10 logical type. */
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

/* A column that cannot be read is listed too, with the reason. */
static struct parquet_column column_of(const struct schema_node *node, bool is_nested)
{
    struct parquet_column c = {.name = node->name,
                               .is_optional = node->repetition == OPTIONAL,
                               .type = (int)node->type,
                               .converted = node->converted};

    if (node->type == PARQUET_FLOAT || node->type == PARQUET_DOUBLE)
        c.kind = VALUES_REAL;
    else if (node->type == PARQUET_BYTES || node->type == PARQUET_FIXED)
        c.kind = VALUES_TEXT;
    if (node->type == PARQUET_FIXED && (node->width < 1 || node->width > LIMIT_FIELD_BYTES))
        c.why = "values of an impossible width";
    else
        c.width = (int)node->width;
    if (is_nested || node->repetition == REPEATED)
        c.why = "a nested column";
    else if (node->is_decimal)
        c.why = "decimals";
    else if (node->type == PARQUET_I96)
        c.why = "times of 96 bits";
    else if (node->type < PARQUET_BOOL || node->type > PARQUET_FIXED)
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
                if (node.name.n > 0)
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

/* Fields: 1 chunks of columns, 3 rows. */
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
        return parquet_damaged(f->p, f->begin, "its footer cannot be read");
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

uint32_t parquet_word(const char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return le32toh(word);
}

static enum status find_footer(struct parquet *p, struct footer *f)
{
    struct str text = p->text;

    if (!parquet_is(text))
        return parquet_damaged(p, 0, "it does not begin with PAR1");
    if (text.n < 4 + TAIL || !str_ends(text, S("PAR1")))
        return parquet_damaged(p, text.n, "cut short: the footer, which comes last, is missing");
    uint32_t size = parquet_word(text.at + text.n - TAIL);
    if (size > text.n - TAIL - 4)
        return parquet_damaged(p, text.n - TAIL, "its footer is larger than the file");
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
