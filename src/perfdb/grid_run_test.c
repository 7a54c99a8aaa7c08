#include "perfdb/grid_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing.h"

#define TABLE                                                                                      \
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types\n"                \
    "\"16,64;2\",FLOAT;INT64,ND;ND,\"16,128\",FLOAT\n"

static char dir[64];

static const char *at(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static long size_of(const char *name)
{
    struct stat st;

    assert_int_equal(stat(at(name), &st), 0);
    return (long)st.st_size;
}

static void begin(void)
{
    snprintf(dir, sizeof(dir), "/tmp/strata-grid-XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(mkdir(at("sub"), 0700), 0);
}

static void end(void)
{
    static const char *const names[] = {"A.csv",       "Concat.csv",   "Tile.csv",
                                        "ConcatD.csv", "ArgMaxV2.csv", "x.tmp.csv",
                                        "note.txt",    "sub/Tile.csv", "Sort.csv"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlink(at(names[i]));
    rmdir(at("sub"));
    rmdir(dir);
}

struct told {
    size_t n;
    char names[200];
};

static void tell(void *ctx, const struct grid_file *file)
{
    struct told *t = ctx;

    t->n++;
    snprintf(t->names + strlen(t->names), sizeof(t->names) - strlen(t->names), "%.*s%s ",
             STR_ARGS(file->name), file->is_skipped ? "-" : "+");
}

static enum status fill(const struct grid_options *o, struct told *t, struct diag *d)
{
    struct grid_run run;

    diag_init(d);
    enum status st = grid_run_open(&run, o, d);
    if (st == ST_OK)
        st = grid_run_scan(&run, dir, d);
    if (st == ST_OK)
        st = grid_run_fill(&run, tell, t, d);
    grid_run_close(&run);
    return st;
}

TEST(tables_are_filled_in_path_order)
{
    struct told t = {0};
    struct diag d;

    begin();
    put("Tile.csv", TABLE);
    put("A.csv", TABLE);
    put("ConcatD.csv", TABLE);
    put("sub/Tile.csv", TABLE);
    put("x.tmp.csv", TABLE);
    put("note.txt", "no table");
    assert_int_equal(fill(&(struct grid_options){.rows = 2, .seed = "1"}, &t, &d), ST_OK);
    assert_string_equal(t.names, "A.csv- ConcatD.csv+ Tile.csv+ Tile.csv+ ");
    assert_int_equal(size_of("A.csv"), strlen(TABLE));
    assert_true(size_of("Tile.csv") > (long)strlen(TABLE));
    diag_fini(&d);
    end();
}

TEST(nothing_is_written_after_a_table_that_cannot_be_read)
{
    struct told t = {0};
    struct diag d;

    begin();
    put("ArgMaxV2.csv", TABLE);
    put("ConcatD.csv", "version https://git-lfs.github.com/spec/v1\n");
    put("Sort.csv", TABLE);
    put("Tile.csv", TABLE);
    assert_int_equal(fill(&(struct grid_options){.rows = 2, .seed = "1"}, &t, &d), ST_FORMAT);
    assert_string_equal(t.names, "ArgMaxV2.csv+ ");
    assert_int_equal(size_of("Sort.csv"), strlen(TABLE));
    assert_int_equal(size_of("Tile.csv"), strlen(TABLE));
    assert_int_equal(diag_count(&d, "perfdb.lfs-pointer"), 1);
    diag_fini(&d);
    end();
}

TEST(a_table_that_is_complete_keeps_its_bytes)
{
    struct told t = {0}, again = {0};
    struct stat before, after;
    struct diag d;

    begin();
    put("Tile.csv", TABLE);
    assert_int_equal(fill(&(struct grid_options){0}, &t, &d), ST_OK);
    diag_fini(&d);
    assert_int_equal(stat(at("Tile.csv"), &before), 0);
    assert_int_equal(fill(&(struct grid_options){0}, &again, &d), ST_OK);
    assert_int_equal(stat(at("Tile.csv"), &after), 0);
    assert_string_equal(again.names, "Tile.csv- ");
    assert_int_equal(before.st_ino, after.st_ino); /* not even replaced by a copy */
    diag_fini(&d);
    end();
}

TEST(names_of_models_and_seeds_are_checked)
{
    struct told t = {0};
    struct diag d;

    begin();
    assert_int_equal(fill(&(struct grid_options){.target_models = S("nobody")}, &t, &d),
                     ST_NOT_FOUND);
    diag_fini(&d);
    assert_int_equal(
        fill(&(struct grid_options){.target_models = S("dsv3"), .is_strict = true}, &t, &d),
        ST_NOT_FOUND);
    diag_fini(&d);
    assert_int_equal(fill(&(struct grid_options){.seed = "one"}, &t, &d), ST_FORMAT);
    diag_fini(&d);
    assert_int_equal(fill(&(struct grid_options){.target_models = S(" , ")}, &t, &d), ST_NOT_FOUND);
    assert_int_equal(diag_count(&d, "grid.no-tables"), 1);
    diag_fini(&d);
    end();
}

TEST_MAIN("perfdb/grid_run", T(tables_are_filled_in_path_order),
          T(nothing_is_written_after_a_table_that_cannot_be_read),
          T(a_table_that_is_complete_keeps_its_bytes), T(names_of_models_and_seeds_are_checked))
