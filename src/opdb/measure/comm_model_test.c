#include "opdb/measure/comm_model.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/testing.h"

static struct comm_model model;

static int model_begin(void **state)
{
    (void)state;
    comm_model_init(&model);
    return 0;
}

static int model_end(void **state)
{
    (void)state;
    comm_model_free(&model);
    return 0;
}

#define TW(name) cmocka_unit_test_setup_teardown(name, model_begin, model_end)

static double model_predict(enum collective op, int64_t bytes, int64_t ranks, int64_t tier)
{
    double us = -1;

    return comm_model_predict(&model, op, &(struct comm_point){bytes, ranks, tier, 0}, &us) ? us
                                                                                            : -1;
}

static void assert_near(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-9 * fabs(expected));
}

TEST(each_collective_takes_the_faster_way)
{
    /* B is 137.2e3 bytes a microsecond within a pod. */
    assert_near(model_predict(COMM_ALL_GATHER, 1024, 8, 1), 1.5 + 7 * 1024 / 137.2e3);
    assert_near(model_predict(COMM_ALL_REDUCE, 1024, 8, 1), 3 + 2 * 1024 / 137.2e3);
    assert_near(model_predict(COMM_ALL_REDUCE, 1 << 28, 8, 1), 7 + 1.75 * (1 << 28) / 137.2e3);
    assert_near(model_predict(COMM_REDUCE_SCATTER, 8192, 8, 1), 1.5 + 7.0 / 8 * 8192 / 137.2e3);
    assert_near(model_predict(COMM_ALL_TO_ALL, 8192, 2, 2), 0.2 + 8192 / 156.8e3);
    assert_near(model_predict(COMM_ALL_TO_ALL, 8192, 2, 0), 5.5 + 8192 / 137.2e3);
}

TEST(one_rank_takes_no_time_and_a_tier_must_be_known)
{
    assert_true(model_predict(COMM_ALL_GATHER, 1024, 1, 1) == 0);
    assert_true(model_predict(COMM_ALL_GATHER, 1024, 0, 2) == 0);
    assert_true(model_predict(COMM_ALL_GATHER, 1024, 8, 3) == -1);
    assert_true(model_predict(COMM_ALL_GATHER, 1024, 8, -1) == -1);
    assert_true(model_predict(COMM_ALL_GATHER, 1024, 8, INT64_MAX) == -1);
}

TEST(a_fit_finds_the_line_behind_the_points)
{
    /* 2 us + 0.001 us a byte on 4 ranks; a constant 5 on 8 ranks. */
    const struct comm_point points[] = {
        {1000, 4, 1, 3}, {10, 8, 1, 5}, {9000, 4, 1, 11}, {100000, 4, 1, 102}, {5, 4, 1, 0},
    };

    comm_model_fit(&model, COMM_ALL_REDUCE, points, 5);
    assert_near(model_predict(COMM_ALL_REDUCE, 50000, 4, 1), 52);
    assert_near(model_predict(COMM_ALL_REDUCE, 77, 8, 1), 5);
    assert_true(model_predict(COMM_ALL_REDUCE, 77, 16, 1) == -1);
    assert_true(model_predict(COMM_ALL_GATHER, 77, 8, 1) == -1);
}

TEST(a_fit_has_no_negative_part)
{
    /* The straight line through these would cross 0 before the first point. */
    const struct comm_point points[] = {{1000, 4, 0, 1}, {2000, 4, 0, 10}, {3000, 4, 0, 20}};

    comm_model_fit(&model, COMM_ALL_TO_ALL, points, 3);
    assert_int_equal(model.fits.n, 1);
    assert_true(model.fits.at[0].line.alpha_us == 0);
    assert_true(model.fits.at[0].line.beta_us > 0);
}

static enum status model_read_text(const char *text, struct diag *d)
{
    char path[] = "/tmp/strata-links-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    enum status st = comm_model_read(&model, path, d);
    unlink(path);
    return st;
}

TEST(a_file_gives_links_or_lines)
{
    struct diag d;

    diag_init(&d);
    assert_int_equal(model_read_text("tier,bandwidth,latency_us\n0,1e9,10\n", &d), ST_OK);
    assert_near(model_predict(COMM_ALL_TO_ALL, 7000, 2, 0), 10 + 10);
    assert_true(model_predict(COMM_ALL_TO_ALL, 7000, 2, 1) == -1);
    assert_int_equal(
        model_read_text("collective,alpha_us,beta_us_per_byte\nall_gather,3,0.5\n", &d), ST_OK);
    assert_near(model_predict(COMM_ALL_GATHER, 10, 2, 99), 8);
    assert_true(model_predict(COMM_ALL_REDUCE, 10, 2, 1) == -1);
    diag_fini(&d);
}

TEST(a_file_that_is_neither_is_refused)
{
    static const char *const texts[] = {
        "",
        "tier,bandwidth\n0,1\n",
        "tier,bandwidth,latency\n9,1,1\n",
        "tier,bandwidth,latency\n1,0,1\n",
        "tier,bandwidth,latency\n1,1,nan\n",
        "collective,alpha,beta\ngossip,1,1\n",
        "collective,alpha,beta\nall_gather,-1,1\n",
        "collective,alpha,beta\nall_gather,1\n",
    };
    struct diag d;

    diag_init(&d);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(model_read_text(texts[i], &d), ST_FORMAT);
    diag_fini(&d);
}

TEST_MAIN("opdb/measure/comm_model", TW(each_collective_takes_the_faster_way),
          TW(one_rank_takes_no_time_and_a_tier_must_be_known),
          TW(a_fit_finds_the_line_behind_the_points), TW(a_fit_has_no_negative_part),
          TW(a_file_gives_links_or_lines), TW(a_file_that_is_neither_is_refused))
