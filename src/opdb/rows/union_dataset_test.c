#include "opdb/rows/union_dataset.h"

#include "base/testing_folder.h"
#include "base/text/text.h"

static struct str dataset_written(const struct place_files *tree, enum union_form form)
{
    struct text text = {0};

    assert_int_equal(union_dataset_write(tree, form, text_sink(&text), &diag), ST_OK);
    struct str copy = arena_str(&arena, text_view(&text));
    text_free(&text);
    return copy;
}

/* Data tools open the files in tests/tables; here, that every cell is in them. */
TEST(cells_of_all_tables_are_in_the_file)
{
    scratch_put("db/Add.csv",
                "Input Shapes,Average Duration(us)\n\"\"\"16,8;8,4\"\"\",2.5\n\"7\",3\n");
    scratch_put("db/Mul.csv", "Input Shapes,Note\n64,odd \"\"cell\n");
    struct place_file files[] = {{.op = S("Add"), .path = scratch_path("db/Add.csv")},
                                 {.op = S("Mul"), .path = scratch_path("db/Mul.csv")}};
    struct place_files tree = {.at = files, .n = 2};
    struct str arrow = dataset_written(&tree, UNION_ARROW),
               parquet = dataset_written(&tree, UNION_PARQUET);
    static const char *const texts[] = {"Average Duration(us)", "\"16,8;8,4\"", "Note", "Mul"};

    assert_true(str_starts(arrow, S("ARROW1")) && str_ends(arrow, S("ARROW1")));
    assert_true(str_starts(parquet, S("PAR1")) && str_ends(parquet, S("PAR1")));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_true(str_contains(arrow, str_of(texts[i])));
    double duration = 2.5; /* as a number */
    assert_true(str_contains(arrow, (struct str){(const char *)&duration, sizeof(duration)}));
}

TEST_MAIN("opdb/rows/union_dataset", TS(cells_of_all_tables_are_in_the_file))
