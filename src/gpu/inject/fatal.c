/*
 * Signals that end the program: what was recorded is saved first. See session.h.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "gpu/inject/session.h"

enum { WAIT_MS = 2000 }; /* the thread that saves may wait for a lock of the one that died */

static struct {
    atomic_bool is_dying;
    atomic_bool is_saved;
    pid_t process;
    void (*wake)(void);
} fatal;

static const int ends[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGHUP};

/* A child has our memory, or its copy, and is not the program. */
void session_save(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    if (fatal.wake == NULL || getpid() != fatal.process || atomic_exchange(&fatal.is_dying, true))
        return;
    fatal.wake();
    for (int i = 0; i < WAIT_MS && !atomic_load(&fatal.is_saved); i++)
        nanosleep(&pause, NULL);
}

/* The second one that comes ends the program at once. */
static void on_end(int number)
{
    signal(number, SIG_DFL);
    session_save();
    raise(number);
}

/* Signals that the program handles or ignores are its own. */
void session_watch_signals(void (*wake)(void))
{
    struct sigaction action = {.sa_handler = on_end}, before;

    fatal.process = getpid();
    fatal.wake = wake;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (sigaction(ends[i], NULL, &before) == 0 && (before.sa_flags & SA_SIGINFO) == 0 &&
            before.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
}

bool session_is_dying(void)
{
    return atomic_load(&fatal.is_dying);
}

void session_saved(void)
{
    atomic_store(&fatal.is_saved, true);
}
