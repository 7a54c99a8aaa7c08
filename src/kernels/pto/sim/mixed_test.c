/* Kernels of several functions, in all the forms that compilers write them. */
#include "base/testing.h"
#include "kernels/pto/testing_sim.h"

#define ACC   "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
#define LEFT  "!pto.tile_buf<left, 16x16xf16, slayout=row_major>"
#define RIGHT "!pto.tile_buf<right, 16x16xf16, slayout=col_major>"
#define VEC   "!pto.tile_buf<vec, 16x16xf32>"
#define ARGS  "%a: !pto.ptr<f32>"
#define TYPES "!pto.ptr<f32>"

#define CUBE_BODY(push)                                                                            \
    "%z = arith.constant 0 : i64\n%l = pto.alloc_tile addr = %z : " LEFT "\n"                      \
    "%r = pto.alloc_tile addr = %z : " RIGHT "\n%c = pto.alloc_tile addr = %z : " ACC "\n"         \
    "pto.tmatmul ins(%l, %r : " LEFT ", " RIGHT ") outs(%c : " ACC ")\n" push "return\n"

#define INIT "_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %ring : i32)\n"
#define RING                                                                                       \
    "%ring = pto.reserve_buffer {name = \"f\", size = 8192, location = "                           \
    "#pto.address_space<vec>, auto = false, base = 0} -> i32\n"
#define PEER "%ring = pto.import_reserved_buffer {name = \"f\", peer_func = @vector} -> i32\n"

#define PLAIN_CUBE PEER "pto.aic" INIT CUBE_BODY("pto.tpush_to_aiv(%c : " ACC ") {split = 0}\n")
#define PLAIN_VECTOR                                                                               \
    RING "pto.aiv" INIT "%t = pto.tpop_from_aic {split = 0} -> " VEC "\n"                          \
         "pto.tfree_from_aic {split = 0}\nreturn\n"

#define LOWERED                                                                                    \
    "%p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024} (%a : " TYPES                 \
    ", %ring : i32) -> !pto.pipe\n"
#define LOWERED_CUBE PEER LOWERED CUBE_BODY("pto.tpush(%c, %p : " ACC ", !pto.pipe) {split = 0}\n")
#define LOWERED_VECTOR                                                                             \
    RING LOWERED "%t = pto.declare_tile -> " VEC "\n"                                              \
                 "pto.tpop(%t, %p : " VEC ", !pto.pipe) {split = 0}\n"                             \
                 "pto.tfree(%p : !pto.pipe) {split = 0}\nreturn\n"

#define PART(name, kind, body)                                                                     \
    "func.func private @" name "(" ARGS ") attributes {pto.kernel_kind = #pto.kernel_kind<" kind   \
    ">} {\n" body "}\n"
#define ENTRY(name, calls)                                                                         \
    "func.func @" name "(" ARGS ") attributes {pto.entry} {\n" calls "return\n}\n"
#define CALL(name)   "func.call @" name "(%a) : (" TYPES ") -> ()\n"
#define MODULE(body) "module attributes {pto.target_arch = \"a2a3\"} {\n" body "}\n"

#define MIXED(cube, vector)                                                                        \
    MODULE(PART("cube", "cube", cube) PART("vector", "vector", vector)                             \
               ENTRY("k", CALL("cube") CALL("vector")))

static int64_t mixed_run(const char *text, uint32_t present)
{
    struct testing_sim t;

    testing_sim_open(&t, str_of(text));
    int64_t total = testing_sim_run(&t, true);
    for (size_t i = 0; i < t.diag.entries.n; i++)
        print_message("%s: %s\n", t.diag.entries.at[i].code, t.diag.entries.at[i].first[0].text);
    assert_int_equal(t.status, ST_OK);
    assert_int_equal(t.sim.present, present);
    testing_sim_close(&t);
    return total;
}

TEST(an_entry_and_its_private_functions_are_one_kernel)
{
    struct testing_sim t;

    testing_sim_open(&t, S(MIXED(PLAIN_CUBE, PLAIN_VECTOR)));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_int_equal(t.sim.present, 7);
    assert_int_equal(t.sim.cores[PTO_AIC].queues.pipe[PTO_PIPE_M].count, 1);
    assert_int_equal(t.sim.cores[PTO_AIC].queues.pipe[PTO_PIPE_FIX].count, 1);
    assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_MTE2].count, 1);
    assert_int_equal(t.sim.cores[PTO_AIV1].queues.pipe[PTO_PIPE_MTE2].count, 1);
    assert_true(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, 0)->start >=
                testing_sim_record(&t, PTO_AIC, PTO_PIPE_FIX, 0)->ready);
    testing_sim_close(&t);
}

TEST(lowered_fifos_take_as_long_as_plain_ones)
{
    assert_int_equal(mixed_run(MIXED(LOWERED_CUBE, LOWERED_VECTOR), 7),
                     mixed_run(MIXED(PLAIN_CUBE, PLAIN_VECTOR), 7));
}

TEST(entries_are_chosen_by_name)
{
    struct testing_sim t;
    const struct pto_function *found[4];

    testing_sim_open(&t, S(MODULE(PART("cube", "cube", CUBE_BODY("")) ENTRY("one", CALL("cube"))
                                      ENTRY("two", ""))));
    assert_int_equal(pto_sim_kernels(&t.module, found, 4), 2);
    t.status = pto_sim_prepare(&t.sim, &t.module, S(""), PTO_A2A3, true, "k.pto", &t.diag);
    assert_int_equal(t.status, ST_NOT_FOUND);
    t.status = pto_sim_prepare(&t.sim, &t.module, S("one"), PTO_A2A3, true, "k.pto", &t.diag);
    assert_int_equal(t.status, ST_OK);
    assert_int_equal(t.sim.present, 1);
    testing_sim_close(&t);
}

TEST(an_operation_on_the_wrong_core_is_an_error)
{
    struct testing_sim t;

    testing_sim_open(&t,
                     S(MODULE(PART("vector", "vector", CUBE_BODY("")) ENTRY("k", CALL("vector")))));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_UNSUPPORTED);
    assert_string_equal(testing_sim_told(&t, "pto-run.wrong-core"),
                        "pto.tmatmul: runs on PIPE_M, which a vector core does not have");
    testing_sim_close(&t);
}

TEST(modules_in_modules_and_places_are_read)
{
    static const char text[] =
        "#loc0 = loc(\"k.py\":1:2)\n"
        "module {\n"
        "module @inner attributes {pto.target_arch = \"a5\"} {\n"
        "func.func @k(%a: !pto.ptr<f32> loc(\"k.py\":3:4)) {\n"
        "%n = arith.constant 64 : i64 loc(#loc0)\n"
        "%s = arith.constant 1.0 : f32\n"
        "%q = pto.inttoptr %n : i64 -> !pto.ptr<f32> loc(callsite(\"a\" at \"b\"))\n"
        "%m = pto.ptrtoint %q : !pto.ptr<f32> -> i64\n"
        "return loc(unknown)\n} loc(#loc0)\n} loc(#loc0)\n} loc(#loc0)\n#loc1 = loc(unknown)\n";
    struct testing_sim t;

    testing_sim_open(&t, S(text));
    assert_int_equal(t.module.arch, PTO_A5);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    testing_sim_close(&t);
}

TEST(the_scale_of_a_store_is_read)
{
    (void)mixed_run(
        MODULE(PART("c", "cube",
                    "%s = arith.constant 2.0 : f32\npto.set_quant_scalar ins(%s : f32)\n"
                    "return\n") ENTRY("k", CALL("c"))),
        1);
}

/* ---- entries that are views of slots in global memory ---- */

#define VIEW(rows) "!pto.tensor_view<" rows "x16xf32>"
#define CUT(rows)  "!pto.partition_tensor_view<" rows "x16xf32>"
#define PART_OF(rows)                                                                              \
    "%p = pto.partition_view %e, offsets = [%c0, %c0], sizes = [%c" rows                           \
    ", %c16] : " VIEW(rows) " -> " CUT(rows) "\n"
#define ROUNDS(body)                                                                               \
    "%z = arith.constant 0 : i64\n%c0 = arith.constant 0 : index\n"                                \
    "%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n"                             \
    "%c8 = arith.constant 8 : index\n%c16 = arith.constant 16 : index\n"                           \
    "scf.for %i = %c0 to %c4 step %c1 {\n" body "}\nreturn\n"
#define TWO_SLOTS(core, mask, key)                                                                 \
    "pto." core "_initialize_pipe {dir_mask = " mask                                               \
    ", slot_size = 1024, slot_num = 2} (gm_slot_buffer = %a : " TYPES ", " key                     \
    "_consumer_buf = %ring : i32)\n"

#define VIEW_CUBE(alloc)                                                                           \
    PEER TWO_SLOTS("aic", "1", "c2v")                                                              \
        ROUNDS("%c = pto.alloc_tile addr = %z : " ACC                                              \
               "\n" alloc PART_OF("16") "pto.tstore ins(%c : " ACC ") outs(%p : " CUT(             \
                   "16") ")\npto.tpush_to_aiv(%e : " VIEW("16") ") {split = 0}\n")
#define VIEW_VECTOR(free)                                                                          \
    RING TWO_SLOTS("aiv", "1", "c2v")                                                              \
        ROUNDS("%t = pto.alloc_tile addr = %z : " VEC                                              \
               "\n%e = pto.tpop_from_aic {split = 0} -> " VIEW("16") "\n" PART_OF(                 \
                   "16") "pto.tload ins(%p : " CUT("16") ") outs(%t : " VEC ")\n" free)
#define ALLOC "%e = pto.talloc_to_aiv {split = 0} -> " VIEW("16") "\n"
#define FREE  "pto.tfree_from_aic {split = 0}\n"
#define OTHER                                                                                      \
    "%e = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : " VIEW("16") "\n"

TEST(slots_are_handed_out_as_views_when_they_are_free)
{
    struct testing_sim t;

    testing_sim_open(&t, S(MIXED(VIEW_CUBE(ALLOC), VIEW_VECTOR(FREE))));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_record *third = testing_sim_record(&t, PTO_AIC, PTO_PIPE_S, 2);
    const struct pto_record *load = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, 1);
    const struct pto_record *commit = testing_sim_record(&t, PTO_AIC, PTO_PIPE_FIX, 1);
    assert_true(third->start >= load->ready); /* a ring of two: the first was given back */
    assert_true(commit->start >= testing_sim_record(&t, PTO_AIC, PTO_PIPE_FIX, 0)->ready);
    assert_true(load->start >= commit->ready);
    testing_sim_close(&t);
}

static enum status run_views(const char *text, const char *code)
{
    struct testing_sim t;

    testing_sim_open(&t, str_of(text));
    testing_sim_run(&t, true);
    enum status status = t.status;
    assert_string_not_equal(testing_sim_told(&t, code), "");
    testing_sim_close(&t);
    return status;
}

TEST(views_without_a_free_slot_are_errors)
{
    assert_int_not_equal(run_views(MIXED(VIEW_CUBE(ALLOC), VIEW_VECTOR("")), "pto-run.deadlock"),
                         ST_OK);
    assert_int_not_equal(run_views(MIXED(VIEW_CUBE(OTHER), VIEW_VECTOR(FREE)), "pto-run.fifo"),
                         ST_OK);
    assert_int_not_equal(
        run_views(MIXED(PEER "pto.aic" INIT ROUNDS(ALLOC), VIEW_VECTOR(FREE)), "pto-run.fifo"),
        ST_OK); /* no slots in global memory */
}

TEST(each_vector_core_has_its_half_of_a_slot)
{
    struct testing_sim t;

    testing_sim_open(
        &t, S(MODULE(PART("cube", "cube",
                          "%ring = pto.reserve_buffer {name = \"f\", size = 8192, location = "
                          "#pto.address_space<mat>, auto = false, base = 0} -> i32\n" TWO_SLOTS(
                              "aic", "2", "v2c")
                              ROUNDS("%e = pto.tpop_from_aiv {split = 1} -> " VIEW(
                                  "16") "\npto.tfree_from_aiv {split = 1}\n"))
                         PART("vector", "vector",
                              "%ring = pto.import_reserved_buffer {name = \"f\", peer_func = "
                              "@cube} -> i32\n" TWO_SLOTS("aiv", "2", "v2c")
                                  ROUNDS("%e = pto.talloc_to_aic {split = 1} -> " VIEW(
                                      "8") "\npto.tpush_to_aic(%e : " VIEW("8") ") {split = 1}\n"))
                             ENTRY("k", CALL("cube") CALL("vector")))));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_program *p = t.sim.cores[PTO_AIV0].program;
    uint32_t slot =
        p->sites.at[0].result; /* talloc_to_aic, in the second of two slots at the end */
    assert_int_equal(p->sites.at[0].code, PTO_TALLOC_TO_AIC);
    assert_int_equal(t.sim.cores[PTO_AIV0].slots.gms[slot].view.offset, 256);
    assert_int_equal(t.sim.cores[PTO_AIV1].slots.gms[slot].view.offset, 256 + 128);
    testing_sim_close(&t);
}

#define INTRA(cube, vector)                                                                        \
    "module attributes {pto.target_arch = \"a5\"} {\n" PART("cube", "cube", cube "return\n")       \
        PART("vector", "vector", vector "return\n") ENTRY("k", CALL("cube") CALL("vector")) "}\n"
#define GIVE(pipe, id) "pto.set_intra_block <PIPE_" pipe ">, " id "\n"
#define TAKE(pipe, id) "pto.wait_intra_block <PIPE_" pipe ">, " id "\n"

TEST(flags_of_a5_belong_to_one_vector_core)
{
    struct testing_sim t;

    testing_sim_open(&t,
                     S(INTRA(GIVE("FIX", "2") GIVE("FIX", "18") TAKE("FIX", "3") TAKE("FIX", "19"),
                             TAKE("V", "2") GIVE("V", "3"))));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    testing_sim_close(&t);
    testing_sim_open(&t, S(INTRA(GIVE("FIX", "2"), TAKE("V", "2")))); /* AIV1 gets none */
    testing_sim_run(&t, true);
    assert_int_not_equal(t.status, ST_OK);
    assert_non_null(strstr(testing_sim_told(&t, "pto-run.deadlock"), "AIV1 waits"));
    testing_sim_close(&t);
}

TEST_MAIN("kernels/pto/sim/mixed", T(an_entry_and_its_private_functions_are_one_kernel),
          T(lowered_fifos_take_as_long_as_plain_ones), T(entries_are_chosen_by_name),
          T(an_operation_on_the_wrong_core_is_an_error), T(modules_in_modules_and_places_are_read),
          T(the_scale_of_a_store_is_read), T(slots_are_handed_out_as_views_when_they_are_free),
          T(views_without_a_free_slot_are_errors), T(each_vector_core_has_its_half_of_a_slot),
          T(flags_of_a5_belong_to_one_vector_core))
