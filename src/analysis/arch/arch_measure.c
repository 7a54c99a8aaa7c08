/*
 * One layer measured: its extent and busy time, its kind, the signature of its operators.
 */
#include "analysis/arch/arch_layers.h"
#include "analysis/ops/op_tree.h"
#include "analysis/steps/steps.h"
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

static enum layer_kind measure_kind_of(const bool *seen_family, bool dfc, bool gmm, bool mc2,
                                       bool alltoall, bool allgather)
{
    if (dfc)
        return LAYER_MOE_DFC;
    if (gmm && alltoall)
        return LAYER_MOE_GMM;
    if (mc2)
        return LAYER_MOE_MC2;
    if (!seen_family[KERNEL_ROLE_MOE_GATE] && !seen_family[KERNEL_ROLE_MOE_GEMM] &&
        !seen_family[KERNEL_ROLE_MOE_FUSED])
        return LAYER_DENSE;
    return gmm && allgather ? LAYER_MOE_AG : LAYER_MOE;
}

static void measure(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                    struct arch_layer *layer)
{
    struct kernel_order kernels = study_kernels(st);
    const struct slices *s = &st->cap->slices;
    bool seen[KERNEL_ROLES] = {0};
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
        signature = hash_stable_mix(signature, number + 1);
        previous = number;
    }
    layer->kind = measure_kind_of(seen, dfc, gmm, mc2, alltoall, allgather);
    layer->has_sampling = seen[KERNEL_ROLE_SAMPLING];
    layer->signature = signature;
    layer->at = arch_extent(st, layer->first, layer->end, &layer->busy);
}

void arch_layers_measure(struct study *st, const struct arch_ops *ops, uint32_t main_lane,
                         struct arch_layer *layers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        measure(st, ops, main_lane, &layers[i]);
}

void arch_layers_count_phases(struct arch_layers *out)
{
    for (size_t i = 0; i < out->n_passes; i++) {
        const struct arch_pass *pass = &out->passes[i];
        size_t prefill = 0, decode = 0;
        if (pass->is_partial)
            continue;
        for (size_t k = 0; k < pass->layers; k++) {
            prefill += out->at[pass->layer_first + k].phase == PHASE_PREFILL;
            decode += out->at[pass->layer_first + k].phase == PHASE_DECODE;
        }
        if (prefill > 0 && decode > 0 && !out->has_both_phases) {
            out->has_both_phases = true;
            out->prefill_per_pass = prefill;
            out->decode_per_pass = decode;
        } else if (!out->has_both_phases) {
            if (prefill > out->prefill_per_pass)
                out->prefill_per_pass = prefill;
            if (decode > out->decode_per_pass)
                out->decode_per_pass = decode;
        }
    }
}

struct arch_launches arch_launches_find(struct study *st)
{
    struct arch_launches l = {.st = st};
    enum step_source source = study_steps(st)->source;

    if (source == STEPS_FROM_COLUMN || source == STEPS_PSEUDO)
        return l;
    l.launch = study_op_tree(st)->launch;
    l.was_before = study_op_tree(st)->linked * 2 > study_kernels(st).n;
    return l;
}

nanos arch_launch_time(const struct arch_launches *l, size_t kernel)
{
    const nanos *begin = l->st->cap->slices.begin;
    uint32_t launch = l->launch != NULL ? l->launch[kernel] : OP_TREE_NONE;

    if (launch != OP_TREE_NONE)
        return begin[launch];
    return l->was_before ? INT64_MIN : begin[study_kernels(l->st).at[kernel]];
}
