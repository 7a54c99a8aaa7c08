/*
 * coverage_rules - how densely the points of an axis must lie (data/perfdb/axis_density.yaml).
 *
 * A rule has a range, limits on the distance of neighbours and values that must be there; each of
 * them may be missing. Limits hold for segments of the range, and a pair of neighbours belongs to
 * the segment of its larger value.
 */
#ifndef STRATA_PERFDB_COVERAGE_RULES_H
#define STRATA_PERFDB_COVERAGE_RULES_H

#include "perfdb/grid_rules.h"

/* The largest distance of neighbours; 0: no limit of that kind. */
struct coverage_segment {
    int64_t min, max;
    double gap;   /* larger minus smaller */
    double ratio; /* larger by smaller */
};

struct coverage_rule {
    bool has_range;
    int64_t min, max;
    const struct coverage_segment *segments;
    size_t segments_n;
    struct grid_list required;
};

struct coverage_rules {
    struct arena *arena;
    const char *path;
    const struct tree *root;
    struct diag *d;
};

/* Reads the rules compiled in, or a file. The tree lives in the arena. */
enum status coverage_rules_read(struct coverage_rules *rules, struct arena *arena, const char *path,
                                struct diag *d);

/* The rule for an axis of a pattern: its own, or that of the grid its values come from. `*is_there`
 * is false when there is none. */
enum status coverage_rules_axis(const struct coverage_rules *rules, struct str pattern,
                                struct str axis, struct str grid, struct coverage_rule *out,
                                bool *is_there);

/* The rule for an axis of collectives. */
enum status coverage_rules_comm(const struct coverage_rules *rules, struct str axis,
                                struct coverage_rule *out, bool *is_there);

/* The limit for a pair of neighbours whose larger value is `upper`; NULL: none. */
const struct coverage_segment *coverage_rule_limit(const struct coverage_rule *rule, int64_t upper);

#endif
