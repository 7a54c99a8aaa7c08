/*
 * testing_properties - what must hold for every kernel that random bytes make, told as the first
 * thing that does not: for the unit test with many seeds and for the fuzzer.
 */
#ifndef STRATA_PTO_TESTING_PROPERTIES_H
#define STRATA_PTO_TESTING_PROPERTIES_H

#include "kernels/pto/testing_random.h"

/* The checker replays the instructions in program order over a map of small cells that remember who
 * wrote and read them last. */

struct random_cell {
    const struct pto_record *writer;
    const struct random_touch *write; /* by which */
    uint32_t write_line;
    bool is_load;
    int64_t read_ready[PTO_PIPE_COUNT]; /* 0: nobody */
    bool has_reader[PTO_PIPE_COUNT];
};

struct random_check {
    struct random_cell cells[RANDOM_AREAS][RANDOM_CELLS * 2];
    uint32_t executed[RANDOM_LINES];
    int64_t pipe_end[PTO_PIPE_COUNT];
    const char *fault;
};

/* The record starts when `before` lets it. */
static inline void random_after(struct random_check *x, const struct pto_record *r, int64_t at,
                                const char *fault)
{
    if (r->start < at && !x->fault)
        x->fault = fault;
}

static inline bool random_is_stream(const struct random_cell *c, const struct random_touch *t,
                                    const struct random_kernel *k)
{
    return k->lines[c->write_line].repeat >= 16 && !t->is_scratch && !c->write->is_scratch &&
           c->write->first == t->first && c->write->width == t->width;
}

static inline void random_check_read(struct random_check *x, const struct random_kernel *k,
                                     const struct pto_record *r, const struct random_cell *c,
                                     const struct random_touch *t, bool is_dep)
{
    bool both_vector = c->writer && c->writer->pipe == PTO_PIPE_V && r->pipe == PTO_PIPE_V;

    if (c->writer && both_vector && (k->is_a5 || random_is_stream(c, t, k)))
        random_after(x, r, c->writer->end, "reads before the vector pipe wrote");
    else if (c->writer)
        random_after(x, r, c->writer->ready, "reads before it is written");
    for (int p = 0; !is_dep && t->area == PTO_ACC && p < PTO_PIPE_COUNT; p++) {
        if (c->has_reader[p] && p != r->pipe)
            random_after(x, r, c->read_ready[p], "reads acc beside another pipe");
    }
}

static inline void random_check_write(struct random_check *x, const struct random_kernel *k,
                                      const struct pto_record *r, const struct random_cell *c,
                                      const struct random_line *l, bool is_dep)
{
    bool same_vector = r->pipe == PTO_PIPE_V && k->is_a5;

    if (c->writer &&
        (c->writer->pipe != r->pipe ||
         (!is_dep && !same_vector && !(c->is_load && l->is_load) && r->pipe != PTO_PIPE_S)))
        random_after(x, r, c->writer->ready, "overwrites before it is written");
    for (int p = 0; p < PTO_PIPE_COUNT; p++) {
        if (c->has_reader[p] &&
            (p != r->pipe || (!is_dep && !same_vector && r->pipe != PTO_PIPE_S)))
            random_after(x, r, c->read_ready[p], "overwrites before it is read");
    }
}

static inline void random_visit(struct random_check *x, const struct random_kernel *k,
                                const struct pto_record *r, uint32_t line, bool is_dep, int pass)
{
    const struct random_line *l = &k->lines[line];
    uint32_t round = l->rounds > 0 ? x->executed[line] % l->rounds : 0;

    for (uint8_t i = 0; i < l->n; i++) {
        const struct random_touch *t = &l->touches[i];
        for (uint32_t row = 0; row < t->rows; row++) {
            for (uint32_t col = 0; col < t->width; col++) {
                struct random_cell *c =
                    &x->cells[t->area][t->first + round * t->per_round + row * t->stride + col];
                if (pass == 0 && t->is_write)
                    random_check_write(x, k, r, c, l, is_dep);
                else if (pass == 0)
                    random_check_read(x, k, r, c, t, is_dep);
                else if (pass == 1 && !t->is_write) {
                    if (r->ready > c->read_ready[r->pipe])
                        c->read_ready[r->pipe] = r->ready;
                    c->has_reader[r->pipe] = true;
                } else if (pass == 2 && t->is_write) {
                    c->writer = r;
                    c->write = t;
                    c->write_line = line;
                    c->is_load = l->is_load;
                }
            }
        }
    }
}

/* What is wrong with the records of a core that ran the kernel; NULL when nothing is. With flags
 * of its own only the order within each pipe is asked. */
static inline const char *random_check_records(struct random_check *x,
                                               const struct random_kernel *k,
                                               const struct pto_core *core, bool is_dep)
{
    memset(x, 0, sizeof(*x));
    for (size_t i = 0; i < core->queues.records.n; i++) {
        const struct pto_record *r = &core->queues.records.at[i];
        if (r->start < x->pipe_end[r->pipe])
            return "two at once on a pipe";
        x->pipe_end[r->pipe] = r->end;
        if (r->end < r->start || r->ready < r->end)
            return "time runs backwards";
        if (r->is_sync || k->has_flags)
            continue;
        uint32_t line = core->program->sites.at[r->site].line;
        for (int pass = 0; pass < 3; pass++)
            random_visit(x, k, r, line, is_dep, pass);
        x->executed[line]++;
    }
    return x->fault;
}

/* All flags that were set were waited for. */
static inline bool random_is_balanced(const struct pto_queues *q)
{
    for (int a = 0; a < PTO_PIPE_COUNT; a++) {
        for (int b = 0; b < PTO_PIPE_COUNT; b++) {
            for (uint32_t id = 0; q->flag[a][b] && id < PTO_FLAG_IDS; id++) {
                if (q->flag[a][b][id].set.n != q->flag[a][b][id].waited)
                    return false;
            }
        }
    }
    return true;
}

/* ---- what must hold ---- */

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
