#include "kernels/pto/sim/hazards.h"

#include <string.h>

#include "base/testing.h"

static struct pto_touch touch(enum pto_pipe pipe, int64_t lo, int64_t hi, bool is_write)
{
    return (struct pto_touch){
        .pipe = pipe, .space = PTO_VEC, .lo = lo, .hi = hi, .is_write = is_write};
}

static void note(struct pto_hazards *h, struct pto_touch t, int64_t ready)
{
    pto_hazards_note(h, &t, (struct pto_moment){.at = ready, .record = (uint32_t)ready});
}

static struct pto_moment hazards_find(struct pto_hazards *h, struct pto_touch t)
{
    struct pto_moment wait = {.record = PTO_NO_RECORD};

    pto_hazards_find(h, &t, &wait);
    return wait;
}

TEST(a_read_waits_for_the_write_of_its_bytes)
{
    struct pto_hazards h;

    pto_hazards_init(&h);
    note(&h, touch(PTO_PIPE_MTE2, 1000, 2000, true), 50);
    struct pto_moment m = hazards_find(&h, touch(PTO_PIPE_V, 1999, 3000, false));
    assert_int_equal(m.at, 50);
    assert_int_equal(m.cause, PTO_CAUSE_RAW);
    assert_int_equal(m.from, PTO_PIPE_MTE2);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_V, 2000, 3000, false)).at, 0);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_V, 0, 1000, false)).at, 0);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_V, 1500, 1500, false)).at, 0);
    struct pto_touch other = touch(PTO_PIPE_V, 1000, 2000, false);
    other.space = PTO_MAT;
    assert_int_equal(hazards_find(&h, other).at, 0);
    pto_hazards_free(&h);
}

TEST(a_write_waits_for_reads_and_writes_of_other_pipes)
{
    struct pto_hazards h;

    pto_hazards_init(&h);
    note(&h, touch(PTO_PIPE_MTE2, 0, 100, true), 50);
    note(&h, touch(PTO_PIPE_V, 0, 100, false), 80);
    note(&h, touch(PTO_PIPE_MTE3, 50, 100, false), 90);
    struct pto_moment m = hazards_find(&h, touch(PTO_PIPE_MTE2, 60, 70, true));
    assert_int_equal(m.at, 90);
    assert_int_equal(m.cause, PTO_CAUSE_WAR);
    assert_int_equal(m.from, PTO_PIPE_MTE3);
    m = hazards_find(&h, touch(PTO_PIPE_V, 0, 10, true)); /* its own read is over */
    assert_int_equal(m.at, 50);
    assert_int_equal(m.cause, PTO_CAUSE_WAW);
    h.ignore_reuse = true;
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_MTE2, 60, 70, true)).at, 0);
    pto_hazards_free(&h);
}

TEST(the_latest_of_all_pieces_counts)
{
    struct pto_hazards h;

    pto_hazards_init(&h);
    for (int64_t i = 0; i < 10; i++)
        note(&h, touch(PTO_PIPE_MTE2, i * 10, i * 10 + 10, true), 100 + (i * 7) % 10);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_V, 0, 100, false)).at, 109);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_V, 25, 35, false)).at, 104);
    note(&h, touch(PTO_PIPE_V, 5, 95, true), 200);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_MTE3, 0, 5, false)).at, 100);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_MTE3, 95, 96, false)).at, 103);
    assert_int_equal(hazards_find(&h, touch(PTO_PIPE_MTE3, 94, 95, false)).at, 200);
    pto_hazards_free(&h);
}

TEST(the_vector_pipe_reads_behind_a_long_write_of_the_same_bytes)
{
    struct pto_hazards h;
    struct pto_touch write = touch(PTO_PIPE_V, 0, 4096, true),
                     read = touch(PTO_PIPE_V, 0, 4096, false);

    pto_hazards_init(&h);
    write.is_stream = read.is_stream = true;
    note(&h, write, 100);
    assert_int_equal(hazards_find(&h, read).at, 0);
    read.hi = 4000; /* not the same bytes */
    assert_int_equal(hazards_find(&h, read).at, 100);
    read.hi = 4096;
    read.is_stream = false; /* scratch */
    assert_int_equal(hazards_find(&h, read).at, 100);
    read.is_stream = true;
    read.pipe = PTO_PIPE_MTE3;
    assert_int_equal(hazards_find(&h, read).at, 100);
    read.pipe = PTO_PIPE_V;
    note(&h, touch(PTO_PIPE_V, 0, 256, true), 99); /* a short one, ready earlier, was the last */
    assert_int_equal(hazards_find(&h, read).at, 100);
    h.keeps_vector_order = true;
    assert_int_equal(hazards_find(&h, read).at, 0);
    pto_hazards_free(&h);
}

TEST(a_place_is_found_again_until_something_is_cut)
{
    struct pto_hazards h;
    struct pto_place place = {0};
    struct pto_touch t = touch(PTO_PIPE_V, 100, 200, false);

    pto_hazards_init(&h);
    t.place = &place;
    note(&h, touch(PTO_PIPE_MTE2, 100, 200, true), 50);
    assert_int_equal(hazards_find(&h, t).at, 50);
    uint32_t version = place.version;
    assert_int_equal(hazards_find(&h, t).at, 50);
    assert_int_equal(place.version, version);
    note(&h, touch(PTO_PIPE_MTE2, 0, 150, true), 70);
    assert_int_equal(hazards_find(&h, t).at, 70);
    assert_true(place.version != version);
    pto_hazards_reset(&h);
    assert_int_equal(hazards_find(&h, t).at, 0);
    pto_hazards_free(&h);
}

TEST(a_slot_is_quiet_when_its_last_access_is_over)
{
    struct pto_hazards h;

    pto_hazards_init(&h);
    assert_int_equal(pto_hazards_quiet(&h, PTO_VEC, 0, 100).at, 0);
    note(&h, touch(PTO_PIPE_MTE2, 0, 100, true), 50);
    note(&h, touch(PTO_PIPE_V, 50, 60, false), 80);
    assert_int_equal(pto_hazards_quiet(&h, PTO_VEC, 0, 100).at, 80);
    assert_int_equal(pto_hazards_quiet(&h, PTO_VEC, 0, 50).at, 50);
    assert_int_equal(pto_hazards_quiet(&h, PTO_VEC, 100, 200).at, 0);
    pto_hazards_free(&h);
}

/* ---- windows of global memory ---- */

static struct pto_gm_window window(int32_t root, int64_t at, int64_t rows, int64_t row_bytes,
                                   int64_t stride)
{
    return (struct pto_gm_window){at, rows, row_bytes, stride, root, true};
}

static bool meet(struct pto_gm_window a, struct pto_gm_window b)
{
    bool is = pto_gm_windows_meet(&a, &b);

    assert_int_equal(pto_gm_windows_meet(&b, &a), is);
    return is;
}

/* All windows of a small matrix, against the bytes themselves. */
TEST(windows_of_one_matrix_meet_when_they_share_a_byte)
{
    enum { STRIDE = 6, ROWS = 4 };
    struct pto_gm_window all[500];
    size_t n = 0;

    for (int64_t row = 0; row < ROWS; row += 2) {
        for (int64_t rows = 1; rows <= ROWS - row; rows++) {
            for (int64_t col = 0; col < STRIDE; col++) {
                for (int64_t width = 1; width <= STRIDE - col; width++)
                    all[n++] = window(0, row * STRIDE + col, rows, width, STRIDE);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            uint8_t bytes[64] = {0};
            bool is_shared = false;
            for (int64_t r = 0; r < all[i].rows; r++)
                memset(bytes + all[i].at + r * STRIDE, 1, (size_t)all[i].row_bytes);
            for (int64_t r = 0; r < all[k].rows; r++) {
                for (int64_t c = 0; c < all[k].row_bytes; c++)
                    is_shared |= bytes[all[k].at + r * STRIDE + c] != 0;
            }
            assert_int_equal(meet(all[i], all[k]), is_shared);
        }
    }
}

TEST(windows_that_cannot_be_told_apart_meet)
{
    struct pto_gm_window hull = window(0, 0, 1, 600, 600);

    assert_false(meet(window(0, 0, 4, 10, 100), window(1, 0, 4, 10, 100)));
    assert_true(meet(window(-1, 0, 4, 10, 100), window(1, 5000, 4, 10, 100)));
    assert_true(meet(window(0, 0, 4, 10, 100), window(0, 50, 4, 10, 90)));
    hull.is_exact = false;
    assert_true(meet(hull, window(0, 150, 2, 10, 100)));
    assert_false(meet(hull, window(0, 600, 2, 10, 100)));
}

static void note_gm(struct pto_hazards *h, enum pto_pipe pipe, struct pto_gm_window w,
                    bool is_write, int64_t ready, int64_t settled)
{
    pto_hazards_note_gm(h, pipe, &w, is_write, (struct pto_moment){.at = ready}, settled);
}

static struct pto_moment find_gm(struct pto_hazards *h, enum pto_pipe pipe, struct pto_gm_window w,
                                 bool is_write)
{
    struct pto_moment wait = {.record = PTO_NO_RECORD};

    pto_hazards_find_gm(h, pipe, &w, is_write, &wait);
    return wait;
}

TEST(a_load_waits_for_the_store_of_its_rows)
{
    struct pto_hazards h;

    pto_hazards_init(&h);
    note_gm(&h, PTO_PIPE_MTE3, window(0, 0, 4, 64, 128), true, 100, 0);
    note_gm(&h, PTO_PIPE_MTE2, window(0, 64, 4, 64, 128), false, 120, 0);
    struct pto_moment m = find_gm(&h, PTO_PIPE_MTE2, window(0, 256, 4, 64, 128), false);
    assert_int_equal(m.at, 100);
    assert_int_equal(m.cause, PTO_CAUSE_RAW);
    assert_int_equal(find_gm(&h, PTO_PIPE_MTE2, window(0, 64, 4, 64, 128), false).at, 0);
    m = find_gm(&h, PTO_PIPE_MTE3, window(0, 64, 4, 64, 128), true);
    assert_int_equal(m.at, 120);
    assert_int_equal(m.cause, PTO_CAUSE_WAR);
    assert_int_equal(find_gm(&h, PTO_PIPE_MTE3, window(0, 0, 4, 64, 128), true).at, 0);
    m = find_gm(&h, PTO_PIPE_FIX, window(0, 0, 4, 64, 128), true);
    assert_int_equal(m.cause, PTO_CAUSE_WAW);
    pto_hazards_free(&h);
}

TEST(old_accesses_are_forgotten_or_joined_but_never_missed)
{
    struct pto_hazards h;

    pto_hazards_init(&h);
    for (int64_t i = 0; i < 1000; i++)
        note_gm(&h, PTO_PIPE_MTE3, window(0, i * 100, 1, 100, 100), true, i, i - 50);
    assert_in_range(h.gm.n, 50, 150);
    assert_int_equal(find_gm(&h, PTO_PIPE_MTE2, window(0, 99900, 1, 100, 100), false).at, 999);
    pto_hazards_reset(&h);
    for (int64_t i = 0; i < 6000; i++) /* nothing settles */
        note_gm(&h, PTO_PIPE_MTE3, window(0, i * 100, 1, 100, 100), true, 1 + i, 0);
    assert_true(h.gm.n <= 4096);
    for (int64_t i = 0; i < 6000; i += 37)
        assert_true(find_gm(&h, PTO_PIPE_MTE2, window(0, i * 100, 1, 100, 100), false).at >= 1 + i);
    pto_hazards_free(&h);
}

TEST_MAIN("kernels/pto/sim/hazards", T(a_read_waits_for_the_write_of_its_bytes),
          T(a_write_waits_for_reads_and_writes_of_other_pipes), T(the_latest_of_all_pieces_counts),
          T(the_vector_pipe_reads_behind_a_long_write_of_the_same_bytes),
          T(a_place_is_found_again_until_something_is_cut),
          T(a_slot_is_quiet_when_its_last_access_is_over),
          T(windows_of_one_matrix_meet_when_they_share_a_byte),
          T(windows_that_cannot_be_told_apart_meet), T(a_load_waits_for_the_store_of_its_rows),
          T(old_accesses_are_forgotten_or_joined_but_never_missed))
