/*
 * A user's rules for families of kernels, read from YAML.
 */
#include "analysis/arch/arch_rules.h"

#include "base/formats/yaml.h"
#include "base/text/pattern.h"

static bool family_named(struct str name, enum kernel_role *out)
{
    for (size_t i = 0; i < KERNEL_ROLES; i++)
        if (str_equal_nocase(name, str_of(kernel_role_name((enum kernel_role)i)))) {
            *out = (enum kernel_role)i;
            return true;
        }
    return false;
}

const char *arch_pattern_problem(struct arena *arena, const char *pattern)
{
    char why[PATTERN_WHY];
    struct pattern *p = pattern_new(pattern, PATTERN_ANY_CASE, why);

    pattern_free(p);
    return p != NULL ? NULL : arena_cstr(arena, str_of(why));
}

static enum status check_pattern(struct arena *arena, const char *pattern, struct where where,
                                 struct diag *d)
{
    const char *problem = arch_pattern_problem(arena, pattern);

    if (problem == NULL)
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "arch.bad-pattern", where, "'%s' is no regular expression: %s",
                     pattern, problem);
}

static bool phase_named(struct str name, enum arch_phase *out)
{
    for (int i = PHASE_UNKNOWN; i <= PHASE_DECODE; i++)
        if (str_equal_nocase(name, str_of(arch_phase_name((enum arch_phase)i)))) {
            *out = (enum arch_phase)i;
            return true;
        }
    return false;
}

static enum status read_rule(struct arena *arena, const struct tree *node, const char *path,
                             struct arch_rule *out, struct diag *d)
{
    struct where where = {path, node->line, 0};
    struct str family = tree_get_text(node, S("family"), S(""));
    struct str pattern = tree_get_text(node, S("pattern"), S(""));
    struct str phase = tree_get_text(node, S("phase"), S("unknown"));

    if (!family_named(family, &out->family))
        return diag_fail(d, ST_FORMAT, "arch.bad-rule", where,
                         "a rule needs a family such as attention or moe_gemm, not '%.*s'",
                         STR_ARGS(family));
    if (pattern.n == 0)
        return diag_fail(d, ST_FORMAT, "arch.bad-rule", where, "a rule needs a pattern");
    if (!phase_named(phase, &out->phase))
        return diag_fail(d, ST_FORMAT, "arch.bad-rule", where,
                         "a phase is prefill or decode, not '%.*s'", STR_ARGS(phase));
    out->pattern = arena_cstr(arena, pattern);
    return check_pattern(arena, out->pattern, where, d);
}

enum status arch_rules_read(struct arena *arena, struct str text, const char *path,
                            struct arch_rules *out, struct diag *d)
{
    const struct tree *root;

    *out = (struct arch_rules){0};
    TRY(yaml_read(arena, text, path, &root, d));
    if (yaml_is_null(root))
        return ST_OK;
    if (root->kind != TREE_LIST)
        return diag_fail(d, ST_FORMAT, "arch.bad-rule", (struct where){path, root->line, 0},
                         "rules are a list of maps with family and pattern");
    out->at = ARENA_ARRAY(arena, struct arch_rule, root->n);
    for (const struct tree *node = root->first; node != NULL; node = node->next)
        TRY(read_rule(arena, node, path, &out->at[out->n++], d));
    return ST_OK;
}

enum status arch_rules_marker(struct arena *arena, const char *pattern, struct arch_rules *rules,
                              struct diag *d)
{
    TRY(check_pattern(arena, pattern, (struct where){0}, d));
    struct arch_rule *all = ARENA_ARRAY(arena, struct arch_rule, rules->n + 1);
    all[0] = (struct arch_rule){.family = KERNEL_ROLE_ATTENTION, .pattern = pattern};
    for (size_t i = 0; i < rules->n; i++)
        all[i + 1] = rules->at[i];
    *rules = (struct arch_rules){all, rules->n + 1};
    return ST_OK;
}
