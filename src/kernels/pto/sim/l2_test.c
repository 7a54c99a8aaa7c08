#include "kernels/pto/sim/l2.h"

#include "base/testing.h"

enum { KIB = 1024 };

static struct pto_gm_window rows(int32_t root, int64_t at, int64_t n, int64_t bytes, int64_t stride)
{
    return (struct pto_gm_window){
        .at = at, .rows = n, .row_bytes = bytes, .stride = stride, .root = root, .is_exact = true};
}

static int64_t touch(struct pto_l2 *l2, struct pto_gm_window w)
{
    return pto_l2_touch(l2, &w, w.rows * w.row_bytes, 1, false);
}

TEST(bytes_miss_once_and_are_there_again)
{
    struct pto_l2 l2 = {0};

    pto_l2_start(&l2, 1 << 20);
    assert_int_equal(touch(&l2, rows(0, 0, 4, 512, 4096)), 2048);
    assert_int_equal(touch(&l2, rows(0, 0, 4, 512, 4096)), 0);
    assert_int_equal(touch(&l2, rows(0, 256, 1, 512, 512)), 256); /* the first half is there */
    assert_int_equal(touch(&l2, rows(1, 0, 4, 512, 4096)), 2048); /* another pointer */
    assert_int_equal(touch(&l2, rows(0, 4096, 1, 512, 512)), 0);  /* the second row */
    assert_int_equal(touch(&l2, rows(0, 512 * KIB - 128, 1, 256, 256)), 256); /* over two pages */
    pto_l2_free(&l2);
}

TEST(the_oldest_leave_when_the_room_is_used_up)
{
    struct pto_l2 l2 = {0};

    pto_l2_start(&l2, 64 * KIB);
    assert_int_equal(touch(&l2, rows(0, 0, 1, 32 * KIB, 32 * KIB)), 32 * KIB);
    assert_int_equal(touch(&l2, rows(0, 32 * KIB, 1, 32 * KIB, 32 * KIB)), 32 * KIB);
    assert_int_equal(touch(&l2, rows(0, 0, 1, 32 * KIB, 32 * KIB)), 0);
    assert_int_equal(touch(&l2, rows(0, 64 * KIB, 1, 64 * KIB, 64 * KIB)), 64 * KIB);
    assert_int_equal(touch(&l2, rows(0, 32 * KIB, 1, 32 * KIB, 32 * KIB)), 32 * KIB);
    pto_l2_free(&l2);
}

TEST(what_others_bring_in_takes_no_room)
{
    struct pto_l2 l2 = {0};
    struct pto_gm_window w = rows(0, 0, 1, 32 * KIB, 32 * KIB);

    pto_l2_start(&l2, 64 * KIB);
    assert_int_equal(pto_l2_touch(&l2, &w, 32 * KIB, 0.25, false), 32 * KIB);
    assert_true(l2.filled == 8 * KIB);
    pto_l2_start(&l2, 64 * KIB); /* empty again */
    assert_int_equal(pto_l2_touch(&l2, &w, 32 * KIB, 1, false), 32 * KIB);
    pto_l2_free(&l2);
}

TEST(written_bytes_go_to_memory_when_others_take_their_place)
{
    struct pto_l2 l2 = {0};
    struct pto_gm_window out = rows(1, 0, 1, 32 * KIB, 32 * KIB);

    pto_l2_start(&l2, 64 * KIB);
    (void)pto_l2_touch(&l2, &out, 32 * KIB, 1, true);
    (void)touch(&l2, rows(0, 0, 1, 16 * KIB, 16 * KIB));
    assert_true(pto_l2_written_back(&l2) == 0); /* there is room */
    for (int i = 1; i < 8; i++)
        (void)touch(&l2, rows(0, i * 16 * KIB, 1, 16 * KIB, 16 * KIB));
    assert_true(pto_l2_written_back(&l2) == 32 * KIB); /* once */
    assert_true(pto_l2_written_back(&l2) == 0);
    pto_l2_free(&l2);
}

TEST(windows_of_any_size_are_harmless)
{
    static const int64_t sizes[] = {-1, 0, 1, 127, 1 << 20, INT64_MAX};
    struct pto_l2 l2 = {0};

    pto_l2_start(&l2, 64 * KIB);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            struct pto_gm_window w = rows(-1, sizes[i], sizes[k], sizes[i], sizes[k]);
            int64_t missed = pto_l2_touch(&l2, &w, 4096, 1, i > k);
            assert_true(missed >= 0 && missed <= 4096);
        }
    pto_l2_free(&l2);
}

TEST_MAIN("kernels/pto/sim/l2", T(bytes_miss_once_and_are_there_again),
          T(the_oldest_leave_when_the_room_is_used_up), T(what_others_bring_in_takes_no_room),
          T(written_bytes_go_to_memory_when_others_take_their_place),
          T(windows_of_any_size_are_harmless))
