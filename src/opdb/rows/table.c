/*
 * Operator tables: read, changed, compared row by row, and written whole.
 */
#include "opdb/rows/table.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/formats/csv.h"
#include "base/formats/csv_write.h"
#include "base/limits.h"
#include "base/tables/hash.h"
#include "base/text/inert.h"
#include "opdb/rows/cell.h"

#define TABLE_TEMP ".strata.tmp"

enum { SUFFIX = 8 }; /* of a temporary, its dot included */

#define BOM "\xef\xbb\xbf"

void table_init(struct op_table *t, const char *path)
{
    *t = (struct op_table){0};
    arena_init(&t->arena);
    t->path = arena_cstr(&t->arena, str_of(path));
}

void table_free(struct op_table *t)
{
    vec_free(&t->columns);
    vec_free(&t->lines);
    vec_free(&t->ragged);
    vec_free(&t->cells);
    mapfile_close(&t->map);
    arena_free(&t->arena);
}

enum status table_refuse_pointer(const char *path, struct diag *d)
{
    diag_fail(d, ST_FORMAT, "perfdb.lfs-pointer", (struct where){path, 1, 0},
              "a Git LFS pointer, not the table");
    diag_hint(d, "try", "git lfs pull, in the repository of the file");
    return ST_FORMAT;
}

/* A cell as the exporter meant it: doubled quotes are one, but only inside quotes. */
static struct str read_cell(struct op_table *t, const struct csv *csv, size_t i)
{
    struct str cell = csv_cell(csv, (int)i);

    if (csv_span(csv, i, i).n == cell.n)
        return cell;
    return csv_unquote(cell, &t->arena);
}

/* Drops every mark: tools add one to what has one. */
static struct str without_bom(struct str text)
{
    while (str_skip(&text, S(BOM)))
        ;
    return text;
}

static enum status too_large(const struct op_table *t, uint64_t line, struct diag *d)
{
    diag_fail(d, ST_LIMIT, "perfdb.too-large", (struct where){t->path, line, 0},
              "a table may have at most %d MiB and %d million cells", LIMIT_TABLE_BYTES >> 20,
              LIMIT_TABLE_CELLS / 1000000);
    diag_hint(d, "try", "split the table, one part per folder");
    return ST_LIMIT;
}

static enum status read_rows(struct op_table *t, struct csv *csv, struct diag *d)
{
    while (csv_next(csv)) {
        if (csv->is_broken)
            return diag_fail(d, ST_FORMAT, "perfdb.cut-off", (struct where){t->path, csv->line, 0},
                             "the file ends inside a quoted cell");
        if ((t->n_rows + 1) * t->columns.n > LIMIT_TABLE_CELLS)
            return too_large(t, csv->line, d);
        size_t n = csv->n_cells < t->columns.n ? csv->n_cells : t->columns.n;
        size_t row = table_add_row(t);
        struct str *cells = &t->cells.at[row * t->columns.n];
        t->lines.at[row] = csv->line;
        for (size_t i = 0; i < n; i++)
            cells[i] = read_cell(t, csv, i);
        if (csv->n_cells != t->columns.n)
            vec_push(&t->ragged, ((struct table_ragged){csv->line, csv->n_cells}));
    }
    return ST_OK;
}

static enum status parse_text(struct op_table *t, struct str text, struct diag *d)
{
    struct csv csv;

    if (text.n > LIMIT_TABLE_BYTES)
        return too_large(t, 1, d);
    t->has_bom = str_starts(text, S(BOM));
    csv_open(&csv, without_bom(text));
    size_t n = csv_header_count(&csv);
    for (size_t i = 0; i < n; i++)
        vec_push(&t->columns, read_cell(t, &csv, i));
    if (n > 0)
        t->columns.at[0] = without_bom(t->columns.at[0]);
    if (t->columns.n == 0)
        return ST_OK;
    if (str_starts(cell_bare(t->columns.at[0]), TABLE_POINTER))
        return table_refuse_pointer(t->path, d);
    if (csv.is_broken)
        return diag_fail(d, ST_FORMAT, "perfdb.cut-off", (struct where){t->path, csv.line, 0},
                         "the file ends inside a quoted cell");
    return read_rows(t, &csv, d);
}

enum status table_parse(struct op_table *t, const char *path, struct str text, struct diag *d)
{
    table_init(t, path);
    return parse_text(t, text, d);
}

enum status table_read(struct op_table *t, const char *path, struct diag *d)
{
    table_init(t, path);
    TRY(mapfile_open(&t->map, path, d));
    return parse_text(t, t->map.text, d);
}

int table_column(const struct op_table *t, struct str name)
{
    for (size_t i = 0; i < t->columns.n; i++)
        if (str_equal(cell_trim(t->columns.at[i]), name))
            return (int)i;
    return -1;
}

size_t table_add_row(struct op_table *t)
{
    size_t from = t->n_rows * t->columns.n;

    vec_reserve(&t->cells, from + t->columns.n);
    for (size_t i = 0; i < t->columns.n; i++)
        t->cells.at[from + i] = S("");
    t->cells.n = from + t->columns.n;
    vec_push(&t->lines, 0);
    return t->n_rows++;
}

/* The first column of that name that no other one was made from: names may come twice. */
static int unused_column(const struct op_table *t, struct str name, const int *used, size_t n)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        bool is_free = str_equal(cell_trim(t->columns.at[i]), cell_trim(name));
        for (size_t k = 0; k < n && is_free; k++)
            is_free = used[k] != (int)i;
        if (is_free)
            return (int)i;
    }
    return -1;
}

void table_arrange(struct op_table *t, const struct str *names, size_t n)
{
    struct op_table old = *t;
    int *from = mem_grow(NULL, sizeof(*from), n + 1);

    for (size_t i = 0; i < n; i++)
        from[i] = unused_column(&old, names[i], from, i);
    bool is_same = n == old.columns.n;
    for (size_t i = 0; i < n && is_same; i++)
        is_same = from[i] == (int)i;
    if (is_same) {
        mem_free(from);
        return;
    }
    memset(&t->columns, 0, sizeof(t->columns));
    memset(&t->cells, 0, sizeof(t->cells));
    vec_reserve(&t->columns, n);
    for (size_t i = 0; i < n; i++)
        vec_push(&t->columns, from[i] >= 0 ? old.columns.at[from[i]] : names[i]);
    vec_reserve(&t->cells, t->n_rows * n);
    for (size_t row = 0; row < t->n_rows; row++)
        for (size_t i = 0; i < n; i++)
            t->cells.at[t->cells.n++] = table_cell(&old, row, from[i]);
    mem_free(from);
    vec_free(&old.columns);
    vec_free(&old.cells);
}

int table_add_column(struct op_table *t, struct str name)
{
    int there = table_column(t, name);
    size_t n = t->columns.n;

    if (there >= 0)
        return there;
    struct str *names = mem_grow(NULL, sizeof(*names), n + 1);
    if (n > 0)
        memcpy(names, t->columns.at, n * sizeof(*names));
    names[n] = name;
    table_arrange(t, names, n + 1);
    mem_free(names);
    return (int)n;
}

void table_drop_rows(struct op_table *t, const bool *is_dropped)
{
    size_t n = t->columns.n, kept = 0;

    for (size_t row = 0; row < t->n_rows; row++) {
        if (is_dropped[row])
            continue;
        if (kept != row && n > 0)
            memmove(&t->cells.at[kept * n], &t->cells.at[row * n], n * sizeof(struct str));
        t->lines.at[kept++] = t->lines.at[row];
    }
    t->n_rows = t->lines.n = kept;
    t->cells.n = kept * n;
}

bool table_equal(const struct op_table *a, const struct op_table *b)
{
    if (a->n_rows != b->n_rows || a->columns.n != b->columns.n)
        return false;
    for (size_t i = 0; i < a->columns.n; i++)
        if (!str_equal(a->columns.at[i], b->columns.at[i]))
            return false;
    for (size_t i = 0; i < a->cells.n; i++)
        if (!str_equal(a->cells.at[i], b->cells.at[i]))
            return false;
    return true;
}

bool table_is_temporary(struct str name)
{
    return str_ends(name, S(".tmp.csv"));
}

/* "X.PID.strata.tmp.csv", or another ending for a report: what open_swap() makes, and no copy of it
 * under a longer name. */
bool table_is_leftover(struct str name)
{
    size_t dot = name.n, from;

    while (dot > 0 && name.at[dot - 1] != '.')
        dot--;
    struct str whole = str_part(name, 0, dot > 0 ? dot - 1 : 0);
    if (name.n - dot + 1 > SUFFIX || !str_ends(whole, S(TABLE_TEMP)))
        return false;
    size_t end = from = whole.n - (sizeof(TABLE_TEMP) - 1);
    while (from > 0 && name.at[from - 1] != '.')
        from--;
    return from > 1 && fs_is_gone(str_part(name, from, end - from));
}

struct str table_stem(const char *path)
{
    struct str name = str_basename(str_of(path));

    return str_ends(name, S(".csv")) ? str_part(name, 0, name.n - 4) : name;
}

static uint64_t hash_row(const struct op_table *t, size_t row)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < t->columns.n; i++)
        hash = hash_mix(hash, hash_bytes(table_cell(t, row, (int)i)));
    return hash;
}

/* How often each row comes. */
static void table_count_rows(const struct op_table *t, struct hash *counts)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        uint64_t hash = hash_row(t, row);
        uint32_t n = 0;
        hash_get(counts, hash, &n);
        hash_put(counts, hash, n + 1);
    }
}

static bool is_ahead(const struct hash *counts, uint64_t hash)
{
    uint32_t n = 0;

    return hash_get(counts, hash, &n) && n > 0;
}

static void uncount(struct hash *counts, uint64_t hash)
{
    uint32_t n = 0;

    if (hash_get(counts, hash, &n) && n > 0)
        hash_put(counts, hash, n - 1);
}

static void put_cells(struct sink sink, struct str sign, const struct str *cells, size_t n)
{
    sink.write(sink.ctx, sign);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sink.write(sink.ctx, S(","));
        inert_write(sink, cells[i]);
    }
    sink.write(sink.ctx, S("\n"));
}

/* Rows move between files, so lines that come later on the other side are kept: `in_old` and
 * `in_fresh` count what is still ahead. */
static void diff_rows(const struct op_table *old, const struct op_table *fresh, struct sink sink)
{
    struct hash in_old = {0}, in_fresh = {0};
    size_t a = 0, b = 0;

    table_count_rows(old, &in_old);
    table_count_rows(fresh, &in_fresh);
    while (a < old->n_rows || b < fresh->n_rows) {
        uint64_t x = a < old->n_rows ? hash_row(old, a) : 0;
        uint64_t y = b < fresh->n_rows ? hash_row(fresh, b) : 0;
        bool has_both = a < old->n_rows && b < fresh->n_rows;
        if (has_both && x == y) {
            a++, b++;
            uncount(&in_old, x);
            uncount(&in_fresh, y);
        } else if (a < old->n_rows &&
                   (!has_both || !is_ahead(&in_fresh, x) || is_ahead(&in_old, y))) {
            put_cells(sink, S("-"), &old->cells.at[a++ * old->columns.n], old->columns.n);
            uncount(&in_old, x);
        } else {
            put_cells(sink, S("+"), &fresh->cells.at[b++ * fresh->columns.n], fresh->columns.n);
            uncount(&in_fresh, y);
        }
    }
    hash_free(&in_old);
    hash_free(&in_fresh);
}

void table_diff(const struct op_table *old, const struct op_table *fresh, const char *path,
                struct sink sink)
{
    struct op_table none;

    if (old != NULL && table_equal(old, fresh))
        return;
    sink.write(sink.ctx, S("--- "));
    inert_write(sink, old != NULL ? str_of(path) : S("/dev/null"));
    sink.write(sink.ctx, S("\n+++ "));
    inert_write(sink, str_of(path));
    sink.write(sink.ctx, S("\n"));
    table_init(&none, path);
    old = old != NULL ? old : &none;
    bool is_same_head = old->columns.n == fresh->columns.n;
    for (size_t i = 0; i < fresh->columns.n && is_same_head; i++)
        is_same_head = str_equal(old->columns.at[i], fresh->columns.at[i]);
    if (!is_same_head && old->columns.n > 0)
        put_cells(sink, S("-"), old->columns.at, old->columns.n);
    if (!is_same_head)
        put_cells(sink, S("+"), fresh->columns.at, fresh->columns.n);
    diff_rows(old, fresh, sink);
    table_free(&none);
}

struct field_value table_diff_value(const void *result, const struct record_env *env,
                                    void (*put)(const void *result, struct sink sink))
{
    struct text diff = {0};

    put(result, text_sink(&diff));
    return value_text(text_keep(&diff, env->arena));
}

bool table_print(const struct op_table *t, enum table_bom bom, struct sink sink)
{
    struct csv_write *out = mem_grow(NULL, sizeof(*out), 1);

    csv_write_open(out, sink);
    out->is_plain = out->has_crlf = true;
    if (bom == TABLE_BOM)
        text_out_put(&out->text, S("\xef\xbb\xbf"));
    csv_write_cells(out, t->columns.at, t->columns.n);
    for (size_t row = 0; row < t->n_rows; row++)
        csv_write_cells(out, &t->cells.at[row * t->columns.n], t->columns.n);
    bool is_fine = csv_write_close(out);
    mem_free(out);
    return is_fine;
}

/* The temporary of X.csv is X.PID.strata.tmp.csv, see table_is_leftover(); X is cut to make it a
 * name. */
static enum status open_swap(struct outfile *f, const char *path, struct diag *d)
{
    enum { STEM = NAME_MAX - 40 };
    struct str name = str_basename(str_of(path));
    size_t dot = name.n;
    char temp[NAME_MAX + 1];

    for (size_t i = 1; i < name.n; i++)
        if (name.at[i] == '.')
            dot = i;
    struct str suffix = dot < name.n ? str_part(name, dot, SUFFIX) : S(".csv");
    snprintf(temp, sizeof(temp), "%.*s.%ld" TABLE_TEMP "%.*s",
             STR_ARGS(str_part(name, 0, dot < STEM ? dot : STEM)), (long)getpid(),
             STR_ARGS(suffix));
    return outfile_update_as(f, path, temp, d);
}

/* A file that is compared while its bytes would be written. */
struct same_bytes {
    struct str rest;
    bool is_same;
};

static bool compare_next(void *ctx, struct str bytes)
{
    struct same_bytes *s = ctx;

    s->is_same = s->is_same && str_starts(s->rest, bytes);
    if (s->is_same)
        s->rest = str_part(s->rest, bytes.n, s->rest.n);
    return s->is_same;
}

bool table_is_at(const struct op_table *t, enum table_bom bom, const char *path)
{
    struct mapfile map;

    if (!fs_exists(path) || mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    struct same_bytes s = {map.text, true};
    bool is_same =
        table_print(t, bom, (struct sink){compare_next, &s}) && s.is_same && s.rest.n == 0;
    mapfile_close(&map);
    return is_same;
}

enum status table_write(const struct op_table *t, const char *path, enum table_bom bom,
                        struct diag *d)
{
    struct outfile f;

    if (table_is_at(t, bom, path))
        return ST_OK;
    TRY(open_swap(&f, path, d));
    table_print(t, bom, outfile_sink(&f)); /* the commit tells of a failure */
    return outfile_commit(&f, OUTFILE_SYNC, d);
}

enum status table_write_text(const char *path, struct str text, struct diag *d)
{
    struct outfile f;

    TRY(open_swap(&f, path, d));
    outfile_write(&f, text);
    return outfile_commit(&f, OUTFILE_SYNC, d);
}
