#include "kernels/pto/cost/cost_data.h"

#include <stdio.h>

#include "base/testing.h"
#include "kernels/pto/testing_cost.h"

TEST(exact_rows_of_the_table_are_used)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_work sum = tile(PTO_TROWSUM, PTO_F32, 64, 64);  /* 0.1094*4096 + 44 = 492.1 */
    struct pto_work exp = tile(PTO_TEXP, PTO_F32, 32, 64);     /* 0.0314*2048 + 30.1 = 94.4 */
    struct pto_work broken = tile(PTO_TMULS, PTO_F32, 8, 128); /* 0.0169*1024 + 17.5 = 34.8 */

    assert_int_equal(pto_cost_cycles(pto_cost_of(c, &sum)), 492);
    assert_int_equal(pto_cost_cycles(pto_cost_of(c, &exp)), 94);
    assert_int_equal(pto_cost_cycles(pto_cost_of(c, &broken)), 35);
    c->use_table = false;
    assert_int_equal(pto_cost_cycles(pto_cost_of(c, &broken)), 16 + 26);
    pto_costs_free(c);
}

TEST(what_the_table_does_not_hold_is_left_to_the_law)
{
    struct pto_costs *c = pto_costs_new();
    struct pto_fit fit;
    struct pto_work columns = tile(PTO_TSUB, PTO_F32, 64, 100),
                    type = tile(PTO_TSUB, PTO_I32, 64, 64);
    struct pto_work narrowed = tile(PTO_TSUB, PTO_F32, 64, 64),
                    op = tile(PTO_TADD, PTO_F32, 64, 64);

    narrowed.cols = 128;
    assert_false(pto_table_find(c, &columns, &fit));
    assert_false(pto_table_find(c, &type, &fit));
    assert_false(pto_table_find(c, &narrowed, &fit));
    assert_false(pto_table_find(c, &op, &fit));
    pto_costs_free(c);
}

TEST(a_table_with_a_wrong_row_is_refused)
{
    static const char *const rows[] = {"tnothing,f32,64,1,1", "tadd,f64,64,1,1", "tadd,f32,x,1,1",
                                       "tadd,f32,64,,1", "tadd,f32,64,1,y"};
    char text[128];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pto_costs *c = pto_costs_new();
        (void)snprintf(text, sizeof(text), "op,dtype,cols,cycles_per_element,fixed_cycles\n%s\n",
                       rows[i]);
        assert_false(pto_table_load(c, str_of(text)));
        pto_costs_free(c);
    }
}

TEST_MAIN("kernels/pto/cost/cost_table", T(exact_rows_of_the_table_are_used),
          T(what_the_table_does_not_hold_is_left_to_the_law),
          T(a_table_with_a_wrong_row_is_refused))
