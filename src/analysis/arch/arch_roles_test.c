#include "analysis/arch/arch_roles.h"

#include "analysis/arch_testing.h"

/* The roles of the first layer, in order. */
static void expect_roles(const enum role *expected, size_t n)
{
    uint8_t roles[64];

    start_study();
    struct arch_ops *ops = arch_ops_find(&study, NULL);
    const struct arch_markers *markers = arch_markers_find(&study, ops);
    const struct arch_layers *layers = arch_layers_find(&study, ops, markers, 0);
    assert_int_equal(layers->at[0].end - layers->at[0].first, n);
    arch_roles_assign(ops, &layers->at[0], roles);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(roles[i], expected[i]);
}

TEST(a_dense_layer_has_projection_ffn_and_preparation)
{
    static const enum role roles[] = {ROLE_ATTENTION, ROLE_PROJECTION, ROLE_TP_COMM,
                                      ROLE_MID_NORM,  ROLE_DENSE_FFN,  ROLE_DENSE_FFN,
                                      ROLE_DENSE_FFN, ROLE_POST_NORM,  ROLE_TP_COMM,
                                      ROLE_PREP,      ROLE_PREP,       ROLE_PREP};

    add_row(0, "FusedInferAttentionScore MatMul hcom_reduceScatter RmsNorm MatMul SwiGlu MatMul "
               "RmsNorm hcom_allGather MatMul RotaryMul ReshapeAndCache");
    expect_roles(roles, ARRAY_LEN(roles));
}

TEST(a_router_takes_its_norm_and_matmul)
{
    static const enum role roles[] = {ROLE_ATTENTION,  ROLE_PROJECTION, ROLE_TP_COMM, ROLE_ROUTING,
                                      ROLE_ROUTING,    ROLE_ROUTING,    ROLE_EP_COMM, ROLE_DISPATCH,
                                      ROLE_EXPERT_FFN, ROLE_DISPATCH,   ROLE_EP_COMM, ROLE_SAMPLING,
                                      ROLE_SAMPLING,   ROLE_PREP};

    add_row(0, "FusedInferAttentionScore MatMul hcom_reduceScatter RmsNorm MatMul MoeGatingTopK "
               "hcom_alltoallv GroupedMatmul SwiGlu GroupedMatmul hcom_alltoallv MatMul ArgMaxV2 "
               "MatMul");
    expect_roles(roles, ARRAY_LEN(roles));
}

/* gate, activation, up, down: the norm tells where the feed-forward part ends */
TEST(matmuls_up_to_the_next_norm_are_the_ffn)
{
    static const enum role roles[] = {ROLE_ATTENTION, ROLE_PROJECTION, ROLE_MID_NORM,
                                      ROLE_DENSE_FFN, ROLE_DENSE_FFN,  ROLE_DENSE_FFN,
                                      ROLE_DENSE_FFN, ROLE_POST_NORM,  ROLE_PREP};

    add_row(0,
            "FusedInferAttentionScore MatMul RmsNorm MatMul SwiGlu MatMul MatMul RmsNorm MatMul");
    expect_roles(roles, ARRAY_LEN(roles));
}

TEST(a_transfer_between_stages_is_no_tensor_parallelism)
{
    static const enum role roles[] = {ROLE_ATTENTION, ROLE_PROJECTION, ROLE_TRANSFER,
                                      ROLE_TRANSFER,  ROLE_TP_COMM,    ROLE_MID_NORM,
                                      ROLE_DENSE_FFN, ROLE_DENSE_FFN,  ROLE_DENSE_FFN};

    add_row(0, "FusedInferAttentionScore MatMul hcom_send_ hcom_receive_ hcom_allReduce_ RmsNorm "
               "MatMul SwiGlu MatMul");
    expect_roles(roles, ARRAY_LEN(roles));
}

TEST_MAIN("analysis/arch/arch_roles", CASE(a_dense_layer_has_projection_ffn_and_preparation),
          CASE(a_router_takes_its_norm_and_matmul), CASE(matmuls_up_to_the_next_norm_are_the_ffn),
          CASE(a_transfer_between_stages_is_no_tensor_parallelism))
