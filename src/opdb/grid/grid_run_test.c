#include "opdb/grid/grid_run.h"

#include <sys/stat.h>

#include "base/testing_folder.h"

#define TABLE                                                                                      \
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types\n"                \
    "\"16,64;2\",FLOAT;INT64,ND;ND,\"16,128\",FLOAT\n"

static long size_of(const char *name)
{
    struct stat st;

    assert_int_equal(stat(scratch_path(name), &st), 0);
    return (long)st.st_size;
}

struct told {
    size_t n;
    char names[200];
};

static void run_note(void *ctx, const struct grid_file *file)
{
    struct told *t = ctx;

    t->n++;
    snprintf(t->names + strlen(t->names), sizeof(t->names) - strlen(t->names), "%.*s%s ",
             STR_ARGS(file->name), file->is_skipped ? "-" : "+");
}

static enum status run_fill(const struct grid_options *o, struct told *t)
{
    struct grid_run run;
    enum status st = grid_run_open(&run, o, &diag);

    if (st == ST_OK)
        st = grid_run_scan(&run, scratch, &diag);
    if (st == ST_OK)
        st = grid_run_fill(&run, run_note, t, &diag);
    grid_run_close(&run);
    return st;
}

TEST(tables_are_filled_in_path_order)
{
    struct told t = {0};

    scratch_put("Tile.csv", TABLE);
    scratch_put("A.csv", TABLE);
    scratch_put("ConcatD.csv", TABLE);
    scratch_put("sub/Tile.csv", TABLE);
    scratch_put("x.tmp.csv", TABLE);
    scratch_put("note.txt", "no table");
    assert_int_equal(run_fill(&(struct grid_options){.rows = 2, .seed = "1"}, &t), ST_OK);
    assert_string_equal(t.names, "A.csv- ConcatD.csv+ Tile.csv+ Tile.csv+ ");
    assert_int_equal(size_of("A.csv"), strlen(TABLE));
    assert_true(size_of("Tile.csv") > (long)strlen(TABLE));
}

TEST(nothing_is_written_after_a_table_that_cannot_be_read)
{
    struct told t = {0};

    scratch_put("ArgMaxV2.csv", TABLE);
    scratch_put("ConcatD.csv", "version https://git-lfs.github.com/spec/v1\n");
    scratch_put("Sort.csv", TABLE);
    scratch_put("Tile.csv", TABLE);
    assert_int_equal(run_fill(&(struct grid_options){.rows = 2, .seed = "1"}, &t), ST_FORMAT);
    assert_string_equal(t.names, "ArgMaxV2.csv+ ");
    assert_int_equal(size_of("Sort.csv"), strlen(TABLE));
    assert_int_equal(size_of("Tile.csv"), strlen(TABLE));
    assert_int_equal(diag_count(&diag, "perfdb.lfs-pointer"), 1);
}

TEST(a_table_that_is_complete_keeps_its_bytes)
{
    struct told t = {0}, again = {0};
    struct stat before, after;

    scratch_put("Tile.csv", TABLE);
    assert_int_equal(run_fill(&(struct grid_options){0}, &t), ST_OK);
    assert_int_equal(stat(scratch_path("Tile.csv"), &before), 0);
    assert_int_equal(run_fill(&(struct grid_options){0}, &again), ST_OK);
    assert_int_equal(stat(scratch_path("Tile.csv"), &after), 0);
    assert_string_equal(again.names, "Tile.csv- ");
    assert_int_equal(before.st_ino, after.st_ino); /* not even replaced by a copy */
}

TEST(names_of_models_and_seeds_are_checked)
{
    struct told t = {0};

    assert_int_equal(run_fill(&(struct grid_options){.target_models = "nobody"}, &t), ST_NOT_FOUND);
    assert_int_equal(
        run_fill(&(struct grid_options){.target_models = "dsv3", .is_strict = true}, &t),
        ST_NOT_FOUND);
    assert_int_equal(run_fill(&(struct grid_options){.seed = "one"}, &t), ST_FORMAT);
    assert_int_equal(run_fill(&(struct grid_options){.target_models = " , "}, &t), ST_NOT_FOUND);
    assert_int_equal(diag_count(&diag, "grid.no-tables"), 1);
}

TEST_MAIN("opdb/grid/grid_run", TS(tables_are_filled_in_path_order),
          TS(nothing_is_written_after_a_table_that_cannot_be_read),
          TS(a_table_that_is_complete_keeps_its_bytes), TS(names_of_models_and_seeds_are_checked))
