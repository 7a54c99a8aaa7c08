#include "driver/ncu_run.h"

#include "base/testing_folder.h"

static const char *joined(const char *const *words)
{
    struct str text = S("");

    for (size_t i = 0; words[i] != NULL; i++)
        text = arena_format(&arena, "%.*s%s%s", STR_ARGS(text), i > 0 ? " " : "", words[i]);
    return text.at;
}

TEST(the_command_is_the_whole_set_with_everything_said)
{
    const char *const argv[] = {"./demo", "--runs", "1", NULL};
    struct ncu_job job = {.program = "ncu", .report = "out/report", .argv = argv};

    assert_string_equal(joined(ncu_collect_argv(&job, &arena)),
                        "ncu --set full --import-source yes --clock-control none --cache-control "
                        "none --target-processes all --graph-profiling node --force-overwrite "
                        "--export out/report ./demo --runs 1");
    job.kernels = "^copy";
    job.range = "step";
    job.skip = 1;
    job.count = 2;
    job.is_clock_base = job.is_cache_flushed = true;
    assert_string_equal(joined(ncu_collect_argv(&job, &arena)),
                        "ncu --set full --import-source yes --clock-control base --cache-control "
                        "all --kernel-name regex:^copy --nvtx --nvtx-include step/ --launch-skip 1 "
                        "--launch-count 2 --target-processes all --graph-profiling node "
                        "--force-overwrite --export out/report ./demo --runs 1");
}

TEST(pages_are_asked_for_in_base_units)
{
    struct ncu_job job = {.program = "ncu", .report = "r"};

    assert_string_equal(joined(ncu_import_argv(&job, NCU_RAW, &arena)),
                        "ncu --import r.ncu-rep --csv --print-units base --page raw");
    assert_string_equal(joined(ncu_import_argv(&job, NCU_DETAILS, &arena)),
                        "ncu --import r.ncu-rep --csv --print-units base --page details "
                        "--print-details all");
    assert_string_equal(joined(ncu_import_argv(&job, NCU_SOURCE, &arena)),
                        "ncu --import r.ncu-rep --csv --print-units base --page source "
                        "--print-source cuda,sass");
}

TEST(what_it_prints_tells_what_is_wrong)
{
    assert_int_equal(ncu_trouble_of(S("fine"), S(""), 0), NCU_FINE);
    assert_int_equal(ncu_trouble_of(S("==ERROR== ERR_NVGPUCTRPERM - no"), S(""), 1),
                     NCU_NOT_PERMITTED);
    assert_int_equal(ncu_trouble_of(S(""), S("driver is not compatible with"), 1),
                     NCU_INCOMPATIBLE);
    assert_int_equal(ncu_trouble_of(S("==WARNING== No kernels were profiled."), S(""), 0),
                     NCU_NO_KERNELS);
    assert_int_equal(ncu_trouble_of(S(""), S(""), 9), NCU_FAILED);
}

TEST(pages_of_a_report_become_files)
{
    struct ncu_job job = {.program = "tests/fake-bin/ncu", .report = scratch_path("report")};

    scratch_put("report.ncu-rep", "");
    assert_int_equal(ncu_import(&job, scratch, NULL, &diag), ST_OK);
    for (enum ncu_report_page page = 0; page < NCU_PAGES; page++)
        assert_true(fs_exists(scratch_path(ncu_page_file(page))));
    assert_int_equal(diag.entries.n, 0);
}

TEST(a_report_that_is_not_there_is_an_error)
{
    struct ncu_job job = {.program = "tests/fake-bin/ncu", .report = "/nowhere/report"};

    assert_int_equal(ncu_import(&job, scratch, NULL, &diag), ST_TOOL);
    assert_int_equal(diag_count(&diag, "tool.failed"), 1);
}

TEST_MAIN("driver/ncu_run", TA(the_command_is_the_whole_set_with_everything_said),
          TA(pages_are_asked_for_in_base_units), T(what_it_prints_tells_what_is_wrong),
          TS(pages_of_a_report_become_files), TS(a_report_that_is_not_there_is_an_error))
