/*
 * junit - results of checks in forms that CI systems show: JUnit XML, annotations of GitHub.
 */
#ifndef STRATA_RENDER_JUNIT_H
#define STRATA_RENDER_JUNIT_H

#include "base/text/text.h"

struct junit_case {
    const char *suite, *name, *file;
    const char *failure; /* NULL: passed */
};

/* Names are inert: XML has no form for control characters and broken UTF-8. */
void junit_write(struct text *out, const char *title, const struct junit_case *cases, size_t n);

/* A line "::error title=..." for each that failed, which a workflow of GitHub shows beside it. */
void junit_annotate(struct text *out, const char *title, const struct junit_case *cases, size_t n);

#endif
