#include "capture/fleet.h"

#include "base/testing.h"

TEST(a_fleet_owns_its_captures_until_they_are_taken)
{
    struct fleet *fleet = fleet_new();

    fleet_add(fleet, capture_new());
    fleet_add(fleet, capture_new());
    struct capture *mine = fleet_release(fleet, 1);
    fleet_free(fleet); /* frees the first only; the sanitizer would tell */

    assert_int_equal(mine->facts.rank, UNKNOWN);
    capture_free(mine);
    fleet_free(NULL);
}

TEST_MAIN("capture/fleet", T(a_fleet_owns_its_captures_until_they_are_taken))
