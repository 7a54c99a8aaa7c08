#include "analysis/sql/sql_columns.h"

#include <stdio.h>

#include "analysis/sql/sql.h"
#include "base/testing.h"
#include "base/text/text.h"

/* Rows as text, "|" behind each cell; NULL is "-". */
static void columns_put_number(struct text *out, int64_t number)
{
    text_format(out, "%lld|", (long long)number);
}

static bool columns_put_head(void *ctx, const char *const *names, size_t n)
{
    (void)ctx, (void)names, (void)n;
    return true;
}

static bool columns_put_row(void *ctx, const struct sql_value *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cells[i].type == SQL_INT)
            columns_put_number(ctx, cells[i].number);
        else if (cells[i].type == SQL_REAL)
            text_format(ctx, "%.17g|", cells[i].real);
        else
            text_format(ctx, "%.*s|", STR_ARGS(cells[i].type == SQL_NULL ? S("-") : cells[i].text));
    text_char(ctx, '\n');
    return true;
}

static void columns_put_cell(struct text *out, const struct column_data *c, size_t row)
{
    if (!column_has(c, row))
        text_put(out, S("-|"));
    else if (c->type == VALUES_INT)
        columns_put_number(out, c->numbers[row]);
    else if (c->type == VALUES_REAL)
        text_format(out, "%.17g|", c->reals[row]);
    else
        text_format(out, "%.*s|", STR_ARGS(c->texts.at[c->places[row]]));
}

static void columns_put_table(struct text *out, struct sql_view *view, const char *table,
                              const struct cut *cut)
{
    struct sql_columns *t = sql_columns_open(view, table, cut);
    struct column_chunk chunk;
    size_t n;
    const struct column_info *info = sql_columns_info(t, &n);

    columns_init(&chunk, info, n);
    for (size_t i = 0; i < sql_columns_chunks(t); i++) {
        columns_clear(&chunk);
        sql_columns_fill(t, i, &chunk);
        for (size_t row = 0; row < columns_rows(&chunk); row++) {
            for (size_t c = 0; c < n; c++)
                columns_put_cell(out, &chunk.at[c], row);
            text_char(out, '\n');
        }
    }
    columns_fini(&chunk);
    sql_columns_close(t);
}

static uint32_t columns_add(struct capture *cap, lane_id lane, enum slice_kind kind, nanos begin,
                            const char *step)
{
    struct attr own[] = {attr_text(cap->keys[KEY_STEP], capture_intern(cap, str_of(step))),
                         attr_time(cap->keys[KEY_WAIT], begin / 2),
                         attr_int(cap->keys[KEY_TASK], begin % 7)};
    struct attr set[] = {attr_text(cap->keys[KEY_TYPE], capture_intern(cap, S("MatMul"))),
                         attr_int(cap->keys[KEY_CORE], 3), /* a number in a column of texts */
                         attr_text(cap->keys[KEY_STATE], 0)};

    return capture_slice(cap,
                         &(struct slice){.begin = begin,
                                         .dur = begin % 50 + 1,
                                         .lane = lane,
                                         .name = capture_intern_format(cap, "k%d", (int)begin % 5),
                                         .kind = kind,
                                         .set = attrs_set(&cap->attrs, set, 3),
                                         .own = attrs_own(&cap->attrs, own, 3)});
}

static struct capture *columns_sample(const char *stream, const char *step, int rank)
{
    struct capture *cap = capture_new();
    lane_id device = capture_lane(
        cap, (struct lane_key){.kind = LANE_STREAM, .name = capture_intern(cap, str_of(stream))});
    lane_id host = capture_lane(
        cap, (struct lane_key){LANE_THREAD, -1, 0, capture_intern(cap, S("main")), 7, 8});

    for (nanos i = 0; i < 30; i++) {
        uint32_t launch = columns_add(cap, host, SLICE_RUNTIME, 100 * i, "");
        capture_flow(cap, FLOW_LAUNCH, launch,
                     columns_add(cap, device, i % 4 == 0 ? SLICE_COMM : SLICE_COMPUTE, 100 * i + 40,
                                 i < 10 ? "0" : step));
    }
    capture_sample(cap, capture_series(cap, 0, capture_intern(cap, S("clock")), 0), 150, 1800.5);
    capture_source(cap, (struct source){.path = "t.csv", .format = "kernel-details", .rows = 3});
    cap->facts.rank = rank;
    cap->name = "run";
    capture_seal(cap);
    return cap;
}

TEST(every_table_has_the_rows_of_a_query)
{
    struct capture *caps[] = {columns_sample("2", "1", 0), columns_sample("N/A", "late", 1)};
    struct diag diag;

    diag_init(&diag);
    for (size_t n = 1; n <= 2; n++) {
        const struct capture *const *list = (const struct capture *const *)caps;
        struct sql_view view;
        struct sql *sql;
        assert_int_equal(sql_view_init(&view, list, n, &diag), ST_OK);
        assert_int_equal(sql_open(&sql, list, n, &diag), ST_OK);
        for (size_t i = 0; sql_schema(i) != NULL; i++) {
            struct text want = {0}, got = {0}, statement = {0};
            text_format(&statement, "SELECT * FROM %s ORDER BY id", sql_schema(i)->name);
            struct sql_query query = {.text = text_view(&statement),
                                      .head = columns_put_head,
                                      .row = columns_put_row,
                                      .ctx = &want};
            assert_int_equal(sql_run(sql, &query, &diag), ST_OK);
            columns_put_table(&got, &view, sql_schema(i)->name, NULL);
            text_char(&want, '\0');
            text_char(&got, '\0');
            assert_string_equal(got.at, want.at);
            text_free(&want);
            text_free(&got);
            text_free(&statement);
        }
        sql_close(sql);
        sql_view_fini(&view);
    }
    capture_free(caps[0]);
    capture_free(caps[1]);
    diag_fini(&diag);
}

static enum column_kind columns_type_of(struct sql_view *view, const char *table, struct str name)
{
    struct sql_columns *t = sql_columns_open(view, table, NULL);
    size_t n, i = 0;
    const struct column_info *info = sql_columns_info(t, &n);

    while (i < n && !str_equal(info[i].name, name))
        i++;
    assert_true(i < n);
    enum column_kind type = info[i].type;
    sql_columns_close(t);
    return type;
}

TEST(types_are_those_that_all_values_need)
{
    struct capture *caps[] = {columns_sample("2", "1", 0), columns_sample("N/A", "late", 1)};
    const struct capture *const *list = (const struct capture *const *)caps;
    struct sql_view view;
    struct diag diag;

    diag_init(&diag);
    assert_int_equal(sql_view_init(&view, list, 1, &diag), ST_OK);
    assert_int_equal(columns_type_of(&view, "kernels", S("step")), VALUES_INT);
    assert_int_equal(columns_type_of(&view, "kernels", S("stream")), VALUES_INT);
    assert_int_equal(columns_type_of(&view, "kernels", S("core")), VALUES_TEXT);
    assert_int_equal(columns_type_of(&view, "kernels", S("task")), VALUES_INT);
    assert_int_equal(columns_type_of(&view, "counters", S("value")), VALUES_REAL);
    assert_int_equal(columns_type_of(&view, "collectives", S("group")), VALUES_TEXT);
    sql_view_fini(&view);
    assert_int_equal(sql_view_init(&view, list, 2, &diag), ST_OK);
    assert_int_equal(columns_type_of(&view, "kernels", S("step")), VALUES_TEXT);
    assert_int_equal(columns_type_of(&view, "steps", S("step")), VALUES_TEXT);
    assert_int_equal(columns_type_of(&view, "kernels", S("stream")), VALUES_TEXT);
    sql_view_fini(&view);
    capture_free(caps[0]);
    capture_free(caps[1]);
    diag_fini(&diag);
}

TEST(a_cut_leaves_out_slices_and_arrows_and_clips)
{
    struct capture *cap = columns_sample("2", "1", 0);
    const struct capture *list = cap;
    struct interval window = {110, 145};
    struct cut_options options = {.windows = {&window, 1}, .clip = true};
    struct text got = {0};
    struct sql_view view;
    struct diag diag;
    struct cut cut;

    diag_init(&diag);
    cut_init(&cut, cap, &options);
    assert_int_equal(sql_view_init(&view, &list, 1, &diag), ST_OK);
    columns_put_table(&got, &view, "kernels", &cut);
    text_char(&got, '\0');
    assert_non_null(strstr(got.at, "|140|5|145|k0|compute|")); /* began at 140, 41 long */
    assert_null(strchr(strchr(got.at, '\n') + 1, '\n'));
    text_clear(&got);
    columns_put_table(&got, &view, "flows", &cut);
    assert_str(text_view(&got), ""); /* its launch ended at 101 */
    sql_view_fini(&view);
    cut_fini(&cut);
    text_free(&got);
    capture_free(cap);
    diag_fini(&diag);
}

TEST_MAIN("analysis/sql/sql_columns", T(every_table_has_the_rows_of_a_query),
          T(types_are_those_that_all_values_need), T(a_cut_leaves_out_slices_and_arrows_and_clips))
