/* What is wrong in a text is said where it stands: one row for each way to be wrong, and rare forms
 * that are right. */
#include "kernels/pto/testing_pto.h"

struct row {
    const char *text;
    const char *said; /* how the first problem begins; NULL: there is none */
};

static void errors_check(struct str text, const struct row *row)
{
    struct pto_module m;
    struct pto_parser *p = pto_parser_new();

    pto_module_init(&m);
    enum status st = pto_parse(p, text, &m);
    pto_parser_free(p);
    const char *said = m.problems.n > 0 ? m.problems.at[0].text : NULL;
    if ((said == NULL) != (row->said == NULL) ||
        (said != NULL && strncmp(said, row->said, strlen(row->said)) != 0))
        fail_msg("%s\n  says: %s\n  not: %s", row->text, said, row->said);
    assert_int_equal(st, row->said != NULL ? ST_FORMAT : ST_OK);
    pto_module_fini(&m);
}

/* Each text between the two halves of a module. */
static void check_rows(const char *before, const struct row *rows, size_t n, const char *after)
{
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < n; i++)
        errors_check(arena_format(&arena, "%s%s%s", before, rows[i].text, after), &rows[i]);
    arena_free(&arena);
}

static void check_kernels(const struct row *rows, size_t n)
{
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < n; i++)
        errors_check(testing_kernel(&arena, "a2a3", rows[i].text), &rows[i]);
    arena_free(&arena);
}

static void check_types(const struct row *rows, size_t n)
{
    check_rows("module {\nfunc.func @k(%x: ", rows, n, ") {\nreturn\n}\n}\n");
}

TEST(modules_and_functions)
{
    static const struct row rows[] = {
        {"module {\nfunc.func @k(i32, f32) {\nreturn\n}\n}\n", NULL},
        {"module {\nfunc.func private @k(i32, f32)\n}\n", NULL},
        {"module {\nfunc.func k() {\nreturn\n}\n}\n",
         "expected the name of a function, as in @kernel, found k"},
        {"module {\nfunc.func @k() {\nreturn\n}\nfunc.func @k() {\nreturn\n}\n}\n",
         "@k is defined already"},
        {"module {\nfunc.func @k(%x: i32 {pto.a = }) {\nreturn\n}\n}\n",
         "expected a value, found }"},
        {"module {\nfunc.func @k(%x: i32 {pto.a = 1}) {\nreturn\n}\n}\n", NULL},
        {"module {\nfunc.func @k() -> {\nreturn\n}\n}\n", "expected a type, found {"},
        {"module {\nfunc.func @k() attributes 5 {\nreturn\n}\n}\n",
         "expected a function (func.func), found 5"},
        {"module {\nsomething { return }\nfunc.func @k() {\nreturn\n}\n}\n",
         "expected a function (func.func), found something"},
        {"module attributes 5 {\n}\n", "expected '{', found 5"},
        {"module 5\n", "expected '{', found 5"},
        {"!l = nothing\nmodule {\n}\n", "no such type: nothing"},
        {"module {\n}\nmore\n", "expected the end of the text, found more"},
        {"#a = 5\n#b = #a\nmodule attributes {x = #b, y = #c} {\n}\n", "no such attribute: #c"},
    };

    check_rows("", rows, ARRAY_LEN(rows), "");
}

TEST(types)
{
    static const struct row rows[] = {
        {"!pto.ptr<f32, gm", "in this type something is missing: >"},
        {"!pto.ptr f32", "in this type something is missing: <"},
        {"!pto.ptr<f32, nowhere>", "no such address space: nowhere"},
        {"!pto.ptr<f32, ub>", NULL},
        {"!pto.ptr<!pto.ptr<f32>>", "a pointer leads to scalars"},
        {"!pto.nothing", NULL},
        {"nothing", "no such type: nothing"},
        {"tensor<4xf32>", NULL},
        {"!other.type<a<b>, \"c>\">", "expected ')', found \">) {"},
        {"!other.type<a<b>", "expected ')', found }"},
        {"memref<4x4xf32, strided<[4, 1]>, #pto.address_space<vec>>", NULL},
        {"memref<4x4xf32, strided<[4, 1]", "expected ')', but the text ends"},
        {"memref<99999999999999999999xf32>", NULL},
        {"memref<xf32>", NULL},
        {"!pto.tensor_view<f32>", "this type has no dimension, or too many"},
        {"!pto.tensor_view<1x1x1x1x1x1xf32>", "this type has no dimension, or too many"},
        {"!pto.tensor_view<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>",
         "this type has too many dimensions"},
        {"!pto.tensor_view<4x4x!pto.ptr<f32>>", "the elements of this type are no scalars"},
        {"!pto.tensor_view<4x4xnothing>", "no such type: nothing"},
        {"!pto.local_array<?xf32>", "the dimensions of this type are numbers"},
        {"vector<?xf32>", "the dimensions of this type are numbers"},
        {"!pto.eventid_array<0>", "an event array has a size"},
        {"!pto.eventid_array<-1>", "a dimension is missing in this type"},
        {"!pto.struct<i32, !pto.ptr<f32>>", "the members of a struct are scalars"},
        {"!pto.struct<i32, nothing>", "no such type: nothing"},
        {"!pto.struct<i32, f32>", NULL},
        {"i32>", "expected ')', found >"},
        {"i0", "no such type: i0"},
    };

    check_types(rows, ARRAY_LEN(rows));
}

TEST(tiles)
{
    static const struct row rows[] = {
        {"!pto.tile_buf<vec, 16xf32>", "a tile has two dimensions"},
        {"!pto.tile_buf<vec, 16x16x16xf32>", "a tile has two dimensions"},
        {"!pto.tile_buf<vec, 16x16x!pto.ptr<f32>>", "the elements of this type are no scalars"},
        {"!pto.tile_buf<gm, 16x16xf32>", "no such place for a tile: gm"},
        {"!pto.tile_buf<vec, 16x16xf32, size=4>", "a tile type has no size"},
        {"!pto.tile_buf<vec, 16x16xf32, pad>", "in this type something is missing: ="},
        {"!pto.tile_buf<vec, 16x16xf32, pad=much>", "not a number in this type: much"},
        {"!pto.tile_buf<vec, 16x16xf32, pad=-1>",
         "pad of a tile is 0 to 3, or bit 32 and a value below it"},
        {"!pto.tile_buf<vec, 16x16xf32, pad=4>",
         "pad of a tile is 0 to 3, or bit 32 and a value below it"},
        {"!pto.tile_buf<vec, 16x16xf32, compact=4>", "compact of a tile is 0 to 3"},
        {"!pto.tile_buf<vec, 16x16xf32, blayout=diagonal>", "no such blayout: diagonal"},
        {"!pto.tile_buf<vec, 16x16xf32, slayout=diagonal>", "no such slayout: diagonal"},
        {"!pto.tile_buf<vec, 16x16xf32, valid=4>", "in this type something is missing: x"},
        {"!pto.tile_buf<loc=vec, dtype=f32, rows=16>",
         "a tile type needs loc, dtype, rows and cols"},
        {"!pto.tile_buf<loc=vec, dtype=!pto.ptr<f32>, rows=16, cols=16>",
         "the elements of this tile are no scalars"},
        {"!pto.tile_buf<loc=vec, dtype=nothing, rows=16, cols=16>", "no such type: nothing"},
        {"!pto.tile_buf<loc=vec, dtype=f32, rows=many, cols=16>",
         "a dimension is missing in this type"},
        {"!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>, count=2>", NULL},
        {"!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>>",
         "in this type something is missing: ,"},
        {"!pto.multi_tile_buf<f32, count=2>", "no such place for a tile: f32"},
        {"!pto.multi_tile_buf<nothing, count=2>", "no such place for a tile: nothing"},
        {"!pto.multi_tile_buf<vec, 16x16xf32, count=2>", NULL},
        {"!pto.multi_tile_buf<vec, 16x16xf32>", "a multi tile has 2 to 16 slots"},
    };

    check_types(rows, ARRAY_LEN(rows));
}

TEST(attributes)
{
    static const struct row rows[] = {
        {"a = 18446744073709551615, b = -5 : i32, c = 0x1F : i32", NULL},
        {"a = 18446744073709551616", "the number 18446744073709551616 is too large"},
        {"a = 1.5 : i32", "1.5 is no whole number, but its type is"},
        {"a = 0xFF : i8, b = 0x7FC0 : bf16", NULL},
        {"a = 0x7FC000000 : f32", "0x7FC000000 does not fit its type"},
        {"a = 5 : nothing", "no such type: nothing"},
        {"a = f32, b = !pto.ptr<f32>, c = () -> (), d = (i32) -> f32", NULL},
        {"a = (i32 -> f32", "expected '->', found {"},
        {"a = dense<0> , b = affine_map<(d0) -> (d0)>, c = split2 ", NULL},
        {"a = dense<0 ", "expected '}', found {"},
        {"a = [1, 2, nothing<]", "expected ']', found }"},
        {"a = {b = 1, c = }", "expected a value, found }"},
        {"a = array<i32: 1, 2>, b = array<i64>", NULL},
        {"a = array<i32: 1, x>", NULL},
        {"a = array<nothing: 1>", "no such type: nothing"},
        {"a = 1, a = 2", "a is given twice"},
        {"5 = 1", "expected the name of an attribute, found 5"},
        {"a = %x", "expected a value, found %x"},
        {"a = #pto.round_mode<2>, b = #pto<round_mode ROUND>", NULL},
        {"a = #pto.round_mode<99>", "round_mode has no value 99"},
        {"a = #pto.round_mode<%x>", "expected a word, found %x"},
        {"a = #pto.round_mode<UPWARDS>", "round_mode has no value UPWARDS"},
        {"a = #other.thing<x<y>>", NULL},
    };

    check_rows("module attributes {", rows, ARRAY_LEN(rows),
               "} {\nfunc.func @k() {\nreturn\n}\n}\n");
}

#define TILE "!pto.tile_buf<vec, 16x64xf32>"

TEST(operations)
{
    static const struct row rows[] = {
        {"%t = pto.alloc_tile : nothing", "no such type: nothing"},
        {"%t = pto.alloc_tile addr %z : " TILE, "expected ':', found addr"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg %t", "expected 'ins', found %t"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t : " TILE ") outs(5)",
         "expected a value, found 5"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t : nothing) outs(%t : " TILE ")",
         "no such type: nothing"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t , : " TILE ") outs(%t : " TILE ")",
         "expected a value, found :"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t " TILE ") outs(%t : " TILE ")",
         "expected ':', found !pto.tile_buf"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins %t outs(%t : " TILE ")",
         "expected '(', found %t"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t : " TILE ") outs(%t : " TILE ") {a = }",
         "expected a value, found }"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t : " TILE ") outs(%t : " TILE
         ") pad_mode = %z : i64",
         "pad_mode takes no value"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t : " TILE ") outs(%t : " TILE
         ") pad_mode 5",
         "expected '=', found 5"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t : " TILE ") outs(%t : " TILE
         ") pad_mode = }",
         "expected a value, found }"},
        {"%t = pto.alloc_tile : " TILE "\npto.tneg ins(%t {a = } : " TILE ") outs(%t : " TILE ")",
         "expected a value, found }"},
        {"%p = arith.cmpi 5, %c0, %c1 : index", "expected a predicate, found 5"},
        {"%p = arith.cmpi sideways, %c0, %c1 : index", "no such predicate: sideways"},
        {"%p = arith.cmpi slt %c0, %c1 : index", "expected ',', found %c0"},
        {"%p = arith.cmpi slt, %c0, 5 : index", "expected a value, found 5"},
        {"%p = arith.constant : i32", "expected a value, found :"},
        {"%p = arith.constant true", NULL},
        {"%p = arith.constant 5.0 : i32", "5.0 is no whole number, but its type is"},
        {"%p = arith.constant 5", "expected a number with its type, as in 5 : i32"},
        {"%p = arith.constant \"text\" : i32", "expected a number with its type, as in 5 : i32"},
        {"%p = arith.index_cast %n : i32 index", "expected 'to', found index"},
        {"%p, %q = arith.addi %n, %n : i32", "arith.addi gives 1 result, but 2 are named"},
        {"%n = arith.addi %n, %n : i32", "%n is defined already"},
        {"5 = arith.addi %n, %n : i32", "expected an operation, found 5"},
        {"= arith.addi", "expected an operation, found ="},
    };

    check_kernels(rows, ARRAY_LEN(rows));
}

TEST(loops_and_conditions)
{
    static const struct row rows[] = {
        {"scf.for 5 = %c0 to %c1 step %c1 {\n}", "expected the loop variable, found 5"},
        {"scf.for %i = %c0 %c1 step %c1 {\n}", "expected 'to', found %c1"},
        {"scf.for %i = %c0 to %c1 %c1 {\n}", "expected 'step', found %c1"},
        {"scf.for %i = %c0 to %c1 step %c1 : nothing {\n}", "no such type: nothing"},
        {"scf.for %i = %n to %n step %n : i32 {\n}", NULL},
        {"%s = scf.for %i = %c0 to %c1 step %c1 iter_args(5 = %c0) -> (index) {\nscf.yield %c0 : "
         "index\n}",
         "expected a value, found 5"},
        {"%s = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = 5) -> (index) {\nscf.yield %x : "
         "index\n}",
         "expected a value, found 5"},
        {"%s = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %c0) (index) {\nscf.yield %x : "
         "index\n}",
         "expected '->', found ("},
        {"%s = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %c0) -> (index, index) {\nscf.yield "
         "%x : index\n}",
         "1 loop values, but 2 types for them"},
        {"%s = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %c0) -> (index) {\nscf.yield %x : "
         "index\n}",
         NULL},
        {"scf.if 5 {\n}", "expected a value, found 5"},
        {"%p = arith.constant true\nscf.if %p -> nothing {\n}", "no such type: nothing"},
        {"%p = arith.constant true\nscf.if %p {\n} else 5", "expected '{', found 5"},
        {"%p = arith.constant true\nscf.if %p {\n} else {\n}", NULL},
        {"scf.while (5 = %c0) : (index) -> index {\n}", "expected a value, found 5"},
        {"%w = scf.while (%x = %c0) : (index) -> (index) {\n%p = arith.constant "
         "true\nscf.condition(%p) %x : index\n"
         "} do {\n^bb0(%y: index):\nscf.yield %y : index\n}",
         NULL},
        {"%w = scf.while (%x = %c0) : (index, index) -> (index) {\n} do {\n}",
         "1 loop values, but 2 types for them"},
        {"%w = scf.while (%x = %c0) (index) -> (index) {\n} do {\n}", "expected ':', found ("},
        {"%w = scf.while (%x = %c0) : (index) -> (index) {\n} to {\n}", "expected 'do', found to"},
        {"5 {\n}", "expected an operation, found 5"},
    };

    check_kernels(rows, ARRAY_LEN(rows));
}

TEST(the_generic_form)
{
    static const struct row rows[] = {
        {"%x = \"arith.addi\"(%n, %n) : (i32, i32) -> i32", NULL},
        {"%x = \"arith.addi\"(%n) : (i32) -> i32",
         "arith.addi does not take 1 operands; is operandSegmentSizes missing?"},
        {"%x = \"arith.addi\"(%n, %n) : (i32) -> i32", "expected ',', found )"},
        {"%x = \"arith.addi\"(%n, 5) : (i32, i32) -> i32", "expected a value, found 5"},
        {"%x = \"arith.addi\"(%n, %n : (i32, i32) -> i32", "expected ')', found :"},
        {"%x = \"arith.addi\"(%n, %n) (i32, i32) -> i32", "expected '{', found i32"},
        {"%x = \"arith.addi\"(%n, %n) : (i32, i32) i32", "expected '->', found i32"},
        {"%x = \"arith.addi\"(%n, %n) : i32 -> i32", "expected '(', found i32"},
        {"%x = \"arith.addi\"(%n, %n) : (nothing, i32) -> i32", "no such type: nothing"},
        {"%x = \"arith.addi\"(%n, %n) <{a = }> : (i32, i32) -> i32", "expected a value, found }"},
        {"%x = \"arith.addi\"(%n, %n) <5> : (i32, i32) -> i32", "expected '{', found 5"},
        {"%x = \"arith.addi\"(%n, %n) {a = } : (i32, i32) -> i32", "expected a value, found }"},
        {"%x = \"arith.addi\"(%n, %n) [5] : (i32, i32) -> i32",
         "expected a block, as in ^bb1, found 5"},
        {"%x = \"no.such\"(%n) : (i32) -> i32", "unknown op no.such"},
        {"%x = \"arith.cmpi\"(%n, %n) <{predicate = 2 : i64}> : (i32, i32) -> i1", NULL},
        {"%x = \"arith.cmpi\"(%n, %n) {predicate = 2 : i64} : (i32, i32) -> i1", NULL},
        {"%t = pto.alloc_tile : " TILE
         "\n\"pto.tadd\"(%t, %t, %t) {operandSegmentSizes = array<i32: 1, 1, 1>} : "
         "(" TILE ", " TILE ", " TILE ") -> ()",
         NULL},
        {"%t = pto.alloc_tile : " TILE
         "\n\"pto.tadd\"(%t, %t, %t) {operandSegmentSizes = array<i32: 1, 1, 7>} : "
         "(" TILE ", " TILE ", " TILE ") -> ()",
         "pto.tadd does not take 3 operands in these segments"},
        {"%t = pto.alloc_tile : " TILE
         "\n\"pto.tadd\"(%t, %t, %t) {operandSegmentSizes = array<i32: 9>} : "
         "(" TILE ", " TILE ", " TILE ") -> ()",
         "pto.tadd does not take 3 operands in these segments"},
        {"\"scf.if\"(%n) ({\n}, {\n) : (i32) -> ()", "%n is i32, not i1"},
        {"%p = arith.constant true\n\"scf.if\"(%p) ({\n\"scf.yield\"() : () -> ()\n}, {\n}) : (i1) "
         "-> ()",
         NULL},
        {"%p = arith.constant true\n\"scf.if\"(%p) (5) : (i1) -> ()", "expected '{', found 5"},
        {"%t = \"pto.alloc_tile\"() {operandSegmentSizes = array<i32: 0, 0, 0>} : () -> " TILE,
         NULL},
        {"%t = \"pto.alloc_tile\"(%z) : (i64) -> " TILE,
         "pto.alloc_tile does not take 1 operands; is operandSegmentSizes missing?"},
    };

    check_kernels(rows, ARRAY_LEN(rows));
}

TEST(a_text_over_the_limit_is_not_read)
{
    struct pto_module m;
    struct pto_parser *p = pto_parser_new();
    struct str much = {"", (size_t)LIMIT_PTO_BYTES + 1};

    pto_module_init(&m);
    assert_int_equal(pto_parse(p, much, &m), ST_LIMIT);
    assert_string_equal(m.problems.at[0].code, "pto-ir.too-large");
    pto_module_fini(&m);
    pto_parser_free(p);
}

TEST_MAIN("kernels/pto/text/parse_errors", T(modules_and_functions), T(types), T(tiles),
          T(attributes), T(operations), T(loops_and_conditions), T(the_generic_form),
          T(a_text_over_the_limit_is_not_read))
