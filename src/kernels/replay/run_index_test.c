/*
 * The index of a run, written and read back.
 */
#include "kernels/replay/run_index.h"

#include "base/testing_folder.h"

TEST(rows_come_back_as_they_were_written)
{
    struct run_row row = {.func = "a \"b\",\n\x01 ü",
                          .status = "exported",
                          .message = "m",
                          .hash = "0123",
                          .cycles = 77,
                          .span_us = 1.25,
                          .intensity = -1,
                          .artifact_count = 4};
    struct run_rows rows = {&row, 1, 1}, back;
    struct fs_list files;

    row.pipes[row.n_pipes++] = (struct run_pipe){"AIC MTE2", 12, 0.5};
    run_row_check(&row, "odd");
    run_row_hint(&row, "try");
    run_row_hint(&row, "try"); /* is told once */
    row.advice[row.n_advice++] = "more buffers";
    assert_int_equal(run_index_write(scratch, "sim", &rows, &diag), ST_OK);
    assert_int_equal(run_index_read(scratch, &arena, &back, &diag), ST_OK);
    assert_int_equal(back.n, 1);
    assert_string_equal(back.at[0].func, row.func);
    assert_string_equal(back.at[0].hash, "0123");
    assert_int_equal(back.at[0].cycles, 77);
    assert_true(back.at[0].span_us == 1.25 && back.at[0].intensity == -1);
    assert_int_equal(back.at[0].n_pipes, 1);
    assert_string_equal(back.at[0].pipes[0].name, "AIC MTE2");
    assert_int_equal(back.at[0].n_hints, 1);
    assert_string_equal(back.at[0].advice[0], "more buffers");
    vec_free(&back);
    assert_int_equal(fs_list(&arena, scratch, &files, &diag), ST_OK);
    assert_int_equal(files.n, 3);
    assert_true(fs_exists(scratch_path("manifest.json")));
    assert_true(fs_exists(scratch_path("manifest_export.csv")));
    assert_true(fs_exists(scratch_path("summary.txt")));
}

TEST(failed_kernels_are_counted_and_their_workload_told)
{
    struct run_row list[] = {{.func = "a", .status = "exported", .workload = "n=4"},
                             {.func = "b", .status = "failed", .message = "x"}};
    struct run_rows rows = {list, 2, 2};
    struct text text = {0};

    assert_int_equal(run_rows_exported(&rows), 1);
    run_index_summary("/r", &rows, &text);
    assert_str(text_view(&text),
               "run_root=/r\ntotal=2\nexported=1\nfailed=1\n\nexports:\na\texported\t\t\n"
               "b\tfailed\t\tx\n\nworkload:\na\tn=4\nb\t\n");
    text_free(&text);
}

TEST_MAIN("kernels/replay/run_index", TS(rows_come_back_as_they_were_written),
          TS(failed_kernels_are_counted_and_their_workload_told))
