#include "perfdb/rows.h"

#include "base/cancel.h"
#include "perfdb/cell.h"

enum { WINDOW = 1 << 20 };

static enum status read_header(struct rows *rows)
{
    do
        TRY(stream_fill(&rows->stream));
    while (!csv_open_part(&rows->csv, stream_text(&rows->stream), rows->stream.at_end));
    if (str_starts(csv_header(&rows->csv, 0), S("version https://git-lfs.github.com/spec/"))) {
        diag_fail(rows->diag, ST_FORMAT, "perfdb.lfs-pointer", (struct where){rows->path, 1, 0},
                  "a Git LFS pointer, not the table itself");
        diag_hint(rows->diag, "try", "git lfs pull, in the repository that holds the file");
        return ST_FORMAT;
    }
    return ST_OK;
}

enum status rows_open(struct rows **out, const char *path, struct diag *d)
{
    struct rows *rows = mem_grow(NULL, sizeof(*rows), 1);

    rows->diag = d;
    rows->path = path;
    rows->status = stream_open(&rows->stream, path, WINDOW, d);
    if (rows->status == ST_OK)
        rows->status = read_header(rows);
    if (rows->status == ST_OK) {
        *out = rows;
        return ST_OK;
    }
    return rows_close(rows);
}

bool rows_next(struct rows *rows)
{
    while (!csv_next(&rows->csv)) {
        if (rows->csv.is_last)
            return false;
        if (cancelled()) {
            rows->status = ST_CANCELLED;
            return false;
        }
        stream_consume(&rows->stream, csv_used(&rows->csv));
        rows->status = stream_fill(&rows->stream);
        if (rows->status != ST_OK)
            return false;
        csv_more(&rows->csv, stream_text(&rows->stream), rows->stream.at_end);
    }
    if (rows->csv.is_broken)
        diag_add(rows->diag, SEV_WARN, "perfdb.cut-row",
                 (struct where){rows->path, rows->csv.line, 0},
                 "the export ends inside a quoted cell of this row");
    return true;
}

enum status rows_close(struct rows *rows)
{
    enum status status = rows->status;

    stream_close(&rows->stream);
    mem_free(rows);
    return status;
}

struct str rows_cell(const struct rows *rows, int column, struct arena *arena)
{
    struct str cell = csv_cell(&rows->csv, column);

    /* Doubled quotes stand for one only in a quoted cell, and most cells are not. */
    if (column >= 0 && (size_t)column < rows->csv.n_cells && cell.n > 0 &&
        csv_span(&rows->csv, (size_t)column, (size_t)column).n != cell.n)
        cell = csv_unquote(cell, arena);
    return cell_trim(cell);
}
