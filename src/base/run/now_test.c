#include "base/run/now.h"

#include <unistd.h>

#include "base/testing.h"

TEST(time_passes)
{
    nanos before = now_ns();

    usleep(2000);
    assert_true(now_ns() - before >= 2000000);
}

TEST_MAIN("base/run/now", T(time_passes))
