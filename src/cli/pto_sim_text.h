/*
 * pto_sim_text - what `strata pto sim` prints for people.
 */
#ifndef STRATA_CLI_PTO_SIM_TEXT_H
#define STRATA_CLI_PTO_SIM_TEXT_H

#include "cli/session.h"
#include "flow/pto_kernel.h"

/* The whole table of one kernel; `top` lines of each list. */
void pto_sim_print(struct session *s, const struct pto_kernel *k, size_t top);

/* One line of many. */
void pto_sim_print_line(struct session *s, const char *path, const struct pto_kernel *k);

#endif
