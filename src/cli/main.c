/*
 * strata's front door: signals and memory, then the frame.
 */
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "cli/session.h"
#include "cli/terminal/frame.h"
#include "cli/terminal/stop.h"

/* A mapped page is gone: its file was made shorter, or the disk failed. Reading cannot go on. */
static void lost_page(int signal_number)
{
    static const char text[] =
        "strata: error: an input file was truncated or became unreadable while being read\n";

    (void)signal_number;
    fs_cleanup();
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(CODE_FILE);
}

/* Ends as the signal ends a program, but without leftovers. */
static void end_by(int signal_number)
{
    fs_cleanup();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void clean_up_on_signals(void)
{
    static const int fatal[] = {SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM,
                                SIGPROF, SIGILL,  SIGFPE,  SIGSEGV, SIGABRT,
                                SIGTRAP, SIGSYS,  SIGPWR,  SIGIO,   SIGSTKFLT};
    struct sigaction end = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    struct sigaction before;

    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        if (sigaction(fatal[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(fatal[i], &end, NULL); /* sanitizers and nohup keep theirs */
}

int main(int argc, char **argv)
{
    struct sigaction lost = {.sa_handler = lost_page};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct rlimit limit;

    /* The C library sets 64 MiB of addresses aside for every thread that asks for memory, which a
     * limit on them (ulimit -v) counts: under one, threads share what two would have. */
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        (void)mallopt(M_ARENA_MAX, 2);
    stop_begin();
    sigaction(SIGBUS, &lost, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* a write then fails with EPIPE, which is quiet */
    sigaction(SIGXFSZ, &ignore, NULL); /* and with EFBIG, which is reported as a full file */
    clean_up_on_signals();
    return frame_run(argc > 0 ? argc - 1 : 0, (const char *const *)argv + 1);
}
