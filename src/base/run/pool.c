/*
 * The threads sleep until `round` changes, draw numbers from `next` until they run out, and check
 * out. A round is over when every thread has checked out, also those that woke too late to draw
 * anything: with tasks as large as files, waking a thread in vain costs nothing, and no thread
 * can meet a job that is already gone.
 *
 * A task that runs out of memory ends the round: no further number is drawn, and the caller, when
 * all threads have checked out, is the one whose job fails (base/run/job.h).
 */
#include "base/run/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/run/job.h"
#include "base/text/c_locale.h"

/* More threads than any machine has processors; --jobs is typed by people. */
enum { WIDTH_MAX = 512 };

struct pool {
    pthread_mutex_t turn; /* held for a whole pool_for() */
    pthread_mutex_t lock; /* guards round, working and stopping */
    pthread_cond_t wake, done;
    uint64_t round;
    size_t working; /* threads that have not checked out of this round */
    bool stopping;
    void (*fn)(void *ctx, size_t i); /* written before the round changes, read after */
    void *ctx;
    size_t n;
    struct job *job; /* of the caller */
    atomic_size_t next;
    atomic_bool has_failed; /* a task had no memory */
    size_t threads;         /* besides the caller */
    pthread_t thread[];
};

static _Thread_local bool inside_task;

size_t pool_default_width(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
    /* More than 1024 processors do not fit the set. */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

static void draw_all(void *arg)
{
    struct pool *pool = arg;

    while (!atomic_load_explicit(&pool->has_failed, memory_order_relaxed)) {
        size_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->n)
            break;
        pool->fn(pool->ctx, i);
    }
}

static void pool_draw(struct pool *pool)
{
    inside_task = true;
    if (!job_try(draw_all, pool))
        atomic_store(&pool->has_failed, true);
    inside_task = false;
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    uint64_t seen = 0;

    c_locale_begin(); /* for as long as the thread lives */
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->stopping)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stopping)
            break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        job_enter(pool->job);
        pool_draw(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void stop(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
}

static void pool_release(void *pool, size_t n)
{
    (void)n;
    stop(pool);
}

struct pool *pool_new(size_t width)
{
    sigset_t all, before;

    if (width == 0)
        width = pool_default_width();
    if (width > WIDTH_MAX)
        width = WIDTH_MAX;
    struct pool *pool = mem_grow(NULL, 1, sizeof(*pool) + width * sizeof(pool->thread[0]));
    memset(pool, 0, sizeof(*pool));
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* comes from what the thread itself reads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->threads + 1 < width &&
           pthread_create(&pool->thread[pool->threads], NULL, work, pool) == 0)
        pool->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    job_hold(pool_release, pool, 0);
    return pool;
}

void pool_free(struct pool *pool)
{
    if (pool == NULL)
        return;
    job_drop(pool_release, pool);
    stop(pool);
    mem_free(pool);
}
size_t pool_width(const struct pool *pool)
{
    return pool != NULL ? pool->threads + 1 : 1;
}

void pool_for(struct pool *pool, size_t n, void (*fn)(void *ctx, size_t i), void *ctx)
{
    if (pool == NULL || pool->threads == 0 || n < 2 || inside_task) {
        for (size_t i = 0; i < n; i++)
            fn(ctx, i);
        return;
    }
    pthread_mutex_lock(&pool->turn);
    pthread_mutex_lock(&pool->lock);
    pool->fn = fn;
    pool->ctx = ctx;
    pool->n = n;
    pool->job = job_current();
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->has_failed, false, memory_order_relaxed);
    pool->working = pool->threads;
    pool->round++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    pool_draw(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->working > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    bool has_failed = pool->has_failed;
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
    if (has_failed)
        job_out_of_memory();
}

/* Numbers count items; item k is in slot k % slots. */
struct pipe {
    const struct pool_pipe *calls;
    void *ctx;
    size_t slots;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* something below has changed */
    size_t begun, merged;
    bool *is_done; /* by slot: the work is */
    bool is_at_next, is_at_merge, has_more, is_over, has_failed;
};

/* One call of the pipeline: of `fn`, or of `work`. */
struct pipe_call {
    struct pipe *pipe;
    size_t slot;
    bool (*fn)(void *ctx, size_t slot);
    bool answer;
};

static void make_call(void *arg)
{
    struct pipe_call *call = arg;
    const struct pipe *p = call->pipe;

    if (call->fn != NULL)
        call->answer = call->fn(p->ctx, call->slot);
    else
        p->calls->work(p->ctx, call->slot);
}

/* Makes it without the lock. Running out of memory ends the pipeline and counts as false. */
static bool pipe_call(struct pipe *p, bool (*fn)(void *ctx, size_t slot), size_t slot)
{
    struct pipe_call call = {.pipe = p, .slot = slot, .fn = fn};

    pthread_mutex_unlock(&p->lock);
    bool is_done = job_try(make_call, &call);
    pthread_mutex_lock(&p->lock);
    if (!is_done)
        p->has_failed = p->is_over = true;
    return is_done && call.answer;
}

static void pipe_next(struct pipe *p)
{
    size_t slot = p->begun % p->slots;

    p->is_at_next = true;
    bool has_more = pipe_call(p, p->calls->next, slot);
    p->is_at_next = false;
    p->has_more = has_more;
    p->begun += has_more;
    pthread_cond_broadcast(&p->moved);
    if (!has_more)
        return;
    pipe_call(p, NULL, slot);
    p->is_done[slot] = true;
    pthread_cond_broadcast(&p->moved);
}

static void pipe_merge(struct pipe *p)
{
    size_t slot = p->merged % p->slots;

    p->is_at_merge = true;
    bool goes_on = pipe_call(p, p->calls->merge, slot);
    p->is_at_merge = false;
    p->is_done[slot] = false;
    p->merged++;
    p->is_over = p->is_over || !goes_on;
    pthread_cond_broadcast(&p->moved);
}

/* Getting items ready comes first: it may be the slow part (unpacking), and the others wait for
 * it. */
static void pipe_run(void *ctx, size_t i)
{
    struct pipe *p = ctx;

    (void)i;
    pthread_mutex_lock(&p->lock);
    while (!p->is_over) {
        if (p->has_more && !p->is_at_next && p->begun - p->merged < p->slots)
            pipe_next(p);
        else if (!p->is_at_merge && p->is_done[p->merged % p->slots])
            pipe_merge(p);
        else if (!p->has_more && p->merged == p->begun)
            p->is_over = true;
        else
            pthread_cond_wait(&p->moved, &p->lock);
    }
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->lock);
}

/* In a task or with one slot everything runs here, in the same order: the result never depends
 * on threads. */
void pool_pipe(struct pool *pool, size_t slots, const struct pool_pipe *pipe, void *ctx)
{
    if (pool == NULL || pool->threads == 0 || slots < 2 || inside_task) {
        while (pipe->next(ctx, 0)) {
            pipe->work(ctx, 0);
            if (!pipe->merge(ctx, 0))
                break;
        }
        return;
    }
    struct pipe p = {.calls = pipe, .ctx = ctx, .slots = slots, .has_more = true};
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.moved, NULL);
    p.is_done = mem_grow(NULL, sizeof(*p.is_done), slots);
    memset(p.is_done, 0, sizeof(*p.is_done) * slots);
    pool_for(pool, pool->threads + 1, pipe_run, &p);
    mem_free(p.is_done);
    pthread_cond_destroy(&p.moved);
    pthread_mutex_destroy(&p.lock);
    if (p.has_failed)
        job_out_of_memory();
}
