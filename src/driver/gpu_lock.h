/*
 * gpu_lock - one profiling run at a time on a GPU.
 *
 * The lock is flock() on strata-gpu-<UUID>.lock in a folder that all users of the host share
 * (/run/lock, else /tmp; STRATA_LOCK_DIR names another), so it ends with its process whatever
 * happens; a file that nobody holds means nothing. It tells process id, start
 * time and command of the holder, for the message that a second run gets.
 */
#ifndef STRATA_DRIVER_GPU_LOCK_H
#define STRATA_DRIVER_GPU_LOCK_H

#include "base/diag.h"

struct gpu_lock {
    int fd; /* -1: not held */
};

/* Waits up to `wait_s` seconds for another run. ST_UNSUPPORTED with the holder's name when it is
 * still there, ST_IO when the file cannot be used. After a failure nothing is held. */
enum status gpu_lock_acquire(struct gpu_lock *lock, const char *uuid, const char *command,
                             double wait_s, struct diag *d);

/* Harmless when nothing is held. */
void gpu_lock_release(struct gpu_lock *lock);

/* The file of a GPU, in the arena. */
const char *gpu_lock_path(struct arena *arena, const char *uuid);

#endif
