#include "gpu/judge/variants.h"

#include <math.h>

#include "base/testing_arena.h"

static struct gpu_variants variants;

static int variants_done(void **state)
{
    gpu_variants_free(&variants);
    variants = (struct gpu_variants){0};
    return arena_leave(state);
}

static struct gpu_launch variants_launch(const char *name, uint64_t grid, int64_t ns)
{
    uint64_t *fields = ARENA_ARRAY(&arena, uint64_t, KERNEL_FIELDS);

    fields[KERNEL_GRID_X] = grid;
    fields[KERNEL_BLOCK_X] = 128;
    return (struct gpu_launch){.launch = fields,
                               .name = str_of(name),
                               .mangled = str_of(name),
                               .start = 1,
                               .duration_ns = ns};
}

TEST(a_variant_is_a_name_with_a_grid_and_a_block)
{
    struct gpu_launch list[] = {variants_launch("a", 1, 10), variants_launch("b", 1, 7),
                                variants_launch("a", 2, 30), variants_launch("a", 1, 20),
                                variants_launch("a", 1, 60)};

    gpu_variants_time(&variants, list, 5, -1);
    assert_int_equal(gpu_variants_sort(&variants, NULL, 0, &diag), ST_OK);
    assert_int_equal(variants.at.n, 3);
    /* 10, 20, 60 */
    assert_true(variants.at.at[0].median_ns == 20 && variants.at.at[0].total_ns == 90);
}

TEST(the_first_expression_that_finds_a_kernel_has_it)
{
    struct gpu_launch list[] = {variants_launch("gemm_a", 1, 10), variants_launch("gemm_b", 1, 10),
                                variants_launch("copy", 1, 10)};
    struct gpu_selection wanted[] = {{.regex = "_a$"}, {.regex = "^gemm"}};

    gpu_variants_time(&variants, list, 3, -1);
    assert_int_equal(gpu_variants_sort(&variants, wanted, 2, &diag), ST_OK);
    assert_int_equal(variants.at.at[0].stage, 0);
    assert_int_equal(variants.at.at[1].stage, 1);
    assert_int_equal(variants.at.at[2].stage, -1);
    assert_string_equal(gpu_selections_regex(wanted, 2, &arena), "(_a$)|(^gemm)");
}

TEST(a_bad_expression_is_told)
{
    struct gpu_selection wanted[] = {{.regex = "("}};

    assert_int_equal(gpu_variants_sort(&variants, wanted, 1, &diag), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "gpu.bad-regex"), 1);
}

TEST(the_largest_total_stands_for_a_stage)
{
    /* Two passes of a, b, b: 20 against 16. */
    struct gpu_launch list[] = {variants_launch("a", 1, 10), variants_launch("b", 1, 4),
                                variants_launch("b", 1, 4),  variants_launch("a", 1, 10),
                                variants_launch("b", 1, 4),  variants_launch("b", 1, 4)};

    gpu_variants_time(&variants, list, 6, 0);
    assert_int_equal(gpu_variants_sort(&variants, NULL, 0, &diag), ST_OK);
    assert_str(gpu_variants_main(&variants, 0)->name, "a");
    assert_null(gpu_variants_main(&variants, 1));
}

TEST(counters_join_the_kernel_they_belong_to)
{
    struct gpu_launch list[] = {variants_launch("a", 1, 10), variants_launch("a", 2, 90)};
    struct gpu_counted counted[2] = {{.kernel = gpu_kernel_none(), .mangled = S("a")},
                                     {.kernel = gpu_kernel_none(), .mangled = S("a")}};

    for (int i = 0; i < 2; i++) {
        counted[i].kernel.grid[0] = 1;
        counted[i].kernel.block[0] = 128;
    }
    gpu_variants_time(&variants, list, 2, -1);
    gpu_variants_count(&variants, counted, 2, -1, &arena);
    assert_int_equal(variants.at.n, 2);
    /* The last measured launch stands for the kernel, and a measured one for its stage. */
    assert_ptr_equal(variants.at.at[0].counted, &counted[1]);
    /* A launch that has all the counters goes before a later one that has not. */
    counted[0].values = 2;
    gpu_variants_count(&variants, counted, 2, -1, &arena);
    assert_ptr_equal(variants.at.at[0].counted, &counted[0]);
    assert_ptr_equal(gpu_variants_main(&variants, -1), &variants.at.at[0]);
}

TEST(resources_come_from_the_run_without_instruments)
{
    struct gpu_launch timed = variants_launch("a", 1, 10), other = variants_launch("a", 2, 10);
    struct gpu_launch range = variants_launch("a", 1, 12), alone = variants_launch("b", 1, 12);
    struct gpu_kernel k = gpu_kernel_none();

    ((uint64_t *)(uintptr_t)timed.launch)[KERNEL_REGISTERS] = 40;
    ((uint64_t *)(uintptr_t)timed.launch)[KERNEL_LOCAL] = 776;
    ((uint64_t *)(uintptr_t)other.launch)[KERNEL_REGISTERS] = 64;
    gpu_variants_time(&variants, &other, 1, -1);
    gpu_variants_time(&variants, &timed, 1, -1);
    gpu_variants_time(&variants, &range, 1, 0);
    gpu_variants_time(&variants, &alone, 1, 0);
    assert_int_equal(variants.at.n, 4);
    assert_ptr_equal(gpu_variants_launch(&variants, &variants.at.at[0]), other.launch);
    /* A timed range tells no registers: the activity record of the same shape does. */
    assert_ptr_equal(gpu_variants_launch(&variants, &variants.at.at[2]), timed.launch);
    gpu_launch_resources(&k, timed.launch);
    assert_true(k.m[GPU_M_REGS] == 40 && k.m[GPU_M_SMEM_STATIC] == 0);
    assert_true(k.m[GPU_M_LOCAL_PER_THREAD] == 776);
    /* What nobody tells stays unknown, and is not 0. */
    assert_ptr_equal(gpu_variants_launch(&variants, &variants.at.at[3]), alone.launch);
    k = gpu_kernel_none();
    gpu_launch_resources(&k, alone.launch);
    assert_true(isnan(k.m[GPU_M_REGS]) && isnan(k.m[GPU_M_SMEM_STATIC]));
    assert_true(isnan(k.m[GPU_M_LOCAL_PER_THREAD]));
    assert_int_equal(k.block[0], 128);
}

TEST(kernels_that_take_no_time_make_no_stage)
{
    struct gpu_launch list[] = {variants_launch("big", 1, 995), variants_launch("small", 1, 5)};
    struct str *names;

    gpu_variants_time(&variants, list, 2, -1);
    assert_int_equal(gpu_variants_make_stages(&variants, &arena, &names), 1);
    assert_str(names[0], "big");
    assert_string_equal(gpu_regex_of_name(S("f<2>(x)"), &arena), "^f<2>\\(x\\)$");
}

TEST(instances_of_a_template_are_one_stage)
{
    struct gpu_launch list[] = {variants_launch("sum", 1, 10), variants_launch("sum", 1, 10),
                                variants_launch("copy", 1, 5)};
    struct str *names;

    list[0].mangled = S("_Z3sumIfEvPT_");
    list[1].mangled = S("_Z3sumIdEvPT_");
    gpu_variants_time(&variants, list, 3, -1);
    assert_int_equal(variants.at.n, 3);
    assert_int_equal(gpu_variants_make_stages(&variants, &arena, &names), 2);
    assert_str(names[0], "sum");
    assert_str(names[1], "copy");
}

/* Two metrics for every turn, and one for each of two. */
static const char *const turn_names[] = {"gpu__time_duration.sum", "smsp__inst_executed.sum",
                                         "dram__bytes_read.sum", "lts__t_sectors.sum",
                                         "smsp__sass_inst_executed.sum"};

static struct trace_counter turn(double ns, double inst, size_t other, double value)
{
    double *values = ARENA_ARRAY(&arena, double, ARRAY_LEN(turn_names));

    for (size_t i = 0; i < ARRAY_LEN(turn_names); i++)
        values[i] = NAN;
    values[0] = ns;
    values[1] = inst;
    values[other] = value;
    return (struct trace_counter){
        .name = "k", .launch = variants_launch("k", 4, 0).launch, .passes = 1, .values = values};
}

TEST(only_launches_with_the_same_work_are_joined)
{
    /* Sizes alternate: 100 and 900 instructions, with one grid. */
    struct trace_counter list[] = {turn(10, 100, 2, 1), turn(90, 900, 3, 2), turn(11, 100, 3, 3),
                                   turn(91, 905, 2, 4)};
    struct gpu_turns turns = {turn_names, ARRAY_LEN(turn_names), list, 4};

    gpu_turns_join(&turns);
    assert_int_equal(turns.n, 2);
    struct gpu_counted small = gpu_counted_of(&turns, 0, 0), large = gpu_counted_of(&turns, 1, 1);
    assert_true(small.kernel.m[GPU_M_DRAM_RD] == 1 && large.kernel.m[GPU_M_DRAM_RD] == 4);
    assert_true(small.kernel.m[GPU_M_DUR_NS] == 11 && small.values == 4 && small.metrics == 4);
    struct gpu_counted both[] = {small, large};
    gpu_variants_count(&variants, both, 2, -1, &arena);
    assert_int_equal(variants.at.n, 1);
    assert_int_equal(variants.at.at[0].problems, 2);
}

TEST(sizes_are_told_apart_by_their_times)
{
    struct gpu_launch list[] = {variants_launch("k", 4, 88), variants_launch("k", 4, 10),
                                variants_launch("k", 4, 92), variants_launch("k", 4, 12),
                                variants_launch("k", 4, 11)};
    struct trace_counter counters[] = {turn(13, 100, 2, 1), turn(95, 900, 2, 2)};
    struct gpu_turns turns = {turn_names, ARRAY_LEN(turn_names), counters, 2};
    struct gpu_counted both[] = {gpu_counted_of(&turns, 0, 0), gpu_counted_of(&turns, 1, 1)};

    gpu_variants_time(&variants, list, ARRAY_LEN(list), -1);
    gpu_variants_count(&variants, both, 2, -1, &arena);
    assert_int_equal(gpu_variants_sort(&variants, NULL, 0, &diag), ST_OK);
    gpu_variants_split(&variants);
    assert_int_equal(variants.at.n, 2);
    const struct gpu_variant *large = &variants.at.at[0], *small = &variants.at.at[1];
    assert_true(large->sort == 1 && large->durations.n == 2 && large->total_ns == 180);
    assert_true(small->sort == 2 && small->durations.n == 3 && small->median_ns == 11);
    assert_ptr_equal(large->counted, &both[1]);
    assert_true(small->problems == 1 && large->problems == 1);
}

TEST(sizes_with_near_times_stay_mixed)
{
    struct gpu_launch list[] = {variants_launch("k", 4, 10), variants_launch("k", 4, 12)};
    struct trace_counter counters[] = {turn(10, 100, 2, 1), turn(12, 900, 2, 2)};
    struct gpu_turns turns = {turn_names, ARRAY_LEN(turn_names), counters, 2};
    struct gpu_counted both[] = {gpu_counted_of(&turns, 0, 0), gpu_counted_of(&turns, 1, 1)};

    gpu_variants_time(&variants, list, 2, -1);
    gpu_variants_count(&variants, both, 2, -1, &arena);
    assert_int_equal(gpu_variants_sort(&variants, NULL, 0, &diag), ST_OK);
    gpu_variants_split(&variants);
    assert_int_equal(variants.at.n, 1);
    assert_true(variants.at.at[0].sort == 0 && variants.at.at[0].problems == 2);
}

TEST(a_launch_with_other_instructions_in_it_may_differ_more)
{
    /* No time; 28 % more, by a loop that waits. Nearer ones go first. */
    struct trace_counter list[] = {turn(10, 125, 2, 1), turn(10, 100, 2, 2), turn(NAN, NAN, 4, 128),
                                   turn(NAN, NAN, 4, 100)};
    struct gpu_turns turns = {turn_names, ARRAY_LEN(turn_names), list, 4};

    gpu_turns_join(&turns);
    assert_int_equal(turns.n, 2);
    assert_true(turns.counters[0].values[4] == 128 && turns.counters[1].values[4] == 100);
}

TEST(a_kernel_that_waits_in_loops_is_one_sort)
{
    /* Half as many instructions with CUPTI's among them, and no other sort that it could be. */
    struct trace_counter list[] = {turn(NAN, NAN, 4, 275), turn(10, 562, 2, 1),
                                   turn(10, 563, 3, 2)};
    struct gpu_turns turns = {turn_names, ARRAY_LEN(turn_names), list, 3};

    gpu_turns_join(&turns);
    assert_int_equal(turns.n, 1);
    assert_true(turns.counters[0].values[4] == 275 && turns.counters[0].values[3] == 2);
    struct trace_counter two[] = {turn(10, 562, 2, 1), turn(90, 5000, 3, 2),
                                  turn(NAN, NAN, 4, 275)};
    turns = (struct gpu_turns){turn_names, ARRAY_LEN(turn_names), two, 3};
    gpu_turns_join(&turns);
    assert_int_equal(turns.n, 3);
}

TEST(later_launches_stand_for_those_with_cold_caches)
{
    struct trace_counter list[] = {turn(19, 100, 2, 500), turn(10, 100, 2, 7)};
    struct gpu_turns turns = {turn_names, ARRAY_LEN(turn_names), list, 2};

    gpu_turns_join(&turns);
    assert_int_equal(turns.n, 1);
    assert_true(turns.counters[0].values[2] == 7 && turns.counters[0].passes == 2);
}

#define TV(name) cmocka_unit_test_setup_teardown(name, arena_enter, variants_done)

TEST_MAIN("gpu/judge/variants", TV(a_variant_is_a_name_with_a_grid_and_a_block),
          TV(the_first_expression_that_finds_a_kernel_has_it), TV(a_bad_expression_is_told),
          TV(the_largest_total_stands_for_a_stage), TV(counters_join_the_kernel_they_belong_to),
          TV(resources_come_from_the_run_without_instruments),
          TV(kernels_that_take_no_time_make_no_stage), TV(instances_of_a_template_are_one_stage),
          TV(only_launches_with_the_same_work_are_joined), TV(sizes_are_told_apart_by_their_times),
          TV(sizes_with_near_times_stay_mixed),
          TV(a_launch_with_other_instructions_in_it_may_differ_more),
          TV(a_kernel_that_waits_in_loops_is_one_sort),
          TV(later_launches_stand_for_those_with_cold_caches))
