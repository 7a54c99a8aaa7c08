#include "kernels/replay/launch.h"

#include "base/testing.h"

static struct arena arena;

/* Texts of what was found live until the next one. */
static enum status launch_test_find(const char *text, const char *wanted, bool is_cube,
                                    struct kernel_start *out)
{
    struct launch_job job = {.text = str_of(text),
                             .source = S("dir/k.cpp"),
                             .headers = S("/ours"),
                             .wanted = str_of(wanted),
                             .is_cube = is_cube};

    arena_free(&arena);
    arena_init(&arena);
    return launch_find(&job, &arena, out, NULL);
}

#define AT_USER "# 1 \"dir/k.cpp\"\n"

TEST(kernel_entry_is_taken_as_it_is)
{
    struct kernel_start l;

    assert_int_equal(launch_test_find(AT_USER
                                      "extern \"C\" void kernel_entry(int64_t *args) { f(); }",
                                      "", false, &l),
                     ST_OK);
    assert_true(l.has_slots);
}

TEST(kernels_before_launchers)
{
    struct kernel_start l;
    const char *text = AT_USER "static inline void help(float *x) { int a[] = {1, '}'}; }\n"
                               "namespace a { namespace {\n" LAUNCH_MARK
                               " void go(float *x, half const* y, int32_t n)\n{ g(\"}\"); } } }\n"
                               "void launch(float *x) { a::go<<<8, nullptr, s>>>(x, x, 1); }\n";

    assert_int_equal(launch_test_find(text, "", false, &l), ST_OK);
    assert_false(l.has_slots);
    assert_str(l.call, "a::go");
    assert_int_equal(l.n_params, 3);
    assert_true(l.params[0].is_pointer && l.params[1].is_pointer && !l.params[2].is_pointer);
    assert_str(l.params[1].type, "half");
    assert_str(l.params[2].name, "n");
    assert_int_equal(l.n_entries, 1);
    assert_int_equal(launch_test_find(text, "launch", false, &l), ST_OK);
    assert_str(l.call, "launch");
    assert_int_equal(launch_test_find(text, "help", false, &l), ST_NOT_FOUND);
}

TEST(halves_of_a_mixed_kernel_by_core)
{
    struct kernel_start l;
    const char *text =
        AT_USER "void k_aic(float *x) { a(); }\nvoid k_aiv(float *x, int n) { b(); }";

    assert_int_equal(launch_test_find(text, "", true, &l), ST_OK);
    assert_str(l.call, "k_aic");
    assert_int_equal(launch_test_find(text, "", false, &l), ST_OK);
    assert_str(l.call, "k_aiv");
    assert_int_equal(l.n_params, 2);
}

TEST(instances_of_templates)
{
    struct kernel_start l;
    const char *text = AT_USER "template <class T, int N> void run(T *x) { f<T>(x); }\n"
                               "template void run<float, 4>(float *x);\n"
                               "template void run<half, (8 > 2)>(half *x);\n";

    assert_int_equal(launch_test_find(text, "", false, &l), ST_OK);
    assert_str(l.call, "run<float, 4>");
    assert_int_equal(l.n_entries, 2);
    assert_int_equal(launch_test_find(text, "run<half,(8>2)>", false, &l), ST_OK);
    assert_str(l.params[0].type, "half");
    assert_int_equal(launch_test_find(text, "run", false, &l), ST_OK);
    assert_str(l.call, "run<float, 4>");
}

/* Functions of headers are no entries, nor is what only this file can call. */
TEST(functions_of_headers_are_no_entries)
{
    struct kernel_start l;

    assert_int_equal(
        launch_test_find("# 1 \"/ours/h.hpp\" 1\nvoid f(float *x) { }\n"
                         "# 1 \"/usr/include/x\" 1 3\nvoid g(float *x) { }\n" AT_USER
                         "static void h(float *x) { }\nint i(float *x) { return 0; }\n"
                         "struct s { void j(float *x) { } };\nvoid declared(float *x);\n",
                         "", false, &l),
        ST_NOT_FOUND);
    assert_int_equal(
        launch_test_find(AT_USER "void a(float *x) { }\nvoid k(float *x) { }\n", "", false, &l),
        ST_OK);
    assert_str(l.call, "k"); /* the name of the file */
    assert_int_equal(launch_test_find(AT_USER "void unfinished(float *x) { \"", "", false, &l),
                     ST_OK);
    assert_int_equal(launch_test_find("", "", false, &l), ST_NOT_FOUND);
    assert_int_equal(launch_test_find("void f<<<(", "", false, &l), ST_NOT_FOUND);
}

TEST(launches_become_calls)
{
    struct launch_job job = {
        .text =
            S("if (a) b::k<float, 2><<<n + f(1, 2),\n nullptr, s>>>(x);\nelse j <<<1, 0, s>>> (x);"
              "\nint y = 1 << 2; z<<<"),
        .source = S("k.cpp")};
    struct kernel_start l = {.call = S("b::go")};
    struct text out = {0};

    launch_write(&job, &l, &out);
    assert_true(str_starts(text_view(&out),
                           S("if (a) strata_pto::launch(n + f(1, 2)), b::k<float, 2>\n(x);\n"
                             "else strata_pto::launch(1), j  (x);\nint y = 1 << 2; z<<<")));
    assert_true(str_contains(text_view(&out), S("strata_pto::enter_with(b::go, args);")));
    text_free(&out);
}

TEST(parameters_become_slots)
{
    struct kernel_start l;
    struct slots slots = {0};

    assert_int_equal(launch_test_find(AT_USER LAUNCH_MARK
                                      " void k(half *x, float a, int n, void *stream) { }",
                                      "", false, &l),
                     ST_OK);
    launch_slots(&l, 64, &arena, &slots);
    assert_int_equal(slots.n, 4);
    assert_true(slots.at[0].is_tensor);
    assert_str(slots.at[0].dtype->name, "FLOAT16");
    assert_int_equal(slots.at[0].shape[1], 64);
    assert_true(slots.at[1].is_packed);
    assert_int_equal(slots.at[2].value, 1);
    assert_false(slots.at[3].is_tensor);
    assert_int_equal(slots.at[3].value, 0);
    vec_free(&slots);
    arena_free(&arena);
}

TEST_MAIN("kernels/replay/launch", T(kernel_entry_is_taken_as_it_is), T(kernels_before_launchers),
          T(halves_of_a_mixed_kernel_by_core), T(instances_of_templates),
          T(functions_of_headers_are_no_entries), T(launches_become_calls),
          T(parameters_become_slots))
