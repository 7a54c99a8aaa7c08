/*
 * Which sizes an operator takes, asked of the reference on the processor: a product needs equal
 * inner dimensions, so the second operand decides which values run.
 */
#include "opdb/measure/probe_job.h"

#include "base/testing_arena.h"

static enum status probe_test_run(const char *shapes, const char *axis, struct probed_sizes *out)
{
    struct probe_job job = {.op = op_find(S("MatMulV2")),
                            .shapes = str_of(shapes),
                            .types = S("FLOAT;FLOAT"),
                            .formats = S("ND;ND"),
                            .axis = str_of(axis),
                            .measure = {.backend = "cpu", .options = {.repeats = 1}}};

    assert_non_null(job.op);
    return probe_run(&job, out, &diag);
}

#define CONCLUDES(shapes, axis, text, most)                                                        \
    do {                                                                                           \
        struct probed_sizes p;                                                                     \
        assert_int_equal(probe_test_run(shapes, axis, &p), ST_OK);                                 \
        assert_string_equal(p.conclusion, text);                                                   \
        assert_int_equal(p.largest, most);                                                         \
        probed_sizes_free(&p);                                                                     \
    } while (0)

/* Without an output's shape the second operand is (n, k). */
TEST(values_that_run_lead_to_a_conclusion)
{
    /* Both inner dimensions change together: all run. */
    CONCLUDES("4,8;3,8", "0.1+1.1=5,16,31", "no strict alignment", 31);
    CONCLUDES("4,8;3,999", "0.1=5,16,31", "no value runs", 0);
    CONCLUDES("4,8;3,64", "0.1=17,48,64", "strict 32-alignment", 64);
    CONCLUDES("4,8;3,48", "0.1=17,48,65", "strict 16-alignment", 48);
    /* A value runs that is no multiple of 16. */
    CONCLUDES("4,8;3,17", "0.1=16,17,18", "complex", 17);
}

TEST(sizes_that_show_nothing_lead_to_no_rule)
{
    /* All run, but an alignment would allow them all. */
    CONCLUDES("4,8;3,8", "0.1+1.1=16,32", "unknown: only multiples of 16 were tried", 32);
    /* 17 fails with either rule: the weaker one is what was shown. */
    CONCLUDES("4,8;3,64", "0.1=17,64", "strict 16-alignment", 64);
    /* What fails is allowed by both. */
    CONCLUDES("4,8;3,64", "0.1=32,64,96", "complex", 64);
    /* Nothing is a multiple of everything, and other sizes are no sizes. */
    CONCLUDES("4,8;3,8", "0.1+1.1=-8,0,9223372036854775807", "complex", 0);
}

TEST(axes_that_name_nothing_are_refused)
{
    static const char *const axes[] = {
        "",        "0.1",         "0.1=",
        "=16",     "0=16",        "0.1=x",
        "0.9=16",  "77.0=16",     "x.1=16",
        "0.-1=16", "0.1++1.0=16", "o1.0=16",
        "o0.7=16", "1.2=16",      "0.1=99999999999999999999",
    };

    for (size_t i = 0; i < ARRAY_LEN(axes); i++) {
        struct probed_sizes p;
        assert_int_equal(probe_test_run("4,8;3,8", axes[i], &p), ST_FORMAT);
        assert_string_equal(diag.entries.at[0].code, "perfdb.bad-axis");
        probed_sizes_free(&p);
        forget();
    }
}

TEST(a_value_that_does_not_run_says_why)
{
    struct probed_sizes p;

    assert_int_equal(probe_test_run("4,8;3,8", "0.1=8,9", &p), ST_OK);
    assert_int_equal(p.at.n, 2);
    assert_int_equal(p.at.at[0].state, MEASURE_DONE);
    assert_true(p.at.at[0].us > 0);
    assert_int_equal(p.at.at[1].state, MEASURE_REFUSED);
    assert_str(p.at.at[1].why, "(4,9) and (3,8) do not give (4,3)");
    probed_sizes_free(&p);
}

TEST_MAIN("opdb/measure/probe_job", TA(values_that_run_lead_to_a_conclusion),
          TA(sizes_that_show_nothing_lead_to_no_rule), TA(axes_that_name_nothing_are_refused),
          TA(a_value_that_does_not_run_says_why))
