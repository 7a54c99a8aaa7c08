/*
 * op_map - op_mapping.yaml: which kernels stand behind an operator of a framework.
 */
#ifndef STRATA_PERFDB_OP_MAP_H
#define STRATA_PERFDB_OP_MAP_H

#include "base/yaml.h"

enum op_mode { OP_COMPUTE, OP_ATTENTION, OP_ELEMENTWISE, OP_MOE, OP_MTP };

struct op_entry {
    const struct str *kernels; /* the primary one, then the alternates, each once */
    size_t n_kernels;
    const struct str *sub_kernels;
    size_t n_sub_kernels;
    bool is_communication, is_composite, is_zero_cost;
    struct str accepted_miss; /* empty: none */
    enum op_mode mode;
    int64_t input_count; /* negative: all */
};

struct op_map {
    const struct tree *root; /* NULL: there is no mapping */
};

/* Reads <dir>/op_mapping.yaml; a folder without one has an empty map. The tree lives in `arena`. */
enum status op_map_read(struct op_map *map, struct arena *arena, const char *dir, struct diag *d);

/* The entry of an operator such as "aten.mm.default" ("torch.ops." in front does not count). Keys
 * may stand under operator_mappings or at the top. False: unmapped. */
bool op_map_find(const struct op_map *map, struct arena *arena, struct str op,
                 struct op_entry *out);

/* Policies of a kernel; negative or empty when the file says nothing. */
double op_map_core_ratio(const struct op_map *map, struct str kernel);
bool op_map_prefers_profiling(const struct op_map *map, struct str kernel);
bool op_map_wants_unique(const struct op_map *map, struct str kernel);
int64_t op_map_max_dims(const struct op_map *map, struct str kernel);
struct str op_map_axis_transform(const struct op_map *map, struct str kernel);
struct str op_map_axis(const struct op_map *map, struct str kernel); /* "output_numel" */

/* communication_data_ref, relative to the file; empty: none. */
struct str op_map_comm_ref(const struct op_map *map);

#endif
