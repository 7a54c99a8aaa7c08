/*
 * csv - reads tables of comma-separated values in place, at memory speed.
 *
 *     csv_open(&csv, text);
 *     int name = csv_column(&csv, S("Name"));
 *     while (csv_next(&csv))
 *         use(csv_cell(&csv, name), csv.line);
 *
 * Nothing is allocated and nothing needs closing: cells are views into `text`, which must outlive
 * them. A struct csv has about 100 KB, of which a table touches what its columns need. The first
 * row that is not empty is the header. The dialect, with every leniency, is in docs/formats/csv.md;
 * in short:
 *
 * - A cell that begins with a quote is quoted: commas and line ends inside are text, a doubled
 *   quote stands for one quote. A quote anywhere else in a cell is an ordinary character.
 * - Rows end with LF or CR LF, the last one may end with the text. Empty lines are skipped.
 * - Rows may be shorter or longer than the header: `n_cells` tells, the caller decides.
 * - A row has at most LIMIT_CSV_COLUMNS cells; cells past that are counted in `n_cells` and read
 *   as empty, and the row says `is_too_wide`.
 *
 * A table too large for memory is read through windows that begin at a row:
 *
 *     while (!csv_open_part(&csv, stream_text(&s), s.at_end))
 *         TRY(stream_fill(&s));
 *     for (;;) {
 *         while (csv_next(&csv))
 *             use(csv_cell(&csv, name), csv.line);
 *         if (csv.is_last)
 *             break;
 *         stream_consume(&s, csv_used(&csv));
 *         TRY(stream_fill(&s));
 *         csv_more(&csv, stream_text(&s), s.at_end);
 *     }
 */
#ifndef STRATA_BASE_FORMATS_CSV_H
#define STRATA_BASE_FORMATS_CSV_H

#include <stdint.h>

#include "base/limits.h"
#include "base/str.h"

struct arena;

enum { CSV_BATCH = 32 }; /* blocks of 64 bytes that are scanned in one go */

/* One bit for each byte of a 64-byte block. */
struct csv_block {
    uint64_t separators; /* commas and line ends outside quotes */
    uint64_t newlines;   /* the line ends among them */
    uint64_t inner;      /* line ends inside quotes */
    uint64_t count;      /* how many separators there are */
};

struct csv {
    uint64_t line;    /* where the row starts; counts from 1, over all windows */
    size_t n_cells;   /* cells of the row, also those past LIMIT_CSV_COLUMNS */
    bool is_broken;   /* the text ended inside a quoted cell of this row */
    bool is_too_wide; /* the row has more than LIMIT_CSV_COLUMNS cells */
    bool is_last;     /* no window follows this one */

    /* The rest is private to csv.c and the inline functions below. */
    struct str text;
    size_t wanted; /* cells of a row that are noted */
    size_t n_header;
    size_t next;        /* where the next row begins */
    uint64_t next_line; /* and the line of that place */
    void (*scan)(struct csv *);
    size_t base, scanned; /* the batch covers text[base, scanned) */
    size_t block, n_blocks;
    uint64_t inside; /* all ones when `scanned` is inside a quoted cell */
    uint64_t fresh;  /* 1 when the byte before `scanned` lets a quote open a cell */
    bool is_odd;     /* the batch was cut short before a quote that opens nothing */
    struct csv_block blocks[CSV_BATCH];
    /* Cell i is text[bound[i], bound[i + 1] - 1). */
    size_t bound[LIMIT_CSV_COLUMNS + 1];
    struct str header[LIMIT_CSV_COLUMNS];
};

/* Reads the header of a whole table. A table without any row has no columns. */
void csv_open(struct csv *csv, struct str text);

/* The same through the scanner for machines without AVX2 and NEON, so that tests can compare the
 * two. */
void csv_open_portable(struct csv *csv, struct str text);

/* Reads the header from the first window of a table. False when the window does not hold all of
 * it: call again with a longer one. Header names die with that window, so look up columns first. */
bool csv_open_part(struct csv *csv, struct str text, bool is_last);

/* Goes on with the window that begins csv_used() bytes after the start of the last one. */
void csv_more(struct csv *csv, struct str text, bool is_last);

/* Bytes of the window that were delivered as whole rows; the next window begins after them. */
static inline size_t csv_used(const struct csv *csv)
{
    return csv->next;
}

/* The names of the header without blanks, byte-order mark and quotes around them. */
static inline size_t csv_header_count(const struct csv *csv)
{
    return csv->n_header;
}
struct str csv_header(const struct csv *csv, size_t i);

/* Index of the first column of that name, exact case; -1 when there is none. */
int csv_column(const struct csv *csv, struct str name);

/* From the next row on only the first `columns` cells are of interest: the others are counted and
 * read as empty. */
static inline void csv_want(struct csv *csv, size_t columns)
{
    csv->wanted = columns < LIMIT_CSV_COLUMNS ? columns : LIMIT_CSV_COLUMNS;
}

/* Steps to the next row; false at the end of the table, or when the rest of a window is not a
 * whole row. */
bool csv_next(struct csv *csv);

/* The text of a cell without the quotes around it; doubled quotes inside are left as they are.
 * Empty for a column the row does not have and for column -1. */
static inline struct str csv_cell(const struct csv *csv, int column)
{
    size_t i = (size_t)column; /* -1 becomes huge */

    if (i >= csv->n_cells || i >= csv->wanted)
        return (struct str){"", 0};
    if (i >= LIMIT_CSV_COLUMNS)
        __builtin_unreachable(); /* csv_want() sees to it */
    const char *at = csv->text.at + csv->bound[i];
    size_t n = csv->bound[i + 1] - 1 - csv->bound[i];
    if (n >= 2 && at[0] == '"' && at[n - 1] == '"')
        return (struct str){at + 1, n - 2};
    if (csv->is_broken && i + 1 == csv->n_cells && n > 0 && at[0] == '"')
        return (struct str){at + 1, n - 1};
    return (struct str){at, n};
}

/* The text of the cells `first` to `last`, which the row must have, as it stands in the file: with
 * quotes and commas. */
static inline struct str csv_span(const struct csv *csv, size_t first, size_t last)
{
    size_t from = csv->bound[first];

    return (struct str){csv->text.at + from, csv->bound[last + 1] - 1 - from};
}

/* `cell` with doubled quotes made single: itself when there are none, else a copy in `arena`. */
struct str csv_unquote(struct str cell, struct arena *arena);

#endif
