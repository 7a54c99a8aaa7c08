#include "opdb/measure/measure_job.h"

#include "base/files/mapfile.h"
#include "base/tables/tree.h"
#include "base/testing_arena.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

/* "1,2,3" of a list of lengths; sums so far when asked for. */
static struct str numbers(const struct tree *list, bool is_sums)
{
    struct str text = S("");
    int64_t value, sum = 0;

    for (const struct tree *x = tree_items(list); x != NULL; x = x->next) {
        assert_true(tree_int(x, &value));
        sum += value;
        text = arena_format(&arena, "%.*s%s%lld", STR_ARGS(text), text.n > 0 ? "," : "",
                            (long long)(is_sums ? sum : value));
    }
    return text;
}

static void set(struct op_table *t, struct str column, struct str text)
{
    table_set(t, 0, table_add_column(t, column), text);
}

static void check_cost(const struct tree *item)
{
    static const struct {
        struct str key, column;
    } cells[] = {{S_INIT("input_shapes"), S_INIT("Input Shapes")},
                 {S_INIT("input_dtypes"), S_INIT("Input Data Types")},
                 {S_INIT("input_formats"), S_INIT("Input Formats")},
                 {S_INIT("output_shapes"), S_INIT("Output Shapes")},
                 {S_INIT("output_dtypes"), S_INIT("Output Data Types")}};
    static const struct str names[] = {S_INIT("cube_flops"), S_INIT("vector_flops"),
                                       S_INIT("bytes_read"), S_INIT("bytes_written")};
    const struct tree *runtime = tree_get(item, S("runtime")), *cost = tree_get(item, S("cost"));
    struct str op = tree_get_text(item, S("op"), S(""));
    struct op_table t;
    struct op_call call;
    struct op_row row;
    int64_t value;

    table_init(&t, "x.csv");
    table_add_column(&t, S("x"));
    table_add_row(&t);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        set(&t, cells[i].column, tree_get_text(item, cells[i].key, S("")));
    if (tree_get(runtime, S("query_lens")) != NULL) {
        bool is_sums = !str_contains(tree_get_text(item, S("input_shapes"), S("")), S("512,64"));
        set(&t, column_runtime[RT_SEQ_VALUES],
            numbers(tree_get(runtime, S("query_lens")), is_sums));
        set(&t, column_runtime[RT_SEQ_KV_VALUES], numbers(tree_get(runtime, S("kv_lens")), false));
        assert_true(tree_int(tree_get(runtime, S("sparse_mode")), &value));
        set(&t, column_runtime[RT_SPARSE_MODE], arena_format(&arena, "%lld", (long long)value));
    }
    measure_db_row(&arena, &t, 0, &row);
    const char *problem = op_prepare(&call, op_find(op), &row, &arena);
    if (problem != NULL)
        print_error("%.*s: %s\n", STR_ARGS(op), problem);
    assert_null(problem);
    const int64_t got[] = {call.cost.cube, call.cost.vector, call.cost.read, call.cost.written};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_true(tree_int(tree_get(cost, names[i]), &value));
        if (got[i] != value)
            print_error("%.*s %.*s: %lld, not %lld\n", STR_ARGS(op), STR_ARGS(names[i]),
                        (long long)got[i], (long long)value);
        assert_int_equal(got[i], value);
    }
    table_free(&t);
}

TEST(costs_of_rows)
{
    struct tree_error error;
    struct mapfile map;
    size_t n = 0;

    assert_int_equal(mapfile_open(&map, "tests/data/perfdb/op_cost.json", &diag), ST_OK);
    const struct tree *all = tree_read_json(&arena, map.text, &error);
    for (const struct tree *item = tree_items(all); item != NULL; item = item->next, n++)
        check_cost(item);
    assert_true(n > 20);
    mapfile_close(&map);
}

TEST(slots_keep_their_places)
{
    struct op_table t;
    struct op_row row;

    table_init(&t, "x.csv");
    table_add_column(&t, COL_INPUT_SHAPES);
    table_add_row(&t);
    set(&t, COL_INPUT_SHAPES, S("\"1,2;UNDEFINED;;N/A;NULL;DT_UNDEFINED;3\""));
    set(&t, COL_INPUT_DTYPES, S("DT_BF16;;;;;;FLOAT9"));
    measure_db_row(&arena, &t, 0, &row);
    assert_int_equal(row.n_in, 7);
    assert_true(row.in[0].is_given && row.in[0].t.rank == 2 && row.in[0].t.dim[1] == 2);
    for (size_t i = 1; i < 6; i++)
        assert_false(row.in[i].is_given);
    assert_true(row.in[6].is_given && row.in[6].is_unknown);
    assert_int_equal(row.runtime.heads, -1);
    table_free(&t);
}

TEST_MAIN("opdb/measure/measure_row", TA(costs_of_rows), TA(slots_keep_their_places))
