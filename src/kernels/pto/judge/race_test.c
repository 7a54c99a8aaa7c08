/* Races: what is found, what is not, and kernels with a flag less judged in another way. */
#include "kernels/pto/judge/race.h"

#include "base/testing.h"
#include "kernels/pto/judge/race_check.h"
#include "kernels/pto/testing_mutants.h"
#include "kernels/pto/testing_random.h"
#include "kernels/pto/testing_sim.h"

#define VEC  "!pto.tile_buf<vec, 16x64xf32>"
#define PART "!pto.partition_tensor_view<16x64xf32>"
#define HEAD                                                                                       \
    "%f = arith.constant 1.0 : f32\n%c4 = arith.constant 4 : index\n"                              \
    "%c16 = arith.constant 16 : index\n%c64 = arith.constant 64 : index\n"                         \
    "%z1 = arith.constant 4096 : i64\n"                                                            \
    "%g = pto.make_tensor_view %a, shape = [%c16, %c64], strides = [%c64, %c1] : "                 \
    "!pto.tensor_view<?x?xf32>\n"                                                                  \
    "%v = pto.partition_view %g, offsets = [%c0, %c0], sizes = [%c16, %c64] : "                    \
    "!pto.tensor_view<?x?xf32> -> " PART "\n"                                                      \
    "%t0 = pto.alloc_tile addr = %z : " VEC "\n%t1 = pto.alloc_tile addr = %z1 : " VEC "\n"
#define LOAD(t)        "pto.tload ins(%v : " PART ") outs(%" t " : " VEC ")\n"
#define STORE(t)       "pto.tstore ins(%" t " : " VEC ") outs(%v : " PART ")\n"
#define ADDS(t, u)     "pto.tadds ins(%" t ", %f : " VEC ", f32) outs(%" u " : " VEC ")\n"
#define SET(a, b, id)  "pto.set_flag[<PIPE_" a ">, <PIPE_" b ">, <EVENT_ID" id ">]\n"
#define WAIT(a, b, id) "pto.wait_flag[<PIPE_" a ">, <PIPE_" b ">, <EVENT_ID" id ">]\n"
#define FLAG(a, b, id) SET(a, b, id) WAIT(a, b, id)
#define GM_LATER       FLAG("MTE2", "MTE3", "7") /* the store overwrites what was loaded */

struct watched {
    struct testing_sim t;
    struct pto_races races;
};

static void watch_text(struct watched *w, struct str text)
{
    testing_sim_open(&w->t, text);
    pto_races_init(&w->races);
    enum status status = pto_sim_prepare(&w->t.sim, &w->t.module, S(""), w->t.module.arch, false,
                                         "k.pto", &w->t.diag);
    assert_int_equal(status, ST_OK);
    w->t.status = pto_race_check(&w->races, &w->t.sim, w->t.costs, w->t.options, w->t.bindings,
                                 w->t.n_bindings, "k.pto", &w->t.diag);
}

static void watch(struct watched *w, const char *arch, const char *body)
{
    struct arena arena;

    arena_init(&arena);
    watch_text(w, testing_kernel(&arena, arch, body));
    arena_free(&arena);
}

static void unwatch(struct watched *w)
{
    pto_races_free(&w->races);
    testing_sim_close(&w->t);
}

/* Just this is found, or nothing for NULL; the words say so. */
static void assert_found(const char *body, const char *code, const char *words)
{
    struct watched w;

    watch(&w, "a2a3", body);
    for (size_t i = 0; i < w.races.found.n; i++)
        print_message("%s\n", pto_race_text(&w.races.found.at[i], &w.races.arena));
    assert_int_equal(w.races.found.n, code ? 1 : 0);
    if (code) {
        const struct pto_race *f = &w.races.found.at[0];
        assert_string_equal(pto_race_code(f->kind), code);
        assert_non_null(strstr(pto_race_text(f, &w.races.arena), words));
    }
    unwatch(&w);
}

TEST(a_kernel_with_all_its_flags_is_fine)
{
    assert_found(HEAD LOAD("t0") FLAG("MTE2", "V", "0") ADDS("t0", "t1")
                     GM_LATER FLAG("V", "MTE3", "0") STORE("t1"),
                 NULL, NULL);
    assert_found(HEAD LOAD("t0") "pto.barrier <PIPE_ALL>\n" FLAG("V", "MTE3", "0")
                     ADDS("t0", "t1") "pto.barrier <PIPE_ALL>\n" STORE("t1"),
                 NULL, NULL);
}

TEST(a_flag_that_is_missing_is_named)
{
    assert_found(HEAD LOAD("t0") FLAG("MTE2", "V", "0") ADDS("t0", "t1") GM_LATER STORE("t1"),
                 "pto-race.raw",
                 "pto.tstore on PIPE_MTE3, line 21 reads bytes 4096 to 8191 of vec (%t1) while "
                 "pto.tadds on PIPE_V, line 18 may still write them; missing: "
                 "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, ..] after line 18");
    assert_found(HEAD LOAD("t0") FLAG("MTE2", "V", "0") ADDS("t0", "t1") LOAD("t0"), "pto-race.war",
                 "missing: pto.set_flag[<PIPE_V>, <PIPE_MTE2>, ..]");
    assert_found(HEAD LOAD("t1") FLAG("MTE2", "V", "0") ADDS("t1", "t0") FLAG("V", "MTE3", "1")
                     STORE("t0"),
                 NULL, NULL); /* the flags order the load before the store as well */
    assert_found(HEAD LOAD("t0") LOAD("t1") SET("MTE2", "V", "0") WAIT("MTE2", "V", "0")
                     ADDS("t0", "t0") "pto.barrier <PIPE_V>\n" ADDS("t0", "t1"),
                 NULL, NULL);
    assert_found(HEAD "pto.texpands ins(%f : f32) outs(%t1 : " VEC ")\n" FLAG("S", "V", "0")
                     LOAD("t1"),
                 "pto-race.waw", "writes bytes 4096 to 8191 of vec (%t1)");
}

TEST(the_scalar_unit_needs_flags_in_global_memory_too)
{
    static const char fill[] = "pto.texpands ins(%f : f32) outs(%t0 : " VEC ")\n";
    char text[4096];

    snprintf(text, sizeof(text), "%s%s%s", HEAD, fill,
             FLAG("V", "MTE3", "0")
                 STORE("t0") "pto.store_scalar %f, %a[%c1] : !pto.ptr<f32>, f32\n");
    assert_found(text, "pto-race.waw", "missing: pto.set_flag[<PIPE_MTE3>, <PIPE_S>, ..]");
    snprintf(text, sizeof(text), "%s%s%s", HEAD, fill,
             FLAG("V", "MTE3", "0")
                 STORE("t0") "%x = pto.load_scalar %a[%c1] : !pto.ptr<f32> -> f32\n");
    assert_found(text, "pto-race.raw", "missing: pto.set_flag[<PIPE_MTE3>, <PIPE_S>, ..]");
    snprintf(text, sizeof(text), "%s%s%s", HEAD, fill,
             FLAG("V", "MTE3", "0") STORE("t0")
                 FLAG("MTE3", "S", "0") "pto.store_scalar %f, %a[%c1] : !pto.ptr<f32>, f32\n");
    assert_found(text, NULL, NULL);
    snprintf(text, sizeof(text), "%s%s%s", HEAD, fill,
             FLAG("V", "MTE3", "0")
                 STORE("t0") "pto.cmo.cacheinvalid %a single_cache_line : !pto.ptr<f32>\n");
    assert_found(text, NULL, NULL); /* that reads nothing */
}

#define ACC   "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
#define LEFT  "!pto.tile_buf<left, 16x16xf16, slayout=row_major>"
#define RIGHT "!pto.tile_buf<right, 16x16xf16, slayout=col_major>"
#define PRODUCT(acc_phase, st_phase)                                                               \
    "module attributes {pto.target_arch = \"a2a3\"} {\n"                                           \
    "func.func @k(%a: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {\n"    \
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"                             \
    "%z = arith.constant 0 : i64\n%c16 = arith.constant 16 : index\n"                              \
    "%g = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : "                 \
    "!pto.tensor_view<?x?xf32>\n"                                                                  \
    "%v = pto.partition_view %g, offsets = [%c0, %c0], sizes = [%c16, %c16] : "                    \
    "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>\n"                         \
    "%c = pto.alloc_tile addr = %z : " ACC "\n%l = pto.alloc_tile addr = %z : " LEFT               \
    "\n%r = pto.alloc_tile addr = %z : " RIGHT                                                     \
    "\n" FLAG("MTE1", "M", "0") "pto.tmatmul ins(%l, %r : " LEFT ", " RIGHT ") outs(%c : " ACC     \
                                ") " acc_phase "\npto.tstore ins(%c : " ACC                        \
                                ") outs(%v : !pto.partition_tensor_view<16x16xf32>) " st_phase     \
                                "\nreturn\n}\n}\n"

static size_t races_between(const char *text)
{
    struct watched w;
    size_t n = 0;

    watch_text(&w, str_of(text));
    for (size_t i = 0; i < w.races.found.n; i++)
        n += w.races.found.at[i].kind == PTO_RACE_RAW;
    unwatch(&w);
    return n;
}

TEST(a_product_and_its_store_take_turns_by_the_unit_flag)
{
    assert_int_equal(races_between(PRODUCT("", "")), 1);
    assert_int_equal(races_between(PRODUCT("{accPhase = 3}", "")), 1);
    assert_int_equal(races_between(PRODUCT("{accPhase = 3}", "{stPhase = 3}")), 0);
}

#define STRIP                                                                                      \
    "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=?, "                      \
    "blayout=row_major, slayout=none_box, fractal=512, pad=0>"

/* A strip of a tile: 16 columns from byte 192 on reach as far as the tile itself, no further. */
TEST(a_strip_of_a_tile_leaves_the_rest_alone)
{
#define STRIPS(addr)                                                                               \
    HEAD                                                                                           \
        "%zs = arith.constant " addr " : i64\n"                                                    \
        "%s = pto.alloc_tile addr = %zs valid_col = %c16 : " STRIP "\n"                            \
        "%narrow = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : "        \
        "!pto.tensor_view<?x?xf32>\n"                                                              \
        "%w = pto.partition_view %narrow, offsets = [%c0, %c0], sizes = [%c16, %c16] : "           \
        "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>\n" FLAG("V", "MTE3",   \
                                                                                    "0")           \
            LOAD("t1") FLAG("MTE2", "V", "1") ADDS(                                                \
                "t1",                                                                              \
                "t1") "pto.tload ins(%w : !pto.partition_tensor_view<16x16xf32>) outs(%s : " STRIP \
                      ")\n"
    assert_found(STRIPS("192"), NULL, NULL);
    struct watched w;
    watch(&w, "a2a3", STRIPS("256"));
    assert_true(w.races.found.n > 0);
    unwatch(&w);
}

TEST(global_memory_is_watched_by_its_bytes)
{
    assert_found(HEAD "pto.texpands ins(%f : f32) outs(%t0 : " VEC ")\n" FLAG("V", "MTE3", "0")
                     STORE("t0") LOAD("t1"),
                 "pto-race.raw", "bytes from 0 on behind %a");
    assert_found(HEAD "%v2 = pto.partition_view %g, offsets = [%c16, %c0], sizes = [%c16, %c64] : "
                      "!pto.tensor_view<?x?xf32> -> " PART "\n"
                      "pto.texpands ins(%f : f32) outs(%t0 : " VEC ")\n" FLAG("V", "MTE3", "0")
                          STORE("t0") "pto.tload ins(%v2 : " PART ") outs(%t1 : " VEC ")\n",
                 NULL, NULL);
}

TEST(flags_without_a_partner_are_found)
{
    assert_found(HEAD LOAD("t0") FLAG("MTE2", "V", "0") ADDS("t0", "t0") SET("V", "MTE3", "3"),
                 "pto-race.unused", "event 3 from PIPE_V to PIPE_MTE3 is set");
    assert_found(HEAD LOAD("t0") SET("MTE2", "V", "0") SET("MTE2", "V", "0") WAIT("MTE2", "V", "0")
                     WAIT("MTE2", "V", "0") ADDS("t0", "t0"),
                 "pto-race.reused", "is set again");
    struct watched w;
    watch(&w, "a2a3", HEAD WAIT("MTE2", "V", "0") ADDS("t0", "t0"));
    assert_int_equal(w.t.status, ST_FORMAT);
    assert_non_null(testing_sim_told(&w.t, "pto-run.deadlock"));
    unwatch(&w);
}

TEST(a_circle_of_waits_is_told)
{
    struct watched w;

    watch(&w, "a2a3",
          HEAD WAIT("V", "MTE2", "0") LOAD("t0") SET("MTE2", "V", "1") WAIT("MTE2", "V", "1")
              ADDS("t0", "t0") SET("V", "MTE2", "0"));
    assert_int_equal(w.t.status, ST_FORMAT);
    assert_non_null(strstr(testing_sim_told(&w.t, "pto-run.deadlock"),
                           "PIPE_V (line 18) waits for line 17 of PIPE_MTE2, which: PIPE_MTE2 "
                           "(line 15) waits for line 20 of PIPE_V"));
    unwatch(&w);
}

TEST(bytes_that_nothing_wrote)
{
    assert_found(HEAD ADDS("t0", "t1") FLAG("V", "MTE3", "0") STORE("t1"), "pto-race.empty",
                 "pto.tadds reads bytes 0 to 4095 of vec (%t0), which nothing wrote");
}

/* Short vector instructions of A2/A3 overlap: without a barrier the second reads too early. */
TEST(order_on_the_vector_pipe)
{
    static const char body[] =
        HEAD "%s0 = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 4x64xf32>\n"
             "pto.texpands ins(%f : f32) outs(%s0 : !pto.tile_buf<vec, 4x64xf32>)\n"
             "pto.tadds ins(%s0, %f : !pto.tile_buf<vec, 4x64xf32>, f32) outs(%s0 : "
             "!pto.tile_buf<vec, 4x64xf32>)\n" FLAG("V", "MTE3", "0");
    struct watched w;

    watch(&w, "a2a3", body);
    assert_int_equal(w.races.found.n, 1);
    assert_int_equal(w.races.found.at[0].kind, PTO_RACE_ORDER);
    assert_false(w.races.found.at[0].is_grave);
    unwatch(&w);
    watch(&w, "a5", body);
    assert_int_equal(w.races.found.n, 0);
    unwatch(&w);
}

/* A loop that an argument bounds is gone round, also when nobody gave the argument. */
TEST(loops_of_unknown_length_are_watched)
{
    assert_found(HEAD "%m = arith.index_cast %n : i32 to index\n"
                      "scf.for %i = %c0 to %m step %c1 {\n" LOAD("t0") FLAG("MTE2", "V", "0")
                          ADDS("t0", "t1") "}\n",
                 "pto-race.war", "pto.tload");
}

TEST(mutants_of_random_kernels_are_judged_alike)
{
    struct mutants *m = mutants_new();
    struct random_kernel *k = calloc(1, sizeof(*k));
    struct pto_sim s;
    uint32_t found = 0;

    pto_sim_init(&s);
    k->barrier_at = k->pair_from = k->pair_to = UINT32_MAX;
    for (uint32_t seed = 1; seed <= 150; seed++) {
        struct pto_module module;
        struct diag diag;
        uint8_t bytes[300];
        uint32_t random = seed * 2654435761u;
        for (size_t i = 0; i < sizeof(bytes); i++) {
            random = random * 1664525 + 1013904223;
            bytes[i] = (uint8_t)(random >> 16);
        }
        diag_init(&diag);
        random_kernel(k, bytes, sizeof(bytes));
        assert_int_equal(testing_read(&module, (struct str){k->text, k->n}), ST_OK);
        assert_int_equal(pto_sim_prepare(&s, &module, S(""), module.arch, false, "k.pto", &diag),
                         ST_OK);
        if (!mutants_kernel(m, &s, 4))
            fail_msg("seed %u\n%.*s", seed, (int)k->n, k->text);
        pto_module_fini(&module);
        diag_fini(&diag);
    }
    assert_int_equal(m->false_alarms, 0);
    assert_int_equal(m->disagreed, 0);
    for (int i = MUTANT_ONE; i < MUTANT_KINDS; i++) {
        assert_int_equal(m->found[i], m->harmful[i]);
        found += m->found[i];
    }
    assert_true(found >= 300 && m->harmful[MUTANT_PAIR] >= 100);
    pto_sim_free(&s);
    free(k);
    mutants_free(m);
}

/* A store of each block at a row, and what two blocks of it do. */
static size_t found_between_blocks(const char *row)
{
    struct watched w;
    struct arena arena;
    size_t n = 0;

    arena_init(&arena);
    testing_sim_open(
        &w.t, arena_format(&arena,
                           "func.func @k(%%a: !pto.ptr<f32>) attributes {pto.kernel_kind = "
                           "#pto.kernel_kind<vector>} {\n"
                           "%%c0 = arith.constant 0 : index\n%%c1 = arith.constant 1 : index\n"
                           "%%c16 = arith.constant 16 : index\n%%c64 = arith.constant 64 : index\n"
                           "%%b = pto.get_block_idx -> index\n"
                           "%%at = arith.muli %%b, %s : index\n"
                           "%%g = pto.make_tensor_view %%a, shape = [%%c64, %%c64], strides = "
                           "[%%c64, %%c1] : !pto.tensor_view<?x?xf32>\n"
                           "%%v = pto.partition_view %%g, offsets = [%%at, %%c0], sizes = [%%c16, "
                           "%%c64] : !pto.tensor_view<?x?xf32> -> " PART "\n"
                           "%%t = pto.alloc_tile : " VEC "\n"
                           "pto.tstore ins(%%t : " VEC ") outs(%%v : " PART ")\nreturn\n}\n",
                           row));
    pto_races_init(&w.races);
    assert_int_equal(
        pto_sim_prepare(&w.t.sim, &w.t.module, S(""), w.t.module.arch, false, "k.pto", &w.t.diag),
        ST_OK);
    assert_int_equal(pto_race_check(&w.races, &w.t.sim, w.t.costs, w.t.options, w.t.bindings,
                                    w.t.n_bindings, "k.pto", &w.t.diag),
                     ST_OK);
    for (size_t i = 0; i < w.races.found.n; i++)
        n += w.races.found.at[i].kind == PTO_RACE_BLOCKS &&
             strstr(pto_race_text(&w.races.found.at[i], &w.races.arena), "block 1") != NULL;
    unwatch(&w);
    arena_free(&arena);
    return n;
}

TEST(blocks_that_write_the_same_bytes_are_told)
{
    assert_int_equal(found_between_blocks("%c16"), 0);
    assert_int_equal(found_between_blocks("%c1"), 1); /* 16 rows each, one apart */
    assert_int_equal(found_between_blocks("%c0"), 1);
}

TEST_MAIN("kernels/pto/judge/race", T(blocks_that_write_the_same_bytes_are_told),
          T(a_kernel_with_all_its_flags_is_fine), T(a_flag_that_is_missing_is_named),
          T(the_scalar_unit_needs_flags_in_global_memory_too),
          T(a_product_and_its_store_take_turns_by_the_unit_flag),
          T(a_strip_of_a_tile_leaves_the_rest_alone), T(global_memory_is_watched_by_its_bytes),
          T(flags_without_a_partner_are_found), T(a_circle_of_waits_is_told),
          T(bytes_that_nothing_wrote), T(order_on_the_vector_pipe),
          T(loops_of_unknown_length_are_watched), T(mutants_of_random_kernels_are_judged_alike))
