/*
 * Rows of SQL as typed columns.
 */
#include "analysis/sql/query_file.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/run/now.h"

enum { CHUNK_BYTES = 16 << 20 }; /* of texts, before a chunk is written with fewer rows */

struct query_rows {
    const struct query_file *file;
    struct arena arena;
    struct column_info *info;
    unsigned *types; /* by column: a mask of enum sql_type */
    size_t n;
    void *writer;
    struct column_chunk chunk;
    struct dataset_piece piece;
    struct dataset_layout layout;
    uint64_t count;
    size_t bytes; /* of the texts of the chunk */
    bool is_unsteady;
};

static bool set_names(void *ctx, const char *const *names, size_t n)
{
    struct query_rows *r = ctx;

    r->n = n;
    r->info = ARENA_ARRAY(&r->arena, struct column_info, n);
    r->types = ARENA_ARRAY(&r->arena, unsigned, n);
    for (size_t i = 0; i < n; i++)
        r->info[i].name = columns_utf8(&r->arena, arena_str(&r->arena, str_of(names[i])));
    return true;
}

static bool note_types(void *ctx, const struct sql_value *cells, size_t n)
{
    struct query_rows *r = ctx;

    for (size_t i = 0; i < n; i++)
        r->types[i] |= 1u << cells[i].type;
    return true;
}

static enum column_kind file_type_of(unsigned mask)
{
    mask &= ~(1u << SQL_NULL);
    if (mask == 1u << SQL_INT)
        return VALUES_INT;
    return mask != 0 && (mask & (1u << SQL_TEXT | 1u << SQL_BLOB)) == 0 ? VALUES_REAL : VALUES_TEXT;
}

static void file_put_cell(struct query_rows *r, struct column_data *c, const struct sql_value *v)
{
    bool is_number = v->type == SQL_INT || v->type == SQL_REAL;

    if (v->type == SQL_NULL)
        column_put_null(c);
    else if (c->type == VALUES_TEXT) {
        struct arena_mark mark = arena_mark(&r->arena);
        char number[NUM_TEXT];
        r->bytes += v->type == SQL_TEXT || v->type == SQL_BLOB ? v->text.n : sizeof(number);
        if (v->type == SQL_TEXT)
            column_put_text(c, v->text);
        else if (v->type == SQL_BLOB)
            column_put_text(c, sql_hex(&r->arena, v->text));
        else if (v->type == SQL_REAL)
            column_put_text(c, (struct str){number, num_print_f64(number, v->real)});
        else
            column_put_text(c, (struct str){number, (size_t)snprintf(number, sizeof(number),
                                                                     "%" PRId64, v->number)});
        arena_rewind(&r->arena, mark);
    } else if (c->type == VALUES_INT && v->type == SQL_INT)
        column_put_int(c, v->number);
    else if (c->type == VALUES_REAL && is_number)
        column_put_real(c, v->type == SQL_REAL ? v->real : (double)v->number);
    else
        r->is_unsteady = true;
}

static void file_flush(struct query_rows *r)
{
    const struct dataset_form *form = r->file->form;

    if (columns_rows(&r->chunk) == 0)
        return;
    if (form->pack != NULL)
        form->pack(&r->layout, &r->chunk, &r->piece);
    form->append(r->writer, &r->chunk, &r->piece);
    r->count += columns_rows(&r->chunk);
    columns_clear(&r->chunk);
    r->bytes = 0;
}

static bool keep_names(void *ctx, const char *const *names, size_t n)
{
    (void)ctx, (void)names, (void)n;
    return true;
}

static bool file_add_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct query_rows *r = ctx;

    for (size_t i = 0; i < n && !r->is_unsteady; i++)
        file_put_cell(r, &r->chunk.at[i], &cells[i]);
    bool is_full = columns_rows(&r->chunk) == COLUMNS_ROWS || r->bytes >= CHUNK_BYTES;
    if (!r->is_unsteady && is_full)
        file_flush(r);
    return !r->is_unsteady;
}

static struct sql_query given_to(struct query_rows *r,
                                 bool (*head)(void *ctx, const char *const *names, size_t n),
                                 bool (*row)(void *ctx, const struct sql_value *cells, size_t n))
{
    struct sql_query query = r->file->query;

    query.head = head;
    query.row = row;
    query.ctx = r;
    return query;
}

static enum status file_write_rows(struct sql *sql, struct query_rows *r, nanos timeout,
                                   struct diag *d)
{
    struct sql_query query = given_to(r, keep_names, file_add_row);

    query.timeout = timeout;
    for (size_t i = 0; i < r->n; i++) {
        r->info[i].type = file_type_of(r->types[i]);
        r->info[i].is_open = true;
    }
    r->layout = (struct dataset_layout){
        .table = "result", .columns = r->info, .n = r->n, .is_plain = r->file->is_plain};
    columns_init(&r->chunk, r->info, r->n);
    r->writer = r->file->form->open(&r->layout, r->file->out);
    enum status st = sql_run(sql, &query, d);
    if (st == ST_OK && r->is_unsteady)
        st = diag_fail(d, ST_FORMAT, "query.unsteady", (struct where){0},
                       "the statement gives other values each time; Arrow and Parquet need types");
    if (st == ST_OK)
        file_flush(r);
    r->file->form->close(r->writer); /* the sink has the reason of a failure */
    columns_fini(&r->chunk);
    dataset_piece_free(&r->piece);
    return st;
}

enum status query_file_write(struct sql *sql, const struct query_file *file, struct diag *d,
                             uint64_t *rows)
{
    struct query_rows r = {.file = file};
    struct sql_query look = given_to(&r, set_names, note_types);
    nanos begin = now_ns(), left = 0;

    arena_init(&r.arena);
    enum status st = sql_run(sql, &look, d);
    if (file->query.timeout > 0) {
        left = nanos_sub(file->query.timeout, nanos_sub(now_ns(), begin));
        left = left > 0 ? left : 1;
    }
    if (st == ST_OK)
        st = file_write_rows(sql, &r, left, d);
    *rows = r.count;
    arena_free(&r.arena);
    return st;
}
