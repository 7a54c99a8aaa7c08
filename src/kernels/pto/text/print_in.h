/*
 * print_in - what the files of the printer share; not for others (they include
 * kernels/pto/text/print.h).
 */
#ifndef STRATA_KERNELS_PTO_TEXT_PRINT_IN_H
#define STRATA_KERNELS_PTO_TEXT_PRINT_IN_H

#include "base/text/text_out.h"
#include "kernels/pto/text/ir.h"

struct pto_printer {
    const struct pto_module *m;
    const struct pto_function *f;
    struct text_out out;
    struct arena arena; /* texts of types */
    struct arena names; /* text of one name */
    struct str *types;  /* by number; empty until it is needed */
    uint32_t level;
    bool needs_blank; /* before the next item of a form */
    char last;        /* byte of the item before, 0 behind a name or a value */
};

/*
 * Text with places for what a module holds:
 *
 *     %s  a const char *                     %v  a value
 *     %i  an int64_t                         %t  the type of a value
 *     %n  a name                             %T  the types of values: the first, and how many
 *     %w  a name, in quotes if it needs any  %A  the same values with their types, "%x: t"
 *     %a  an attribute                       %D  attributes: "{key = value}"; the first, how many
 *     %y  a type
 */
void pto_say(struct pto_printer *p, const char *format, ...);

/* "{ .. }"; `has_args`: the arguments of the first block stand on a label. */
void pto_put_region(struct pto_printer *p, uint32_t index, bool has_args);

/* What stands behind the name of an operation with a form, and of others. */
void pto_put_form(struct pto_printer *p, const struct pto_op *op, const char *form);
void pto_put_dps(struct pto_printer *p, const struct pto_op *op);

#endif
