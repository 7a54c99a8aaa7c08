#include "kernels/pto/cost/chips.h"

#include "base/testing.h"

TEST(the_first_chip_of_an_architecture_is_its_default)
{
    struct pto_chip chip;
    struct diag d;

    diag_init(&d);
    assert_int_equal(pto_chip_find(S(""), PTO_A2A3, &chip, &d), ST_OK);
    assert_str(chip.name, "Ascend910B1");
    assert_int_equal(chip.aic, 24);
    assert_true(chip.mhz == 1850);
    assert_int_equal(pto_chip_find(S(""), PTO_A5, &chip, &d), ST_OK);
    assert_int_equal(chip.arch, PTO_A5);
    diag_fini(&d);
}

TEST(chips_go_by_their_name_with_and_without_the_brand)
{
    struct pto_chip chip;
    struct diag d;

    diag_init(&d);
    assert_int_equal(pto_chip_find(S("910b4"), PTO_A2A3, &chip, &d), ST_OK);
    assert_str(chip.name, "Ascend910B4");
    assert_true(chip.mhz == 1500 && chip.trace_mhz == 1650);
    assert_int_equal(pto_chip_find(S("H200"), PTO_A2A3, &chip, &d), ST_NOT_FOUND);
    assert_int_equal(diag_count(&d, "pto-sim.chip"), 1);
    assert_true(d.hints.n >= 5);
    diag_fini(&d);
}

TEST_MAIN("kernels/pto/cost/chips", T(the_first_chip_of_an_architecture_is_its_default),
          T(chips_go_by_their_name_with_and_without_the_brand))
