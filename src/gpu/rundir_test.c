#include "gpu/rundir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mapfile.h"
#include "base/testing.h"

struct fixture {
    char place[32];
    char back[4096];
    struct arena arena;
    struct diag d;
    struct gpu_run run;
};

/* A run with one stage by a plan, in an empty folder that is then the current one. */
static void begin(struct fixture *f)
{
    strcpy(f->place, "/tmp/rundir-XXXXXX");
    assert_non_null(getcwd(f->back, sizeof(f->back)));
    assert_non_null(mkdtemp(f->place));
    assert_int_equal(chdir(f->place), 0);
    arena_init(&f->arena);
    diag_init(&f->d);
    gpu_run_init(&f->run);
    f->run.kernel = S("k");
    f->run.mode = S("annotation");
    struct gpu_kernel k = gpu_kernel_none();
    k.name = S("copy(float *)");
    k.m[GPU_M_DUR_NS] = 1e5 / 3; /* needs all its digits */
    k.m[GPU_M_DRAM_PCT] = 81.1;
    gpu_kernel_stall(&k, S("wait"), 0.1);
    vec_push(&f->run.kernels, k);
    gpu_params_assign(&f->run.params, &f->run.arena, "b=3", &f->d);
    gpu_params_assign(&f->run.params, &f->run.arena, "dtype=bf16", &f->d);
    assert_int_equal(gpu_run_stages(&f->run, NULL,
                                    (struct gpu_work_option){.bytes = S("b*1e8"), .flops = S("0")},
                                    &f->d),
                     ST_OK);
    gpu_run_judge(&f->run);
}

static void end(struct fixture *f)
{
    gpu_run_free(&f->run);
    diag_fini(&f->d);
    arena_free(&f->arena);
    assert_int_equal(chdir(f->back), 0);
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", f->place);
    assert_int_equal(system(command), 0);
}

static void write_run(struct fixture *f, const char *stamp)
{
    struct gpu_rundir dir;

    assert_int_equal(gpu_rundir_open(&f->arena, &f->run, NULL, stamp, &dir, &f->d), ST_OK);
    assert_int_equal(gpu_rundir_write(&dir, &f->run, NULL, &f->d), ST_OK);
    assert_int_equal(gpu_rundir_finish(&f->arena, &dir, &f->d), ST_OK);
}

TEST(runs_stand_side_by_side_and_latest_is_the_last)
{
    struct fixture f;
    char target[64] = "";

    begin(&f);
    write_run(&f, "20260101-000000");
    write_run(&f, "20260101-000000");
    assert_true(fs_is_dir("out/profiles/annotation/k/b3_bf16/20260101-000000"));
    assert_true(fs_is_dir("out/profiles/annotation/k/b3_bf16/20260101-000000-2"));
    assert_int_equal(readlink("out/profiles/annotation/k/b3_bf16/latest", target, 63), 17);
    assert_string_equal(target, "20260101-000000-2");
    end(&f);
}

TEST(what_is_read_back_is_what_was_written)
{
    struct fixture f;
    struct gpu_run back;
    struct mapfile once, again;

    begin(&f);
    write_run(&f, "t");
    const char *dir = "out/profiles/annotation/k/b3_bf16/t";
    const char *report = fs_join(&f.arena, dir, "report.md");
    assert_int_equal(gpu_rundir_load(dir, &back, &f.d), ST_OK);
    assert_true(back.kernels.at[0].m[GPU_M_DUR_NS] == 1e5 / 3);
    assert_true(isnan(back.kernels.at[0].m[GPU_M_OCC]));
    assert_true(back.stages.at[0].work.bytes == 3e8);
    assert_int_equal(back.stages.at[0].class.bound, GPU_MEMORY);
    assert_int_equal(back.params.list.n, 2);
    gpu_run_free(&back);
    assert_int_equal(mapfile_open(&once, report, &f.d), ST_OK);
    assert_int_equal(gpu_rundir_report(dir, &f.d), ST_OK);
    assert_int_equal(mapfile_open(&again, report, &f.d), ST_OK);
    assert_true(once.text.n > 100 && str_equal(once.text, again.text));
    mapfile_close(&once);
    mapfile_close(&again);
    end(&f);
}

TEST(a_run_that_broke_off_says_so)
{
    struct fixture f;
    struct gpu_rundir dir;
    struct mapfile map;

    begin(&f);
    assert_int_equal(gpu_rundir_open(&f.arena, &f.run, "mine", "", &dir, &f.d), ST_OK);
    gpu_rundir_abort(&dir, &f.run, &f.d);
    assert_false(fs_exists("mine"));
    assert_int_equal(mapfile_open(&map, "mine.partial/run.json", &f.d), ST_OK);
    assert_true(str_find(map.text, S("\"status\": \"aborted\"")) < map.text.n);
    mapfile_close(&map);
    assert_int_equal(gpu_rundir_open(&f.arena, &f.run, "mine", "", &dir, &f.d), ST_IO);
    end(&f);
}

TEST(a_damaged_folder_is_an_error)
{
    struct fixture f;
    struct gpu_run back;

    begin(&f);
    assert_int_equal(gpu_rundir_load("nothing", &back, &f.d), ST_NOT_FOUND);
    write_run(&f, "t");
    const char *dir = "out/profiles/annotation/k/b3_bf16/t";
    assert_int_equal(
        gpu_rundir_put(dir, "kernels.json", S("{\"kernels\": 3, \"stages\": [4]}"), &f.d), ST_OK);
    assert_int_equal(gpu_rundir_load(dir, &back, &f.d), ST_OK); /* odd, and still a document */
    gpu_run_free(&back);
    assert_int_equal(gpu_rundir_put(dir, "kernels.json", S("{"), &f.d), ST_OK);
    assert_int_equal(gpu_rundir_load(dir, &back, &f.d), ST_FORMAT);
    end(&f);
}

TEST_MAIN("gpu/rundir", T(runs_stand_side_by_side_and_latest_is_the_last),
          T(what_is_read_back_is_what_was_written), T(a_run_that_broke_off_says_so),
          T(a_damaged_folder_is_an_error))
