#include "gpu/ncu/ncu_source.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/testing_folder.h"
#include "gpu/collect/run.h"
#include "gpu/ncu/ncu_csv.h"

static struct gpu_import read_page(const char *text, enum status expected)
{
    struct gpu_import in = {.arena = &arena};

    assert_int_equal(gpu_ncu_read(&in, "ptx.csv", str_of(text), &diag), expected);
    return in;
}

TEST(modules_are_kept_once_each)
{
    struct gpu_import in = read_page("==PROF== Connected\n"
                                     "\"Line No\",\"Source\"\n"
                                     "\"1\",\".version 9.0\"\n"
                                     "\"2\",\".visible .entry _Z4copyPfPKfm(\"\n"
                                     "\"3\",\"// a \"\"b\"\", c\"\n"
                                     "\"Line No\",\"Source\"\n"
                                     "\"1\",\".version 9.0\"\n"
                                     "\"2\",\".entry plain(\"\n"
                                     "\"Line No\",\"Source\"\n"
                                     "\"1\",\".version 9.0\"\n"
                                     "\"2\",\".entry plain(\"\n",
                                     ST_OK);

    assert_int_equal(in.ptx.n, 2);
    assert_true(str_equal(in.ptx.at[0],
                          S(".version 9.0\n.visible .entry _Z4copyPfPKfm(\n// a \"b\", c\n")));
    assert_int_equal(in.listings.n, 0);
    gpu_ptx_attach(&in);
    assert_int_equal(in.kernels.n, 2);
    assert_true(str_equal(in.kernels.at[0].name, S("copy")));
    assert_true(str_equal(in.kernels.at[1].name, S("plain")));
    gpu_import_free(&in);
}

TEST(names_before_a_listing_are_passed_over)
{
    struct gpu_import in = read_page("\"Kernel Name\",\"copy(float *)\"\n"
                                     "\"Line No\",\"Source\",\n"
                                     "\"1\",\".version 9.0\",\n"
                                     "\"Kernel Name\",\"scale(float *)\"\n"
                                     "\"Line No\",\"Source\",\n"
                                     "\"1\",\".version 8.0\",\n",
                                     ST_OK);

    assert_int_equal(in.ptx.n, 2);
    assert_int_equal(in.lost, 0);
    gpu_import_free(&in);
}

TEST(a_page_with_samples_is_no_such_page)
{
    assert_true(gpu_ptx_is_header(S("\"Line No\",\"Source\"\r")));
    assert_false(gpu_ptx_is_header(S("\"Line No\",\"Source\",\"Address\",\"Source\"")));
    assert_false(gpu_ptx_is_header(S("\"Line No\",\"Source\",\"# Samples\"")));
    struct gpu_import in = read_page("\"Line No\",\"Source\"\n", ST_FORMAT);
    gpu_import_free(&in);
}

TEST(a_kernel_finds_its_module_by_its_plain_name)
{
    struct gpu_import in = read_page("\"Line No\",\"Source\"\n"
                                     "\"1\",\".entry _ZN3lib4gemmILi32EEEvPf(\"\n",
                                     ST_OK);
    struct gpu_kernel k = gpu_kernel_none();
    struct gpu_run run;

    gpu_run_init(&run);
    k.name = S("void lib::gemm<32>(float *)");
    vec_push(&run.kernels, k);
    assert_int_equal(gpu_ptx_write(scratch, &in, &run, &diag), ST_OK);
    assert_true(fs_exists(scratch_path("ptx/lib--gemm-32-.ptx")));
    gpu_run_free(&run);
    gpu_import_free(&in);
}

TEST_MAIN("gpu/ncu/ncu_ptx", TA(modules_are_kept_once_each),
          TA(names_before_a_listing_are_passed_over), TA(a_page_with_samples_is_no_such_page),
          TS(a_kernel_finds_its_module_by_its_plain_name))
