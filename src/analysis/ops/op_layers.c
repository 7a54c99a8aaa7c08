/*
 * Kernels by the layers of the architecture: which of a pass each belongs to.
 */
#include "analysis/arch/arch.h"
#include "analysis/ops/op_stats.h"

struct op_layers op_layers_find(struct study *st)
{
    const struct arch *a = arch_find(st, &(struct arch_options){.name = str_of(st->cap->name)});
    const struct arch_layers *l = a->layers;
    struct op_layers out = {.of_kernel = ARENA_ARRAY(&st->scratch, uint32_t, study_kernels(st).n)};

    for (size_t i = 0; i < study_kernels(st).n; i++)
        out.of_kernel[i] = OP_TREE_NONE;
    for (size_t i = 0; i < l->n; i++) {
        const struct arch_layer *layer = &l->at[i];
        for (size_t k = layer->first; k < layer->end; k++)
            out.of_kernel[k] = (uint32_t)layer->index;
        if (layer->index >= out.n)
            out.n = layer->index + 1;
    }
    out.names = ARENA_ARRAY(&st->scratch, struct str, out.n);
    for (size_t i = 0; i < l->n; i++)
        if (out.names[l->at[i].index].n == 0)
            out.names[l->at[i].index] = arena_format(&st->scratch, "%zu %s", l->at[i].index,
                                                     layer_kind_name(l->at[i].kind));
    return out;
}
