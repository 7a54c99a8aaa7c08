#include "opdb/aic/aic.h"

#include <math.h>

#include "base/testing_folder.h"
#include "base/text/num.h"
#include "base/text/text.h"
#include "opdb/predict/query.h"
#include "opdb/rows/table.h"
#include "render/datasets/dataset.h"

/* A Parquet file of a text: the first line has the columns ("m:int", "latency:real", "name"), the
 * others the values. */
struct sheet {
    struct str text;
    struct column_info info[16];
    size_t n;
};

static void sheet_head(struct sheet *s, struct str line)
{
    struct str part, type;

    for (s->n = 0; str_split(&line, ' ', &part); s->n++) {
        struct str name = part;
        str_split(&part, ':', &name);
        type = part.at != NULL ? part : S("");
        s->info[s->n] = (struct column_info){.name = name,
                                             .type = str_equal(type, S("int"))    ? VALUES_INT
                                                     : str_equal(type, S("real")) ? VALUES_REAL
                                                                                  : VALUES_TEXT};
    }
}

static void sheet_fill(void *ctx, size_t chunk, struct column_chunk *out)
{
    const struct sheet *s = ctx;
    struct str rest = s->text, line, part;

    (void)chunk;
    str_split(&rest, '\n', &line);
    while (rest.n > 0 && str_split(&rest, '\n', &line) && line.n > 0)
        for (size_t i = 0; i < s->n && str_split(&line, ' ', &part); i++) {
            int64_t number = 0;
            double real = 0;
            num_i64(part, &number);
            num_f64(part, &real);
            if (s->info[i].type == VALUES_INT)
                column_put_int(&out->at[i], number);
            else if (s->info[i].type == VALUES_REAL)
                column_put_real(&out->at[i], real);
            else
                column_put_text(&out->at[i], part);
        }
}

static void put_parquet(const char *name, const char *text)
{
    struct sheet s = {.text = str_of(text)};
    struct str head = s.text, line;
    struct text bytes = {0};
    uint64_t rows;

    str_split(&head, '\n', &line);
    sheet_head(&s, line);
    struct dataset_source source = {.layout = {.table = "t", .columns = s.info, .n = s.n},
                                    .chunks = 1,
                                    .fill = sheet_fill,
                                    .ctx = &s};
    struct dataset_options how = {0};
    assert_true(dataset_write(&dataset_parquet, &source, &how, text_sink(&bytes), &rows));
    FILE *f = fopen(scratch_put(name, ""), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.at, 1, bytes.n, f), bytes.n);
    assert_int_equal(fclose(f), 0);
    text_free(&bytes);
}

/* 1e15 operations and 1e12 bytes a second: 1000 x 1000 x 1000 takes 2 us. */
static const char system_yaml[] = "gpu:\n  mem_bw: 1000000000000 # 1 TB/s\n"
                                  "  bfloat16_tc_flops: 1000000000000000\n"
                                  "  fp8_tc_flops: 2000000000000000\n"
                                  "  mem_capacity: 80000000000\n"
                                  "node:\n  num_gpus_per_node: 8\n  intra_node_bw: 450000000000\n"
                                  "  inter_node_bw: 50000000000\n  p2p_latency: 0.00001\n"
                                  "misc:\n  nccl_version: '2.9'\n";

static void put_sample(void)
{
    scratch_put("in/h200_sxm.yaml", system_yaml);
    put_parquet("in/h200_sxm/gemm/eng/1.0/gemm_perf.parquet",
                "gemm_dtype m:int n:int k:int latency:real kernel_source\n"
                "bfloat16 1000 1000 1000 0.00181 a\n" /* 2 us / 1.1 are 1.818 */
                "bfloat16 1000 1000 1000 0.00182 a\n"
                "fp8 1000 1000 1000 0.00091 a\n"
                "fp8_block 8 1024 1024 0.004 a,b\n"
                "bfloat16 1 16384 16384 0.5263 a\n" /* 536.94 MB are 0.52641 ms */
                "bfloat16 1 16384 16384 0.5265 a\n"
                "bfloat16 0 128 128 0.004 a\n"
                "int3 8 128 128 0.004 a\n"
                "int4_wo 8 128 128 0.004 a\n");
    put_parquet("in/h200_sxm/attention/eng/1.0/context_attention_perf.parquet",
                "batch_size:int isl:int num_heads:int num_key_value_heads:int head_dim:int "
                "window_size:int step:int attn_dtype kv_cache_dtype latency:real kernel_source\n"
                "2 100 8 0 128 0 0 bfloat16 bfloat16 0.5 x\n"
                "2 100 8 1 128 16 0 bfloat16 fp8 0.5 x\n"
                "1 100000 8 1 128 0 0 bfloat16 bfloat16 0.5 x\n"); /* 2e13 operations */
    put_parquet("in/h200_sxm/attention/eng/1.0/generation_attention_perf.parquet",
                "batch_size:int isl:int num_heads:int num_key_value_heads:int head_dim:int "
                "step:int attn_dtype kv_cache_dtype latency:real kernel_source\n"
                "4 1 8 2 128 1023 bfloat16 fp8 0.03 x\n");
    put_parquet("in/h200_sxm/mla/eng/1.0/generation_mla_perf.parquet",
                "batch_size:int isl:int num_heads:int step:int mla_dtype kv_cache_dtype "
                "latency:real kernel_source\n4 1 16 1023 bfloat16 fp8 0.03 x\n");
    put_parquet("in/h200_sxm/moe/eng/1.0/moe_perf.parquet",
                "moe_dtype num_tokens:int hidden_size:int inter_size:int topk:int num_experts:int "
                "moe_tp_size:int moe_ep_size:int distribution latency:real kernel_source\n"
                "fp8_block 64 4096 1536 8 128 2 4 power_law_1.2 0.2 x\n"
                "bfloat16 64 4096 1536 8 128 1 1 balanced 0.2 x_nongated\n");
    put_parquet("in/h200_sxm/comm/nccl/2.9/nccl_perf.parquet",
                "nccl_dtype num_gpus:int message_size:int kernel_source op_name latency:real\n"
                "half 8 1024 NCCL all_gather 0.01\nhalf 8 1024 NCCL all_reduce 0.02\n");
    put_parquet("in/h200_sxm/mla/eng/1.0/mla_context_module_perf.parquet",
                "framework model num_heads:int latency:real\nX m,1 16 0.25\nX m2 16 -1\n");
    scratch_put("in/h200_sxm/gemm/eng/1.1/reuse.yaml",
                "schema_version: 1\nreuse:\n- table: gemm_perf\n  from_version: \"1.0\"\n");
    put_parquet("in/h200_sxm/gemm/eng/1.1/other_perf.parquet", "a latency:real\nx 1\n");
}

static void import_sample(struct aic_import *a, bool is_overwriting)
{
    assert_int_equal(aic_find(a, scratch_path("in"), scratch_path("out"), &diag), ST_OK);
    assert_int_equal(aic_write(a, is_overwriting, NULL, &diag), ST_OK);
}

static const struct aic_file *file_of(const struct aic_import *a, const char *table)
{
    for (size_t i = 0; i < a->files.n; i++)
        if (str_equal(a->files.at[i].table, str_of(table)))
            return &a->files.at[i];
    fail();
    return NULL;
}

static void assert_cells(const char *table, size_t row, const char *cells)
{
    const char *path = arena_printf(&arena, "%s/out/h200_sxm/%s.csv", scratch, table);
    struct op_table t;
    struct text line = {0};

    assert_int_equal(table_read(&t, path, &diag), ST_OK);
    assert_true(row < t.n_rows);
    for (size_t i = 0; i < t.columns.n; i++)
        text_format(&line, "%s%.*s", i > 0 ? " | " : "", STR_ARGS(table_cell(&t, row, (int)i)));
    assert_string_equal(text_keep(&line, &arena).at, cells);
    table_free(&t);
}

TEST(impossible_rows_are_left_out_and_counted)
{
    struct aic_import a;

    put_sample();
    import_sample(&a, false);
    const struct aic_file *gemm = file_of(&a, "gemm_perf");
    assert_int_equal(gemm->rows, 9);
    assert_int_equal(gemm->below_flop, 1);
    assert_int_equal(gemm->below_memory, 1);
    assert_int_equal(gemm->unusable, 2);
    assert_int_equal(gemm->kept, 5);
    assert_int_equal(file_of(&a, "context_attention_perf")->below_flop, 1);
    assert_int_equal(file_of(&a, "mla_context_module_perf")->unusable, 1);
    assert_int_equal(a.databases, 3); /* eng 1.0, eng 1.1, nccl */
    assert_int_equal(a.rows, 9 + 3 + 1 + 1 + 2 + 2 + 2 + 1);
    assert_int_equal(a.kept + a.below_flop + a.below_memory + a.unusable, a.rows);
    aic_free(&a);
}

TEST(rows_are_those_of_the_operators)
{
    struct aic_import a;

    put_sample();
    import_sample(&a, false);
    assert_cells("eng/1.0/MatMulV2", 0, "1000,1000;1000,1000 | DT_BF16;DT_BF16 |  | 1.82 | a");
    assert_cells("eng/1.0/MatMulV2", 2,
                 "8,1024;1024,1024 | FLOAT8_E4M3FN;FLOAT8_E4M3FN | fp8_block | 4 | a,b");
    assert_cells("eng/1.0/MatMulV2", 4, "8,128;128,128 | DT_BF16;INT4 |  | 4 | a");
    assert_cells("eng/1.0/FusedInferAttentionScore", 1,
                 "2,8,100,128;2,1,100,128 | DT_BF16;FLOAT8_E4M3FN | window 16 | 500 | x");
    assert_cells("eng/1.0/FusedInferAttentionScore", 2,
                 "4,8,1,128;4,2,1024,128 | DT_BF16;FLOAT8_E4M3FN |  | 30 | x");
    assert_cells("eng/1.0/FusedInferAttentionScore", 3,
                 "4,16,1,512;4,1,1024,512;4,1,1024,512;4,16,1,64;4,1,1024,64 | "
                 "DT_BF16;FLOAT8_E4M3FN;FLOAT8_E4M3FN;FLOAT8_E4M3FN;FLOAT8_E4M3FN |  | 30 | x");
    assert_cells("eng/1.0/FusedMoe", 0,
                 "64,4096;32,4096,1536;32,768,4096;64,128;64,8 | FLOAT8_E4M3FN;FLOAT8_E4M3FN;"
                 "FLOAT8_E4M3FN;FLOAT;INT32 | power_law_1.2 fp8_block | 200 | x");
    assert_cells("eng/1.0/FusedMoe", 1,
                 "64,4096;128,4096,1536;128,1536,4096;64,128;64,8 | DT_BF16;DT_BF16;DT_BF16;FLOAT;"
                 "INT32 | balanced | 200 | x_nongated");
    /* A rank gives an eighth of what is gathered. */
    assert_cells("nccl/2.9/hcom_allGather_", 0, "256 | 8 |  | 10 | NCCL");
    assert_cells("nccl/2.9/hcom_allReduce_", 0, "2048 | 8 |  | 20 | NCCL");
    assert_cells("eng/1.0/MlaContextModule", 0, "m,1 | 16 | 250");
    aic_free(&a);
}

static struct str read_file(const char *name)
{
    struct mapfile map;

    assert_int_equal(mapfile_open(&map, scratch_path(name), &diag), ST_OK);
    struct str text = arena_str(&arena, map.text);
    mapfile_close(&map);
    return text;
}

TEST(a_database_says_where_its_rows_are_from)
{
    struct aic_import a;

    put_sample();
    import_sample(&a, false);
    assert_str(read_file("out/h200_sxm/eng/1.1/engine.yaml"),
               "device: h200_sxm\nengine: eng\nversion: \"1.1\"\nsource: AIConfigurator\n"
               "collectives: nccl/2.9\nreuse:\n  MatMulV2: \"1.0\"\n");
    assert_true(str_contains(read_file("out/h200_sxm/links.csv"),
                             S("h200_sxm,node,8,10,450,ring,AIConfigurator h200_sxm.yaml\r\n")));
    aic_free(&a);
}

TEST(tables_that_are_there_are_kept_unless_told)
{
    struct aic_import a;

    put_sample();
    import_sample(&a, false);
    aic_free(&a);
    struct str before = read_file("out/h200_sxm/eng/1.0/MatMulV2.csv");
    assert_int_equal(aic_find(&a, scratch_path("in"), scratch_path("out"), &diag), ST_OK);
    assert_int_equal(aic_write(&a, false, NULL, &diag), ST_UNSUPPORTED);
    aic_free(&a);
    import_sample(&a, true);
    aic_free(&a);
    assert_true(str_equal(before, read_file("out/h200_sxm/eng/1.0/MatMulV2.csv")));
}

TEST(a_folder_without_files_and_a_damaged_file_are_errors)
{
    struct aic_import a;

    assert_int_equal(fs_mkdirs(scratch_path("none"), &diag), ST_OK);
    assert_int_equal(aic_find(&a, scratch_path("none"), scratch_path("out"), &diag), ST_NOT_FOUND);
    aic_free(&a);
    scratch_put("bad/h200_sxm/gemm/eng/1.0/gemm_perf.parquet", "PAR1 and nothing more");
    assert_int_equal(aic_find(&a, scratch_path("bad"), scratch_path("out"), &diag), ST_OK);
    assert_int_not_equal(aic_write(&a, false, NULL, &diag), ST_OK);
    aic_free(&a);
    assert_false(fs_exists(scratch_path("out/h200_sxm/eng/1.0/MatMulV2.csv")));
    put_parquet("odd/h200_sxm/gemm/eng/1.0/gemm_perf.parquet", "m:int n:int\n1 2\n");
    assert_int_equal(aic_find(&a, scratch_path("odd"), scratch_path("out"), &diag), ST_OK);
    assert_int_equal(aic_write(&a, false, NULL, &diag), ST_FORMAT);
    aic_free(&a);
}

/* What was imported answers. */
TEST(imported_rows_are_found_again)
{
    struct aic_import a;
    struct query_db db;
    struct query_result r;
    int64_t x[] = {1000, 1000}, y[] = {1000, 1000};
    struct query_input in[] = {{{x, 2}, S("DT_BF16")}, {{y, 2}, S("DT_BF16")}};
    struct query q = {.kernel = "MatMulV2", .inputs = {in, 2}, .input_count = -1, .is_model = true};

    put_sample();
    import_sample(&a, false);
    aic_free(&a);
    assert_int_equal(query_open(&db, scratch_path("out/h200_sxm/eng/1.0"), &diag), ST_OK);
    assert_int_equal(query_run(&db, &q, &r, &diag), ST_OK);
    assert_null(r.miss);
    assert_int_equal(r.source, QUERY_MEASURED);
    assert_true(fabs(r.latency_us - 1.82) < 1e-9);
    query_close(&db);
}

TEST_MAIN("opdb/aic", TS(impossible_rows_are_left_out_and_counted),
          TS(rows_are_those_of_the_operators), TS(a_database_says_where_its_rows_are_from),
          TS(tables_that_are_there_are_kept_unless_told),
          TS(a_folder_without_files_and_a_damaged_file_are_errors),
          TS(imported_rows_are_found_again))
