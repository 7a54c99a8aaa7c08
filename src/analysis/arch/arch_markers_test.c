#include "analysis/arch/arch_markers.h"

#include "analysis/arch_testing.h"

static const struct arch_markers *markers(void)
{
    start_study();
    return arch_markers_find(&study, arch_ops_find(&study, NULL));
}

TEST(two_clusters_must_be_well_apart)
{
    const double apart[] = {1, 1.1, 1.2, 8, 8.5, 9}, near[] = {1, 1.1, 3, 3.2},
                 even[] = {1, 2, 4, 8, 16}, same[] = {5, 5, 5};
    size_t first = 0;

    assert_true(arch_two_clusters(apart, 6, &first));
    assert_int_equal(first, 3);
    assert_false(arch_two_clusters(near, 4, &first)); /* medians below a factor of 4 */
    assert_false(arch_two_clusters(even, 5, &first)); /* the gap is no larger than the spread */
    assert_false(arch_two_clusters(same, 3, &first));
    assert_false(arch_two_clusters(same, 1, &first));
}

TEST(long_markers_are_prefill_and_short_ones_decode)
{
    add_on("1", "FusedInferAttentionScore", 0, 11 * MS);
    add_on("1", "MatMul", 12 * MS, MS);
    add_on("1", "FusedInferAttentionScore", 20 * MS, 180 * US);
    const struct arch_markers *m = markers();
    assert_int_equal(m->n, 2);
    assert_int_equal(m->prefill, 1);
    assert_int_equal(m->decode, 1);
    assert_str(m->name, "FusedInferAttentionScore");
}

/* A small model: all below 1 ms, but two clearly different sorts. */
TEST(clusters_decide_where_the_limits_say_nothing)
{
    for (int i = 0; i < 4; i++) {
        add_on("1", "FusedInferAttentionScore", i * 10 * MS, 800 * US);
        add_on("1", "FusedInferAttentionScore", (i * 10 + 5) * MS, 40 * US);
    }
    const struct arch_markers *m = markers();
    assert_int_equal(m->prefill, 4);
    assert_int_equal(m->decode, 4);
    assert_string_equal(m->phase_rule, "two clusters of marker duration");
}

TEST(the_stream_of_most_markers_is_the_main_one)
{
    add_on("7", "FusedInferAttentionScore", 0, MS);
    add_on("8", "FusedInferAttentionScore", 2 * MS, MS);
    add_on("8", "FusedInferAttentionScore", 4 * MS, MS);
    add_on("7", "MatMul", 10 * MS, 50 * MS);
    const struct arch_markers *m = markers();
    assert_str(capture_text(cap, cap->lanes.at[m->main_lane].key.name), "8");
    assert_int_equal(m->main_markers, 2);
}

/* Forward of three layers, then each layer once more before its backward kernel. */
TEST(recomputed_attention_is_not_counted_again)
{
    add_row(0, "FlashAttentionScore MatMul FlashAttentionScore MatMul FlashAttentionScore MatMul "
               "FlashAttentionScore FlashAttentionScoreGrad FlashAttentionScore "
               "FlashAttentionScoreGrad FlashAttentionScore FlashAttentionScoreGrad");
    const struct arch_markers *m = markers();
    assert_int_equal(m->n, 3);
    assert_int_equal(m->recomputed, 3);
    assert_int_equal(m->backward, 3);
}

TEST(without_recomputation_every_forward_kernel_counts)
{
    add_row(0, "FlashAttentionScore MatMul FlashAttentionScore MatMul FlashAttentionScoreGrad "
               "MatMulGrad FlashAttentionScoreGrad");
    const struct arch_markers *m = markers();
    assert_int_equal(m->n, 2);
    assert_int_equal(m->recomputed, 0);
}

/* One batch of prefill and decode sequences: two attention kernels serve a layer. */
TEST(two_attention_kernels_without_a_matmul_between_are_one_layer)
{
    is_gpu();
    add_row(0,
            "BatchPrefillKernel BatchDecodeKernel gemm BatchPrefillKernel BatchDecodeKernel gemm");
    const struct arch_markers *m = markers();
    assert_int_equal(m->n, 2);
    assert_int_equal(m->merged, 2);
}

TEST(one_attention_kernel_alone_marks_nothing)
{
    add_row(0, "SparseFlashAttention MatMul MatMul");
    assert_int_equal(markers()->n, 0);
}

TEST(a_long_run_of_nothing_but_attention_marks_nothing)
{
    for (int i = 0; i < 1100; i++) {
        add_on("1", "FusedInferAttentionScore", (nanos)i * 10 * MS, MS);
        if (i % 4 == 0)
            add_on("1", "MatMul", ((nanos)i * 10 + 5) * MS, MS);
    }
    assert_int_equal(markers()->n, 0);
}

TEST_MAIN("analysis/arch/arch_markers", T(two_clusters_must_be_well_apart),
          CASE(long_markers_are_prefill_and_short_ones_decode),
          CASE(clusters_decide_where_the_limits_say_nothing),
          CASE(the_stream_of_most_markers_is_the_main_one),
          CASE(recomputed_attention_is_not_counted_again),
          CASE(without_recomputation_every_forward_kernel_counts),
          CASE(two_attention_kernels_without_a_matmul_between_are_one_layer),
          CASE(one_attention_kernel_alone_marks_nothing),
          CASE(a_long_run_of_nothing_but_attention_marks_nothing))
