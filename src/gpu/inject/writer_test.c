#include "gpu/inject/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/crc32c.h"
#include "base/testing.h"

static char path[] = "/tmp/strata-writer-XXXXXX";

/* An open writer on a path that was free; the file's name is forgotten by close_file(). */
static void open_file(struct writer *w)
{
    strcpy(path, "/tmp/strata-writer-XXXXXX");
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    assert_true(writer_open(w, path));
}

/* What is in the file. */
static size_t read_file(uint8_t *buf, size_t size)
{
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    size_t n = fread(buf, 1, size, f);
    fclose(f);
    unlink(path);
    return n;
}

static const struct writer_event first = {
    .tag = TRACE_OVERHEAD, .site = 1, .start = 1000, .duration = 7, .correlation = 5};

TEST(numbers_survive_their_coding)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    uint8_t bytes[TRACE_NUMBER];
    uint64_t back;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        const uint8_t *end = trace_put(bytes, values[i]);
        assert_ptr_equal(trace_get(bytes, end, &back), end);
        assert_true(back == values[i]);
        assert_null(trace_get(bytes, end - 1, &back));
        assert_true(trace_unzigzag(trace_zigzag((int64_t)values[i])) == (int64_t)values[i]);
    }
}

TEST(a_block_holds_its_records_and_their_times)
{
    struct writer w;
    struct trace_block head;
    uint8_t file[1024];
    const uint64_t fields[] = {3};

    open_file(&w);
    assert_int_equal(writer_site(&w, TRACE_SITE_OVERHEAD, fields, 1), 1);
    writer_event(&w, &first, NULL, 0);
    writer_event(
        &w,
        &(struct writer_event){
            .tag = TRACE_OVERHEAD, .site = 1, .start = 998, .duration = 4, .correlation = 6},
        NULL, 0);
    writer_flush(&w);
    writer_abandon(&w);
    writer_close(&w, 0);
    size_t n = read_file(file, sizeof(file));
    memcpy(&head, file + TRACE_HEAD, sizeof(head));
    assert_memory_equal(file, TRACE_MAGIC, 8);
    assert_int_equal(head.bytes, n - TRACE_HEAD - sizeof(head));
    assert_int_equal(head.records, 3);
    assert_int_equal(head.begin, 998);
    assert_int_equal(head.end, 1007);
    assert_int_equal(head.first_site, 1);
    assert_int_equal(head.crc, crc32c(0, file + TRACE_HEAD + sizeof(head), head.bytes));
    /* Site: tag, kind, 1 field, 3. Then 1000 = zigzag 2000 = d0 0f, 7, zigzag 5 = 10, site 1;
     * and 998 - 1000 = -2 = zigzag 3, 4, 6 - 5 = 1 = zigzag 2, site 1. */
    static const uint8_t payload[] = {TRACE_SITE,
                                      TRACE_SITE_OVERHEAD,
                                      1,
                                      3,
                                      TRACE_OVERHEAD,
                                      0xd0,
                                      0x0f,
                                      7,
                                      10,
                                      1,
                                      TRACE_OVERHEAD,
                                      3,
                                      4,
                                      2,
                                      1};
    assert_int_equal(head.bytes, sizeof(payload));
    assert_memory_equal(file + TRACE_HEAD + sizeof(head), payload, sizeof(payload));
}

TEST(equal_texts_and_sites_are_written_once)
{
    struct writer w;
    uint64_t a[] = {1, 2}, b[] = {1, 3};

    open_file(&w);
    assert_int_equal(writer_string(&w, "gemm"), 1);
    assert_int_equal(writer_string(&w, "copy"), 2);
    assert_int_equal(writer_string(&w, "gemm"), 1);
    assert_int_equal(writer_string(&w, NULL), 0);
    assert_int_equal(writer_string(&w, ""), 0);
    assert_int_equal(writer_site(&w, TRACE_SITE_PLACE, a, 2), 1);
    assert_int_equal(writer_site(&w, TRACE_SITE_PLACE, b, 2), 2);
    assert_int_equal(writer_site(&w, TRACE_SITE_MARK, a, 2), 3);
    assert_int_equal(writer_site(&w, TRACE_SITE_PLACE, a, 2), 1);
    assert_int_equal(w.records, 5);
    writer_close(&w, 0);
    unlink(path);
}

TEST(full_tables_forget_and_number_on)
{
    struct writer w;
    char text[32];
    uint32_t last = 0;

    open_file(&w);
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof(text), "name %d", i);
        uint32_t id = writer_string(&w, text);
        assert_int_equal(id, last + 1);
        last = id;
    }
    assert_true(w.texts.n < 100000);
    writer_close(&w, 0);
    unlink(path);
}

TEST(a_file_that_is_there_is_not_touched)
{
    struct writer w, other;

    open_file(&w);
    assert_false(writer_open(&other, path));
    assert_int_equal(other.fd, -1);
    writer_close(&w, 0);
    unlink(path);
}

TEST(a_full_disk_ends_the_writing_and_nothing_else)
{
    struct writer w;

    open_file(&w);
    close(w.fd);
    w.fd = open("/dev/full", O_WRONLY);
    assert_true(w.fd >= 0);
    writer_event(&w, &first, NULL, 0);
    writer_flush(&w);
    assert_int_equal(w.fd, -1);
    assert_int_equal(w.error, ENOSPC);
    writer_event(&w, &first, NULL, 0);
    assert_int_equal(writer_string(&w, "late"), 0);
    writer_flush(&w);
    writer_close(&w, 0);
    unlink(path);
}

TEST_MAIN("gpu/inject/writer", T(numbers_survive_their_coding),
          T(a_block_holds_its_records_and_their_times), T(equal_texts_and_sites_are_written_once),
          T(full_tables_forget_and_number_on), T(a_file_that_is_there_is_not_touched),
          T(a_full_disk_ends_the_writing_and_nothing_else))
