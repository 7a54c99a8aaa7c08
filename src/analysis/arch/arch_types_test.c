#include "analysis/arch/arch_types.h"

#include "analysis/arch_testing.h"

static const struct arch_types *types(void)
{
    start_study();
    struct arch_ops *ops = arch_ops_find(&study, NULL);
    const struct arch_markers *markers = arch_markers_find(&study, ops);
    const struct arch_layers *layers = arch_layers_find(&study, ops, markers, 0);
    return arch_types_find(&study, ops, markers, layers);
}

TEST(types_count_rank_and_represent_their_layers)
{
    nanos at = 0;

    for (int pass = 0; pass < 2; pass++) {
        at = add_row(at, "GatherV2");
        at = add_row(at, "FusedInferAttentionScore MatMul SwiGlu MatMul");
        for (int layer = 0; layer < 3; layer++)
            at = add_row(at, "FusedInferAttentionScore MoeGatingTopK DispatchFFNCombine");
    }
    const struct arch_types *t = types();
    assert_int_equal(t->n, 2);
    assert_int_equal(t->at[0].kind, LAYER_DENSE);
    assert_str(t->at[0].layers, "0");
    assert_int_equal(t->at[1].count_per_pass, 3);
    assert_int_equal(t->at[1].count, 6);
    assert_str(t->at[1].layers, "1–3");
    assert_true(t->at[1].kernels.median == 3);
    assert_true(t->at[1].wall.median == 32 * US); /* three of 10 us, two gaps of 1 us */
    assert_true(t->at[1].dfc.median == 10 * US);
    assert_int_equal(t->at[0].n_variants, 1);
}

TEST(extra_kernels_and_slow_first_layers_are_anomalies)
{
    nanos at = 0;

    for (int pass = 0; pass < 2; pass++) {
        at = add_row(at, "GatherV2");
        at = add_row(at, "FusedInferAttentionScore MatMul Cast SwiGlu Cast MatMul");
        for (int layer = 0; layer < 5; layer++)
            at = add_row(at, "FusedInferAttentionScore MatMul SwiGlu MatMul");
    }
    const struct arch_types *t = types();
    assert_int_equal(t->n, 1);
    assert_int_equal(t->at[0].n_anomalies, 2); /* 65 us against 43 us; two Casts more */
    assert_int_equal(t->at[0].n_variants, 2);
    assert_str(t->at[0].variants[0].layers, "0");
    assert_str(t->at[0].variants[1].layers, "1–5");
}

TEST(ranges_are_compressed)
{
    const size_t numbers[] = {0, 1, 2, 5, 7, 8};
    struct arena arena;

    arena_init(&arena);
    assert_str(arch_ranges(&arena, numbers, 6, ""), "0–2, 5, 7–8");
    assert_str(arch_ranges(&arena, numbers, 2, "D"), "D0–D1");
    assert_str(arch_ranges(&arena, numbers, 0, ""), "");
    arena_free(&arena);
}

TEST_MAIN("analysis/arch/arch_types", CASE(types_count_rank_and_represent_their_layers),
          CASE(extra_kernels_and_slow_first_layers_are_anomalies), T(ranges_are_compressed))
