#include "base/files/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/formats/csv.h"
#include "base/testing.h"

static char path[] = "/tmp/strata-stream-XXXXXX";

static void stream_write_file(struct str text, bool is_packed)
{
    if (is_packed) {
        gzFile out = gzopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(gzwrite(out, text.at, (unsigned)text.n), text.n);
        assert_int_equal(gzclose(out), Z_OK);
        return;
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text.at, 1, text.n, out), text.n);
    assert_int_equal(fclose(out), 0);
}

/* 100 000 random letters: they pack to more than half. */
static struct str long_text(void)
{
    static char text[100000];
    uint32_t seed = 1;

    for (size_t i = 0; i < sizeof(text); i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = (char)('a' + (seed >> 16) % 26);
    }
    return (struct str){text, sizeof(text)};
}

/* Consumes in odd pieces and compares each byte with what was written. */
static void read_back(struct str expected, size_t window)
{
    struct stream s;
    struct diag diag;
    uint64_t at = 0;

    diag_init(&diag);
    assert_int_equal(stream_open(&s, path, window, &diag), ST_OK);
    do {
        assert_int_equal(stream_fill(&s), ST_OK);
        struct str text = stream_text(&s);
        assert_int_equal(s.offset, at);
        assert_true(at + text.n <= expected.n);
        assert_memory_equal(text.at, expected.at + at, text.n);
        size_t used = s.at_end ? text.n : text.n - text.n / 3;
        stream_consume(&s, used);
        at += used;
    } while (!s.at_end);
    assert_int_equal(at, expected.n);
    assert_int_equal(s.cap, window); /* it never had to grow */
    assert_int_equal(diag.entries.n, 0);
    stream_close(&s);
    diag_fini(&diag);
}

TEST(plain_and_packed_input_give_the_same_bytes)
{
    struct str text = long_text();

    stream_write_file(text, false);
    read_back(text, 64);
    read_back(text, 4096);
    read_back(text, 1 << 20);
    stream_write_file(text, true);
    read_back(text, 64);
    read_back(text, 4096);
    read_back(text, 1 << 20);
}

TEST(reading_to_a_buffer_goes_on_behind_what_was_consumed)
{
    static char to[120000];
    struct str text = long_text();
    struct stream s;
    struct diag diag;
    size_t got;

    diag_init(&diag);
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        bool has_fault = false;
        stream_write_file(text, is_packed);
        assert_int_equal(stream_open_fast(&s, path, 64, &has_fault, &diag), ST_OK);
        assert_int_equal(stream_fill(&s), ST_OK);
        stream_consume(&s, 10);
        size_t at = 10;
        for (size_t room = 1; !s.at_end; room *= 3, at += got) {
            assert_int_equal(stream_read(&s, to, room < sizeof(to) ? room : sizeof(to), &got),
                             ST_OK);
            assert_memory_equal(to, text.at + at, got);
        }
        assert_int_equal(at, text.n);
        assert_int_equal(s.offset, text.n);
        assert_false(has_fault);
        stream_close(&s);
    }
    diag_fini(&diag);
}

TEST(an_empty_file_is_at_its_end_after_the_first_fill)
{
    struct stream s;
    struct diag diag;

    diag_init(&diag);
    stream_write_file((struct str){"", 0}, false);
    assert_int_equal(stream_open(&s, path, 4096, &diag), ST_OK);
    assert_false(s.is_gzip);
    assert_int_equal(stream_fill(&s), ST_OK);
    assert_true(s.at_end);
    assert_int_equal(stream_text(&s).n, 0);
    assert_int_equal(stream_fill(&s), ST_OK);
    stream_close(&s);
    stream_close(&s);
    diag_fini(&diag);
}

TEST(a_record_larger_than_the_window_makes_it_grow_up_to_the_limit)
{
    struct stream s;
    struct diag diag;
    enum status st = ST_OK;

    diag_init(&diag);
    stream_write_file(long_text(), true);
    assert_int_equal(stream_open(&s, path, 64, &diag), ST_OK);
    s.limit = 1000;
    size_t seen[6] = {0};
    for (size_t i = 0; i < ARRAY_LEN(seen) && st == ST_OK; i++) {
        st = stream_fill(&s);
        seen[i] = stream_text(&s).n;
    }
    /* 64, 128, 256, 512, then the limit, and then an end. */
    assert_int_equal(seen[0], 64);
    assert_int_equal(seen[3], 512);
    assert_int_equal(seen[4], 1000);
    assert_int_equal(st, ST_LIMIT);
    assert_int_equal(diag_count(&diag, "stream.record-too-long"), 1);
    stream_close(&s);
    diag_fini(&diag);
}

TEST(consuming_more_than_there_is_drops_all)
{
    struct stream s;
    struct diag diag;

    diag_init(&diag);
    stream_write_file(S("abc"), false);
    assert_int_equal(stream_open(&s, path, 64, &diag), ST_OK);
    assert_int_equal(stream_fill(&s), ST_OK);
    stream_consume(&s, 1);
    assert_str(stream_text(&s), "bc");
    stream_consume(&s, SIZE_MAX);
    assert_int_equal(stream_text(&s).n, 0);
    assert_int_equal(s.offset, 3);
    stream_close(&s);
    diag_fini(&diag);
}

TEST(a_packed_file_cut_short_ends_early_and_is_counted_once)
{
    struct stream s;
    struct diag diag;
    struct str text = long_text();

    diag_init(&diag);
    stream_write_file(text, true);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(stream_open(&s, path, 1 << 20, &diag), ST_OK);
    assert_true(s.is_gzip);
    assert_int_equal(stream_fill(&s), ST_OK);
    assert_int_equal(stream_fill(&s), ST_OK);
    assert_true(s.at_end);
    assert_true(stream_text(&s).n > 1000 && stream_text(&s).n < text.n);
    assert_memory_equal(stream_text(&s).at, text.at, stream_text(&s).n);
    assert_int_equal(diag_count(&diag, "gz.truncated"), 1);
    stream_close(&s);
    diag_fini(&diag);
}

TEST(a_missing_file_fails_and_may_be_closed)
{
    struct stream s;
    struct diag diag;

    diag_init(&diag);
    assert_int_equal(stream_open(&s, "/nonexistent/file", 64, &diag), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "file.missing"), 1);
    stream_close(&s);
    assert_int_equal(stream_open(&s, "/tmp", 64, &diag), ST_IO);
    stream_close(&s);
    diag_fini(&diag);
}

TEST(a_dash_reads_standard_input_even_when_it_comes_in_single_bytes)
{
    struct stream s;
    struct diag diag;
    int ends[2], saved = dup(STDIN_FILENO);

    diag_init(&diag);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    assert_int_equal(stream_open(&s, "-", 64, &diag), ST_OK);
    assert_int_equal(stream_fill(&s), ST_OK);
    assert_true(s.at_end);
    assert_str(stream_text(&s), "x");
    stream_close(&s);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    diag_fini(&diag);
}

static uint64_t sum_of_rows(struct csv *csv, int column, uint64_t *last_line)
{
    uint64_t sum = 0;

    while (csv_next(csv)) {
        sum += csv_cell(csv, column).n;
        *last_line = csv->line;
    }
    return sum;
}

TEST(a_table_read_through_a_small_window_keeps_its_rows_and_lines)
{
    /* 1000 rows of two lines each behind the header: the last one starts on line 2000. The text
     * cells are 0 to 99 bytes long, ten times 4950 in all, plus LF and x: 49 500 + 2 * 1000. */
    static char table[1000 * 128];
    size_t n = (size_t)sprintf(table, "id,text\n");
    struct stream s;
    struct diag diag;
    struct csv csv;
    uint64_t sum = 0, last_line = 0;

    for (int i = 0; i < 1000; i++)
        n += (size_t)sprintf(table + n, "%d,\"%.*s\nx\"\r\n", i, i % 100, long_text().at);
    stream_write_file((struct str){table, n}, true);
    diag_init(&diag);
    assert_int_equal(stream_open(&s, path, 256, &diag), ST_OK);
    do
        assert_int_equal(stream_fill(&s), ST_OK);
    while (!csv_open_part(&csv, stream_text(&s), s.at_end));
    for (;;) {
        sum += sum_of_rows(&csv, 1, &last_line);
        if (csv.is_last)
            break;
        stream_consume(&s, csv_used(&csv));
        assert_int_equal(stream_fill(&s), ST_OK);
        csv_more(&csv, stream_text(&s), s.at_end);
    }
    assert_int_equal(sum, 51500);
    assert_int_equal(last_line, 2000);
    assert_int_equal(s.cap, 256);
    stream_close(&s);
    diag_fini(&diag);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(plain_and_packed_input_give_the_same_bytes),
        T(reading_to_a_buffer_goes_on_behind_what_was_consumed),
        T(an_empty_file_is_at_its_end_after_the_first_fill),
        T(a_record_larger_than_the_window_makes_it_grow_up_to_the_limit),
        T(consuming_more_than_there_is_drops_all),
        T(a_packed_file_cut_short_ends_early_and_is_counted_once),
        T(a_missing_file_fails_and_may_be_closed),
        T(a_dash_reads_standard_input_even_when_it_comes_in_single_bytes),
        T(a_table_read_through_a_small_window_keeps_its_rows_and_lines),
    };

    return cmocka_run_group_tests_name("base/files/stream", tests, make_file, remove_file);
}
