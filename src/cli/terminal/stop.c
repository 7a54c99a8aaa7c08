/*
 * Everything called from a handler is async-signal-safe: unlink(), write(), timer_settime(),
 * waitpid(), _exit() and atomics. The threads of the pool block these signals; the main thread
 * handles them.
 */
#include "cli/terminal/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "cli/session.h"
#include "cli/terminal/pager.h"

enum { LOOK_NS = 20 * 1000 * 1000 }; /* between two looks at the clock */

static timer_t looks;
static _Atomic(const char *) late_text; /* NULL: no time limit */
static atomic_int late_code;
static atomic_int_least64_t late_at; /* of now_ns() */
static atomic_bool is_said;          /* why the run ends */

static void end_now(const char *text, int code)
{
    fs_cleanup();
    ssize_t written = atomic_load(&is_said) ? 0 : write(STDERR_FILENO, text, strlen(text));
    (void)written;
    pager_finish();
    _exit(code);
}

static void end_interrupted(void)
{
    end_now("strata: error: interrupted [run.interrupted]\n", CODE_SIGNAL + cancel_signal());
}

static void stop_look(int signal_number)
{
    const char *text = atomic_load(&late_text);

    (void)signal_number;
    if (cancel_is_overdue())
        end_interrupted();
    if (text != NULL && now_ns() >= atomic_load(&late_at))
        end_now(text, atomic_load(&late_code));
}

static void look_in(struct timespec first)
{
    const struct itimerspec when = {first, {.tv_nsec = LOOK_NS}};

    timer_settime(looks, 0, &when, NULL);
}

static void interrupted(int signal_number)
{
    if (cancelled())
        end_interrupted();
    cancel_request(signal_number);
    look_in((struct timespec){.tv_nsec = LOOK_NS});
}

void stop_begin(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction tick = {.sa_handler = stop_look, .sa_flags = SA_RESTART};
    struct sigaction stop = {.sa_handler = interrupted}; /* a blocking read returns */
    struct sigaction before;

    if (timer_create(CLOCK_MONOTONIC, &event, &looks) != 0)
        return;
    sigaction(SIGALRM, &tick, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &stop, NULL);
}

void stop_after(double seconds, const char *text, int code)
{
    nanos ns = nanos_of(seconds * 1e9);

    atomic_store(&late_at, nanos_add(now_ns(), ns));
    atomic_store(&late_code, code);
    atomic_store(&late_text, text);
    look_in((struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000});
}

void stop_clear(void)
{
    atomic_store(&late_text, NULL);
}

void stop_said(void)
{
    atomic_store(&is_said, true);
}
