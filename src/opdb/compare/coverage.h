/*
 * coverage - whether the points of a database lie densely enough on their axes.
 *
 * An axis is a variable of the operator's pattern: M, N and K of a matrix product, tokens and
 * width of an elementwise kernel. Its points are the values that the rows of the table have there.
 * For each axis with a rule the values that must be there and are not,
 * and the neighbours that are too far apart, are listed.
 */
#ifndef STRATA_OPDB_COMPARE_COVERAGE_H
#define STRATA_OPDB_COMPARE_COVERAGE_H

#include "opdb/grid/grid_rules.h"
#include "opdb/grid/grid_run.h"
#include "report/record.h"

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

struct coverage_gap {
    int64_t from, to;
    double gap, ratio; /* the limit that is broken; the other one is 0 */
};

struct coverage_axis {
    struct str name;
    size_t points;            /* different values */
    struct grid_list missing; /* ascending */
    const struct coverage_gap *gaps;
    size_t gaps_n;
};

struct coverage_table {
    const char *path;
    const struct coverage_axis *axes;
    size_t axes_n;
};

struct coverage {
    struct arena arena;
    const char *dir;                      /* as given; not copied */
    VEC_OF(struct coverage_table) tables; /* those with an axis that has a rule */
    size_t axes, missing, gaps;           /* over all tables */
};

struct coverage_options {
    const char *rules;     /* densities of a user; NULL: compiled in */
    bool is_measured;      /* count only rows that have a duration */
    const struct str *ops; /* only these operators; none: all */
    size_t ops_n;
};

enum status coverage_find(struct coverage *c, const char *dir, const struct coverage_options *o,
                          struct diag *d);
void coverage_free(struct coverage *c);

/* strata.db-coverage/1, over a struct coverage. */
extern const struct schema coverage_schema;

/* Compares ascending, different points with a rule: fills what is missing and the gaps. */
void coverage_measure(struct arena *arena, const struct coverage_rule *rule, const int64_t *points,
                      size_t n, struct coverage_axis *out);

#endif
