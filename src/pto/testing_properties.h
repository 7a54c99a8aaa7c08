/*
 * testing_properties - what must hold for every kernel that random bytes make, told as the first
 * thing that does not: for the unit test with many seeds and for the fuzzer.
 */
#ifndef STRATA_PTO_TESTING_PROPERTIES_H
#define STRATA_PTO_TESTING_PROPERTIES_H

#include "pto/testing_random.h"

struct properties {
    struct random_kernel kernel;
    struct random_check check;
    struct pto_parser *parser;
    struct pto_costs *costs;
    struct pto_module module;
    struct pto_sim sim, again;
    char fault[200];
};

static inline struct properties *properties_new(void)
{
    struct properties *p = calloc(1, sizeof(*p));

    if (p == NULL)
        abort();
    p->parser = pto_parser_new();
    p->costs = pto_costs_new();
    pto_module_init(&p->module);
    pto_sim_init(&p->sim);
    pto_sim_init(&p->again);
    return p;
}

static inline void properties_free(struct properties *p)
{
    pto_sim_free(&p->sim);
    pto_sim_free(&p->again);
    pto_module_fini(&p->module);
    pto_parser_free(p->parser);
    pto_costs_free(p->costs);
    free(p);
}

/* Reads the kernel that was written and runs it; the total cycles, or -1. */
static inline int64_t properties_run(struct properties *p, struct pto_sim *sim, bool is_dep,
                                     int64_t n)
{
    struct pto_options options = pto_options_default(p->module.arch);
    struct pto_binding bindings[3] = {{0}, {0}, {.is_given = true, .number = n}};
    struct diag diag;
    int64_t total = -1;

    options.is_dep = is_dep;
    diag_init(&diag);
    if (pto_sim_prepare(sim, &p->module, S(""), p->module.arch, is_dep, "k", &diag) == ST_OK &&
        pto_sim_run(sim, p->costs, &options, bindings, 3, "k", &diag) == ST_OK)
        total = sim->total;
    else if (diag.entries.n > 0)
        snprintf(p->fault, sizeof(p->fault), "%s", diag.entries.at[0].first[0].text);
    diag_fini(&diag);
    return total;
}

static inline bool properties_read(struct properties *p)
{
    if (pto_parse(p->parser, (struct str){p->kernel.text, p->kernel.n}, &p->module) == ST_OK &&
        pto_verify(&p->module) == ST_OK)
        return true;
    if (p->module.problems.n > 0)
        snprintf(p->fault, sizeof(p->fault), "line %u: %s", p->module.problems.at[0].line,
                 p->module.problems.at[0].text);
    return false;
}

static inline bool properties_same(const struct pto_sim *a, const struct pto_sim *b)
{
    for (size_t i = 0; i < PTO_CORES; i++) {
        const struct pto_queues *x = &a->cores[i].queues, *y = &b->cores[i].queues;
        if (x->records.n != y->records.n)
            return false;
        for (size_t k = 0; k < x->records.n; k++) {
            const struct pto_record *r = &x->records.at[k], *s = &y->records.at[k];
            if (r->start != s->start || r->end != s->end || r->ready != s->ready ||
                r->site != s->site || r->cause != s->cause || r->before != s->before)
                return false;
        }
    }
    return a->total == b->total;
}

#define PROPERTY(p, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            if ((p)->fault[0] == '\0')                                                             \
                snprintf((p)->fault, sizeof((p)->fault), "%s", #condition);                        \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

/* The kernel as it is, in both ways of synchronising. */
static inline bool properties_of_one(struct properties *p, int64_t n, int64_t total[2])
{
    PROPERTY(p, properties_read(p));
    for (int dep = 0; dep < 2; dep++) {
        total[dep] = properties_run(p, &p->sim, dep == 1, n);
        PROPERTY(p, total[dep] >= 0);
        const struct pto_core *core = &p->sim.cores[p->kernel.is_cube ? PTO_AIC : PTO_AIV0];
        const char *fault = random_check_records(&p->check, &p->kernel, core, dep == 1);
        if (fault)
            snprintf(p->fault, sizeof(p->fault), "%s: %s", dep ? "dep" : "ptoas", fault);
        PROPERTY(p, fault == NULL);
        PROPERTY(p, properties_run(p, &p->again, dep == 1, n) == total[dep]);
        PROPERTY(p, properties_same(&p->sim, &p->again));
        if (dep == 0 && !p->kernel.has_flags)
            PROPERTY(p, random_is_balanced(&core->queues));
    }
    if (!p->kernel.has_flags) /* else both ways are the same */
        PROPERTY(p, total[1] <= total[0]);
    return true;
}

/* Nothing that waits more is faster. */
static inline bool properties_hold(struct properties *p, const uint8_t *bytes, size_t n_bytes)
{
    struct random_kernel *k = &p->kernel;
    uint32_t place = n_bytes > 0 ? bytes[n_bytes - 1] : 0;
    int64_t n = place & 1, plain[2], slower[2];

    p->fault[0] = '\0';
    k->barrier_at = k->pair_from = k->pair_to = UINT32_MAX;
    k->has_flags = false;
    random_kernel(k, bytes, n_bytes);
    PROPERTY(p, properties_of_one(p, n, plain));
    k->barrier_at = place % 16;
    k->barrier_pipe = place / 16 % 5;
    random_kernel(k, bytes, n_bytes);
    PROPERTY(p, properties_of_one(p, n, slower));
    PROPERTY(p, slower[0] >= plain[0]);
    PROPERTY(p, slower[1] >= plain[1]);

    k->barrier_at = UINT32_MAX;
    k->has_flags = true;
    random_kernel(k, bytes, n_bytes);
    PROPERTY(p, properties_of_one(p, n, plain));
    k->pair_from = place % 8;
    k->pair_to = k->pair_from + place / 8 % 8;
    random_kernel(k, bytes, n_bytes);
    PROPERTY(p, properties_of_one(p, n, slower));
    PROPERTY(p, slower[0] >= plain[0]);
    PROPERTY(p, slower[0] == slower[1]);
    return true;
}

#endif
