/* Walks the B-tree pages of a table; anything odd ends the walk. */
#include "base/tables/db_table.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    HEAD = 100,
    PAGE_SIZE_AT = 16,
    RESERVED_AT = 20,
    ENCODING_AT = 56,
    UTF8 = 1,
    LEAF = 0x0d,
    INNER = 0x05,
    LEAF_HEAD = 8,
    INNER_HEAD = 12,
    CELLS_AT = 3,
    LAST_CHILD_AT = 8,
    SPARE = 35, /* a row longer than a page less this goes on elsewhere */
    WINDOW = 1 << 14,
};

static uint32_t load16(const unsigned char *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t load32(const unsigned char *at)
{
    return load16(at) << 16 | load16(at + 2);
}

void db_pages_init(struct db_pages *pages, struct str head, uint64_t bytes)
{
    const unsigned char *at = (const unsigned char *)head.at;

    *pages = (struct db_pages){.fd = -1};
    if (head.n < HEAD || load32(at + ENCODING_AT) != UTF8)
        return;
    uint32_t size = load16(at + PAGE_SIZE_AT);
    size = size == 1 ? 1 << 16 : size;
    if (size < 512 || (size & (size - 1)) != 0 || size - at[RESERVED_AT] < 480)
        return;
    pages->size = size;
    pages->usable = size - at[RESERVED_AT];
    pages->n = bytes / size < UINT32_MAX ? (uint32_t)(bytes / size) : 0;
}

/* ---- pages ---- */

/* Page `number`, counted from 1; in a file it holds until the next call. NULL: there is none. */
static const unsigned char *page_at(struct db_table *t, uint32_t number)
{
    const struct db_pages *p = &t->pages;
    uint32_t many = p->size < WINDOW ? WINDOW / p->size : 1, page = number - 1;

    if (number == 0 || number > p->n)
        return NULL;
    if (p->text.at != NULL)
        return (const unsigned char *)p->text.at + (size_t)page * p->size;
    if (page < t->first || page - t->first >= t->filled) {
        if (t->window == NULL)
            t->window = mem_grow(NULL, p->size, many);
        t->first = page / many * many;
        ssize_t got =
            pread(p->fd, t->window, (size_t)many * p->size, (off_t)t->first * (off_t)p->size);
        t->filled = got > 0 ? (uint32_t)((size_t)got / p->size) : 0;
        if (page - t->first >= t->filled)
            return NULL;
    }
    return t->window + (size_t)(page - t->first) * p->size;
}

/* Child `i` of an inner page; 0 when the page is odd. */
static uint32_t child_at(const struct db_table *t, const struct db_level *level, unsigned i)
{
    if (i == level->n)
        return load32(level->page + LAST_CHILD_AT);
    uint32_t at = load16(level->page + INNER_HEAD + 2 * i);
    return at + 4 <= t->pages.usable ? load32(level->page + at) : 0;
}

static bool add_level(struct db_table *t, const unsigned char *page, unsigned n)
{
    if (t->depth == DB_TABLE_DEPTH)
        return false;
    struct db_level *level = &t->levels[t->depth++];
    if (level->page == NULL)
        level->page = mem_grow(NULL, 1, t->pages.size);
    memcpy(level->page, page, t->pages.size);
    level->next = 0;
    level->n = n;
    return true;
}

/* Goes down from a page to the first leaf below it. The first page of a file belongs to the list of
 * tables, never to one of them. */
static bool descend(struct db_table *t, uint32_t number)
{
    for (;;) {
        const unsigned char *page = number > 1 ? page_at(t, number) : NULL;
        if (page == NULL || t->visited++ == t->pages.n) /* more than there are: in circles */
            return false;
        unsigned n = load16(page + CELLS_AT);
        unsigned cells = page[0] == LEAF ? LEAF_HEAD : INNER_HEAD;
        if ((page[0] != LEAF && page[0] != INNER) || cells + 2 * n > t->pages.usable)
            return false;
        if (page[0] == LEAF) {
            t->leaf = page;
            t->next = 0;
            t->n = n;
            t->cells = cells;
            return true;
        }
        if (!add_level(t, page, n))
            return false;
        struct db_level *level = &t->levels[t->depth - 1];
        number = child_at(t, level, level->next++);
    }
}

static enum db_table_step next_leaf(struct db_table *t)
{
    while (t->depth > 0) {
        struct db_level *level = &t->levels[t->depth - 1];
        if (level->next <= level->n)
            return descend(t, child_at(t, level, level->next++)) ? DB_TABLE_ROW : DB_TABLE_ODD;
        t->depth--;
    }
    return DB_TABLE_END;
}

/* ---- rows ---- */

/* A number of one to nine bytes; false when it runs past `end`. */
static inline bool read_varint(const unsigned char **at, const unsigned char *end, uint64_t *out)
{
    const unsigned char *p = *at;
    uint64_t value = 0;

    if (p < end && *p < 0x80) {
        *out = *p;
        *at = p + 1;
        return true;
    }
    for (unsigned i = 0; i < 9 && p < end; i++, p++) {
        if (i == 8 || *p < 0x80) {
            *out = i == 8 ? value << 8 | *p : value << 7 | *p;
            *at = p + 1;
            return true;
        }
        value = value << 7 | (*p & 0x7f);
    }
    return false;
}

/* Bytes of a value by its serial type, up to 11. */
static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

static inline int64_t load_int(const unsigned char *at, unsigned size)
{
    int64_t value = (int8_t)at[0];

    for (unsigned i = 1; i < size; i++)
        value = (int64_t)((uint64_t)value << 8 | at[i]);
    return value;
}

static inline void read_value(const unsigned char *at, uint64_t serial, size_t size,
                              struct db_cell *cell)
{
    if (serial == 0) {
        cell->type = DB_NULL;
    } else if (serial == 7) {
        uint64_t bits = (uint64_t)load_int(at, 8);
        memcpy(&cell->real, &bits, sizeof(bits));
        cell->type = isnan(cell->real) ? DB_NULL : DB_REAL; /* as the engine has it */
    } else if (serial < 12) {
        cell->type = DB_INT;
        cell->number = serial >= 8 ? (int64_t)serial - 8 : load_int(at, (unsigned)size);
    } else {
        cell->type = serial % 2 == 0 ? DB_BLOB : DB_TEXT;
        cell->text = (struct str){(const char *)at, size};
    }
}

/* What the table's definition says of a value. */
static inline void finish_value(const struct db_field *f, uint64_t rowid, struct db_cell *cell)
{
    if (f->is_rowid) /* whatever the record has there */
        *cell = (struct db_cell){.type = DB_INT, .number = (int64_t)rowid};
    if (f->is_real && cell->type == DB_INT)
        *cell = (struct db_cell){.type = DB_REAL, .real = (double)cell->number};
}

/* The columns of interest of one row: a list of serial types, then the values one by one. */
static bool table_read_record(const struct db_table *t, const unsigned char *record, size_t n,
                              uint64_t rowid, struct db_cell *cells)
{
    const unsigned char *types = record;
    uint64_t head, serial;
    size_t k = 0;

    if (!read_varint(&types, record + n, &head) || head > n)
        return false;
    const unsigned char *end = record + head, *value = end;
    for (unsigned field = 0; k < t->n_fields; field++) {
        if (!read_varint(&types, end, &serial) || serial == 10 || serial == 11)
            return false;
        uint64_t size = serial < 12 ? sizes[serial] : (serial - 12) / 2;
        if (size > (size_t)(record + n - value))
            return false;
        for (; k < t->n_fields && t->fields[k].field == field; k++) {
            struct db_cell *cell = &cells[t->fields[k].cell];
            read_value(value, serial, (size_t)size, cell);
            finish_value(&t->fields[k], rowid, cell);
        }
        value += size;
    }
    return true;
}

/* A leaf cell: size, row number, record. Anything unusual, overflow pages too, is DB_TABLE_ODD,
 * and SQLite reads the table then. */
enum db_table_step db_table_next(struct db_table *t, struct db_cell *cells)
{
    uint64_t size, rowid;

    if (t->is_odd)
        return DB_TABLE_ODD;
    while (t->next == t->n) {
        enum db_table_step step = next_leaf(t);
        if (step != DB_TABLE_ROW)
            return step;
    }
    uint32_t at = load16(t->leaf + t->cells + 2 * t->next);
    const unsigned char *cell = t->leaf + at, *end = t->leaf + t->pages.usable;
    if (at >= t->pages.usable || !read_varint(&cell, end, &size) ||
        !read_varint(&cell, end, &rowid) || size > t->pages.usable - SPARE ||
        size > (size_t)(end - cell) || !table_read_record(t, cell, (size_t)size, rowid, cells))
        return DB_TABLE_ODD;
    t->next++;
    return DB_TABLE_ROW;
}

void db_table_open(struct db_table *t, const struct db_pages *pages, uint32_t root,
                   const struct db_field *fields, size_t n)
{
    *t = (struct db_table){.pages = *pages, .fields = fields, .n_fields = n};
    t->is_odd = !descend(t, root);
}

void db_table_close(struct db_table *t)
{
    for (size_t i = 0; i < DB_TABLE_DEPTH; i++)
        mem_free(t->levels[i].page);
    mem_free(t->window);
    *t = (struct db_table){0};
}
