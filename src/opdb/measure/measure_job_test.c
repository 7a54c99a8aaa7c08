#include "opdb/measure/measure_job.h"

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/testing_folder.h"
#include "opdb/rows/call_cells.h"

#define HEAD "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types\r\n"

static struct measured_db m;

static int job_done(void **state)
{
    measured_db_free(&m);
    return leave(state);
}

#define TM(name) cmocka_unit_test_setup_teardown(name, enter, job_done)

static struct measure_db_job job_in(const char *dir)
{
    return (struct measure_db_job){
        .dir = dir, .backend = "cpu", .options = {.repeats = 2}, .is_writing = true};
}

static bool file_has(const char *path, const char *text)
{
    struct mapfile map;

    assert_int_equal(mapfile_open(&map, path, &diag), ST_OK);
    bool is_there = str_contains(map.text, str_of(text));
    mapfile_close(&map);
    return is_there;
}

TEST(durations_go_into_the_tables)
{
    const char *path = scratch_put("Add.csv", HEAD "\"8,4;8,4\",FLOAT;FLOAT,ND,\"8,4\",FLOAT\r\n"
                                                   "\"8,4;7,4\",FLOAT;FLOAT,ND,\"8,4\",FLOAT\r\n");
    struct measure_db_job job = job_in(scratch);

    assert_int_equal(measure_db(&job, &m, &diag), ST_OK);
    assert_int_equal(m.done, 1);
    assert_int_equal(m.refused, 1);
    assert_true(file_has(path, "Average Duration(us)"));
    assert_true(m.rows.at[0].stats.shortest > 0 && m.rows.at[0].worst <= 1);
    assert_int_equal(m.rows.at[1].line, 3);
    assert_string_equal(m.rows.at[1].why.at, "the shapes do not fit each other");
    measured_db_free(&m);
    job.is_missing_only = true; /* what is measured is left alone */
    assert_int_equal(measure_db(&job, &m, &diag), ST_OK);
    assert_int_equal(m.done, 0);
    assert_int_equal(m.skipped, 1);
}

TEST(what_a_killed_run_measured_is_not_lost)
{
    const char *path = scratch_put("Add.csv", HEAD "\"8,4\",FLOAT,ND,\"8,4\",FLOAT\r\n"
                                                   "\"9,4\",FLOAT,ND,\"9,4\",FLOAT\r\n");
    struct measure_db_job job = job_in(scratch);

    scratch_put(".strata.measured", arena_printf(&arena, "%s\t1\t4321.5\n%s\t0\t12", path, path));
    job.is_missing_only = true;
    job.most_rows = 1;
    assert_int_equal(measure_db(&job, &m, &diag), ST_OK);
    assert_true(file_has(path, "4321.500000"));
    assert_true(file_has(path, "12.000000"));
    assert_int_equal(m.done, 0);
    assert_false(fs_exists(fs_join(&arena, scratch, ".strata.measured")));
}

TEST(a_model_becomes_rows_once)
{
    static const int64_t batches[] = {1, 2}, lengths[] = {16};
    struct model_layer layer = {.attention = MODEL_FULL, .feed = MODEL_DENSE};
    const struct llm model = {.hidden = 64,
                              .vocab = 100,
                              .heads = {4, 2, 64, 64},
                              .is_gated = true,
                              .inter = 128,
                              .layers = &layer,
                              .n_layers = 1};
    const struct build_sizes sizes = {
        batches, lengths, 2, 1, model_layout_one(), model_types_plain()};
    struct measure_db_job job = job_in(scratch);
    struct build_count count;

    assert_int_equal(build_rows(scratch, &model, &sizes, &count, &diag), ST_OK);
    assert_int_equal(count.tables, 9);
    assert_int_equal(count.added, 50); /* 11 for each of 4 numbers of tokens, 6 of the head */
    assert_int_equal(build_rows(scratch, &model, &sizes, &count, &diag), ST_OK);
    assert_int_equal(count.added, 0);
    assert_int_equal(measure_db(&job, &m, &diag), ST_OK);
    assert_int_equal(m.done, 50);
    assert_int_equal(m.failed + m.refused, 0);
}

/* Processors, asked for or the only ones here, must not fill the table of an NPU. */
TEST(rows_of_another_device_are_refused)
{
    const char *path = scratch_put("ATLAS_800_A3_752T_128G_DIE/vllm_ascend/v1/Add.csv",
                                   HEAD "\"8,4;8,4\",FLOAT;FLOAT,ND,\"8,4\",FLOAT\r\n");
    struct str folder = str_part(str_of(path), 0, str_of(path).n - strlen("/Add.csv"));
    struct measure_db_job job = job_in(arena_cstr(&arena, folder));

    assert_int_equal(measure_db(&job, &m, &diag), ST_UNSUPPORTED);
    measured_db_free(&m);
    job.backend = "auto";
    assert_int_equal(measure_db(&job, &m, &diag), ST_TOOL);
    assert_true(str_contains(str_of(diag.entries.at[diag.entries.n - 1].first[0].text),
                             S("no ascend device")));
    assert_false(file_has(path, "Average Duration(us)"));
}

/* A row that is wrong goes; one that needs more devices or memory than are here stays. */
TEST(only_rows_that_no_device_takes_are_dropped)
{
    const char *path = scratch_put("Add.csv", HEAD "\"8,4;8,4\",FLOAT;FLOAT,ND,\"8,4\",FLOAT\r\n"
                                                   "\"8,4;7,4\",FLOAT;FLOAT,ND,\"8,4\",FLOAT\r\n"
                                                   "\"9,4;9,4\",FP6;FP6,ND,\"9,4\",FP6\r\n"
                                                   "\"90000,4;90000,4\",FLOAT;FLOAT,ND,\"90000,4\","
                                                   "FLOAT\r\n");
    struct measure_db_job job = job_in(scratch);

    job.is_dropping = true;
    job.options.memory = 1 << 20;
    assert_int_equal(measure_db(&job, &m, &diag), ST_OK);
    assert_int_equal(m.done, 1);
    assert_int_equal(m.dropped, 1);
    assert_int_equal(m.rows.at[2].state, MEASURE_NOT_HERE);
    assert_int_equal(m.rows.at[3].state, MEASURE_NO_MEMORY);
    assert_false(file_has(path, "8,4;7,4"));
    assert_true(file_has(path, "9,4;9,4") && file_has(path, "90000,4;90000,4"));
}

TEST(empty_rows_are_pruned_unless_nothing_was_measured)
{
    const char *path = scratch_put("Add.csv", HEAD "\"8,4;8,4\",FLOAT;FLOAT,ND,\"8,4\",FLOAT\r\n"
                                                   "\"9,4;9,4\",FP6;FP6,ND,\"9,4\",FP6\r\n");
    struct measure_db_job job = job_in(scratch);

    job.is_pruning = true;
    job.options.memory = 1; /* no row fits */
    assert_int_equal(measure_db(&job, &m, &diag), ST_UNSUPPORTED);
    assert_true(file_has(path, "8,4;8,4") && file_has(path, "9,4;9,4"));
    measured_db_free(&m);
    job.options.memory = 0;
    assert_int_equal(measure_db(&job, &m, &diag), ST_OK);
    assert_int_equal(m.n_pruned, 1);
    assert_true(file_has(path, "8,4;8,4") && !file_has(path, "9,4;9,4"));
}

TEST(a_folder_without_tables_and_a_back_end_that_is_not_there)
{
    struct measure_db_job job = job_in(scratch);

    assert_int_equal(measure_db(&job, &m, &diag), ST_NOT_FOUND);
    measured_db_free(&m);
    scratch_put("Add.csv", HEAD "\"8,4\",FLOAT,ND,\"8,4\",FLOAT\r\n");
    job.backend = "ascend";
    assert_int_equal(measure_db(&job, &m, &diag), ST_TOOL);
}

TEST_MAIN("opdb/measure/measure_job", TM(durations_go_into_the_tables),
          TM(what_a_killed_run_measured_is_not_lost), TM(a_model_becomes_rows_once),
          TM(rows_of_another_device_are_refused), TM(only_rows_that_no_device_takes_are_dropped),
          TM(empty_rows_are_pruned_unless_nothing_was_measured),
          TM(a_folder_without_tables_and_a_back_end_that_is_not_there))
