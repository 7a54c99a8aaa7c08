/*
 * Annotated sources of a run folder, read back.
 */
#include <math.h>

#include "base/testing_folder.h"
#include "gpu/collect/gpu_jobs.h"

#define HEAD "// kernel: scale(float*)\n// samples: 200\n"

TEST(lines_have_their_share_reason_and_text)
{
    struct gpu_annotations a;

    scratch_put("source/scale.1_scale.annotated.cu", HEAD
                "// top 1: line 2, 75.0 %, stall_long_scoreboard\n"
                "        |                |                          | // kernel: of the source\n"
                "  75.0% |             12 | stall_long_scoreboard    | x[i] = a | b;\n"
                "        |                |                          | \n"
                "// kernel: other\n");
    assert_int_equal(gpu_annotated_read(scratch, NULL, &arena, &a, &diag), ST_OK);
    assert_int_equal(a.at.n, 1);
    const struct gpu_annotated *one = &a.at.at[0];
    assert_str(one->kernel, "scale(float*)");
    assert_true(one->samples == 200);
    assert_int_equal(one->lines.n, 3);
    assert_true(isnan(one->lines.at[0].share));
    assert_str(one->lines.at[0].text, "// kernel: of the source");
    assert_int_equal(one->lines.at[1].line, 2);
    assert_true(one->lines.at[1].share == 75);
    assert_str(one->lines.at[1].stall, "stall_long_scoreboard");
    assert_str(one->lines.at[1].text, "x[i] = a | b;"); /* bars of the source are its own */
    assert_int_equal(one->lines.at[2].text.n, 0);
    gpu_annotated_free(&a);
}

TEST(instructions_come_from_the_table_of_that_kernel)
{
    struct gpu_annotations a;

    scratch_put("source/scale.1_scale.annotated.cu", HEAD "   1.0% | 1 | - | x\n");
    scratch_put("sass/1_scale.csv",
                "pc,sass,file,line,samples,stall_wait,stall_barrier,stall_math_not_issued\n"
                "0x10,\"LDG R1, [R2]\",/src/scale.cu,1,9,2,7,100\n"
                "0x20,BRA,/src/other.cu,1,5,5,0,0\n"
                "0x30,NOP,/src/scale.cu,1,0,0,0,0\n"
                "0x40,NOP,/src/scale.cu,x,4,0,0,0\n");
    scratch_put("sass/2_other.csv", "pc,sass,file,line,samples\n0x50,NOP,/src/scale.cu,1,3\n");
    assert_int_equal(gpu_annotated_read(scratch, "sc.*e", &arena, &a, &diag), ST_OK);
    assert_int_equal(a.at.n, 1);
    const struct gpu_annotated *one = &a.at.at[0];
    /* Other files, rows without samples and bad lines are left out. */
    assert_int_equal(one->sass.n, 1);
    assert_str(one->sass.at[0].pc, "0x10");
    assert_str(one->sass.at[0].text, "LDG R1, [R2]");
    assert_str(one->sass.at[0].stall, "stall_barrier"); /* what was not issued is no reason */
    gpu_annotated_free(&a);
}

TEST(a_run_without_sources_says_what_to_do)
{
    struct gpu_annotations a;

    scratch_put("source/readme.txt", "nothing");
    assert_int_equal(gpu_annotated_read(scratch, NULL, &arena, &a, &diag), ST_NOT_FOUND);
    assert_int_equal(a.at.n, 0);
    gpu_annotated_free(&a);
    forget();
    scratch_put("source/k.1_k.annotated.cu", HEAD);
    assert_int_equal(gpu_annotated_read(scratch, "gemm", &arena, &a, &diag), ST_NOT_FOUND);
    gpu_annotated_free(&a);
    forget();
    assert_int_not_equal(gpu_annotated_read(scratch, "(", &arena, &a, &diag), ST_OK);
    gpu_annotated_free(&a);
}

TEST(damaged_sources_cost_their_lines)
{
    static const char *const texts[] = {
        "", "\n\n", "|||", " | | ", "// kernel: ", "// samples: many\n", "1e999% | a | b | c"};
    struct gpu_annotations a;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        scratch_put("source/k.1_k.annotated.cu", texts[i]);
        scratch_put("sass/1_k.csv", "pc,file,line,samples\n\"cut");
        assert_int_equal(gpu_annotated_read(scratch, NULL, &arena, &a, &diag), ST_OK);
        assert_int_equal(a.at.n, 1);
        assert_int_equal(a.at.at[0].sass.n, 0);
        gpu_annotated_free(&a);
    }
}

TEST_MAIN("gpu/collect/annotated", TS(lines_have_their_share_reason_and_text),
          TS(instructions_come_from_the_table_of_that_kernel),
          TS(a_run_without_sources_says_what_to_do), TS(damaged_sources_cost_their_lines))
