/*
 * Judges the tables of a database, cell by cell and row by row.
 */
#include "opdb/rows/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/run/cancel.h"
#include "capture/classify.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/signature.h"
#include "opdb/rows/table.h"

void check_init(struct check *c)
{
    *c = (struct check){0};
    arena_init(&c->arena);
}

void check_free(struct check *c)
{
    vec_free(&c->findings);
    vec_free(&c->tables);
    arena_free(&c->arena);
}

enum { FINDING_TEXT = 512, FINDINGS_MAX = 100000 };

__attribute__((format(printf, 5, 6))) static void found(struct check *c,
                                                        const struct place_file *file,
                                                        uint64_t line, bool is_note,
                                                        const char *format, ...)
{
    char text[FINDING_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->problems += !is_note;
    c->notes += is_note;
    if (++c->of_table > FINDINGS_MAX)
        return;
    struct check_finding f = {file->path, line, is_note, arena_str(&c->arena, str_of(text))};
    vec_push(&c->findings, f);
}

enum kind { COLUMN_OTHER, COLUMN_DURATION, COLUMN_RATIO, COLUMN_SHAPES };

static enum kind check_kind_of(struct str name)
{
    name = cell_trim(name);
    if (str_ends(name, S("Duration(us)")))
        return COLUMN_DURATION;
    if (str_ends(name, S("_ratio")))
        return COLUMN_RATIO;
    return str_equal(name, COL_INPUT_SHAPES) || str_equal(name, COL_OUTPUT_SHAPES) ? COLUMN_SHAPES
                                                                                   : COLUMN_OTHER;
}

/* Exports round ratios to three decimals. */
#define RATIO_ROUNDING 0.0011

static void check_shapes(struct check *c, const struct place_file *file, uint64_t line,
                         struct str name, struct str cell)
{
    struct cell_slots slots = cell_slots(&c->arena, cell);
    struct cell_dims dims;

    for (size_t i = 0; i < slots.n; i++)
        if (!cell_dims(&c->arena, slots.at[i], &dims)) {
            found(c, file, line, false, "%.*s: slot %zu is not a shape: \"%.*s\"", STR_ARGS(name),
                  i, STR_ARGS(slots.at[i]));
            return;
        }
}

static void check_cell(struct check *c, const struct place_file *file, uint64_t line,
                       struct str name, enum kind kind, struct str cell)
{
    struct arena_mark mark = arena_mark(&c->arena);
    size_t before = c->findings.n;
    double value;

    if (kind == COLUMN_SHAPES)
        check_shapes(c, file, line, name, cell);
    else if (!cell_number(cell, &value))
        return;
    else if (kind == COLUMN_DURATION && (isnan(value) || isinf(value) || value < 0))
        found(c, file, line, false, "%.*s is %s: %.*s", STR_ARGS(name),
              isnan(value)   ? "not a number"
              : isinf(value) ? "infinite"
                             : "negative",
              STR_ARGS(cell_trim(cell)));
    else if (kind == COLUMN_RATIO && !(value >= -RATIO_ROUNDING && value <= 1 + RATIO_ROUNDING))
        found(c, file, line, false, "%.*s is outside 0 to 1: %.*s", STR_ARGS(name),
              STR_ARGS(cell_trim(cell)));
    if (c->findings.n == before)
        arena_rewind(&c->arena, mark);
}

static void check_cells(struct check *c, const struct place_file *file, const struct op_table *t)
{
    enum kind *kinds = ARENA_ARRAY(&c->arena, enum kind, t->columns.n + 1);

    for (size_t i = 0; i < t->columns.n; i++)
        kinds[i] = check_kind_of(t->columns.at[i]);
    for (size_t row = 0; row < t->n_rows; row++)
        for (size_t i = 0; i < t->columns.n; i++)
            if (kinds[i] != COLUMN_OTHER)
                check_cell(c, file, t->lines.at[row], cell_trim(t->columns.at[i]), kinds[i],
                           table_cell(t, row, (int)i));
}

static bool is_collective(const struct place_file *file, const struct op_table *t)
{
    return classify_is_collective(file->op) || table_column(t, S("message_bytes")) >= 0;
}

static void check_columns(struct check *c, const struct place_file *file, const struct op_table *t)
{
    static const struct str of_collective[] = {S_INIT("message_bytes"), S_INIT("num_devices")};
    bool is_comm = is_collective(file, t);
    const struct str *wanted = is_comm ? of_collective : column_identity;
    size_t n = is_comm ? ARRAY_LEN(of_collective) : IDENTITY_N;

    for (size_t i = 0; i < n; i++)
        if (table_column(t, wanted[i]) < 0)
            found(c, file, 1, false, "the column %.*s is missing", STR_ARGS(wanted[i]));
}

/* Rows with a duration, which may be replayed (also under its older name), profiled, of a
 * collective; the others, and doubles, are worth a note. */
static void check_rows(struct check *c, const struct place_file *file, const struct op_table *t,
                       struct check_table *sum)
{
    const int durations[] = {table_column(t, COL_AVERAGE), table_column(t, COL_PROFILED),
                             table_column(t, S("MicroBench Duration(us)")),
                             table_column(t, COL_DURATION)};
    struct signature_columns keys = signature_find(t);
    struct signature_index index = {0};
    bool is_comm = is_collective(file, t);

    for (size_t row = 0; row < t->n_rows; row++) {
        bool is_new = true;
        uint32_t first = 0;
        if (!is_comm) {
            struct signature_row cells = signature_read(t, row, &keys);
            struct signature s = signature_of(&c->arena, file->op, &cells);
            first = signature_index_add(&index, &s, (uint32_t)row, &is_new);
        }
        if (!is_new)
            found(c, file, t->lines.at[row], true, "duplicate of line %llu",
                  (unsigned long long)t->lines.at[first]);
        bool is_valid = false;
        for (size_t i = 0; i < ARRAY_LEN(durations) && !is_valid; i++)
            is_valid = cell_is_duration(table_cell(t, row, durations[i]));
        sum->valid += is_valid;
        if (!is_valid)
            found(c, file, t->lines.at[row], true, "no valid duration");
    }
    signature_index_free(&index);
}

static void check_ragged(struct check *c, const struct place_file *file, const struct op_table *t)
{
    for (size_t i = 0; i < t->ragged.n; i++)
        found(c, file, t->ragged.at[i].line, false, "the row has %zu cells, the header %zu",
              t->ragged.at[i].cells, t->columns.n);
}

/* What the reader said becomes the finding. */
static void unreadable(struct check *c, const struct place_file *file, const struct diag *d)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (d->entries.at[i].severity == SEV_ERROR) {
            const struct diag_text *t = &d->entries.at[i].first[0];
            found(c, file, t->where.line > 0 ? t->where.line : 1, false, "%s", t->text);
            return;
        }
}

/* By line; problems before notes, else as they were found. */
ORDER_BY(by_line, struct check_finding,
         ORDER(x->line, y->line) ?: ORDER(x->is_note, y->is_note) ?: str_compare(x->what, y->what));

void check_table(struct check *c, const struct place_file *file)
{
    size_t before = c->findings.n;
    struct check_table sum = {.path = file->path, .op = file->op};
    struct op_table t;
    struct diag d;

    c->of_table = 0;
    diag_init(&d);
    if (table_read(&t, file->path, &d) != ST_OK) {
        unreadable(c, file, &d);
    } else if (t.columns.n == 0) {
        found(c, file, 1, false, "the file is empty");
    } else {
        sum.rows = t.n_rows;
        check_columns(c, file, &t);
        check_ragged(c, file, &t);
        check_cells(c, file, &t);
        check_rows(c, file, &t, &sum);
    }
    if (c->of_table > FINDINGS_MAX) {
        struct check_finding rest = {
            file->path, UINT64_MAX, true,
            arena_format(&c->arena, "%llu more findings in this table",
                         (unsigned long long)(c->of_table - FINDINGS_MAX))};
        vec_push(&c->findings, rest);
    }
    if (c->findings.n > before)
        qsort(c->findings.at + before, c->findings.n - before, sizeof(*c->findings.at), by_line);
    if (c->of_table > FINDINGS_MAX) /* the rest stands behind the last that is shown */
        c->findings.at[c->findings.n - 1].line = c->findings.at[c->findings.n - 2].line;
    vec_push(&c->tables, sum);
    c->rows += sum.rows;
    c->valid += sum.valid;
    table_free(&t);
    diag_fini(&d);
}

enum status check_all(struct check *c, const struct place_files *tree)
{
    check_init(c);
    for (size_t i = 0; i < tree->n; i++) {
        if (cancelled())
            return ST_CANCELLED;
        check_table(c, &tree->at[i]);
    }
    return ST_OK;
}

static struct field_value check_share(const void *of, const struct record_env *env)
{
    const struct check_table *t = of;

    (void)env;
    return value_real((double)t->valid / (double)t->rows);
}

static const struct field summary_fields[] = {
    FIELD(struct check_table, op, "operator", .head = "operator"),
    FIELD(struct check_table, rows, "rows", .head = "rows"),
    FIELD(struct check_table, valid, "valid", .head = "valid"),
    FIELD_CALC(FIELD_F64, "share", check_share, .head = "share %", .unit = UNIT_RATIO),
};
const struct record check_summary = RECORD(struct check_table, summary_fields);

static struct field_value kind_name(const void *of, const struct record_env *env)
{
    (void)env;
    return value_text(((const struct check_finding *)of)->is_note ? S("note") : S("problem"));
}

static const struct field finding_fields[] = {
    FIELD(struct check_finding, path, "path"),
    FIELD(struct check_finding, line, "line"),
    FIELD_CALC(FIELD_STR, "kind", kind_name),
    FIELD(struct check_finding, what, "text"),
};
static const struct record finding_record = RECORD(struct check_finding, finding_fields);

static const struct field table_fields[] = {
    FIELD(struct check_table, op, "operator"),
    FIELD(struct check_table, path, "path"),
    FIELD(struct check_table, rows, "rows"),
    FIELD(struct check_table, valid, "valid"),
};
static const struct record table_record = RECORD(struct check_table, table_fields);

static const struct field check_fields[] = {
    FIELD(struct check, problems, "problems"),
    FIELD(struct check, notes, "notes"),
    FIELD(struct check, rows, "rows"),
    FIELD(struct check, valid, "valid", .about = "rows with a valid duration"),
    FIELD_LIST(struct check, findings.at, findings.n, "findings", &finding_record),
    FIELD_LIST(struct check, tables.at, tables.n, "tables", &table_record),
};
static const struct record check_record = RECORD(struct check, check_fields);

const struct schema check_schema = {
    .name = "strata.db-check/1",
    .title = "problems in the tables of a database",
    .record = &check_record,
};
