#include "inject/threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/testing.h"

static uint32_t recorded(void)
{
    return (uint32_t)(uintptr_t)pthread_self();
}

static void *other(void *user)
{
    uint32_t *ids = user;

    threads_note();
    threads_note();
    ids[0] = recorded();
    ids[1] = (uint32_t)syscall(SYS_gettid);
    return NULL;
}

TEST(a_thread_is_known_by_what_it_noted)
{
    pthread_t thread;
    uint32_t ids[2];

    assert_int_equal(threads_number(recorded()), recorded());
    threads_note();
    assert_int_equal(pthread_create(&thread, NULL, other, ids), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(threads_number(ids[0]), ids[1]);
    assert_int_equal(threads_number(recorded()), (uint32_t)syscall(SYS_gettid));
    assert_int_equal(threads_number(12345), 12345);
}

TEST_MAIN("inject/threads", T(a_thread_is_known_by_what_it_noted))
