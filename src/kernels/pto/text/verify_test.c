#include "kernels/pto/text/verify.h"

#include "kernels/pto/testing_pto.h"

#define VEC   "!pto.tile_buf<vec, 16x64xf32>"
#define MAT   "!pto.tile_buf<mat, 16x64xbf16, blayout=col_major, slayout=row_major>"
#define LEFT  "!pto.tile_buf<left, 16x64xbf16, slayout=row_major>"
#define RIGHT "!pto.tile_buf<right, 64x32xbf16, slayout=col_major>"
#define ACC   "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"

/* The code of the only problem of a body, "" when it is fine. */
static const char *verdict(const char *arch, const char *body)
{
    struct arena arena;
    struct pto_module m;
    const char *code = "";

    arena_init(&arena);
    enum status st = testing_read(&m, testing_kernel(&arena, arch, body));
    assert_int_equal(st == ST_OK, m.problems.n == 0);
    if (m.problems.n > 0) {
        code = m.problems.at[0].code;
        assert_true(m.problems.at[0].line > 0 && m.problems.at[0].col > 0);
    }
    if (m.problems.n > 1)
        print_message("%s\n%s\n", m.problems.at[0].text, m.problems.at[1].text);
    assert_true(m.problems.n <= 1);
    pto_module_fini(&m);
    arena_free(&arena);
    return code;
}

struct row {
    const char *body, *code;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *code = verdict("a2a3", rows[i].body);
        if (strcmp(code, rows[i].code) != 0)
            print_message("%s\n", rows[i].body);
        assert_string_equal(code, rows[i].code);
    }
}

TEST(names_and_types)
{
    static const struct row rows[] = {
        {"%x = arith.addi %c0, %c1 : index", ""},
        {"%x = arith.addi %c0, %q : index", "pto-ir.undefined"},
        {"%x = arith.addi %c0, %n : index", "pto-ir.type-mismatch"},
        {"%c0 = arith.constant 1 : index", "pto-ir.defined-twice"},
        {"scf.if %t {\n%x = arith.addi %c0, %c1 : index\n}", "pto-ir.undefined"},
        {"%t = arith.cmpi slt, %c0, %c1 : index\nscf.if %t {\n%x = arith.addi %c0, %c1 : index\n}\n"
         "%y = arith.addi %x, %c0 : index",
         "pto-ir.undefined"},
        {"pto.foo %a", "pto-ir.unknown-op"},
        {"pto.vlds %a", "pto-ir.unsupported-op"},
        {"pto.vmi.load %a {\n %x = pto.vmi.y\n}", "pto-ir.unsupported-op"},
        {"%x = memref.load %a[%c0] : memref<?xf32>", "pto-ir.unsupported-op"},
        {"%x, %y = arith.addi %c0, %c1 : index", "pto-ir.bad-results"},
        {"%x = arith.addf %c0, %c1 : index", "pto-ir.type-mismatch"},
        {"%x = arith.divsi %c1, %c0 : index", "pto-ir.division-by-zero"},
        {"%x = arith.remsi %c0, %c1 : index", ""},
        {"%x = arith.constant 300 : i8", "pto-ir.bad-number"},
        {"%x = arith.constant 1.5 : i8", "pto-ir.bad-number"},
        {"%x = arith.constant 0x1FFFF : f16", "pto-ir.bad-number"},
        {"%x = arith.extsi %n : i32 to i16", "pto-ir.type-mismatch"},
        {"%x = pto.load_scalar %a[%c0] : !pto.ptr<f32> -> i32", "pto-ir.type-mismatch"},
        {"%x = pto.load_scalar %a[%c0] : !pto.ptr<f64> -> i32", "pto-ir.bad-type"},
    };

    check_rows(rows, ARRAY_LEN(rows));
}

TEST(loops_and_regions)
{
    static const struct row rows[] = {
        {"scf.for %i = %c0 to %c1 step %c0 {\n}", "pto-ir.endless-loop"},
        {"%r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %n) -> (i32) {\n}",
         "pto-ir.bad-yield"},
        {"%r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %n) -> (i32) {\n"
         "scf.yield %i : index\n}",
         "pto-ir.type-mismatch"},
        {"%t = arith.cmpi eq, %c0, %c1 : index\n%r = scf.if %t -> (index) {\n"
         "scf.yield %c0 : index\n}",
         "pto-ir.bad-region"},
        {"func.call @nobody() : () -> ()", "pto-ir.bad-call"},
        {"func.call @k(%a, %b, %n) : (!pto.ptr<f32>, !pto.ptr<i32>, i32) -> ()",
         "pto-ir.recursion"},
        {"\"scf.if\"(%c0) : (index) -> ()", "pto-ir.bad-region"},
        {"\"pto.alloc_tile\"() : () -> ()", "pto-ir.bad-results"},
        {"\"pto.barrier\"() : () -> ()", "pto-ir.bad-operands"},
        {"%e = scf.execute_region -> index {\n cf.br ^b\n ^b:\n scf.yield %c0 : index\n}", ""},
        {"%t = arith.cmpi eq, %c0, %c1 : index\n"
         "scf.execute_region {\n cf.cond_br %t, ^b, ^c\n ^b:\n"
         " %x = arith.addi %c0, %c1 : index\n cf.br ^c\n ^c:\n"
         " %y = arith.addi %x, %c1 : index\n scf.yield\n}",
         "pto-ir.dominance"},
        {"scf.execute_region {\n cf.br ^nowhere\n}", "pto-ir.unknown-block"},
    };

    check_rows(rows, ARRAY_LEN(rows));
}

TEST(tiles_and_their_places)
{
    static const struct row rows[] = {
        {"%t = pto.alloc_tile addr = %z : " VEC, ""},
        {"%x = arith.constant 196000 : i64\n%t = pto.alloc_tile addr = %x : " VEC,
         "pto-ir.out-of-space"},
        {"%t = pto.alloc_tile : !pto.tile_buf<vec, 512x512xf32>", "pto-ir.out-of-space"},
        {"%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32, valid=?x64>", "pto-ir.bad-valid"},
        {"%t = pto.alloc_tile valid_row = %c1 : " VEC, "pto-ir.bad-valid"},
        {"%x = arith.constant 17 : index\n"
         "%t = pto.alloc_tile valid_row = %x : !pto.tile_buf<vec, 16x64xf32, valid=?x64>",
         "pto-ir.bad-valid"},
        {"%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32, valid=32x64>", "pto-ir.bad-valid"},
        {"%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32, fractal=100>", "pto-ir.bad-tile"},
        {"%t = pto.alloc_tile : !pto.tile_buf<vec, 0x64xf32>", "pto-ir.bad-tile"},
        {"%t = pto.alloc_tile : !pto.tile_buf<l1, 16x64xf32>", "pto-ir.bad-type"},
        {"%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32, pad=1, pad=1>", "pto-ir.bad-type"},
        {"%t = pto.alloc_tile : !nothing", "pto-ir.unknown-type"},
        {"%t = pto.alloc_tile : " VEC "\n%s = pto.subview %t[%c1, %c0] sizes [16, 64] : " VEC
         " -> " VEC,
         "pto-ir.out-of-tile"},
        {"%t = pto.alloc_tile : " VEC "\n%x = arith.constant 20 : index\n"
         "pto.set_validshape %t, %x, %c1 : " VEC,
         "pto-ir.bad-valid"},
        {"%t = pto.alloc_tile : " VEC "\n%s = pto.treshape %t : " VEC
         " -> !pto.tile_buf<vec, 8x64xf32>",
         "pto-ir.type-mismatch"},
        {"%v = pto.make_tensor_view %a, shape = [%c1], strides = [%c1, %c1] : "
         "!pto.tensor_view<?xf32>",
         "pto-ir.bad-operands"},
        {"%v = pto.make_tensor_view %a, shape = [%c1], strides = [%c1] : !pto.tensor_view<?xi32>",
         "pto-ir.type-mismatch"},
        {"%m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x64xf32, count=17>",
         "pto-ir.bad-tile"},
    };

    check_rows(rows, ARRAY_LEN(rows));
}

#define VIEW                                                                                       \
    "%v = pto.make_tensor_view %a, shape = [%c1, %c1], strides = [%c1, %c1] : "                    \
    "!pto.tensor_view<?x?xf32>\n"                                                                  \
    "%p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c1] : "                      \
    "!pto.tensor_view<?x?xf32>\n"

TEST(moves_and_multiplications)
{
    static const struct row rows[] = {
        {VIEW "%t = pto.alloc_tile : " VEC
              "\npto.tload ins(%p : !pto.partition_tensor_view<1x1xf32>) outs(%t : " VEC ")",
         ""},
        {VIEW "%t = pto.alloc_tile : " LEFT
              "\npto.tload ins(%p : !pto.partition_tensor_view<1x1xf32>) outs(%t : " LEFT ")",
         "pto-ir.bad-space"},
        {VIEW "%t = pto.alloc_tile : " MAT
              "\npto.tload ins(%p : !pto.partition_tensor_view<1x1xf32>) outs(%t : " MAT ")",
         "pto-ir.type-mismatch"},
        {VIEW "%t = pto.alloc_tile : !pto.tile_buf<acc, 1x8000xf32>\n"
              "pto.tstore ins(%t : !pto.tile_buf<acc, 1x8000xf32>) "
              "outs(%p : !pto.partition_tensor_view<1x1xf32>)",
         "pto-ir.bad-shape"},
        {"%l = pto.alloc_tile : " LEFT "\n%r = pto.alloc_tile : " RIGHT
         "\n%o = pto.alloc_tile : " ACC "\npto.tmatmul ins(%l, %r : " LEFT ", " RIGHT
         ") outs(%o : " ACC ")",
         ""},
        {"%l = pto.alloc_tile : " LEFT "\n%r = pto.alloc_tile : " RIGHT
         "\n%o = pto.alloc_tile : " ACC "\npto.tmatmul ins(%r, %l : " RIGHT ", " LEFT
         ") outs(%o : " ACC ")",
         "pto-ir.bad-space"},
        {"%l = pto.alloc_tile : " LEFT "\n%r = pto.alloc_tile : !pto.tile_buf<right, 32x32xbf16>\n"
         "%o = pto.alloc_tile : " ACC "\npto.tmatmul ins(%l, %r : " LEFT
         ", !pto.tile_buf<right, 32x32xbf16>) outs(%o : " ACC ")",
         "pto-ir.bad-shape"},
        {"%t = pto.alloc_tile : " VEC "\npto.tadd ins(%t : " VEC ") outs(%t : " VEC ")",
         "pto-ir.bad-operands"},
    };

    check_rows(rows, ARRAY_LEN(rows));
}

TEST(fifos_and_flags)
{
    static const struct row rows[] = {
        {"pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}\n"
         "%t = pto.tpop_from_aic {split = 0} -> " VEC,
         ""},
        {"%t = pto.tpop_from_aic {split = 0} -> " VEC, "pto-ir.bad-fifo"},
        {"pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024}\n"
         "%t = pto.tpop_from_aic {split = 0} -> " VEC,
         "pto-ir.bad-fifo"},
        {"pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8}\n"
         "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 8}",
         "pto-ir.bad-fifo"},
        {"pto.aiv_initialize_pipe {id = 0, dir_mask = 3, slot_size = 8}\n"
         "pto.aiv_initialize_pipe {id = 1, dir_mask = 3, slot_size = 8}\n"
         "pto.aiv_initialize_pipe {id = 2, dir_mask = 3, slot_size = 8}\n"
         "pto.aiv_initialize_pipe {id = 3, dir_mask = 3, slot_size = 8}\n"
         "pto.aiv_initialize_pipe {id = 4, dir_mask = 1, slot_size = 8}",
         "pto-ir.too-many-flags"},
        {"%x = pto.import_reserved_buffer {name = \"n\", peer_func = @k} -> i32",
         "pto-ir.bad-fifo"},
        {"pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID8>]", "pto-ir.bad-event"},
        {"pto.sync.set <PIPE_V>, 16", "pto-ir.bad-event"},
        {"pto.barrier <PIPE_X>", "pto-ir.bad-word"},
    };

    check_rows(rows, ARRAY_LEN(rows));
    assert_string_equal(verdict("a5", "pto.sync.set <PIPE_V>, 16"), "");
}

TEST(a_space_is_as_large_as_its_architecture_makes_it)
{
    const char *body = "%t = pto.alloc_tile : !pto.tile_buf<vec, 100x512xf32>";

    assert_string_equal(verdict("a2a3", body), "pto-ir.out-of-space");
    assert_string_equal(verdict("a5", body), "");
    assert_string_equal(verdict("a6", ""), "pto-ir.bad-arch");
}

#define LARGE       "!pto.tile_buf<vec, 128x256xf32>" /* 128 KiB of 192 */
#define USE(tile)   "pto.tabs ins(" tile " : " LARGE ") outs(" tile " : " LARGE ")\n"
#define PLACE(tile) tile " = pto.alloc_tile : " LARGE "\n"

static uint64_t errors_of(const char *body)
{
    struct pto_module m;
    struct arena arena;

    arena_init(&arena);
    (void)testing_read(&m, testing_kernel(&arena, "a2a3", body));
    uint64_t n = m.error_count;
    if (n > 0)
        assert_string_equal(m.problems.at[0].code, "pto-ir.out-of-space");
    pto_module_fini(&m);
    arena_free(&arena);
    return n;
}

TEST(tiles_without_an_address_fit_when_they_are_in_use)
{
    assert_int_equal(errors_of(PLACE("%s") PLACE("%t") USE("%s") USE("%t")), 1);
    assert_int_equal(errors_of(PLACE("%s") USE("%s") PLACE("%t") USE("%t")), 0);
    assert_int_equal(errors_of(PLACE("%s") "scf.for %i = %c0 to %c1 step %c1 {\n" USE("%s")
                                   PLACE("%t") USE("%t") "}\n"),
                     1); /* the next round needs it again */
}

TEST_MAIN("kernels/pto/text/verify", T(tiles_without_an_address_fit_when_they_are_in_use),
          T(names_and_types), T(loops_and_regions), T(tiles_and_their_places),
          T(moves_and_multiplications), T(fifos_and_flags),
          T(a_space_is_as_large_as_its_architecture_makes_it))
