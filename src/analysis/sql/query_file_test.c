#include "analysis/sql/query_file.h"

#include "base/testing.h"
#include "capture/capture.h"

static struct capture *query_file_sample(void)
{
    struct capture *cap = capture_new();
    lane_id lane = capture_lane(cap, (struct lane_key){.kind = LANE_STREAM, .device = 0});

    for (nanos i = 0; i < 10; i++)
        capture_slice(cap, &(struct slice){.begin = i, .dur = 1, .lane = lane});
    capture_seal(cap);
    return cap;
}

static enum status file_ask(const struct dataset_form *form, const char *statement,
                            struct diag *diag, struct text *out, uint64_t *rows)
{
    struct capture *cap = query_file_sample();
    const struct capture *list = cap;
    struct query_file file = {form, text_sink(out), {.text = str_of(statement)}, false};
    struct sql *sql;

    text_clear(out);
    assert_int_equal(sql_open(&sql, &list, 1, diag), ST_OK);
    enum status st = query_file_write(sql, &file, diag, rows);
    sql_close(sql);
    capture_free(cap);
    return st;
}

/* A form that keeps the first chunk's types and texts. */
static struct {
    char types[256];
    char first[64];
    size_t chunks;
} seen;

static void *see_layout(const struct dataset_layout *layout, struct sink out)
{
    (void)out;
    seen.chunks = 0;
    for (size_t i = 0; i < layout->n; i++)
        seen.types[i] = "irt"[layout->columns[i].type];
    seen.types[layout->n] = '\0';
    return &seen;
}

static void see_chunk(void *writer, const struct column_chunk *chunk,
                      const struct dataset_piece *piece)
{
    const struct column_data *c = &chunk->at[0];
    struct str text = c->type == VALUES_TEXT ? c->texts.at[c->places[0]] : S("");

    (void)writer, (void)piece;
    seen.chunks++;
    text = str_part(text, 0, sizeof(seen.first) - 1);
    memcpy(seen.first, text.n > 0 ? text.at : "", text.n);
    seen.first[text.n] = '\0';
}

static bool see_end(void *writer)
{
    return writer == &seen;
}

static const struct dataset_form spy = {"spy", see_layout, NULL, see_chunk, see_end};

TEST(columns_get_the_type_that_holds_all_values)
{
    struct text out = {0};
    struct diag diag;
    uint64_t rows;

    diag_init(&diag);
    assert_int_equal(file_ask(&spy,
                              "SELECT id, iif(id > 3, 0.5, id), iif(id > 5, 'x', id), NULL, "
                              "iif(id > 7, NULL, id) FROM slices",
                              &diag, &out, &rows),
                     ST_OK);
    assert_int_equal(rows, 10);
    assert_string_equal(seen.types, "irtti");
    assert_int_equal(file_ask(&spy, "SELECT x'00ff' UNION ALL SELECT 7", &diag, &out, &rows),
                     ST_OK);
    assert_string_equal(seen.types, "t");
    assert_string_equal(seen.first, "00ff");
    text_free(&out);
    diag_fini(&diag);
}

TEST(wrong_and_unsteady_statements_are_told)
{
    struct text out = {0};
    struct diag diag;
    uint64_t rows;

    diag_init(&diag);
    assert_int_equal(file_ask(&dataset_parquet, "SELECT nothing", &diag, &out, &rows), ST_FORMAT);
    assert_int_equal(out.n, 0);
    /* 200 random values fit the types of the run before once in 10^25. */
    struct text statement = {0};
    for (int i = 0; i < 200; i++)
        text_format(&statement, "%s iif(random() > 0, 1, 'x')", i == 0 ? "SELECT" : ",");
    text_char(&statement, '\0');
    assert_int_equal(file_ask(&spy, statement.at, &diag, &out, &rows), ST_FORMAT);
    text_free(&statement);
    text_free(&out);
    diag_fini(&diag);
}

TEST(long_texts_make_short_chunks)
{
    struct text out = {0};
    struct diag diag;
    uint64_t rows;

    diag_init(&diag);
    assert_int_equal(
        file_ask(&spy, "SELECT id || printf('%.*c', 2000000, 'x') FROM slices", &diag, &out, &rows),
        ST_OK);
    assert_int_equal(rows, 10);
    assert_int_equal(seen.chunks, 2); /* nine rows are 17 MiB */
    text_free(&out);
    diag_fini(&diag);
}

TEST(both_forms_take_the_rows)
{
    struct text out = {0};
    struct diag diag;
    uint64_t rows;

    diag_init(&diag);
    assert_int_equal(file_ask(&dataset_parquet, "SELECT * FROM slices", &diag, &out, &rows), ST_OK);
    assert_memory_equal(out.at, "PAR1", 4);
    assert_int_equal(rows, 10);
    assert_int_equal(file_ask(&dataset_arrow, "SELECT * FROM slices LIMIT 0", &diag, &out, &rows),
                     ST_OK);
    assert_memory_equal(out.at, "ARROW1", 6);
    assert_int_equal(rows, 0);
    text_free(&out);
    diag_fini(&diag);
}

/* Types are those of the rows that are written. */
TEST(a_part_of_the_rows_is_written)
{
    struct capture *cap = query_file_sample();
    const struct capture *list = cap;
    bool has_more = false;
    struct query_file file = {.form = &spy,
                              .query = {.text = S("SELECT iif(id > 5, 'x', id) FROM slices"),
                                        .skip = 2,
                                        .limit = 3,
                                        .has_more = &has_more}};
    struct sql *sql;
    struct diag diag;
    uint64_t rows;

    diag_init(&diag);
    assert_int_equal(sql_open(&sql, &list, 1, &diag), ST_OK);
    assert_int_equal(query_file_write(sql, &file, &diag, &rows), ST_OK);
    assert_int_equal(rows, 3);
    assert_string_equal(seen.types, "i");
    assert_true(has_more);
    sql_close(sql);
    capture_free(cap);
    diag_fini(&diag);
}

TEST_MAIN("analysis/sql/query_file", T(columns_get_the_type_that_holds_all_values),
          T(wrong_and_unsteady_statements_are_told), T(long_texts_make_short_chunks),
          T(both_forms_take_the_rows), T(a_part_of_the_rows_is_written))
