/* Boundaries are a list in each thread, the innermost first. */
#include "base/run/job.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/run/mem.h"

struct job_held {
    struct job_held *next; /* older */
    void (*release)(void *what, size_t n);
    void *what;
    size_t n;
};

static _Thread_local struct {
    struct job *job;
    struct job_boundary *nearest;
} here;

struct job *job_current(void)
{
    return here.job;
}

void job_enter(struct job *job)
{
    here.job = job;
}

void job_arrive(struct job_boundary *b)
{
    b->outer = here.nearest;
    here.nearest = b;
}

void job_leave(struct job_boundary *b)
{
    here.nearest = b->outer;
}

bool job_try(void (*work)(void *ctx), void *ctx)
{
    struct job_boundary boundary;

    job_arrive(&boundary);
    if (_setjmp(boundary.back) != 0) {
        job_leave(&boundary);
        return false;
    }
    work(ctx);
    job_leave(&boundary);
    return true;
}

void job_print_out_of_memory(void)
{
    static const char text[] = "strata: error: out of memory [memory.none]\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

    (void)written; /* nothing is left to be done about it */
}

void job_out_of_memory(void)
{
    if (here.nearest != NULL) {
        if (here.job != NULL)
            here.job->is_torn = true;
        longjmp(here.nearest->back, 1);
    }
    job_print_out_of_memory();
    _exit(3);
}

static void release_all(struct job *job)
{
    for (struct job_held *h; (h = job->held) != NULL;) {
        job->held = h->next;
        h->release(h->what, h->n);
        free(h);
    }
    mem_free_of(job);
    job->is_torn = false;
}

void job_end(struct job *job)
{
    if (job->is_torn)
        release_all(job);
}

bool job_run(struct job *job, void (*work)(void *ctx), void *ctx)
{
    struct job *outer = here.job;

    here.job = job;
    bool is_done = job_try(work, ctx);
    if (!is_done)
        release_all(job);
    here.job = outer;
    return is_done;
}

void job_hold(void (*release)(void *what, size_t n), void *what, size_t n)
{
    struct job *job = here.job;

    if (job == NULL)
        return;
    struct job_held *h = malloc(sizeof(*h));
    if (h != NULL) {
        pthread_mutex_lock(&job->lock);
        *h = (struct job_held){job->held, release, what, n};
        job->held = h;
        pthread_mutex_unlock(&job->lock);
    } else {
        release(what, n);
        job_out_of_memory();
    }
}

void job_drop(void (*release)(void *what, size_t n), const void *what)
{
    struct job *job = here.job;

    if (job == NULL)
        return;
    pthread_mutex_lock(&job->lock);
    struct job_held **at = &job->held;
    while (*at != NULL && ((*at)->release != release || (*at)->what != what))
        at = &(*at)->next;
    struct job_held *found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&job->lock);
    free(found);
}

static void close_fd(void *what, size_t n)
{
    (void)n;
    close((int)(intptr_t)what);
}

int job_fd(int fd)
{
    if (fd >= 0)
        job_hold(close_fd, (void *)(intptr_t)fd, 0);
    return fd;
}

int job_close(int fd)
{
    job_drop(close_fd, (void *)(intptr_t)fd);
    return close(fd);
}
