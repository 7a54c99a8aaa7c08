/*
 * A child that computes.
 */
#include "base/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/run/now.h"

enum { LOOK_MS = 5, CHUNK = 1 << 16 };

static bool child_open(struct child_pipe *p)
{
    if (pipe2(p->ends, O_CLOEXEC) != 0) {
        p->ends[0] = p->ends[1] = -1;
        return false;
    }
    job_fd(p->ends[0]);
    job_fd(p->ends[1]);
    return true;
}

static void child_close(struct child_pipe *p, size_t i)
{
    if (p->ends[i] >= 0)
        job_close(p->ends[i]);
    p->ends[i] = -1;
}

static void child_kill(void *what, size_t n)
{
    pid_t pid = (pid_t)(intptr_t)what;

    (void)n;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void child_read(struct child_pipe *p)
{
    char chunk[CHUNK];
    ssize_t n = read(p->ends[0], chunk, sizeof(chunk));

    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        child_close(p, 0);
    if (n <= 0)
        return;
    size_t room = p->most - p->text.n;
    text_put(&p->text, (struct str){chunk, (size_t)n < room ? (size_t)n : room});
    p->is_cut = p->is_cut || (size_t)n > room;
}

static int64_t child_resident(const struct child_process *c)
{
    char path[48];
    long total = 0, resident = 0;

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)c->pid);
    FILE *f = fopen(path, "re");
    if (f != NULL && fscanf(f, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (f != NULL)
        fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Limits of address space leave out memory that is reserved larger than it can be. */
static bool child_goes_on(struct child_process *c)
{
    if (now_ns() - c->began > c->limit_ms * 1000000)
        c->end = CHILD_LATE;
    else if (child_resident(c) - c->first > c->most_bytes)
        c->end = CHILD_LARGE;
    else if (c->sent.is_cut)
        c->end = CHILD_LOUD;
    return c->end == CHILD_ENDED && !cancelled();
}

bool child_fork(struct child_process *c)
{
    c->sent = (struct child_pipe){.ends = {-1, -1}, .most = c->most_sent};
    c->said = (struct child_pipe){.ends = {-1, -1}, .most = c->most_said};
    if (!child_open(&c->sent) || !child_open(&c->said))
        return false;
    c->pid = fork();
    if (c->pid == 0) {
        c->out = c->sent.ends[1];
        c->said_to = c->said.ends[1];
    }
    return c->pid >= 0;
}

/* Reads what comes until the process is gone and its pipes are empty; ends it when it goes too far.
 * A pipe may stay open behind it, so nobody waits for its end. */
void child_follow(struct child_process *c)
{
    void *held = (void *)(intptr_t)c->pid;
    bool is_dead = false;

    job_hold(child_kill, held, 0);
    child_close(&c->sent, 1);
    child_close(&c->said, 1);
    c->began = now_ns();
    c->first = child_resident(c);
    while (c->sent.ends[0] >= 0 || c->said.ends[0] >= 0 || !is_dead) {
        struct pollfd ready[2] = {{.fd = c->sent.ends[0], .events = POLLIN},
                                  {.fd = c->said.ends[0], .events = POLLIN}};
        int n = poll(ready, 2, is_dead ? 0 : LOOK_MS);
        if (n > 0 && ready[0].revents != 0)
            child_read(&c->sent);
        if (n > 0 && ready[1].revents != 0)
            child_read(&c->said);
        if (is_dead && n <= 0)
            break;
        if (!is_dead && !child_goes_on(c))
            kill(c->pid, SIGKILL);
        if (!is_dead)
            is_dead = waitpid(c->pid, &c->status, WNOHANG) != 0;
    }
    job_drop(child_kill, held);
    c->took = now_ns() - c->began;
}

void child_free(struct child_process *c)
{
    for (size_t i = 0; i < 2; i++) {
        child_close(&c->sent, i);
        child_close(&c->said, i);
    }
    text_free(&c->sent.text);
    text_free(&c->said.text);
}

/* ---- in the child ---- */

void child_catch(void (*on)(int number, siginfo_t *info, void *context))
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static unsigned char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = on, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaltstack(&own, NULL);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

int child_copy_file(const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
    char block[CHUNK];
    ssize_t n = 0;

    while (from >= 0 && copy >= 0 && (n = read(from, block, sizeof(block))) > 0)
        if (write_all(copy, block, (size_t)n) != 0)
            break;
    bool is_whole = from >= 0 && copy >= 0 && n == 0;
    if (from >= 0)
        close(from);
    if (!is_whole && copy >= 0)
        close(copy);
    return is_whole ? copy : -1;
}
