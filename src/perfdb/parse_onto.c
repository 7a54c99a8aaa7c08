#include "perfdb/parse_onto.h"

#include "base/fs.h"
#include "base/hash.h"
#include "perfdb/cell.h"
#include "perfdb/row.h"

static bool is_runtime(struct str name)
{
    for (size_t i = 0; i < RUNTIME_N; i++)
        if (str_equal(name, column_runtime[i]))
            return true;
    return false;
}

/* A column parse itself writes into some table. */
static bool is_known(struct str name)
{
    for (size_t i = 0; i < PARSED_N; i++)
        if (str_equal(name, column_parsed()[i]))
            return true;
    return is_runtime(name);
}

struct keys {
    int input, output;
};

static struct keys key_columns(const struct table *t)
{
    return (struct keys){table_column(t, COL_INPUT_SHAPES), table_column(t, COL_OUTPUT_SHAPES)};
}

static uint64_t key_of(const struct table *t, size_t row, struct keys c)
{
    return hash_mix(hash_bytes(cell_trim(table_cell(t, row, c.input))),
                    hash_bytes(cell_trim(table_cell(t, row, c.output))));
}

static bool same_key(const struct table *a, size_t row_a, struct keys x, const struct table *b,
                     size_t row_b, struct keys y)
{
    return str_equal(cell_trim(table_cell(a, row_a, x.input)),
                     cell_trim(table_cell(b, row_b, y.input))) &&
           str_equal(cell_trim(table_cell(a, row_a, x.output)),
                     cell_trim(table_cell(b, row_b, y.output)));
}

/* Rows of the import by their key. Keys are unique there. */
static void index_rows(const struct table *t, struct keys c, struct hash *index)
{
    for (size_t row = 0; row < t->n_rows; row++)
        hash_put(index, key_of(t, row, c), (uint32_t)row);
}

static bool find_row(const struct hash *index, const struct table *fresh, struct keys y,
                     const struct table *old, size_t row, struct keys x, uint32_t *out)
{
    return hash_get(index, key_of(old, row, x), out) && same_key(old, row, x, fresh, *out, y);
}

/* What goes when the old table is replaced. */
static void note_losses(struct parse_file *f, struct arena *arena)
{
    struct keys x = key_columns(&f->old), y = key_columns(&f->fresh);
    struct hash index = {0};
    uint32_t at;

    index_rows(&f->fresh, y, &index);
    for (size_t row = 0; row < f->old.n_rows; row++)
        f->rows_dropped += !find_row(&index, &f->fresh, y, &f->old, row, x, &at);
    hash_free(&index);
    for (size_t i = 0; i < f->old.columns.n; i++) {
        struct str name = cell_trim(f->old.columns.at[i]);
        if (table_column(&f->fresh, name) >= 0)
            continue;
        f->columns_lost =
            f->columns_lost.n == 0
                ? name
                : arena_format(arena, "%.*s, %.*s", STR_ARGS(f->columns_lost), STR_ARGS(name));
    }
}

static enum status refuse(const struct parse_file *f, const char *what, struct str names,
                          struct diag *d)
{
    diag_fail(d, ST_UNSUPPORTED, "perfdb.would-lose", (struct where){.path = f->path},
              "replacing this table would lose %s%.*s", what, STR_ARGS(names));
    diag_hint(d, "try", "--merge to keep them, --overwrite to drop them");
    return ST_UNSUPPORTED;
}

/* Runtime values that another command put there. */
static bool is_filled(struct str completeness)
{
    completeness = cell_trim(completeness);
    return completeness.n > 0 && !str_equal(completeness, S("profile_shapes_only"));
}

static enum status check_losses(const struct parse_file *f, struct arena *arena, struct diag *d)
{
    int average = table_column(&f->old, COL_AVERAGE);
    int filled = table_column(&f->old, column_runtime[RT_COMPLETENESS]);
    struct str unknown = {0};
    size_t n_measured = 0, n_filled = 0;

    for (size_t i = 0; i < f->old.columns.n; i++) {
        struct str name = cell_trim(f->old.columns.at[i]);
        if (!is_known(name))
            unknown = unknown.n == 0
                          ? name
                          : arena_format(arena, "%.*s, %.*s", STR_ARGS(unknown), STR_ARGS(name));
    }
    for (size_t row = 0; row < f->old.n_rows; row++) {
        n_measured += row_is_duration(table_cell(&f->old, row, average));
        n_filled += is_filled(table_cell(&f->old, row, filled));
    }
    if (n_measured > 0)
        return refuse(f, "",
                      arena_format(arena, "%zu rows with a measured %.*s and the columns %.*s",
                                   n_measured, STR_ARGS(COL_AVERAGE), STR_ARGS(unknown)),
                      d);
    if (unknown.n > 0)
        return refuse(f, "the columns ", unknown, d);
    if (n_filled > 0)
        return refuse(f, "", arena_format(arena, "the runtime values of %zu rows", n_filled), d);
    return ST_OK;
}

/* The columns of the old table in their order, then those of the import it lacks. */
static size_t merged_columns(const struct parse_file *f, struct arena *arena, struct str **out)
{
    size_t n = f->old.columns.n;

    *out = ARENA_ARRAY(arena, struct str, n + f->fresh.columns.n);
    if (n > 0)
        memcpy(*out, f->old.columns.at, n * sizeof(**out));
    for (size_t i = 0; i < f->fresh.columns.n; i++)
        if (table_column(&f->old, f->fresh.columns.at[i]) < 0)
            (*out)[n++] = f->fresh.columns.at[i];
    return n;
}

/* Where the columns of the import are in the merged table, and which cells of old rows stay: all
 * but the figures of a profile. */
struct targets {
    int *at;
    bool *is_kept;
};

static struct targets find_targets(const struct parse_file *f, const struct table *to,
                                   struct arena *arena)
{
    size_t n = f->fresh.columns.n;
    struct targets t = {ARENA_ARRAY(arena, int, n), ARENA_ARRAY(arena, bool, n)};

    for (size_t i = 0; i < n; i++) {
        t.at[i] = table_column(to, f->fresh.columns.at[i]);
        t.is_kept[i] = i >= PARSED_N && table_column(&f->old, f->fresh.columns.at[i]) >= 0;
    }
    return t;
}

/* Puts an imported row over `row` of the merged table. */
static void put_row(struct table *to, size_t row, const struct parse_file *f,
                    const struct targets *t, size_t from, bool is_new)
{
    for (size_t i = 0; i < f->fresh.columns.n; i++)
        if (is_new || !t->is_kept[i])
            table_set(to, row, t->at[i], table_cell(&f->fresh, from, (int)i));
}

static void copy_rows(struct table *to, const struct table *from)
{
    for (size_t row = 0; row < from->n_rows; row++) {
        size_t at = table_add_row(to);
        to->lines.at[at] = from->lines.at[row];
        for (size_t i = 0; i < from->columns.n; i++)
            table_set(to, at, (int)i, table_cell(from, row, (int)i));
    }
}

/* Cells of the result point into `old` and into the import, which live as long as the plan. */
static void merge(struct parse_file *f, struct arena *arena)
{
    struct keys x = key_columns(&f->old), y = key_columns(&f->fresh);
    struct hash index = {0};
    struct str *columns;
    struct table out;
    uint32_t at;

    size_t n = merged_columns(f, arena, &columns);
    bool *is_used = ARENA_ARRAY(arena, bool, f->fresh.n_rows + 1);
    table_init(&out, f->path);
    table_arrange(&out, columns, n);
    struct targets targets = find_targets(f, &out, arena);
    copy_rows(&out, &f->old);
    index_rows(&f->fresh, y, &index);
    for (size_t row = 0; row < f->old.n_rows; row++)
        if (find_row(&index, &f->fresh, y, &f->old, row, x, &at)) {
            put_row(&out, row, f, &targets, at, false);
            is_used[at] = true;
        }
    for (size_t row = 0; row < f->fresh.n_rows; row++)
        if (!is_used[row])
            put_row(&out, table_add_row(&out), f, &targets, row, true);
    hash_free(&index);
    /* The texts of the import stay with the merged table. */
    struct arena texts = f->fresh.arena;
    f->fresh.arena = out.arena;
    out.arena = texts;
    table_free(&f->fresh);
    f->fresh = out;
    f->fresh.path = f->path;
}

enum status parse_onto(struct parse_plan *plan, enum parse_mode mode, struct diag *d)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        struct parse_file *f = &plan->files.at[i];
        if (!fs_exists(f->path))
            continue;
        /* What cannot be read may still be replaced, when the user says so. */
        if (mode == PARSE_OVERWRITE) {
            struct diag quiet;
            diag_init(&quiet);
            f->is_there = true;
            if (table_read(&f->old, f->path, &quiet) == ST_OK)
                note_losses(f, &plan->arena);
            diag_fini(&quiet);
            continue;
        }
        f->is_there = true;
        TRY(table_read(&f->old, f->path, d));
        if (mode == PARSE_MERGE) {
            merge(f, &plan->arena);
            continue;
        }
        TRY(check_losses(f, &plan->arena, d));
        note_losses(f, &plan->arena);
    }
    return ST_OK;
}
