/*
 * sandbox - what code of somebody else may do: compute.
 *
 * sandbox_enter() is for a child that was forked for it. From then on it has no files but those in
 * `files` and the two it writes to, no way to a network or another process, and limits. A call that
 * reaches further ends it, after `told` was called with its name. There is no way back out.
 *
 * sandbox_confine() is for a program that is started to read such code, as a compiler does: it sees
 * the files it is given and no others. One that runs such code, as an interpreter does, has no
 * network and no other processes either. Both hold for root as well.
 */
#ifndef STRATA_BASE_RUN_SANDBOX_H
#define STRATA_BASE_RUN_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/vec.h"

enum { SANDBOX_FILES = 4 };

struct sandbox {
    int out;                  /* where results go */
    int said;                 /* becomes standard output and error */
    int files[SANDBOX_FILES]; /* opened as "/sandbox/0" and so on, to read */
    size_t n_files;
    int64_t seconds; /* of processor time */
    int64_t bytes;   /* of address space beyond what is there already */
    /* Called in a signal handler; ends the process. */
    void (*told)(const char *what);
};

/* False where the system has no filter of calls: limits hold, nothing else does. */
bool sandbox_enter(const struct sandbox *s);

struct sandbox_program {
    struct words read;  /* folders with what is below them, and files; those missing are left out */
    const char *folder; /* of its own, to write */
    bool runs_code;     /* somebody else's: all it may do besides is compute */
    int64_t seconds, bytes, file_bytes;
};

/* How this system can hide files from a program. */
enum sandbox_way { SANDBOX_NONE, SANDBOX_LANDLOCK, SANDBOX_MOUNTS };
enum sandbox_way sandbox_way(void);

/* Between fork() and exec(): only system calls, no memory. 0, or the errno. */
int sandbox_confine(const struct sandbox_program *s, enum sandbox_way way);

/* The filter of one that runs code: calls that reach beyond files, memory and time fail with EPERM.
 * 0, or the errno. */
int sandbox_filter(void);

#endif
