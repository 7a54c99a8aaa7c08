#include "perfdb/coverage_rules.h"

#include "base/embedded.h"
#include "base/mapfile.h"
#include "base/num.h"
#include "base/yaml.h"

static enum status bad(const struct coverage_rules *r, const struct tree *node, const char *what)
{
    return diag_fail(r->d, ST_FORMAT, "coverage.bad-rule",
                     (struct where){.path = r->path, .line = node->line}, "%s", what);
}

enum status coverage_rules_read(struct coverage_rules *rules, struct arena *arena, const char *path,
                                struct diag *d)
{
    struct mapfile map;
    enum status st;

    *rules = (struct coverage_rules){.arena = arena, .d = d, .path = "perfdb/axis_density.yaml"};
    if (path == NULL) {
        st = yaml_read(arena, embedded_file(rules->path), rules->path, &rules->root, d);
    } else {
        rules->path = arena_cstr(arena, str_of(path));
        TRY(mapfile_open(&map, path, d));
        st = yaml_read(arena, map.text, rules->path, &rules->root, d);
        mapfile_close(&map);
    }
    TRY(st);
    if (rules->root->kind != TREE_MAP)
        return bad(rules, rules->root, "rules must be a map with grids and template_axes");
    return ST_OK;
}

static enum status read_limit(const struct coverage_rules *r, const struct tree *node,
                              struct str field, double *out)
{
    const struct tree *value = tree_get(node, field);

    *out = 0;
    if (value != NULL && (value->kind != TREE_TEXT || !num_f64(value->text, out) || *out <= 0))
        return bad(r, value, "max_gap and max_ratio must be numbers above 0");
    return ST_OK;
}

static enum status read_bounds(const struct coverage_rules *r, const struct tree *node,
                               int64_t *min, int64_t *max)
{
    if (!num_i64(tree_get_text(node, S("min"), S("")), min) ||
        !num_i64(tree_get_text(node, S("max"), S("")), max) || *min > *max)
        return bad(r, node, "min and max must be whole numbers, the smaller one first");
    return ST_OK;
}

static enum status read_segments(const struct coverage_rules *r, const struct tree *list,
                                 struct coverage_rule *out)
{
    if (list->kind != TREE_LIST)
        return bad(r, list, "segments must be a list");
    struct coverage_segment *s = ARENA_ARRAY(r->arena, struct coverage_segment, list->n);
    out->segments = s;
    out->segments_n = list->n;
    for (const struct tree *v = list->first; v != NULL; v = v->next, s++) {
        TRY(read_bounds(r, v, &s->min, &s->max));
        TRY(read_limit(r, v, S("max_gap"), &s->gap));
        TRY(read_limit(r, v, S("max_ratio"), &s->ratio));
    }
    return ST_OK;
}

/* One limit for the whole axis is a segment without ends. */
static enum status read_whole(const struct coverage_rules *r, const struct tree *node,
                              struct coverage_rule *out)
{
    struct coverage_segment whole = {.min = INT64_MIN, .max = INT64_MAX};

    TRY(read_limit(r, node, S("max_gap"), &whole.gap));
    TRY(read_limit(r, node, S("max_ratio"), &whole.ratio));
    if (whole.gap > 0 || whole.ratio > 0) {
        struct coverage_segment *s = ARENA_NEW(r->arena, struct coverage_segment);
        *s = whole;
        out->segments = s;
        out->segments_n = 1;
    }
    return ST_OK;
}

static const struct tree *grid_node(const struct coverage_rules *r, struct str grid)
{
    const struct tree *grids = tree_get(r->root, S("grids"));
    const struct tree *node = tree_get(grids, grid);

    if (node != NULL)
        return node;
    return tree_get(grids, tree_get_text(tree_get(r->root, S("aliases")), grid, S("")));
}

static enum status read_rule(const struct coverage_rules *r, const struct tree *node,
                             struct coverage_rule *out, bool *is_there)
{
    struct str use = tree_get_text(node, S("use"), (struct str){0});

    *out = (struct coverage_rule){0};
    if (use.n > 0) {
        const struct tree *grid = grid_node(r, use);
        if (grid == NULL)
            return bad(r, node, "no grid has the name after `use`");
        node = grid;
    }
    *is_there = node != NULL;
    if (node == NULL)
        return ST_OK;
    const struct tree *range = tree_get(node, S("range")),
                      *segments = tree_get(node, S("segments")),
                      *required = tree_get(node, S("required_values"));
    out->has_range = range != NULL;
    if (range != NULL)
        TRY(read_bounds(r, range, &out->min, &out->max));
    if (!grid_rules_list(r->arena, required, r->path, &out->required, r->d))
        return ST_FORMAT;
    return segments != NULL ? read_segments(r, segments, out) : read_whole(r, node, out);
}

enum status coverage_rules_axis(const struct coverage_rules *rules, struct str pattern,
                                struct str axis, struct str grid, struct coverage_rule *out,
                                bool *is_there)
{
    const struct tree *node =
        tree_get(tree_get(tree_get(rules->root, S("template_axes")), pattern), axis);

    return read_rule(rules, node != NULL ? node : grid_node(rules, grid), out, is_there);
}

enum status coverage_rules_comm(const struct coverage_rules *rules, struct str axis,
                                struct coverage_rule *out, bool *is_there)
{
    return read_rule(rules, tree_get(tree_get(rules->root, S("communication_axes")), axis), out,
                     is_there);
}

const struct coverage_segment *coverage_rule_limit(const struct coverage_rule *rule, int64_t upper)
{
    for (size_t i = 0; i < rule->segments_n; i++)
        if (upper >= rule->segments[i].min && upper <= rule->segments[i].max)
            return &rule->segments[i];
    return NULL;
}
