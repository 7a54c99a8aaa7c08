/*
 * sql_scan - whole columns of slices for statements that ask for nothing else:
 *
 *     SELECT ts, dur, name FROM kernels
 *
 * Such a statement needs no engine: its rows are the captures' own, and columns are copied as they
 * lie. What sql_scan_parse() does not take goes to sql_run(), with the same rows.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_SCAN_H
#define STRATA_ANALYSIS_SQL_SQL_SCAN_H

#include "analysis/sql/sql_view.h"

enum sql_scan_column {
    SCAN_ID,
    SCAN_TS,
    SCAN_DUR,
    SCAN_END_TS,
    SCAN_LANE,
    SCAN_NAME, /* texts from here on */
    SCAN_KIND,
    SCAN_COLUMNS,
};

enum { SQL_SCAN_MOST = 16 };

struct sql_scan {
    enum sql_set set;
    enum sql_scan_column columns[SQL_SCAN_MOST];
    size_t n;
};

const char *sql_scan_name(enum sql_scan_column column);

/* False for any other statement. */
bool sql_scan_parse(struct str statement, struct sql_scan *out);

/* Rows of the table. */
uint64_t sql_scan_rows(const struct capture *const *caps, size_t n, enum sql_set set);

/* Fills a column of numbers; `out` has room for all rows. */
void sql_scan_numbers(const struct capture *const *caps, size_t n, enum sql_set set,
                      enum sql_scan_column column, int64_t *out);

/* A text of a slice, which lives as long as its capture. */
static inline struct str sql_scan_text(const struct capture *cap, size_t i,
                                       enum sql_scan_column column)
{
    return column == SCAN_NAME ? capture_text(cap, cap->slices.name[i])
                               : str_of(slice_kind_name((enum slice_kind)cap->slices.kind[i]));
}

#endif
