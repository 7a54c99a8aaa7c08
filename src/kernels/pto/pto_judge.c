/*
 * The runs behind a verdict.
 */
#include "kernels/pto/pto_judge.h"

#include "kernels/pto/judge/what_if.h"

/* The cycles of a run with other options; -1 when it cannot be made. */
static int64_t cycles_with(struct pto_kernel *k, const struct pto_costs *costs,
                           const struct pto_setup *setup, const struct pto_options *options,
                           bool compiles)
{
    struct pto_sim other;
    struct diag quiet;
    int64_t cycles = -1;
    enum status status = ST_OK;

    diag_init(&quiet);
    pto_sim_init(&other);
    other.ignore_reuse = options->no_reuse_waits;
    other.is_flagged = setup->is_flagged;
    if (compiles)
        status = pto_sim_prepare(&other, &k->module, setup->func, k->arch, options->is_dep,
                                 setup->path, &quiet);
    struct pto_sim *sim = compiles ? &other : &k->sim;
    if (status == ST_OK && pto_kernel_again(k, sim, costs, options, &quiet) == ST_OK)
        cycles = sim->total;
    pto_sim_free(&other);
    diag_fini(&quiet);
    return cycles;
}

static bool has_flags(const struct pto_kernel *k)
{
    return (k->sim.function[0] && k->sim.program[0].has_flags) ||
           (k->sim.function[1] && k->sim.program[1].has_flags);
}

/* Flags of the text do not tell which of them guard a reuse: what more buffers bring is what they
 * bring when every instruction waits for its bytes alone. */
static int64_t without_reuse(struct pto_kernel *k, const struct pto_costs *costs,
                             const struct pto_setup *setup, struct pto_options *options)
{
    int64_t total = k->outcome.total;

    if (!has_flags(k))
        return cycles_with(k, costs, setup, options, true);
    pto_what_if_apply(LIMIT_SYNC, options);
    int64_t without = cycles_with(k, costs, setup, options, true);
    options->no_reuse_waits = false;
    int64_t ideal = cycles_with(k, costs, setup, options, true);
    return without < 0 || ideal < without ? total : total - (ideal - without);
}

void pto_judge(struct pto_kernel *k, const struct pto_costs *costs, const struct pto_setup *setup,
               bool all)
{
    struct limit_list *limits = &k->outcome.limits;

    for (enum limit what; (what = limits_next(limits, all)) != LIMIT_NOTHING;) {
        struct pto_options options = k->options;
        options.max_records = 1;
        pto_what_if_apply(what, &options);
        int64_t cycles = what == LIMIT_BUFFERS
                             ? without_reuse(k, costs, setup, &options)
                             : cycles_with(k, costs, setup, &options, pto_what_if_compiles(what));
        limits_try(limits, what, cycles < 0 ? limits->total : cycles);
    }
    pto_outcome_judge(&k->outcome);
}
