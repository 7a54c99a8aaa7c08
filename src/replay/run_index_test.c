#include "replay/run_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/testing.h"

TEST(rows_come_back_as_they_were_written)
{
    char folder[] = "/tmp/strata-index-XXXXXX";
    struct run_row row = {.func = "a \"b\",\n\x01 ü",
                          .status = "exported",
                          .message = "m",
                          .hash = "0123",
                          .cycles = 77,
                          .span_us = 1.25,
                          .intensity = -1,
                          .artifact_count = 4};
    struct run_rows rows = {&row, 1, 1}, back;
    struct arena arena;
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    assert_non_null(mkdtemp(folder));
    row.pipes[row.n_pipes++] = (struct run_pipe){"AIC MTE2", 12, 0.5};
    run_row_check(&row, "odd");
    run_row_hint(&row, "try");
    run_row_hint(&row, "try"); /* is told once */
    row.advice[row.n_advice++] = "more buffers";
    assert_int_equal(run_index_write(folder, "sim", &rows, &d), ST_OK);
    assert_int_equal(run_index_read(folder, &arena, &back, &d), ST_OK);
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
    const char *names[] = {"manifest.json", "manifest_export.csv", "summary.txt"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(unlink(fs_join(&arena, folder, names[i])), 0);
    assert_int_equal(rmdir(folder), 0);
    diag_fini(&d);
    arena_free(&arena);
}

TEST(failed_kernels_are_counted_and_their_workload_told)
{
    struct run_row list[] = {{.func = "a", .status = "exported", .workload = "n=4"},
                             {.func = "b", .status = "failed", .message = "x"}};
    struct run_rows rows = {list, 2, 2};
    struct arena arena;

    arena_init(&arena);
    assert_int_equal(run_rows_exported(&rows), 1);
    assert_str(run_index_summary("/r", &rows, &arena),
               "run_root=/r\ntotal=2\nexported=1\nfailed=1\n\nexports:\na\texported\t\t\n"
               "b\tfailed\t\tx\n\nworkload:\na\tn=4\nb\t\n");
    arena_free(&arena);
}

TEST_MAIN("replay.run_index", T(rows_come_back_as_they_were_written),
          T(failed_kernels_are_counted_and_their_workload_told))
