#include "base/testing.h"
#include "kernels/pto/text/tile.h"

static const struct pto_view matrix = {
    .limit = 4000, .dtype = PTO_F32, .ndim = 2, .shape = {10, 20}, .stride = {100, 1}};

static enum status view_check(const struct pto_view *v)
{
    struct diag d;
    diag_init(&d);
    enum status st = pto_view_check(v, (struct where){0}, &d);
    diag_fini(&d);
    return st;
}

TEST(a_part_starts_at_its_offsets)
{
    struct pto_view p;
    assert_true(pto_view_part(&matrix, (int64_t[]){2, 3}, (int64_t[]){4, 5}, &p));
    assert_int_equal(pto_view_offset(&p, 1, 1), (304 + 0) * 4);
    assert_int_equal(pto_view_rows(&p), 4);
    assert_int_equal(pto_view_cols(&p), 5);
    assert_false(pto_view_part(&matrix, (int64_t[]){-1, 0}, (int64_t[]){1, 1}, &p));
    assert_false(pto_view_part(&matrix, (int64_t[]){INT64_MAX, 0}, (int64_t[]){1, 1}, &p));
}

TEST(leading_dimensions_are_rows)
{
    struct pto_view v = {.dtype = PTO_I8, .ndim = 3, .shape = {2, 3, 4}, .stride = {100, 10, 1}};
    assert_int_equal(pto_view_rows(&v), 6);
    assert_int_equal(pto_view_offset(&v, 4, 3), 100 + 10 + 3);
    v.ndim = 1;
    assert_int_equal(pto_view_rows(&v), 1);
    assert_int_equal(pto_view_cols(&v), 2);
}

TEST(ranges_are_the_dense_pieces)
{
    struct pto_range out[PTO_RANGES];
    struct pto_view v = matrix;
    assert_int_equal(pto_view_ranges(&v, out), 1); /* ten rows: from first to last */
    assert_int_equal(out[0].end, (900 + 20) * 4);
    v.shape[0] = 3;
    assert_int_equal(pto_view_ranges(&v, out), 3);
    assert_int_equal(out[1].begin, 400);
    assert_int_equal(out[1].end, 480);
    v.stride[0] = 20;
    assert_int_equal(pto_view_ranges(&v, out), 1);
    assert_int_equal(out[0].end, 240);
    v.shape[1] = 0;
    assert_int_equal(pto_view_ranges(&v, out), 0);
}

TEST(a_view_stays_in_its_buffer)
{
    struct pto_view v = matrix;
    assert_int_equal(view_check(&v), ST_OK);
    v.offset = 81;
    assert_int_equal(view_check(&v), ST_FORMAT);
    v.offset = -1;
    assert_int_equal(view_check(&v), ST_FORMAT);
    v.shape[1] = 0;
    assert_int_equal(view_check(&v), ST_OK);
    v = matrix;
    v.stride[0] = INT64_MAX / 2;
    assert_int_equal(view_check(&v), ST_FORMAT);
    v = matrix;
    v.stride[0] = -100;
    assert_int_equal(view_check(&v), ST_FORMAT);
    v.offset = 900;
    assert_int_equal(view_check(&v), ST_OK);
    v.ndim = 6;
    assert_int_equal(view_check(&v), ST_FORMAT);
    v = matrix;
    v.stride[0] = v.stride[1] = 0; /* one element, seen far too often */
    v.shape[0] = v.shape[1] = INT32_MAX;
    assert_int_equal(view_check(&v), ST_FORMAT);
}

TEST_MAIN("kernels/pto/sim/view", T(a_part_starts_at_its_offsets), T(leading_dimensions_are_rows),
          T(ranges_are_the_dense_pieces), T(a_view_stays_in_its_buffer))
