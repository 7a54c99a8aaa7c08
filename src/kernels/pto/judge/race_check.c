/*
 * A kernel, run for each choice of the numbers that nobody supplied.
 */
#include "kernels/pto/judge/race_check.h"

#include <string.h>

/* Loops go round never, a few times, and as often as a long tensor asks for. */
static const int64_t guesses[] = {0, 3, 260};

/* Something that nobody supplied decided the way of the last run. */
static bool is_guessed(const struct pto_sim *s)
{
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        const struct pto_core *c = &s->cores[i];
        for (size_t k = 0; (s->present >> i & 1) != 0 && k < c->assumptions.n; k++) {
            if (c->assumptions.at[k].kind == PTO_ASSUMED_BRANCH ||
                c->assumptions.at[k].kind == PTO_ASSUMED_BOUND)
                return true;
        }
    }
    return false;
}

/* Deadlocks of a run; a value that the kernel does not take may cause other errors. */
static enum status keep_deadlocks(const struct diag *own, struct diag *d)
{
    enum status status = ST_OK;

    for (size_t i = 0; i < own->entries.n; i++) {
        const struct diag_entry *e = &own->entries.at[i];
        for (size_t k = 0;
             strcmp(e->code, "pto-run.deadlock") == 0 && k < e->count && k < ARRAY_LEN(e->first);
             k++)
            status = diag_fail(d, ST_FORMAT, "pto-run.deadlock", e->first[k].where, "%s",
                               e->first[k].text);
    }
    return status;
}

enum status pto_race_check(struct pto_races *r, struct pto_sim *s, const struct pto_costs *costs,
                           struct pto_options options, struct pto_binding *bindings, uint32_t n,
                           const char *path, struct diag *d)
{
    enum status status = ST_OK;

    options.races = r;
    options.has_memory = false;
    options.max_records = 0;
    for (size_t i = 0; i < ARRAY_LEN(guesses) && status == ST_OK; i++) {
        struct diag own;
        diag_init(&own);
        options.unknown = guesses[i];
        (void)pto_sim_run(s, costs, &options, bindings, n, path, &own);
        status = keep_deadlocks(&own, d);
        diag_fini(&own);
        if (!is_guessed(s)) {
            pto_race_blocks(r, s, costs, options, bindings, n, path);
            break;
        }
    }
    return status;
}
