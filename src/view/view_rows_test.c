/*
 * Tiles, statistics and search against plain loops over the capture.
 */
#include "view/view_rows.h"

#include "analysis/diagnose/testing_diagnose.h"
#include "view/view_answers.h"

enum { KERNELS = 6000 };

static struct page_set set;
static struct view_rows rows;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 33;
}

/* One stream of kernels with a range over all of them, and one point in time. */
static void view_rows_fill(void)
{
    static const char *const names[] = {"ampere_sgemm_128x64", "vectorized_elementwise_kernel"};
    uint64_t seed = 3;
    nanos at = MS;

    cap->facts.vendor = VENDOR_NVIDIA;
    for (int i = 0; i < KERNELS; i++) {
        nanos dur = 1 + (nanos)(next_random(&seed) % (20 * US));
        task("7", SLICE_COMPUTE, names[next_random(&seed) % 2], at, at + dur);
        at += dur + (nanos)(next_random(&seed) % (5 * US));
    }
    task("7", SLICE_ANNOTATION, "range", MS, at);
    task("8", SLICE_COMPUTE, "memset", 2 * MS, 2 * MS);
}

static void open_rows(void)
{
    view_rows_fill();
    start_study();
    page_set_init(&set, &study, NULL);
    set.a = study_accounting(&study);
    page_set_fill(&set);
    view_rows_init(&rows, &set, NULL);
}

static void close_rows(void)
{
    view_rows_fini(&rows);
    page_set_fini(&set);
}

static uint64_t rows_number(struct str bytes, size_t at, size_t n)
{
    uint64_t value = 0;

    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)(unsigned char)bytes.at[at + i] << (8 * i);
    return value;
}

/* Busy time of kernels within [from, to): they do not overlap. */
static nanos busy_within(nanos from, nanos to)
{
    nanos busy = 0;

    for (size_t i = 0; i < cap->slices.n; i++) {
        nanos begin = view_begin(&rows, i), end = view_end(&rows, i);
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        if (cap->slices.kind[i] == SLICE_COMPUTE && end > begin)
            busy += end - begin;
    }
    return busy;
}

static size_t work_lane(void)
{
    for (size_t i = 0; i < set.lanes.n; i++)
        if (set.lanes.at[i].part == LANE_WORK)
            return i;
    return 0;
}

TEST(columns_hold_the_busy_time_at_every_level)
{
    open_rows();
    for (int64_t level = 8; level < 30; level++) {
        struct text out = {0};
        size_t seen = 0;
        nanos width = INT64_C(1) << (level + VIEW_BUCKET_BITS);
        for (int64_t i = 0; view_tile(&rows, work_lane(), level, i, &out); i++) {
            struct str tile = text_view(&out);
            assert_int_equal(rows_number(tile, 16, 8), i * width);
            assert_int_equal(rows_number(tile, 28, 4) + 32, tile.n);
            if (rows_number(tile, 4, 2) != 1) { /* not columns */
                seen += rows_number(tile, 12, 4);
            } else {
                double busy = 0;
                size_t families = (size_t)__builtin_popcount((unsigned)rows_number(tile, 24, 4));
                for (size_t k = 0; k < families * VIEW_BUCKETS; k++)
                    busy +=
                        (double)rows_number(tile, 32 + 2 * k, 2) / 65535 * (double)(1LL << level);
                nanos real = busy_within(i * width, (i + 1) * width);
                assert_true(busy > (double)real * 0.999 - VIEW_BUCKETS &&
                            busy < (double)real * 1.001 + VIEW_BUCKETS);
            }
            text_clear(&out);
        }
        assert_true(level > 14 || seen > 0);
        text_free(&out);
    }
    close_rows();
}

TEST(slices_are_those_that_overlap_the_tile)
{
    struct text out = {0};
    size_t expected = 0;
    int64_t level = 10, index = 20;

    open_rows();
    nanos from = index << (level + VIEW_BUCKET_BITS), to = (index + 1)
                                                           << (level + VIEW_BUCKET_BITS);
    for (size_t i = 0; i < cap->slices.n; i++)
        expected += cap->slices.kind[i] == SLICE_COMPUTE && view_begin(&rows, i) < to &&
                    view_end(&rows, i) > from && cap->slices.lane[i] == cap->slices.lane[0];
    assert_true(view_tile(&rows, work_lane(), level, index, &out));
    struct str tile = text_view(&out);
    assert_int_equal(rows_number(tile, 4, 2), 2);
    assert_int_equal(rows_number(tile, 12, 4), expected);
    assert_true(expected > 10);
    size_t first = rows.lanes[work_lane()].first + rows_number(tile, 32, 4);
    assert_int_equal(rows_number(tile, 32 + 12 * expected, 4), set.what[first]);
    text_free(&out);
    close_rows();
}

TEST(tiles_that_are_not_there_are_refused)
{
    struct text out = {0};

    open_rows();
    assert_false(view_tile(&rows, 0, -1, 0, &out));
    assert_false(view_tile(&rows, 0, VIEW_LEVELS, 0, &out));
    assert_false(view_tile(&rows, 0, 0, INT64_MAX, &out));
    assert_false(view_tile(&rows, 0, 20, -1, &out));
    assert_int_equal(out.n, 0);
    text_free(&out);
    close_rows();
}

TEST(range_statistics_are_exact)
{
    struct text out = {0};
    struct view_list lanes = {.n = 1};
    char expected[64];

    open_rows();
    lanes.at[0] = (uint32_t)work_lane();
    view_range(&rows, &lanes, 5 * MS, 9 * MS, true, &out);
    snprintf(expected, sizeof(expected), "\"busy_ns\":%lld,",
             (long long)busy_within(5 * MS, 9 * MS));
    text_char(&out, '\0');
    assert_non_null(strstr(out.at, expected));
    text_clear(&out);
    view_search(&rows, S("SGEMM"), 3, &out);
    text_char(&out, '\0');
    assert_non_null(strstr(out.at, "\"more\":true"));
    text_clear(&out);
    view_search(&rows, S("memset"), 3, &out); /* has no length */
    text_char(&out, '\0');
    assert_non_null(strstr(out.at, "\"found\":1,"));
    text_clear(&out);
    assert_true(view_slice(&rows, work_lane(), 0, &out));
    assert_false(view_slice(&rows, work_lane(), KERNELS + 1, &out));
    text_free(&out);
    close_rows();
}

TEST_MAIN("view/view_rows", CASE(columns_hold_the_busy_time_at_every_level),
          CASE(slices_are_those_that_overlap_the_tile), CASE(tiles_that_are_not_there_are_refused),
          CASE(range_statistics_are_exact))
