/*
 * testing_sim - one kernel from text to a finished run, for the tests of this folder.
 */
#ifndef STRATA_PTO_TESTING_SIM_H
#define STRATA_PTO_TESTING_SIM_H

#include <string.h>

#include "kernels/pto/sim/sim.h"
#include "kernels/pto/testing_pto.h"

struct testing_sim {
    struct arena arena;
    struct pto_module module;
    struct pto_costs *costs;
    struct pto_sim sim;
    struct diag diag;
    struct pto_options options;
    struct pto_binding bindings[8]; /* none given */
    uint32_t n_bindings;
    enum status status; /* of the last prepare or run */
};

static inline void testing_sim_open(struct testing_sim *t, struct str text)
{
    memset(t, 0, sizeof(*t));
    arena_init(&t->arena);
    diag_init(&t->diag);
    t->costs = pto_costs_new();
    t->n_bindings = ARRAY_LEN(t->bindings);
    pto_sim_init(&t->sim);
    enum status status = testing_read(&t->module, text);
    for (size_t i = 0; status != ST_OK && i < t->module.problems.n; i++)
        print_message("line %u: %s\n", t->module.problems.at[i].line,
                      t->module.problems.at[i].text);
    assert_int_equal(status, ST_OK);
    t->options = pto_options_default(t->module.arch);
}

static inline void testing_sim_close(struct testing_sim *t)
{
    pto_sim_free(&t->sim);
    pto_costs_free(t->costs);
    diag_fini(&t->diag);
    pto_module_fini(&t->module);
    arena_free(&t->arena);
}

/* Compiles and runs in one mode; `t->status` tells how it ended. Returns the cycles. */
static inline int64_t testing_sim_run(struct testing_sim *t, bool is_dep)
{
    t->options.is_dep = is_dep;
    t->status =
        pto_sim_prepare(&t->sim, &t->module, S(""), t->module.arch, is_dep, "k.pto", &t->diag);
    if (t->status == ST_OK)
        t->status = pto_sim_run(&t->sim, t->costs, &t->options, t->bindings, t->n_bindings, "k.pto",
                                &t->diag);
    return t->sim.total;
}

/* The text of the first problem with that code; NULL when there is none. */
static inline const char *testing_sim_told(const struct testing_sim *t, const char *code)
{
    for (size_t i = 0; i < t->diag.entries.n; i++) {
        if (strcmp(t->diag.entries.at[i].code, code) == 0)
            return t->diag.entries.at[i].first[0].text;
    }
    return NULL;
}

/* What the user would bind an argument to. */
static inline void testing_sim_give(struct testing_sim *t, uint32_t arg, int64_t number)
{
    t->bindings[arg] = (struct pto_binding){.is_given = true, .number = number};
}

static inline void testing_sim_give_buffer(struct testing_sim *t, uint32_t arg, void *data,
                                           size_t size)
{
    t->bindings[arg] = (struct pto_binding){.is_given = true, .data = data, .size = size};
}

/* The nth record of an instruction (no synchronisation) of a pipe; NULL when there are fewer. */
static inline const struct pto_record *
testing_sim_record(const struct testing_sim *t, uint32_t core, enum pto_pipe pipe, uint32_t nth)
{
    const struct pto_queues *q = &t->sim.cores[core].queues;

    for (size_t i = 0; i < q->records.n; i++) {
        if (q->records.at[i].pipe == pipe && !q->records.at[i].is_sync && nth-- == 0)
            return &q->records.at[i];
    }
    return NULL;
}

#endif
