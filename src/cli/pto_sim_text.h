/*
 * pto_sim_text - what `strata pto sim` prints for people.
 */
#ifndef STRATA_CLI_PTO_SIM_TEXT_H
#define STRATA_CLI_PTO_SIM_TEXT_H

#include "cli/session.h"
#include "flow/flow_pto_sim.h"

/* The whole table of one kernel; `top` lines of each list. */
void pto_sim_print(struct session *s, const struct pto_kernel *k, size_t top);

void pto_sim_print_what_ifs(struct session *s, const struct pto_outcome *o,
                            const struct pto_what_ifs *list);
void pto_sim_print_timeline(struct session *s, const struct incore_view *v);

/* One line of many. */
void pto_sim_print_line(struct session *s, const char *path, const struct pto_kernel *k);

#endif
