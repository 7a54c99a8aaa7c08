#include "kernels/pto/sim/program.h"

#include <stdio.h>

#include "kernels/pto/testing_sim.h"

#define VEC  "!pto.tile_buf<vec, 16x64xf32>"
#define LOW  "!pto.tile_buf<vec, 4x64xf32>"
#define PART "!pto.partition_tensor_view<16x64xf32>"

#define HEAD                                                                                       \
    "%f = arith.constant 1.0 : f32\n%c4 = arith.constant 4 : index\n"                              \
    "%c16 = arith.constant 16 : index\n%c64 = arith.constant 64 : index\n"                         \
    "%z1 = arith.constant 4096 : i64\n%z2 = arith.constant 8192 : i64\n"                           \
    "%g = pto.make_tensor_view %a, shape = [%c16, %c64], strides = [%c64, %c1] : "                 \
    "!pto.tensor_view<?x?xf32>\n"                                                                  \
    "%v = pto.partition_view %g, offsets = [%c0, %c0], sizes = [%c16, %c64] : "                    \
    "!pto.tensor_view<?x?xf32> -> " PART "\n"                                                      \
    "%t0 = pto.alloc_tile addr = %z : " VEC "\n%t1 = pto.alloc_tile addr = %z1 : " VEC "\n"        \
    "%t2 = pto.alloc_tile addr = %z2 : " VEC "\n%s0 = pto.alloc_tile addr = %z : " LOW "\n"        \
    "%s1 = pto.alloc_tile addr = %z1 : " LOW "\n%s2 = pto.alloc_tile addr = %z2 : " LOW "\n"       \
    "%yes = arith.cmpi eq, %n, %n : i32\n"
#define LOAD(t)    "pto.tload ins(%v : " PART ") outs(%" t " : " VEC ")\n"
#define STORE(t)   "pto.tstore ins(%" t " : " VEC ") outs(%v : " PART ")\n"
#define ADDS(t, u) "pto.tadds ins(%" t ", %f : " VEC ", f32) outs(%" u " : " VEC ")\n"
#define LOWS(t, u) "pto.tadds ins(%" t ", %f : " LOW ", f32) outs(%" u " : " LOW ")\n"
#define FILL(t)    "pto.texpands ins(%f : f32) outs(%" t " : " VEC ")\n"
#define LOOP       "scf.for %i = %c0 to %c4 step %c1 {\n"

/* A program as words: instructions by name, "V>MTE3#0" a set, "V<MTE2#0" a wait of V, "|V" a
 * barrier, "{ }" a loop, "(" a branch, ")" the end of an arm. */
static void list_words(const struct pto_program *p, char *out, size_t room)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < p->steps.n; i++) {
        const struct pto_step *s = &p->steps.at[i];
        const struct pto_sync *y = s->code == PTO_STEP_SYNC ? &p->syncs.at[s->a] : NULL;
        char word[64] = "";
        if (s->code == PTO_STEP_FOR || s->code == PTO_STEP_NEXT)
            snprintf(word, sizeof(word), s->code == PTO_STEP_FOR ? "{" : "}");
        else if (s->code == PTO_STEP_UNLESS || s->code == PTO_STEP_JUMP)
            snprintf(word, sizeof(word), s->code == PTO_STEP_UNLESS ? "(" : ")");
        else if (s->code == PTO_STEP_SITE)
            snprintf(word, sizeof(word), "%s", pto_op_name(p->sites.at[s->a].code) + 4);
        else if (y && y->kind == PTO_INSERT_BARRIER)
            snprintf(word, sizeof(word), "|%s", pto_pipe_name((enum pto_pipe)y->a) + 5);
        else if (y && y->kind == PTO_INSERT_SET)
            snprintf(word, sizeof(word), "%s>%s#%u", pto_pipe_name((enum pto_pipe)y->a) + 5,
                     pto_pipe_name((enum pto_pipe)y->b) + 5, y->id);
        else if (y)
            snprintf(word, sizeof(word), "%s<%s#%u", pto_pipe_name((enum pto_pipe)y->b) + 5,
                     pto_pipe_name((enum pto_pipe)y->a) + 5, y->id);
        if (word[0] != '\0')
            n += (size_t)snprintf(out + n, room - n, "%s%s", n > 0 ? " " : "", word);
    }
}

static void assert_synced(const char *arch, const char *body, const char *expected)
{
    struct arena arena;
    struct pto_module m;
    struct pto_program p = {0};
    struct diag d;
    char words[4000];

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(
        testing_read(&m, testing_kernel(&arena, arch, arena_format(&arena, "%s%s", HEAD, body).at)),
        ST_OK);
    assert_int_equal(
        pto_program_compile(&p, &m, &m.functions.at[0], PTO_KIND_VECTOR, m.arch, true, "k", &d),
        ST_OK);
    list_words(&p, words, sizeof(words));
    assert_string_equal(words, expected);
    pto_program_free(&p);
    pto_module_fini(&m);
    diag_fini(&d);
    arena_free(&arena);
}

TEST(a_chain_over_three_pipes_gets_two_pairs)
{
    assert_synced("a2a3", LOAD("t0") ADDS("t0", "t1") STORE("t1"),
                  "tload MTE2>V#0 V<MTE2#0 tadds V>MTE3#0 MTE3<V#0 tstore ) |ALL");
}

TEST(what_a_chain_orders_gets_no_pair_of_its_own)
{
    /* the store follows the load by way of the addition */
    assert_synced("a2a3", LOAD("t0") ADDS("t0", "t1") STORE("t1") STORE("t0"),
                  "tload MTE2>V#0 V<MTE2#0 tadds V>MTE3#0 MTE3<V#0 tstore |MTE3 tstore ) |ALL");
}

TEST(independent_instructions_get_nothing)
{
    assert_synced("a2a3", LOAD("t0") FILL("t1") LOAD("t2"), "tload texpands tload ) |ALL");
    /* two loads into one place land in order */
    assert_synced("a2a3", LOAD("t0") LOAD("t0"), "tload tload ) |ALL");
}

TEST(a_loop_carries_a_pair_with_a_first_set_and_a_last_wait)
{
    assert_synced("a2a3", LOOP LOAD("t0") ADDS("t0", "t1") "}\n",
                  "V>MTE2#0 { MTE2<V#0 tload MTE2>V#0 V<MTE2#0 tadds V>MTE2#0 } MTE2<V#0 ) |ALL");
}

TEST(a_wait_leaves_the_loop_its_set_is_not_in)
{
    assert_synced("a2a3", LOAD("t0") LOOP ADDS("t0", "t1") "}\n",
                  "tload MTE2>V#0 V<MTE2#0 { |V tadds } ) |ALL");
    assert_synced("a2a3", LOOP ADDS("t0", "t1") "}\n" STORE("t1"),
                  "{ |V tadds } V>MTE3#0 MTE3<V#0 tstore ) |ALL");
}

TEST(a_branch_is_waited_for_from_outside)
{
    assert_synced("a2a3", "scf.if %yes {\n" LOAD("t0") "}\n" ADDS("t0", "t1"),
                  "( tload ) MTE2>V#0 V<MTE2#0 tadds ) |ALL");
    /* in both arms: one pair serves */
    assert_synced("a2a3",
                  "scf.if %yes {\n" LOAD("t0") "} else {\n" LOAD("t0") "}\n" ADDS("t0", "t1"),
                  "( tload ) tload ) MTE2>V#0 V<MTE2#0 tadds ) |ALL");
    assert_synced("a2a3", LOAD("t0") "scf.if %yes {\n" ADDS("t0", "t1") "}\n",
                  "tload MTE2>V#0 V<MTE2#0 ( tadds ) ) |ALL");
}

TEST(what_one_arm_orders_is_not_known_behind_the_branch)
{
    /* only one arm made the vector pipe wait for the load into t0 */
    assert_synced("a2a3", LOAD("t0") "scf.if %yes {\n" ADDS("t0", "t1") "}\n" ADDS("t0", "t2"),
                  "tload MTE2>V#0 V<MTE2#0 ( tadds ) tadds ) |ALL");
    assert_synced("a2a3",
                  "scf.if %yes {\n" LOAD("t0")
                      ADDS("t0", "t1") "} else {\n" LOAD("t0") "}\n" ADDS("t0", "t2"),
                  "( tload MTE2>V#0 V<MTE2#0 tadds ) tload ) MTE2>V#0 V<MTE2#0 tadds ) |ALL");
}

TEST(what_a_loop_orders_is_not_known_behind_it)
{
    /* the loop may not run at all */
    assert_synced("a2a3", LOAD("t0") LOAD("t1") LOOP ADDS("t1", "t1") "}\n" ADDS("t0", "t0"),
                  "tload tload MTE2>V#0 V<MTE2#0 { |V tadds } tadds ) |ALL");
}

TEST(one_vector_instruction_behind_another_needs_a_barrier)
{
    assert_synced("a2a3", LOWS("s0", "s1") LOWS("s1", "s2"), "tadds |V tadds ) |ALL");
    /* 16 repeats into exactly the bytes that are read: it streams */
    assert_synced("a2a3", ADDS("t0", "t1") ADDS("t1", "t2"), "tadds tadds ) |ALL");
    /* not the same bytes; in place, which also overwrites */
    assert_synced("a2a3", ADDS("t0", "t1") LOWS("s1", "s2"), "tadds |V tadds ) |ALL");
    assert_synced("a2a3", ADDS("t1", "t1") ADDS("t1", "t1"), "tadds |V tadds ) |ALL");
    /* never around a loop */
    assert_synced("a2a3", LOOP ADDS("t2", "t1") ADDS("t0", "t2") "}\n",
                  "{ |V tadds |V tadds } ) |ALL");
}

TEST(on_a5_the_vector_pipe_keeps_its_order)
{
    assert_synced("a5", LOWS("s0", "s1") LOWS("s1", "s2") ADDS("t2", "t2"),
                  "tadds tadds tadds ) |ALL");
}

TEST(scratch_never_streams)
{
    assert_synced("a2a3",
                  "%col = pto.alloc_tile addr = %z2 : !pto.tile_buf<vec, 16x1xf32, "
                  "blayout=col_major>\n" ADDS("t0", "t1") "pto.trowsum ins(%t0, %t1 : " VEC ", " VEC
                                                          ") outs(%col : !pto.tile_buf<vec, "
                                                          "16x1xf32, blayout=col_major>)\n",
                  "tadds |V trowsum ) |ALL");
}

TEST(scalars_in_tiles_wait_and_are_waited_for)
{
    assert_synced("a2a3",
                  ADDS("t0", "t1") "%x = pto.tgetval ins(%t1, %c0 : " VEC ", index) outs : f32\n"
                                   "pto.tsetval ins(%c0, %x : index, f32) outs(%t1 : " VEC
                                   ")\n" STORE("t1"),
                  "tadds V>S#0 S<V#0 tgetval tsetval S>MTE3#0 MTE3<S#0 tstore ) |ALL");
}

/* Nine additions that each wait for another of nine loads: the first eight have events. */
TEST(without_an_event_left_all_pipes_wait)
{
    struct arena arena;
    struct pto_module m;
    struct pto_program p = {0};
    struct diag d;
    struct str loads = S(""), adds = S("");
    char words[4000];

    arena_init(&arena);
    diag_init(&d);
    for (int i = 0; i < 9; i++) {
        loads = arena_format(&arena,
                             "%s%%y%d = arith.constant %d : i64\n"
                             "%%d%d = pto.alloc_tile addr = %%y%d : " VEC "\n"
                             "pto.tload ins(%%v : " PART ") outs(%%d%d : " VEC ")\n"
                             "pto.texpands ins(%%f : f32) outs(%%e%d : " VEC ")\n",
                             loads.at, i, 4096 * (i + 10), i, i, i, i);
    }
    struct str tiles = S("");
    for (int i = 0; i < 9; i++)
        tiles = arena_format(&arena,
                             "%s%%x%d = arith.constant %d : i64\n"
                             "%%e%d = pto.alloc_tile addr = %%x%d : " VEC "\n",
                             tiles.at, i, 4096 * i, i, i);
    for (int i = 8; i >= 0; i--)
        adds = arena_format(&arena,
                            "pto.tadds ins(%%d%d, %%f : " VEC ", f32) outs(%%d%d : " VEC ")\n%s", i,
                            i, adds.at);
    struct str body = arena_format(&arena, "%s%s%s%s", HEAD, tiles.at, loads.at, adds.at);
    assert_int_equal(testing_read(&m, testing_kernel(&arena, "a5", body.at)), ST_OK);
    assert_int_equal(
        pto_program_compile(&p, &m, &m.functions.at[0], PTO_KIND_VECTOR, m.arch, true, "k", &d),
        ST_OK);
    list_words(&p, words, sizeof(words));
    assert_int_equal(p.n_unfilled, 1);
    const char *barrier = strstr(words, "|ALL tadds");
    assert_non_null(barrier);
    assert_null(strstr(barrier + 1, "|ALL tadds"));
    assert_non_null(strstr(words, "MTE2>V#7"));
    assert_null(strstr(words, "MTE2>V#8"));
    pto_program_free(&p);
    pto_module_fini(&m);
    diag_fini(&d);
    arena_free(&arena);
}

TEST(flags_of_the_text_are_left_alone)
{
    assert_synced("a2a3",
                  LOAD("t0") "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
                             "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n" ADDS("t0", "t1")
                                 STORE("t1"),
                  "tload set_flag wait_flag tadds tstore )");
    /* a barrier alone changes nothing */
    assert_synced("a2a3", LOAD("t0") "pto.barrier <PIPE_V>\n" ADDS("t0", "t1"),
                  "tload MTE2>V#0 barrier V<MTE2#0 tadds ) |ALL");
}

TEST(global_memory_is_told_apart_by_pointer_and_range)
{
    /* another pointer */
    assert_synced(
        "a2a3",
        STORE("t0") "%h = pto.make_tensor_view %b, shape = [%c16, %c64], strides = [%c64, "
                    "%c1] : !pto.tensor_view<?x?xi32>\n"
                    "%w = pto.partition_view %h, offsets = [%c0, %c0], sizes = [%c16, %c64] : "
                    "!pto.tensor_view<?x?xi32> -> !pto.partition_tensor_view<16x64xi32>\n"
                    "%k = pto.alloc_tile addr = %z2 : !pto.tile_buf<vec, 16x64xi32>\n"
                    "pto.tload ins(%w : !pto.partition_tensor_view<16x64xi32>) outs(%k : "
                    "!pto.tile_buf<vec, 16x64xi32>)\n",
        "tstore tload ) |ALL");
    assert_synced("a2a3", STORE("t0") LOAD("t1"), "tstore MTE3>MTE2#0 MTE2<MTE3#0 tload ) |ALL");
    /* rows above and below */
    assert_synced("a2a3",
                  "%p = pto.partition_view %g, offsets = [%c0, %c0], sizes = [%c4, %c64] : "
                  "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x64xf32>\n"
                  "%q = pto.partition_view %g, offsets = [%c4, %c0], sizes = [%c4, %c64] : "
                  "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x64xf32>\n"
                  "pto.tstore ins(%s0 : " LOW ") outs(%p : !pto.partition_tensor_view<4x64xf32>)\n"
                  "pto.tload ins(%q : !pto.partition_tensor_view<4x64xf32>) outs(%s1 : " LOW ")\n",
                  "tstore tload ) |ALL");
}

TEST(a_window_of_a_reshaped_tile_is_where_the_tile_is)
{
    assert_synced("a2a3",
                  "%r = pto.treshape %t1 : " VEC " -> !pto.tile_buf<vec, 8x128xf32>\n"
                  "%w = pto.subview %r[%c0, %c0] sizes [4, 128] : !pto.tile_buf<vec, 8x128xf32> -> "
                  "!pto.tile_buf<vec, 4x128xf32>\n" LOAD(
                      "t0") "pto.tadds ins(%w, %f : !pto.tile_buf<vec, 4x128xf32>, f32) outs(%w : "
                            "!pto.tile_buf<vec, 4x128xf32>)\n" LOAD("t1"),
                  "tload tadds V>MTE2#0 MTE2<V#0 tload ) |ALL");
}

TEST(jumps_get_a_barrier_before_every_instruction)
{
    assert_synced("a2a3", LOAD("t0") "cf.br ^bb1\n^bb1:\n" ADDS("t0", "t1"),
                  "|ALL tload ) |ALL tadds ) |ALL");
}

TEST(too_much_work_is_given_up_safely)
{
    struct arena arena;
    struct pto_module m;
    struct pto_program p = {0};
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    testing_read(&m, testing_kernel(&arena, "a2a3", HEAD LOAD("t0") ADDS("t0", "t1") STORE("t1")));
    assert_int_equal(
        pto_program_compile(&p, &m, &m.functions.at[0], PTO_KIND_VECTOR, m.arch, false, "k", &d),
        ST_OK);
    assert_false(pto_sync_insert(&p, 1));
    for (size_t i = 0; i < p.nodes.n; i++) {
        if (p.nodes.at[i].kind == PTO_NODE_SITE)
            assert_int_equal(p.syncs.at[p.nodes.at[i].before].a, PTO_PIPE_ALL);
    }
    pto_program_free(&p);
    pto_module_fini(&m);
    diag_fini(&d);
    arena_free(&arena);
}

TEST_MAIN("kernels/pto/sim/sync", T(a_chain_over_three_pipes_gets_two_pairs),
          T(what_a_chain_orders_gets_no_pair_of_its_own), T(independent_instructions_get_nothing),
          T(a_loop_carries_a_pair_with_a_first_set_and_a_last_wait),
          T(a_wait_leaves_the_loop_its_set_is_not_in), T(a_branch_is_waited_for_from_outside),
          T(what_one_arm_orders_is_not_known_behind_the_branch),
          T(what_a_loop_orders_is_not_known_behind_it),
          T(one_vector_instruction_behind_another_needs_a_barrier),
          T(on_a5_the_vector_pipe_keeps_its_order), T(scratch_never_streams),
          T(scalars_in_tiles_wait_and_are_waited_for), T(without_an_event_left_all_pipes_wait),
          T(flags_of_the_text_are_left_alone), T(global_memory_is_told_apart_by_pointer_and_range),
          T(a_window_of_a_reshaped_tile_is_where_the_tile_is),
          T(jumps_get_a_barrier_before_every_instruction), T(too_much_work_is_given_up_safely))
