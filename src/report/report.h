/*
 * report - results as a document: what every renderer writes and no analysis formats.
 *
 * A report is a list of blocks in reading order. Block kinds are few, and a renderer handles each
 * once: heading, paragraph, table with typed columns, findings. The report owns all its text.
 */
#ifndef STRATA_REPORT_REPORT_H
#define STRATA_REPORT_REPORT_H

#include "report/finding.h"
#include "report/quantity.h"

enum block_kind { BLOCK_HEADING, BLOCK_TEXT, BLOCK_TABLE, BLOCK_FINDINGS };

enum column_type { COLUMN_TEXT, COLUMN_NUMBER };

struct column {
    const char *head; /* with the unit: "busy ms" */
    enum column_type type;
    enum unit unit; /* of the numbers */
};

struct cell {
    struct str text; /* of a text column */
    double number;   /* of a number column; not finite: missing */
};

struct table {
    const struct column *columns;
    size_t n_columns;
    VEC_OF(struct cell) cells; /* row by row */
};

struct block {
    enum block_kind kind;
    struct str text;
    struct table *table;
    VEC_OF(struct finding *) findings;
};

struct report {
    struct arena arena;
    struct str title;
    struct str summary; /* one line of what was looked at */
    VEC_OF(struct block *) blocks;
};

struct report *report_new(struct str title);
void report_free(struct report *r);

/* Text given to these is copied. */
void report_summary(struct report *r, struct str text);
void report_heading(struct report *r, struct str text);
void report_text(struct report *r, struct str text);

/* `columns` must outlive the report (a static table). Cells are added row by row. */
struct table *report_table(struct report *r, const struct column *columns, size_t n);
void table_text(struct report *r, struct table *t, struct str text);
void table_number(struct table *t, double number);

/* Cell `i` as it is printed; `buf` holds QUANTITY_TEXT bytes. */
struct str table_cell(const struct table *t, size_t i, char *buf);

/* Adds a finding to the findings block at the end of the report, made when it is missing. */
struct finding *report_finding(struct report *r, const char *id, enum priority priority,
                               struct str subject, struct str fact);
void finding_cause(struct report *r, struct finding *f, enum certainty certainty, struct str text);
void finding_gap(struct report *r, struct finding *f, struct str text);
void finding_advice(struct report *r, struct finding *f, struct str text);

static inline size_t table_rows(const struct table *t)
{
    return t->n_columns > 0 ? t->cells.n / t->n_columns : 0;
}

#endif
