/*
 * expr_number - what the operators of base/text/expr.h do with numbers.
 */
#ifndef STRATA_BASE_TEXT_EXPR_NUMBER_H
#define STRATA_BASE_TEXT_EXPR_NUMBER_H

#include "base/text/expr.h"

/* One or two operands to one value, which replaces `a`; NULL or the reason why there is none. */
const char *expr_apply(enum expr_op op, struct expr_value *a, struct expr_value b);

/* The same for doubles, which may come out as anything. */
double expr_apply_real(enum expr_op op, double a, double b);

/* Whether a comparison is true, EXPR_LT to EXPR_NE. */
bool expr_holds(enum expr_op op, struct expr_value a, struct expr_value b);

#endif
