/*
 * The threads sleep until `round` changes, draw numbers from `next` until they run out, and check
 * out. A round is over when every thread has checked out, also those that woke too late to draw
 * anything: with tasks as large as files, waking a thread in vain costs nothing, and no thread
 * can meet a job that is already gone.
 */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"

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
    atomic_size_t next;
    size_t threads; /* besides the caller */
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

static void draw(struct pool *pool)
{
    inside_task = true;
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->n)
            break;
        pool->fn(pool->ctx, i);
    }
    inside_task = false;
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    uint64_t seen = 0;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->stopping)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stopping)
            break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        draw(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
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
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->threads + 1 < width &&
           pthread_create(&pool->thread[pool->threads], NULL, work, pool) == 0)
        pool->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool;
}

void pool_free(struct pool *pool)
{
    if (pool == NULL)
        return;
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
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->working = pool->threads;
    pool->round++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    draw(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->working > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
}
