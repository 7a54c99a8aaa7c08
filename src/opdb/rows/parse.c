/*
 * Exports become operator tables, beside or in place of those that are there.
 */
#include "opdb/rows/parse.h"

#include <limits.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/tables/hash.h"
#include "opdb/rows/cell.h"

static const uint32_t NO_TABLE = UINT32_MAX;

struct keys {
    int input, output;
};

static struct keys key_columns(const struct op_table *t)
{
    return (struct keys){table_column(t, COL_INPUT_SHAPES), table_column(t, COL_OUTPUT_SHAPES)};
}

static uint64_t parse_key_of(const struct op_table *t, size_t row, struct keys c)
{
    return hash_mix(hash_bytes(cell_trim(table_cell(t, row, c.input))),
                    hash_bytes(cell_trim(table_cell(t, row, c.output))));
}

/* Rows of the import by their key. Keys are unique there. */
static void index_rows(const struct op_table *t, struct keys c, struct hash *index)
{
    for (size_t row = 0; row < t->n_rows; row++)
        hash_put(index, parse_key_of(t, row, c), (uint32_t)row);
}

static bool find_row(const struct hash *index, const struct op_table *fresh, struct keys y,
                     const struct op_table *old, size_t row, struct keys x, uint32_t *out)
{
    return hash_get(index, parse_key_of(old, row, x), out) &&
           str_equal(cell_trim(table_cell(old, row, x.input)),
                     cell_trim(table_cell(fresh, *out, y.input))) &&
           str_equal(cell_trim(table_cell(old, row, x.output)),
                     cell_trim(table_cell(fresh, *out, y.output)));
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

static enum status parse_refuse(const struct parse_file *f, const char *what, struct str names,
                                struct diag *d)
{
    diag_fail(d, ST_UNSUPPORTED, "perfdb.would-lose", (struct where){.path = f->path},
              "replacing this table would drop %s%.*s", what, STR_ARGS(names));
    diag_hint(d, "try", "--merge to keep them, --overwrite to drop them");
    return ST_UNSUPPORTED;
}

static enum status check_losses(const struct parse_file *f, struct arena *arena, struct diag *d)
{
    int average = table_column(&f->old, COL_AVERAGE);
    int filled = table_column(&f->old, column_runtime[RT_COMPLETENESS]);
    struct str unknown = {0};
    size_t n_measured = 0, n_filled = 0;

    for (size_t i = 0; i < f->old.columns.n; i++) {
        struct str name = cell_trim(f->old.columns.at[i]);
        if (!str_is_one_of(name, columns_parsed(), PARSED_N) &&
            !str_is_one_of(name, column_runtime, RUNTIME_N))
            unknown = unknown.n == 0
                          ? name
                          : arena_format(arena, "%.*s, %.*s", STR_ARGS(unknown), STR_ARGS(name));
    }
    for (size_t row = 0; row < f->old.n_rows; row++) {
        n_measured += cell_is_duration(table_cell(&f->old, row, average));
        struct str values = cell_trim(table_cell(&f->old, row, filled)); /* of another command */
        n_filled += values.n > 0 && !str_equal(values, S("profile_shapes_only"));
    }
    if (n_measured > 0)
        return parse_refuse(f, "",
                            arena_format(arena,
                                         "%zu rows with a measured %.*s and the columns %.*s",
                                         n_measured, STR_ARGS(COL_AVERAGE), STR_ARGS(unknown)),
                            d);
    if (unknown.n > 0)
        return parse_refuse(f, "the columns ", unknown, d);
    if (n_filled > 0)
        return parse_refuse(f, "", arena_format(arena, "the runtime values of %zu rows", n_filled),
                            d);
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

static struct targets find_targets(const struct parse_file *f, const struct op_table *to,
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
static void parse_put_row(struct op_table *to, size_t row, const struct parse_file *f,
                          const struct targets *t, size_t from, bool is_new)
{
    for (size_t i = 0; i < f->fresh.columns.n; i++)
        if (is_new || !t->is_kept[i])
            table_set(to, row, t->at[i], table_cell(&f->fresh, from, (int)i));
}

static void copy_rows(struct op_table *to, const struct op_table *from)
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
    struct op_table out;
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
            parse_put_row(&out, row, f, &targets, at, false);
            is_used[at] = true;
        }
    for (size_t row = 0; row < f->fresh.n_rows; row++)
        if (!is_used[row])
            parse_put_row(&out, table_add_row(&out), f, &targets, row, true);
    hash_free(&index);
    /* The texts of the import stay with the merged table. */
    struct arena texts = f->fresh.arena;
    f->fresh.arena = out.arena;
    out.arena = texts;
    table_free(&f->fresh);
    f->fresh = out;
    f->fresh.path = f->path;
}

/* Reads the old tables. Merging puts the import into them; otherwise what would be lost is noted,
 * and with PARSE_CAREFUL losing anything that parse did not write fails with ST_UNSUPPORTED. */
static enum status parse_onto(struct parse_plan *plan, enum parse_mode mode, struct diag *d)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        struct parse_file *f = &plan->files.at[i];
        f->is_there = fs_exists(f->path);
        if (!f->is_there)
            continue;
        /* What cannot be read may still be replaced, when the user says so. */
        enum status st = table_read(&f->old, f->path, mode == PARSE_OVERWRITE ? NULL : d);
        if (mode == PARSE_OVERWRITE && st != ST_OK)
            continue;
        TRY(st);
        if (mode == PARSE_MERGE) {
            merge(f, &plan->arena);
            continue;
        }
        if (mode == PARSE_CAREFUL)
            TRY(check_losses(f, &plan->arena, d));
        note_losses(f, &plan->arena);
    }
    return ST_OK;
}

struct str parse_file_name(struct arena *arena, struct str type)
{
    struct str copy = arena_str(arena, type);
    char *text = arena_cstr(arena, copy);

    for (size_t i = 0; i < copy.n; i++)
        if ((unsigned char)text[i] < 32 || memchr("<>:\"/\\|?*", text[i], 9) != NULL)
            text[i] = '_';
    return arena_format(arena, "%s.csv", copy.n > 0 ? text : "UNKNOWN_TYPE");
}

static enum status read_export(struct parse_plan *plan, const char *path, bool has_folder,
                               struct diag *d)
{
    const char *operators = NULL;

    if (cancelled())
        return ST_CANCELLED;
    if (has_folder) {
        struct str folder = fia_folder(path);
        operators = arena_format(&plan->arena, "%.*s/operator_details.csv", STR_ARGS(folder)).at;
        operators = fs_exists(operators) ? operators : NULL;
    }
    TRY(kernels_read(&plan->kernels, path, d));
    plan->n_exports++;
    return fia_meta_add(&plan->metas, &plan->kernels, path, operators, d);
}

static enum status read_exports(struct parse_plan *plan, const char *source, struct diag *d)
{
    struct fs_list list;

    if (!fs_exists(source))
        return diag_fail(d, ST_NOT_FOUND, "perfdb.no-source", (struct where){0},
                         "kernel_details source path not found: %s", source);
    if (!fs_is_dir(source))
        return read_export(plan, source, false, d);
    TRY(fs_walk(&plan->arena, source, NULL, 0, &list, d));
    for (size_t i = 0; i < list.n; i++) {
        struct str name = list.at[i].name;
        if (list.at[i].kind == FS_FILE && str_ends(name, S(".csv")) &&
            str_contains_nocase(str_part(name, 0, name.n - 4), S("kernel_details")))
            TRY(read_export(plan, list.at[i].path, true, d));
    }
    if (plan->n_exports > 0)
        return ST_OK;
    diag_fail(d, ST_NOT_FOUND, "perfdb.no-exports", (struct where){0},
              "no CSV files with 'kernel_details' in the name found under: %s", source);
    diag_hint(d, "looked for", "*kernel_details*.csv");
    return ST_NOT_FOUND;
}

static void add_group(struct parse_plan *plan, struct op_table *t, struct kernel_group *g,
                      bool is_fia)
{
    struct kernel_stats stats = kernels_stats(g);
    size_t row = table_add_row(t);

    for (int i = 0; i < IDENTITY_N; i++)
        table_set(t, row, i, g->cells[i].n > 0 ? g->cells[i] : S(""));
    table_set(t, row, IDENTITY_N, cell_text6(&t->arena, stats.average));
    table_set(t, row, IDENTITY_N + 1, cell_text6(&t->arena, stats.median));
    table_set(t, row, IDENTITY_N + 2, cell_text6(&t->arena, stats.deviation));
    for (int i = 0; i < COUNTER_N; i++)
        table_set(t, row, IDENTITY_N + 3 + i, cell_text6(&t->arena, stats.counters[i]));
    const struct fia_meta *m =
        is_fia ? fia_meta_find(&plan->metas, g->cells[ID_INPUT_SHAPES], g->cells[ID_OUTPUT_SHAPES])
               : NULL;
    if (m == NULL)
        return;
    table_set(t, row, PARSED_N + RT_SOURCE_PROFILE, m->profile);
    table_set(t, row, PARSED_N + RT_SEQ_SHAPE, m->seq);
    table_set(t, row, PARSED_N + RT_SEQ_KV_SHAPE, m->seq_kv);
    table_set(t, row, PARSED_N + RT_BLOCK_TABLE_SHAPE, m->block_table);
    table_set(t, row, PARSED_N + RT_COMPLETENESS, S("profile_shapes_only"));
}

/* Whether a file can have that name and none of the tables before has it; else it is skipped. */
static bool is_free(struct parse_plan *plan, struct str name, struct hash *taken, struct diag *d)
{
    uint32_t next = (uint32_t)plan->files.n;

    if (name.n > NAME_MAX) {
        const char *begin = arena_printf(&plan->arena, "%.*s…", STR_ARGS(str_fit(name, 40)));
        diag_add(d, SEV_LOSS, "perfdb.long-name", (struct where){.path = begin},
                 "table skipped: its name has %zu bytes, files have at most %d", name.n, NAME_MAX);
    } else if (hash_add(taken, hash_bytes(name), next) != next) {
        diag_add(d, SEV_LOSS, "perfdb.same-name", (struct where){.path = name.at},
                 "table skipped: another operator has this file name");
    } else {
        return true;
    }
    plan->n_skipped++;
    return false;
}

/* An empty table for each type that has a name; `place` tells where the tables of types are. */
static void open_tables(struct parse_plan *plan, const char *dir, uint32_t *place, struct diag *d)
{
    const struct kernels *k = &plan->kernels;
    struct hash taken = {0};

    for (size_t i = 0; i < k->types.n; i++) {
        struct parse_file f = {0};
        struct str name = parse_file_name(&plan->arena, k->types.at[i]);
        place[i] = NO_TABLE;
        if (k->types.at[i].n == 0 || !is_free(plan, name, &taken, d))
            continue;
        place[i] = (uint32_t)plan->files.n;
        f.path = fs_join(&plan->arena, dir, name.at);
        f.op = table_stem(f.path);
        table_init(&f.fresh, f.path);
        table_arrange(&f.fresh, columns_parsed(), PARSED_N);
        if (str_equal(k->types.at[i], KERNELS_FIA))
            for (size_t c = 0; c < RUNTIME_N; c++)
                table_add_column(&f.fresh, column_runtime[c]);
        vec_push(&plan->files, f);
    }
    hash_free(&taken);
}

enum status parse_plan(struct parse_plan *plan, const char *source, const char *dir,
                       enum parse_mode mode, struct diag *d)
{
    struct kernels *k = &plan->kernels;

    *plan = (struct parse_plan){.dir = dir};
    arena_init(&plan->arena);
    kernels_init(&plan->kernels);
    TRY(read_exports(plan, source, d));
    uint32_t *place = ARENA_ARRAY(&plan->arena, uint32_t, k->types.n + 1);
    open_tables(plan, dir, place, d);
    for (size_t i = 0; i < k->groups.n; i++) {
        struct kernel_group *g = &k->groups.at[i];
        if (place[g->type] != NO_TABLE)
            add_group(plan, &plan->files.at[place[g->type]].fresh, g,
                      str_equal(k->types.at[g->type], KERNELS_FIA));
    }
    return parse_onto(plan, mode, d);
}

void parse_plan_free(struct parse_plan *plan)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        table_free(&plan->files.at[i].fresh);
        if (plan->files.at[i].is_there)
            table_free(&plan->files.at[i].old);
    }
    vec_free(&plan->files);
    fia_meta_free(&plan->metas);
    kernels_free(&plan->kernels);
    arena_free(&plan->arena);
}

enum status parse_write(struct parse_plan *plan, struct diag *d)
{
    for (size_t i = 0; i < plan->files.n; i++) {
        if (cancelled())
            return ST_CANCELLED;
        TRY(table_write(&plan->files.at[i].fresh, plan->files.at[i].path, TABLE_NO_BOM, d));
    }
    return ST_OK;
}

static void put_diff(const void *result, struct sink sink)
{
    const struct parse_plan *plan = result;

    for (size_t i = 0; i < plan->files.n && plan->is_dry_run; i++) {
        const struct parse_file *f = &plan->files.at[i];
        table_diff(f->is_there ? &f->old : NULL, &f->fresh, f->path, sink);
    }
}

bool parse_print(const void *result, struct sink sink)
{
    const struct parse_plan *plan = result;
    struct text out = {0};

    put_diff(plan, text_sink(&out));
    text_format(&out, "%s %zu csv file(s) under %s from %s\n",
                plan->is_dry_run ? "Would generate" : "Generated", plan->files.n, plan->dir,
                plan->source);
    bool is_good = sink.write(sink.ctx, text_view(&out));
    text_free(&out);
    return is_good;
}

static struct field_value diff_of(const void *record, const struct record_env *env)
{
    return table_diff_value(record, env, put_diff);
}

static const struct field file_fields[] = {
    FIELD(struct parse_file, op, "operator"),
    FIELD(struct parse_file, path, "path"),
    FIELD(struct parse_file, fresh.n_rows, "rows"),
    FIELD(struct parse_file, rows_dropped, "rows_dropped"),
    FIELD(struct parse_file, columns_lost, "columns_dropped"),
};
static const struct record file_record = RECORD(struct parse_file, file_fields);

static const struct field plan_fields[] = {
    FIELD(struct parse_plan, dir, "database"),
    FIELD(struct parse_plan, source, "source"),
    FIELD(struct parse_plan, is_dry_run, "is_dry_run"),
    FIELD_CALC(FIELD_STR, "diff", diff_of, .missing = MISSING_EMPTY,
               .about = "what a dry run would change"),
    FIELD(struct parse_plan, n_exports, "exports"),
    FIELD(struct parse_plan, kernels.rows, "rows_read"),
    FIELD_LIST(struct parse_plan, files.at, files.n, "tables", &file_record),
};
static const struct record plan_record = RECORD(struct parse_plan, plan_fields);

const struct schema parse_schema = {
    .name = "strata.db-parse/1",
    .title = "kernel_details exports as operator tables",
    .record = &plan_record,
};
