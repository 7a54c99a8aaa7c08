/*
 * child - a copy of this process that computes for us, in a sandbox of its own (sandbox_enter()):
 * started, watched, and what it sends taken as a stranger's file. Nothing it does may end us, hold
 * us up beyond the limit or fill our memory.
 *
 *     struct child_process c = {.limit_ms = .., .most_bytes = .., .most_sent = .., .most_said =
 * ..}; if (!child_fork(&c)) ..                 no process: errno if (c.pid == 0) work(c.out,
 * c.said_to); the child, which does not return child_follow(&c);                       until it is
 * gone child_free(&c);
 */
#ifndef STRATA_BASE_RUN_CHILD_H
#define STRATA_BASE_RUN_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/text/num.h"
#include "base/text/text.h"

enum child_end {
    CHILD_ENDED, /* by itself: `status` is that of waitpid() */
    CHILD_LATE,
    CHILD_LARGE, /* it took more memory than allowed */
    CHILD_LOUD,  /* it sent more than allowed */
};

struct child_pipe {
    int ends[2]; /* to read, to write; -1: closed */
    struct text text;
    size_t most;
    bool is_cut;
};

struct child_process {
    int64_t limit_ms, most_bytes; /* of memory beyond what it begins with */
    size_t most_sent, most_said;

    pid_t pid;
    int out, said_to; /* in the child: where results go, and what it prints */
    struct child_pipe sent, said;
    enum child_end end;
    int status;
    nanos began, took;
    int64_t first; /* bytes at the start */
};

/* False, with errno, when there is no process for it. */
bool child_fork(struct child_process *c);
void child_follow(struct child_process *c);
void child_free(struct child_process *c);

/* In the child: `on` is called for crashes, on a stack of its own; interrupts end it. */
void child_catch(void (*on)(int number, siginfo_t *info, void *context));

/* A copy of a file in memory, for struct sandbox; -1: it cannot be read. */
int child_copy_file(const char *path);

#endif
