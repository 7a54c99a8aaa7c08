/*
 * Rows of SQL as columns: contiguous numbers, and texts as offsets into their bytes.
 *
 * A column has the type of its first value. A real makes reals of whole numbers before it; a text
 * makes texts of numbers. SQLite promises no type for a column, so both may happen on any row.
 */

#include <stdio.h>

#include "analysis/sql/sql.h"
#include "api/api.h"
#include "base/run/pool.h"
#include "capture/fleet.h"
#include "input/kept.h"

static int64_t bits_of(double real)
{
    int64_t bits;

    memcpy(&bits, &real, sizeof(bits));
    return bits;
}

static void columns_append(struct api_column *c, struct str part)
{
    vec_reserve(&c->bytes, c->bytes.n + part.n);
    if (part.n > 0)
        memcpy(c->bytes.at + c->bytes.n, part.at, part.n);
    c->bytes.n += part.n;
}

static void api_columns_put_number(struct api_column *c, enum strata_type type, int64_t bits)
{
    char number[32];
    double real;

    memcpy(&real, &bits, sizeof(real));
    int n = type == STRATA_INT ? snprintf(number, sizeof(number), "%lld", (long long)bits)
                               : snprintf(number, sizeof(number), "%.17g", real);
    columns_append(c, (struct str){number, (size_t)n});
}

/* Numbers so far become texts. */
static void make_texts(struct api_column *c, enum strata_type type)
{
    vec_reserve(&c->offsets, c->numbers.n + 2);
    vec_push(&c->offsets, 0);
    for (size_t i = 0; i < c->numbers.n; i++) {
        bool is_valid = c->valid.n == 0 || (c->valid.at[i / 8] >> i % 8 & 1) != 0;
        if (is_valid && c->type != STRATA_NULL)
            api_columns_put_number(c, c->type, c->numbers.at[i]);
        vec_push(&c->offsets, (int64_t)c->bytes.n);
    }
    vec_free(&c->numbers);
    c->type = type;
}

/* One more row, which is number `row`. */
static void mark_valid(struct api_column *c, uint64_t row, bool is_there)
{
    if (is_there && c->valid.n == 0)
        return;
    if (!is_there && c->valid.n == 0)
        for (size_t i = 0; i <= row / 8; i++)
            vec_push(&c->valid, 0xff);
    if (row / 8 >= c->valid.n)
        vec_push(&c->valid, 0xff);
    if (!is_there) {
        c->valid.at[row / 8] &= (uint8_t) ~(1u << row % 8);
        c->nulls++;
    }
}

static bool is_texts(const struct api_column *c)
{
    return c->type == STRATA_TEXT || c->type == STRATA_BLOB;
}

/* Makes the column one that can take such a value. */
static void widen(struct api_column *c, enum sql_type type)
{
    if (type == SQL_TEXT || type == SQL_BLOB) {
        if (!is_texts(c))
            make_texts(c, type == SQL_TEXT ? STRATA_TEXT : STRATA_BLOB);
        else if (type == SQL_BLOB)
            c->type = STRATA_BLOB;
    } else if (c->type == STRATA_NULL && type != SQL_NULL) {
        c->type = type == SQL_INT ? STRATA_INT : STRATA_REAL;
    } else if (c->type == STRATA_INT && type == SQL_REAL) {
        for (size_t i = 0; i < c->numbers.n; i++)
            c->numbers.at[i] = bits_of((double)c->numbers.at[i]);
        c->type = STRATA_REAL;
    }
}

static void api_columns_put_value(struct api_column *c, uint64_t row, const struct sql_value *v)
{
    widen(c, v->type);
    mark_valid(c, row, v->type != SQL_NULL);
    if (!is_texts(c)) {
        int64_t number = v->type == SQL_INT ? v->number : 0;
        if (v->type == SQL_REAL || (v->type == SQL_INT && c->type == STRATA_REAL))
            number = bits_of(v->type == SQL_REAL ? v->real : (double)v->number);
        vec_push(&c->numbers, number);
        return;
    }
    if (v->type == SQL_TEXT || v->type == SQL_BLOB)
        columns_append(c, v->text);
    else if (v->type == SQL_INT)
        api_columns_put_number(c, STRATA_INT, v->number);
    else if (v->type == SQL_REAL)
        api_columns_put_number(c, STRATA_REAL, bits_of(v->real));
    vec_push(&c->offsets, (int64_t)c->bytes.n);
}

static bool api_columns_add_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct strata_result *r = ctx;

    for (size_t i = 0; i < n; i++) {
        struct api_column *c = &r->columns[i];
        if (cells[i].type == SQL_INT && c->type == STRATA_INT && c->valid.n == 0)
            vec_push(&c->numbers, cells[i].number); /* nearly all */
        else
            api_columns_put_value(c, r->rows, &cells[i]);
    }
    r->rows++;
    return true;
}

static bool api_columns_set_head(void *ctx, const char *const *names, size_t n)
{
    struct strata_result *r = ctx;

    r->columns = ARENA_ARRAY(&r->arena, struct api_column, n);
    memset(r->columns, 0, n * sizeof(*r->columns));
    r->n_columns = n;
    for (size_t i = 0; i < n; i++)
        r->columns[i].name = arena_cstr(&r->arena, str_of(names[i]));
    return true;
}

/* ---- columns as they lie ---- */

static void scan_texts(const struct fleet *fleet, enum sql_set set, enum sql_scan_column column,
                       struct api_column *to)
{
    vec_push(&to->offsets, 0);
    for (size_t c = 0; c < fleet->ranks.n; c++) {
        const struct capture *cap = fleet->ranks.at[c];
        for (size_t i = 0; i < cap->slices.n; i++) {
            if (!sql_set_has(set, (enum slice_kind)cap->slices.kind[i]))
                continue;
            columns_append(to, sql_scan_text(cap, i, column));
            vec_push(&to->offsets, (int64_t)to->bytes.n);
        }
    }
}

static void scan(struct strata_result *r, const struct sql_scan *s, const struct fleet *fleet)
{
    const struct capture *const *caps = (const struct capture *const *)fleet->ranks.at;
    const char *names[SQL_SCAN_MOST];

    for (size_t i = 0; i < s->n; i++)
        names[i] = sql_scan_name(s->columns[i]);
    api_columns_set_head(r, names, s->n);
    r->rows = sql_scan_rows(caps, fleet->ranks.n, s->set);
    for (size_t i = 0; i < s->n && r->rows > 0; i++) {
        struct api_column *c = &r->columns[i];
        c->type = s->columns[i] >= SCAN_NAME ? STRATA_TEXT : STRATA_INT;
        if (c->type == STRATA_TEXT) {
            vec_reserve(&c->offsets, r->rows + 1);
            scan_texts(fleet, s->set, s->columns[i], c);
        } else {
            vec_reserve(&c->numbers, r->rows);
            sql_scan_numbers(caps, fleet->ranks.n, s->set, s->columns[i], c->numbers.at);
            c->numbers.n = r->rows;
        }
    }
}

struct query_call {
    const struct strata_capture *cap;
    const char *statement;
    double timeout;
};

static enum status query(struct strata_result *r, struct diag *d, void *ctx)
{
    const struct query_call *c = ctx;
    struct input_options options = input_defaults();
    struct sql_scan plain;
    struct fleet *fleet;
    struct sql *sql;

    options.pmu = true; /* as `strata query` */
    options.pool = pool_new(0);
    enum status status = input_kept_all(c->cap->kept, &options, d, &fleet);
    pool_free(options.pool);
    TRY(status);
    if (sql_scan_parse(str_of(c->statement), &plain)) {
        scan(r, &plain, fleet);
        return ST_OK;
    }
    TRY(sql_open(&sql, (const struct capture *const *)fleet->ranks.at, fleet->ranks.n, d));
    status = sql_run(sql,
                     &(struct sql_query){.text = str_of(c->statement),
                                         .timeout = nanos_of(c->timeout * 1e9),
                                         .head = api_columns_set_head,
                                         .row = api_columns_add_row,
                                         .ctx = r},
                     d);
    sql_close(sql);
    if (diag_count(d, "query.memory") > 0)
        job_out_of_memory(); /* no limit was set: there is none left */
    return status;
}

int strata_query(const struct strata_capture *cap, const char *statement, double timeout,
                 struct strata_result **out)
{
    if (cap == NULL || statement == NULL || !(timeout >= 0 && timeout <= 1e6))
        return api_misuse("strata_query: no capture, no statement, or a timeout below 0", out);
    return api_answer(query, &(struct query_call){cap, statement, timeout}, out);
}

uint64_t strata_row_count(const struct strata_result *r)
{
    return r != NULL ? r->rows : 0;
}

size_t strata_column_count(const struct strata_result *r)
{
    return r != NULL ? r->n_columns : 0;
}

int strata_column_get(const struct strata_result *r, size_t i, struct strata_column *out)
{
    if (r == NULL || out == NULL)
        return STRATA_USAGE;
    if (i >= r->n_columns)
        return STRATA_NOT_FOUND;
    const struct api_column *c = &r->columns[i];
    *out = (struct strata_column){.name = c->name, .type = c->type, .nulls = c->nulls};
    if (is_texts(c)) {
        out->values = c->bytes.at;
        out->offsets = c->offsets.at;
    } else {
        out->values = c->numbers.at;
    }
    out->valid = c->valid.n > 0 ? c->valid.at : NULL;
    return STRATA_OK;
}
