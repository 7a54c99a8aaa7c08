#include "gpu/collect/rundir.h"

#include <math.h>
#include <unistd.h>

#include "base/files/mapfile.h"
#include "base/testing_folder.h"

static struct gpu_run run;
static char start[4096];

/* A run with one stage by a plan, in an empty folder that is then the current one. */
static int rundir_begin(void **state)
{
    if (enter(state) != 0 || getcwd(start, sizeof(start)) == NULL || chdir(scratch) != 0)
        return 1;
    gpu_run_init(&run);
    run.kernel = S("k");
    run.mode = S("annotation");
    struct gpu_kernel k = gpu_kernel_none();
    k.name = S("copy(float *)");
    k.m[GPU_M_DUR_NS] = 1e5 / 3; /* needs all its digits */
    k.m[GPU_M_DRAM_PCT] = 81.1;
    gpu_kernel_stall(&k, S("wait"), 0.1);
    vec_push(&run.kernels, k);
    gpu_params_assign(&run.params, &run.arena, "b=3", &diag);
    gpu_params_assign(&run.params, &run.arena, "dtype=bf16", &diag);
    assert_int_equal(gpu_run_stages(&run, NULL,
                                    (struct gpu_work_option){.bytes = S("b*1e8"), .flops = S("0")},
                                    &diag),
                     ST_OK);
    gpu_run_judge(&run);
    return 0;
}

static int rundir_end(void **state)
{
    gpu_run_free(&run);
    return chdir(start) != 0 || leave(state) != 0;
}

static void write_run(const char *stamp)
{
    struct gpu_rundir dir;

    assert_int_equal(gpu_rundir_open(&arena, &run, NULL, stamp, &dir, &diag), ST_OK);
    assert_int_equal(gpu_rundir_write(&dir, &run, NULL, &diag), ST_OK);
    assert_int_equal(gpu_rundir_finish(&arena, &dir, &diag), ST_OK);
}

TEST(runs_stand_side_by_side_and_latest_is_the_last)
{
    char target[64] = "";

    write_run("20260101-000000");
    write_run("20260101-000000");
    assert_true(fs_is_dir("strata-out/profiles/annotation/k/b3_bf16/20260101-000000"));
    assert_true(fs_is_dir("strata-out/profiles/annotation/k/b3_bf16/20260101-000000-2"));
    assert_int_equal(readlink("strata-out/profiles/annotation/k/b3_bf16/latest", target, 63), 17);
    assert_string_equal(target, "20260101-000000-2");
}

TEST(what_is_read_back_is_what_was_written)
{
    struct text markdown = {0};
    struct gpu_run back;
    struct mapfile once, again;

    write_run("t");
    const char *dir = "strata-out/profiles/annotation/k/b3_bf16/t";
    const char *report = fs_join(&arena, dir, "report.md");
    assert_int_equal(gpu_rundir_load(dir, &back, &diag), ST_OK);
    assert_true(back.kernels.at[0].m[GPU_M_DUR_NS] == 1e5 / 3);
    assert_true(isnan(back.kernels.at[0].m[GPU_M_OCC]));
    assert_true(back.stages.at[0].work.bytes == 3e8);
    assert_int_equal(back.stages.at[0].class.bound, GPU_MEMORY);
    assert_int_equal(back.params.list.n, 2);
    assert_int_equal(mapfile_open(&once, report, &diag), ST_OK);
    assert_int_equal(gpu_rundir_report(dir, &back, LANG_EN, &markdown, &diag), ST_OK);
    assert_int_equal(mapfile_open(&again, report, &diag), ST_OK);
    assert_true(once.text.n > 100 && str_equal(once.text, again.text));
    mapfile_close(&once);
    mapfile_close(&again);
    text_free(&markdown);
    gpu_run_free(&back);
}

TEST(names_of_any_bytes_make_the_same_report_again)
{
    struct text markdown = {0};
    struct gpu_run back;
    struct mapfile once;

    run.kernels.at[0].name = run.stages.at[0].name = S("a\xff\xfe|\xc3");
    write_run("t");
    const char *dir = "strata-out/profiles/annotation/k/b3_bf16/t";
    assert_int_equal(mapfile_open(&once, fs_join(&arena, dir, "report.md"), &diag), ST_OK);
    assert_int_equal(gpu_rundir_load(dir, &back, &diag), ST_OK);
    assert_int_equal(gpu_rundir_report(dir, &back, LANG_EN, &markdown, &diag), ST_OK);
    assert_true(str_equal(once.text, text_view(&markdown)));
    mapfile_close(&once);
    text_free(&markdown);
    gpu_run_free(&back);
}

TEST(a_run_that_broke_off_says_so)
{
    struct gpu_rundir dir;
    struct mapfile map;

    assert_int_equal(gpu_rundir_open(&arena, &run, "mine", "", &dir, &diag), ST_OK);
    gpu_rundir_abort(&dir, &run, &diag);
    assert_false(fs_exists("mine"));
    assert_int_equal(mapfile_open(&map, "mine.partial/run.json", &diag), ST_OK);
    assert_true(str_contains(map.text, S("\"status\": \"aborted\"")));
    mapfile_close(&map);
    assert_int_equal(gpu_rundir_open(&arena, &run, "mine", "", &dir, &diag), ST_IO);
}

TEST(a_damaged_folder_is_an_error)
{
    struct gpu_run back;

    assert_int_equal(gpu_rundir_load("nothing", &back, &diag), ST_NOT_FOUND);
    write_run("t");
    const char *dir = "strata-out/profiles/annotation/k/b3_bf16/t";
    assert_int_equal(
        gpu_rundir_put(dir, "kernels.json", S("{\"kernels\": 3, \"stages\": [4]}"), &diag), ST_OK);
    assert_int_equal(gpu_rundir_load(dir, &back, &diag), ST_OK); /* odd, and still a document */
    gpu_run_free(&back);
    assert_int_equal(gpu_rundir_put(dir, "kernels.json", S("{"), &diag), ST_OK);
    assert_int_equal(gpu_rundir_load(dir, &back, &diag), ST_FORMAT);
}

#define TW(name) cmocka_unit_test_setup_teardown(name, rundir_begin, rundir_end)

TEST_MAIN("gpu/collect/rundir", TW(runs_stand_side_by_side_and_latest_is_the_last),
          TW(what_is_read_back_is_what_was_written),
          TW(names_of_any_bytes_make_the_same_report_again), TW(a_run_that_broke_off_says_so),
          TW(a_damaged_folder_is_an_error))
