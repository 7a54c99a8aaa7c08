#include "kernels/replay/gencase.h"

#include "base/testing_arena.h"

static bool holds(struct str text, const char *part)
{
    return str_contains(text, str_of(part));
}

static struct gencase_job gencase_job_of(const char *source, struct entry *e, struct gm_text *sizes)
{
    assert_int_equal(entry_find(&arena, str_of(source), NULL, e, &diag), ST_OK);
    *sizes = (struct gm_text){0};
    return (struct gencase_job){.testcase = "k_msprof",
                                .source = str_of(source),
                                .entry = e,
                                .sizes = sizes,
                                .soc = "Ascend910B1",
                                .arch = "dav-c220"};
}

TEST(a_bare_kernel_gets_an_entry_around_it)
{
    struct entry e;
    struct gm_text sizes;
    struct gencase_job job =
        gencase_job_of("extern \"C\" AICORE void k(__gm__ float* a, int n) { k2(); }", &e, &sizes);
    struct str text = gencase_text(&job, "kernel.cpp", &arena);

    assert_true(holds(text, "static AICORE void k_impl(__gm__ float* a, int n) { k2(); }"));
    assert_true(holds(text, "extern \"C\" __global__ AICORE void k(__gm__ float* a, int n)\n{\n"
                            "    k_impl(a, n);\n}\n"));
}

TEST(a_mixed_kernel_dispatches_by_core)
{
    struct entry e;
    struct gm_text sizes;
    struct gencase_job job = gencase_job_of("AICORE void k_aic(__gm__ float* a) {}\n"
                                            "AICORE void k_aiv(__gm__ float* a, int lane) {}",
                                            &e, &sizes);
    struct str text = gencase_text(&job, "kernel.cpp", &arena);

    assert_true(holds(text, "#if defined(__DAV_CUBE__)\n    k_aic(a);\n#endif\n"));
    assert_true(holds(text, "#if defined(__DAV_VEC__)\n    k_aiv(a, 0);\n#endif\n"));
}

TEST(the_host_side_knows_types_and_sizes)
{
    struct entry e;
    struct gm_text sizes;
    struct gencase_job job =
        gencase_job_of("__global__ AICORE void k(__gm__ bfloat16_t* a, int n) {}", &e, &sizes);

    assert_string_equal(gencase_launch(&arena, S("k")), "LaunchK");
    assert_true(holds(gencase_text(&job, "launch.cpp", &arena),
                      "void LaunchK(uint16_t *a, int n, void *stream)\n{\n#ifdef __clang__\n"
                      "    k<<<1, nullptr, stream>>>((__gm__ bfloat16_t *)a, n);\n#else"));
    assert_true(holds(gencase_text(&job, "main.cpp", &arena), "const size_t a_bytes = 2097152;"));
    assert_true(holds(gencase_text(&job, "CMakeLists.txt", &arena), "--cce-aicore-arch=dav-c220"));
}

TEST(the_launch_declares_the_linkage_of_the_definition)
{
    struct entry e;
    struct gm_text sizes;
    struct gencase_job job = gencase_job_of("__global__ AICORE void k(int n) {}", &e, &sizes);

    assert_true(
        holds(gencase_text(&job, "launch.cpp", &arena), "\n__global__ AICORE void k(int n);\n"));
    assert_false(holds(gencase_text(&job, "launch.cpp", &arena), "extern \"C\""));
    job = gencase_job_of("extern \"C\" __global__ AICORE void k(int n) {}", &e, &sizes);
    assert_true(holds(gencase_text(&job, "launch.cpp", &arena),
                      "\nextern \"C\" __global__ AICORE void k(int n);\n"));
    job = gencase_job_of("AICORE void k(int n) {}", &e, &sizes);
    assert_true(holds(gencase_text(&job, "launch.cpp", &arena),
                      "\nextern \"C\" __global__ AICORE void k(int n);\n"));
}

TEST(a_buffer_beyond_all_memory_has_no_size)
{
    struct entry e;
    struct gm_text sizes;
    struct gencase_job job =
        gencase_job_of("__global__ AICORE void k(__gm__ float* a) {}", &e, &sizes);
    struct gm_text_arg huge = {.has_view = true, .is_pointer = true, .elements = INT64_MAX};

    sizes = (struct gm_text){.args = &huge, .n = 1};
    assert_int_equal(gencase_bytes(&job, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_bare_kernel_gets_an_entry_around_it),
        T(a_mixed_kernel_dispatches_by_core),
        T(the_host_side_knows_types_and_sizes),
        T(the_launch_declares_the_linkage_of_the_definition),
        T(a_buffer_beyond_all_memory_has_no_size),
    };

    return cmocka_run_group_tests_name("kernels/replay/gencase", tests, arena_enter, arena_leave);
}
