/*
 * Which law an instruction is timed by.
 */
#include "pto/cost.h"

#include <math.h>

#include "pto/cost_data.h"

static struct pto_cost at_least_nothing(double occupied, double latency)
{
    return (struct pto_cost){fmax(occupied, 0), fmax(latency, 0)};
}

static struct pto_cost issue(const struct pto_costs *c)
{
    return (struct pto_cost){c->value[PTO_COST_SYNC_ISSUE], 0};
}

/* A function of A5 runs to its end before the next one starts, but for what is said to overlap. */
static struct pto_cost a5_vector(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_law *law = &c->law[PTO_A5][w->op];
    struct pto_terms t = pto_a5_terms(c, w);
    double cycles = law->slope[pto_rate_of(w->src_dtype)] * t.units + t.busy + t.fixed + law->bias;
    double hidden = fmin(c->value[PTO_COST_A5_VF_OVERLAP], fmax(cycles, 0));

    return at_least_nothing(cycles - hidden, hidden);
}

static struct pto_cost vector(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_law *law = &c->law[w->arch][w->op];
    struct pto_fit fit;

    if (w->v_row <= 0 || w->v_col <= 0)
        return issue(c);
    if (w->arch == PTO_A5)
        return a5_vector(c, w);
    if (c->use_table && !law->is_replaced && pto_table_find(c, w, &fit))
        return at_least_nothing(fit.per_element * w->v_row * w->v_col, fit.fixed);
    struct pto_terms t = pto_vector_terms(c, w);
    return at_least_nothing(law->slope[pto_rate_of(w->src_dtype)] * t.units + t.busy,
                            t.fixed + law->bias);
}

/* A loop of the scalar unit over the elements. */
static struct pto_cost scalar_loop(const struct pto_costs *c, const struct pto_work *w)
{
    double elements = fmax((double)w->v_row * w->v_col, 0);

    return (struct pto_cost){
        fmax(c->value[PTO_COST_SCALAR_TCI] * elements, c->value[PTO_COST_SYNC_ISSUE]), 0};
}

static bool scalar_key(enum pto_opcode op, enum pto_cost_key *key)
{
    switch (op) {
    case PTO_DIVSI:
    case PTO_DIVUI:
    case PTO_REMSI:
    case PTO_REMUI:
    case PTO_CEILDIVSI:
    case PTO_CEILDIVUI:
    case PTO_FLOORDIVSI:
    case PTO_DIVF:
    case PTO_REMF:
        *key = PTO_COST_SCALAR_DIV;
        return true;
    case PTO_LOAD_SCALAR:
        *key = PTO_COST_SCALAR_LOAD;
        return true;
    case PTO_STORE_SCALAR:
        *key = PTO_COST_SCALAR_STORE;
        return true;
    case PTO_TGETVAL:
    case PTO_TSETVAL:
        *key = PTO_COST_SCALAR_TILE;
        return true;
    case PTO_COMM_TWAIT:
    case PTO_COMM_WAIT_ASYNC_EVENT:
        *key = PTO_COST_COMM_WAIT;
        return true;
    default:
        *key = PTO_COST_SCALAR_OP;
        return op >= PTO_FOR && op <= PTO_ARITH_BITCAST && op != PTO_CONSTANT;
    }
}

/* Views, allocations and casts cost nothing: the compiler folds them. */
static bool is_free(enum pto_opcode op)
{
    return op == PTO_OP_NONE || op == PTO_CONSTANT || op == PTO_TRESHAPE ||
           (op >= PTO_CONVERSION_CAST && op <= PTO_DECLARE_GLOBAL);
}

/* Element by element in the scalar unit when they are put on its pipe. */
static bool is_scalar_loop(const struct pto_work *w)
{
    return w->pipe == PTO_PIPE_S && (w->op == PTO_TCI || w->op == PTO_TSCATTER ||
                                     w->op == PTO_MGATHER || w->op == PTO_MSCATTER);
}

/* On A5 the data of a FIFO is where it is needed: the consumer only waits. */
static bool is_wait_only(const struct pto_work *w)
{
    return w->arch == PTO_A5 &&
           (w->op == PTO_TPOP || w->op == PTO_TPOP_FROM_AIC || w->op == PTO_TPOP_FROM_AIV);
}

static bool is_product(enum pto_opcode op)
{
    return op >= PTO_TMATMUL && op <= PTO_TGEMV_MX_BIAS;
}

static bool is_between_spaces(const struct pto_work *w)
{
    return w->src_space != PTO_ZERO && w->dst_space != PTO_ZERO &&
           (w->src_space != PTO_VEC || w->dst_space != PTO_VEC);
}

struct pto_cost pto_cost_of(const struct pto_costs *c, const struct pto_work *w)
{
    struct pto_cost cost;
    enum pto_cost_key key;

    if (is_free(w->op))
        return (struct pto_cost){0, 0};
    if (scalar_key(w->op, &key))
        return (struct pto_cost){c->value[key], 0};
    if (is_product(w->op))
        return pto_cube_cost(c, w);
    if (is_scalar_loop(w))
        return scalar_loop(c, w);
    if (is_wait_only(w))
        return issue(c);
    if (w->bytes > 0 && is_between_spaces(w) && pto_move_cost(c, w, &cost))
        return cost;
    if (c->law[w->arch][w->op].shape != PTO_SHAPE_NONE)
        return vector(c, w);
    return issue(c);
}

int64_t pto_cost_cycles(struct pto_cost cost)
{
    double sum = cost.occupied + cost.latency;

    return sum < 9e18 ? (int64_t)floor(sum + 0.5) : INT64_MAX;
}
