/*
 * csv_write - writes tables of comma-separated values that base/formats/csv reads back unchanged.
 *
 *     csv_write_open(&out, sink);
 *     csv_write_cell(&out, S("name"));
 *     csv_write_cell(&out, S("busy_ns"));
 *     csv_write_row(&out);
 *     ok = csv_write_close(&out);
 *
 * A cell is quoted when it must be: it holds a comma, a quote, CR or LF, or begins or ends with a
 * blank or a tab (which spreadsheets drop). Rows end with LF. Bytes are gathered and handed to the
 * sink in large pieces; once the sink has failed the rest is dropped and close says so.
 */
#ifndef STRATA_BASE_FORMATS_CSV_WRITE_H
#define STRATA_BASE_FORMATS_CSV_WRITE_H

#include "base/text/text_out.h"

struct csv_write {
    uint64_t cells; /* of the row begun */
    bool is_empty;  /* all cells of that row are empty */
    bool is_plain;  /* set it after opening: blanks ask for no quotes */
    bool has_crlf;  /* likewise: rows end with CR LF */
    bool is_safe;   /* likewise: a cell that spreadsheets take for a formula begins with ' */
    struct text_out text;
};

void csv_write_open(struct csv_write *out, struct sink sink);

/* Hands the rest to the sink; false when the sink refused anything. A row that was begun is
 * ended. */
bool csv_write_close(struct csv_write *out);

void csv_write_cell(struct csv_write *out, struct str text);
void csv_write_quoted(struct csv_write *out, struct str text); /* whatever it holds */
void csv_write_i64(struct csv_write *out, int64_t value);
void csv_write_u64(struct csv_write *out, uint64_t value);
void csv_write_f64(struct csv_write *out, double value); /* empty when not finite */

/* Ends the row. A row without cells writes nothing. */
void csv_write_row(struct csv_write *out);

/* A whole row. */
void csv_write_cells(struct csv_write *out, const struct str *cells, size_t n);

#endif
