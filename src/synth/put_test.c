#include "synth/put.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/testing.h"

static struct text_out buffer;

#define assert_text(literal) assert_str(((struct str){buffer.buffer, buffer.n}), literal)

TEST(every_per_cent_sign_takes_an_argument)
{
    struct put p = {.out = &buffer};

    PUTF(&p, "%-%'%'|", "a", -12, S("bc"));
    put_str(&p, S("100 %"));
    assert_text("a--12\"bc\"|100 %");
    assert_int_equal(put_bytes(&p), buffer.n);
    buffer.n = 0;
}

TEST(times_are_exact_decimals)
{
    struct put p = {.out = &buffer};

    PUTF(&p, "% % % % % % %", put_us(1767225600000000001), put_us(-1), put_short(12000),
         put_short(250), put_short(0), put_ms(1234500), put_stamp(5000, "\""));
    assert_text("1767225600000000.001 -0.001 12.0 0.25 0.0 1.2345 \"5.000\"");
    buffer.n = 0;
}

TEST(the_largest_numbers_fit)
{
    struct put p = {.out = &buffer};

    PUTF(&p, "% % %", INT64_MAX, INT64_MIN, put_us(INT64_MIN));
    assert_text("9223372036854775807 -9223372036854775808 -9223372036854775.808");
    buffer.n = 0;
}

/* A file of `pieces` times ten bytes, cut at `limit`. */
static void put_write_file(const char *path, size_t pieces, uint64_t limit, struct diag *d)
{
    struct put p;

    assert_int_equal(put_open(&p, path, limit, d), ST_OK);
    for (size_t i = 0; i < pieces; i++) {
        PUT(&p, "0123456789");
        assert_true(put_is_whole(&p) == (limit == 0 || (i + 1) * 10 <= limit));
    }
    assert_int_equal(put_close(&p, d), ST_OK);
}

TEST(a_limit_cuts_the_file_inside_a_piece)
{
    static const uint64_t limits[] = {1, 25, 65536, 300001, 400000, 0};
    char dir[] = "/tmp/put-test-XXXXXX", path[64];
    struct diag d;

    diag_init(&d);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/file", dir);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct mapfile map;
        put_write_file(path, 40000, limits[i], &d);
        assert_int_equal(mapfile_open(&map, path, &d), ST_OK);
        assert_int_equal(map.text.n, limits[i] > 0 ? limits[i] : 400000);
        assert_int_equal(map.text.at[map.text.n - 1], '0' + (char)((map.text.n - 1) % 10));
        mapfile_close(&map);
    }
    unlink(path);
    rmdir(dir);
    diag_fini(&d);
}

TEST_MAIN("synth/put", T(every_per_cent_sign_takes_an_argument), T(times_are_exact_decimals),
          T(the_largest_numbers_fit), T(a_limit_cuts_the_file_inside_a_piece))
