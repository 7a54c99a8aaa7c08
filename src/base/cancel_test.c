#include "base/cancel.h"

#include <signal.h>

#include "base/testing.h"

static void on_signal(int number)
{
    (void)number;
    cancel_request();
}

TEST(a_request_from_a_signal_handler_stays_until_cleared)
{
    assert_false(cancelled());
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    assert_true(cancelled());
    assert_true(cancelled());
    cancel_clear();
    assert_false(cancelled());
}

TEST_MAIN("base/cancel", T(a_request_from_a_signal_handler_stays_until_cleared))
