/*
 * Types of weights by a model's own files. See model_calls.h.
 */
#include "base/formats/yaml.h"
#include "ops/model_calls.h"

static bool is_text(const struct tree *map, const char *key, const char *value)
{
    return str_equal_nocase(tree_text(tree_get(map, str_of(key))), str_of(value));
}

static const struct tree *list_of(const struct tree *map)
{
    static const char *const keys[] = {"exclude_modules", "ignore", "modules_to_not_convert",
                                       "ignored_layers"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct tree *list = tree_get(map, str_of(keys[i]));
        if (list != NULL && list->kind == TREE_LIST)
            return list;
    }
    return NULL;
}

/* Whether a list of modules names a part of all layers: once without a number, or of at least half
 * of the layers. */
static bool names_part(const struct tree *list, const struct str *parts, size_t n, size_t n_layers)
{
    size_t found = 0;

    for (const struct tree *v = tree_items(list); v != NULL; v = v->next) {
        struct str text = tree_text(v);
        bool has_digit = false;
        if (!str_any(str_contains, text, parts, n) || str_contains(text, S("norm")) ||
            str_contains(text, S("indexer")))
            continue;
        for (size_t i = 0; i < text.n; i++)
            has_digit = has_digit || (text.at[i] >= '0' && text.at[i] <= '9');
        found += has_digit ? 1 : n_layers;
    }
    return found * 2 >= n_layers;
}

/* Parts that stay as they are. */
static void leave_out(const struct tree *list, size_t n_layers, struct model_types *out)
{
    static const struct str attention[] = {S_INIT("self_attn"), S_INIT(".attn."),
                                           S_INIT("linear_attn"), S_INIT("mixer.q_proj")};
    static const struct str dense[] = {S_INIT("shared_expert")};

    if (list == NULL)
        return;
    if (names_part(list, attention, ARRAY_LEN(attention), n_layers))
        out->attention = quant_bf16;
    if (names_part(list, dense, ARRAY_LEN(dense), n_layers))
        out->gemm = quant_bf16;
}

static void set_all(struct model_types *out, const char *name)
{
    out->attention = out->gemm = out->experts = quant_find(str_of(name));
}

/* "FP8", "NVFP4", "W4A16_AWQ", ... of ModelOpt. */
static bool set_algorithm(struct str name, struct model_types *out)
{
    static const struct {
        struct str algorithm;
        const char *type;
    } known[] = {{S_INIT("FP8"), "fp8"},
                 {S_INIT("FP8_PB_WO"), "fp8_block"},
                 {S_INIT("FP8_BLOCK_SCALES"), "fp8_block"},
                 {S_INIT("NVFP4"), "nvfp4"},
                 {S_INIT("MXFP8"), "mxfp8"},
                 {S_INIT("W4A16_MXFP4"), "w4a16_mxfp4"},
                 {S_INIT("W4A8_MXFP4_FP8"), "w4a8_mxfp4_mxfp8"},
                 {S_INIT("W4A16"), "int4_wo"},
                 {S_INIT("W4A16_AWQ"), "int4_wo"},
                 {S_INIT("W4A8_AWQ"), "w4afp8"},
                 {S_INIT("W8A16"), "int8_wo"},
                 {S_INIT("W8A8_SQ_PER_CHANNEL"), "sq"}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal_nocase(name, known[i].algorithm)) {
            set_all(out, known[i].type);
            return true;
        }
    return false;
}

/* Different types by layer: that of routed experts, and that of the first other part. */
static void set_mixed(const struct tree *layers, struct model_types *out)
{
    bool has_experts = false, has_other = false;
    struct model_types one = model_types_plain();

    for (const struct tree *v = layers != NULL ? layers->first : NULL; v != NULL; v = v->next) {
        struct str algorithm = tree_get_text(v, S("quant_algo"), S(""));
        bool is_expert =
            str_contains(v->key, S("experts")) && !str_contains(v->key, S("shared_expert"));
        if ((is_expert ? has_experts : has_other) || !set_algorithm(algorithm, &one))
            continue;
        if (is_expert)
            out->experts = one.experts;
        else if (str_contains(v->key, S("attn")) || str_contains(v->key, S("mixer")))
            out->attention = one.attention;
        else
            out->gemm = one.gemm;
        *(is_expert ? &has_experts : &has_other) = true;
    }
}

/* Groups of compressed-tensors: bits and kind of weights, with or without activations. */
static void set_group(const struct tree *group, struct model_types *out)
{
    const struct tree *weights = tree_get(group, S("weights"));
    const struct tree *inputs = tree_get(group, S("input_activations"));
    int64_t bits = 0, size = 0;
    bool is_float = is_text(weights, "type", "float");
    bool has_inputs = inputs != NULL && inputs->kind == TREE_MAP;

    tree_int(tree_get(weights, S("num_bits")), &bits);
    tree_int(tree_get(weights, S("group_size")), &size);
    if (bits == 4 && is_float)
        set_all(out, size == 32 ? "w4a16_mxfp4" : "nvfp4");
    else if (bits == 4)
        set_all(out, has_inputs ? "w4a8_int" : "int4_wo");
    else if (bits == 8 && is_float)
        set_all(out, is_text(weights, "strategy", "block") ? "fp8_block" : "fp8");
    else if (bits == 8)
        set_all(out, has_inputs ? "sq" : "int8_wo");
}

/* By method, by algorithm, or by groups; false when the file says nothing that is known. */
static bool read_config(const struct tree *config, struct model_types *out)
{
    struct str method = tree_get_text(config, S("quant_method"), S(""));
    struct str algorithm = tree_get_text(config, S("quant_algo"), S(""));
    const struct tree *groups = tree_get(config, S("config_groups"));
    struct model_types own = model_types_plain();
    int64_t bits = 4;

    if (str_equal_nocase(method, S("fp8")))
        set_all(out,
                tree_items(tree_get(config, S("weight_block_size"))) != NULL ? "fp8_block" : "fp8");
    else if (str_equal_nocase(method, S("mxfp4")))
        out->experts = quant_find(S("w4a16_mxfp4"));
    else if (str_equal_nocase(method, S("gptq")) || str_equal_nocase(method, S("awq"))) {
        tree_int(tree_get(config, S("bits")), &bits);
        set_all(out, bits == 8 ? "int8_wo" : "int4_wo");
    } else if (set_algorithm(algorithm, out))
        ;
    else if (str_equal_nocase(algorithm, S("MIXED_PRECISION")))
        set_mixed(tree_get(config, S("quantized_layers")), out);
    else if (set_algorithm(tree_get_text(config, S("moe_quant_algo"), S("")), &own))
        out->experts = own.experts;
    else if (groups != NULL && groups->kind == TREE_MAP && groups->first != NULL)
        set_group(groups->first, out);
    else
        return false;
    return true;
}

bool model_types_of_config(struct arena *arena, const struct tree *config, const struct tree *quant,
                           struct str expert_type, size_t n_layers, struct model_types *out)
{
    const struct tree *inner = tree_get(quant, S("quantization"));
    bool has_any = false;

    (void)arena;
    if (inner == NULL)
        inner = quant;
    *out = model_types_plain();
    if (config != NULL && config->kind == TREE_MAP) {
        has_any = read_config(config, out);
        leave_out(list_of(config), n_layers, out);
    }
    if (inner != NULL && inner->kind == TREE_MAP) {
        struct model_types own = model_types_plain();
        if (read_config(inner, &own)) {
            *out = own;
            has_any = true;
            leave_out(list_of(inner), n_layers, out);
        }
        if (is_text(inner, "kv_cache_quant_algo", "FP8"))
            out->cache = quant_find(S("fp8"));
    }
    if (has_any && (is_text(config, "kv_cache_scheme", "FP8") ||
                    is_text(config, "kv_cache_quant_algo", "FP8") ||
                    tree_get(tree_get(config, S("kv_cache_scheme")), S("num_bits")) != NULL))
        out->cache = quant_find(S("fp8"));
    if (str_equal_nocase(expert_type, S("fp4")) && out->experts == quant_find(S("fp8_block")))
        out->experts = quant_find(S("w4a8_mxfp4_mxfp8"));
    return has_any;
}
