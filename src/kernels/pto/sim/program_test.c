#include "kernels/pto/sim/program.h"

#include "kernels/pto/testing_sim.h"
#include "kernels/pto/values/values.h"

#define VEC "!pto.tile_buf<vec, 16x64xf32>"

/* ---- what programs compute: %b[i] = value ---- */

#define STORE(value, at)                                                                           \
    "%at" at " = arith.constant " at " : index\npto.store_scalar %" value ", %b[%at" at            \
    "] : !pto.ptr<i32>, i32\n"

static void run_numbers(struct str text, int64_t n, int32_t *out, size_t count)
{
    struct testing_sim t;

    memset(out, 0xee, count * sizeof(*out));
    testing_sim_open(&t, text);
    t.options.has_memory = true;
    testing_sim_give_buffer(&t, 1, out, count * sizeof(*out));
    testing_sim_give(&t, 2, n);
    testing_sim_run(&t, false);
    if (t.status != ST_OK)
        print_message("%s\n", t.diag.entries.at[0].first[0].text);
    assert_int_equal(t.status, ST_OK);
    testing_sim_close(&t);
}

static void run_body(const char *body, int64_t n, int32_t *out, size_t count)
{
    struct arena arena;

    arena_init(&arena);
    run_numbers(testing_kernel(&arena, "a2a3", body), n, out, count);
    arena_free(&arena);
}

TEST(a_loop_hands_its_values_on_crosswise)
{
    int32_t out[2];

    run_body("%x = arith.constant 10 : i32\n%y = arith.constant 20 : i32\n"
             "%c5 = arith.constant 5 : index\n"
             "%r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %x, %q = %y) -> (i32, i32) {\n"
             "scf.yield %q, %p : i32, i32\n}\n" STORE("r#0", "0") STORE("r#1", "1"),
             0, out, 2);
    assert_int_equal(out[0], 20);
    assert_int_equal(out[1], 10);
}

TEST(a_loop_that_does_not_run_gives_its_first_values)
{
    int32_t out[1];

    run_body("%x = arith.constant 10 : i32\n"
             "%r = scf.for %i = %c1 to %c0 step %c1 iter_args(%p = %x) -> (i32) {\n"
             "%s = arith.addi %p, %p : i32\nscf.yield %s : i32\n}\n" STORE("r", "0"),
             0, out, 1);
    assert_int_equal(out[0], 10);
}

TEST(branches_and_switches_choose)
{
    static const char body[] =
        "%z0 = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%two = arith.constant 2 : "
        "i32\n"
        "%is = arith.cmpi sgt, %n, %z0 : i32\n"
        "%x = scf.if %is -> (i32) {\nscf.yield %one : i32\n} else {\nscf.yield %two : i32\n}\n"
        "%k = arith.index_cast %n : i32 to index\n"
        "%s = scf.index_switch %k -> i32\ncase 3 {\nscf.yield %one : i32\n}\n"
        "case -1 {\nscf.yield %two : i32\n}\ndefault {\nscf.yield %n : i32\n}\n"
        "%sel = arith.select %is, %n, %z0 : i32\n" STORE("x", "0") STORE("s", "1")
            STORE("sel", "2");
    int32_t out[3];

    run_body(body, 3, out, 3);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 3);
    run_body(body, -1, out, 3);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], 0);
    run_body(body, 77, out, 3);
    assert_int_equal(out[1], 77);
}

TEST(helpers_are_copied_in)
{
    int32_t out[2];

    run_numbers(S("module {\n"
                  "func.func private @twice(%x: index) -> index {\n"
                  "%y = arith.addi %x, %x : index\nreturn %y : index\n}\n"
                  "func.func private @four(%x: index) -> index {\n"
                  "%y = func.call @twice(%x) : (index) -> index\n"
                  "%z = func.call @twice(%y) : (index) -> index\nreturn %z : index\n}\n"
                  "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<i32>, %n: i32) attributes "
                  "{pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
                  "%m = arith.index_cast %n : i32 to index\n"
                  "%p = func.call @four(%m) : (index) -> index\n"
                  "%q = func.call @four(%p) : (index) -> index\n"
                  "%x = arith.index_cast %p : index to i32\n"
                  "%y = arith.index_cast %q : index to i32\n" STORE("x", "0")
                      STORE("y", "1") "return\n}\n}\n"),
                3, out, 2);
    assert_int_equal(out[0], 12);
    assert_int_equal(out[1], 48);
}

TEST(arrays_keep_their_elements)
{
    int32_t out[2];

    run_body("%t = pto.declare_local_array -> !pto.local_array<2x3xi32>\n"
             "%c2 = arith.constant 2 : index\n%v = arith.constant 7 : i32\n"
             "pto.local_array_set %t[%c1, %c2], %v : !pto.local_array<2x3xi32>, i32\n"
             "%x = pto.local_array_get %t[%c1, %c2] : !pto.local_array<2x3xi32> -> i32\n"
             "%y = pto.local_array_get %t[%c0, %c2] : !pto.local_array<2x3xi32> -> i32\n" STORE(
                 "x", "0") STORE("y", "1"),
             0, out, 2);
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 0);
}

TEST(a_scalar_that_was_stored_is_loaded_also_without_a_buffer)
{
    struct testing_sim t;
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(
        &t, testing_kernel(&arena, "a2a3",
                           "%v = arith.constant 3 : i32\n" STORE(
                               "v", "5") "%x = pto.load_scalar %b[%at5] : !pto.ptr<i32> -> i32\n"
                                         "%m = arith.index_cast %x : i32 to index\n"
                                         "%t = pto.alloc_tile addr = %z : " VEC "\n"
                                         "%f = arith.constant 1.0 : f32\n"
                                         "scf.for %i = %c0 to %m step %c1 {\n"
                                         "pto.texpands ins(%f : f32) outs(%t : " VEC ")\n}\n"));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    assert_int_equal(t.sim.cores[PTO_AIV0].queues.pipe[PTO_PIPE_V].count, 3);
    assert_int_equal(t.sim.cores[PTO_AIV0].assumptions.n, 0);
    testing_sim_close(&t);
    arena_free(&arena);
}

/* ---- what is refused ---- */

static void program_assert_refused(const char *arch, const char *body, const char *code)
{
    struct testing_sim t;
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(&t, testing_kernel(&arena, arch, body));
    testing_sim_run(&t, false);
    assert_int_not_equal(t.status, ST_OK);
    if (!testing_sim_told(&t, code))
        fail_msg("%s, not %s", t.diag.entries.at[0].code, code);
    assert_true(t.diag.entries.at[0].first[0].where.line > 3);
    testing_sim_close(&t);
    arena_free(&arena);
}

TEST(what_cannot_run_is_told_with_its_line)
{
    program_assert_refused("a2a3",
                           "%p = arith.extsi %n : i32 to i64\n%o = arith.constant -1 : i64\n"
                           "%q = arith.addi %p, %o : i64\n%t = pto.alloc_tile addr = %q : " VEC,
                           "pto-run.tile-range");
    program_assert_refused(
        "a2a3",
        "%m = pto.alloc_multi_tile addr = %z : !pto.multi_tile_buf<vec, 16x64xf32, "
        "count=2>\n%i = arith.index_cast %n : i32 to index\n"
        "%c2 = arith.constant 2 : index\n%k = arith.addi %i, %c2 : index\n"
        "%t = pto.multi_tile_get %m[%k] : !pto.multi_tile_buf<vec, 16x64xf32, "
        "count=2> -> " VEC,
        "pto-run.tile-range");
    program_assert_refused("a2a3",
                           "%by = arith.index_cast %n : i32 to index\n"
                           "scf.for %i = %c0 to %c1 step %by {\n}",
                           "pto-run.endless");
    program_assert_refused(
        "a2a3",
        "%t = pto.declare_local_array -> !pto.local_array<4xi32>\n"
        "%i = arith.index_cast %n : i32 to index\n%c4 = arith.constant 4 : index\n"
        "%k = arith.addi %i, %c4 : index\n"
        "%x = pto.local_array_get %t[%k] : !pto.local_array<4xi32> -> i32",
        "pto-run.index-range");
    program_assert_refused(
        "a2a3",
        "%minus = arith.constant -2 : index\n"
        "%g = pto.make_tensor_view %a, shape = [%minus, %c1], strides = [%c1, %c1] "
        ": !pto.tensor_view<?x?xf32>",
        "pto-run.view-shape");
    program_assert_refused("a2a3", "pto.trap", "pto-run.trap");
}

TEST(a_window_of_a_tile_has_its_own_valid_part)
{
    struct testing_sim t;
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(&t, testing_kernel(&arena, "a2a3",
                                        "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>\n"
                                        "%w = pto.subview %t[%c0, %c0] sizes [8, 64] : "
                                        "!pto.tile_buf<vec, 16x64xf32> -> "
                                        "!pto.tile_buf<vec, 8x64xf32>\n"
                                        "pto.tabs ins(%w : !pto.tile_buf<vec, 8x64xf32>) outs(%w : "
                                        "!pto.tile_buf<vec, 8x64xf32>)"));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    testing_sim_close(&t);
    arena_free(&arena);
}

TEST(fifos_of_views_are_refused_by_name)
{
    struct testing_sim t;
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(
        &t, testing_kernel(&arena, "a2a3",
                           "%p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64} (%n : i32) "
                           "-> !pto.pipe\n"
                           "%e = pto.talloc(%p : !pto.pipe) -> !pto.tensor_view<?x?xf32>"));
    testing_sim_run(&t, true);
    assert_non_null(strstr(testing_sim_told(&t, "pto-run.unsupported"), "entries are tiles"));
    testing_sim_close(&t);
    arena_free(&arena);
}

TEST(arrays_and_calls_are_bounded)
{
    struct pto_module m;
    struct pto_program p = {0};
    struct diag d;
    struct arena arena;

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(testing_read(&m, testing_kernel(&arena, "a2a3",
                                                     "%t = pto.declare_local_array -> "
                                                     "!pto.local_array<1048576x1048576xi32>")),
                     ST_OK);
    assert_int_equal(
        pto_program_compile(&p, &m, &m.functions.at[0], PTO_KIND_VECTOR, PTO_A2A3, false, "k", &d),
        ST_UNSUPPORTED);
    assert_int_equal(diag_count(&d, "pto-run.too-large"), 1);
    pto_module_fini(&m);
    pto_program_free(&p);
    diag_fini(&d);
    arena_free(&arena);
}

/* ---- steps on values ---- */

TEST(a_view_without_a_layout_follows_its_strides)
{
    struct testing_sim t;
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(
        &t, testing_kernel(&arena, "a2a3",
                           "%c8 = arith.constant 8 : index\n"
                           "%g = pto.make_tensor_view %a, shape = [%c8, %c8], strides = "
                           "[%c8, %c1] : !pto.tensor_view<?x?xf32>\n"
                           "%h = pto.make_tensor_view %a, shape = [%c8, %c8], strides = "
                           "[%c1, %c8] : !pto.tensor_view<?x?xf32>\n"
                           "%q = pto.addptr %a, %c8 : !pto.ptr<f32> -> !pto.ptr<f32>\n"
                           "%w = pto.make_tensor_view %q, shape = [%c8], strides = [%c1] "
                           ": !pto.tensor_view<?xf32>\n"
                           "%v = pto.partition_view %w, offsets = [%c1], sizes = [%c1] : "
                           "!pto.tensor_view<?xf32> -> !pto.partition_tensor_view<1xf32>\n"));
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_program *p = &t.sim.program[1];
    size_t n = p->gms.n; /* known from the text alone: a, b, g, h, q, w, v */
    assert_int_equal(n, 7);
    assert_int_equal(p->gms.at[2].view.layout, PTO_LAYOUT_ND);
    assert_int_equal(p->gms.at[3].view.layout, PTO_LAYOUT_DN);
    assert_int_equal(p->gms.at[6].view.offset, 9);
    assert_int_equal(p->gms.at[6].root, 0);
    assert_int_equal(p->steps.n, 2); /* the return and the end: all is folded */
    testing_sim_close(&t);
    arena_free(&arena);
}

TEST(tiles_without_an_address_are_laid_side_by_side)
{
    struct testing_sim t;
    struct arena arena;

    arena_init(&arena);
    testing_sim_open(&t,
                     testing_kernel(&arena, "a2a3",
                                    "%s = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>\n"
                                    "%t = pto.alloc_tile : " VEC "\n%u = pto.alloc_tile : " VEC));
    testing_sim_run(&t, true);
    assert_int_equal(t.sim.program[1].tiles.at[0].addr, 0);
    assert_int_equal(t.sim.program[1].tiles.at[1].addr, 256);
    assert_int_equal(t.sim.program[1].tiles.at[2].addr, 256 + 4096);
    testing_sim_close(&t);
    arena_free(&arena);
}

TEST(a_window_shares_the_bytes_of_its_tile)
{
    struct testing_sim t;
    struct arena arena;
    static const char body[] =
        "%c8 = arith.constant 8 : index\n%t = pto.alloc_tile addr = %z : " VEC "\n"
        "%i = arith.index_cast %n : i32 to index\n"
        "%w = pto.subview %t[%i, %c8] sizes [2, 8] : " VEC " -> !pto.tile_buf<vec, 2x8xf32>\n"
        "%r = pto.treshape %w : !pto.tile_buf<vec, 2x8xf32> -> !pto.tile_buf<vec, 1x16xf32>\n";

    arena_init(&arena);
    testing_sim_open(&t, testing_kernel(&arena, "a2a3", body));
    testing_sim_give(&t, 2, 3);
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_OK);
    const struct pto_tile *tiles = t.sim.cores[PTO_AIV0].slots.tiles;
    assert_int_equal(pto_tile_offset(&tiles[1], 0, 0), (3 * 64 + 8) * 4);
    assert_int_equal(tiles[1].v_row, 2);
    assert_int_equal(tiles[2].addr, (3 * 64 + 8) * 4);
    testing_sim_give(&t, 2, 15); /* two rows do not fit any more */
    testing_sim_run(&t, true);
    assert_int_equal(t.status, ST_FORMAT);
    assert_non_null(testing_sim_told(&t, "pto-run.tile-range"));
    testing_sim_close(&t);
    arena_free(&arena);
}

TEST_MAIN("kernels/pto/sim/program", T(a_loop_hands_its_values_on_crosswise),
          T(a_loop_that_does_not_run_gives_its_first_values), T(branches_and_switches_choose),
          T(helpers_are_copied_in), T(arrays_keep_their_elements),
          T(a_scalar_that_was_stored_is_loaded_also_without_a_buffer),
          T(what_cannot_run_is_told_with_its_line), T(a_window_of_a_tile_has_its_own_valid_part),
          T(fifos_of_views_are_refused_by_name), T(arrays_and_calls_are_bounded),
          T(a_view_without_a_layout_follows_its_strides),
          T(tiles_without_an_address_are_laid_side_by_side),
          T(a_window_shares_the_bytes_of_its_tile))
