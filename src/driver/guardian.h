/*
 * guardian - a small process that puts things right when strata dies.
 *
 *     TRY(guardian_start(&g, d));            first of all, before NVML is opened
 *     guardian_arm(&g, uuid, journal);       before the clocks are locked
 *     ... lock, run, reset ...
 *     guardian_disarm(&g);
 *     guardian_stop(&g);
 *
 * It is a fork of ours in a session of its own, deaf to SIGINT, SIGTERM and SIGHUP, that waits on
 * a pipe. When the pipe closes for whatever reason, SIGKILL included, it ends the program that is
 * being profiled, resets the locked clocks and removes their journal; each only if it was told to.
 * It holds no file of ours but the pipe, so locks end with strata.
 *
 * It must be started while this process has one thread and has not opened NVML yet: the copy then
 * opens the library afresh.
 */
#ifndef STRATA_DRIVER_GUARDIAN_H
#define STRATA_DRIVER_GUARDIAN_H

#include <sys/types.h>

#include "base/diag.h"

struct guardian {
    pid_t pid; /* 0: none */
    int fd;    /* our end of the pipe */
};

enum status guardian_start(struct guardian *g, struct diag *d);

/* From here on the clocks of this GPU are reset when we die. `journal` is a path. False when the
 * guardian is gone: then do not lock. */
bool guardian_arm(struct guardian *g, const char *uuid, const char *journal);
bool guardian_disarm(struct guardian *g);

/* The process group that ends with us; 0: none any more. */
bool guardian_watch(struct guardian *g, pid_t group);

bool guardian_is_alive(struct guardian *g);

/* Closes the pipe and waits for its end. Harmless when none was started. */
void guardian_stop(struct guardian *g);

#endif
