#include "kernels/pto/sim/sim.h"

#include "kernels/pto/testing_sim.h"

#define VEC  "!pto.tile_buf<vec, 16x64xf32>"
#define PART "!pto.partition_tensor_view<16x64xf32>"

/* %v is a window of %a, 16x64 f32; %t<i> a tile of that size at 4096 * i; %f is 1.0. */
static struct str sim_kernel(struct arena *arena, const char *arch, const char *body)
{
    struct str head = arena_format(
        arena,
        "%%f = arith.constant 1.0 : f32\n"
        "%%c8 = arith.constant 8 : index\n"
        "%%c16 = arith.constant 16 : index\n"
        "%%c64 = arith.constant 64 : index\n"
        "%%k = arith.constant 1024 : index\n"
        "%%z1 = arith.constant 4096 : i64\n"
        "%%z2 = arith.constant 8192 : i64\n"
        "%%g = pto.make_tensor_view %%a, shape = [%%c16, %%c64], strides = [%%c64, %%c1] : "
        "!pto.tensor_view<?x?xf32>\n"
        "%%v = pto.partition_view %%g, offsets = [%%c0, %%c0], sizes = [%%c16, %%c64] : "
        "!pto.tensor_view<?x?xf32> -> " PART "\n"
        "%%t0 = pto.alloc_tile addr = %%z : " VEC "\n"
        "%%t1 = pto.alloc_tile addr = %%z1 : " VEC "\n"
        "%%t2 = pto.alloc_tile addr = %%z2 : " VEC "\n"
        "%s",
        body);

    return testing_kernel(arena, arch, head.at);
}

#define LOAD(t)    "pto.tload ins(%v : " PART ") outs(%" t " : " VEC ")\n"
#define STORE(t)   "pto.tstore ins(%" t " : " VEC ") outs(%v : " PART ")\n"
#define ADDS(t, u) "pto.tadds ins(%" t ", %f : " VEC ", f32) outs(%" u " : " VEC ")\n"

static void open_kernel(struct testing_sim *t, const char *arch, const char *body)
{
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(t, sim_kernel(&arena, arch, body));
    arena_free(&arena);
}

/* ---- the worked examples ---- */

TEST(load_add_store_takes_the_sum_of_its_parts)
{
    struct testing_sim t;

    /* 197 + 33.3, 25 + 16, 124 + 53.2 */
    open_kernel(&t, "a2a3", LOAD("t0") ADDS("t0", "t0") STORE("t0"));
    assert_int_equal(testing_sim_run(&t, true), 448);
    assert_int_equal(t.status, ST_OK);
    assert_true(t.sim.is_complete);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0)->cause, PTO_CAUSE_RAW);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0)->from, PTO_PIPE_MTE2);
    testing_sim_close(&t);
}

/* The buffer in global memory is another one than is stored to: only the tile is reused. */
#define TWO_BUFFERS                                                                                \
    "%h = pto.make_tensor_view %o, shape = [%c16, %c64], strides = [%c64, %c1] : "                 \
    "!pto.tensor_view<?x?xf32>\n"                                                                  \
    "%w = pto.partition_view %h, offsets = [%c0, %c0], sizes = [%c16, %c64] : "                    \
    "!pto.tensor_view<?x?xf32> -> " PART "\n"
#define STORE_OUT(t) "pto.tstore ins(%" t " : " VEC ") outs(%w : " PART ")\n"

static void open_looped(struct testing_sim *t, const char *body)
{
    struct arena arena;
    struct str text;

    arena_init(&arena);
    text = arena_format(
        &arena,
        "module {\nfunc.func @k(%%a: !pto.ptr<f32>, %%o: !pto.ptr<f32>) attributes "
        "{pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        "%%c0 = arith.constant 0 : index\n%%c1 = arith.constant 1 : index\n"
        "%%c4 = arith.constant 4 : index\n%%c8 = arith.constant 8 : index\n"
        "%%c16 = arith.constant 16 : index\n%%c64 = arith.constant 64 : index\n"
        "%%z = arith.constant 0 : i64\n%%z1 = arith.constant 4096 : i64\n"
        "%%f = arith.constant 1.0 : f32\n"
        "%%g = pto.make_tensor_view %%a, shape = [%%c16, %%c64], strides = [%%c64, %%c1] : "
        "!pto.tensor_view<?x?xf32>\n"
        "%%v = pto.partition_view %%g, offsets = [%%c0, %%c0], sizes = [%%c16, %%c64] : "
        "!pto.tensor_view<?x?xf32> -> " PART "\n%s"
        "%%t0 = pto.alloc_tile addr = %%z : " VEC "\n%%t1 = pto.alloc_tile addr = %%z1 : " VEC "\n"
        "%s\nreturn\n}\n}\n",
        TWO_BUFFERS, body);
    testing_sim_open(t, text);
    arena_free(&arena);
}

TEST(a_loop_on_one_buffer_is_serial)
{
    struct testing_sim t;

    open_looped(&t, "scf.for %i = %c0 to %c8 step %c1 {\n" LOAD("t0") ADDS("t0", "t0")
                        STORE_OUT("t0") "}");
    assert_int_equal(testing_sim_run(&t, true), 8 * 448);
    testing_sim_close(&t);
}

TEST(a_loop_on_two_buffers_has_two_chains_in_flight)
{
    struct testing_sim t;

    open_looped(&t, "scf.for %i = %c0 to %c4 step %c1 {\n" LOAD("t0") ADDS("t0", "t0")
                        STORE_OUT("t0") LOAD("t1") ADDS("t1", "t1") STORE_OUT("t1") "}");
    assert_int_equal(testing_sim_run(&t, true), 1845);
    testing_sim_close(&t);
}

#define ROW "!pto.tile_buf<vec, 1x5120xbf16>"

TEST(rows_below_the_argument_are_seeded)
{
    struct testing_sim t;

    testing_sim_open(
        &t, S("module attributes {pto.target_arch = \"a2a3\"} {\n"
              "func.func @seed(%a: !pto.ptr<bf16>, %n: i32) attributes {pto.kernel_kind = "
              "#pto.kernel_kind<vector>} {\n"
              "%z = arith.constant 0 : i64\n%c0 = arith.constant 0 : index\n"
              "%c1 = arith.constant 1 : index\n%c16 = arith.constant 16 : index\n"
              "%c5120 = arith.constant 5120 : index\n%f = arith.constant 0.0 : bf16\n"
              "%g = pto.make_tensor_view %a, shape = [%c16, %c5120], strides = [%c5120, %c1] : "
              "!pto.tensor_view<?x?xbf16>\n"
              "scf.for %b = %c0 to %c16 step %c1 {\n"
              "%m = arith.index_cast %n : i32 to index\n"
              "%less = arith.cmpi sle, %m, %b : index\n"
              "scf.if %less {\n"
              "%t = pto.alloc_tile addr = %z : " ROW "\n"
              "pto.texpands ins(%f : bf16) outs(%t : " ROW ")\n"
              "%v = pto.partition_view %g, offsets = [%b, %c0], sizes = [%c1, %c5120] : "
              "!pto.tensor_view<?x?xbf16> -> !pto.partition_tensor_view<1x5120xbf16>\n"
              "pto.tstore ins(%t : " ROW ") outs(%v : !pto.partition_tensor_view<1x5120xbf16>)\n"
              "} else {\n}\n}\nreturn\n}\n}\n"));
    for (int is_dep = 0; is_dep < 2; is_dep++) {
        testing_sim_give(&t, 1, 13);
        testing_sim_run(&t, is_dep == 1);
        assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_V].count, 3);
        assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_MTE3].count, 3);
        for (uint32_t i = 0; i < 3; i++) { /* each waits for the one before */
            const struct pto_record *v = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, i);
            const struct pto_record *s = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, i);
            const struct pto_record *next = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, i + 1);
            assert_true(s->start >= v->ready);
            if (next)
                assert_true(next->start >= s->ready);
        }
        testing_sim_give(&t, 1, 16);
        testing_sim_run(&t, is_dep == 1);
        assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_V].count, 0);
        assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_MTE3].count, 0);
    }
    assert_int_equal(t.sim.cores[PTO_AIV0].assumptions.n, 0);
    testing_sim_close(&t);
}

/* ---- flags of the text ---- */

TEST(a_flag_orders_two_pipes_and_nothing_else_does)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                LOAD("t0") ADDS(
                    "t0", "t0") "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]\n"
                                "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]\n" STORE("t0"));
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_OK);
    assert_true(t.sim.program[1].has_flags);
    assert_int_equal(t.sim.program[1].syncs.n, 0);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0)->start, 0);
    const struct pto_record *v = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, 0)->start, v->ready + 1);
    testing_sim_close(&t);
}

TEST(a_wait_before_its_set_holds_only_its_pipe)
{
    struct testing_sim t;

    open_kernel(
        &t, "a2a3",
        "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n" ADDS("t0", "t1")
            ADDS("t1", "t2") "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]\n"
                             "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]\n" STORE("t2")
                                 LOAD("t0") "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n");
    int64_t total = testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_OK);
    const struct pto_record *load = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, 0);
    const struct pto_record *add = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0);
    const struct pto_record *more = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 1);
    const struct pto_record *store = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, 0);
    assert_int_equal(load->start, 0);
    assert_int_equal(add->start, load->ready + 1);
    assert_int_equal(more->start, add->end);
    assert_int_equal(store->start, more->ready + 1);
    assert_int_equal(total, store->ready);
    testing_sim_close(&t);
}

TEST(held_instructions_compute_when_they_run)
{
    struct testing_sim t;
    float data[1024];

    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        data[i] = (float)i;
    open_kernel(
        &t, "a2a3",
        "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n" ADDS(
            "t0",
            "t0") "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n" LOAD("t0") "pto.set_flag[<"
                                                                                  "PIPE_MTE2>, "
                                                                                  "<PIPE_V>, "
                                                                                  "<EVENT_ID0>]\n"
                                                                                  "pto.wait_flag[<"
                                                                                  "PIPE_V>, "
                                                                                  "<PIPE_MTE3>, "
                                                                                  "<EVENT_ID0>]"
                                                                                  "\n" STORE("t0"));
    t.options.has_memory = true;
    testing_sim_give_buffer(&t, 0, data, sizeof(data));
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        assert_true(data[i] == (float)i + 1);
    testing_sim_close(&t);
}

TEST(a_wait_that_nothing_sets_is_told_with_what_stands_behind_it)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                LOAD("t0") "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID2>]\n" ADDS("t0", "t0")
                    STORE("t1"));
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_FORMAT);
    assert_false(t.sim.is_complete);
    const char *told = testing_sim_told(&t, "pto-run.deadlock");
    assert_non_null(told);
    assert_non_null(strstr(told, "PIPE_V stands at pto.wait_flag for event 2 from PIPE_MTE2"));
    assert_non_null(strstr(told, "pto.tadds"));
    assert_non_null(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, 0)); /* the others ran */
    testing_sim_close(&t);
}

TEST(what_the_scalar_unit_cannot_pass_is_a_deadlock)
{
    static const char *const bodies[] = {
        "pto.wait_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n"
        "pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n",
        "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\npto.barrier <PIPE_ALL>\n"
        "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct testing_sim t;
        open_kernel(&t, "a2a3", bodies[i]);
        testing_sim_run(&t, false);
        assert_int_equal(t.status, ST_FORMAT);
        assert_non_null(testing_sim_told(&t, "pto-run.deadlock"));
        testing_sim_close(&t);
    }
}

TEST(too_many_instructions_behind_a_wait_are_refused)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                "%many = arith.constant 70000 : index\n"
                "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
                "scf.for %i = %c0 to %many step %c1 {\n" ADDS(
                    "t0", "t0") "}\n"
                                "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n");
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_FORMAT);
    assert_non_null(testing_sim_told(&t, "pto-run.too-large"));
    testing_sim_close(&t);
}

TEST(an_event_out_of_range_is_told)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3", "pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %c8]\n");
    testing_sim_run(&t, false);
    assert_non_null(testing_sim_told(&t, "pto-run.event"));
    testing_sim_close(&t);
}

TEST(a_barrier_of_a_pipe_waits_for_its_results)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3", ADDS("t0", "t0") "pto.barrier <PIPE_V>\n" ADDS("t1", "t1"));
    testing_sim_run(&t, true);
    const struct pto_record *first = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 1)->start, first->ready + 1);
    t.options.no_flags = true;
    testing_sim_run(&t, true);
    first = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 1)->start, first->end);
    testing_sim_close(&t);
}

TEST(buffer_tokens_keep_the_order_of_the_program)
{
    struct testing_sim t;

    open_kernel(
        &t, "a5",
        "pto.get_buf[<TVEC>, 3]\n" ADDS("t0", "t0") "pto.rls_buf[<TVEC>, 3]\n"
                                                    "pto.get_buf[<TSTORE_VEC>, 3]\n" STORE(
                                                        "t1") "pto.rls_buf[<TSTORE_VEC>, 3]\n");
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, 0)->start,
                     testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 0)->ready);
    testing_sim_close(&t);
}

TEST(tsync_waits_for_the_producer_of_its_tile)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                LOAD("t0") ADDS("t1", "t1") "pto.tsync ins(%t0 : " VEC ")\n" ADDS("t2", "t2"));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_true(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, 1)->start >=
                testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, 0)->ready);
    testing_sim_close(&t);
}

/* ---- numbers nobody supplied ---- */

TEST(an_unsupplied_divisor_counts_as_one_and_is_listed)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                "%x = pto.load_scalar %b[%c0] : !pto.ptr<i32> -> i32\n"
                "%q = arith.remsi %n, %x : i32\n%d = arith.constant 0 : i32\n"
                "%is = arith.cmpi eq, %q, %d : i32\nscf.if %is {\n" ADDS("t0", "t0") "}\n");
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_core *c = &t.sim.cores[PTO_AIV0];
    assert_int_equal(c->assumptions.n, 2);
    assert_int_equal(c->assumptions.at[0].kind, PTO_ASSUMED_DIVISOR);
    assert_int_equal(c->assumptions.at[0].origin, 2); /* %b is argument 1 */
    assert_int_equal(c->assumptions.at[1].kind, PTO_ASSUMED_BRANCH);
    assert_int_equal(c->queues.pipe[PTO_PIPE_V].count, 1);
    testing_sim_close(&t);
}

TEST(a_division_by_a_zero_that_was_given_is_an_error)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3", "%d = arith.constant 7 : i32\n%q = arith.divsi %d, %n : i32\n");
    testing_sim_give(&t, 2, 0);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_FORMAT);
    assert_non_null(testing_sim_told(&t, "pto-run.div-zero"));
    testing_sim_close(&t);
}

TEST(an_assumed_bound_is_listed_once)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                "%m = arith.index_cast %n : i32 to index\nscf.for %i = %c0 to %m step %c1 {\n" ADDS(
                    "t0", "t0") "}\nscf.for %i = %c0 to %c8 step %c1 {\n"
                                "scf.for %j = %c0 to %m step %c1 {\n" ADDS("t0", "t0") "}\n}\n");
    testing_sim_run(&t, true);
    assert_int_equal(t.sim.cores[PTO_AIV0].assumptions.n,
                     2); /* two loops, one of them entered 8 times */
    testing_sim_give(&t, 2, 3);
    testing_sim_run(&t, true);
    assert_int_equal(t.sim.cores[PTO_AIV0].assumptions.n, 0);
    assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_V].count, 27);
    testing_sim_close(&t);
}

TEST(the_step_limit_leaves_what_ran)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                "%many = arith.constant 1000000 : index\n"
                "scf.for %i = %c0 to %many step %c1 {\n" ADDS("t0", "t0") "}\n");
    t.options.max_steps = 3000;
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_false(t.sim.is_complete);
    assert_int_equal(diag_count(&t.diag, "pto-run.step-limit"), 1);
    assert_in_range(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_V].count, 900, 1000);
    assert_true(t.sim.total > 900 * 16);
    testing_sim_close(&t);
}

TEST(records_stop_at_their_limit_and_times_do_not_change)
{
    struct testing_sim t;

    open_kernel(&t, "a2a3",
                "scf.for %i = %c0 to %c8 step %c1 {\n" LOAD("t0") ADDS("t0", "t0") "}\n");
    int64_t total = testing_sim_run(&t, true);
    t.options.max_records = 3;
    assert_int_equal(testing_sim_run(&t, true), total);
    assert_int_equal(t.sim.cores[PTO_AIV0].queues.records.n, 3);
    assert_int_equal(t.sim.cores[PTO_AIV0].queues.n_records, 16);
    testing_sim_close(&t);
}

TEST(a_while_loop_runs_until_its_condition_is_false)
{
    struct testing_sim t;

    open_kernel(
        &t, "a2a3",
        "%e = scf.while (%i = %c0) : (index) -> (index) {\n" LOAD(
            "t0") "%more = arith.cmpi slt, %i, %c8 : index\n"
                  "scf.condition(%more) %i : index\n} do {\n^bb0(%i: index):\n" ADDS("t0", "t0")
                      STORE(
                          "t0") "%next = arith.addi %i, %c1 : index\nscf.yield %next : index\n}\n");
    for (int is_dep = 0; is_dep < 2; is_dep++) {
        testing_sim_run(&t, is_dep == 1);
        assert_int_equal(t.status, ST_OK);
        const struct pto_queues *q = &t.sim.cores[PTO_AIV0].queues;
        assert_int_equal(q->pipe[PTO_PIPE_MTE2].count, 9);
        assert_int_equal(q->pipe[PTO_PIPE_V].count, 8);
        for (uint32_t i = 0; i < 8; i++) {
            assert_true(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_V, i)->start >=
                        testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, i)->ready);
            assert_true(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, i + 1)->start >=
                        testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, i)->ready);
        }
        for (int a = 0; a < PTO_PIPE_COUNT; a++) {
            for (int b = 0; b < PTO_PIPE_COUNT; b++) {
                for (uint32_t id = 0; q->flag[a][b] && id < PTO_FLAG_IDS; id++)
                    assert_int_equal(q->flag[a][b][id].set.n, q->flag[a][b][id].waited);
            }
        }
    }
    testing_sim_close(&t);
}

TEST(data_runs_through_all_pipes)
{
    struct testing_sim t;
    float data[1024];

    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        data[i] = (float)i;
    open_kernel(&t, "a2a3",
                "scf.for %i = %c0 to %c8 step %c1 {\n" LOAD("t0") ADDS("t0", "t1")
                    STORE("t1") "}\n");
    t.options.has_memory = true;
    testing_sim_give_buffer(&t, 0, data, sizeof(data));
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        assert_true(data[i] == (float)i + 8);
    testing_sim_give_buffer(&t, 0, data, sizeof(data) - 4);
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_FORMAT);
    assert_non_null(testing_sim_told(&t, "pto-run.gm-range"));
    t.bindings[0] = (struct pto_binding){0}; /* no buffer at all */
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_FORMAT);
    testing_sim_close(&t);
}

TEST(communication_is_local_in_a_run_of_one_rank)
{
    struct testing_sim t;
    float data[2048];
    int32_t signal[4] = {5, 0, 0, 0};

    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        data[i] = (float)i;
    open_kernel(&t, "a2a3",
                "%g2 = pto.addptr %a, %k : !pto.ptr<f32> -> !pto.ptr<f32>\n"
                "%h = pto.make_tensor_view %g2, shape = [%c16, %c64], strides = [%c64, %c1] : "
                "!pto.tensor_view<?x?xf32>\n"
                "%w = pto.partition_view %h, offsets = [%c0, %c0], sizes = [%c16, %c64] : "
                "!pto.tensor_view<?x?xf32> -> " PART "\n"
                "%s = pto.make_tensor_view %b, shape = [%c1, %c1], strides = [%c1, %c1] : "
                "!pto.tensor_view<?x?xi32>\n"
                "%q = pto.partition_view %s, offsets = [%c0, %c0], sizes = [%c1, %c1] : "
                "!pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<1x1xi32>\n"
                "%two = arith.constant 2 : i32\n"
                "pto.comm.tput(%w, %v, buf(%t0) : " PART ", " PART ", " VEC ") {atomicType = "
                "#pto<atomic_type atomic_none>}\n"
                "pto.comm.tnotify(%q, %two : !pto.partition_tensor_view<1x1xi32>, i32) {notifyOp = "
                "#pto<notify_op atomic_add>}\n"
                "pto.comm.twait(%q, %two : !pto.partition_tensor_view<1x1xi32>, i32) {cmp = "
                "#pto<wait_cmp ge>}\n");
    t.options.has_memory = true;
    testing_sim_give_buffer(&t, 0, data, sizeof(data));
    testing_sim_give_buffer(&t, 1, signal, sizeof(signal));
    testing_sim_run(&t, false);
    assert_int_equal(t.status, ST_OK);
    for (size_t i = 0; i < 1024; i++)
        assert_true(data[1024 + i] == (float)i);
    assert_int_equal(signal[0], 7);
    const struct pto_record *load = testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, 0);
    assert_int_equal(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, 0)->start, load->ready);
    assert_int_equal(t.sim.cores[PTO_AIV0].assumptions.at[0].kind, PTO_ASSUMED_WAIT);
    testing_sim_close(&t);
}

TEST(pointers_that_change_places_are_watched_together)
{
    struct testing_sim t;

    /* one round loads through the pointer that the round before stored through */
    testing_sim_open(
        &t,
        S("module {\nfunc.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes "
          "{pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
          "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
          "%c4 = arith.constant 4 : index\n%c16 = arith.constant 16 : index\n"
          "%c64 = arith.constant 64 : index\n%z = arith.constant 0 : i64\n"
          "%z1 = arith.constant 4096 : i64\n%z2 = arith.constant 8192 : i64\n"
          "%t0 = pto.alloc_tile addr = %z : " VEC "\n%t1 = pto.alloc_tile addr = %z1 : " VEC "\n"
          "%r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %a, %q = %b) -> "
          "(!pto.ptr<f32>, !pto.ptr<f32>) {\n"
          "%g = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : "
          "!pto.tensor_view<?x?xf32>\n"
          "%v = pto.partition_view %g, offsets = [%c0, %c0], sizes = [%c16, %c64] : "
          "!pto.tensor_view<?x?xf32> -> " PART "\n"
          "%h = pto.make_tensor_view %q, shape = [%c16, %c64], strides = [%c64, %c1] : "
          "!pto.tensor_view<?x?xf32>\n"
          "%w = pto.partition_view %h, offsets = [%c0, %c0], sizes = [%c16, %c64] : "
          "!pto.tensor_view<?x?xf32> -> " PART
          "\n" LOAD("t0") "pto.tstore ins(%t1 : " VEC ") outs(%w : " PART ")\n"
                          "scf.yield %q, %p : !pto.ptr<f32>, !pto.ptr<f32>\n}\nreturn\n}\n}\n"));
    for (int is_dep = 0; is_dep < 2; is_dep++) {
        testing_sim_run(&t, is_dep == 1);
        assert_int_equal(t.status, ST_OK);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE2, i + 1)->start >=
                        testing_sim_record(&t, PTO_AIV0, PTO_PIPE_MTE3, i)->ready);
    }
    testing_sim_close(&t);
}

TEST(a_kernel_is_found_by_its_name)
{
    struct pto_module m;
    const struct pto_function *found[4];
    struct pto_sim sim;
    struct diag d;

    assert_int_equal(testing_read(&m, S("module {\n"
                                        "func.func @x_aic() attributes {pto.kernel_kind = "
                                        "#pto.kernel_kind<cube>} {\nreturn\n}\n"
                                        "func.func @x_aiv() attributes {pto.kernel_kind = "
                                        "#pto.kernel_kind<vector>} {\nreturn\n}\n"
                                        "func.func @y() attributes {pto.kernel_kind = "
                                        "#pto.kernel_kind<vector>} {\nreturn\n}\n}\n")),
                     ST_OK);
    diag_init(&d);
    pto_sim_init(&sim);
    assert_int_equal(pto_sim_kernels(&m, found, 4), 2);
    assert_str(pto_sim_kernel_name(&m, found[0]), "x");
    assert_str(pto_sim_kernel_name(&m, found[1]), "y");
    assert_int_equal(pto_sim_prepare(&sim, &m, S("x"), PTO_A2A3, true, "k", &d), ST_OK);
    assert_int_equal(sim.present, 7);
    assert_int_equal(pto_sim_prepare(&sim, &m, S("x_aiv"), PTO_A2A3, true, "k", &d), ST_OK);
    assert_int_equal(sim.present, 7);
    assert_int_equal(pto_sim_prepare(&sim, &m, S("y"), PTO_A2A3, true, "k", &d), ST_OK);
    assert_int_equal(sim.present, 1U << PTO_AIV0);
    assert_int_equal(pto_sim_prepare(&sim, &m, S(""), PTO_A2A3, true, "k", &d), ST_NOT_FOUND);
    assert_int_equal(d.hints.n, 2);
    assert_int_equal(pto_sim_prepare(&sim, &m, S("z"), PTO_A2A3, true, "k", &d), ST_NOT_FOUND);
    assert_int_equal(diag_count(&d, "pto-run.which-kernel"), 2);
    pto_sim_free(&sim);
    diag_fini(&d);
    pto_module_fini(&m);
}

TEST_MAIN("kernels/pto/sim/sim", T(load_add_store_takes_the_sum_of_its_parts),
          T(a_loop_on_one_buffer_is_serial), T(a_loop_on_two_buffers_has_two_chains_in_flight),
          T(rows_below_the_argument_are_seeded), T(a_flag_orders_two_pipes_and_nothing_else_does),
          T(a_wait_before_its_set_holds_only_its_pipe), T(held_instructions_compute_when_they_run),
          T(a_wait_that_nothing_sets_is_told_with_what_stands_behind_it),
          T(what_the_scalar_unit_cannot_pass_is_a_deadlock),
          T(too_many_instructions_behind_a_wait_are_refused), T(an_event_out_of_range_is_told),
          T(a_barrier_of_a_pipe_waits_for_its_results),
          T(buffer_tokens_keep_the_order_of_the_program),
          T(tsync_waits_for_the_producer_of_its_tile),
          T(an_unsupplied_divisor_counts_as_one_and_is_listed),
          T(a_division_by_a_zero_that_was_given_is_an_error), T(an_assumed_bound_is_listed_once),
          T(the_step_limit_leaves_what_ran), T(records_stop_at_their_limit_and_times_do_not_change),
          T(a_while_loop_runs_until_its_condition_is_false), T(data_runs_through_all_pipes),
          T(communication_is_local_in_a_run_of_one_rank),
          T(pointers_that_change_places_are_watched_together), T(a_kernel_is_found_by_its_name))
