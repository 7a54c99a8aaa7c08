#include "opdb/measure/comm_jobs.h"

#include <math.h>

#include "base/testing_folder.h"

static struct comm_validation v;

static int validate_begin(void **state)
{
    v = (struct comm_validation){0};
    return enter(state);
}

static int validate_end(void **state)
{
    comm_validation_free(&v);
    return leave(state);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, validate_begin, validate_end)

static void validate_put(enum collective op, const char *text)
{
    scratch_put(comm_kinds[op].file, text);
}

static bool prints(const char *line)
{
    struct text out = {0};

    comm_validation_print(&v, text_sink(&out));
    struct str all = {out.at, out.n};
    bool is_there = str_contains(all, str_of(line));
    text_free(&out);
    return is_there;
}

/* all_to_all of 0 bytes on 2 ranks within a pod takes 0.5 us, so the ratio is twice the time. */
#define HEAD "message_bytes,num_devices,topology_tier,Duration(us)\n"

TEST(the_ratio_decides)
{
    struct comm_job job = {.dir = scratch, .tolerance = 2};

    validate_put(COMM_ALL_TO_ALL,
                 HEAD "0,2,1,0.25\n0,2,1,1\n0,2,1,0.2\n0,2,1,2\n0,2,1,2.1\n0,2,1,0.1\n"
                      "0,1,1,7\n");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_OK);
    assert_int_equal(v.counts[COMM_PASS], 2);
    assert_int_equal(v.counts[COMM_WARN], 2);
    assert_int_equal(v.counts[COMM_FAIL], 3);
    assert_true(isinf(v.checks[COMM_ALL_TO_ALL].max));
    assert_true(prints("  FAIL               0      1     1        7.00        0.00     infx\n"));
    assert_false(prints("  PASS               0 "));
    assert_true(prints("  [SKIP] hcom_allReduce_.csv not found in "));
    assert_true(prints("  Result: FAILED\n"));
}

TEST(rows_that_do_not_parse_are_dropped)
{
    struct comm_job job = {.dir = scratch, .tolerance = 2, .lists_all = true};

    validate_put(COMM_ALL_TO_ALL, HEAD "x,2,1,1\n0,2.0,1,1\n0,2,,1\n0,2,1,\n0,2\n0,2,1,0.5\n");
    validate_put(COMM_ALL_REDUCE, "");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_OK);
    assert_int_equal(v.rows, 1);
    assert_int_equal(v.checks[COMM_ALL_TO_ALL].rows_read, 6);
    assert_true(prints("  all_reduce  (0 rows, tolerance=2.0x)\n  PASS=0  WARN=0  FAIL=0\n==="));
    assert_true(prints("  PASS               0      2     1        0.50        0.50    1.00x\n"));
}

TEST(the_average_comes_first_and_the_tier_may_be_missing)
{
    struct comm_job job = {.dir = scratch, .tolerance = 1.5};

    validate_put(COMM_ALL_TO_ALL,
                 "Duration(us),Average Duration(us),num_devices,message_bytes\n9,0.5,2,0\n");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_OK);
    assert_int_equal(v.counts[COMM_PASS], 1);
    assert_true(prints("  tolerance : 1.5x\n"));
}

TEST(an_unknown_tier_ends_it_with_its_line)
{
    struct comm_job job = {.dir = scratch, .tolerance = 2};

    validate_put(COMM_ALL_GATHER, HEAD "0,2,1,1\n0,2,7,1\n");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_FORMAT);
    assert_int_equal(diag.entries.at[0].first[0].where.line, 3);
    assert_true(v.checks[COMM_ALL_REDUCE].was_visited);
    assert_false(v.checks[COMM_ALL_TO_ALL].was_visited);
}

TEST(the_part_of_one_rank_can_be_made_the_total)
{
    struct comm_job job = {.dir = scratch, .tolerance = 2, .scatter_total = true};

    /* 1.5 us + 7/8 of 8 * 1372 bytes at 137.2e3 bytes a microsecond: 1.57 us. */
    validate_put(COMM_REDUCE_SCATTER, HEAD "1372,8,1,1.57\n");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_OK);
    assert_true(fabs(v.checks[COMM_REDUCE_SCATTER].rows.at[0].ratio - 1) < 1e-9);
}

TEST(a_fit_follows_the_rows)
{
    struct comm_job job = {.dir = scratch, .tolerance = 1.01, .links = "fit"};

    validate_put(COMM_ALL_REDUCE, HEAD "1000,4,9,101\n9000,4,9,109\n50000,4,9,150\n");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_OK);
    assert_int_equal(v.counts[COMM_PASS], 3);
    assert_true(prints("  tolerance : 1.01x\n  links     : fitted"));
    comm_validation_free(&v);
    validate_put(COMM_ALL_REDUCE, HEAD "1000,4,9,101\n9000,4,9,109\n50000,4,9,1500\n");
    assert_int_equal(comm_validate(&v, &job, &diag), ST_OK);
    assert_true(v.counts[COMM_WARN] > 0 && v.counts[COMM_FAIL] == 0);
}

TEST(what_is_no_folder_is_refused)
{
    struct comm_job job = {.dir = "/tmp/strata-no-such-folder", .tolerance = 2};

    assert_int_equal(comm_validate(&v, &job, &diag), ST_NOT_FOUND);
}

TEST_MAIN("opdb/measure/comm_validate", TW(the_ratio_decides),
          TW(rows_that_do_not_parse_are_dropped),
          TW(the_average_comes_first_and_the_tier_may_be_missing),
          TW(an_unknown_tier_ends_it_with_its_line), TW(the_part_of_one_rank_can_be_made_the_total),
          TW(a_fit_follows_the_rows), TW(what_is_no_folder_is_refused))
