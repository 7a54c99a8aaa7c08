#include "input/incore/camodel.h"

#include "base/testing.h"

static struct camodel_mte mte;
static struct camodel_rates rates;

static int mte_done(void **state)
{
    (void)state;
    camodel_mte_free(&mte);
    vec_free(&rates.list);
    mte = (struct camodel_mte){0};
    rates = (struct camodel_rates){0};
    return 0;
}

static double rate_of(enum camodel_way way, int64_t us)
{
    for (size_t i = 0; i < rates.list.n; i++)
        if (rates.list.at[i].way == way && rates.list.at[i].us == us)
            return rates.list.at[i].bytes;
    return 0;
}

/* Instruction 7 loads to L1: two requests in the first microsecond, of which one is told twice and
 * counts where it was told last; 8 stores from UB; 9 does not say where to. */
TEST(each_request_counts_once_in_the_microsecond_of_its_last_record)
{
    camodel_mte_read(&mte, S("[info] 10: BRIF instr_id: 7, req_id: 1, size: 256.\n"
                             "[info] 20: BRIF instr_id: 7, req_id: 2, size: 512.\n"
                             "[info] 30: mte2.L1WIF.port0 the instr_id: 7, addr: 0x40\n"
                             "[info] 150: BRIF instr_id: 7, req_id: 2, size: 512\n"
                             "[info] 250: BWIF instr_id: 8, gid: 1, size: 64\n"
                             "[info] 240: UB0RIF instr_id: 8, req_id: 1\n"
                             "[info] 260: BRIF instr_id: 9, req_id: 1, size: 64\n"
                             "[info] 270: BRIF size: 64\n"
                             "[info] 280: some other line: 3\n"));
    camodel_mte_rates(&mte, 100, &rates);
    assert_int_equal(mte.lost, 1);
    assert_int_equal(rates.list.n, 6);
    assert_true(rate_of(WAY_GM_TO_L1, 0) == 256);
    assert_true(rate_of(WAY_GM_TO_L1, 1) == 512);
    assert_true(rate_of(WAY_GM_TO_TOTAL, 0) == 256);
    assert_true(rate_of(WAY_GM_TO_TOTAL, 1) == 512);
    assert_true(rate_of(WAY_UB_TO_GM, 2) == 64);
    assert_true(rate_of(WAY_TOTAL_TO_GM, 2) == 64);
}

TEST(numbers_of_two_cores_are_two_things)
{
    camodel_mte_read(&mte, S("[info] 10: BRIF instr_id: 7, req_id: 1, size: 1\n"
                             "[info] 10: UBWIF instr_id: 7\n"));
    mte.core++;
    camodel_mte_read(&mte, S("[info] 10: BRIF instr_id: 7, req_id: 1, size: 2\n"
                             "[info] 10: L1WIF instr_id: 7\n"));
    camodel_mte_rates(&mte, 1, &rates);
    assert_true(rate_of(WAY_GM_TO_UB, 10) == 1);
    assert_true(rate_of(WAY_GM_TO_L1, 10) == 2);
    assert_true(rate_of(WAY_GM_TO_TOTAL, 10) == 3);
}

TEST(what_comes_after_the_first_minute_is_counted_and_left_out)
{
    camodel_mte_read(&mte, S("[info] 60000001: BRIF instr_id: 7, req_id: 1, size: 1\n"
                             "[info] 10: UBWIF instr_id: 7\n"));
    camodel_mte_rates(&mte, 1, &rates);
    assert_int_equal(rates.list.n, 0);
    assert_int_equal(rates.late, 1);
}

#define TW(name) cmocka_unit_test_teardown(name, mte_done)

TEST_MAIN("input/incore/camodel_mte",
          TW(each_request_counts_once_in_the_microsecond_of_its_last_record),
          TW(numbers_of_two_cores_are_two_things),
          TW(what_comes_after_the_first_minute_is_counted_and_left_out))
