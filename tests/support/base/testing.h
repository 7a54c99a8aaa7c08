/*
 * testing - cmocka, included in the order it needs, and macros around it.
 */
#ifndef STRATA_BASE_TESTING_H
#define STRATA_BASE_TESTING_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#define TEST(name) static void name(void **state __attribute__((unused)))
#define T(name)    cmocka_unit_test(name)
/* A test between fresh() and done() of its file, which set up and tear down. */
#define TF(name) cmocka_unit_test_setup_teardown(name, fresh, done)
#define TEST_MAIN(group, ...)                                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests_name(group, tests, NULL, NULL);                              \
    }

/* A view equals a literal, length and bytes. */
#define assert_str(view, literal)                                                                  \
    do {                                                                                           \
        struct str assert_str_ = (view);                                                           \
        assert_int_equal(assert_str_.n, sizeof(literal) - 1);                                      \
        if (assert_str_.n > 0)                                                                     \
            assert_memory_equal(assert_str_.at, literal, assert_str_.n);                           \
    } while (0)

#endif
