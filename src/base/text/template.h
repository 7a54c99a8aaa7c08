/*
 * template - a text with holes, filled with values.
 *
 *     @name@             the value of that name
 *     @if name           alone on its line: what follows, up to @else or @end, stays only when the
 *                        value is not empty; what is between @else and @end otherwise
 *     @each name         what follows, up to @end, once for each item, whose values come first
 *
 * Every name must have a value; an `@` that begins no hole stays as it is.
 */
#ifndef STRATA_BASE_TEXT_TEMPLATE_H
#define STRATA_BASE_TEXT_TEMPLATE_H

#include "base/text/text.h"

struct template_value {
    const char *name;
    struct str text;
    const struct template_value *items; /* `width` values for each of `n` items */
    size_t n, width;
};

/* A value for @if. */
static inline struct template_value template_flag(const char *name, bool is_set)
{
    return (struct template_value){.name = name, .text = is_set ? S("yes") : S("")};
}

void template_fill(struct text *out, struct str text, const struct template_value *values,
                   size_t n);

#endif
