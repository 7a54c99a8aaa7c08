/*
 * The closed form of an A5 vector function: nested hardware loops over registers.
 *
 * A function of N iterations takes 44 + P + what the later iterations add: P is the way of one
 * element from load to store, and an iteration follows the one before when a load port, the store
 * port and one of the two execution units are free. A row of a nested loop starts at least 7 cycles
 * after the row before.
 */
#include "pto/cost_data.h"

#include <math.h>

/* Least distance of two iterations because of the memory ports: two for loads, one for stores. */
static double ports(const struct pto_vf_program *p)
{
    return fmax(p->stores, ceil(p->loads / 2));
}

/* When iteration `n` starts, counted from the first. The two units take turns. */
static double start_of(const struct pto_vf_program *p, double unit, double n)
{
    double before = n - 1;

    if (before <= 0)
        return 0;
    return fmax(floor(before / 2) * unit + fmod(before, 2), before * ports(p));
}

static double nested(const struct pto_costs *c, const struct pto_vf_program *p, double unit,
                     struct pto_loops loops)
{
    if (loops.outer <= 1)
        return start_of(p, unit, loops.inner);
    if (loops.inner <= 1)
        return start_of(p, unit, loops.outer);
    double enter = c->value[PTO_COST_A5_VF_ENTER];
    double row = fmax(c->value[PTO_COST_A5_VF_ROW], loops.inner * fmax(unit / 2, ports(p)) + enter);
    return start_of(p, unit, loops.inner) + (loops.outer - 1) * row + enter;
}

struct pto_terms pto_vf_terms(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_vf_program *p = &c->program[w->op];
    enum pto_shape shape = c->law[PTO_A5][w->op].shape;
    size_t size = pto_dtype_size(w->src_dtype) >= 4 ? 0 : 1;
    struct pto_loops loops = pto_a5_loops(w);
    double repeats = ceil(w->v_col / pto_repeat_elements(w->src_dtype));

    if (shape == PTO_SHAPE_AS_A2A3) {
        struct pto_terms terms = pto_vector_terms(c, w);
        terms.fixed += c->law[PTO_A2A3][w->op].bias;
        return terms;
    }
    if (shape == PTO_SHAPE_ROWS)
        loops = (struct pto_loops){false, repeats, w->v_row};
    else if (shape == PTO_SHAPE_COLUMNS)
        loops = (struct pto_loops){false, w->v_row, repeats};
    return (struct pto_terms){.units = nested(c, p, p->unit[size], loops),
                              .fixed = c->value[PTO_COST_A5_VF_FIXED] + p->chain[size]};
}
