#include "base/formats/csv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/tables/vec.h"
#include "base/testing_arena.h"
#include "base/text/num.h"

TEST(rows_and_cells_come_in_order_with_their_lines)
{
    struct csv csv;

    csv_open(&csv, S("name,time\nadd,1\nmul,2\n"));
    assert_int_equal(csv_header_count(&csv), 2);
    assert_str(csv_header(&csv, 1), "time");
    assert_str(csv_header(&csv, 2), "");
    assert_int_equal(csv_column(&csv, S("time")), 1);
    assert_int_equal(csv_column(&csv, S("Time")), -1);

    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 2);
    assert_int_equal(csv.n_cells, 2);
    assert_str(csv_cell(&csv, 0), "add");
    assert_str(csv_cell(&csv, 1), "1");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 3);
    assert_str(csv_cell(&csv, 0), "mul");
    assert_false(csv_next(&csv));
    assert_false(csv_next(&csv));
}

TEST(a_text_without_rows_has_no_columns)
{
    struct csv csv;
    static const struct str texts[] = {
        {NULL, 0}, S_INIT(""), S_INIT("\n\r\n\n"), S_INIT("\xef\xbb\xbf")};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        csv_open(&csv, texts[i]);
        assert_int_equal(csv_header_count(&csv), 0);
        assert_int_equal(csv_column(&csv, S("")), -1);
        assert_false(csv_next(&csv));
    }
}

TEST(header_names_lose_the_mark_blanks_and_carriage_returns)
{
    struct csv csv;

    csv_open(&csv, S("\xef\xbb\xbf Step Id ,\"Name\",Start Time(us)\t\r\n1,a,2\r\n"));

    assert_int_equal(csv_column(&csv, S("Step Id")), 0);
    assert_int_equal(csv_column(&csv, S("Name")), 1);
    assert_int_equal(csv_column(&csv, S("Start Time(us)")), 2);
    assert_true(csv_next(&csv));
    assert_str(csv_cell(&csv, 2), "2");
}

TEST(quoted_cells_hold_commas_line_ends_and_doubled_quotes)
{
    struct csv csv;

    csv_open(&csv, S("a,b\n\"x,y\",\"one\r\ntwo\"\r\n\"\"\"32,3;4\"\"\",\"\"\nlast,row"));

    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 2);
    assert_str(csv_cell(&csv, 0), "x,y");
    assert_str(csv_cell(&csv, 1), "one\r\ntwo");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 4);
    assert_str(csv_cell(&csv, 0), "\"\"32,3;4\"\"");
    assert_str(csv_unquote(csv_cell(&csv, 0), &arena), "\"32,3;4\"");
    assert_str(csv_cell(&csv, 1), "");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 5);
    assert_str(csv_cell(&csv, 1), "row");
    assert_false(csv.is_broken);
    assert_false(csv_next(&csv));
}

TEST(unquoting_copies_only_when_something_is_doubled)
{
    struct str plain = S("no \" pair");

    assert_ptr_equal(csv_unquote(plain, &arena).at, plain.at);
    assert_int_equal(csv_unquote((struct str){NULL, 0}, &arena).n, 0);
    /* Five quotes in a row are two pairs and a single one: three remain. */
    assert_str(csv_unquote(S("\"\"\"\"\""), &arena), "\"\"\"");
}

TEST(ragged_rows_are_delivered_with_their_own_count)
{
    struct csv csv;

    csv_open(&csv, S("a,b,c\n1,2\n1,2,3,4\n\n5\n"));

    assert_true(csv_next(&csv));
    assert_int_equal(csv.n_cells, 2);
    assert_str(csv_cell(&csv, 2), "");
    assert_str(csv_cell(&csv, -1), "");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.n_cells, 4);
    assert_str(csv_cell(&csv, 3), "4");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 5);
    assert_int_equal(csv.n_cells, 1);
    assert_false(csv_next(&csv));
}

TEST(times_with_a_tab_and_quotes_are_exact)
{
    struct csv csv;
    nanos at;

    csv_open(&csv, S("t\n1736408883704643.212\t\n\"1736413971558972.912\t\"\r\n"));
    assert_true(csv_next(&csv));
    assert_true(num_us(csv_cell(&csv, 0), &at));
    assert_int_equal(at, 1736408883704643212);
    assert_true(csv_next(&csv));
    assert_true(num_us(csv_cell(&csv, 0), &at));
    assert_int_equal(at, 1736413971558972912);
}

TEST(a_quote_inside_an_unquoted_cell_is_a_literal_and_harms_no_other_row)
{
    struct csv csv;

    csv_open(&csv, S("a,b\n5\" disk,x\ny,\"q,r\"\n\"in\"out\"er,z\nu,v\n"));

    assert_true(csv_next(&csv));
    assert_str(csv_cell(&csv, 0), "5\" disk");
    assert_str(csv_cell(&csv, 1), "x");
    assert_true(csv_next(&csv));
    assert_str(csv_cell(&csv, 1), "q,r");
    assert_true(csv_next(&csv));
    assert_str(csv_cell(&csv, 0), "\"in\"out\"er");
    assert_str(csv_cell(&csv, 1), "z");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 5);
    assert_str(csv_cell(&csv, 0), "u");
    assert_false(csv_next(&csv));
}

TEST(a_quote_that_never_closes_breaks_the_last_row)
{
    struct csv csv;

    csv_open(&csv, S("a,b\n1,2\n3,\"four\nfive"));
    assert_true(csv_next(&csv));
    assert_false(csv.is_broken);
    assert_true(csv_next(&csv));
    assert_true(csv.is_broken);
    assert_int_equal(csv.line, 3);
    assert_str(csv_cell(&csv, 0), "3");
    assert_str(csv_cell(&csv, 1), "four\nfive");
    assert_false(csv_next(&csv));

    csv_open(&csv, S("a\nb,\""));
    assert_true(csv_next(&csv));
    assert_true(csv.is_broken);
    assert_str(csv_cell(&csv, 1), "");
}

/* A row of `count` cells that hold one letter; returns the length with what was there. */
static size_t csv_add_row(char *text, size_t n, char letter, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text[n++] = letter;
        text[n++] = i + 1 < count ? ',' : '\n';
    }
    return n;
}

TEST(cells_past_the_limit_are_counted_and_read_as_empty)
{
    enum { WIDE = LIMIT_CSV_COLUMNS + 100 };
    static char text[2 * (2 * LIMIT_CSV_COLUMNS + WIDE)];
    struct csv csv;
    size_t n = csv_add_row(text, 0, 'h', LIMIT_CSV_COLUMNS);

    n = csv_add_row(text, n, 'x', WIDE);
    n = csv_add_row(text, n, 'y', LIMIT_CSV_COLUMNS);
    csv_open(&csv, (struct str){text, n});
    assert_false(csv.is_too_wide);
    assert_true(csv_next(&csv));
    assert_true(csv.is_too_wide);
    assert_int_equal(csv.n_cells, WIDE);
    assert_str(csv_cell(&csv, LIMIT_CSV_COLUMNS - 1), "x");
    assert_str(csv_cell(&csv, LIMIT_CSV_COLUMNS), "");
    for (size_t i = 0; i < LIMIT_CSV_COLUMNS; i++) /* the wide row spilled nowhere */
        assert_str(csv_header(&csv, i), "h");
    assert_true(csv_next(&csv));
    assert_false(csv.is_too_wide);
    assert_int_equal(csv.n_cells, LIMIT_CSV_COLUMNS);
    assert_str(csv_cell(&csv, LIMIT_CSV_COLUMNS - 1), "y");
    assert_false(csv_next(&csv));
}

TEST(a_header_past_the_limit_keeps_the_columns_below_it)
{
    static char text[2 * (LIMIT_CSV_COLUMNS + 1)];
    struct csv csv;

    csv_open(&csv, (struct str){text, csv_add_row(text, 0, 'h', LIMIT_CSV_COLUMNS + 1)});
    assert_true(csv.is_too_wide);
    assert_int_equal(csv_header_count(&csv), LIMIT_CSV_COLUMNS);
    assert_str(csv_header(&csv, LIMIT_CSV_COLUMNS - 1), "h");
    assert_str(csv_header(&csv, LIMIT_CSV_COLUMNS), "");
}

TEST(a_header_that_is_cut_asks_for_a_longer_window)
{
    struct csv csv;

    assert_false(csv_open_part(&csv, S("a,b"), false));
    assert_true(csv_open_part(&csv, S("a,b\n"), false));
    assert_int_equal(csv_column(&csv, S("b")), 1);
    assert_false(csv_next(&csv));
    assert_int_equal(csv_used(&csv), 4);
    csv_more(&csv, S("\"1\n2\",x\n3"), false);
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 2);
    assert_false(csv_next(&csv));
    assert_int_equal(csv_used(&csv), 8);
    csv_more(&csv, S("3,y"), true);
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 4);
    assert_str(csv_cell(&csv, 0), "3");
    assert_str(csv_cell(&csv, 1), "y");
    assert_false(csv_next(&csv));
}

/* What a reader made of a text, as one string: line, flags and cells of each row. */
struct story {
    VEC_OF(char) text;
};

static void csv_note(struct story *s, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vec_push(&s->text, ((const char *)bytes)[i]);
}

static void note_row(struct story *s, uint64_t line, bool is_broken, size_t n_cells)
{
    char head[64];
    int n = snprintf(head, sizeof(head), "@%llu%s#%zu", (unsigned long long)line,
                     is_broken ? "!" : "", n_cells);

    csv_note(s, head, (size_t)n);
}

static void note_csv_row(struct story *s, const struct csv *csv)
{
    note_row(s, csv->line, csv->is_broken, csv->n_cells);
    for (size_t i = 0; i < csv->n_cells; i++) {
        struct str cell = csv_cell(csv, (int)i);
        csv_note(s, "|", 1);
        csv_note(s, cell.at, cell.n);
    }
}

static void note_csv(struct story *s, struct csv *csv)
{
    if (csv_header_count(csv) > 0)
        note_csv_row(s, csv);
    while (csv_next(csv))
        note_csv_row(s, csv);
}

/* The dialect once more, as a plain state machine over whole cells: finds one row from `at`. */
struct plain_row {
    size_t begin[512], end[512], n, next;
    uint64_t lines;
    bool is_broken;
};

static void plain_row(struct str text, size_t at, struct plain_row *row)
{
    row->n = 0;
    row->lines = 0;
    row->is_broken = false;
    for (;;) { /* once for each cell */
        size_t i = at;
        bool is_closed = true;
        if (i < text.n && text.at[i] == '"') {
            is_closed = false;
            for (i++; i < text.n && !is_closed; i++) {
                if (text.at[i] == '\n')
                    row->lines++;
                if (text.at[i] == '"' && i + 1 < text.n && text.at[i + 1] == '"')
                    i++;
                else if (text.at[i] == '"')
                    is_closed = true;
            }
        }
        while (is_closed && i < text.n && text.at[i] != ',' && text.at[i] != '\n')
            i++;
        row->begin[row->n] = at;
        row->end[row->n++] = i;
        row->is_broken = !is_closed;
        at = i + 1;
        if (i < text.n && text.at[i] == ',')
            continue;
        row->lines += i < text.n;
        row->next = i < text.n ? i + 1 : i;
        return;
    }
}

static void note_plainly(struct story *s, struct str text)
{
    size_t at = str_starts(text, S("\xef\xbb\xbf")) ? 3 : 0;
    uint64_t line = 1;
    struct plain_row row;

    for (; at < text.n; at = row.next, line += row.lines) {
        plain_row(text, at, &row);
        while (row.end[row.n - 1] > row.begin[row.n - 1] && text.at[row.end[row.n - 1] - 1] == '\r')
            row.end[row.n - 1]--;
        if (row.n == 1 && row.end[0] == row.begin[0])
            continue;
        note_row(s, line, row.is_broken, row.n);
        for (size_t i = 0; i < row.n; i++) {
            struct str cell = {text.at + row.begin[i], row.end[i] - row.begin[i]};
            bool is_cut = row.is_broken && i + 1 == row.n;
            if (cell.n >= 2 && cell.at[0] == '"' && cell.at[cell.n - 1] == '"')
                cell = (struct str){cell.at + 1, cell.n - 2};
            else if (is_cut && cell.n > 0 && cell.at[0] == '"')
                cell = (struct str){cell.at + 1, cell.n - 1};
            csv_note(s, "|", 1);
            csv_note(s, cell.at, cell.n);
        }
    }
}

/* Reads `text` through windows that grow by `step` bytes, each an exact copy on the heap so that
 * a sanitizer sees any byte read past its end. */
static void note_in_windows(struct story *s, struct str text, size_t step)
{
    struct csv csv;
    size_t from = 0, to = 0;
    bool is_open = false;

    for (;;) {
        to = text.n - to < step ? text.n : to + step;
        char *copy = malloc(to - from + 1);
        memcpy(copy + 1, text.at + from, to - from);
        struct str window = {copy + 1, to - from};
        if (is_open) {
            csv_more(&csv, window, to == text.n);
        } else if (csv_open_part(&csv, window, to == text.n)) {
            is_open = true;
            if (csv_header_count(&csv) > 0)
                note_csv_row(s, &csv);
        }
        while (is_open && csv_next(&csv))
            note_csv_row(s, &csv);
        if (is_open)
            from += csv_used(&csv);
        free(copy);
        if (to == text.n)
            break;
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void assert_same(const struct story *a, const struct story *b)
{
    assert_int_equal(a->text.n, b->text.n);
    if (a->text.n > 0)
        assert_memory_equal(a->text.at, b->text.at, a->text.n);
}

static void compare_readers(struct str text, uint64_t *seed)
{
    struct story plain = {0}, best = {0}, portable = {0}, windows = {0};
    struct csv csv;

    note_plainly(&plain, text);
    csv_open(&csv, text);
    note_csv(&best, &csv);
    csv_open_portable(&csv, text);
    note_csv(&portable, &csv);
    note_in_windows(&windows, text, 1 + next_random(seed) % 100);
    assert_same(&best, &plain);
    assert_same(&portable, &plain);
    assert_same(&windows, &plain);
    vec_free(&plain.text);
    vec_free(&best.text);
    vec_free(&portable.text);
    vec_free(&windows.text);
}

TEST(both_scanners_and_windows_agree_with_a_plain_state_machine)
{
    /* Each alphabet leans on another part: quotes everywhere, rare quotes, long cells. */
    static const struct str alphabets[] = {
        S_INIT("\",\n\ra"),
        S_INIT("aaaaaaaaaaaaa,,,\n\"\t"),
        S_INIT("\"\"\"\"\"\"ab,\n"),
        S_INIT("abcdefghijklmnopqrstuvwxyz0123456789,,,,,,\r\n\""),
        S_INIT("\xef\xbb\xbf,\n\"\x00\x80\xac\x8a\xa2\x2d\x0b"), /* neighbours of the marks */
    };
    uint64_t seed = 42;

    for (int round = 0; round < 20000; round++) {
        struct str alphabet = alphabets[next_random(&seed) % ARRAY_LEN(alphabets)];
        size_t n = next_random(&seed) % (round % 100 == 0 ? 5000 : 400);
        char *text = malloc(n > 0 ? n : 1);
        for (size_t i = 0; i < n; i++)
            text[i] = alphabet.at[next_random(&seed) % alphabet.n];
        size_t commas = 0;
        for (size_t i = 0; i < n; i++)
            commas += text[i] == ',';
        if (commas < 500)
            compare_readers((struct str){text, n}, &seed);
        free(text);
    }
}

TEST(hostile_texts_read_the_same_everywhere)
{
    static const struct str texts[] = {
        S_INIT("\""),
        S_INIT("\"\""),
        S_INIT("\"\"\""),
        S_INIT("\"\"\"\"\n\"\"\"\n"),
        S_INIT(",,,\n,\",\n"),
        S_INIT("\r\n\r\r\n\ra\r\r\n\"\r\"\r"),
        S_INIT("a\"\n\"b\n\"\nc\"\n"),
        S_INIT("\xef\xbb\xbf\"a\",b\n\xef\xbb\xbf\"a,b\n"),
        S_INIT("\xef\xbb"),
    };
    uint64_t seed = 7;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (int k = 0; k < 20; k++)
            compare_readers(texts[i], &seed);
}

TEST(quotes_on_block_borders_keep_their_meaning)
{
    /* Slides each pattern over the borders at 64 and 128. */
    static const struct str patterns[] = {S_INIT("\"\""), S_INIT("\"a,b\""), S_INIT("\"x\"\"y\""),
                                          S_INIT("z\"z"), S_INIT("\"\n\"")};
    uint64_t seed = 3;

    for (size_t p = 0; p < ARRAY_LEN(patterns); p++) {
        for (size_t pad = 50; pad < 140; pad++) {
            char text[256];
            memset(text, 'k', pad);
            text[pad - 1] = ',';
            memcpy(text + pad, patterns[p].at, patterns[p].n);
            memcpy(text + pad + patterns[p].n, ",e\nf,g\n", 7);
            compare_readers((struct str){text, pad + patterns[p].n + 7}, &seed);
        }
    }
}

TEST_MAIN("base/formats/csv", T(rows_and_cells_come_in_order_with_their_lines),
          T(a_text_without_rows_has_no_columns),
          T(header_names_lose_the_mark_blanks_and_carriage_returns),
          TA(quoted_cells_hold_commas_line_ends_and_doubled_quotes),
          TA(unquoting_copies_only_when_something_is_doubled),
          T(ragged_rows_are_delivered_with_their_own_count),
          T(times_with_a_tab_and_quotes_are_exact),
          T(a_quote_inside_an_unquoted_cell_is_a_literal_and_harms_no_other_row),
          T(a_quote_that_never_closes_breaks_the_last_row),
          T(cells_past_the_limit_are_counted_and_read_as_empty),
          T(a_header_past_the_limit_keeps_the_columns_below_it),
          T(a_header_that_is_cut_asks_for_a_longer_window),
          T(both_scanners_and_windows_agree_with_a_plain_state_machine),
          T(hostile_texts_read_the_same_everywhere), T(quotes_on_block_borders_keep_their_meaning))
