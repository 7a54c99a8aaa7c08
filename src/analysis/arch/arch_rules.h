/*
 * arch_rules - a user's rules for names of kernels.
 */
#ifndef STRATA_ANALYSIS_ARCH_ARCH_RULES_H
#define STRATA_ANALYSIS_ARCH_ARCH_RULES_H

#include "analysis/arch/arch_family.h"

/* A user's rule: kernels whose name or type matches the pattern are of this family. */
struct arch_rule {
    enum kernel_role family;
    enum arch_phase phase;
    const char *pattern; /* POSIX extended regular expression, any case */
};

struct arch_rules {
    struct arch_rule *at;
    size_t n;
};

/* Reads rules from YAML text: a list of maps with family, pattern and, if wanted, phase. They and
 * their patterns live in the arena. */
enum status arch_rules_read(struct arena *arena, struct str text, const char *path,
                            struct arch_rules *out, struct diag *d);

/* What is wrong with a pattern, for a message; NULL when it is fine. */
const char *arch_pattern_problem(struct arena *arena, const char *pattern);

/* Puts the rule of `--marker` before the others; a pattern that is no regular expression fails. */
enum status arch_rules_marker(struct arena *arena, const char *pattern, struct arch_rules *rules,
                              struct diag *d);

#endif
