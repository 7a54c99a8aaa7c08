#include "opdb/grid/grid_gen.h"

#include "base/limits.h"
#include "opdb/grid_testing.h"

static struct grid_random dice;

static struct grid_rows gen_make(const char *pattern, const char *model, uint32_t cap)
{
    struct grid_job job = {.rules = &rules, .models = models, .cap = cap, .random = &dice};
    struct grid_rows rows;
    bool is_alias;

    if (model != NULL) {
        job.models = (struct grid_models){grid_models_find(&models, str_of(model), &is_alias), 1};
        job.has_targets = true;
    }
    assert_true(grid_random_seed_text(&dice, S("1")));
    assert_int_equal(grid_generate(&job, grid_rules_pattern(&rules, str_of(pattern)), S("X"),
                                   &arena, &rows, &diag),
                     ST_OK);
    return rows;
}

static const char *text(struct grid_shapes shapes)
{
    return arena_cstr(&arena, grid_shapes_text(&arena, shapes));
}

static const char *gen_cell(const struct grid_row *row, const char *column)
{
    struct str s = grid_row_cell(row, str_of(column));

    assert_non_null(s.at);
    return arena_cstr(&arena, s);
}

TEST(loops_run_with_the_last_one_fastest)
{
    struct grid_rows rows = gen_make("rmsnorm", NULL, 0);

    assert_int_equal(rows.n, 13 * 37);
    assert_string_equal(text(rows.at[1].in), "1,192;192");
    assert_string_equal(text(rows.at[1].out), "1,192;1,1");
    assert_string_equal(text(rows.at[37].in), "4,128;128");
}

TEST(constraints_leave_points_out)
{
    /* 13 x 37 points less those with fewer than 2^18 elements, counted by hand over the grids. */
    size_t left = 0;
    struct grid_list t = grid_rules_grid(&rules, S("ELEM_TOKENS_GRID")),
                     w = grid_rules_grid(&rules, S("ELEM_HIDDEN_GRID"));

    for (size_t i = 0; i < t.n; i++)
        for (size_t k = 0; k < w.n; k++)
            left += t.at[i] * w.at[k] >= 1 << 18;
    assert_int_equal(gen_make("tensor_move", NULL, 0).n, left);
    assert_int_equal(gen_make("pad", NULL, 0).n, 25 * 37);
}

TEST(models_give_pairs_in_place_of_the_grid)
{
    struct grid_rows all = gen_make("quant_matmul", NULL, 0),
                     one = gen_make("quant_matmul", "qwen332b", 0);

    assert_int_equal(all.n, 37 * 37 * 37); /* every value is a multiple of 32 */
    assert_int_equal(one.n, 37 * 19);
    assert_string_equal(text(one.at[0].in), "1,5120;10,320,16,32;320;320");
    assert_string_equal(text(one.at[19].out), "2,320");
}

TEST(a_sample_keeps_the_order_in_which_it_was_drawn)
{
    /* The draws of seed 1 from 50 653 begin with 8805 = 6 * 37 * 37 + 15 * 37 + 36: M is value 6
     * (7), N value 15 (2048), K value 36 (55296), counted from 0. */
    struct grid_rows rows = gen_make("matmul", NULL, 5);

    assert_int_equal(rows.n, 5);
    assert_string_equal(text(rows.at[0].in), "7,55296;2048,55296");
}

TEST(no_sample_is_drawn_when_all_fit)
{
    struct grid_rows rows = gen_make("argmax", NULL, 56);

    assert_int_equal(rows.n, 56);
    assert_string_equal(text(rows.at[0].in), "1,1024;");
    assert_true(dice.next == GRID_RANDOM_WORDS); /* untouched since the seed */
}

TEST(grouped_products_follow_the_experts)
{
    struct grid_rows rows = gen_make("grouped_matmul", "dsv3", 0);

    /* 4 ep x 5 tp x 17 token counts. */
    assert_int_equal(rows.n, 340);
    assert_string_equal(text(rows.at[0].in), "1,7168;32,7168,128,16;;32,2048;;;;32;1");
    /* The last: ep 8, tp 16: h 448, n 128, e 4, r 8. */
    assert_string_equal(text(rows.at[339].in), "65536,448;4,448,8,16;;4,128;;;;4;65536");
    assert_string_equal(text(rows.at[339].out), "65536,128");
    assert_int_equal(gen_make("grouped_matmul", "qwen332b", 0).n, 0);
}

TEST(weights_that_can_be_replayed)
{
    bool is_alias;
    struct grid_job job = {.rules = &rules, .is_replayable = true, .random = &dice};
    const struct grid_pattern *p = grid_rules_pattern(&rules, S("grouped_matmul"));
    struct grid_rows rows;

    job.models = (struct grid_models){grid_models_find(&models, S("dsv3"), &is_alias), 1};
    assert_int_equal(grid_generate(&job, p, S("GroupedMatmul"), &arena, &rows, &diag), ST_OK);
    assert_string_equal(text(rows.at[0].in), "1,7168;32,7168,2048;;32,2048;;;;32;1");
    assert_int_equal(grid_generate(&job, p, S("GroupedMatmulSwigluQuant"), &arena, &rows, &diag),
                     ST_OK);
    assert_string_equal(text(rows.at[0].in), "1,7168;32,64,448,16,32;;32,2048;;;;32;1");
}

/* A second model of the same sizes with twice the experts: its rows have other numbers of ranks. */
TEST(dispatch_repeats_are_those_of_one_model)
{
    struct grid_rows one = gen_make("dispatch_ffn_combine", "dsv3", 0);
    bool is_alias;
    struct grid_model twins[2];
    struct grid_models all = models;

    twins[0] = twins[1] = *grid_models_find(&models, S("dsv3"), &is_alias);
    models = (struct grid_models){twins, 2};
    assert_int_equal(gen_make("dispatch_ffn_combine", NULL, 0).n, 2 * one.n);
    models = all;
}

TEST(dispatch_stays_within_a_rank)
{
    struct grid_rows rows = gen_make("dispatch_ffn_combine", "dsv3", 0);

    /* Experts per rank 1, 2, 4, 8, 16; tp 5; m from 1 to 1024 is 11 powers. */
    assert_int_equal(rows.n, 5 * 5 * 11);
    assert_string_equal(text(rows.at[0].in), "1,7168;1,7168,4096;1,2048,7168;1,8;4096;7168;1,8");
    assert_string_equal(gen_cell(&rows.at[0], "EP Size"), "256");
    assert_string_equal(gen_cell(&rows.at[274], "EP Size"), "16");
    assert_string_equal(text(rows.at[274].out), "1024,7168;16");
}

TEST(heads_are_cut_for_the_split_of_q_k_and_v)
{
    struct grid_rows rows = gen_make("split_qkv_rmsnorm_rope", "llama70b", 0);

    /* tp 1, 4, 8, 16 with 64 and 8 heads of 128; tp 16 leaves 4 and 1 heads. */
    assert_int_equal(rows.n, 4 * 13);
    assert_string_equal(text(rows.at[0].in), "1,10240;128");
    assert_string_equal(text(rows.at[51].in), "32768,768;128");
    assert_string_equal(text(rows.at[51].out), "32768,512;32768,128;32768,128");
    assert_string_equal(gen_cell(&rows.at[0], "Output Formats"), "ND;ND;ND");
}

TEST(dense_attention_has_a_scene_for_each_cut)
{
    struct grid_rows rows = gen_make("fused_attention", "qwen332b", 0);

    /* Five cuts, 4 x 10 prefill and 8 x 12 decode rows. */
    assert_int_equal(rows.n, 5 * (40 + 96));
    assert_string_equal(text(rows.at[0].in),
                        "512,64,128;512,8,128;512,8,128;;2048,2048;1;1;;;;;;;;;;;;;;;;;;;;;;;;");
    assert_string_equal(gen_cell(&rows.at[11], "Runtime actual_seq_lengths_values"), "1024,2048");
    assert_string_equal(gen_cell(&rows.at[11], "Runtime block_table_shape"), "");
    /* Decode of 2 requests at 3593: 29 blocks each. */
    const struct grid_row *row = &rows.at[40 + 12 + 3];
    assert_string_equal(text(row->in), "2,64,128;58,8,128,128;58,8,128,128;;2048,2048;2;2;;;;;;;;"
                                       "2,29;;;;;;;;;;;;;;;;");
    assert_string_equal(gen_cell(row, "Runtime source_profile"), "qwen332b_dense_decode_tp1");
    assert_string_equal(gen_cell(row, "Runtime actual_seq_lengths_values"), "1,2");
    assert_string_equal(gen_cell(row, "Runtime actual_seq_lengths_kv_values"), "3593,3593");
    assert_string_equal(gen_cell(row, "Runtime avg_seq_len"), "3593.000000");
    assert_string_equal(gen_cell(row, "Runtime block_table_valid_blocks"), "29,29");
}

TEST(mla_attention_keeps_all_heads_together)
{
    struct grid_rows rows = gen_make("fused_attention", "dsv3", 0);
    const struct grid_row *last;

    /* 4100 and 4224 tokens take the same 33 blocks: one row for both. */
    assert_int_equal(rows.n, 4 * 9 + 6 * 11);
    last = &rows.at[rows.n - 1];
    assert_string_equal(text(last->in), "16,128,1,512;704,1,128,512;704,1,128,512;;;16;16;;;;;;;;"
                                        "16,44;;;;;;;;;;16,128,1,64;704,1,128,64;;;;;");
    assert_string_equal(text(last->out), "128,16,1,512");
    assert_string_equal(gen_cell(last, "Runtime sparse_mode"), "0");
    assert_string_equal(gen_cell(last, "Runtime input_layout"), "BNSD_NBSD");
    assert_string_equal(gen_cell(last, "Runtime num_key_value_heads"), "1");
    assert_string_equal(gen_cell(&rows.at[0], "Runtime sparse_mode"), "3");
    /* GLM 5.1 and 5.2 give the same rows: those of the second are dropped. */
    assert_int_equal(gen_make("fused_attention", NULL, 0).n, 917 - 1);
}

static enum status with_rules(const char *yaml, const char *pattern, struct grid_rows *rows)
{
    struct grid_rules own;
    enum status st = grid_rules_read(&own, &arena, scratch_put("rules.yaml", yaml), &diag);

    if (st != ST_OK)
        return st;
    struct grid_job job = {.rules = &own, .models = models, .random = &dice};
    return grid_generate(&job, grid_rules_pattern(&own, str_of(pattern)), S("X"), &arena, rows,
                         &diag);
}

TEST(own_rules_replace_whole_sections)
{
    struct grid_rows rows = {0};

    assert_int_equal(with_rules("grids: {T: [3, 1]}\n"
                                "patterns:\n"
                                "  mine:\n"
                                "    iterators: {t: T, d: [2]}\n"
                                "    constants: {d: 7}\n"
                                "    inputs: [\"(t, d/2)\", \"()\"]\n"
                                "    input_dtypes: [FLOAT, \"\"]\n",
                                "mine", &rows),
                     ST_OK);
    assert_int_equal(rows.n, 2);
    for (size_t i = 0; i < rows.n; i++) {
        assert_string_equal(text(rows.at[i].in), i == 0 ? "3,3;" : "1,3;"); /* 7/2 is cut */
        assert_string_equal(gen_cell(&rows.at[i], "Input Data Types"), "FLOAT;");
    }
    /* The patterns compiled in still find their grids in a changed section, or say so. */
    assert_int_equal(with_rules("grids: {T: [3, 1]}\n", "argmax", &rows), ST_FORMAT);
}

TEST(bad_rules_are_refused)
{
    static const char *const texts[] = {
        "patterns: {p: {iterators: {t: NOWHERE}}}",
        "patterns: {p: {iterators: {t: [1, x]}}}",
        "patterns: {p: {iterators: {t: [1]}, inputs: [\"(u)\"]}}",
        "patterns: {p: {inputs: [\"(1 +)\"]}}",
        "patterns: {p: {inputs: \"(1)\"}}",
        "patterns: {p: {constants: {a: 1.5}}}",
        "patterns: {p: {model_nk_pairs: true, iterators: {M: [1]}}}",
        "patterns: [1]",
        "[]",
        "scenes: {default: {prefill_batches: [0]}}",
    };
    struct grid_rows rows;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(with_rules(texts[i], "p", &rows), ST_FORMAT);
}

TEST(values_without_a_result_end_the_run)
{
    struct grid_rows rows;

    assert_int_equal(
        with_rules("patterns: {p: {iterators: {t: [1, 0]}, inputs: [\"(8 // t)\"]}}", "p", &rows),
        ST_FORMAT);
    assert_int_equal(diag_count(&diag, "grid.bad-value"), 1);
    assert_int_equal(
        with_rules("patterns: {p: {iterators: {t: [1, 0]}, constraints: [\"t % t\"]}}", "p", &rows),
        ST_FORMAT);
}

TEST(grids_without_end_are_refused)
{
    char yaml[1000], list[500] = {0};
    struct grid_rows rows;

    /* 200 values on each of seven axes. */
    memset(list, '1', 399);
    for (size_t i = 1; i < 399; i += 2)
        list[i] = ',';
    snprintf(yaml, sizeof(yaml),
             "grids: {L: [%s]}\n"
             "patterns: {p: {iterators: {a: L, b: L, c: L, d: L, e: L, f: L, g: L},\n"
             "               inputs: [\"(a)\"]}}\n",
             list);
    assert_int_equal(with_rules(yaml, "p", &rows), ST_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(loops_run_with_the_last_one_fastest),
        T(constraints_leave_points_out),
        T(models_give_pairs_in_place_of_the_grid),
        T(a_sample_keeps_the_order_in_which_it_was_drawn),
        T(no_sample_is_drawn_when_all_fit),
        T(grouped_products_follow_the_experts),
        T(weights_that_can_be_replayed),
        T(dispatch_repeats_are_those_of_one_model),
        T(dispatch_stays_within_a_rank),
        T(heads_are_cut_for_the_split_of_q_k_and_v),
        T(dense_attention_has_a_scene_for_each_cut),
        T(mla_attention_keeps_all_heads_together),
        T(own_rules_replace_whole_sections),
        T(bad_rules_are_refused),
        T(values_without_a_result_end_the_run),
        T(grids_without_end_are_refused),
    };

    return cmocka_run_group_tests_name("opdb/grid/grid_gen", tests, begin, leave);
}
