/*
 * The runs behind a verdict.
 */
#include "kernels/pto/pto_judge.h"

#include "kernels/pto/judge/what_if.h"

/* Runs of one kernel with other options. */
struct judge {
    struct pto_kernel *k;
    const struct pto_costs *costs;
    const struct pto_setup *setup;
    struct pto_sim spare; /* of the kernel as it is, where its own sim keeps its run */
    bool has_spare;
    struct diag quiet;
};

static enum status judge_compile(struct judge *j, struct pto_sim *sim,
                                 const struct pto_options *options)
{
    sim->ignore_reuse = options->no_reuse_waits;
    sim->is_flagged = j->setup->is_flagged;
    return pto_sim_prepare(sim, &j->k->module, j->setup->func, j->k->arch, options->is_dep,
                           j->setup->path, &j->quiet);
}

static int64_t judge_cycles(struct judge *j, struct pto_sim *sim, const struct pto_options *options)
{
    enum status status = pto_kernel_again(j->k, sim, j->costs, options, &j->quiet);

    return status == ST_OK ? sim->total : -1;
}

/* The cycles of a run with other options; -1 when it cannot be made. */
static int64_t cycles_with(struct judge *j, const struct pto_options *options)
{
    if (!j->setup->is_kept)
        return judge_cycles(j, &j->k->sim, options);
    if (!j->has_spare && judge_compile(j, &j->spare, &j->k->options) != ST_OK)
        return -1;
    j->has_spare = true;
    return judge_cycles(j, &j->spare, options);
}

/* The same where the options need the kernel compiled anew. */
static int64_t cycles_compiled(struct judge *j, const struct pto_options *options)
{
    struct pto_sim sim;

    pto_sim_init(&sim);
    int64_t cycles = judge_compile(j, &sim, options) == ST_OK ? judge_cycles(j, &sim, options) : -1;
    pto_sim_free(&sim);
    return cycles;
}

static bool has_flags(const struct pto_kernel *k)
{
    return (k->sim.function[0] && k->sim.program[0].has_flags) ||
           (k->sim.function[1] && k->sim.program[1].has_flags);
}

/* Flags of the text do not tell which of them guard a reuse: what more buffers bring is what they
 * bring when every instruction waits for its bytes alone. */
static int64_t without_reuse(struct judge *j, struct pto_options *options)
{
    int64_t total = j->k->outcome.total;

    if (!has_flags(j->k))
        return cycles_compiled(j, options);
    pto_what_if_apply(LIMIT_SYNC, options);
    int64_t without = cycles_compiled(j, options);
    options->no_reuse_waits = false;
    int64_t ideal = cycles_compiled(j, options);
    return without < 0 || ideal < without ? total : total - (ideal - without);
}

void pto_judge(struct pto_kernel *k, const struct pto_costs *costs, const struct pto_setup *setup,
               bool all)
{
    struct limit_list *limits = &k->outcome.limits;
    struct judge j = {.k = k, .costs = costs, .setup = setup};

    diag_init(&j.quiet);
    pto_sim_init(&j.spare);
    for (enum limit what; (what = limits_next(limits, all)) != LIMIT_NOTHING;) {
        struct pto_options options = k->options;
        options.max_records = 1;
        options.counts_steps = false;
        pto_what_if_apply(what, &options);
        int64_t cycles = what == LIMIT_BUFFERS        ? without_reuse(&j, &options)
                         : pto_what_if_compiles(what) ? cycles_compiled(&j, &options)
                                                      : cycles_with(&j, &options);
        limits_try(limits, what, cycles < 0 ? limits->total : cycles);
    }
    pto_sim_free(&j.spare);
    diag_fini(&j.quiet);
    pto_outcome_judge(&k->outcome);
    k->outcome.is_judged = true;
}
