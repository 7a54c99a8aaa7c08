/*
 * Layers out of the architecture.
 */
#include "page/page_layers.h"

#include "analysis/arch.h"
#include "analysis/study.h"

static struct page_layer layer_of(const struct arch *arch, const struct arch_layer *layer)
{
    bool has_type = layer->type < arch->types->n;

    return (struct page_layer){
        .index = layer->index,
        .type = has_type ? layer->type : SIZE_MAX,
        .phase = arch_phase_name(layer->phase),
        .at = layer->at,
        .busy = layer->busy,
        .is_outlier =
            has_type && (double)arch_span(layer->at) > arch->types->at[layer->type].wall.p90,
    };
}

static struct page_pass pass_of(const struct arch *arch, const struct arch_pass *pass,
                                struct arena *arena)
{
    struct page_pass out = {
        .number = pass->number,
        .is_partial = pass->is_partial,
        .at = pass->at,
        .busy = pass->busy,
        .n = pass->layers < PAGE_LAYERS ? pass->layers : PAGE_LAYERS,
    };

    out.layers = ARENA_ARRAY(arena, struct page_layer, out.n + 1);
    for (size_t i = 0; i < out.n; i++)
        out.layers[i] = layer_of(arch, &arch->layers->at[pass->layer_first + i]);
    return out;
}

static struct page_role role_of(const struct arch_role *role, struct arena *arena)
{
    struct page_role out = {
        .name = role->name,
        .wall = role->wall,
        .share = role->share,
        .kernels = role->kernels,
        .ops = ARENA_ARRAY(arena, struct page_layer_op, role->n_ops + 1),
        .n = role->n_ops,
    };

    for (size_t i = 0; i < role->n_ops; i++)
        out.ops[i] =
            (struct page_layer_op){role->ops[i].label, role->ops[i].count, role->ops[i].total};
    return out;
}

static struct page_layer_type type_of(const struct arch_type *type, struct arena *arena)
{
    struct page_layer_type out = {
        .name = layer_kind_name(type->kind),
        .phase = arch_phase_name(type->phase),
        .layers = type->layers,
        .count = type->count,
        .median = type->wall.median,
        .p90 = type->wall.p90,
        .roles = ARENA_ARRAY(arena, struct page_role, type->n_roles + 1),
        .n = type->n_roles,
    };

    for (size_t i = 0; i < type->n_roles; i++)
        out.roles[i] = role_of(&type->roles[i], arena);
    return out;
}

const struct page_layers *page_layers_find(struct study *st)
{
    const struct arch *arch = NULL;
    struct arena *arena = &st->scratch;

    if (st->cap->has & HAS_KERNELS)
        arch = arch_find(st, &(struct arch_options){.name = str_of(st->cap->name)});
    if (arch == NULL || arch->layers->n == 0)
        return NULL;
    struct page_layers *out = ARENA_NEW(arena, struct page_layers);
    *out = (struct page_layers){.all_passes = arch->layers->n_passes, .n_types = arch->types->n};
    for (enum lang lang = 0; lang < LANGS; lang++)
        out->summary[lang] = arch_summary(arena, arch, lang);
    for (size_t n = 0; out->n_passes < out->all_passes && out->n_passes < PAGE_PASSES;) {
        n += arch->layers->passes[out->n_passes].layers;
        if (n > PAGE_LAYERS && out->n_passes > 0)
            break;
        out->n_passes++;
    }
    out->passes = ARENA_ARRAY(arena, struct page_pass, out->n_passes + 1);
    for (size_t i = 0; i < out->n_passes; i++)
        out->passes[i] = pass_of(arch, &arch->layers->passes[i], arena);
    out->types = ARENA_ARRAY(arena, struct page_layer_type, out->n_types + 1);
    for (size_t i = 0; i < out->n_types; i++)
        out->types[i] = type_of(&arch->types->at[i], arena);
    return out;
}
