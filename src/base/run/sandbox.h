/*
 * sandbox - what code of somebody else may do in a process of its own: compute, and read files.
 *
 * sandbox_enter() is for a child that was forked for it. From then on a system call that reaches
 * further (a network, another process, a file that is written) ends the process, after `told` was
 * called with its name. What it prints goes to the error output. There is no way back out.
 */
#ifndef STRATA_BASE_RUN_SANDBOX_H
#define STRATA_BASE_RUN_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

struct sandbox {
    int out;            /* the only descriptor that may be written, but for what is printed */
    int64_t seconds;    /* of processor time */
    int64_t data_bytes; /* of memory of its own, shared one apart; 0: no limit */
    /* Called in a signal handler; ends the process. */
    void (*told)(const char *what);
};

/* False where the system has no such filter: limits hold, calls are not watched. */
bool sandbox_enter(const struct sandbox *s);

#endif
