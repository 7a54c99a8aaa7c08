/*
 * job - a piece of work that a failed allocation ends as a whole.
 *
 *     static struct job job = JOB_INIT;
 *     if (!job_run(&job, work, &ctx))
 *         ... memory ran out: whatever work() acquired is released again ...
 *
 * A job keeps account of what is acquired while it runs: every block of memory (base/run/mem.h)
 * and, by job_hold(), descriptors, mappings, threads, temporary files and handles of other
 * libraries. When there is no memory, mem_grow() jumps to the nearest boundary of its thread. At
 * the boundary of a job everything in the account is released, newest first and memory last; no
 * function in between runs on.
 *
 * A job may run several times, as a handle of the library does: what it acquired stays in its
 * account until it is released, or until a later run fails and takes all of it along.
 *
 * A function that another library calls back has a boundary of its own, since frames of that
 * library must not be jumped over; it returns that library's error. So have the tasks of a pool,
 * whose failure the waiting thread raises again. Such a boundary releases nothing.
 */
#ifndef STRATA_BASE_RUN_JOB_H
#define STRATA_BASE_RUN_JOB_H

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_held;

struct job {
    pthread_mutex_t lock;
    uintptr_t blocks; /* the newest; kept by base/run/mem.c */
    struct job_held *held;
    bool is_torn; /* a boundary inside it lost what had been acquired since */
};

#define JOB_INIT                                                                                   \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* False when memory ran out: `job` is empty then. */
bool job_run(struct job *job, void (*work)(void *ctx), void *ctx);

/* At the end of all runs, when nothing of the job is in use any more: releases what boundaries
 * inside it lost. */
void job_end(struct job *job);

/* False when memory ran out; the job of this thread stays as it is. */
bool job_try(void (*work)(void *ctx), void *ctx);

/* Makes the function it stands in, up to its end, a boundary that does this when memory runs out:
 *
 *     JOB_BOUNDARY(return SQLITE_NOMEM);
 */
#define JOB_BOUNDARY(otherwise)                                                                    \
    __attribute__((cleanup(job_leave))) struct job_boundary boundary_;                             \
    job_arrive(&boundary_);                                                                        \
    if (_setjmp(boundary_.back) != 0)                                                              \
    otherwise

struct job_boundary {
    jmp_buf back;
    struct job_boundary *outer;
};

void job_arrive(struct job_boundary *b);
void job_leave(struct job_boundary *b);

/* Jumps to the nearest boundary. Without one the program ends with the line below. */
_Noreturn void job_out_of_memory(void);

/* What a program tells its user then, on standard error. */
void job_print_out_of_memory(void);

/* The job this thread works for, NULL for none; a thread of a pool works for its caller's. */
struct job *job_current(void);
void job_enter(struct job *job);

/* Puts something into the account: `release` is called when the job fails. When not even the entry
 * can be made, that happens at once. */
void job_hold(void (*release)(void *what, size_t n), void *what, size_t n);

/* Takes it out again, because its owner releases it. */
void job_drop(void (*release)(void *what, size_t n), const void *what);

/* The same for descriptors: `fd` itself, and close(). A negative one is left alone. */
int job_fd(int fd);
int job_close(int fd);

#endif
