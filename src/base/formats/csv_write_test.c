#include "base/formats/csv_write.h"

#include <math.h>

#include "base/arena.h"
#include "base/formats/csv.h"
#include "base/tables/vec.h"
#include "base/testing_arena.h"

struct buffer {
    VEC_OF(char) text;
    size_t calls, allowed; /* how many writes succeed */
};

static bool write_gather(void *ctx, struct str text)
{
    struct buffer *b = ctx;

    if (b->calls++ >= b->allowed)
        return false;
    for (size_t i = 0; i < text.n; i++)
        vec_push(&b->text, text.at[i]);
    return true;
}

static struct str write_text_of(const struct buffer *b)
{
    return (struct str){b->text.at, b->text.n};
}

TEST(cells_are_quoted_only_when_they_must_be)
{
    struct buffer b = {.allowed = SIZE_MAX};
    struct csv_write out;

    csv_write_open(&out, (struct sink){write_gather, &b});
    csv_write_cell(&out, S("plain text"));
    csv_write_cell(&out, S("a,b"));
    csv_write_cell(&out, S("say \"hi\""));
    csv_write_cell(&out, S(" lead"));
    csv_write_cell(&out, S("trail\t"));
    csv_write_cell(&out, S("two\nlines"));
    csv_write_cell(&out, S("cr\r"));
    csv_write_cell(&out, S("\xef\xbb\xbfmark"));
    csv_write_cell(&out, S(""));
    csv_write_row(&out);
    assert_true(csv_write_close(&out));
    assert_str(write_text_of(&b), "plain text,\"a,b\",\"say \"\"hi\"\"\",\" lead\",\"trail\t\","
                                  "\"two\nlines\",\"cr\r\",\"\xef\xbb\xbfmark\",\n");
    vec_free(&b.text);
}

TEST(numbers_are_written_in_full)
{
    struct buffer b = {.allowed = SIZE_MAX};
    struct csv_write out;

    csv_write_open(&out, (struct sink){write_gather, &b});
    csv_write_i64(&out, INT64_MIN);
    csv_write_f64(&out, 0.1);
    csv_write_f64(&out, NAN);
    assert_true(csv_write_close(&out));
    assert_str(write_text_of(&b), "-9223372036854775808,0.1,\n");
    vec_free(&b.text);
}

TEST(a_row_of_one_empty_cell_is_not_an_empty_line)
{
    struct buffer b = {.allowed = SIZE_MAX};
    struct csv_write out;

    csv_write_open(&out, (struct sink){write_gather, &b});
    csv_write_row(&out);
    csv_write_cell(&out, S(""));
    csv_write_row(&out);
    csv_write_cell(&out, S(""));
    csv_write_cell(&out, S(""));
    csv_write_row(&out);
    assert_true(csv_write_close(&out));
    assert_str(write_text_of(&b), "\"\"\n,\n");
    vec_free(&b.text);
}

TEST(a_sink_that_fails_is_asked_once_and_close_tells)
{
    struct buffer b = {.allowed = 1};
    struct csv_write out;

    csv_write_open(&out, (struct sink){write_gather, &b});
    for (int i = 0; i < 80000; i++) /* five buffers of text */
        csv_write_cell(&out, S("abc"));
    assert_false(csv_write_close(&out));
    assert_int_equal(b.calls, 2);
    vec_free(&b.text);
}

TEST(what_is_written_reads_back_the_same)
{
    static const char letters[] = "ab,\"\r\n \t\xef\xbb\xbf";
    struct buffer b = {.allowed = SIZE_MAX};
    struct csv_write out;
    struct csv csv;
    static char cell[500][4][12];
    static size_t length[500][4];
    uint32_t seed = 1;

    csv_write_open(&out, (struct sink){write_gather, &b});
    for (size_t row = 0; row < 500; row++) {
        for (size_t column = 0; column < 4; column++) {
            seed = seed * 1664525 + 1013904223;
            length[row][column] = seed >> 28 < 12 ? seed >> 28 : 0;
            for (size_t i = 0; i < length[row][column]; i++) {
                seed = seed * 1664525 + 1013904223;
                cell[row][column][i] = letters[(seed >> 16) % (sizeof(letters) - 1)];
            }
            csv_write_cell(&out, (struct str){cell[row][column], length[row][column]});
        }
        csv_write_row(&out);
    }
    assert_true(csv_write_close(&out));

    csv_open(&csv, write_text_of(&b));
    for (size_t row = 0; row < 500; row++) {
        if (row > 0)
            assert_true(csv_next(&csv));
        assert_int_equal(csv.n_cells, 4);
        for (size_t column = 0; column < 4; column++) {
            struct str back = csv_unquote(csv_cell(&csv, (int)column), &arena);
            assert_int_equal(back.n, length[row][column]);
            if (back.n > 0)
                assert_memory_equal(back.at, cell[row][column], back.n);
        }
    }
    assert_false(csv_next(&csv));
    vec_free(&b.text);
}

TEST(safe_cells_are_no_formulas)
{
    static const struct str cells[] = {S_INIT("=1+1"), S_INIT("+x"),   S_INIT("-1.5"),
                                       S_INIT("+3e9"), S_INIT("-x,y"), S_INIT("@sum"),
                                       S_INIT("a=b"),  S_INIT("-")};
    struct buffer b = {.allowed = 100};
    struct csv_write *out = mem_grow(NULL, sizeof(*out), 1);

    csv_write_open(out, (struct sink){write_gather, &b});
    out->is_safe = true;
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        csv_write_cell(out, cells[i]);
    csv_write_quoted(out, S("=a"));
    csv_write_f64(out, -1);
    assert_true(csv_write_close(out));
    assert_str(write_text_of(&b), "'=1+1,'+x,-1.5,+3e9,\"'-x,y\",'@sum,a=b,'-,\"'=a\",-1\n");
    vec_free(&b.text);
    mem_free(out);
}

TEST_MAIN("base/formats/csv_write", T(cells_are_quoted_only_when_they_must_be),
          T(numbers_are_written_in_full), T(a_row_of_one_empty_cell_is_not_an_empty_line),
          T(a_sink_that_fails_is_asked_once_and_close_tells),
          TA(what_is_written_reads_back_the_same), T(safe_cells_are_no_formulas))
