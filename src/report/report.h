/*
 * report - results as a document: what every renderer writes and no analysis formats.
 *
 * A report is a list of blocks in reading order. Block kinds are few, and a renderer handles each
 * once: heading, paragraph, line, facts (a label and a text), table with typed columns, findings,
 * and series, which terminals draw.
 * A blank line parts blocks, but not lines from what is before them. The report owns all its text.
 *
 * A report is written in one language. Its builder takes sentences from the catalogue with
 * REPORT_MESSAGE(); heads of tables, labels of facts and names of enumerators in cells are given in
 * English and looked up here.
 */
#ifndef STRATA_REPORT_REPORT_H
#define STRATA_REPORT_REPORT_H

#include "report/finding.h"
#include "report/message.h"
#include "report/quantity.h"

enum block_kind {
    BLOCK_HEADING,
    BLOCK_TEXT,
    BLOCK_LINE,
    BLOCK_FACTS,
    BLOCK_TABLE,
    BLOCK_FINDINGS,
    BLOCK_SERIES
};

enum column_type {
    COLUMN_TEXT,
    COLUMN_RIGHT, /* text, aligned as numbers are */
    COLUMN_NUMBER,
    COLUMN_BAR /* a share of 1, drawn */
};

enum { BAR_WIDTH = 30 }; /* columns of a share of 1 */

/* Whether a word is about something bad or good; colours only repeat what it says. */
enum cell_mark { MARK_NONE, MARK_BAD, MARK_DOUBT, MARK_GOOD };

struct column {
    const char *head; /* with the unit: "busy ms" */
    enum column_type type;
    enum unit unit; /* of the numbers */
};

struct cell {
    struct str text; /* of a text or right column */
    double number;   /* of a number or bar column; not finite: missing */
    enum cell_mark mark;
};

struct table {
    struct column *columns;
    size_t n_columns;
    const unsigned char
        *drops; /* by column: where room lacks 2 is left out first, 0 last; or NULL */
    VEC_OF(struct cell) cells; /* row by row */
};

struct fact {
    const char *label; /* "" continues the one before */
    struct str text;
};

/* Values in the order of time. */
struct report_values {
    const double *at;
    size_t n;
};

struct block {
    enum block_kind kind;
    struct str text;
    struct table *table;
    struct report_values series;
    VEC_OF(struct fact) facts;
    VEC_OF(struct finding *) findings;
};

struct report {
    struct arena arena;
    enum lang lang;
    struct str title;   /* empty: the report begins with its first block */
    struct str summary; /* one line of what was looked at */
    VEC_OF(struct block *) blocks;
};

struct report *report_new(enum lang lang, struct str title);
void report_free(struct report *r);

/* A message in the report's language, living as long as the report. */
#define REPORT_MESSAGE(report_, message_, ...)                                                     \
    MESSAGE((report_)->lang, &(report_)->arena, (message_), __VA_ARGS__)

static inline struct str report_message(const struct report *r, const struct message *m)
{
    return message_in(r->lang, m);
}

/* Text given to these is copied. */
void report_summary(struct report *r, struct str text);
void report_heading(struct report *r, struct str text);
void report_text(struct report *r, struct str text);

/* The same as printf makes it. */
void report_say(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text on a line of its own, given or as printf makes it. */
void report_line_text(struct report *r, struct str text);
void report_line(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A fact at the end of the facts block at the end of the report, made when it is missing. `label`
 * must outlive the report. */
void report_fact(struct report *r, const char *label, struct str text);

/* Values and what they are; only terminals show it, so it is said elsewhere too. */
void report_series(struct report *r, struct str label, struct report_values values);

/* The heads must outlive the report (a static table). Cells are added row by row. */
struct table *report_table(struct report *r, const struct column *columns, size_t n);
void table_text(struct report *r, struct table *t, struct str text);
void table_word(struct report *r, struct table *t, const char *english); /* looked up */
void table_number(struct table *t, double number);
void table_mark(struct table *t, enum cell_mark mark); /* of the cell added last */

static inline bool column_is_right(const struct column *column)
{
    return column->type == COLUMN_RIGHT || column->type == COLUMN_NUMBER;
}

/* Cell `i` as it is printed; `buf` holds QUANTITY_TEXT bytes. */
struct str table_cell_text(const struct table *t, size_t i, char *buf);

/* Adds a finding to the findings block at the end of the report, made when it is missing. */
struct finding *report_finding(struct report *r, const char *id, enum priority priority,
                               struct str subject, struct str fact);
void finding_cause(struct report *r, struct finding *f, enum certainty certainty, struct str text);
void finding_gap(struct report *r, struct finding *f, struct str text);
void finding_advice(struct report *r, struct finding *f, struct str text);

/* Causes, gaps and advice in this order, each with its label ("possible", "missing", "try"); false
 * after the last. */
bool finding_detail(const struct finding *f, size_t i, const char **label, struct str *text);

static inline size_t table_rows(const struct table *t)
{
    return t->n_columns > 0 ? t->cells.n / t->n_columns : 0;
}

#endif
