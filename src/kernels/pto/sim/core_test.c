/* Cores that run together: FIFOs, flags between cores, meetings of all. */
#include "kernels/pto/sim/core.h"

#include "kernels/pto/testing_sim.h"

#define MAT   "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
#define LEFT  "!pto.tile_buf<left, 16x16xf32, slayout=row_major>"
#define RIGHT "!pto.tile_buf<right, 16x16xf32, slayout=col_major>"
#define ACC   "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
#define HALF  "!pto.tile_buf<vec, 8x16xf32>"
#define SIDE  "!pto.tile_buf<vec, 16x8xf32>"
#define FULL  "!pto.tile_buf<vec, 16x16xf32>"
#define ARGS                                                                                       \
    "%x: !pto.ptr<f32>, %eye: !pto.ptr<f32>, %out: !pto.ptr<f32>, %slots: !pto.ptr<f32>, %n: i32"
#define CONSTANTS                                                                                  \
    "%z = arith.constant 0 : i64\n%z1 = arith.constant 65536 : i64\n"                              \
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"                             \
    "%c8 = arith.constant 8 : index\n%c16 = arith.constant 16 : index\n"                           \
    "%f = arith.constant 1.0 : f32\n%m = arith.index_cast %n : i32 to index\n"
#define WINDOW(name, from, row, col, rows, cols)                                                   \
    "%" name "g = pto.make_tensor_view %" from ", shape = [%c16, %c16], strides = [%c16, %c1] : "  \
    "!pto.tensor_view<?x?xf32>\n%" name " = pto.partition_view %" name "g, offsets = [%" row       \
    ", %" col "], sizes = [%c" rows ", %c" cols "] : !pto.tensor_view<?x?xf32> -> "                \
    "!pto.partition_tensor_view<" rows "x" cols "xf32>\n"

/* The cube multiplies what it gets by `eye` and sends it back. */
#define CUBE(mask, options, split)                                                                 \
    "func.func @k_aic(" ARGS                                                                       \
    ") attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {\n" CONSTANTS                        \
    "%in = pto.reserve_buffer {name = \"v2c\", size = 8192, location = #pto.address_space<mat>, "  \
    "auto = false, base = 16384} -> i32\n"                                                         \
    "%to = pto.import_reserved_buffer {name = \"c2v\", peer_func = @k_aiv} -> i32\n"               \
    "pto.aic_initialize_pipe {dir_mask = " mask ", slot_size = 1024" options                       \
    "} (gm_slot_buffer = "                                                                         \
    "%slots : !pto.ptr<f32>, c2v_consumer_buf = %to : i32, v2c_consumer_buf = %in : "              \
    "i32)\n" WINDOW(                                                                               \
        "e", "eye", "c0", "c0", "16",                                                              \
        "16") "%em = pto.alloc_tile addr = %z : " MAT "\n%l = pto.alloc_tile addr = %z : " LEFT    \
              "\n"                                                                                 \
              "%r = pto.alloc_tile addr = %z : " RIGHT "\n%acc = pto.alloc_tile addr = %z : " ACC  \
              "\n"                                                                                 \
              "pto.tload ins(%e : !pto.partition_tensor_view<16x16xf32>) outs(%em : " MAT ")\n"    \
              "pto.tmov ins(%em : " MAT ") outs(%r : " RIGHT ")\n"                                 \
              "scf.for %i = %c0 to %m step %c1 {\n"                                                \
              "%t = pto.tpop_from_aiv {split = " split "} -> " MAT "\n"                            \
              "pto.tmov ins(%t : " MAT ") outs(%l : " LEFT ")\n"                                   \
              "pto.tfree_from_aiv {split = " split "}\n"                                           \
              "pto.tmatmul ins(%l, %r : " LEFT ", " RIGHT ") outs(%acc : " ACC ")\n"               \
              "pto.tpush_to_aiv(%acc : " ACC ") {split = " split "}\n}\nreturn\n}\n"

/* The vector cores send their part plus 1, and write what comes back plus 1. */
#define VECTOR(mask, options, split, tile, rows, cols, row, col)                                   \
    "func.func @k_aiv(" ARGS                                                                       \
    ") attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n" CONSTANTS                      \
    "%in = pto.reserve_buffer {name = \"c2v\", size = 8192, location = #pto.address_space<vec>, "  \
    "auto = false, base = 32768} -> i32\n"                                                         \
    "%to = pto.import_reserved_buffer {name = \"v2c\", peer_func = @k_aic} -> i32\n"               \
    "pto.aiv_initialize_pipe {dir_mask = " mask ", slot_size = 1024" options                       \
    "} (gm_slot_buffer = "                                                                         \
    "%slots : !pto.ptr<f32>, c2v_consumer_buf = %in : i32, v2c_consumer_buf = %to : i32)\n"        \
    "%core = pto.get_subblock_idx -> i64\n%coreindex = arith.index_cast %core : i64 to index\n"    \
    "%second = arith.muli %coreindex, %c8 : index\n" WINDOW("p", "x", row, col, rows, cols)        \
        WINDOW("q", "out", row, col, rows,                                                         \
               cols) "%a = pto.alloc_tile addr = %z : " tile                                       \
                     "\n%b = pto.alloc_tile addr = %z1 : " tile "\n"                               \
                     "scf.for %i = %c0 to %m step %c1 {\n"                                         \
                     "pto.tload ins(%p : !pto.partition_tensor_view<" rows "x" cols                \
                     "xf32>) outs(%a : " tile ")\n"                                                \
                     "pto.tadds ins(%a, %f : " tile ", f32) outs(%a : " tile ")\n"                 \
                     "pto.tpush_to_aic(%a : " tile ") {split = " split "}\n"                       \
                     "%t = pto.tpop_from_aic {split = " split "} -> " tile "\n"                    \
                     "pto.tadds ins(%t, %f : " tile ", f32) outs(%b : " tile ")\n"                 \
                     "pto.tfree_from_aic {split = " split "}\n"                                    \
                     "pto.tstore ins(%b : " tile ") outs(%q : !pto.partition_tensor_view<" rows    \
                     "x" cols "xf32>)\n}\nreturn\n}\n"

#define MODULE(arch, ...) "module attributes {pto.target_arch = \"" arch "\"} {\n" __VA_ARGS__ "}\n"

static void run_there_and_back(struct str text)
{
    struct testing_sim t;
    float x[256], eye[256] = {0}, out[256], slots[8192];

    for (size_t i = 0; i < 16; i++)
        eye[i * 16 + i] = 1;
    for (size_t i = 0; i < 256; i++)
        x[i] = (float)i;
    testing_sim_open(&t, text);
    t.options.has_memory = true;
    for (int is_dep = 0; is_dep < 2; is_dep++) {
        for (size_t i = 0; i < 256; i++)
            out[i] = -1;
        testing_sim_give_buffer(&t, 0, x, sizeof(x));
        testing_sim_give_buffer(&t, 1, eye, sizeof(eye));
        testing_sim_give_buffer(&t, 2, out, sizeof(out));
        testing_sim_give_buffer(&t, 3, slots, sizeof(slots));
        testing_sim_give(&t, 4, 10);
        testing_sim_run(&t, is_dep == 1);
        assert_int_equal(t.status, ST_OK);
        assert_true(t.sim.is_complete);
        for (size_t i = 0; i < 256; i++)
            assert_true(out[i] == x[i] + 2);
    }
    testing_sim_close(&t);
}

TEST(data_goes_through_the_fifos_of_a2a3_in_halves_of_rows)
{
    run_there_and_back(S(
        MODULE("a2a3", CUBE("3", "", "1") VECTOR("3", "", "1", HALF, "8", "16", "second", "c0"))));
}

TEST(data_goes_through_the_fifos_in_halves_of_columns)
{
    run_there_and_back(S(
        MODULE("a2a3", CUBE("3", "", "2") VECTOR("3", "", "2", SIDE, "16", "8", "c0", "second"))));
}

TEST(data_goes_through_the_fifos_undivided)
{
    run_there_and_back(
        S(MODULE("a2a3", CUBE("3", "", "0") VECTOR("3", "", "0", FULL, "16", "16", "c0", "c0"))));
}

TEST(data_goes_through_the_fifos_of_a5)
{
    run_there_and_back(
        S(MODULE("a5", CUBE("3", "", "1") VECTOR("3", "", "1", HALF, "8", "16", "second", "c0"))));
}

TEST(a_ring_of_one_slot_is_enough)
{
    run_there_and_back(
        S(MODULE("a2a3", CUBE("3", ", slot_num = 1", "1")
                             VECTOR("3", ", slot_num = 1", "1", HALF, "8", "16", "second", "c0"))));
}

/* ---- one way: the cube produces, the vector cores consume ---- */

#define PRODUCER(options)                                                                          \
    "func.func @k_aic(" ARGS                                                                       \
    ") attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {\n" CONSTANTS                        \
    "%to = pto.import_reserved_buffer {name = \"c2v\", peer_func = @k_aiv} -> i32\n"               \
    "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024" options                              \
    "} (gm_slot_buffer = %slots "                                                                  \
    ": !pto.ptr<f32>, c2v_consumer_buf = %to : i32)\n"                                             \
    "%acc = pto.alloc_tile addr = %z : " ACC "\n"                                                  \
    "scf.for %i = %c0 to %m step %c1 {\n"                                                          \
    "pto.tpush_to_aiv(%acc : " ACC ") {split = 1}\n}\nreturn\n}\n"
#define CONSUMER(options, work)                                                                    \
    "func.func @k_aiv(" ARGS                                                                       \
    ") attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n" CONSTANTS                      \
    "%in = pto.reserve_buffer {name = \"c2v\", size = 8192, location = #pto.address_space<vec>, "  \
    "auto = true} -> i32\n"                                                                        \
    "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024" options                              \
    "} (gm_slot_buffer = %slots "                                                                  \
    ": !pto.ptr<f32>, c2v_consumer_buf = %in : i32)\n"                                             \
    "%b = pto.alloc_tile addr = %z1 : " HALF "\n"                                                  \
    "scf.for %i = %c0 to %m step %c1 {\n"                                                          \
    "%t = pto.tpop_from_aic {split = 1} -> " HALF "\n" work "}\nreturn\n}\n"
#define CONSUME                                                                                    \
    "pto.tadds ins(%t, %f : " HALF ", f32) outs(%b : " HALF ")\npto.tfree_from_aic {split = 1}\n"

static void open_one_way(struct testing_sim *t, struct str text, int64_t n)
{
    testing_sim_open(t, text);
    testing_sim_give(t, 4, n);
}

TEST(a_pop_waits_for_its_push)
{
    struct testing_sim t;

    open_one_way(&t, S(MODULE("a2a3", PRODUCER("") CONSUMER("", CONSUME))), 1);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_record *push = testing_sim_record(&t, PTO_AIC, PTO_PIPE_FIX, 0);
    for (uint32_t core = PTO_AIV0; core <= PTO_AIV1; core++) {
        const struct pto_record *pop = testing_sim_record(&t, core, PTO_PIPE_MTE2, 0);
        assert_int_equal(pop->start, push->ready + 100); /* the flag between cores */
        assert_int_equal(pop->cause, PTO_CAUSE_FIFO);
        assert_int_equal(testing_sim_record(&t, core, PTO_PIPE_V, 0)->start, pop->ready);
    }
    testing_sim_close(&t);
}

TEST(a_push_waits_for_a_free_slot)
{
    struct testing_sim t;

    open_one_way(
        &t, S(MODULE("a2a3", PRODUCER(", slot_num = 2") CONSUMER(", slot_num = 2", CONSUME))), 4);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_record *push[4];
    for (uint32_t i = 0; i < 4; i++)
        push[i] = testing_sim_record(&t, PTO_AIC, PTO_PIPE_FIX, i);
    assert_int_equal(push[1]->start, push[0]->end);
    assert_int_equal(push[2]->cause, PTO_CAUSE_FIFO);
    for (uint32_t i = 2; i < 4; i++) { /* when both vector cores gave back the one two before */
        for (uint32_t core = PTO_AIV0; core <= PTO_AIV1; core++)
            assert_true(push[i]->start >=
                        testing_sim_record(&t, core, PTO_PIPE_V, i - 2)->ready + 100);
    }
    int64_t two = t.sim.total;
    testing_sim_close(&t);
    open_one_way(&t, S(MODULE("a2a3", PRODUCER("") CONSUMER("", CONSUME))), 4);
    assert_true(testing_sim_run(&t, true) < two); /* eight slots */
    testing_sim_close(&t);
}

TEST(who_never_frees_stops_the_producer)
{
    struct testing_sim t;

    open_one_way(&t, S(MODULE("a2a3", PRODUCER("") CONSUMER("", ""))), 9);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_FORMAT);
    assert_int_equal(diag_count(&t.diag, "pto-run.deadlock"), 3);
    const char *told = testing_sim_told(&t, "pto-run.deadlock");
    assert_string_equal(told, "AIC waits at pto.tpush_to_aiv on PIPE_FIX for a token that no other "
                              "core sends; AIV0 waits at line 32; AIV1 waits at line 32");
    testing_sim_give(&t, 4, 8);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    testing_sim_close(&t);
}

TEST(a_core_that_the_limit_stopped_makes_no_deadlock)
{
    struct testing_sim t;

    open_one_way(&t, S(MODULE("a2a3", PRODUCER("") CONSUMER("", CONSUME))), 100000);
    t.options.max_steps = 50;
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_false(t.sim.is_complete);
    assert_true(diag_count(&t.diag, "pto-run.step-limit") > 0);
    assert_int_equal(diag_count(&t.diag, "pto-run.deadlock"), 0);
    assert_non_null(testing_sim_record(&t, PTO_AIC, PTO_PIPE_FIX, 3));
    testing_sim_close(&t);
}

TEST(a_fifo_must_be_set_up_and_popped_before_it_is_freed)
{
    struct testing_sim t;

    testing_sim_open(
        &t,
        S(MODULE("a2a3", PRODUCER("") CONSUMER("", CONSUME "pto.tfree_from_aic {split = 1}\n"))));
    testing_sim_give(&t, 4, 1);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_FORMAT);
    assert_non_null(testing_sim_told(&t, "pto-run.fifo"));
    testing_sim_close(&t);
}

/* ---- flags between cores ---- */

#define BOTH(cube, vector)                                                                         \
    "module attributes {pto.target_arch = \"a2a3\"} {\nfunc.func @k_aic(%n: i32) attributes "      \
    "{pto.kernel_kind = #pto.kernel_kind<cube>} {\n" LOCAL cube "return\n}\nfunc.func @k_aiv(%n: " \
    "i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n" LOCAL vector                \
    "return\n}\n}\n"
#define LOCAL                                                                                      \
    "%z = arith.constant 0 : i64\n%f = arith.constant 1.0 : f32\n"                                 \
    "%b = pto.alloc_tile addr = %z : " FULL "\n"                                                   \
    "%l = pto.alloc_tile addr = %z : " LEFT "\n%r = pto.alloc_tile addr = %z : " RIGHT "\n"        \
    "%acc = pto.alloc_tile addr = %z : " ACC "\n"
#define WORK     "pto.texpands ins(%f : f32) outs(%b : " FULL ")\n"
#define MULTIPLY "pto.tmatmul ins(%l, %r : " LEFT ", " RIGHT ") outs(%acc : " ACC ")\n"

TEST(the_cube_core_waits_for_both_vector_cores)
{
    struct testing_sim t;

    testing_sim_open(
        &t, S(BOTH("pto.sync.wait <PIPE_M>, 3\n" MULTIPLY, WORK "pto.sync.set <PIPE_V>, 3\n")));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_record *v = testing_sim_record(&t, PTO_AIV1, PTO_PIPE_V, 0);
    const struct pto_record *m = testing_sim_record(&t, PTO_AIC, PTO_PIPE_M, 0);
    assert_int_equal(m->start, v->ready + 100 + 1);
    testing_sim_close(&t);
}

TEST(a_flag_of_the_cube_core_reaches_both_vector_cores)
{
    struct testing_sim t;

    testing_sim_open(
        &t, S(BOTH(MULTIPLY "pto.sync.set <PIPE_M>, 0\n" MULTIPLY "pto.sync.set <PIPE_M>, 0\n",
                   "pto.sync.wait <PIPE_V>, 0\n" WORK "pto.sync.wait <PIPE_V>, 0\n" WORK)));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct pto_record *m = testing_sim_record(&t, PTO_AIC, PTO_PIPE_M, i);
        assert_true(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, i)->start >= m->ready + 101);
        assert_true(testing_sim_record(&t, PTO_AIV1, PTO_PIPE_V, i)->start >= m->ready + 101);
    }
    testing_sim_close(&t);
}

TEST(a_flag_that_never_comes_is_a_deadlock)
{
    struct testing_sim t;

    testing_sim_open(&t, S(BOTH("pto.sync.wait <PIPE_M>, 3\n" MULTIPLY, WORK)));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_FORMAT);
    assert_non_null(strstr(testing_sim_told(&t, "pto-run.deadlock"), "AIC waits at pto.sync.wait"));
    testing_sim_close(&t);
}

TEST(all_cores_meet)
{
    struct testing_sim t;

    testing_sim_open(
        &t, S(BOTH(MULTIPLY "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = "
                            "#pto.sync_core_type<mix>\n" MULTIPLY
                            "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = "
                            "#pto.sync_core_type<mix>\n",
                   WORK WORK WORK "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = "
                                  "#pto.sync_core_type<mix>\n" WORK
                                  "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = "
                                  "#pto.sync_core_type<mix>\n")));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_record *last = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 2);
    assert_true(testing_sim_record(&t, PTO_AIC, PTO_PIPE_M, 1)->start >= last->ready + 100);
    const struct pto_record *m = testing_sim_record(&t, PTO_AIC, PTO_PIPE_M, 0);
    assert_true(testing_sim_record(&t, PTO_AIV1, PTO_PIPE_V, 3)->start >= m->ready + 100);
    testing_sim_close(&t);
}

TEST(vector_cores_meet_without_the_cube_core)
{
    struct testing_sim t;

    testing_sim_open(&t,
                     S(BOTH(MULTIPLY, WORK "pto.syncall() mode = #pto.sync_all_mode<hard>, "
                                           "core_type = #pto.sync_core_type<aiv_only>\n" WORK)));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_true(t.sim.is_complete);
    testing_sim_close(&t);
}

TEST(a_function_with_sections_runs_on_all_cores)
{
    struct testing_sim t;

    testing_sim_open(&t,
                     S("module attributes {pto.target_arch = \"a2a3\"} {\nfunc.func @k() {\n" LOCAL
                       "pto.section.cube {\n" MULTIPLY "pto.sync.set <PIPE_M>, 1\n}\n"
                       "pto.section.vector {\npto.sync.wait <PIPE_V>, 1\n" WORK "}\n"
                       "return\n}\n}\n"));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_int_equal(t.sim.present, 7);
    assert_non_null(testing_sim_record(&t, PTO_AIC, PTO_PIPE_M, 0));
    assert_null(testing_sim_record(&t, PTO_AIC, PTO_PIPE_V, 0));
    assert_non_null(testing_sim_record(&t, PTO_AIV1, PTO_PIPE_V, 0));
    testing_sim_close(&t);
}

TEST_MAIN("kernels/pto/sim/core", T(data_goes_through_the_fifos_of_a2a3_in_halves_of_rows),
          T(data_goes_through_the_fifos_in_halves_of_columns),
          T(data_goes_through_the_fifos_undivided), T(data_goes_through_the_fifos_of_a5),
          T(a_ring_of_one_slot_is_enough), T(a_pop_waits_for_its_push),
          T(a_push_waits_for_a_free_slot), T(who_never_frees_stops_the_producer),
          T(a_core_that_the_limit_stopped_makes_no_deadlock),
          T(a_fifo_must_be_set_up_and_popped_before_it_is_freed),
          T(the_cube_core_waits_for_both_vector_cores),
          T(a_flag_of_the_cube_core_reaches_both_vector_cores),
          T(a_flag_that_never_comes_is_a_deadlock), T(all_cores_meet),
          T(vector_cores_meet_without_the_cube_core), T(a_function_with_sections_runs_on_all_cores))
