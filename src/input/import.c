/* Losses, refusals and tables, as all importers tell and read them. */
#include "input/import.h"

#include <stdarg.h>

void import_lose(struct import *i, struct where where, const char *code, const char *format, ...)
{
    va_list args;

    i->lost++;
    va_start(args, format);
    diag_vadd(i->in->diag, SEV_LOSS, code, where, format, args);
    va_end(args);
}

void import_tell(const struct import *i, enum severity severity, const char *code,
                 const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_vadd(i->in->diag, severity, code, import_file(i), format, args);
    va_end(args);
}

enum status import_refuse(const struct import *i, struct where where, const char *code,
                          const char *why)
{
    return diag_fail(i->in->diag, ST_FORMAT, code, where, "%s", why);
}

void import_left_out(const struct diag *refused, struct diag *d)
{
    for (size_t i = 0; i < refused->entries.n; i++) {
        const struct diag_entry *e = &refused->entries.at[i];
        if (e->severity == SEV_ERROR)
            diag_add(d, SEV_LOSS, "input.refused", e->first[0].where, "file skipped: %s",
                     e->first[0].text);
    }
}

bool import_table_is(const struct import_table *t, const struct csv *csv)
{
    if (t->is != NULL)
        return t->is(csv);
    for (size_t k = 0; k < ARRAY_LEN(t->columns) && t->columns[k].n > 0; k++)
        if (csv_column(csv, t->columns[k]) < 0)
            return false;
    return true;
}

enum status import_table_open(struct import *i, const struct import_table *t, struct csv *csv)
{
    csv_open(csv, i->in->text);
    if (!import_table_is(t, csv))
        return import_refuse(i, import_line(i, 1), t->no_header.code, t->no_header.text);
    return ST_OK;
}

void import_table_rows(struct import *i, const struct import_table *t, struct csv *csv, void *ctx)
{
    while (csv_next(csv)) {
        enum import_row row = t->take(i, csv, ctx);
        i->rows += row == ROW_TAKEN;
        if (row == ROW_LOST)
            import_lose(i, import_line(i, csv->line), t->bad_row.code, "%s", t->bad_row.text);
    }
}

enum status import_db_open(struct import *i, struct db *db)
{
    TRY(db_open(db, i->in->path, i->in->text, i->in->diag));
    i->bytes = db->bytes;
    i->is_kept = true;
    return ST_OK;
}

void import_db_close(struct import *i, struct db *db)
{
    i->lost += db->damages;
    db_close(db);
}

bool import_db_times(struct import *i, const struct db_rows *rows, nanos begin, nanos end,
                     const struct import_db_codes *codes, struct slice *out)
{
    bool has_time = begin != DB_NONE && end != DB_NONE;

    out->begin = begin;
    out->dur = nanos_sub(end, begin);
    if (has_time && out->dur >= 0 && out->dur <= import_longest)
        return true;
    import_lose(i, import_file(i), has_time ? codes->bad_duration : codes->no_time,
                has_time ? "row %llu of %s skipped: its duration is negative or over 7 days"
                         : "row %llu of %s skipped: no start or end time",
                (unsigned long long)rows->n, rows->table);
    return false;
}
