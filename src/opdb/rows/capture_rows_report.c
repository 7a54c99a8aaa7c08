/*
 * What capture_rows() did, as a document and a report.
 */
#include "opdb/rows/capture_rows.h"
#include "report/report.h"
#include "text/database.h"

static const struct field count_fields[] = {
    FIELD(struct capture_rows_count, dir, "database"),
    FIELD(struct capture_rows_count, is_dry_run, "is_dry_run"),
    FIELD(struct capture_rows_count, captures, "captures"),
    FIELD(struct capture_rows_count, unread, "unreadable_files"),
    FIELD(struct capture_rows_count, kernels, "kernels"),
    FIELD(struct capture_rows_count, placed, "kernels_in_rows"),
    FIELD(struct capture_rows_count, misfits, "kernels_left_out"),
    FIELD(struct capture_rows_count, calls, "calls"),
    FIELD(struct capture_rows_count, rows, "rows"),
    FIELD(struct capture_rows_count, tables, "tables"),
};
static const struct record count_record = RECORD(struct capture_rows_count, count_fields);

const struct schema capture_rows_schema = {
    .name = "strata.db-parse-captures/1",
    .title = "operators of captures that became rows",
    .record = &count_record,
};

void capture_rows_describe(const void *result, struct report *r)
{
    const struct capture_rows_count *c = result;

    report_text(
        r, REPORT_MESSAGE(r, c->is_dry_run ? &database_text.would_merge : &database_text.merged,
                          PLACE("rows", c->rows), PLACE("tables", c->tables), PLACE("dir", c->dir),
                          PLACE("captures", c->captures), PLACE("placed", c->placed),
                          PLACE("kernels", c->kernels)));
    if (c->misfits > 0)
        report_text(r, REPORT_MESSAGE(r, &database_text.misfits, PLACE("n", c->misfits)));
}
