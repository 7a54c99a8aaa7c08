#include "kernels/pto/cost/calibrate.h"

#include <math.h>

#include "base/testing.h"
#include "base/text/text.h"
#include "kernels/pto/testing_cost.h"
#include "report/record.h"

static void calibrate_add(struct pto_measures *m, struct pto_work w, double measured)
{
    vec_push(&m->rows, ((struct pto_measure){.work = w, .cycles = measured}));
}

/* A chip whose tadds takes 1.5 cycles a repeat and 40 fixed. */
static void add_slow_chip(struct pto_measures *m)
{
    for (int32_t rows = 8; rows <= 128; rows *= 2)
        calibrate_add(m, tile(PTO_TADDS, PTO_F32, rows, 64), 1.5 * rows + 40);
}

static double after(const struct pto_calibration *cal, const char *name)
{
    for (size_t i = 0; i < cal->refits.n; i++)
        for (size_t k = 0; k < cal->refits.at[i].n_keys; k++)
            if (strcmp(cal->refits.at[i].keys[k].name, name) == 0)
                return cal->refits.at[i].keys[k].after;
    return NAN;
}

static bool is_near(double value, double want)
{
    return fabs(value - want) <= 1e-3 * fabs(want);
}

TEST(constants_that_made_the_points_are_found_again)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};

    add_slow_chip(&m);
    for (int32_t rows = 8; rows <= 128; rows *= 2) /* f16: 3 a repeat, the same fixed part */
        calibrate_add(&m, tile(PTO_TADDS, PTO_F16, rows, 128), 3.0 * rows + 40);
    pto_calibrate(c, &m, &cal);
    assert_int_equal(cal.refits.n, 1);
    assert_string_equal(cal.refits.at[0].name, "a2a3.tadds");
    assert_true(is_near(after(&cal, "a2a3.tadds.f32"), 1.5));
    assert_true(is_near(after(&cal, "a2a3.tadds.f16"), 3));
    assert_true(is_near(after(&cal, "a2a3.tadds.bias"), 40));
    assert_true(cal.before.mean > 20);
    assert_true(cal.after.mean < 0.1);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(one_wild_point_does_not_bend_the_law)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};

    add_slow_chip(&m);
    for (int32_t rows = 12; rows <= 96; rows *= 2)
        calibrate_add(&m, tile(PTO_TADDS, PTO_F32, rows, 64), 1.5 * rows + 40);
    calibrate_add(&m, tile(PTO_TADDS, PTO_F32, 64, 64), 5000);
    pto_calibrate(c, &m, &cal);
    assert_true(fabs(after(&cal, "a2a3.tadds.f32") - 1.5) < 0.03);
    assert_true(fabs(after(&cal, "a2a3.tadds.bias") - 40) < 1);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(slopes_are_never_negative)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};

    for (int32_t rows = 8; rows <= 128; rows *= 2)
        calibrate_add(&m, tile(PTO_TADDS, PTO_F32, rows, 64), 300 - rows);
    pto_calibrate(c, &m, &cal);
    assert_true(after(&cal, "a2a3.tadds.f32") == 0);
    assert_true(after(&cal, "a2a3.tadds.bias") > 100);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(a_single_point_is_met_with_the_least_change)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};

    calibrate_add(&m, tile(PTO_TADDS, PTO_F32, 64, 64), 100); /* the law says 89 */
    pto_calibrate(c, &m, &cal);
    assert_true(cal.after.worst < 0.1);
    assert_true(after(&cal, "a2a3.tadds.f32") >= 1 && after(&cal, "a2a3.tadds.f32") < 1.2);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(paths_get_rate_and_latency)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};
    struct pto_work w = {.op = PTO_TLOAD, .src_space = PTO_GM, .dst_space = PTO_MAT};

    for (w.bytes = 1 << 10; w.bytes <= 1 << 18; w.bytes *= 4)
        calibrate_add(&m, w, 300 + (double)w.bytes / 50);
    pto_calibrate(c, &m, &cal);
    assert_true(is_near(after(&cal, "a2a3.gm.mat.rate"), 50));
    assert_true(is_near(after(&cal, "a2a3.gm.mat.latency"), 300));
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(functions_of_a5_and_products)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};

    for (int32_t n = 1; n <= 64; n *= 2) { /* the closed form of tmax is 54 + n - 1 */
        struct pto_work w = tile(PTO_TMAX, PTO_F32, 1, 64 * n);
        w.arch = PTO_A5;
        calibrate_add(&m, w, 2.0 * (n - 1) + 60);
    }
    calibrate_add(&m, (struct pto_work){.op = PTO_TMATMUL, .m = 16, .k = 16, .n = 16}, 7);
    pto_calibrate(c, &m, &cal);
    assert_true(is_near(after(&cal, "a5.tmax.f32"), 2));
    assert_true(is_near(after(&cal, "a5.tmax.bias"), 6));
    assert_int_equal(cal.unused, 1);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(the_written_file_gives_the_measured_cycles)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};
    struct text file = {0};
    struct diag d;

    diag_init(&d);
    add_slow_chip(&m);
    pto_calibrate(c, &m, &cal);
    assert_true(pto_calibration_write(&cal, text_sink(&file)));
    assert_int_equal(pto_costs_read(c, (struct str){file.at, file.n}, "fit.csv", &d), ST_OK);
    for (size_t i = 0; i < m.rows.n; i++)
        assert_int_equal(pto_cost_cycles(pto_cost_of(c, &m.rows.at[i].work)),
                         (int64_t)m.rows.at[i].cycles);
    text_free(&file);
    diag_fini(&d);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST(json_lists_every_law)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_measures m = {0};
    struct pto_calibration cal = {0};
    struct text text = {0};
    struct json_writer w;

    add_slow_chip(&m);
    pto_calibrate(c, &m, &cal);
    json_write_init(&w, text_sink(&text), JSON_COMPACT);
    record_json(&w, pto_calibration_schema.record, &cal, NULL);
    assert_true(json_write_finish(&w));
    struct str all = {text.at, text.n};
    assert_true(str_contains(all, S("\"name\":\"a2a3.tadds\",\"points\":5")));
    assert_true(str_contains(all, S("\"key\":\"a2a3.tadds.bias\",\"before\":25")));
    text_free(&text);
    pto_calibration_free(&cal);
    pto_measures_free(&m);
    pto_costs_free(c);
}

TEST_MAIN("kernels/pto/cost/calibrate", T(constants_that_made_the_points_are_found_again),
          T(one_wild_point_does_not_bend_the_law), T(slopes_are_never_negative),
          T(a_single_point_is_met_with_the_least_change), T(paths_get_rate_and_latency),
          T(functions_of_a5_and_products), T(the_written_file_gives_the_measured_cycles),
          T(json_lists_every_law))
