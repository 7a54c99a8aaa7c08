/*
 * SQL to JSON.
 */
#include "view/view_answers.h"

#include <stdio.h>

#include "analysis/sql/sql.h"
#include "base/formats/json_write.h"

#define TIME_LIMIT INT64_C(5000000000) /* ns */

struct sql_answer {
    struct json_writer w;
    struct text *out;
    size_t rows;
    bool has_begun, is_truncated;
};

static bool view_sql_put_head(void *ctx, const char *const *names, size_t n)
{
    struct sql_answer *a = ctx;

    a->has_begun = true;
    json_write_object(&a->w);
    json_put_array(&a->w, "columns");
    for (size_t i = 0; i < n; i++)
        json_write_string(&a->w, str_of(names[i]));
    json_write_end(&a->w);
    json_put_array(&a->w, "rows");
    return true;
}

/* Scripts keep whole numbers up to 2^53; larger ones, such as times since 1970, are texts. */
static void put_whole(struct json_writer *w, int64_t number)
{
    const int64_t most = INT64_C(1) << 53;
    char text[32];

    if (number <= most && number >= -most) {
        json_write_i64(w, number);
        return;
    }
    snprintf(text, sizeof(text), "%lld", (long long)number);
    json_write_string(w, str_of(text));
}

static void sql_put_cell(struct json_writer *w, const struct sql_value *v)
{
    switch (v->type) {
    case SQL_NULL:
        json_write_null(w);
        break;
    case SQL_INT:
        put_whole(w, v->number);
        break;
    case SQL_REAL:
        json_write_f64(w, v->real);
        break;
    case SQL_BLOB:
        json_write_string(w, S("(bytes)"));
        break;
    case SQL_TEXT:
        json_write_string(w, v->text);
        break;
    }
}

static bool view_sql_put_row(void *ctx, const struct sql_value *cells, size_t n)
{
    struct sql_answer *a = ctx;
    size_t bytes = a->out->n;

    for (size_t i = 0; i < n; i++)
        bytes += cells[i].type == SQL_TEXT ? cells[i].text.n : 0;
    if (a->rows == VIEW_SQL_ROWS || bytes > VIEW_SQL_BYTES) {
        a->is_truncated = true;
        return false;
    }
    a->rows++;
    json_write_array(&a->w);
    for (size_t i = 0; i < n; i++)
        sql_put_cell(&a->w, &cells[i]);
    json_write_end(&a->w);
    return true;
}

static void put_error(const struct diag *d, struct text *out)
{
    const char *text = "the statement has no result", *code = NULL;
    struct json_writer w;

    for (size_t i = 0; i < d->entries.n; i++)
        if (d->entries.at[i].severity == SEV_ERROR) {
            text = d->entries.at[i].first[0].text;
            code = d->entries.at[i].code;
        }
    text_clear(out);
    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_object(&w);
    json_put_text(&w, "error", text);
    json_put_text(&w, "code", code);
    json_write_end(&w);
    json_write_finish(&w);
}

bool view_sql_run(struct sql *sql, struct str statement, struct text *out)
{
    struct sql_answer a = {.out = out};
    struct diag diag;

    diag_init(&diag);
    json_write_init(&a.w, text_sink(out), JSON_COMPACT);
    enum status status = sql_run(sql,
                                 &(struct sql_query){.text = statement,
                                                     .timeout = TIME_LIMIT,
                                                     .head = view_sql_put_head,
                                                     .row = view_sql_put_row,
                                                     .ctx = &a},
                                 &diag);
    bool is_ok = status == ST_OK && a.has_begun;
    if (is_ok) {
        json_write_end(&a.w);
        json_put_bool(&a.w, "truncated", a.is_truncated);
        json_write_end(&a.w);
        json_write_finish(&a.w);
    } else {
        put_error(&diag, out);
    }
    diag_fini(&diag);
    return is_ok;
}

void view_sql_tables(struct text *out)
{
    const struct sql_table_info *t;
    struct json_writer w;

    json_write_init(&w, text_sink(out), JSON_COMPACT);
    json_write_array(&w);
    for (size_t i = 0; (t = sql_schema(i)) != NULL; i++) {
        json_write_object(&w);
        json_put_text(&w, "name", t->name);
        json_put_text(&w, "summary", t->summary);
        json_put_text(&w, "columns", t->columns);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}
