#include "kernels/replay/workspace.h"

#include "base/testing.h"

static struct kernel kernel_at(const char *path, enum shape shape)
{
    return (struct kernel){.incore = {.path = path, .name = S_INIT("K")}, .shape = shape};
}

static bool contains(const struct workspace *ws, const char *file, const char *needle)
{
    struct arena arena;

    arena_init(&arena);
    struct str text = workspace_text(ws, file, &arena);
    bool is_there = str_contains(text, str_of(needle));
    arena_free(&arena);
    return is_there;
}

TEST(mixed_kernels_and_what_is_known_of_them)
{
    const struct platform *a2a3 = platform_find(S("a2a3")), *a5 = platform_find(S("a5"));
    struct kernel pa = kernel_at("/k/paged_attention_parallel.cpp", SHAPE_MIX);
    struct kernel multi = kernel_at("/k/kernel_spmd_mix.cpp", SHAPE_MIX);
    struct kernel one = kernel_at("/k/one.cpp", SHAPE_AIC);
    struct spmd spmd;
    struct diag d;

    diag_init(&d);
    assert_int_equal(spmd_find(&pa, a2a3, &spmd, &d), ST_OK);
    assert_int_equal(spmd.fifo_bytes[0], 65536);
    assert_int_equal(spmd.fifo_bytes[1], 32768);
    assert_int_equal(spmd.fifo_bytes[2], 65536);
    assert_int_equal(spmd_blocks(&pa, a2a3, 1), 24);
    assert_int_equal(spmd_find(&multi, a5, &spmd, &d), ST_OK);
    assert_int_equal(spmd.n_dispatches, 5);
    assert_int_equal(spmd_blocks(&multi, a5, 1), 94);
    assert_int_equal(spmd_find(&pa, a5, &spmd, &d), ST_OK);
    assert_false(spmd.has_meta);
    assert_int_equal(spmd_find(&multi, a2a3, &spmd, &d), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&d, "replay.no-spmd"), 1);
    assert_int_equal(spmd_blocks(&one, a5, 3), 3);
    assert_null(platform_find(S("a4")));
    diag_fini(&d);
}

static struct workspace plain(const struct kernel *kernel, const struct slots *slots)
{
    return (struct workspace){.folder = "/no/such/folder",
                              .module = "/m.py",
                              .runtime = "r",
                              .case_name = S_INIT("c"),
                              .kernel = kernel,
                              .slots = slots,
                              .platform = platform_find(S("a2a3")),
                              .soc = "dav_2201",
                              .cann_home = "/it's $(cann)",
                              .pto_isa_root = "/isa",
                              .repo_root = "/repo",
                              .blocks = 3,
                              .launch_count = 2,
                              .timeout_s = 120,
                              .sim_minutes = 2};
}

TEST(paths_are_quoted_for_each_language)
{
    struct kernel kernel = kernel_at("/k/one.cpp", SHAPE_AIC);
    struct slots none = {0};
    struct workspace ws = plain(&kernel, &none);

    assert_true(contains(&ws, "run_collect.sh", "CANN_HOME='/it'\\''s $(cann)'\n"));
    assert_true(contains(&ws, "CMakeLists.txt", "set(ASCEND_HOME \"/it's \\$(cann)\" CACHE"));
    assert_true(contains(&ws, "CMakeLists.txt", "--cce-aicore-arch=${AICORE_ARCH}"));
    assert_true(contains(&ws, "CMakeLists.txt", "\"dav-c220\""));
    assert_true(contains(&ws, "replay_kernel.cpp", "#include \"/k/one.cpp\"\n"));
    assert_true(contains(&ws, "replay_launch.cpp", "replay_entry<<<3, nullptr, stream>>>"));
    assert_true(contains(&ws, "run_collect.sh", "--launch-count=2"));
}

TEST(a_path_that_no_quotes_can_hold_is_refused_before_anything_is_written)
{
    struct kernel kernel = kernel_at("/k/o\"ne.cpp", SHAPE_AIC);
    struct slots none = {0};
    struct workspace ws = plain(&kernel, &none);
    struct diag d;

    diag_init(&d);
    assert_int_equal(workspace_write(&ws, &d), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&d, "replay.bad-path"), 1);
    diag_fini(&d);
}

TEST(tensors_of_one_name_get_constants_of_their_own)
{
    int64_t dims[] = {4};
    const struct slot_type *f32 = slot_type_find(S("FLOAT32"));
    struct slot at[] = {
        {.is_tensor = true,
         .index = 0,
         .name = S_INIT("a_b"),
         .dtype = f32,
         .shape = dims,
         .rank = 1,
         .fill = S_INIT("zero")},
        {.is_tensor = true,
         .index = 1,
         .name = S_INIT("aB"),
         .dtype = f32,
         .shape = dims,
         .rank = 1,
         .fill = S_INIT("zero")},
        {.is_tensor = true,
         .index = 2,
         .name = S_INIT("x_y"),
         .dtype = f32,
         .shape = dims,
         .rank = 1,
         .fill = S_INIT("zero")},
    };
    struct slots slots = {.at = at, .n = 3, .cap = 3};
    struct kernel kernel = kernel_at("/k/one.cpp", SHAPE_AIV);
    struct workspace ws = plain(&kernel, &slots);

    assert_true(contains(&ws, "replay_host.cpp", "kXYBytes = 16;"));
    assert_true(contains(&ws, "replay_host.cpp", "kSlot0ABBytes = 16;"));
    assert_true(contains(&ws, "replay_host.cpp", "kSlot1ABBytes = 16;"));
}

TEST_MAIN("kernels/replay/workspace", T(mixed_kernels_and_what_is_known_of_them),
          T(paths_are_quoted_for_each_language),
          T(a_path_that_no_quotes_can_hold_is_refused_before_anything_is_written),
          T(tensors_of_one_name_get_constants_of_their_own))
