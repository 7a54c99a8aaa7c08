#include "gpu/timeline/timeline_in.h"

#include "base/testing.h"

TEST(calls_say_what_they_do)
{
    assert_int_equal(timeline_name_says(S("cudaGraphLaunch")), NAME_GRAPH);
    assert_int_equal(timeline_name_says(S("cuGraphLaunch")), NAME_GRAPH | NAME_DRIVER);
    assert_int_equal(timeline_name_says(S("cuModuleLoadDataEx")), NAME_LOADING | NAME_DRIVER);
    assert_int_equal(timeline_name_says(S("cudaMemcpy")), 0);
    assert_int_equal(timeline_name_says(S("")), 0);
}

TEST(names_of_copies_come_apart)
{
    struct str copy = S("Memcpy HtoD (Pageable -> Device)"), bare = S("Memcpy DtoD");
    struct str fill = S("Memset (Device)");

    assert_true(str_equal(timeline_copy_kind(copy), S("HtoD")));
    assert_true(str_equal(timeline_copy_from(copy), S("Pageable")));
    assert_true(str_equal(timeline_copy_to(copy), S("Device")));
    assert_true(str_equal(timeline_copy_kind(bare), S("DtoD")));
    assert_int_equal(timeline_copy_from(bare).n, 0);
    assert_int_equal(timeline_copy_to(bare).n, 0);
    assert_true(str_equal(timeline_copy_kind(fill), S("set")));
    assert_true(str_equal(timeline_copy_to(fill), S("Device")));
    assert_int_equal(timeline_copy_from(fill).n, 0);
    assert_int_equal(timeline_copy_kind(S("x")).n, 0);
    assert_int_equal(timeline_copy_to(S("(")).n, 0);
}

TEST_MAIN("gpu/timeline/timeline_names", T(calls_say_what_they_do), T(names_of_copies_come_apart))
