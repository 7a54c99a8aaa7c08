/*
 * pattern - extended regular expressions as users write them.
 *
 *     char why[PATTERN_WHY];
 *     struct pattern *p = pattern_new("^Step#[0-9]+", PATTERN_EXACT, why);
 *     if (p == NULL)
 *         ... `why` says what is wrong with it ...
 *     pattern_finds(p, name);
 *     pattern_free(p);
 *
 * The C library's expressions allocate, also to search; without memory the job ends
 * (base/run/job.h) instead of nothing being found.
 */
#ifndef STRATA_BASE_TEXT_PATTERN_H
#define STRATA_BASE_TEXT_PATTERN_H

#include <stdbool.h>

#include "base/str.h"

enum { PATTERN_WHY = 128 };
enum pattern_case { PATTERN_EXACT, PATTERN_ANY_CASE };

struct pattern;

/* NULL when `text` is no expression. */
struct pattern *pattern_new(const char *text, enum pattern_case letters, char why[PATTERN_WHY]);
void pattern_free(struct pattern *p);

/* Is there a match anywhere in `text`? */
bool pattern_finds(const struct pattern *p, struct str text);

#endif
