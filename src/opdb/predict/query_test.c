#include "opdb/predict/query.h"

#include <math.h>

#include "base/testing_folder.h"

#define MAPPING                                                                                    \
    "communication_data_ref: comm\n"                                                               \
    "latency_policy:\n  kernel_overrides:\n    Fused:\n"                                           \
    "      profiling_core_envelope_fallback: {max_duration_to_core_ratio: 2.0}\n"                  \
    "operator_mappings:\n"                                                                         \
    "  \"aten.mm.default\": {kernel_type: MatMulV2, alternate_kernel_types: [MatMulV3]}\n"         \
    "  aten.view.default: {zero_cost: true}\n"                                                     \
    "  gone.default: {accepted_miss: part of another}\n"                                           \
    "  both.default: {composite: true, sub_kernels: [MatMulV2, hcom_allReduce_]}\n"                \
    "  hollow.default: {composite: true}\n"                                                        \
    "  add.default: {kernel_type: Add, query_mode: elementwise}\n"                                 \
    "  attn.default: {kernel_type: FIA, query_mode: attention_special}\n"                          \
    "  text.default: just text\n"

#define HEAD "Input Shapes,Input Data Types,Input Formats,Output Shapes,Average Duration(us)\n"

static void make_db(void)
{
    scratch_put("db/op_mapping.yaml", MAPPING);
    scratch_put("db/MatMulV2.csv", HEAD "\"16,64;32,64\",DT_BF16;DT_BF16,ND;ND,\"16,32\",10\n"
                                        "\"48,64;32,64\",DT_BF16;DT_BF16,ND;ND,\"48,32\",30\n"
                                        "\"48,64;32,64\",DT_BF16;DT_BF16,ND;ND,\"48,32\",40\n"
                                        "\"48,128;32,128\",DT_BF16;DT_BF16,ND;ND,\"48,32\",70\n"
                                        "\"16,128;32,128\",DT_BF16;DT_BF16,ND;ND,\"16,32\",50\n");
    scratch_put("db/MatMulV3.csv", HEAD "\"5,6;6,7\",DT_BF16;DT_BF16,ND;ND,\"5,7\",9\n");
    scratch_put("db/Add.csv", HEAD "\"2,8;8\",DT_BF16;DT_BF16,ND;ND,\"2,8\",1\n"
                                   "\"6,8;8\",DT_BF16;DT_BF16,ND;ND,\"6,8\",5\n"
                                   "\"4,8;4,8\",DT_BF16;DT_BF16,ND;ND,\"4,8\",100\n");
    scratch_put("db/FIA.csv",
                "Input Shapes,Input Data Types,Average Duration(us),Runtime avg_seq_len,"
                "Runtime sparse_mode,Runtime num_key_value_heads\n"
                "\"16,4,128;;\",DT_BF16,10,100,3,1\n\"16,4,128;;\",DT_BF16,20,400,3,1\n"
                "\"16,4,128;;\",DT_BF16,77,400,0,1\n");
    scratch_put("db/Fused.csv",
                "Input Shapes,Input Data Types,Accelerator Core,Profiling Average Duration(us),"
                "Profiling Average aicore_time(us),Profiling Average aiv_time(us)\n"
                "4,DT_BF16,MIX_AIC,50,10,20\n5,DT_BF16,MIX_AIC,30,10,20\n");
    scratch_put("db/comm/hcom_allReduce_.csv",
                "message_bytes,num_devices,Duration(us)\n100,4,7\n200,4,9\n");
}

static struct query question(const char *kernel, const char *op, const char *shapes)
{
    struct cell_slots slots = cell_slots(&arena, str_of(shapes));
    struct query q = {.kernel = kernel,
                      .op_name = op,
                      .input_count = -1,
                      .avg_seq = -1,
                      .sparse_mode = -1,
                      .kv_heads = -1,
                      .message = {-1, 0, -1, COMM_ALPHA_BETA},
                      .max_dims = 1};

    q.inputs.at = ARENA_ARRAY(&arena, struct query_input, slots.n + 1);
    for (; q.inputs.n < slots.n; q.inputs.n++) {
        struct query_input *in = &q.inputs.at[q.inputs.n];
        assert_true(cell_dims(&arena, slots.at[q.inputs.n], &in->dims));
        in->dtype = S("DT_BF16");
    }
    return q;
}

static struct query_result query_test_ask(const struct query *q)
{
    struct query_db db;
    struct query_result r;

    make_db();
    assert_int_equal(query_open(&db, scratch_path("db"), &diag), ST_OK);
    assert_int_equal(query_run(&db, q, &r, &diag), ST_OK);
    r.kernel = arena_str(&arena, r.kernel);
    query_close(&db);
    return r;
}

static struct query_result ask_op(const char *op, const char *shapes)
{
    struct query q = question(NULL, op, shapes);

    return query_test_ask(&q);
}

TEST(rows_that_fit_come_first)
{
    struct query_result r = ask_op("torch.ops.aten.mm.default", "16,64;64,32");

    assert_null(r.miss);
    assert_true(r.latency_us == 10 && r.confidence == 1);
    assert_str(r.rule, "transpose");
    r = ask_op("aten.mm.default", "5,6;6,7");
    assert_str(r.kernel, "MatMulV3");
}

TEST(values_between_rows_take_the_median_of_doubles)
{
    struct query q = question("MatMulV2", NULL, "40,64;64,32");
    struct query_result r = query_test_ask(&q);

    /* Three quarters of the way from 10 to the median of 30 and 40. */
    assert_true(fabs(r.latency_us - 28.75) < 1e-12 && r.confidence == 0.70);
    assert_int_equal(r.source, QUERY_INTERPOLATED);
    q.is_exact = true;
    assert_string_equal(query_test_ask(&q).miss, "shape_mismatch");
}

TEST(two_axes_need_leave)
{
    struct query q = question("MatMulV2", NULL, "32,96;96,32");

    assert_string_equal(query_test_ask(&q).miss, "shape_mismatch");
    q.max_dims = 2;
    struct query_result r = query_test_ask(&q);
    /* The middle of the four corners 10, 35, 50, 70: on one diagonal 40, on the other 42.5. */
    assert_null(r.miss);
    assert_true(fabs(r.latency_us - 40) < 1e-9 || fabs(r.latency_us - 42.5) < 1e-9);
    assert_true(r.confidence == 0.65);
}

TEST(elementwise_operators_go_by_elements)
{
    struct query_result r = ask_op("add.default", "3,8;8");

    /* 3*8 + 8 + 3*8 = 56 elements between 40 (1 us) and 104 (5 us). */
    assert_true(fabs(r.latency_us - 2) < 1e-12);
    assert_string_equal(ask_op("add.default", "7,8;8").miss, "shape_mismatch");
    assert_string_equal(ask_op("add.default", "3,8").miss, "input_count_mismatch");
}

TEST(operators_without_a_kernel)
{
    assert_true(ask_op("aten.view.default", "").latency_us == 0);
    assert_null(ask_op("gone.default", "").miss);
    assert_string_equal(ask_op("nobody.default", "").miss, "unmapped");
    assert_string_equal(ask_op("text.default", "").miss, "unmapped");
    assert_string_equal(ask_op("hollow.default", "1").miss, "no_sub_kernels");
    struct query q = question("../db/Add", NULL, "1");
    assert_string_equal(query_test_ask(&q).miss, "csv_not_found");
}

TEST(composite_operators_are_summed)
{
    struct query q = question(NULL, "both.default", "16,64;64,32");

    q.message = (struct comm_query){100, 4, -1, COMM_ALPHA_BETA};
    struct query_result r = query_test_ask(&q);
    assert_true(r.latency_us == 17 && r.confidence == 0.9);
    q.message.bytes = 1;
    r = query_test_ask(&q);
    assert_int_equal(r.source, QUERY_PARTIAL);
    assert_true(r.latency_us == 10 && r.confidence == 0.5);
}

TEST(attention_goes_by_the_length_of_the_cache)
{
    struct query q = question(NULL, "attn.default", "16,4,128");

    q.avg_seq = 90;
    assert_true(query_test_ask(&q).latency_us == 10);
    q.avg_seq = 225; /* its root is 15, between 10 and 20 */
    assert_true(fabs(query_test_ask(&q).latency_us - 15) < 1e-12);
    q.avg_seq = 401;
    assert_true(query_test_ask(&q).latency_us == 20);
    q.sparse_mode = 0;
    assert_true(query_test_ask(&q).latency_us == 77);
    q.kv_heads = 2;
    assert_string_equal(query_test_ask(&q).miss, "shape_mismatch");
}

TEST(outliers_of_the_host_are_cut_to_the_cores)
{
    struct query q = question("Fused", NULL, "4");

    assert_true(query_test_ask(&q).latency_us == 20); /* 50 / 20 is above 2 */
    q = question("Fused", NULL, "5");
    assert_true(query_test_ask(&q).latency_us == 30);
}

TEST_MAIN("opdb/predict/query", TS(rows_that_fit_come_first),
          TS(values_between_rows_take_the_median_of_doubles), TS(two_axes_need_leave),
          TS(elementwise_operators_go_by_elements), TS(operators_without_a_kernel),
          TS(composite_operators_are_summed), TS(attention_goes_by_the_length_of_the_cache),
          TS(outliers_of_the_host_are_cut_to_the_cores))
