/*
 * What became of the files, as a document and a report.
 */
#include "opdb/aic/aic.h"
#include "report/report.h"
#include "text/database.h"

static const struct field file_fields[] = {
    FIELD(struct aic_file, name, "file", .head = "file"),
    FIELD(struct aic_file, part, "collective"),
    FIELD(struct aic_file, op, "table", .head = "table"),
    FIELD(struct aic_file, rows, "rows", .head = "rows"),
    FIELD(struct aic_file, kept, "rows_kept", .head = "kept"),
    FIELD(struct aic_file, below_flop, "below_flop_floor", .head = "faster than FLOP allow",
          .about = "rows that take less time than their operations at 1.1 times the peak"),
    FIELD(struct aic_file, below_memory, "below_memory_floor", .head = "faster than memory allows",
          .about = "rows that take less time than their bytes at 1.02 times the bandwidth"),
    FIELD(struct aic_file, unusable, "unusable", .head = "unusable",
          .about = "rows without a duration, of size 0, or of a type that is not known"),
};
static const struct record file_record = RECORD(struct aic_file, file_fields);

static const struct field import_fields[] = {
    FIELD(struct aic_import, source, "source"),
    FIELD(struct aic_import, dir, "database"),
    FIELD(struct aic_import, is_dry_run, "is_dry_run"),
    FIELD(struct aic_import, databases, "databases"),
    FIELD(struct aic_import, rows, "rows"),
    FIELD(struct aic_import, kept, "rows_kept"),
    FIELD(struct aic_import, below_flop, "below_flop_floor"),
    FIELD(struct aic_import, below_memory, "below_memory_floor"),
    FIELD(struct aic_import, unusable, "unusable"),
    FIELD_LIST(struct aic_import, files.at, files.n, "files", &file_record),
};
static const struct record import_record = RECORD(struct aic_import, import_fields);

const struct schema aic_schema = {
    .name = "strata.db-parse-aic/1",
    .title = "tables of AIConfigurator that became databases",
    .record = &import_record,
};

static bool is_clean(const struct aic_file *f)
{
    return f->kept == f->rows;
}

void aic_describe(const void *result, struct report *r)
{
    const struct aic_import *a = result;
    struct aic_file *listed = ARENA_ARRAY(&r->arena, struct aic_file, a->files.n);
    size_t n = 0;

    for (size_t i = 0; i < a->files.n; i++)
        if (!is_clean(&a->files.at[i]))
            listed[n++] = a->files.at[i];
    report_text(r, REPORT_MESSAGE(r, a->is_dry_run ? &database_text.aic_would : &database_text.aic,
                                  PLACE("rows", a->kept), PLACE("databases", a->databases),
                                  PLACE("dir", a->dir), PLACE("files", a->files.n)));
    if (a->below_flop + a->below_memory > 0)
        report_text(r,
                    REPORT_MESSAGE(r, &database_text.aic_rejected,
                                   PLACE("n", a->below_flop + a->below_memory),
                                   PLACE("flop", a->below_flop), PLACE("memory", a->below_memory)));
    if (a->unusable > 0)
        report_text(r, REPORT_MESSAGE(r, &database_text.aic_unusable, PLACE("n", a->unusable)));
    report_records(r, &file_record, listed, n, NULL);
}
