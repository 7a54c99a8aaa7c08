/*
 * sim - one run of a kernel: the cores of an AI core, taking turns until all are done.
 *
 *     struct pto_sim sim;
 *     pto_sim_init(&sim);
 *     TRY(pto_sim_prepare(&sim, module, "kernel", is_dep, path, diag));   once per module
 *     pto_sim_run(&sim, costs, &options, bindings, n, path, diag);        as often as wanted
 *     ... sim.cores[i].queues, sim.total
 *     pto_sim_free(&sim);
 *
 * There is no global state; a sim keeps its memory from run to run.
 */
#ifndef STRATA_KERNELS_PTO_SIM_SIM_H
#define STRATA_KERNELS_PTO_SIM_SIM_H

#include "kernels/pto/cost/chips.h"
#include "kernels/pto/sim/core.h"

struct pto_sim {
    struct pto_program program[PTO_CORES]; /* AIV0 and AIV1 share the second */
    struct pto_core cores[PTO_CORES];
    struct pto_machine machine;
    uint32_t present; /* bit per core */
    const struct pto_module *module;
    const struct pto_function *function[2]; /* cube, vector */
    bool is_whole;                          /* the first has the work of both */
    bool ignore_reuse;                      /* set before prepare: see struct pto_program */
    bool is_flagged;                        /* set before prepare: see struct pto_program */
    /* of the last run */
    int64_t total;      /* cycles until everything is ready */
    uint32_t last_core; /* that was ready last */
    uint64_t steps;
    bool is_complete; /* every core finished */
};

void pto_sim_init(struct pto_sim *s);
void pto_sim_free(struct pto_sim *s);

/*
 * Finds the kernel (`name` may be empty when the module has one; a mixed kernel goes by its common
 * part or either function) and compiles it. `is_dep` leaves out the compiler's synchronisation.
 */
enum status pto_sim_prepare(struct pto_sim *s, const struct pto_module *m, struct str name,
                            enum pto_arch arch, bool is_dep, const char *path, struct diag *diag);

/* The kernels of a module: `out` gets the entry of each, `n` at most; returns their number. */
size_t pto_sim_kernels(const struct pto_module *m, const struct pto_function **out, size_t n);

/* The name of a kernel: without _aic or _aiv where it has both. */
struct str pto_sim_kernel_name(const struct pto_module *m, const struct pto_function *f);

/*
 * Runs. ST_OK also when a limit stopped it (is_complete is false and a warning is told); an error
 * of the program or a deadlock is a failure, with what ran until then in the cores.
 */
enum status pto_sim_run(struct pto_sim *s, const struct pto_costs *costs,
                        const struct pto_options *options, struct pto_binding *bindings,
                        uint32_t n_bindings, const char *path, struct diag *diag);

/* Defaults: one core, one block, a limit of 2e9 steps, 1 million records per core. */
struct pto_options pto_options_default(enum pto_arch arch);

/* "AIC", "AIV0", "AIV1". */
const char *pto_core_name(uint32_t core);

struct capture;

/* A run as a capture, for everything that draws or asks captures: a lane for each pipe of each
 * core, named as the operator simulator names them ("core0.cubecore0" MTE2), a slice for each
 * instruction from its issue to its result, sets and waits of flags with arrows between them.
 * render/insight/insight.h describes the form. Times are cycles. The source of the kernel goes
 * along: `path` and `text`. Sealed; capture_free() it. */
struct capture *pto_to_capture(const struct pto_sim *sim, const struct pto_chip *chip,
                               const char *path, struct str text);

#endif
