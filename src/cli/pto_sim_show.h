/*
 * pto_sim_show - what `strata pto sim` prints, for people and for programs.
 */
#ifndef STRATA_CLI_PTO_SIM_SHOW_H
#define STRATA_CLI_PTO_SIM_SHOW_H

#include "cli/session.h"
#include "flow/flow_pto_sim.h"
#include "flow/pto_buffers.h"

/* A buffer that was compared with what was expected. */
struct pto_checked_arg {
    struct str name;
    struct pto_compared result;
};

/* What is left of a run besides its outcome. */
struct pto_sim_extras {
    struct pto_what_ifs what_ifs;
    struct incore_view view;
    struct pto_checked_arg *checks;
    size_t n_checks, wrong;
    bool has_view;
};

/* The whole table of one kernel; `top` lines of each list. */
void pto_sim_print(struct session *s, const struct pto_kernel *k, size_t top);

void pto_sim_print_what_ifs(struct session *s, const struct pto_outcome *o,
                            const struct pto_what_ifs *list);
void pto_sim_print_timeline(struct session *s, const struct incore_view *v);

void pto_sim_print_checks(struct session *s, const struct pto_sim_extras *x);

/* One line of many. */
void pto_sim_print_line(struct session *s, const char *path, const struct pto_kernel *k);

/* One object of the document; `x` may be NULL. */
void pto_sim_json(struct json_writer *j, const char *path, const struct pto_kernel *k,
                  const struct pto_sim_extras *x);

#endif
