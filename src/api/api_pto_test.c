#include <pthread.h>
#include <string.h>

#include "base/str.h"
#include "base/testing.h"
#include "strata/strata.h"

static const char *const text =
    "module {\nfunc.func @k(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%z = arith.constant 0 : i64\n"
    "%f = arith.constant 1.0 : f32\n"
    "%t = pto.alloc_tile addr = %z : !pto.tile_buf<vec, ${ROWS}x64xf32>\n"
    "scf.for %i = %c0 to %n step %c1 {\n"
    "pto.texpands ins(%f : f32) outs(%t : !pto.tile_buf<vec, ${ROWS}x64xf32>)\n}\nreturn\n}\n}\n";

TEST(a_kernel_is_run_with_its_values_and_arguments)
{
    struct strata_pto *k = strata_pto_new();
    struct strata_pto_result r;

    assert_int_equal(strata_pto_text(k, text, strlen(text), "k.pto"), STRATA_OK);
    assert_int_equal(strata_pto_run(k, &r), STRATA_FORMAT);
    assert_non_null(strstr(strata_pto_error(k), "ROWS"));
    strata_pto_set(k, "ROWS", "16");
    strata_pto_arg(k, "n", "10");
    assert_int_equal(strata_pto_run(k, &r), STRATA_OK);
    assert_string_equal(strata_pto_error(k), "");
    assert_int_equal(r.instructions, 10);
    assert_true(r.cycles >= 160 && r.us > 0 && r.is_complete && !r.is_degenerate);
    assert_true(strata_pto_busy(k, "AIV0", "VEC") >= 160);
    assert_int_equal(strata_pto_busy(k, "AIC", "CUBE"), 0);
    strata_pto_free(k);
}

TEST(a_table_of_values_gives_a_result_each)
{
    static const char *const names[] = {"ROWS"}, *const values[] = {"8", "16", "no", "32"};
    struct strata_pto *k = strata_pto_new();
    struct strata_pto_result r[4], alone;

    strata_pto_text(k, text, strlen(text), "k.pto");
    strata_pto_arg(k, "n", "4");
    assert_int_equal(strata_pto_batch(k, names, 1, values, 4, r), STRATA_OK);
    assert_int_equal(r[0].status, STRATA_OK);
    assert_int_equal(r[2].status, STRATA_FORMAT);
    assert_int_not_equal(strlen(strata_pto_error(k)), 0);
    assert_true(r[0].cycles < r[1].cycles && r[1].cycles < r[3].cycles);
    strata_pto_set(k, "ROWS", "32");
    strata_pto_run(k, &alone);
    assert_int_equal(alone.cycles, r[3].cycles);
    strata_pto_free(k);
}

TEST(options_are_those_of_the_command)
{
    struct strata_pto *k = strata_pto_new();

    assert_int_equal(strata_pto_option(k, "sync", "dep"), STRATA_OK);
    assert_int_equal(strata_pto_option(k, "chip", "Ascend910B3"), STRATA_OK);
    assert_int_equal(strata_pto_option(k, "blocks", "2"), STRATA_OK);
    assert_int_equal(strata_pto_option(k, "blocks", "0"), STRATA_USAGE);
    assert_int_equal(strata_pto_option(k, "sync", "none"), STRATA_USAGE);
    assert_int_equal(strata_pto_option(k, "colour", "red"), STRATA_USAGE);
    assert_int_equal(strata_pto_option(k, "cost", "no-such-file.csv"), STRATA_NOT_FOUND);
    strata_pto_free(k);
}

TEST(strangers_may_call_it_wrongly)
{
    struct strata_pto *k = strata_pto_new();
    struct strata_pto_result r;

    assert_int_equal(strata_pto_run(k, &r), STRATA_USAGE);
    assert_int_equal(strata_pto_run(NULL, &r), STRATA_USAGE);
    assert_int_equal(strata_pto_text(k, NULL, 0, NULL), STRATA_USAGE);
    assert_int_equal(strata_pto_set(k, NULL, "1"), STRATA_USAGE);
    assert_int_equal(strata_pto_arg(k, "n", NULL), STRATA_USAGE);
    assert_int_equal(strata_pto_batch(k, NULL, 1, NULL, 1, &r), STRATA_USAGE);
    assert_int_equal(strata_pto_busy(NULL, "AIC", "CUBE"), 0);
    strata_pto_free(k);
    strata_pto_free(NULL);
}

static void *tune(void *out)
{
    struct strata_pto *k = strata_pto_new();
    struct strata_pto_result r = {0};

    strata_pto_text(k, text, strlen(text), "k.pto");
    strata_pto_set(k, "ROWS", "16");
    strata_pto_arg(k, "n", "1000");
    for (int i = 0; i < 20; i++)
        strata_pto_run(k, &r);
    *(int64_t *)out = r.cycles;
    strata_pto_free(k);
    return NULL;
}

TEST(handles_are_independent)
{
    pthread_t threads[4];
    int64_t got[4] = {0};

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, tune, &got[i]), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 4; i++)
        assert_true(got[i] > 0 && got[i] == got[0]);
}

TEST_MAIN("api/api_pto", T(a_kernel_is_run_with_its_values_and_arguments),
          T(a_table_of_values_gives_a_result_each), T(options_are_those_of_the_command),
          T(strangers_may_call_it_wrongly), T(handles_are_independent))
