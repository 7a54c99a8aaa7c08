/*
 * strata's front door: signals and memory, then the frame.
 */
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fs.h"
#include "cli/frame.h"
#include "cli/session.h"

enum { LOOK_MS = 20 }; /* between two looks whether an interrupted run is overdue */

static timer_t overdue_timer;

/* Outputs that are not complete are temporary files, and nothing else needs to be undone. */
static void end_now(int signal_number)
{
    static const char text[] = "strata: error: interrupted [run.interrupted]\n";

    fs_cleanup();
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(CODE_SIGNAL + signal_number);
}

/* The first signal asks the run to stop; a second one ends it at once. */
static void interrupted(int signal_number)
{
    const struct timespec look = {.tv_nsec = (long)LOOK_MS * 1000000};
    const struct itimerspec looks = {.it_value = look, .it_interval = look};

    if (cancelled())
        end_now(cancel_signal());
    cancel_request(signal_number);
    timer_settime(overdue_timer, 0, &looks, NULL);
}

static void look_if_overdue(int signal_number)
{
    (void)signal_number;
    if (cancel_is_overdue())
        end_now(cancel_signal());
}

/* A mapped page is gone: its file was made shorter, or the disk failed. Reading cannot go on. */
static void lost_page(int signal_number)
{
    static const char text[] =
        "strata: error: an input file was truncated or became unreadable while being read\n";

    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(CODE_FILE);
}

static void handle(int signal_number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    sigaction(signal_number, &action, NULL);
}

/* The C library sets 64 MiB of addresses aside for every thread that asks for memory, which a limit
 * on them (ulimit -v) counts: under one, threads share what two would have. */
static void share_heaps(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        (void)mallopt(M_ARENA_MAX, 2);
}

int main(int argc, char **argv)
{
    struct sigevent alarm = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

    share_heaps();
    handle(SIGALRM, look_if_overdue, SA_RESTART);
    if (timer_create(CLOCK_MONOTONIC, &alarm, &overdue_timer) == 0) {
        /* Without SA_RESTART a blocking read returns, so that the request is seen. */
        handle(SIGINT, interrupted, 0);
        handle(SIGTERM, interrupted, 0);
        if (signal(SIGHUP, interrupted) == SIG_IGN)
            signal(SIGHUP, SIG_IGN); /* as nohup wants it */
    }
    handle(SIGBUS, lost_page, 0);
    handle(SIGPIPE, SIG_IGN, 0); /* a write then fails with EPIPE, which is quiet */
    return frame_run(argc > 0 ? argc - 1 : 0, (const char *const *)argv + 1);
}
