/*
 * strata's front door: signals, then the frame.
 */
#include <signal.h>

#include "base/cancel.h"
#include "cli/frame.h"

static void interrupted(int signal_number)
{
    (void)signal_number;
    cancel_request();
}

int main(int argc, char **argv)
{
    /* The first signal asks the run to stop, the second one finds the default and kills. Without
     * SA_RESTART a blocking read returns, so that the request is seen. */
    struct sigaction stop = {.sa_handler = interrupted, .sa_flags = (int)SA_RESETHAND};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* a write then fails with EPIPE, which is quiet */
    return frame_run(argc > 0 ? argc - 1 : 0, (const char *const *)argv + 1);
}
