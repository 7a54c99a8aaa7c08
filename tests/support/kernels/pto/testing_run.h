/*
 * testing_run - a kernel from a string, run on the simulator, for tests of what is made of a run.
 */
#ifndef STRATA_PTO_TESTING_RUN_H
#define STRATA_PTO_TESTING_RUN_H

#include "kernels/pto/judge/outcome.h"
#include "kernels/pto/testing_pto.h"

struct testing_run {
    struct arena arena;
    struct pto_module module;
    struct pto_sim sim;
    struct pto_costs *costs;
    struct pto_options options;
    struct pto_chip chip;
    struct pto_outcome outcome;
    struct diag diag;
};

/* 8 rounds of load, add, store on one buffer of 16 x 64 f32; `more` goes into the loop. */
static inline const char *testing_loop(struct arena *arena, const char *more)
{
    return arena_format(
               arena,
               "%%c8 = arith.constant 8 : index\n%%c16 = arith.constant 16 : index\n"
               "%%c64 = arith.constant 64 : index\n%%f = arith.constant 1.0 : f32\n"
               "%%c32 = arith.constant 32 : index\n"
               "%%v = pto.make_tensor_view %%a, shape = [%%c32, %%c64], strides = [%%c64, %%c1] : "
               "!pto.tensor_view<?x?xf32>\n"
               "%%p = pto.partition_view %%v, offsets = [%%c0, %%c0], sizes = [%%c16, %%c64] : "
               "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>\n"
               "%%q = pto.partition_view %%v, offsets = [%%c16, %%c0], sizes = [%%c16, %%c64] : "
               "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>\n"
               "%%t = pto.alloc_tile addr = %%z : !pto.tile_buf<vec, 16x64xf32>\n"
               "scf.for %%i = %%c0 to %%c8 step %%c1 {\n"
               "pto.tload ins(%%p : !pto.partition_tensor_view<16x64xf32>) outs(%%t : "
               "!pto.tile_buf<vec, 16x64xf32>)\n"
               "pto.tadds ins(%%t, %%f : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%%t : "
               "!pto.tile_buf<vec, 16x64xf32>)\n"
               "pto.tstore ins(%%t : !pto.tile_buf<vec, 16x64xf32>) outs(%%q : "
               "!pto.partition_tensor_view<16x64xf32>)\n"
               "%s\n}",
               more)
        .at;
}

static inline void testing_run_open(struct testing_run *r, bool is_dep)
{
    arena_init(&r->arena);
    diag_init(&r->diag);
    pto_sim_init(&r->sim);
    pto_outcome_init(&r->outcome);
    r->costs = pto_costs_new();
    r->options = pto_options_default(PTO_A2A3);
    r->options.is_dep = is_dep;
    assert_int_equal(pto_chip_find(S(""), PTO_A2A3, &r->chip, &r->diag), ST_OK);
}

static inline void testing_run_text(struct testing_run *r, struct str text)
{
    assert_int_equal(testing_read(&r->module, text), ST_OK);
    assert_int_equal(
        pto_sim_prepare(&r->sim, &r->module, S(""), PTO_A2A3, r->options.is_dep, "t.pto", &r->diag),
        ST_OK);
    assert_int_equal(pto_sim_run(&r->sim, r->costs, &r->options, NULL, 0, "t.pto", &r->diag),
                     ST_OK);
    pto_outcome_fill(&r->outcome, &r->sim, &r->chip);
}

static inline void testing_run_body(struct testing_run *r, const char *body)
{
    testing_run_text(r, testing_kernel(&r->arena, "a2a3", body));
}

static inline void testing_run_close(struct testing_run *r)
{
    pto_outcome_free(&r->outcome);
    pto_sim_free(&r->sim);
    pto_module_fini(&r->module);
    pto_costs_free(r->costs);
    diag_fini(&r->diag);
    arena_free(&r->arena);
}

#endif
