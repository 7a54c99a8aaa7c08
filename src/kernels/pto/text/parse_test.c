#include "kernels/pto/text/parse.h"

#include <stdio.h>

#include "kernels/pto/testing_pto.h"

struct fixture {
    struct arena arena;
    struct pto_module m;
};

static enum status parse_begin(struct fixture *x, const char *text)
{
    arena_init(&x->arena);
    return testing_read(&x->m, str_of(text));
}

static enum status begin_kernel(struct fixture *x, const char *body)
{
    arena_init(&x->arena);
    return testing_read(&x->m, testing_kernel(&x->arena, "a2a3", body));
}

static void parse_end(struct fixture *x)
{
    pto_module_fini(&x->m);
    arena_free(&x->arena);
}

TEST(several_problems_of_one_text_are_told_with_their_places)
{
    struct fixture x;

    assert_int_equal(parse_begin(&x, "module {\n"
                                     "  func.func @k() {\n"
                                     "    pto.tad ins(%a : f32)\n"
                                     "    %x = arith.addi %y, %y : index\n"
                                     "    scf.for %i = %x to {\n"
                                     "      %z = nothing.here\n"
                                     "    }\n"
                                     "    pto.vadd %x\n"
                                     "    return\n"
                                     "  }\n"
                                     "}\n"),
                     ST_FORMAT);
    static const struct {
        const char *code;
        uint32_t line, col;
    } want[] = {
        {"pto-ir.unknown-op", 3, 5},
        {"pto-ir.undefined", 4, 21},
        {"pto-ir.syntax", 5, 24},
        {"pto-ir.unsupported-op", 8, 5},
    };
    assert_int_equal(x.m.problems.n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_string_equal(x.m.problems.at[i].code, want[i].code);
        assert_int_equal(x.m.problems.at[i].line, want[i].line);
        assert_int_equal(x.m.problems.at[i].col, want[i].col);
    }
    assert_string_equal(x.m.problems.at[0].text, "unknown op pto.tad; did you mean pto.tadd?");
    parse_end(&x);
}

TEST(what_an_operation_may_leave_out_is_not_taken_from_the_next)
{
    struct fixture x;

    assert_int_equal(parse_begin(&x, "module {\nfunc.func @a() {\n"
                                     "pto.cmo.cacheinvalid all #pto.address_space<gm>\n"
                                     "%c = arith.constant 1 : index\nreturn\n}\n}\n"),
                     ST_OK);
    parse_end(&x);
}

#define ROW(n, type)                                                                               \
    "!pto.tile_buf<loc=vec, dtype=" type ", rows=1, cols=" n ", v_row=1, v_col=" n                 \
    ", blayout=row_major, slayout=none_box, fractal=512, pad=0>"
#define MASKED(axis)                                                                               \
    "module {\nfunc.func @a(%s: " ROW("64", "f32") ", %d: " ROW(                                   \
        "32", "f32") ") {\n"                                                                       \
                     "pto.tgather ins(%s, {maskPattern = #pto.mask_pattern<P0101>} : " ROW(        \
                         "64", "f32") axis ") outs(%d : " ROW("32", "f32") ")\nreturn\n}\n}\n"

TEST(the_axis_of_a_mask_may_be_named_when_it_is_the_usual_one)
{
    struct fixture x;

    assert_int_equal(parse_begin(&x, MASKED(", \"row\"")), ST_OK);
    parse_end(&x);
    assert_int_equal(parse_begin(&x, MASKED(", \"col\"")), ST_FORMAT);
    assert_string_equal(x.m.problems.at[0].code, "pto-ir.unsupported-axis");
    parse_end(&x);
}

TEST(forms_of_the_compiler_are_read)
{
    struct fixture x;

    assert_int_equal(
        parse_begin(
            &x,
            "module {\nfunc.func @a(%p: !pto.ptr<f32>, %n: index, %s: f32, %f: "
            "!pto.tile_buf<loc=scaling, dtype=f16, rows=1, cols=32, v_row=1, v_col=32, "
            "blayout=row_major, slayout=none_box, fractal=512, pad=0>, %t: " ROW(
                "64",
                "f32") ", "
                       "%v: !pto.partition_tensor_view<64xf32>) {\n"
                       "%q = pto.addptr %p, %n : <f32> -> <f32>\n"
                       "pto.set_quant_scalar(%s : f32) {id = 0}\n"
                       "pto.set_quant_scalar ins(%s : f32)\n"
                       "pto.set_quant_vector(%f : !pto.tile_buf<loc=scaling, dtype=f16, rows=1, "
                       "cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, "
                       "fractal=512, "
                       "pad=0>)\n"
                       "pto.comm.treduce(%v, %t, recv(%t), group(%v, %v) : "
                       "!pto.partition_tensor_view<64xf32>, " ROW("64", "f32") ", " ROW(
                           "64", "f32") ", !pto.partition_tensor_view<64xf32>, "
                                        "!pto.partition_tensor_view<64xf32>) "
                                        "{root = 0 : i32}\n"
                                        "return\n}\n}\n"),
        ST_OK);
    parse_end(&x);
}

TEST(a_damaged_function_does_not_hide_the_next)
{
    struct fixture x;

    assert_int_equal(parse_begin(&x, "module {\nfunc.func @a(%x i32) {\nreturn\n}\n"
                                     "func.func @b() {\npto.nope\nreturn\n}\n}\n"),
                     ST_FORMAT);
    assert_int_equal(x.m.problems.n, 2);
    assert_int_equal(x.m.problems.at[1].line, 6);
    parse_end(&x);
}

TEST(both_tile_syntaxes_give_one_type)
{
    struct fixture x;

    assert_int_equal(
        begin_kernel(&x, "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32, pad=1>\n"
                         "%u = pto.alloc_tile : !pto.tile_buf<loc=ub, dtype=f32, rows=16, cols=64, "
                         "v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, "
                         "pad=1>\n"
                         "pto.tneg ins(%t : !pto.tile_buf<vec, 16x64xf32, pad=1>) "
                         "outs(%u : <vec, 16x64xf32, valid=16x64, pad=1>)"),
        ST_OK);
    const struct pto_function *f = &x.m.functions.at[0];
    assert_int_equal(pto_value_at(&x.m, f, 6)->type, pto_value_at(&x.m, f, 7)->type);
    const struct pto_tile_type *t = &pto_value_type(&x.m, f, 6)->tile;
    assert_int_equal(t->rows, 16);
    assert_int_equal(t->fractal, 512);
    assert_int_equal(t->pad, 1);
    parse_end(&x);
}

TEST(the_architecture_decides_the_layout_of_left_tiles)
{
    static const struct {
        const char *attrs;
        enum pto_arch arch;
    } rows[] = {
        {"pto.target_arch = \"a5\"", PTO_A5},
        {"pto.target_arch = \"a3\"", PTO_A2A3},
        {"\"pto.device-spec\" = \"Ascend950\"", PTO_A5},
        {"\"pto.device-spec\" = \"Ascend910_9589\"", PTO_A5},
        {"\"pto.device-spec\" = \"Ascend910B1\"", PTO_A2A3},
        {"", PTO_A2A3},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture x;
        char buf[512];
        snprintf(buf, sizeof(buf),
                 "!l = !pto.tile_buf<left, 16x16xf16, blayout=row_major, slayout=row_major>\n"
                 "module attributes {%s} {\nfunc.func @k() {\n"
                 "%%t = pto.alloc_tile : !l\nreturn\n}\n}\n",
                 rows[i].attrs);
        assert_int_equal(parse_begin(&x, buf), ST_OK);
        assert_int_equal(x.m.arch, rows[i].arch);
        assert_int_equal(pto_value_type(&x.m, &x.m.functions.at[0], 0)->tile.blayout,
                         rows[i].arch == PTO_A5 ? PTO_COL_MAJOR : PTO_ROW_MAJOR);
        parse_end(&x);
    }
}

TEST(operands_are_found_by_their_role)
{
    struct fixture x;

    assert_int_equal(begin_kernel(&x, "%t = pto.alloc_tile addr = %z valid_col = %c1 : "
                                      "!pto.tile_buf<vec, 16x64xf32, valid=16x?>\n"
                                      "pto.tcvt ins(%t {rmode = #pto<round_mode TRUNC>} : "
                                      "!pto.tile_buf<vec, 16x64xf32, valid=16x?>) "
                                      "outs(%t : !pto.tile_buf<vec, 16x64xf32, valid=16x?>)"),
                     ST_OK);
    const struct pto_op *alloc = &x.m.ops.at[3], *cvt = &x.m.ops.at[4];
    assert_int_equal(pto_operand(&x.m, alloc, PTO_ROLE_ADDR), 5);
    assert_int_equal(pto_operand(&x.m, alloc, PTO_ROLE_VALID_ROW), PTO_NONE);
    assert_int_equal(pto_operand(&x.m, alloc, PTO_ROLE_VALID_COL), 4);
    assert_int_equal(pto_operand(&x.m, cvt, PTO_ROLE_OUT), 6);
    assert_int_equal(pto_op_int(&x.m, cvt, PTO_KEY_RMODE, -1), 5);
    assert_int_equal(pto_op_int(&x.m, cvt, PTO_KEY_SPLIT, -1), -1);
    parse_end(&x);
}

TEST(blocks_are_walked_over_their_regions)
{
    struct fixture x;
    uint32_t seen = 0;

    assert_int_equal(begin_kernel(&x, "scf.for %i = %c0 to %c1 step %c1 {\n"
                                      "%y = arith.addi %i, %c1 : index\n"
                                      "scf.for %j = %c0 to %c1 step %c1 {\n"
                                      "%w = arith.addi %j, %y : index\n}\n}"),
                     ST_OK);
    const struct pto_function *f = &x.m.functions.at[0];
    const struct pto_block *b = &x.m.blocks.at[x.m.regions.at[f->region].block_first];
    for (uint32_t i = b->op_first; i < b->op_end; i = x.m.ops.at[i].next)
        seen++;
    assert_int_equal(seen, 5);
    assert_int_equal(f->op_end - f->op_first, 8);
    const struct pto_op *loop = &x.m.ops.at[3];
    assert_int_equal(pto_op_block(&x.m, loop, 0)->arg_count, 1);
    assert_int_equal(x.m.ops.at[4].parent, 3);
    parse_end(&x);
}

TEST(several_functions_have_marked_entries)
{
    struct fixture x;

    assert_int_equal(parse_begin(&x, "module {\n"
                                     "func.func @help(%i: index) -> index {\nreturn %i : index\n}\n"
                                     "func.func @k_aic() attributes {pto.kernel_kind = "
                                     "#pto.kernel_kind<cube>} {\nreturn\n}\n"
                                     "func.func @k_aiv() attributes {pto.entry} {\nreturn\n}\n}\n"),
                     ST_OK);
    assert_false(x.m.functions.at[0].is_entry);
    assert_true(x.m.functions.at[1].is_entry);
    assert_int_equal(x.m.functions.at[1].kind, PTO_KIND_CUBE);
    assert_true(x.m.functions.at[2].is_entry);
    assert_ptr_equal(pto_find_function(&x.m, S("k_aiv")), &x.m.functions.at[2]);
    assert_null(pto_find_function(&x.m, S("nobody")));
    parse_end(&x);
}

TEST(hexadecimal_floats_are_bits_of_their_type)
{
    struct fixture x;

    assert_int_equal(begin_kernel(&x, "%x = arith.constant 0x3F800000 : f32\n"
                                      "%y = arith.constant 0xC000 : bf16\n"
                                      "%w = arith.constant 0x0001 : f16\n"
                                      "%u = arith.constant 1.95312500000000000e-03 : f32"),
                     ST_OK);
    static const double want[] = {1.0, -2.0, 5.9604644775390625e-08, 0.001953125};
    for (uint32_t i = 0; i < 4; i++)
        assert_true(pto_op_attr(&x.m, &x.m.ops.at[3 + i], PTO_KEY_VALUE)->f == want[i]);
    parse_end(&x);
}

TEST(deep_nesting_ends_in_a_problem)
{
    struct arena arena;
    struct pto_module m;
    char *text;

    arena_init(&arena);
    text = arena_alloc(&arena, 100001);
    memset(text, '[', 100000);
    struct str open = arena_format(&arena, "module attributes {a = %s", text);
    assert_int_equal(testing_read(&m, open), ST_FORMAT);
    assert_string_equal(m.problems.at[0].code, "pto-ir.too-deep");
    pto_module_fini(&m);
    arena_free(&arena);
}

TEST(a_text_without_a_function_is_refused)
{
    struct fixture x;

    assert_int_equal(parse_begin(&x, ""), ST_FORMAT);
    assert_string_equal(x.m.problems.at[0].code, "pto-ir.no-function");
    parse_end(&x);
}

TEST(a_module_is_used_again)
{
    struct pto_parser *p = pto_parser_new();
    struct pto_module m;

    pto_module_init(&m);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pto_parse(p, S("func.func @k(%x: i32) {\nreturn\n}\n"), &m), ST_OK);
        assert_int_equal(m.functions.n, 1);
        assert_int_equal(m.values.n, 1);
        assert_int_equal(pto_parse(p, S("func.func @k("), &m), ST_FORMAT);
    }
    pto_module_fini(&m);
    pto_parser_free(p);
}

TEST(problems_reach_the_diag)
{
    struct fixture x;
    struct diag d;

    diag_init(&d);
    assert_int_equal(parse_begin(&x, "func.func @k() {\npto.nope\nreturn\n}\n"), ST_FORMAT);
    assert_int_equal(pto_describe(&x.m, "k.pto", &d), ST_FORMAT);
    assert_int_equal(diag_count(&d, "pto-ir.unknown-op"), 1);
    assert_int_equal(d.entries.at[0].first[0].where.line, 2);
    assert_string_equal(d.entries.at[0].first[0].text, "column 1: unknown op pto.nope");
    parse_end(&x);
    diag_fini(&d);
}

TEST_MAIN("kernels/pto/text/parse", T(several_problems_of_one_text_are_told_with_their_places),
          T(what_an_operation_may_leave_out_is_not_taken_from_the_next),
          T(a_damaged_function_does_not_hide_the_next), T(both_tile_syntaxes_give_one_type),
          T(the_architecture_decides_the_layout_of_left_tiles), T(operands_are_found_by_their_role),
          T(blocks_are_walked_over_their_regions), T(several_functions_have_marked_entries),
          T(hexadecimal_floats_are_bits_of_their_type), T(deep_nesting_ends_in_a_problem),
          T(the_axis_of_a_mask_may_be_named_when_it_is_the_usual_one),
          T(forms_of_the_compiler_are_read), T(a_text_without_a_function_is_refused),
          T(a_module_is_used_again), T(problems_reach_the_diag))
