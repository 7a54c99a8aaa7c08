#include "perfdb/table.h"

#include "base/csv.h"
#include "base/limits.h"
#include "perfdb/cell.h"

#define BOM "\xef\xbb\xbf"

void table_init(struct table *t, const char *path)
{
    *t = (struct table){0};
    arena_init(&t->arena);
    t->path = arena_cstr(&t->arena, str_of(path));
}

void table_free(struct table *t)
{
    vec_free(&t->columns);
    vec_free(&t->lines);
    vec_free(&t->ragged);
    vec_free(&t->cells);
    mapfile_close(&t->map);
    arena_free(&t->arena);
}

static enum status refuse_pointer(const struct table *t, struct diag *d)
{
    diag_fail(d, ST_FORMAT, "perfdb.lfs-pointer", (struct where){t->path, 1, 0},
              "a Git LFS pointer, not the table itself");
    diag_hint(d, "try", "git lfs pull, in the repository that holds the file");
    return ST_FORMAT;
}

/* A cell as the exporter meant it: doubled quotes are one, but only inside quotes. */
static struct str take_cell(struct table *t, const struct csv *csv, size_t i)
{
    struct str cell = csv_cell(csv, (int)i);

    if (csv_span(csv, i, i).n == cell.n)
        return cell;
    return csv_unquote(cell, &t->arena);
}

static void take_header(struct table *t, const struct csv *csv)
{
    size_t n = csv_header_count(csv);

    for (size_t i = 0; i < n; i++)
        vec_push(&t->columns, take_cell(t, csv, i));
}

static enum status too_large(const struct table *t, uint64_t line, struct diag *d)
{
    diag_fail(d, ST_LIMIT, "perfdb.too-large", (struct where){t->path, line, 0},
              "a table has at most %d MiB and %d million cells", LIMIT_TABLE_BYTES >> 20,
              LIMIT_TABLE_CELLS / 1000000);
    diag_hint(d, "try", "split the table, one part per folder");
    return ST_LIMIT;
}

static void take_row(struct table *t, const struct csv *csv)
{
    size_t n = csv->n_cells < t->columns.n ? csv->n_cells : t->columns.n;
    size_t row = table_add_row(t);
    struct str *cells = &t->cells.at[row * t->columns.n];

    t->lines.at[row] = csv->line;
    for (size_t i = 0; i < n; i++)
        cells[i] = take_cell(t, csv, i);
    if (csv->n_cells != t->columns.n)
        vec_push(&t->ragged, ((struct table_ragged){csv->line, csv->n_cells}));
}

static enum status take_rows(struct table *t, struct csv *csv, struct diag *d)
{
    while (csv_next(csv)) {
        if (csv->is_broken)
            return diag_fail(d, ST_FORMAT, "perfdb.cut-off", (struct where){t->path, csv->line, 0},
                             "the file ends inside a quoted cell");
        if ((t->n_rows + 1) * t->columns.n > LIMIT_TABLE_CELLS)
            return too_large(t, csv->line, d);
        take_row(t, csv);
    }
    return ST_OK;
}

static enum status take_text(struct table *t, struct str text, struct diag *d)
{
    struct csv csv;

    if (text.n > LIMIT_TABLE_BYTES)
        return too_large(t, 1, d);
    t->has_bom = str_starts(text, S(BOM));
    while (str_starts(text, S(BOM))) /* tools that add one to what has one */
        text = str_part(text, sizeof(BOM) - 1, text.n);
    csv_open(&csv, text);
    take_header(t, &csv);
    if (t->columns.n == 0)
        return ST_OK;
    if (str_starts(cell_bare(t->columns.at[0]), S("version https://git-lfs.github.com/spec/")))
        return refuse_pointer(t, d);
    if (csv.is_broken)
        return diag_fail(d, ST_FORMAT, "perfdb.cut-off", (struct where){t->path, csv.line, 0},
                         "the file ends inside a quoted cell");
    return take_rows(t, &csv, d);
}

enum status table_parse(struct table *t, const char *path, struct str text, struct diag *d)
{
    table_init(t, path);
    return take_text(t, text, d);
}

enum status table_read(struct table *t, const char *path, struct diag *d)
{
    table_init(t, path);
    TRY(mapfile_open(&t->map, path, d));
    return take_text(t, t->map.text, d);
}

int table_column(const struct table *t, struct str name)
{
    for (size_t i = 0; i < t->columns.n; i++)
        if (str_equal(cell_trim(t->columns.at[i]), name))
            return (int)i;
    return -1;
}

size_t table_add_row(struct table *t)
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
static int unused_column(const struct table *t, struct str name, const int *used, size_t n)
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

void table_arrange(struct table *t, const struct str *names, size_t n)
{
    struct table old = *t;
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

int table_add_column(struct table *t, struct str name)
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

void table_drop_rows(struct table *t, const bool *is_dropped)
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

bool table_equal(const struct table *a, const struct table *b)
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

bool table_is_leftover(struct str name)
{
    return str_ends(name, S(".tmp.csv"));
}

struct str table_stem(const char *path)
{
    struct str name = str_basename(str_of(path));

    return str_ends(name, S(".csv")) ? str_part(name, 0, name.n - 4) : name;
}
