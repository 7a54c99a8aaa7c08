/*
 * One layer measured: its extent and busy time, its kind, the signature of its operators.
 */
#include "analysis/arch_layers.h"
#include "analysis/study.h"

struct interval arch_extent(struct study *st, size_t first, size_t end, nanos *busy)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    struct interval at = {0};
    nanos sum = 0;

    *busy = 0;
    if (first >= end)
        return at;
    at.begin = at.end = s->begin[kernels.at[first]];
    for (size_t i = first; i < end; i++) {
        nanos begin = s->begin[kernels.at[i]], stop = slices_end(s, kernels.at[i]);
        if (stop <= at.end)
            continue;
        sum = nanos_add(sum, nanos_sub(stop, begin > at.end ? begin : at.end));
        at.end = stop;
    }
    *busy = sum;
    return at;
}

static enum layer_kind kind_of(const bool *seen_family, bool dfc, bool gmm, bool mc2, bool alltoall,
                               bool allgather)
{
    if (dfc)
        return LAYER_MOE_DFC;
    if (gmm && alltoall)
        return LAYER_MOE_GMM;
    if (mc2)
        return LAYER_MOE_MC2;
    if (!seen_family[ARCH_FAMILY_MOE_GATE] && !seen_family[ARCH_FAMILY_MOE_GEMM] &&
        !seen_family[ARCH_FAMILY_MOE_FUSED])
        return LAYER_DENSE;
    return gmm && allgather ? LAYER_MOE_AG : LAYER_MOE;
}

static void measure(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                    struct arch_layer *layer)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    bool seen[FAMILIES] = {0};
    bool dfc = false, gmm = false, mc2 = false, alltoall = false, allgather = false;
    uint32_t previous = UINT32_MAX;
    uint64_t signature = 0;

    for (size_t i = layer->first; i < layer->end; i++) {
        uint32_t number = ops->of_kernel[i];
        const struct arch_op *op = &ops->at[number];
        seen[op->family] = true;
        dfc |= op->is_dfc;
        gmm |= op->is_gmm;
        mc2 |= op->is_mc2;
        alltoall |= op->is_alltoall;
        allgather |= op->is_allgather;
        layer->is_mla |= op->is_mla;
        if (s->lane[kernels.at[i]] != main_lane || number == previous)
            continue;
        signature = hash_mix(signature, number + 1);
        previous = number;
    }
    layer->kind = kind_of(seen, dfc, gmm, mc2, alltoall, allgather);
    layer->has_sampling = seen[ARCH_FAMILY_SAMPLING];
    layer->signature = signature;
    layer->at = arch_extent(st, layer->first, layer->end, &layer->busy);
}

void arch_layers_measure(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                         struct arch_layer *layers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        measure(st, ops, main_lane, &layers[i]);
}
