#include "kernels/pto/text/tile.h"

#include "base/testing.h"

static struct pto_tile_type tile_test_type_of(enum pto_dtype t, int32_t rows, int32_t cols,
                                              enum pto_blayout b, enum pto_slayout s)
{
    return (struct pto_tile_type){.space = PTO_VEC,
                                  .dtype = t,
                                  .blayout = b,
                                  .slayout = s,
                                  .rows = rows,
                                  .cols = cols,
                                  .v_row = rows,
                                  .v_col = cols,
                                  .fractal = 512};
}

static struct pto_tile tile_of(enum pto_dtype t, int32_t rows, int32_t cols, enum pto_blayout b,
                               enum pto_slayout s)
{
    struct pto_tile_type type = tile_test_type_of(t, rows, cols, b, s);
    return pto_tile_make(&type, NULL, 1 << 20, 0);
}

TEST(the_worked_example_of_an_nz_tile)
{
    struct pto_tile t = tile_of(PTO_F16, 16, 32, PTO_COL_MAJOR, PTO_BOX_ROW);
    assert_int_equal(pto_tile_offset(&t, 3, 20), 308 * 2);
}

/* Every layout is a permutation: no element shares a byte with another, none is outside. */
TEST(layouts_place_every_element_once)
{
    static unsigned char seen[64 * 64];
    for (int b = 0; b < 2; b++)
        for (int s = 0; s < 3; s++)
            for (int fractal = 512; fractal <= 1024; fractal += 512) {
                struct pto_tile t =
                    tile_of(PTO_F16, 48, 64, (enum pto_blayout)b, (enum pto_slayout)s);
                t.type.fractal = fractal;
                memset(seen, 0, sizeof(seen));
                for (int32_t r = 0; r < 48; r++)
                    for (int32_t c = 0; c < 64; c++) {
                        int64_t at = pto_tile_offset(&t, r, c);
                        assert_true(at >= 0 && at + 2 <= 48 * 64 * 2 && at % 2 == 0);
                        assert_int_equal(seen[at / 2]++, 0);
                    }
            }
}

TEST(runs_walk_a_row_in_even_steps)
{
    for (int b = 0; b < 2; b++)
        for (int s = 0; s < 3; s++) {
            struct pto_tile whole =
                tile_of(PTO_I8, 64, 64, (enum pto_blayout)b, (enum pto_slayout)s);
            struct pto_tile t;
            assert_true(pto_tile_window(&whole, 7, 5, 40, 50, &t));
            for (int32_t r = 0; r < 40; r++)
                for (int32_t c = 0; c < 50;) {
                    struct pto_run run = pto_tile_run(&t, r, c);
                    assert_true(run.n > 0 && c + run.n <= 50);
                    if (c + run.n < 50)
                        assert_int_equal(run.offset + run.next, pto_tile_offset(&t, r, c + run.n));
                    for (int32_t i = 0; i < run.n; i++)
                        assert_int_equal(run.offset + i * run.step, pto_tile_offset(&t, r, c + i));
                    c += run.n;
                }
        }
}

TEST(a_window_keeps_the_layout_of_its_parent)
{
    struct pto_tile t = tile_of(PTO_F32, 32, 32, PTO_COL_MAJOR, PTO_BOX_ROW), w, v;
    assert_true(pto_tile_window(&t, 16, 8, 16, 16, &w));
    assert_int_equal(pto_tile_offset(&w, 2, 3), pto_tile_offset(&t, 18, 11));
    assert_true(pto_tile_window(&w, 1, 1, 4, 4, &v));
    assert_int_equal(pto_tile_offset(&v, 2, 3), pto_tile_offset(&t, 19, 12));
    assert_false(pto_tile_window(&t, 17, 0, 16, 16, &w));
    assert_false(pto_tile_window(&t, -1, 0, 1, 1, &w));
    assert_false(pto_tile_window(&t, 0, 0, INT64_MAX, 1, &w));
}

TEST(halves_split_rows_or_columns)
{
    struct pto_tile t = tile_of(PTO_F32, 7, 8, PTO_ROW_MAJOR, PTO_NONE_BOX);
    t.v_row = 5;
    struct pto_tile a = pto_tile_half(&t, 1, 0), b = pto_tile_half(&t, 1, 1);
    assert_int_equal(a.v_row, 3);
    assert_int_equal(b.v_row, 2);
    assert_int_equal(pto_tile_offset(&b, 0, 0), pto_tile_offset(&t, 3, 0));
    assert_int_equal(pto_tile_half(&t, 3, 0).v_row, 4);
    assert_int_equal(pto_tile_half(&t, 2, 1).v_col, 4);
    assert_int_equal(pto_tile_half(&t, 0, 1).v_row, 5);
}

TEST(ranges_cover_what_is_valid)
{
    struct pto_range out[PTO_RANGES];
    struct pto_tile t = tile_of(PTO_F32, 16, 16, PTO_ROW_MAJOR, PTO_NONE_BOX);
    t.addr = 256;
    assert_int_equal(pto_tile_ranges(&t, out), 1);
    assert_int_equal(out[0].begin, 256);
    assert_int_equal(out[0].end, 256 + 1024);
    t.v_row = 3;
    t.v_col = 4;
    assert_int_equal(pto_tile_ranges(&t, out), 3);
    assert_int_equal(out[2].begin, 256 + 128);
    assert_int_equal(out[2].end, 256 + 144);
    t.v_row = 9; /* more pieces than ranges: one from first to last */
    assert_int_equal(pto_tile_ranges(&t, out), 1);
    assert_int_equal(out[0].end, 256 + 8 * 64 + 16);
    t.v_col = 0;
    assert_int_equal(pto_tile_ranges(&t, out), 0);
    t = tile_of(PTO_F16, 32, 64, PTO_COL_MAJOR, PTO_BOX_ROW);
    t.v_row = 16;
    assert_int_equal(pto_tile_ranges(&t, out), 4); /* one a column of boxes */
    assert_int_equal(out[1].begin, 32 * 16 * 2);
    assert_int_equal(out[1].end, 32 * 16 * 2 + 512);
}

TEST(compact_tiles_are_packed_for_their_valid_part)
{
    struct pto_tile t = tile_of(PTO_F16, 64, 64, PTO_COL_MAJOR, PTO_BOX_ROW);
    t.type.compact = 1;
    t.v_row = 20;
    t.v_col = 40;
    assert_int_equal(pto_tile_offset(&t, 0, 16), 32 * 16 * 2); /* 20 rows count as 32 */
    t.type.compact = 0;
    assert_int_equal(pto_tile_offset(&t, 0, 16), 64 * 16 * 2);
    t.type.compact = 2;
    assert_int_equal(pto_tile_bytes(&t.type), 64 * 64 * 2 + 4 * 2);
}

static enum status tile_check(const struct pto_tile *t)
{
    struct diag d;
    diag_init(&d);
    enum status st = pto_tile_check(t, (struct where){0}, &d);
    diag_fini(&d);
    return st;
}

TEST(impossible_tiles_are_refused)
{
    struct pto_tile t = tile_of(PTO_F32, 16, 16, PTO_ROW_MAJOR, PTO_NONE_BOX);
    t.limit = 1024;
    assert_int_equal(tile_check(&t), ST_OK);
    t.addr = 4;
    assert_int_equal(tile_check(&t), ST_FORMAT);
    t.v_row = 15;
    assert_int_equal(tile_check(&t), ST_OK);
    t.addr = -4;
    assert_int_equal(tile_check(&t), ST_FORMAT);
    t.addr = INT64_MAX;
    assert_int_equal(tile_check(&t), ST_FORMAT);
    t.addr = 0;
    t.v_col = 17;
    assert_int_equal(tile_check(&t), ST_FORMAT);
    t = tile_of(PTO_I64, INT32_MAX, INT32_MAX, PTO_COL_MAJOR, PTO_BOX_COL);
    assert_int_equal(tile_check(&t), ST_FORMAT);
    assert_int_equal(pto_tile_bytes(&t.type), -1);
    t = tile_of(PTO_F32, 16, 16, PTO_ROW_MAJOR, PTO_BOX_ROW);
    t.type.fractal = 7;
    assert_int_equal(tile_check(&t), ST_FORMAT);
}

TEST_MAIN("kernels/pto/text/tile", T(the_worked_example_of_an_nz_tile),
          T(layouts_place_every_element_once), T(runs_walk_a_row_in_even_steps),
          T(a_window_keeps_the_layout_of_its_parent), T(halves_split_rows_or_columns),
          T(ranges_cover_what_is_valid), T(compact_tiles_are_packed_for_their_valid_part),
          T(impossible_tiles_are_refused))
