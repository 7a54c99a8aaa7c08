#include "gpu/ncu/ncu_source.h"

#include "base/testing.h"

/* The form of nvdisasm 13.0 with -g -c; one function calls an inlined one. */
static const char printed[] =
    "\t.headerflags\t@\"EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90\"\n"
    "\n"
    "//--------------------- .text._Z4copyPf         --------------------------\n"
    "\t.section\t.text._Z4copyPf,\"ax\",@progbits\n"
    "\t.align\t128\n"
    ".text._Z4copyPf:\n"
    "        .type           _Z4copyPf,@function\n"
    "_Z4copyPf:\n"
    "\t//## File \"/src/copy.cu\", line 5\n"
    "\t//## File \".nv_debug_ptx_txt\", line 19\n"
    "        /*0000*/                   LDC R1, c[0x0][0x28] ;      /* 0x00000a00ff017b82 */\n"
    "                                                               /* 0x000fe20000000800 */\n"
    "        /*0010*/                   S2R R0, SR_TID.X ;\n"
    "\t//## File \"/src/twice.h\", line 2 inlined at \"/src/copy.cu\", line 7\n"
    "\t//## File \"/src/copy.cu\", line 7\n"
    ".L_x_0:\n"
    "        /*0020*/              @!P0 BRA `(.L_x_0);\n"
    "\n"
    "//--------------------- .text._Z4copyPfi        --------------------------\n"
    "\t.section\t.text._Z4copyPfi,\"ax\",@progbits\n"
    ".text._Z4copyPfi:\n"
    "        /*0000*/                   EXIT ;\n";

TEST(instructions_of_one_function_with_their_lines)
{
    struct gpu_listing l = {0};

    assert_true(gpu_disasm_sass(S(printed), S("_Z4copyPf"), &l));
    assert_int_equal(l.sass.n, 3);
    assert_true(str_equal(l.sass.at[0].text, S("LDC R1, c[0x0][0x28]")));
    assert_true(str_equal(l.sass.at[0].file, S("/src/copy.cu")));
    assert_int_equal(l.sass.at[0].line, 5);
    assert_int_equal(l.sass.at[1].line, 5); /* until another line is told */
    assert_true(str_equal(l.sass.at[2].file, S("/src/twice.h")));
    assert_int_equal(l.sass.at[2].line, 2);
    assert_int_equal(l.sass.at[2].pc, 0x20);
    assert_true(str_equal(l.sass.at[2].text, S("@!P0 BRA `(.L_x_0)")));
    gpu_listing_free(&l);
}

TEST(a_function_is_known_by_its_whole_name)
{
    struct gpu_listing l = {0};

    assert_true(gpu_disasm_sass(S(printed), S("_Z4copyPfi"), &l));
    assert_int_equal(l.sass.n, 1);
    assert_int_equal(l.sass.at[0].line, 0); /* lines of the function before do not hold */
    assert_false(gpu_disasm_sass(S(printed), S("_Z4copy"), &(struct gpu_listing){0}));
    assert_false(gpu_disasm_sass(S(""), S("_Z4copyPf"), &(struct gpu_listing){0}));
    gpu_listing_free(&l);
}

TEST(the_module_with_a_kernel)
{
    static const char dump[] = "\nFatbin elf code:\n================\narch = sm_90\n"
                               "\nFatbin ptx code:\n================\narch = sm_90\n\n"
                               ".version 8.5\n.visible .entry one(\n)\n{ ret; }\n"
                               "\nFatbin ptx code:\n================\narch = sm_90\ncompressed\n\n"
                               ".version 8.5\n.visible .entry one_more(\n)\n{ exit; }\n";

    assert_true(str_equal(gpu_disasm_ptx(S(dump), S("one")),
                          S(".version 8.5\n.visible .entry one(\n)\n{ ret; }\n\n")));
    assert_true(str_equal(gpu_disasm_ptx(S(dump), S("one_more")),
                          S(".version 8.5\n.visible .entry one_more(\n)\n{ exit; }\n")));
    assert_int_equal(gpu_disasm_ptx(S(dump), S("two")).n, 0);
    assert_int_equal(gpu_disasm_ptx(S(""), S("one")).n, 0);
}

TEST_MAIN("gpu/collect/disasm", T(instructions_of_one_function_with_their_lines),
          T(a_function_is_known_by_its_whole_name), T(the_module_with_a_kernel))
