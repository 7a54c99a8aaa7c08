/*
 * pto_sim_show - what `strata pto sim` prints, for people and for programs.
 */
#ifndef STRATA_CLI_KERNEL_PTO_SIM_SHOW_H
#define STRATA_CLI_KERNEL_PTO_SIM_SHOW_H

#include "cli/session.h"
#include "kernels/pto/pto_advise.h"
#include "kernels/pto/pto_buffers.h"
#include "kernels/pto/pto_sim_job.h"

/* A buffer that was compared with what was expected. */
struct pto_checked_arg {
    struct str name;
    struct pto_compared result;
};

/* A kernel that ran, and what was asked besides. */
struct pto_sim_run {
    struct pto_kernel k;
    struct pto_what_ifs what_ifs;
    struct pto_lines lines;
    struct pto_advices advices;
    struct incore_view view;
    struct pto_checked_arg *checks;
    size_t n_checks, wrong;
    bool has_view, has_lines;
};

/* Simulates and judges; `all`: with the time without each limit. */
enum status pto_sim_simulate(struct pto_kernel *k, const struct pto_costs *costs,
                             const struct pto_setup *setup, bool all, struct diag *d);

/* The answer for one kernel: the document, or unless `is_quiet` the whole report with `top` lines
 * of each list. */
void pto_sim_answer(struct session *s, struct pto_sim_run *run, size_t top, bool has_what_if,
                    bool is_quiet);
void pto_sim_run_free(struct pto_sim_run *run); /* all but the kernel */

/* What a run leaves besides: files, a picture in letters, changes that would help. */
struct pto_sim_extras {
    const char *trace, *insight;
    bool timeline, lines, what_if;
};
enum status pto_sim_extra(struct session *s, const struct pto_costs *costs,
                          const struct pto_setup *setup, const struct pto_sim_extras *a,
                          struct pto_sim_run *x);

/* The source with cycles beside each line, operations, scalar work and memory. */
void pto_sim_add_lines(struct report *r, const struct pto_sim_run *run, size_t top);

/* One line of many. */
void pto_sim_print_line(struct session *s, const struct pto_kernel *k, const char *name);

/* Of a list of struct pto_sim_run. */
extern const struct schema pto_sim_schema;

#endif
