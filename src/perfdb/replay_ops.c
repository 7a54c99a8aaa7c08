#include "perfdb/replay_ops.h"

#include <stdlib.h>

/* By name, in byte order. */
static const struct str known[] = {
    S_INIT("Add"),
    S_INIT("AddRmsNormBias"),
    S_INIT("ArgMaxV2"),
    S_INIT("AscendQuantV2"),
    S_INIT("BatchMatMulV2"),
    S_INIT("DispatchFFNCombine"),
    S_INIT("DynamicQuant"),
    S_INIT("FusedInferAttentionScore"),
    S_INIT("GatherV2"),
    S_INIT("GroupedMatmul"),
    S_INIT("GroupedMatmulSwigluQuant"),
    S_INIT("Index"),
    S_INIT("InterleaveRope"),
    S_INIT("KvRmsNormRopeCache"),
    S_INIT("LightningIndexer"),
    S_INIT("MaskedFill"),
    S_INIT("MatMulCommon"),
    S_INIT("MatMulV2"),
    S_INIT("MatMulV3"),
    S_INIT("MoeTokenPermute"),
    S_INIT("MoeTokenUnpermute"),
    S_INIT("PadV3"),
    S_INIT("QuantBatchMatmulV3"),
    S_INIT("RINGMLAPrefillBF16Kernel"),
    S_INIT("ReshapeAndCacheNdKernel"),
    S_INIT("RmsNorm"),
    S_INIT("ScatterNdUpdate"),
    S_INIT("Slice"),
    S_INIT("SoftmaxV2"),
    S_INIT("Sort"),
    S_INIT("SparseFlashAttention"),
    S_INIT("SwiGlu"),
    S_INIT("TensorMove"),
    S_INIT("Transpose"),
    S_INIT("TransposeBatchMatMul"),
    S_INIT("split_qkv_rmsnorm_rope_kernel"),
};

bool replay_op_is_known(struct str op)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal(known[i], op))
            return true;
    return false;
}

static struct str listed(struct arena *arena, const struct str *names, size_t n)
{
    struct str list = names[0];

    for (size_t i = 1; i < n; i++)
        list = arena_format(arena, "%.*s, %.*s", STR_ARGS(list), STR_ARGS(names[i]));
    return list;
}

struct str replay_ops_problem(struct arena *arena, const struct str *ops, size_t n)
{
    struct str *unknown = ARENA_ARRAY(arena, struct str, n + 1);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (!replay_op_is_known(ops[i]))
            unknown[count++] = ops[i];
    if (count == 0)
        return S("");
    qsort(unknown, count, sizeof(*unknown), str_order);
    return arena_format(arena, "Unsupported --op: %.*s. Available: %.*s",
                        STR_ARGS(listed(arena, unknown, count)),
                        STR_ARGS(listed(arena, known, ARRAY_LEN(known))));
}
