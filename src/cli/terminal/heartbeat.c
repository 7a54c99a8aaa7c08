/*
 * heartbeat: the handler of a timer signal formats by hand and calls write(), which is safe there.
 */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/run/now.h"
#include "base/run/progress.h"
#include "cli/session.h"
#include "cli/terminal/pager.h"

static timer_t beats;
static bool is_running;
static atomic_bool is_shown;
static atomic_int_least64_t begun;

/* "working  75 s" */
static size_t format_beat(char *buf, int64_t seconds)
{
    static const char before[] = PROGRESS_START "working  ", after[] = " s" PROGRESS_CLEAR;
    char digits[20];
    size_t n = sizeof(before) - 1, count = 0;

    memcpy(buf, before, n);
    for (; seconds > 0 || count == 0; seconds /= 10)
        digits[count++] = (char)('0' + seconds % 10);
    while (count > 0)
        buf[n++] = digits[--count];
    memcpy(buf + n, after, sizeof(after) - 1);
    return n + sizeof(after) - 1;
}

static void beat(int signal_number)
{
    char buf[64];

    (void)signal_number;
    if (pager_is_running())
        return;
    size_t n = format_beat(buf, (now_ns() - atomic_load(&begun)) / 1000000000);
    atomic_store(&is_shown, write(STDERR_FILENO, buf, n) > 0);
}

static void beat_in(time_t seconds)
{
    const struct itimerspec when = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    timer_settime(beats, 0, &when, NULL);
}

void session_heartbeat_begin(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct sigaction act = {.sa_handler = beat, .sa_flags = SA_RESTART};

    if (sigaction(SIGRTMIN, &act, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &beats) != 0)
        return;
    atomic_store(&begun, now_ns());
    is_running = true;
    beat_in(1);
}

void session_heartbeat_delay(void)
{
    atomic_store(&is_shown, false); /* the tick wrote over it */
    if (is_running)
        beat_in(1);
}

bool session_heartbeat_end(void)
{
    if (is_running)
        timer_delete(beats);
    is_running = false;
    return atomic_exchange(&is_shown, false);
}
