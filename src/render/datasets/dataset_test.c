#include "render/datasets/dataset.h"

#include <endian.h>
#include <signal.h>
#include <stdio.h>

#include "base/run/cancel.h"
#include "base/run/pool.h"
#include "base/testing.h"

static const struct column_info info[] = {
    {S_INIT("id"), VALUES_INT, false},
    {S_INIT("x"), VALUES_REAL, false},
    {S_INIT("name"), VALUES_TEXT, false},
    {S_INIT("note"), VALUES_TEXT, true},
};
static const struct dataset_note notes[] = {{S_INIT("key"), S_INIT("value")}};

/* Chunk 1 is empty, as one may be. */
static void dataset_fill(void *ctx, size_t chunk, struct column_chunk *out)
{
    static const struct str names[] = {S_INIT("MatMul"), S_INIT("Cast"), S_INIT("")};
    char note[32];

    (void)ctx;
    for (size_t i = 0; chunk != 1 && i < 1000; i++) {
        column_put_int(&out->at[0], (int64_t)(chunk * 1000 + i));
        if (i % 10 == 0)
            column_put_null(&out->at[1]);
        else
            column_put_real(&out->at[1], (double)i / 3);
        column_put_lasting(&out->at[2], names[i * i % 3]);
        snprintf(note, sizeof(note), "%zu of %zu", i, chunk);
        column_put_text(&out->at[3], str_of(note));
    }
}

static const struct dataset_source source = {
    .layout = {.table = "sample",
               .columns = info,
               .n = ARRAY_LEN(info),
               .notes = notes,
               .notes_n = ARRAY_LEN(notes)},
    .chunks = 9,
    .fill = dataset_fill,
};

static struct text render_source(const struct dataset_form *form, const struct dataset_source *from,
                                 size_t width)
{
    struct dataset_options how = {.pool = width > 1 ? pool_new(width) : NULL};
    struct text text = {0};
    uint64_t rows;

    assert_true(dataset_write(form, from, &how, text_sink(&text), &rows));
    assert_int_equal(rows, 8000);
    pool_free(how.pool);
    return text;
}

static struct text dataset_render(const struct dataset_form *form, size_t width)
{
    return render_source(form, &source, width);
}

static const struct dataset_form *const forms[] = {&dataset_arrow, &dataset_parquet};

TEST(one_thread_and_eight_write_the_same_bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct text one = dataset_render(forms[i], 1);
        for (size_t width = 2; width <= 8; width *= 2) {
            struct text more = dataset_render(forms[i], width);
            assert_int_equal(one.n, more.n);
            assert_memory_equal(one.at, more.at, one.n);
            text_free(&more);
        }
        text_free(&one);
    }
}

static uint32_t u32_before(struct text t, size_t back)
{
    uint32_t value;

    memcpy(&value, t.at + t.n - back - sizeof(value), sizeof(value));
    return le32toh(value);
}

TEST(files_begin_and_end_as_their_formats_do)
{
    struct text parquet = dataset_render(&dataset_parquet, 1),
                arrow = dataset_render(&dataset_arrow, 1);

    assert_memory_equal(parquet.at, "PAR1", 4);
    assert_memory_equal(parquet.at + parquet.n - 4, "PAR1", 4);
    uint32_t footer = u32_before(parquet, 4);
    assert_true(footer < parquet.n - 12);
    assert_int_equal(parquet.at[parquet.n - 8 - footer], 0x15); /* field 1, a number: version 2 */
    assert_int_equal(parquet.at[parquet.n - 8 - footer + 1], 4);
    assert_memory_equal(arrow.at, "ARROW1\0\0\xff\xff\xff\xff", 12);
    assert_memory_equal(arrow.at + arrow.n - 6, "ARROW1", 6);
    footer = u32_before(arrow, 6);
    assert_true(footer < arrow.n - 18);
    assert_int_equal((arrow.n - 10 - footer) % 8, 0);
    assert_memory_equal(arrow.at + arrow.n - 10 - footer - 8, "\xff\xff\xff\xff\0\0\0\0", 8);
    text_free(&parquet);
    text_free(&arrow);
}

TEST(compression_makes_files_smaller_and_can_be_left_out)
{
    struct dataset_source plain = source;

    plain.layout.is_plain = true;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct text packed = dataset_render(forms[i], 1),
                    stored = render_source(forms[i], &plain, 1);
        assert_true(packed.n < stored.n / 2);
        assert_non_null(memmem(packed.at, packed.n, "\x28\xb5\x2f\xfd", 4));
        assert_null(memmem(stored.at, stored.n, "\x28\xb5\x2f\xfd", 4));
        text_free(&packed);
        text_free(&stored);
    }
}

static bool dataset_refuse(void *ctx, struct str text)
{
    (void)ctx, (void)text;
    return false;
}

TEST(a_full_sink_and_an_interruption_are_told)
{
    struct dataset_options how = {0};

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct text text = {0};
        assert_false(
            dataset_write(forms[i], &source, &how, (struct sink){dataset_refuse, NULL}, NULL));
        cancel_request(SIGINT);
        assert_false(dataset_write(forms[i], &source, &how, text_sink(&text), NULL));
        cancel_clear();
        text_free(&text);
    }
}

TEST(a_table_without_rows_is_a_file)
{
    struct dataset_source empty = source;
    struct dataset_options how = {0};

    empty.chunks = 0;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct text text = {0};
        assert_true(dataset_write(forms[i], &empty, &how, text_sink(&text), NULL));
        assert_true(text.n > 100);
        text_free(&text);
    }
}

TEST_MAIN("render/datasets/dataset", T(one_thread_and_eight_write_the_same_bytes),
          T(files_begin_and_end_as_their_formats_do),
          T(compression_makes_files_smaller_and_can_be_left_out),
          T(a_full_sink_and_an_interruption_are_told), T(a_table_without_rows_is_a_file))
