#include <pthread.h>
#include <stdio.h>

#include "base/run/once.h"
#include "base/testing.h"

struct made {
    int count, values[2 * ONCE_ROOM];
};

static const void *once_make(void *ctx, struct str key)
{
    struct made *m = ctx;

    if (str_equal(key, S("none")))
        return NULL;
    m->values[m->count] = (int)key.n;
    return &m->values[m->count++];
}

TEST(a_value_is_made_once)
{
    static struct made made;
    struct once *o = once_new();
    char key[] = "ab";

    const int *a = once_get(o, str_of(key), once_make, &made);
    key[0] = 'x'; /* the key was copied */
    assert_ptr_equal(once_get(o, S("ab"), once_make, &made), a);
    assert_int_equal(*a, 2);
    assert_ptr_not_equal(once_get(o, S("xb"), once_make, &made), a);
    assert_ptr_not_equal(once_get(o, S(""), once_make, &made), a);
    assert_int_equal(made.count, 3);
    once_free(o);
}

TEST(nothing_is_not_kept)
{
    static struct made made;
    struct once *o = once_new();

    assert_null(once_get(o, S("none"), once_make, &made));
    assert_null(once_get(o, S("none"), once_make, &made));
    assert_int_equal(made.count, 0);
    once_free(o);
    once_free(NULL);
}

TEST(what_has_no_room_is_made_again)
{
    static struct made made;
    struct once *o = once_new();
    char key[16];

    for (int i = 0; i < ONCE_ROOM; i++) {
        snprintf(key, sizeof(key), "%d", i);
        once_get(o, str_of(key), once_make, &made);
    }
    assert_int_equal(made.count, ONCE_ROOM);
    assert_non_null(once_get(o, S("late"), once_make, &made));
    assert_non_null(once_get(o, S("late"), once_make, &made));
    assert_int_equal(made.count, ONCE_ROOM + 2);
    once_get(o, S("7"), once_make, &made);
    assert_int_equal(made.count, ONCE_ROOM + 2);
    once_free(o);
}

static struct made shared;

static void *once_ask(void *o)
{
    char key[16];

    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 200; i++) {
            snprintf(key, sizeof(key), "%d", i);
            const int *value = once_get(o, str_of(key), once_make, &shared);
            if (value == NULL || *value != (int)strlen(key))
                return o;
        }
    return NULL;
}

TEST(threads_ask_at_the_same_time)
{
    struct once *o = once_new();
    pthread_t threads[4];
    void *failed;

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, once_ask, o), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(shared.count, 200);
    once_free(o);
}

TEST_MAIN("base/run/once", T(a_value_is_made_once), T(nothing_is_not_kept),
          T(what_has_no_room_is_made_again), T(threads_ask_at_the_same_time))
