/*
 * log_hints - known complaints of the vendor's tools, and what to do about them.
 */
#ifndef STRATA_KERNELS_REPLAY_LOG_HINTS_H
#define STRATA_KERNELS_REPLAY_LOG_HINTS_H

#include "base/diag.h"

enum { LOG_HINTS_MAX = 16 };

/* The advice for what a log says, each once; returns how many. `out` has LOG_HINTS_MAX places. */
size_t log_hints(struct str log, const char **out);

/* The same as hints of the message that comes. */
void log_hints_report(struct str log, struct diag *d);

#endif
