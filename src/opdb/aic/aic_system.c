/*
 * What a system can do, by its YAML file.
 */
#include "base/files/fs.h"
#include "base/formats/yaml.h"
#include "base/text/num.h"
#include "device/device.h"
#include "opdb/aic/aic.h"

static double number_of(const struct tree *map, const char *key)
{
    double value = 0;
    const struct tree *node = tree_get(map, str_of(key));

    return node != NULL && num_f64(node->text, &value) && value > 0 ? value : 0;
}

/* Caches are not in the file. */
static void add_device(struct aic_system *s)
{
    const struct device *d = device_find(&device_builtin, s->name);
    static const enum peak peaks[AIC_PEAKS] = {PEAK_BF16, PEAK_FP8, PEAK_INT8, PEAK_FP4};

    if (d == NULL)
        return;
    s->cache = d->l2_mb * 1e6;
    if (s->has_limits)
        return;
    for (size_t i = 0; i < AIC_PEAKS; i++)
        s->flops[i] = d->tflops[peaks[i]] * 1e12;
    s->speed = d->gbps * 1e9;
    s->memory = d->memory_gb * 1e9;
    s->node_speed = d->link_gbps * 1e9;
    s->has_limits = s->flops[0] > 0 && s->speed > 0;
}

enum status aic_system_read(struct arena *arena, const char *path, struct str name,
                            struct aic_system *out, struct diag *d)
{
    const struct tree *top = NULL, *gpu, *node;

    *out = (struct aic_system){.name = name, .nccl = S("")};
    if (fs_exists(path))
        TRY(yaml_read_file(arena, path, &top, d));
    gpu = tree_get(top, S("gpu"));
    node = tree_get(top, S("node"));
    out->flops[QUANT_BF16] = number_of(gpu, "bfloat16_tc_flops");
    out->flops[QUANT_FP8] = number_of(gpu, "fp8_tc_flops");
    out->flops[QUANT_INT8] = number_of(gpu, "int8_tc_flops");
    out->flops[QUANT_FP4] = number_of(gpu, "fp4_tc_flops");
    out->speed = number_of(gpu, "mem_bw");
    out->memory = number_of(gpu, "mem_capacity");
    out->node_cards = num_i64_of(number_of(node, "num_gpus_per_node"));
    out->rack_cards = num_i64_of(number_of(node, "num_gpus_per_rack"));
    out->node_speed = number_of(node, "intra_node_bw");
    out->other_speed = number_of(node, "inter_node_bw");
    out->rack_speed = number_of(node, "inter_rack_bw");
    out->link_seconds = number_of(node, "p2p_latency");
    out->rack_seconds = number_of(node, "inter_rack_latency");
    out->nccl = tree_get_text(tree_get(top, S("misc")), S("nccl_version"), S(""));
    out->has_limits = out->flops[QUANT_BF16] > 0 && out->speed > 0;
    add_device(out);
    return ST_OK;
}
