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
    const char *name; /* its path, without the folder that it shares with others */
    struct pto_what_ifs what_ifs;
    struct pto_lines lines;
    struct pto_advices advices;
    struct incore_view view;
    struct pto_checked_arg *checks;
    size_t n_checks, wrong;
    bool has_view, has_lines, has_what_if;
};

/* One that could not be run, and why. */
struct pto_sim_failure {
    const char *path, *text, *code;
    uint64_t line;
};

/* What `pto sim` and `pto cc` answer. */
struct pto_sim_result {
    struct pto_sim_run *at; /* those that ran, in the order they were given in */
    size_t n;
    VEC_OF(struct pto_sim_failure) failed;
    int64_t cycles; /* of all */
    double us;
    const struct pto_sim_run *longest;
    enum limit bound; /* of most of them */
    size_t bound_n;   /* how many that are */
    size_t n_given;
    size_t top;        /* rows of a list in a report */
    struct str folder; /* that several are in */
};

/* Room for `n` runs; a run is in at[0] when there is one. */
void pto_sim_result_init(struct pto_sim_result *r, size_t n, size_t top, struct arena *arena);
void pto_sim_result_free(struct pto_sim_result *r);

/* The run at the end of the room counts; a kernel failed for this reason. */
void pto_sim_add(struct pto_sim_result *r, const char *name);
void pto_sim_add_failure(struct pto_sim_result *r, const char *path, const struct diag_entry *e,
                         struct arena *arena);

struct answer pto_sim_answer(const struct pto_sim_result *r);

/* Simulates and judges; `all`: with the time without each limit. */
enum status pto_sim_simulate(struct pto_kernel *k, const struct pto_costs *costs,
                             const struct pto_setup *setup, bool all, struct diag *d);

/* What a run leaves besides: files, a picture in letters, changes that would help. */
struct pto_sim_extras {
    const char *trace, *insight;
    bool timeline, lines, what_if;
};
enum status pto_sim_extra(struct session *s, const struct pto_costs *costs,
                          const struct pto_setup *setup, const struct pto_sim_extras *a,
                          struct pto_sim_run *x);

/* A report about one kernel; about several. */
void pto_sim_describe(const struct pto_sim_run *run, size_t top, struct report *r);
void pto_sim_describe_list(const struct pto_sim_result *result, struct report *r);

/* The source with cycles beside each line, operations, scalar work and memory. */
void pto_sim_add_lines(struct report *r, const struct pto_sim_run *run, size_t top);

extern const struct schema pto_sim_schema;

#endif
