#include "driver/cubin.h"

#include "base/testing_folder.h"

static const char sample[] = "tests/data/cubin/demo.cubin";
static const char stand_in[] = "tests/fake-bin/nvdisasm";
static const struct cubin_function second = {.symbol = 17};

TEST(a_small_module_is_printed_as_a_whole)
{
    struct cubin c = {.code_bytes = 512};
    const char *const *argv = nvdisasm_argv(&arena, "nvdisasm", "a.cubin", &c, &second);

    assert_string_equal(argv[1], "-g");
    assert_string_equal(argv[2], "-c");
    assert_string_equal(argv[3], "a.cubin");
    assert_null(argv[4]);
}

TEST(of_a_large_module_one_function_is_printed)
{
    struct cubin c = {.code_bytes = CUBIN_CODE_MOST + 1};
    const char *const *argv = nvdisasm_argv(&arena, "nvdisasm", "a.cubin", &c, &second);

    assert_string_equal(argv[3], "-fun");
    assert_string_equal(argv[4], "17");
    assert_string_equal(argv[5], "a.cubin");
    assert_null(argv[6]);
}

TEST(the_text_of_the_tool_is_kept)
{
    struct cubin c = {.code_bytes = 512};
    struct str text;

    assert_int_equal(cubin_nvdisasm(&arena, stand_in, sample, &c, &second, &text, &diag), ST_OK);
    assert_true(str_contains(text, S(".section\t.text._Z5scalePfm,")));
    assert_int_equal(cubin_cuobjdump(&arena, "tests/fake-bin/cuobjdump", sample, &text, &diag),
                     ST_OK);
    assert_true(str_contains(text, S("Fatbin ptx code:")));
}

TEST(a_tool_that_fails_or_says_nothing_is_told)
{
    struct cubin c = {.code_bytes = 512};
    struct str text;

    assert_int_equal(cubin_nvdisasm(&arena, "/nowhere/nvdisasm", sample, &c, &second, &text, &diag),
                     ST_TOOL);
    setenv("FAKE_NVDISASM", "fails", 1);
    assert_int_equal(cubin_nvdisasm(&arena, stand_in, sample, &c, &second, &text, &diag), ST_TOOL);
    setenv("FAKE_NVDISASM", "silent", 1);
    assert_int_equal(cubin_nvdisasm(&arena, stand_in, sample, &c, &second, &text, &diag), ST_TOOL);
    unsetenv("FAKE_NVDISASM");
    assert_int_equal(text.n, 0);
}

TEST_MAIN("driver/cubin_tools", TS(a_small_module_is_printed_as_a_whole),
          TS(of_a_large_module_one_function_is_printed), TS(the_text_of_the_tool_is_kept),
          TS(a_tool_that_fails_or_says_nothing_is_told))
