#include "input/damage.h"

#include "base/testing.h"

TEST(a_region_of_a_page_is_sized_by_the_mean_of_the_other_events)
{
    struct damage d = {0}, other = {0};
    struct diag diag;

    diag_init(&diag);
    damage_add(&d, 4095, (struct where){.byte = 1});
    assert_int_equal(damage_estimate(&d, "x", 10, 1000, &diag), 0);
    assert_int_equal(diag.entries.n, 0);
    damage_add(&other, 40000000, (struct where){.byte = 77});
    damage_join(&d, &other);
    damage_add(&d, 10000, (struct where){.byte = 99});
    assert_int_equal(damage_estimate(&d, "x", 10, 1000, &diag), 400100 - 2);
    assert_int_equal(diag_count(&diag, "input.damaged-region"), 1);
    assert_string_equal(
        diag.entries.at[0].first[0].text,
        "40010000 bytes are damaged: about 400100 events are lost (100 bytes each, as the others)");
    assert_int_equal(diag.entries.at[0].first[0].where.byte, 77);
    diag_fini(&diag);
}

TEST(without_events_only_the_bytes_are_known)
{
    struct damage d = {0};
    struct diag diag;

    diag_init(&diag);
    damage_add(&d, 5000, (struct where){.line = 3});
    assert_int_equal(damage_estimate(&d, "x", 0, 0, &diag), 0);
    assert_string_equal(diag.entries.at[0].first[0].text, "5000 bytes are damaged");
    diag_fini(&diag);
}

TEST_MAIN("input/damage", T(a_region_of_a_page_is_sized_by_the_mean_of_the_other_events),
          T(without_events_only_the_bytes_are_known))
