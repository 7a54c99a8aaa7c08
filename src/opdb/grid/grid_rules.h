/*
 * grid_rules - which shapes are made for which kernels, from a rules file.
 *
 * A rules file (data/perfdb/grid.yaml and models.yaml are the ones compiled in) has the sections
 * grids, patterns, assignments, scenes and models. A user's file may leave sections out: those
 * keep the compiled-in values, and those it has replace them whole. All expressions are compiled
 * here, so a rules file that was read holds no text that cannot be understood.
 */
#ifndef STRATA_OPDB_GRID_GRID_RULES_H
#define STRATA_OPDB_GRID_GRID_RULES_H

#include "base/diag.h"
#include "base/tables/intern.h"
#include "base/text/expr.h"

struct tree;

/* Of the expressions in rules: max, min, abs and align. */
extern const struct expr_language grid_language;

/* Values of an axis, sizes of a model. */
struct grid_list {
    const int64_t *at;
    size_t n;
};

struct grid_iterator {
    size_t var;              /* the variable it sets */
    struct str grid;         /* name of the grid; empty for a list in place */
    struct grid_list values; /* in the order of the loop */
};

struct grid_constant {
    size_t var;
    int64_t value;
};

struct grid_shape_rule {
    const struct expr *dim;
    size_t n;
};

enum grid_pattern_cell {
    GRID_INPUT_DTYPES,
    GRID_INPUT_FORMATS,
    GRID_OUTPUT_DTYPES,
    GRID_OUTPUT_FORMATS,
    GRID_CELLS,
};

struct grid_pattern {
    struct str name;
    struct str generator;    /* made in code; empty: by the loop below */
    struct expr_names names; /* the variables */
    const struct grid_iterator *iterators, *fallback;
    size_t iterators_n, fallback_n;
    bool has_nk_pairs;   /* N and K come from the models when there are any */
    size_t var_n, var_k; /* where; only with has_nk_pairs */
    const struct grid_constant *constants;
    size_t constants_n;
    const struct expr *constraints;
    size_t constraints_n;
    const struct grid_shape_rule *inputs, *outputs;
    size_t inputs_n, outputs_n;
    /* Cells that replace those of the template row, joined with ';', by enum grid_pattern_cell;
     * NULL pointer: none. */
    struct str cells[GRID_CELLS];
};

struct grid_scene {
    struct str key; /* of a model, or "default" */
    struct grid_list prefill_batches, prefill_lengths, decode_batches, decode_lengths;
};

struct grid_assignment {
    struct str kernel, pattern;
};

struct grid_rules {
    struct str file; /* the name of a user's file; empty: compiled in */
    struct {
        struct str name;
        struct grid_list values;
    } * grids;
    const struct grid_pattern *patterns;
    const struct grid_assignment *assignments;
    const struct grid_scene *scenes;
    size_t grids_n, patterns_n, assignments_n, scenes_n;
    const struct tree *models; /* the section, for grid_models.h */
    const char *models_path;
};

/* Reads the compiled-in rules and, unless `path` is NULL, a user's file over them. Everything
 * lives in the arena. */
enum status grid_rules_read(struct grid_rules *rules, struct arena *arena, const char *path,
                            struct diag *d);

/* NULL when there is none of that name. */
const struct grid_pattern *grid_rules_pattern(const struct grid_rules *rules, struct str name);

/* The pattern's name for a kernel; empty when it has none. */
struct str grid_rules_assigned(const struct grid_rules *rules, struct str kernel);

/* Empty when there is none of that name. */
struct grid_list grid_rules_grid(const struct grid_rules *rules, struct str name);

/* The scene of a model's key, or the default one; NULL when the file has neither. */
const struct grid_scene *grid_rules_scene(const struct grid_rules *rules, struct str key);

/* A YAML list of whole numbers; false, told in `d`, for anything else. `node` may be NULL: empty.
 */
bool grid_rules_list(struct arena *arena, const struct tree *node, const char *path,
                     struct grid_list *out, struct diag *d);

struct grid_fact {
    bool is_free; /* no kernel of its own runs: zero cost, composed of others, communication */
    bool is_elementwise;      /* asked for element by element */
    struct str alternates_of; /* the kernel this one stands in for; empty: none */
};

struct grid_facts {
    bool is_there; /* a file that names kernels */
    struct intern kernels;
    VEC_OF(struct grid_fact) facts; /* by the id of the kernel */
};

/* Reads <dir>/op_mapping.yaml if there is one. */
enum status grid_facts_read(struct grid_facts *facts, const char *dir, struct diag *d);
void grid_facts_free(struct grid_facts *facts);

/* All zero for a kernel that the file does not name. */
struct grid_fact grid_facts_of(const struct grid_facts *facts, struct str kernel);

#endif
