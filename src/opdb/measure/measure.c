/*
 * One row on a back end: operands, warm-up, repeats, check. See measure.h.
 */
#include "opdb/measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tables/ranked.h"

ENUM_NAMES(measure_state_name, enum measure_state, "ok", "rejected", "no memory", "wrong result",
           "failed", "hung", "killed", "not run", "not here")
ENUM_NAMES(measure_bound_name, enum measure_bound, "unknown", "memory", "matrix")

struct measure_stats measure_stats(double *us, size_t n)
{
    struct measure_stats s = {.n = (uint32_t)n};
    double sum = 0, squares = 0;

    if (n == 0)
        return s;
    ranked_sort(us, n);
    for (size_t i = 0; i < n; i++)
        sum += us[i];
    s.shortest = us[0];
    s.median = ranked_middle(us, n);
    s.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (us[i] - s.mean) * (us[i] - s.mean);
    s.deviation = sqrt(squares / (double)n);
    /* Five times the median distance from the median; of a set that hardly differs, a tenth. */
    double *away = malloc(n * sizeof(*away));
    for (size_t i = 0; away != NULL && i < n; i++)
        away[i] = fabs(us[i] - s.median);
    if (away != NULL) {
        ranked_sort(away, n);
        double limit = fmax(5 * 1.4826 * ranked_middle(away, n), s.median / 10);
        for (size_t i = 0; i < n; i++)
            s.outliers += fabs(us[i] - s.median) > limit;
    }
    free(away);
    return s;
}

static struct measure_result ended(enum measure_state state, const char *text)
{
    struct measure_result r = {.state = state, .worst = NAN};

    snprintf(r.text, sizeof(r.text), "%s", text != NULL ? text : "");
    return r;
}

/* How many units a check may compute. */
static int64_t sample_size(const struct op_call *c, const struct measure_options *o)
{
    enum { MOST = 64 };
    int64_t work = o->check_work > 0 ? o->check_work : INT64_C(100000000);
    int64_t each =
        (c->cost.cube + c->cost.vector + c->cost.read) / (c->units > 0 ? c->units : 1) + 1;
    int64_t n = work / each;

    return n < 2 ? 2 : n > MOST ? MOST : n;
}

/* Compares what the back end computed with the reference. */
static const char *measure_check(void *state, const struct measure_options *o,
                                 const struct op_call *call, struct measure_result *r)
{
    struct op_call got = *call;
    int64_t bytes = 0, at = 0;
    const char *problem = "no memory for the check";

    for (size_t i = 0; i < call->n_out; i++)
        bytes += tensor_bytes(&call->out[i].t) + 16;
    char *memory = calloc(1, (size_t)bytes + 16);
    if (memory != NULL) {
        for (size_t i = 0; i < call->n_out; i++) {
            got.out[i].t.data = memory + at;
            at += (tensor_bytes(&call->out[i].t) + 15) / 16 * 16;
        }
        problem = o->backend->fetch(state, &got);
    }
    if (problem == NULL) {
        struct op_check c = op_check(call, &got, sample_size(call, o));
        r->worst = c.worst;
        if (!c.is_equal) {
            r->state = MEASURE_WRONG;
            snprintf(r->text, sizeof(r->text), "unit %lld: %.9g instead of %.9g", (long long)c.unit,
                     c.got, c.expected);
        }
    }
    free(memory);
    return problem; /* cppcheck-suppress returnDanglingLifetime ; a text of the back end */
}

static struct measure_result run_loaded(void *state, const struct measure_options *o,
                                        const struct op_call *call)
{
    const struct backend_entry *b = o->backend;
    struct measure_result r = ended(MEASURE_DONE, "");
    double *us = calloc(o->repeats + 1, sizeof(*us));
    const char *problem = us == NULL ? "no memory" : b->load(state, call);

    if (problem == NULL) {
        problem = b->time(state, 1, us); /* warm-up: its time does not count */
        if (problem == NULL)
            problem = b->time(state, o->repeats, us);
        r.stats = measure_stats(us, problem == NULL ? o->repeats : 0);
        if (problem == NULL && !o->is_unchecked)
            problem = measure_check(state, o, call, &r);
        b->unload(state);
    }
    free(us);
    if (problem == NULL)
        return r;
    bool is_refused = b->was_refusal != NULL && b->was_refusal(state);
    return ended(is_refused ? MEASURE_REFUSED : MEASURE_FAILED, problem);
}

struct measure_result measure_row(void *state, const struct measure_options *o,
                                  const struct op_rule *op, const struct op_row *row,
                                  struct pool *pool)
{
    struct measure_result r;
    struct op_call call;
    struct arena arena;

    arena_init(&arena);
    const char *problem = op_prepare(&call, op, row, &arena);
    if (problem != NULL) {
        r = ended(call.is_not_here ? MEASURE_NOT_HERE : MEASURE_REFUSED, problem);
    } else if (op_bytes(&call) > o->memory && o->memory > 0) {
        r = ended(MEASURE_NO_MEMORY, "");
        snprintf(r.text, sizeof(r.text), "needs %.1f GB, there are %.1f",
                 (double)op_bytes(&call) / 1e9, (double)o->memory / 1e9);
    } else if (!op_make(&call, o->seed, pool)) {
        r = ended(MEASURE_NO_MEMORY, "the system gave no memory for the operands");
    } else {
        r = run_loaded(state, o, &call);
        op_call_free(&call);
    }
    if (problem == NULL)
        r.cost = call.cost;
    r.is_logical = problem == NULL && call.is_logical;
    arena_free(&arena);
    return r;
}

struct measure_roof measure_roof(const struct op_cost *cost, double us, double gbps,
                                 double matrix_tflops)
{
    struct measure_roof roof = {NAN, NAN, BOUND_UNKNOWN, false};

    if (!(gbps > 0))
        return roof;
    double memory = (double)(cost->read + cost->written) / gbps / 1e3;
    double matrix = matrix_tflops > 0 ? (double)cost->cube / matrix_tflops / 1e6 : 0;
    roof.us = fmax(memory, matrix);
    roof.bound = matrix > memory ? BOUND_MATRIX : BOUND_MEMORY;
    if (us > 0)
        roof.share = roof.us / us;
    roof.is_slow = us > 10 * roof.us && roof.us > 0;
    return roof;
}

const struct backend_entry *backend_find(struct str name)
{
    static const struct backend_entry *const all[] = {&backend_cpu, &backend_cuda, &backend_ascend};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (str_equal(name, str_of(all[i]->name)))
            return all[i];
    return NULL;
}
