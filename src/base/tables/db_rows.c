/* Scans of tables: what the definition of a table says, rows by db_table or by the engine, values.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/run/cancel.h"
#include "base/tables/db.h"
#include "base/tables/db_engine.h"

enum { TICK_ROWS = 1 << 16 };

/* A column of a table as its definition has it. */
struct page_column {
    struct str name;
    bool is_rowid, is_real;
};

struct columns {
    struct page_column *at;
    size_t n;      /* cut at LIMIT_DB_COLUMNS */
    bool is_plain; /* field i of a row belongs to column i */
    bool has_rowid;
};

static bool has_word(struct str type, const char *word)
{
    return str_contains_nocase(type, str_of(word));
}

/* Whether the engine keeps numbers in a column of this type as reals: its own rules, in order. */
static bool is_real_type(struct str type)
{
    if (has_word(type, "INT") || has_word(type, "CHAR") || has_word(type, "CLOB") ||
        has_word(type, "TEXT") || has_word(type, "BLOB"))
        return false;
    return has_word(type, "REAL") || has_word(type, "FLOA") || has_word(type, "DOUB");
}

static struct str column_text(sqlite3_stmt *stmt, int place)
{
    const char *text = (const char *)sqlite3_column_text(stmt, place);

    db_engine_check_null(text, stmt);
    return text != NULL ? str_of(text) : S("");
}

static bool rows_prepare(const struct db *db, struct str sql, sqlite3_stmt **out)
{
    int rc = sqlite3_prepare_v2(db->handle, sql.at, (int)sql.n, out, NULL);

    return db_engine_check(rc) == SQLITE_OK;
}

static int check_step(sqlite3_stmt *stmt)
{
    return db_engine_check(sqlite3_step(stmt));
}

/* The number of a row, counted from one end of the table; false when it cannot be read. */
static bool rowid_of(struct db *db, const char *table, const char *order, uint64_t place,
                     double *out)
{
    struct arena_mark mark = arena_mark(&db->arena);
    struct str sql = arena_format(
        &db->arena, "SELECT rowid FROM \"%s\" ORDER BY rowid %s LIMIT 1 OFFSET %" PRIu64, table,
        order, place);
    sqlite3_stmt *stmt;
    bool is_read = rows_prepare(db, sql, &stmt) && check_step(stmt) == SQLITE_ROW;

    if (is_read)
        *out = (double)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    arena_rewind(&db->arena, mark);
    return is_read;
}

/* Rows behind the first `rows`, if their numbers go on as those do; 0: not known. */
static uint64_t estimate_rest(struct db *db, const char *table, uint64_t rows)
{
    double first, last_read, last;

    if (rows < 2 || rows > db->bytes / 4 || !rowid_of(db, table, "ASC", 0, &first) ||
        !rowid_of(db, table, "ASC", rows - 1, &last_read) ||
        !rowid_of(db, table, "DESC", 0, &last) || last_read <= first || last <= last_read)
        return 0;
    double rest = (last - last_read) * (double)(rows - 1) / (last_read - first);
    return rest < (double)db->bytes ? num_u64_of(rest) : 0;
}

/* Counts an error of the engine on `table`; the job goes on without the rest of it. */
static void lose_table(struct db *db, const char *table, uint64_t rows)
{
    if (cancelled())
        return;
    const char *why = arena_cstr(&db->arena, str_of(sqlite3_errmsg(db->handle))), *lost = "";
    uint64_t rest = estimate_rest(db, table, rows);
    db->damages += rest > 0 ? rest : 1;
    if (rest > 0)
        lost = arena_printf(&db->arena, "; about %" PRIu64 " rows are lost", rest);
    diag_add(db->diag, SEV_LOSS, "db.damaged", (struct where){.path = db->path},
             "%s is damaged after %" PRIu64 " rows: %s%s", table, rows, why, lost);
}

static struct columns table_columns(struct db *db, const char *table, struct arena *arena)
{
    enum { NAME = 1, TYPE = 2, KEY = 5, HIDDEN = 6, GENERATED = 2 };
    struct columns c = {.at = ARENA_ARRAY(arena, struct page_column, LIMIT_DB_COLUMNS),
                        .is_plain = true};
    struct str sql = arena_format(arena, "PRAGMA table_xinfo(\"%s\")", table);
    size_t keys = 0, key = 0;
    bool is_integer = false;
    sqlite3_stmt *stmt;

    if (!rows_prepare(db, sql, &stmt))
        return c;
    while (c.n < LIMIT_DB_COLUMNS && check_step(stmt) == SQLITE_ROW) {
        struct str name = column_text(stmt, NAME), type = column_text(stmt, TYPE);
        int hidden = sqlite3_column_int(stmt, HIDDEN);
        c.is_plain = c.is_plain && hidden == 0 && name.n > 0; /* computed, perhaps not stored */
        if ((hidden != 0 && hidden < GENERATED) || name.n == 0)
            continue;
        if (sqlite3_column_int(stmt, KEY) > 0) {
            keys++;
            key = c.n;
            is_integer = str_equal_nocase(type, S("INTEGER"));
        }
        c.at[c.n++] =
            (struct page_column){.name = arena_str(arena, name), .is_real = is_real_type(type)};
    }
    sqlite3_finalize(stmt);
    /* The one INTEGER PRIMARY KEY of a table is the number of the row. */
    c.has_rowid = c.at[key].is_rowid = keys == 1 && is_integer;
    return c;
}

/* The first of the spellings in "a|b" that the table has, or -1. */
static int find_column(const struct columns *have, const char *wanted)
{
    struct str rest = str_of(wanted), name;

    while (str_split(&rest, '|', &name))
        for (size_t i = 0; i < have->n; i++)
            if (str_equal_nocase(have->at[i].name, name))
                return (int)i;
    return -1;
}

ORDER_BY(by_field, struct db_field, ORDER(x->field, y->field) ?: ORDER(x->cell, y->cell));

/* "SELECT "a", "b" FROM "t"", and where each wanted column stands in it. */
static struct str build_select(struct db_rows *rows, struct arena *arena,
                               const struct columns *have, const char *const *columns, size_t n)
{
    struct str list = S("");
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        int found = find_column(have, columns[i]);
        rows->place[i] = -1;
        if (found < 0 || memchr(have->at[found].name.at, '"', have->at[found].name.n) != NULL)
            continue;
        list = arena_format(arena, "%.*s%s\"%.*s\"", STR_ARGS(list), count > 0 ? ", " : "",
                            STR_ARGS(have->at[found].name));
        rows->fields[count] = (struct db_field){.field = (uint16_t)found,
                                                .cell = (uint16_t)i,
                                                .is_rowid = have->at[found].is_rowid,
                                                .is_real = have->at[found].is_real};
        rows->place[i] = (int16_t)count++;
    }
    if (count == 0)
        return S("");
    qsort(rows->fields, (size_t)count, sizeof(*rows->fields), by_field);
    rows->n_fields = (size_t)count;
    return arena_format(arena, "SELECT %.*s FROM \"%s\"", STR_ARGS(list), rows->table);
}

static ptrdiff_t find_table(const struct db *db, struct str table)
{
    for (size_t i = 0; i < db->n_tables; i++)
        if (str_equal(db->tables[i].name, table))
            return (ptrdiff_t)i;
    return -1;
}

bool db_has_table(const struct db *db, struct str table)
{
    return find_table(db, table) >= 0;
}

/* A key that counts down is the one that is not the number of the row, and only the text of the
 * definition tells. */
static bool may_count_down(struct db *db, const char *table, const struct columns *c,
                           struct arena *arena)
{
    struct str sql = arena_format(
        arena, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '%s'", table);
    bool found = true;
    sqlite3_stmt *stmt;

    if (!c->has_rowid)
        return false;
    if (!rows_prepare(db, sql, &stmt))
        return true;
    if (check_step(stmt) == SQLITE_ROW)
        found = has_word(column_text(stmt, 0), "DESC");
    sqlite3_finalize(stmt);
    return found;
}

static void report_view(struct db *db, struct db_relation *view)
{
    if (!view->is_reported)
        diag_add(db->diag, SEV_LOSS, "db.view", (struct where){.path = db->path},
                 "%.*s is a view or a virtual table, whose rows are not read",
                 STR_ARGS(view->name));
    view->is_reported = true;
}

bool db_rows_open(struct db_rows *rows, struct db *db, const char *table,
                  const char *const *columns, size_t n)
{
    struct arena_mark mark = arena_mark(&db->arena);
    ptrdiff_t number = find_table(db, str_of(table));

    assert(n <= DB_COLUMNS);
    *rows = (struct db_rows){.db = db, .table = table};
    memset(rows->place, -1, sizeof(rows->place));
    if (number < 0)
        return false;
    if (!db->tables[number].is_plain) {
        report_view(db, &db->tables[number]);
        return false;
    }
    struct columns have = table_columns(db, table, &db->arena);
    struct str sql = build_select(rows, &db->arena, &have, columns, n);
    if (sql.n > 0 && !rows_prepare(db, sql, &rows->stmt)) {
        lose_table(db, table, 0);
        rows->stmt = NULL;
    }
    rows->is_direct = rows->stmt != NULL && db->pages.n > 0 && db->tables[number].root > 0 &&
                      have.is_plain && !may_count_down(db, table, &have, &db->arena);
    if (rows->is_direct)
        db_table_open(&rows->walk, &db->pages, db->tables[number].root, rows->fields,
                      rows->n_fields);
    arena_rewind(&db->arena, mark);
    return rows->stmt != NULL;
}

static int step(struct db_rows *rows)
{
    enum { POLL_ROWS = 1 << 10 };
    int rc = SQLITE_ROW;

    if (!rows->is_direct)
        return check_step(rows->stmt);
    if (rows->n % POLL_ROWS == 0 && cancelled())
        return SQLITE_INTERRUPT;
    enum db_table_step found = db_table_next(&rows->walk, rows->cells);
    if (found != DB_TABLE_ODD)
        return found == DB_TABLE_ROW ? SQLITE_ROW : SQLITE_DONE;
    /* From here on the engine reads, after the rows that were read without it. */
    rows->is_direct = false;
    db_table_close(&rows->walk);
    for (uint64_t i = 0; i < rows->n && rc == SQLITE_ROW; i++)
        rc = check_step(rows->stmt);
    return rc == SQLITE_ROW ? check_step(rows->stmt) : rc;
}

bool db_rows_next(struct db_rows *rows)
{
    struct db *db = rows->db;

    if (rows->stmt == NULL)
        return false;
    int rc = step(rows);
    /* The pages of a damaged tree can lead in circles: no file holds a row in less than 4 bytes,
     * and texts that are longer than the file can only be read in circles too. */
    bool circles = rows->n > db->bytes / 4 || db->handed > 4 * db->bytes + LIMIT_FIELD_BYTES;
    if (rc == SQLITE_ROW && !circles) {
        if (++rows->n % TICK_ROWS == 0)
            progress_tick(db->progress, rows->table, rows->n, 0);
        return true;
    }
    if (rc != SQLITE_DONE)
        lose_table(db, rows->table, rows->n);
    db_rows_close(rows);
    return false;
}

void db_rows_close(struct db_rows *rows)
{
    sqlite3_finalize(rows->stmt);
    rows->stmt = NULL;
    if (rows->is_direct)
        db_table_close(&rows->walk);
    rows->is_direct = false;
}

/* ---- values ---- */

static bool real_to_i64(double real, int64_t *out)
{
    /* 2^63 is the first double that does not fit */
    if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0) || real != floor(real))
        return false;
    *out = num_i64_of(real);
    return true;
}

static bool real_to_f64(double real, double *out)
{
    if (isfinite(real))
        *out = real;
    return isfinite(real);
}

/* A cell as the engine would print it. */
static struct str cell_text(const struct db_rows *rows, size_t column)
{
    const struct db_cell *cell = &rows->cells[column];
    char *buf = rows->db->printed[column];

    switch (cell->type) {
    case DB_TEXT:
        return cell->text;
    case DB_INT:
        return str_of(sqlite3_snprintf(NUM_TEXT, buf, "%lld", (long long)cell->number));
    case DB_REAL:
        return str_of(sqlite3_snprintf(NUM_TEXT, buf, "%!.15g", cell->real));
    default:
        return S("");
    }
}

static bool rows_text_of(const struct db_rows *rows, int place, struct str *out)
{
    const char *at = (const char *)sqlite3_column_text(rows->stmt, place);

    db_engine_check_null(at, rows->stmt);
    *out = (struct str){at, at != NULL ? (size_t)sqlite3_column_bytes(rows->stmt, place) : 0};
    return at != NULL;
}

bool db_i64(const struct db_rows *rows, size_t column, int64_t *out)
{
    const struct db_cell *cell = &rows->cells[column];
    int place = rows->place[column];
    struct str text;

    if (rows->is_direct && cell->type == DB_INT) {
        *out = cell->number;
        return true;
    }
    if (rows->is_direct)
        return cell->type == DB_REAL ? real_to_i64(cell->real, out)
                                     : cell->type == DB_TEXT && num_i64(cell->text, out);
    if (place < 0)
        return false;
    sqlite3_value *value = sqlite3_column_value(rows->stmt, place); /* looked up once */
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) {
        *out = sqlite3_value_int64(value);
        return true;
    }
    if (type == SQLITE_FLOAT)
        return real_to_i64(sqlite3_column_double(rows->stmt, place), out);
    return type == SQLITE_TEXT && rows_text_of(rows, place, &text) && num_i64(text, out);
}

bool db_f64(const struct db_rows *rows, size_t column, double *out)
{
    const struct db_cell *cell = &rows->cells[column];
    int place = rows->place[column];
    struct str text;

    if (rows->is_direct && cell->type == DB_TEXT)
        return num_f64(cell->text, out);
    if (rows->is_direct && (cell->type == DB_INT || cell->type == DB_REAL))
        return real_to_f64(cell->type == DB_INT ? (double)cell->number : cell->real, out);
    if (rows->is_direct || place < 0)
        return false;
    int type = sqlite3_column_type(rows->stmt, place);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        return real_to_f64(sqlite3_column_double(rows->stmt, place), out);
    return type == SQLITE_TEXT && rows_text_of(rows, place, &text) && num_f64(text, out);
}

/* From the number as a person would write it: the engine's own text has 15 digits, times have 17.
 */
bool db_time(const struct db_rows *rows, size_t column, enum db_type unit, nanos *out)
{
    const struct db_cell *cell = &rows->cells[column];
    int place = rows->place[column];
    char buf[NUM_TEXT];
    struct str text;

    if (rows->is_direct) {
        if (cell->type == DB_NULL || cell->type == DB_BLOB)
            return false;
        text = cell->type != DB_REAL ? cell_text(rows, column)
                                     : (struct str){buf, num_print_f64(buf, cell->real)};
    } else {
        int type = place >= 0 ? sqlite3_column_type(rows->stmt, place) : SQLITE_NULL;
        if (type == SQLITE_FLOAT)
            text = (struct str){buf, num_print_f64(buf, sqlite3_column_double(rows->stmt, place))};
        else if ((type != SQLITE_INTEGER && type != SQLITE_TEXT) ||
                 !rows_text_of(rows, place, &text))
            return false;
    }
    return unit == DB_AS_US ? num_us(text, out) : num_ms(text, out);
}

struct str db_text(const struct db_rows *rows, size_t column)
{
    int place = rows->place[column];
    struct str text;

    if (rows->is_direct) {
        text = cell_text(rows, column);
        rows->db->handed += text.n;
        return text;
    }
    if (place < 0)
        return S("");
    int type = sqlite3_column_type(rows->stmt, place);
    if (type == SQLITE_NULL || type == SQLITE_BLOB || !rows_text_of(rows, place, &text))
        return S("");
    rows->db->handed += text.n;
    return text;
}

/* ---- rows as structs ---- */

bool db_scan(struct db_rows *rows, struct db *db, const char *table,
             const struct db_column *columns, size_t n)
{
    const char *names[DB_COLUMNS];

    for (size_t i = 0; i < n; i++)
        names[i] = columns[i].name;
    bool is_open = db_rows_open(rows, db, table, names, n);
    rows->columns = columns;
    rows->n_columns = n;
    return is_open;
}

static void read_name(const struct db_rows *rows, size_t column, struct db_name *out)
{
    bool has_id = db_i64(rows, column, &out->id);

    out->id = has_id ? out->id : DB_NONE;
    out->text = has_id ? S("") : db_text(rows, column);
}

bool db_read_row(struct db_rows *rows, void *row)
{
    if (!db_rows_next(rows))
        return false;
    for (size_t i = 0; i < rows->n_columns; i++) {
        void *to = (char *)row + rows->columns[i].offset;
        switch ((enum db_type)rows->columns[i].type) {
        case DB_AS_I64:
            if (!db_i64(rows, i, to))
                *(int64_t *)to = rows->columns[i].none;
            break;
        case DB_AS_F64:
            if (!db_f64(rows, i, to))
                *(double *)to = 0;
            break;
        case DB_AS_TEXT:
            *(struct str *)to = db_text(rows, i);
            break;
        case DB_AS_NAME:
            read_name(rows, i, to);
            break;
        case DB_AS_US:
        case DB_AS_MS:
            if (!db_time(rows, i, rows->columns[i].type, to))
                *(nanos *)to = rows->columns[i].none;
            break;
        }
    }
    return true;
}
