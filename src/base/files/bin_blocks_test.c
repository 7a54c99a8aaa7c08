#include "base/files/bin_blocks.h"

#include "base/formats/json_write.h"
#include "base/testing.h"

static struct str blocks_written(const struct text *buffer)
{
    return (struct str){buffer->at, buffer->n};
}

TEST(a_trace_block_has_the_bytes_of_the_format_s_example)
{
    static const char want[] = "\x14\0\0\0\0\0\0\0\x02\x02\x5a\x5a{\"traceEvents\":[]}\0\0";
    struct text buffer = {0};

    assert_true(
        bin_write_block(text_sink(&buffer), BIN_TRACE, BIN_MARK, S("{\"traceEvents\":[]}")));
    assert_str(blocks_written(&buffer), want);
    text_free(&buffer);
}

TEST(a_block_of_whole_words_has_no_padding)
{
    static const char want[] = "\x0c\0\0\0\0\0\0\0\x04\0\0\x5a{\"Cores\":[]}";
    struct text buffer = {0};

    assert_true(bin_write_block(text_sink(&buffer), BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}")));
    assert_str(blocks_written(&buffer), want);
    text_free(&buffer);
}

TEST(the_size_of_a_source_block_leaves_out_the_path)
{
    struct text buffer = {0};
    struct bin_blocks b;
    struct bin_block block;

    assert_true(bin_write_source(text_sink(&buffer), S("/a.cpp"), S("int x;")));
    assert_true(
        bin_write_block(text_sink(&buffer), BIN_TRACE, BIN_MARK, S("{\"traceEvents\":[]}")));
    assert_int_equal(buffer.n, 4116 + 32);
    assert_int_equal(buffer.at[0], 8);
    bin_blocks_open(&b, blocks_written(&buffer));
    assert_true(bin_blocks_next(&b, &block));
    assert_int_equal(block.type, BIN_SOURCE);
    assert_false(block.counts_path);
    assert_str(block.path, "/a.cpp");
    assert_str(block.payload, "int x;");
    assert_true(bin_blocks_next(&b, &block));
    assert_int_equal(block.offset, 4116);
    assert_str(block.payload, "{\"traceEvents\":[]}");
    assert_false(bin_blocks_next(&b, &block));
    assert_int_equal(b.fault, BIN_FINE);
    text_free(&buffer);
}

TEST(a_source_block_that_counts_its_path_is_understood)
{
    struct text buffer = {0};
    struct bin_blocks b;
    struct bin_block block;

    assert_true(bin_write_source(text_sink(&buffer), S("/a.cpp"), S("int x;")));
    buffer.at[1] = 0x10; /* 8 + 4096 */
    assert_true(bin_write_block(text_sink(&buffer), BIN_API_INSTR, BIN_NEW, S("{\"Cores\":[]}")));
    bin_blocks_open(&b, blocks_written(&buffer));
    assert_true(bin_blocks_next(&b, &block));
    assert_true(block.counts_path);
    assert_str(block.path, "/a.cpp");
    assert_str(block.payload, "int x;");
    assert_true(bin_blocks_next(&b, &block));
    assert_int_equal(block.type, BIN_API_INSTR);
    text_free(&buffer);
}

TEST(a_source_block_that_fits_no_reading_is_a_fault)
{
    struct text buffer = {0};
    struct bin_blocks b;
    struct bin_block block;
    char text[BIN_FAULT_TEXT];

    assert_true(bin_write_source(text_sink(&buffer), S("/a.cpp"), S("int x;")));
    buffer.n -= 1;
    bin_blocks_open(&b, blocks_written(&buffer));
    assert_false(bin_blocks_next(&b, &block));
    assert_int_equal(b.fault, BIN_BAD_SOURCE);
    assert_str(((struct str){text, bin_blocks_fault(&b, text)}),
               "corrupt SOURCE block at offset 0: size 8 fits neither with nor without the path");
    text_free(&buffer);
}

static void check_fault(struct str text, enum bin_fault fault, const char *words)
{
    struct bin_blocks b;
    struct bin_block block;
    char buf[BIN_FAULT_TEXT];

    bin_blocks_open(&b, text);
    assert_false(bin_blocks_next(&b, &block));
    assert_int_equal(b.fault, fault);
    size_t n = bin_blocks_fault(&b, buf);
    assert_int_equal(n, strlen(words));
    assert_memory_equal(buf, words, n);
    assert_false(bin_blocks_next(&b, &block));
}

TEST(faults_are_told_with_their_place)
{
    check_fault(S("\x04\0\0\0\0\0\0\0\x02\0\x5a\x5b....."), BIN_BAD_MARK,
                "corrupt block at offset 0: size=4, reserve=0x5b");
    check_fault(S("\x0f\x27\0\0\0\0\0\0\x02\0\x5a\x5a...."), BIN_BAD_SIZE,
                "corrupt block at offset 0: size=9999, reserve=0x5a");
    check_fault(S("\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\x5a\x5a...."), BIN_BAD_SIZE,
                "corrupt block at offset 0: size=18446744073709551615, reserve=0x5a");
    check_fault(S("\x04\0\0\0\0\0\0\0\x02\x07\x5a\x5a...."), BIN_BAD_PADDING,
                "corrupt block at offset 0: size=4, padding=7");
    check_fault(S("\x02\0\0\0\0\0\0\0\x02\x03\x5a\x5a.."), BIN_BAD_PADDING,
                "corrupt block at offset 0: size=2, padding=3");
}

TEST(bytes_behind_the_last_block_are_passed_over)
{
    struct bin_blocks b;
    struct bin_block block;

    bin_blocks_open(&b, S("\x04\0\0\0\0\0\0\0\x63\x01\x5a\x5a"
                          "abc\0"
                          "12345678901"));
    assert_true(bin_blocks_next(&b, &block));
    assert_int_equal(block.type, 0x63);
    assert_null(bin_type_name(block.type));
    assert_str(block.payload, "abc");
    assert_false(bin_blocks_next(&b, &block));
    assert_int_equal(b.fault, BIN_FINE);
}

TEST(an_empty_text_has_no_blocks)
{
    struct bin_blocks b;
    struct bin_block block;

    bin_blocks_open(&b, S(""));
    assert_false(bin_blocks_next(&b, &block));
    assert_int_equal(b.fault, BIN_FINE);
}

TEST_MAIN("base/files/bin_blocks", T(a_trace_block_has_the_bytes_of_the_format_s_example),
          T(a_block_of_whole_words_has_no_padding),
          T(the_size_of_a_source_block_leaves_out_the_path),
          T(a_source_block_that_counts_its_path_is_understood),
          T(a_source_block_that_fits_no_reading_is_a_fault), T(faults_are_told_with_their_place),
          T(bytes_behind_the_last_block_are_passed_over), T(an_empty_text_has_no_blocks))
