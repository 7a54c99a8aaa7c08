#include "base/formats/parquet_read.h"

#include <stdio.h>

#include "base/testing.h"

/* Files that tests/fuzz/make-parquet-corpus has made; 300 rows each, values by formulas. */
#define FOLDER "tests/fuzz/corpus/parquet/"

enum { ROWS = 300 };

struct whole {
    struct parquet p;
    struct parquet_values v;
    struct diag d;
};

static void whole_open(struct whole *w, const char *path)
{
    *w = (struct whole){0};
    diag_init(&w->d);
    assert_int_equal(parquet_open(&w->p, path, (struct str){0}, &w->d), ST_OK);
}

static void whole_close(struct whole *w)
{
    parquet_values_free(&w->v);
    parquet_close(&w->p);
    diag_fini(&w->d);
}

/* What row `i` of a column has to hold; false: nothing. */
static bool expected(struct str name, int64_t i, int64_t *number, double *real, char *text)
{
    *text = '\0';
    *real = 0;
    *number = 0;
    if (str_equal(name, S("bool")))
        *number = i % 2 == 0;
    else if (str_equal(name, S("bool_runs")))
        *number = i % 20 < 10;
    else if (str_equal(name, S("i32")))
        *number = i * i - 1000;
    else if (str_equal(name, S("u32")))
        *number = i == 0 ? UINT32_MAX : i;
    else if (str_equal(name, S("i64")))
        *number = i << 40;
    else if (str_equal(name, S("delta")))
        *number = i * 7919 % 1000 - 500;
    else if (str_equal(name, S("delta32")))
        *number = -i;
    else if (str_equal(name, S("words")))
        *number = i % 4 * 1000;
    else if (str_equal(name, S("float")))
        *real = (double)i / 4;
    else if (str_equal(name, S("double")))
        *real = (double)i / 8;
    else if (str_equal(name, S("reals")))
        *real = (double)(i % 8) / 8;
    else if (str_equal(name, S("text")) || str_equal(name, S("name")))
        snprintf(text, 16, "kernel %d", (int)(i % 7));
    else if (str_equal(name, S("lengths")))
        snprintf(text, 16, "%.*s", (int)(i % 9), "xxxxxxxx");
    else if (str_equal(name, S("fixed")))
        snprintf(text, 16, "%04d", (int)i);
    if (str_equal(name, S("nothing")))
        return false;
    if (str_equal(name, S("text")) || str_equal(name, S("name")))
        return i % 5 != 4;
    if (str_equal(name, S("i32")) || str_equal(name, S("delta")) || str_equal(name, S("double")) ||
        str_equal(name, S("reals")))
        return i % 3 != 2;
    return true;
}

static void check_value(const struct parquet_values *v, size_t row, struct str name, int64_t i)
{
    int64_t number;
    double real;
    char text[16];

    if (!expected(name, i, &number, &real, text)) {
        assert_false(parquet_has(v, row));
        return;
    }
    assert_true(parquet_has(v, row));
    if (v->kind == VALUES_INT)
        assert_true(v->numbers[row] == number);
    else if (v->kind == VALUES_REAL)
        assert_true(v->reals[row] == real);
    else
        assert_true(str_equal(v->texts[row], str_of(text)));
}

static void check_file(const char *path, size_t groups)
{
    struct whole w;

    whole_open(&w, path);
    assert_int_equal(w.p.rows, ROWS);
    assert_int_equal(w.p.n_groups, groups);
    assert_int_equal(w.p.n, 17);
    for (size_t c = 0; c < w.p.n; c++) {
        int64_t i = 0;
        if (str_equal(w.p.columns[c].name, S("decimal"))) {
            assert_int_equal(parquet_read(&w.p, 0, c, &w.v), ST_UNSUPPORTED);
            assert_int_equal(w.v.n, 0);
            continue;
        }
        for (size_t g = 0; g < groups; g++) {
            assert_int_equal(parquet_read(&w.p, g, c, &w.v), ST_OK);
            assert_int_equal(w.v.n, w.p.groups[g].rows);
            for (size_t row = 0; row < w.v.n; row++, i++)
                check_value(&w.v, row, w.p.columns[c].name, i);
        }
        assert_int_equal(i, ROWS);
    }
    whole_close(&w);
}

TEST(every_type_encoding_and_codec_is_read)
{
    check_file(FOLDER "stored.parquet", 1);
    check_file(FOLDER "snappy-2-groups.parquet", 2);
    check_file(FOLDER "gzip-version-2.parquet", 1);
    check_file(FOLDER "stored-version-2.parquet", 3);
}

TEST(columns_and_notes_are_found_by_name)
{
    struct whole w;

    whole_open(&w, FOLDER "stored.parquet");
    assert_int_equal(parquet_find(&w.p, S("i64")), 4);
    assert_int_equal(parquet_find(&w.p, S("i6")), -1);
    assert_str(parquet_note(&w.p, S("made.by")), "strata's tests");
    assert_str(parquet_note(&w.p, S("made")), "");
    whole_close(&w);
}

TEST(what_is_not_read_is_named)
{
    struct whole w;

    whole_open(&w, FOLDER "lz4.parquet");
    assert_int_equal(parquet_read(&w.p, 0, 0, &w.v), ST_UNSUPPORTED);
    assert_string_equal(w.d.entries.at[0].first[0].text,
                        "Parquet: column a: compression LZ4, number 5, not read here");
    whole_close(&w);
    whole_open(&w, FOLDER "nested.parquet");
    assert_str(w.p.columns[0].name, "group.a");
    assert_int_equal(parquet_read(&w.p, 0, 0, &w.v), ST_UNSUPPORTED);
    assert_string_equal(w.d.entries.at[0].first[0].text,
                        "Parquet: column group.a: a nested column, not read here");
    whole_close(&w);
}

/* Every file of which one byte is wrong or the end is missing: an error, or values as they should
 * be in number. */
TEST(damage_is_an_error_with_its_place)
{
    static const char *const damaged[] = {FOLDER "cut.parquet", FOLDER "footer-too-large.parquet"};
    struct parquet p;
    struct diag d;

    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        diag_init(&d);
        assert_int_equal(parquet_open(&p, damaged[i], (struct str){0}, &d), ST_FORMAT);
        assert_string_equal(d.entries.at[0].code, "parquet.damaged");
        assert_true(d.entries.at[0].first[0].where.byte > 0);
        diag_fini(&d);
    }
}

TEST_MAIN("base/formats/parquet_read", T(every_type_encoding_and_codec_is_read),
          T(columns_and_notes_are_found_by_name), T(what_is_not_read_is_named),
          T(damage_is_an_error_with_its_place))
