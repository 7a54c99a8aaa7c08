#include "kernels/pto/judge/rewrite.h"

#include "kernels/pto/testing_pto.h"

struct change_case {
    struct arena arena;
    struct pto_module module;
    struct pto_rewrites out;
    struct str text;
};

static void open_case(struct change_case *c, const char *body)
{
    arena_init(&c->arena);
    c->text = testing_kernel(&c->arena, "a2a3", body);
    assert_int_equal(testing_read(&c->module, c->text), ST_OK);
    pto_rewrites_init(&c->out);
    pto_rewrite_list(&c->module, &c->module.functions.at[0], c->text, PTO_A2A3, &c->out);
}

static void close_case(struct change_case *c)
{
    pto_rewrites_free(&c->out);
    pto_module_fini(&c->module);
    arena_free(&c->arena);
}

static size_t rewrite_count(const struct change_case *c, enum pto_rewrite_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < c->out.list.n; i++)
        n += c->out.list.at[i].kind == kind;
    return n;
}

/* Every change must be a kernel again. */
static void check_all(struct change_case *c)
{
    for (size_t i = 0; i < c->out.list.n; i++) {
        struct pto_module m;
        assert_int_equal(testing_read(&m, c->out.list.at[i].text), ST_OK);
        pto_module_fini(&m);
        assert_true(pto_rewrite_title(&c->out.list.at[i], LANG_EN, &c->arena).n > 0);
    }
}

#define TILE       "!pto.tile_buf<vec, 16x64xf32>"
#define FILL(tile) "pto.texpands ins(%f : f32) outs(" tile " : " TILE ")\n"
#define ADD(a, b)  "pto.tadds ins(" a ", %f : " TILE ", f32) outs(" b " : " TILE ")\n"
#define LOOP       "%f = arith.constant 1.0 : f32\nscf.for %i = %c0 to %c1 step %c1 {\n"

TEST(a_loop_that_writes_first_is_doubled)
{
    struct change_case c;

    open_case(&c, LOOP "%t = pto.alloc_tile addr = %z : " TILE "\n" FILL("%t") ADD("%t", "%t") "}");
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 1);
    assert_int_equal(c.out.list.at[0].tiles, 1);
    assert_str(c.out.list.at[0].name, "%t");
    assert_true(str_contains(c.out.list.at[0].text, S("%s2_t = pto.alloc_tile addr = %s2_addr")));
    assert_true(str_contains(c.out.list.at[0].text, S("arith.constant 4096 : i64")));
    check_all(&c);
    close_case(&c);
}

#define COPY(from, to) "pto.tmov ins(" from " : " TILE ") outs(" to " : " TILE ")\n"
#define BEFORE(body)                                                                               \
    "%h = arith.constant 4096 : i64\n%t = pto.alloc_tile addr = %z : " TILE "\n"                   \
    "%s = pto.alloc_tile addr = %h : " TILE "\n" LOOP body

TEST(tiles_from_before_a_loop_are_doubled_when_each_round_writes_them_whole)
{
    struct change_case c;

    open_case(&c, BEFORE(COPY("%s", "%t") ADD("%t", "%t") "}"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 1);
    assert_int_equal(c.out.list.at[0].tiles, 1);
    assert_str(c.out.list.at[0].name, "%t");
    assert_true(str_contains(c.out.list.at[0].text, S("%s2_t = pto.alloc_tile addr = %s2_addr")));
    assert_true(str_contains(c.out.list.at[0].text, S("ins(%s2_t, %f")));
    check_all(&c);
    close_case(&c);
    /* used behind the loop; written in some rounds only; not written whole */
    open_case(&c, BEFORE(COPY("%s", "%t") ADD("%t", "%t") "}\n" ADD("%t", "%t")));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 0);
    close_case(&c);
    open_case(&c, BEFORE("%q = arith.cmpi eq, %i, %c0 : index\nscf.if %q {\n" COPY(
                      "%s", "%t") "}\n" ADD("%t", "%t") "}"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 0);
    close_case(&c);
    open_case(&c, BEFORE("pto.tsetval ins(%c0, %f : index, f32) outs(%t : " TILE
                         ")\n" ADD("%t", "%t") "}"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 0);
    close_case(&c);
}

TEST(what_one_round_leaves_for_the_next_stays)
{
    struct change_case c;

    open_case(&c, LOOP "%t = pto.alloc_tile addr = %z : " TILE "\n" ADD("%t", "%t") "}");
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 0);
    close_case(&c);
}

TEST(bytes_that_are_read_behind_the_loop_stay)
{
    struct change_case c;

    open_case(&c, LOOP "%t = pto.alloc_tile addr = %z : " TILE "\n" FILL(
                      "%t") "}\n%u = pto.alloc_tile addr = %z : " TILE "\n" ADD("%u", "%u"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_DOUBLE), 0);
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_APART), 0);
    close_case(&c);
}

TEST(tiles_in_the_same_bytes_are_set_apart)
{
    struct change_case c;

    open_case(&c, "%f = arith.constant 1.0 : f32\n%t = pto.alloc_tile addr = %z : " TILE
                  "\n%u = pto.alloc_tile addr = %z : " TILE "\n" FILL("%t") FILL("%u"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_APART), 3); /* both, and each */
    check_all(&c);
    close_case(&c);
}

#define PART "!pto.partition_tensor_view<?x?xf32>"
#define LOAD(p, t)                                                                                 \
    p " = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c1] : "                      \
      "!pto.tensor_view<?x?xf32> -> " PART "\npto.tload ins(" p " : " PART ") outs(" t " : " TILE  \
      ")\n"
#define LOADS                                                                                      \
    "%far = arith.constant 8192 : i64\n%t = pto.alloc_tile addr = %z : " TILE                      \
    "\n%u = pto.alloc_tile addr = %far : " TILE                                                    \
    "\n%v = pto.make_tensor_view %a, shape = [%c1, %c1], strides = [%c1, %c1] : "                  \
    "!pto.tensor_view<?x?xf32>\n" LOAD("%p", "%t") LOAD("%q", "%u")

TEST(loads_are_swapped_over_views)
{
    struct change_case c;

    open_case(&c, LOADS);
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_SWAP), 1);
    check_all(&c);
    close_case(&c);
}

TEST(flags_move_over_one_instruction_of_their_pipe)
{
    struct change_case c;

    open_case(&c, LOADS "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
                        "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
                        "%f = arith.constant 1.0 : f32\n" ADD("%t", "%t"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_SET), 1);
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_WAIT), 1);
    check_all(&c);
    close_case(&c);
}

#define CONSTANT(name, n) "%" name " = arith.constant " n " : index\n"
#define WINDOW(type)                                                                               \
    "%p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %c64] : "                     \
    "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x64xf32>\n"                         \
    "pto.tload ins(%p : !pto.partition_tensor_view<16x64xf32>) outs(%t : " TILE ")\n" type
#define ROWS_LOOP(work)                                                                            \
    CONSTANT("c16", "16")                                                                          \
    CONSTANT("c64", "64")                                                                          \
    "%v = pto.make_tensor_view %a, shape = [%c64, %c64], strides = [%c64, %c1] : "                 \
    "!pto.tensor_view<?x?xf32>\n%f = arith.constant 1.0 : f32\n"                                   \
    "scf.for %i = %c0 to %c64 step %c16 {\n"                                                       \
    "%t = pto.alloc_tile addr = %z : " TILE "\n" WINDOW(work) "}"

static const struct pto_rewrite *change_to(const struct change_case *c, int64_t size)
{
    for (size_t i = 0; i < c->out.list.n; i++)
        if (c->out.list.at[i].kind == PTO_REWRITE_SIZE && c->out.list.at[i].new_size == size &&
            !c->out.list.at[i].is_doubled)
            return &c->out.list.at[i];
    return NULL;
}

TEST(tiles_of_a_loop_grow_and_shrink)
{
    struct change_case c;

    open_case(&c, ROWS_LOOP(ADD("%t", "%t")));
    assert_non_null(change_to(&c, 8));
    const struct pto_rewrite *w = change_to(&c, 32);
    assert_non_null(w);
    assert_true(str_contains(w->text, S("step %s2_size {")));
    assert_true(str_contains(w->text, S("!pto.partition_tensor_view<32x64xf32>")));
    assert_true(str_contains(w->text, S("rows=32, cols=64")));
    assert_false(str_contains(w->text, S("16x64xf32")));
    check_all(&c);
    close_case(&c);
}

TEST(what_works_across_the_rows_keeps_its_size)
{
    struct change_case c;

    open_case(&c, ROWS_LOOP("%s = pto.alloc_tile addr = %z : !pto.tile_buf<vec, 1x64xf32>\n"
                            "pto.tcolsum ins(%t : " TILE
                            ") outs(%s : !pto.tile_buf<vec, 1x64xf32>)\n"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_SIZE), 0);
    close_case(&c);
    open_case(&c, ROWS_LOOP(ADD("%t", "%t") "%o = arith.addi %i, %c1 : index\n"));
    assert_int_equal(rewrite_count(&c, PTO_REWRITE_SIZE), 0); /* the counter is used otherwise */
    close_case(&c);
}

TEST_MAIN("kernels/pto/judge/rewrite", T(tiles_of_a_loop_grow_and_shrink),
          T(what_works_across_the_rows_keeps_its_size), T(loads_are_swapped_over_views),
          T(flags_move_over_one_instruction_of_their_pipe), T(a_loop_that_writes_first_is_doubled),
          T(tiles_from_before_a_loop_are_doubled_when_each_round_writes_them_whole),
          T(what_one_round_leaves_for_the_next_stays), T(bytes_that_are_read_behind_the_loop_stay),
          T(tiles_in_the_same_bytes_are_set_apart))
