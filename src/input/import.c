/* Losses, refusals and tables, as all importers tell and read them. */
#include "input/import.h"

#include <stdarg.h>

#include "base/files/gz.h"
#include "base/files/mapfile.h"
#include "base/run/cancel.h"

void import_lose(struct import *i, struct where where, const char *code, const char *format, ...)
{
    va_list args;

    i->lost++;
    va_start(args, format);
    diag_vadd(i->in->diag, SEV_LOSS, code, where, format, args);
    va_end(args);
}

void import_report(const struct import *i, enum severity severity, const char *code,
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

static const char *or_else(const char *text, const char *other)
{
    return text != NULL ? text : other;
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
    if (import_table_is(t, csv))
        return ST_OK;
    return import_refuse(i, import_line(i, 1), or_else(t->no_header.code, "input.no-header"),
                         or_else(t->no_header.text, "its header lacks a column of this format"));
}

void import_table_rows(struct import *i, const struct import_table *t, struct csv *csv, void *ctx)
{
    enum { POLL_ROWS = 4096 };

    size_t begin = csv_used(csv);
    for (uint64_t n = 1; csv_next(csv); n++, begin = csv_used(csv)) {
        if (n % POLL_ROWS == 0 && cancelled())
            return; /* input_read() tells */
        if (n % POLL_ROWS == 0)
            input_progress(i->in, csv_used(csv), i->in->text.n);
        uint64_t lost = i->lost;
        enum import_row row = t->take(i, csv, ctx);
        i->rows += row == ROW_TAKEN;
        if (row == ROW_LOST)
            import_lose(
                i, import_line(i, csv->line), or_else(t->bad_row.code, "input.bad-row"), "%s",
                or_else(t->bad_row.text, "row skipped: a field is missing or not a number"));
        if (i->lost > lost)
            damage_add(&i->damage, csv_used(csv) - begin, import_line(i, csv->line));
    }
}

enum status import_table_read(struct import *i, const struct import_table *t)
{
    struct csv csv;

    TRY(import_table_open(i, t, &csv));
    import_table_rows(i, t, &csv, NULL);
    return ST_OK;
}

enum status import_db_open(struct import *i, struct db *db)
{
    TRY(db_open(db, i->in->path, i->in->text, i->in->diag));
    db->progress = i->in->options != NULL ? i->in->options->progress : NULL;
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
    if (has_time && import_lasts(out->dur))
        return true;
    import_lose(i, import_file(i), has_time ? codes->bad_duration : codes->no_time,
                has_time ? "row %llu of %s skipped: its duration is negative or over 7 days"
                         : "row %llu of %s skipped: no start or end time",
                (unsigned long long)rows->n, rows->table);
    return false;
}

/* ---- whole files ---- */

enum status import_whole(struct import *i, size_t most,
                         enum status (*read)(struct import *i, struct str text))
{
    struct arena scratch;
    struct mapfile map;
    struct str text;

    if (i->in->text.at != NULL)
        return read(i, i->in->text);
    TRY(mapfile_open(&map, i->in->path, i->in->diag));
    arena_init(&scratch);
    text = map.text;
    enum status st = ST_OK;
    if (gz_is(text))
        st = gz_read_all(map.text, most, i->in->path, i->in->diag, &scratch, &text);
    if (st == ST_OK)
        st = read(i, text);
    arena_free(&scratch);
    mapfile_close(&map);
    return st;
}
