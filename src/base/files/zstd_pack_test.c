#include "base/files/zstd_pack.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/testing.h"

static void round_trip(struct str bytes)
{
    struct text packed = {0};
    char *back = malloc(bytes.n + 1);

    text_put(&packed, S("before"));
    zstd_pack(&packed, bytes);
    assert_memory_equal(packed.at, "before\x28\xb5\x2f\xfd", 10);
    assert_int_equal(ZSTD_decompress(back, bytes.n + 1, packed.at + 6, packed.n - 6), bytes.n);
    if (bytes.n > 0)
        assert_memory_equal(back, bytes.at, bytes.n);
    free(back);
    text_free(&packed);
}

TEST(a_frame_holds_the_bytes)
{
    struct text numbers = {0};

    for (uint64_t i = 0; i < 50000; i++)
        text_put(&numbers, (struct str){(const char *)&i, sizeof(i)});
    round_trip(S(""));
    round_trip(S("x"));
    round_trip(S("NUL \0 inside"));
    round_trip(text_view(&numbers));
    text_free(&numbers);
}

TEST(what_repeats_gets_smaller)
{
    struct text same = {0}, packed = {0};

    text_repeat(&same, 'a', 1 << 20);
    zstd_pack(&packed, text_view(&same));
    assert_in_range(packed.n, 10, 200);
    text_free(&same);
    text_free(&packed);
}

TEST_MAIN("base/files/zstd_pack", T(a_frame_holds_the_bytes), T(what_repeats_gets_smaller))
