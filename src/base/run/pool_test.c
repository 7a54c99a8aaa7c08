#include "base/run/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/testing.h"

enum { MANY = 20000 };

static atomic_int calls[MANY];

static void pool_count(void *ctx, size_t i)
{
    atomic_fetch_add((atomic_size_t *)ctx, i);
    atomic_fetch_add(&calls[i], 1);
}

TEST(every_number_is_handed_out_once)
{
    static const size_t widths[] = {1, 2, 3, 8};

    for (size_t w = 0; w < 4; w++) {
        struct pool *pool = pool_new(widths[w]);
        atomic_size_t sum = 0;

        memset(calls, 0, sizeof(calls));
        assert_int_equal(pool_width(pool), widths[w]);
        pool_for(pool, MANY, pool_count, &sum);
        assert_int_equal(sum, (size_t)MANY * (MANY - 1) / 2);
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(calls[i], 1);
        pool_free(pool);
    }
}

TEST(a_pool_serves_many_rounds_of_any_size)
{
    struct pool *pool = pool_new(4);

    for (size_t n = 0; n < 300; n++) {
        atomic_size_t sum = 0;
        pool_for(pool, n, pool_count, &sum);
        assert_int_equal(sum, n * (n - (n > 0)) / 2); /* 0 + 1 + ... + n-1 */
    }
    pool_free(pool);
}

struct pool_slots {
    size_t value[100];
};

static void square(void *ctx, size_t i)
{
    ((struct pool_slots *)ctx)->value[i] = i * i;
}

TEST(plain_writes_of_a_task_are_seen_by_the_caller)
{
    struct pool *pool = pool_new(4);
    struct pool_slots slots = {0};

    pool_for(pool, 100, square, &slots);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(slots.value[i], i * i);
    pool_free(pool);
}

struct nest {
    struct pool *pool;
    pthread_t self[8];
    atomic_int stayed; /* inner calls that ran on their task's own thread */
    size_t last[8];
    atomic_int in_order;
};

struct inner {
    struct nest *nest;
    size_t task;
};

static void inner_call(void *ctx, size_t i)
{
    struct inner *in = ctx;

    if (pthread_equal(pthread_self(), in->nest->self[in->task]))
        in->nest->stayed++;
    if (in->nest->last[in->task] == i)
        in->nest->in_order++;
    in->nest->last[in->task] = i + 1;
}

static void outer_call(void *ctx, size_t i)
{
    struct nest *nest = ctx;
    struct inner in = {nest, i};

    nest->self[i] = pthread_self();
    pool_for(nest->pool, 5, inner_call, &in);
}

TEST(a_nested_call_runs_inline_and_in_order)
{
    struct nest nest = {.pool = pool_new(3)};

    pool_for(nest.pool, 8, outer_call, &nest);
    assert_int_equal(nest.stayed, 40);
    assert_int_equal(nest.in_order, 40);
    pool_free(nest.pool);
}

TEST(width_one_and_no_pool_run_in_order_on_the_caller)
{
    struct nest nest = {.self = {pthread_self()}};
    struct inner in = {&nest, 0};
    struct pool *pool = pool_new(1);

    pool_for(pool, 50, inner_call, &in);
    assert_int_equal(nest.stayed, 50);
    assert_int_equal(nest.in_order, 50);
    nest.last[0] = 0;
    pool_for(NULL, 50, inner_call, &in);
    assert_int_equal(nest.in_order, 100);
    pool_free(pool);
}

struct meeting {
    atomic_int here;
    atomic_int met;
};

/* Two tasks that each wait for the other only end when two threads run them. */
static void meet(void *ctx, size_t i)
{
    struct meeting *m = ctx;

    (void)i;
    m->here++;
    for (int tries = 0; tries < 20000 && m->here < 2; tries++)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    if (m->here == 2)
        m->met++;
}

TEST(tasks_run_at_the_same_time)
{
    struct pool *pool = pool_new(2);
    struct meeting m = {0};

    pool_for(pool, 2, meet, &m);
    assert_int_equal(m.met, 2);
    pool_free(pool);
}

static void check_mask(void *ctx, size_t i)
{
    sigset_t mask;

    (void)i;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (pthread_equal(pthread_self(), *(pthread_t *)ctx) == 0)
        atomic_fetch_add(&calls[sigismember(&mask, SIGINT) && !sigismember(&mask, SIGBUS)], 1);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* so that the others get some */
}

TEST(threads_leave_signals_to_others_but_for_their_own_reading)
{
    struct pool *pool = pool_new(4);
    pthread_t self = pthread_self();

    atomic_store(&calls[0], 0);
    atomic_store(&calls[1], 0);
    for (int i = 0; i < 100 && calls[1] == 0; i++)
        pool_for(pool, 64, check_mask, &self);
    assert_int_equal(calls[0], 0);
    assert_true(calls[1] > 0);
    pool_free(pool);
}

TEST(the_default_width_is_what_the_machine_has)
{
    struct pool *pool = pool_new(0);

    assert_true(pool_default_width() >= 1);
    assert_int_equal(pool_width(pool), pool_default_width() < 512 ? pool_default_width() : 512);
    assert_int_equal(pool_width(NULL), 1);
    pool_free(pool);
    pool_free(NULL);
}

/* Items are numbers; work squares them and the merge checks their order. */
struct pipe_test {
    size_t slot[5], from[5];
    size_t next, n, merged, stop_at;
    uint64_t sum;
    bool is_in_order;
};

static bool pipe_next(void *ctx, size_t slot)
{
    struct pipe_test *t = ctx;

    if (t->next == t->n)
        return false;
    t->from[slot] = t->slot[slot] = t->next++;
    return true;
}

static void pipe_work(void *ctx, size_t slot)
{
    struct pipe_test *t = ctx;

    t->slot[slot] *= t->slot[slot];
}

static bool pipe_merge(void *ctx, size_t slot)
{
    struct pipe_test *t = ctx;

    t->is_in_order = t->is_in_order && t->from[slot] == t->merged;
    t->merged++;
    t->sum += t->slot[slot];
    return t->merged != t->stop_at;
}

static const struct pool_pipe pipe_calls = {pipe_next, pipe_work, pipe_merge};

TEST(a_pipeline_merges_in_order_whatever_its_width)
{
    static const size_t widths[] = {1, 2, 3, 8};

    for (size_t w = 0; w < 4; w++) {
        struct pool *pool = pool_new(widths[w]);
        struct pipe_test t = {.n = 1000, .is_in_order = true};
        pool_pipe(pool, 5, &pipe_calls, &t);
        assert_true(t.is_in_order);
        assert_int_equal(t.merged, 1000);
        assert_int_equal(t.sum, 332833500); /* the first thousand squares */
        pool_free(pool);
    }
    struct pipe_test none = {.is_in_order = true};
    pool_pipe(NULL, 5, &pipe_calls, &none);
    assert_int_equal(none.merged, 0);
}

TEST(a_merge_can_end_a_pipeline)
{
    for (size_t width = 1; width < 4; width++) {
        struct pool *pool = pool_new(width);
        struct pipe_test t = {.n = 1000, .stop_at = 10, .is_in_order = true};
        pool_pipe(pool, 4, &pipe_calls, &t);
        assert_int_equal(t.merged, 10);
        pool_free(pool);
    }
}

TEST_MAIN("base/run/pool", T(a_pipeline_merges_in_order_whatever_its_width),
          T(a_merge_can_end_a_pipeline),
          T(threads_leave_signals_to_others_but_for_their_own_reading),
          T(every_number_is_handed_out_once), T(a_pool_serves_many_rounds_of_any_size),
          T(plain_writes_of_a_task_are_seen_by_the_caller),
          T(a_nested_call_runs_inline_and_in_order),
          T(width_one_and_no_pool_run_in_order_on_the_caller), T(tasks_run_at_the_same_time),
          T(the_default_width_is_what_the_machine_has))
