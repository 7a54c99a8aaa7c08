/*
 * curve_in - what a curve runs along: calls that differ in one size (attention: in two) share one.
 */
#ifndef STRATA_OPDB_PLAN_CURVE_IN_H
#define STRATA_OPDB_PLAN_CURVE_IN_H

#include "opdb/plan/curve.h"

bool curve_is_attention(const struct model_call *c);

/* Calls with sizes besides tokens that vary from step to step have no curve. */
bool curve_exists(const struct model_call *c);

/* Equal for calls of one curve. */
uint64_t curve_key(const struct model_call *c);

/* Where a call lies on its curve. */
void curve_place(const struct model_call *c, double *x, double *y);

/* The call at another place of its curve; work in proportion to what it is made of. */
struct model_call curve_call(const struct model_call *c, double x, double y);

#endif
