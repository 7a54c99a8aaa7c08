#include "gpu/timeline/timeline_out.h"

#include <math.h>

#include "base/formats/csv_write.h"
#include "gpu/timeline_testing.h"

static const struct interval all = {0, 0};

TEST(launches_of_a_kernel_are_one_with_their_median)
{
    struct gpu_run run;
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "a", 0, 100);
    scene_kernel(&s, "7", "a", 200, 500);
    scene_kernel(&s, "7", "b", 600, 610);
    scene_of_test(&s, all);
    gpu_run_init(&run);
    timeline_run_kernels(s.t, s.d, &run);
    assert_int_equal(run.kernels.n, 2);
    assert_int_equal(run.kernels.at[0].launches, 2);
    assert_true(run.kernels.at[0].total_ns == 400);
    assert_true(run.kernels.at[0].m[GPU_M_DUR_NS] == 200);
    assert_true(isnan(run.kernels.at[0].m[GPU_M_OCC]));
    gpu_run_free(&run);
    scene_end(&s);
}

/* The run of a scene, whose only opportunity is O12. */
static void find_launch_overhead(struct timeline_scene *s, struct gpu_run *run)
{
    scene_of_test(s, all);
    gpu_run_init(run);
    timeline_run_kernels(s->t, s->d, run);
    timeline_run_sections(s->t, s->d, run);
    assert_int_equal(run->extra.n, 1);
    assert_int_equal(run->extra.at[0].id, 12);
}

TEST(a_late_host_is_an_opportunity)
{
    struct gpu_run run;
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 1000, "7", 2000, 12000);
    scene_launch(&s, 20000, 21000, "7", 22000, 32000);
    find_launch_overhead(&s, &run);
    /* 10 us of 30 are gaps; two nodes of a graph would take 2. */
    assert_true(fabs(run.extra.at[0].gain - 100 * 8.0 / 30) < 1e-9);
    assert_int_equal(run.sections.n, 7);
    assert_true(str_equal(run.sections.at[0].heading, S("Timeline summary")));
    assert_true(str_equal(run.sections.at[6].heading, S("Top kernels")));
    gpu_run_free(&run);
    scene_end(&s);
}

TEST(a_host_that_is_still_launching_is_one_as_well)
{
    struct gpu_run run;
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 1000, "7", 2000, 12000);
    scene_launch(&s, 11000, 21000, "7", 22000, 32000);
    find_launch_overhead(&s, &run);
    assert_true(fabs(run.extra.at[0].gain - 100 * 8.0 / 30) < 1e-9);
    gpu_run_free(&run);
    scene_end(&s);
}

TEST(stages_declared_concurrent_that_were_not_are_one_too)
{
    struct gpu_run run;
    struct timeline_scene s;

    scene_begin(&s);
    scene_kernel(&s, "7", "a", 0, 1000);
    scene_kernel(&s, "8", "b", 1000, 2000);
    scene_of_test(&s, all);
    gpu_run_init(&run);
    timeline_run_kernels(s.t, s.d, &run);
    for (size_t i = 0; i < 2; i++) {
        vec_push(&run.stages, ((struct gpu_stage){.name = S("s"), .group = S("pair")}));
        vec_push(&run.stages.at[i].kernels, i);
    }
    timeline_run_sections(s.t, s.d, &run);
    assert_int_equal(run.extra.n, 1);
    assert_int_equal(run.extra.at[0].id, 13);
    assert_true(fabs(run.extra.at[0].gain - 50) < 1e-9);
    gpu_run_free(&run);
    scene_end(&s);
}

TEST(graphs_are_counted_in_whole_numbers)
{
    struct gpu_run run;
    struct timeline_scene s;

    scene_begin(&s);
    uint32_t call = scene_call(&s, "cudaGraphLaunch", 0, 3000);
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "a", 4000, 5000));
    capture_flow(s.cap, FLOW_LAUNCH, call, scene_kernel(&s, "7", "b", 5500, 6000));
    scene_of_test(&s, all);
    gpu_run_init(&run);
    timeline_run_kernels(s.t, s.d, &run);
    timeline_run_sections(s.t, s.d, &run);
    assert_true(str_equal(run.sections.at[5].heading, S("CUDA graphs")));
    assert_str(run.sections.at[5].body,
               "\n| Quantity | Count |\n|---|---|\n| launches | 1 |\n| launches with nodes | 1 |\n"
               "| nodes | 2 |\n| graph-level rows | 0 |\n\nNodes per launch: 2 on average.\n"
               "\n| Quantity | us |\n|---|---|\n| launch call per node | 1.500 |\n"
               "| gap between nodes, median | 0.500 |\n| duration of a launch, median | 2.000 |\n"
               "| duration of a launch, max | 2.000 |\n| graph-level busy | 0.000 |\n");
    gpu_run_free(&run);
    scene_end(&s);
}

TEST(tables_have_a_row_for_each_thing)
{
    struct text text = {0};
    struct timeline_scene s;

    scene_begin(&s);
    scene_launch(&s, 0, 10, "7", 50, 60);
    scene_put(&s, scene_stream(&s, "8"), SLICE_COPY, "Memcpy DtoH (Device -> Pinned)", 70, 80);
    scene_of_test(&s, all);
    for (size_t i = 0; i < TIMELINE_TABLES; i++) {
        text.n = 0;
        assert_true(timeline_table_write(&timeline_tables[i], &s.t, 1, text_sink(&text)));
        assert_true(str_starts(text_view(&text), str_of(timeline_tables[i].record->fields[0].key)));
        if (i == 0)
            assert_true(str_ends((struct str){text.at, text.n},
                                 S("\n4,0,,7,50,60,10,k,k,,,,,,,,,,,,,,,,,0,10,5,50,40,,\n")));
        if (i == 1)
            assert_true(str_ends((struct str){text.at, text.n},
                                 S("\n,0,8,70,80,10,DtoH,Device,Pinned,,,,,\n")));
    }
    text_free(&text);
    scene_end(&s);
}

TEST_MAIN("gpu/timeline/timeline_run", T(launches_of_a_kernel_are_one_with_their_median),
          T(a_late_host_is_an_opportunity), T(a_host_that_is_still_launching_is_one_as_well),
          T(stages_declared_concurrent_that_were_not_are_one_too),
          T(graphs_are_counted_in_whole_numbers), T(tables_have_a_row_for_each_thing))
