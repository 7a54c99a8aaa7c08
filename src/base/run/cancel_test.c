#include "base/run/cancel.h"

#include <signal.h>
#include <unistd.h>

#include "base/run/now.h"
#include "base/testing.h"

static void on_signal(int number)
{
    cancel_request(number);
}

TEST(a_request_from_a_signal_handler_stays_until_cleared)
{
    assert_false(cancelled());
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    assert_true(cancelled());
    assert_true(cancelled());
    cancel_request(SIGTERM);
    assert_int_equal(cancel_signal(), SIGUSR1); /* the first one counts */
    cancel_clear();
    assert_false(cancelled());
    assert_int_equal(cancel_signal(), 0);
}

static void sleep_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

TEST(a_request_is_overdue_after_the_grace_time_unless_held)
{
    assert_false(cancel_is_overdue());
    cancel_hold();
    cancel_request(SIGINT);
    assert_false(cancel_is_overdue());
    sleep_ms(CANCEL_GRACE_MS);
    assert_false(cancel_is_overdue()); /* held */
    nanos end = now_ns();
    cancel_release();
    bool is_overdue = cancel_is_overdue();
    assert_true(!is_overdue || now_ns() - end >= (nanos)CANCEL_GRACE_MS * 1000000);
    sleep_ms(CANCEL_GRACE_MS);
    assert_true(cancel_is_overdue());
    cancel_clear();
    assert_false(cancel_is_overdue());
}

TEST_MAIN("base/run/cancel", T(a_request_from_a_signal_handler_stays_until_cleared),
          T(a_request_is_overdue_after_the_grace_time_unless_held))
