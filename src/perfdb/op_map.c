#include "perfdb/op_map.h"

#include "base/fs.h"
#include "base/mapfile.h"
#include "base/num.h"

enum status op_map_read(struct op_map *map, struct arena *arena, const char *dir, struct diag *d)
{
    const char *path = fs_join(arena, dir, "op_mapping.yaml");
    struct mapfile file;

    *map = (struct op_map){0};
    if (!fs_exists(path))
        return ST_OK;
    TRY(mapfile_open(&file, path, d));
    enum status st = yaml_read(arena, file.text, path, &map->root, d);
    mapfile_close(&file);
    return st;
}

static bool is_true(const struct tree *entry, struct str key)
{
    struct str text = tree_get_text(entry, key, S(""));

    return str_equal_nocase(text, S("true")) || str_equal_nocase(text, S("yes"));
}

/* Texts of a list; one text alone is a list of one. */
static size_t add_texts(const struct tree *node, struct str *out, size_t n)
{
    if (node == NULL)
        return n;
    if (node->kind == TREE_TEXT && !yaml_is_null(node))
        out[n++] = node->text;
    if (node->kind != TREE_LIST)
        return n;
    for (const struct tree *item = node->first; item != NULL; item = item->next) {
        bool is_new = item->kind == TREE_TEXT && !yaml_is_null(item);
        for (size_t i = 0; i < n && is_new; i++)
            is_new = !str_equal(out[i], item->text);
        if (is_new)
            out[n++] = item->text;
    }
    return n;
}

static size_t count_of(const struct tree *node)
{
    return node != NULL ? node->n + 1 : 1;
}

static enum op_mode mode_of(const struct tree *entry)
{
    static const struct {
        struct str name;
        enum op_mode mode;
    } modes[] = {
        {S_INIT("attention_special"), OP_ATTENTION},
        {S_INIT("elementwise"), OP_ELEMENTWISE},
        {S_INIT("moe_fused"), OP_MOE},
        {S_INIT("mtp_projection"), OP_MTP},
    };
    struct str name = tree_get_text(entry, S("query_mode"), S(""));

    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (str_equal(name, modes[i].name))
            return modes[i].mode;
    return OP_COMPUTE;
}

static void read_entry(const struct tree *e, struct arena *arena, struct op_entry *out)
{
    const struct tree *primary = tree_get(e, S("kernel_type"));
    const struct tree *others = tree_get(e, S("alternate_kernel_types"));
    const struct tree *subs = tree_get(e, S("sub_kernels"));
    struct str *kernels = ARENA_ARRAY(arena, struct str, count_of(others) + 1);
    struct str *sub_kernels = ARENA_ARRAY(arena, struct str, count_of(subs));
    size_t n = add_texts(others, kernels, add_texts(primary, kernels, 0));

    *out = (struct op_entry){
        .kernels = kernels,
        .n_kernels = n,
        .sub_kernels = sub_kernels,
        .n_sub_kernels = add_texts(subs, sub_kernels, 0),
        .is_communication = str_equal(tree_get_text(e, S("category"), S("")), S("communication")),
        .is_composite = is_true(e, S("composite")),
        .is_zero_cost = is_true(e, S("zero_cost")),
        .accepted_miss = tree_get_text(e, S("accepted_miss"), S("")),
        .mode = mode_of(e),
        .input_count = -1,
    };
    num_i64(tree_get_text(e, S("tc_input_count"), S("")), &out->input_count);
}

bool op_map_find(const struct op_map *map, struct arena *arena, struct str op, struct op_entry *out)
{
    const struct tree *all = tree_get(map->root, S("operator_mappings"));

    if (str_starts(op, S("torch.ops.")))
        op = str_part(op, 10, op.n);
    const struct tree *entry = tree_get(all != NULL ? all : map->root, op);
    if (entry == NULL || entry->kind != TREE_MAP)
        return false;
    read_entry(entry, arena, out);
    return true;
}

/* <policy>: kernel_overrides: <kernel>: */
static const struct tree *override_of(const struct op_map *map, struct str policy,
                                      struct str kernel)
{
    return tree_get(tree_get(tree_get(map->root, policy), S("kernel_overrides")), kernel);
}

double op_map_core_ratio(const struct op_map *map, struct str kernel)
{
    const struct tree *o = override_of(map, S("latency_policy"), kernel);
    double ratio = -1;

    num_f64(tree_get_text(tree_get(o, S("profiling_core_envelope_fallback")),
                          S("max_duration_to_core_ratio"), S("")),
            &ratio);
    return ratio;
}

bool op_map_prefers_profiling(const struct op_map *map, struct str kernel)
{
    return is_true(override_of(map, S("latency_policy"), kernel), S("prefer_profiling_rows"));
}

bool op_map_wants_unique(const struct op_map *map, struct str kernel)
{
    return is_true(override_of(map, S("query_selection_policy"), kernel),
                   S("require_semantic_unique"));
}

int64_t op_map_max_dims(const struct op_map *map, struct str kernel)
{
    int64_t n = -1;

    num_i64(tree_get_text(override_of(map, S("interpolation_policy"), kernel),
                          S("max_interpolation_dim"), S("")),
            &n);
    return n;
}

struct str op_map_axis_transform(const struct op_map *map, struct str kernel)
{
    const struct tree *o = override_of(map, S("interpolation_policy"), kernel);

    return tree_get_text(o, S("axis_transform"), tree_get_text(o, S("shape_transform"), S("")));
}

struct str op_map_axis(const struct op_map *map, struct str kernel)
{
    const struct tree *o = override_of(map, S("interpolation_policy"), kernel);

    return tree_get_text(tree_get(o, S("generic_compute")), S("axis"), S(""));
}

struct str op_map_comm_ref(const struct op_map *map)
{
    return tree_get_text(map->root, S("communication_data_ref"), S(""));
}
