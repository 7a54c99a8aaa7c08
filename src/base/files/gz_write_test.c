#include "base/files/gz_write.h"

#include "base/files/gz.h"
#include "base/formats/json_write.h"
#include "base/testing.h"

static struct str unpack(struct str packed, struct arena *arena)
{
    struct diag diag;
    struct str text;

    diag_init(&diag);
    assert_int_equal(gz_read_all(packed, 64 << 20, "test", &diag, arena, &text), ST_OK);
    assert_int_equal(diag.entries.n, 0);
    diag_fini(&diag);
    return text;
}

TEST(what_was_packed_comes_back)
{
    struct text packed = {0};
    struct gz_write gz;
    struct arena arena;

    arena_init(&arena);
    gz_write_open(&gz, text_sink(&packed));
    struct sink sink = gz_write_sink(&gz);
    for (int i = 0; i < 100000; i++)
        assert_true(sink.write(sink.ctx, S("one event a line\n")));
    assert_true(gz_write_close(&gz));

    struct str text = unpack((struct str){packed.at, packed.n}, &arena);
    assert_int_equal(text.n, 1700000);
    assert_memory_equal(text.at + 17 * 99999, "one event a line\n", 17);
    assert_true(packed.n < 20000);
    text_free(&packed);
    arena_free(&arena);
}

TEST(the_header_has_no_time_name_or_system)
{
    struct text packed = {0};
    struct gz_write gz;

    gz_write_open(&gz, text_sink(&packed));
    assert_true(gz_write_close(&gz));
    /* magic, deflate, no flags, time 0, no hint, system unknown */
    assert_memory_equal(packed.at, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
    text_free(&packed);
}

static bool write_refuse(void *ctx, struct str text)
{
    (void)text;
    ++*(int *)ctx;
    return false;
}

TEST(a_target_that_failed_is_told_once)
{
    struct gz_write gz;
    int asked = 0;

    gz_write_open(&gz, (struct sink){write_refuse, &asked});
    struct sink sink = gz_write_sink(&gz);
    bool good = true;
    for (uint32_t i = 0, x = 1; i < 100000 && good; i++, x = x * 1664525 + 1013904223)
        good = sink.write(sink.ctx, (struct str){(const char *)&x, sizeof(x)});
    assert_false(good);
    assert_false(gz_write_close(&gz));
    assert_int_equal(asked, 1);
}

TEST_MAIN("base/files/gz_write", T(what_was_packed_comes_back),
          T(the_header_has_no_time_name_or_system), T(a_target_that_failed_is_told_once))
