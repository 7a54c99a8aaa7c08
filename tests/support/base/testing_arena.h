/*
 * testing_arena - an arena and a diag for each test.
 */
#ifndef STRATA_BASE_TESTING_ARENA_H
#define STRATA_BASE_TESTING_ARENA_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/testing.h"

static struct arena arena;
static struct diag diag;

static inline int arena_enter(void **state)
{
    (void)state;
    arena_init(&arena);
    diag_init(&diag);
    return 0;
}

static inline int arena_leave(void **state)
{
    (void)state;
    diag_fini(&diag);
    arena_free(&arena);
    return 0;
}

/* Forgets what the diag was told so far. */
static inline void forget(void)
{
    diag_fini(&diag);
    diag_init(&diag);
}

/* A test with these. */
#define TA(name) cmocka_unit_test_setup_teardown(name, arena_enter, arena_leave)

#endif
