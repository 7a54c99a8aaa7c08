/*
 * Transfers between memories, and matrix products.
 *
 * A transfer is latency + issue + bytes over rate of its path. GM paths slow down when several
 * cores stream (the totals of L2 are shared), when L2 misses, and when rows are short.
 */
#include "pto/cost_data.h"

#include <math.h>

/* Bytes a cycle of a GM path with the other cores streaming too. The two vector cores of an AI core
 * load and store side by side, so each of them has half of its share. */
static double shared_rate(const struct pto_costs *c, const struct pto_work *w, double rate)
{
    bool is_read = w->src_space == PTO_GM;
    enum pto_space local = is_read ? w->dst_space : w->src_space;
    double total = c->value[is_read ? PTO_COST_GM_READ_TOTAL : PTO_COST_GM_WRITE_TOTAL];
    double streams = w->cores > 1 ? (double)w->cores * (local == PTO_VEC ? 2 : 1) : 1;
    double miss = fmin(fmax(w->l2_miss, 0), 1);

    if (w->cores > 1)
        rate = fmin(rate, total / streams);
    return rate * (1 - miss + miss / c->value[PTO_COST_GM_MISS]);
}

bool pto_move_cost(const struct pto_costs *c, const struct pto_work *w, struct pto_cost *out)
{
    struct pto_path path = c->path[w->arch][w->src_space][w->dst_space];

    if (path.rate <= 0)
        return false;
    if (w->is_transposed && w->src_space == PTO_GM && w->dst_space == PTO_MAT) {
        path.latency = fmax(path.latency, c->value[PTO_COST_GM_TURN_LATENCY]);
        path.rate = fmin(path.rate, c->value[PTO_COST_GM_TURN_RATE]);
    }
    if (w->src_space == PTO_GM || w->dst_space == PTO_GM)
        path.rate = shared_rate(c, w, path.rate);

    double moved = (double)w->bytes / path.rate;
    bool is_short = w->row_bytes > 0 && (double)w->row_bytes < c->value[PTO_COST_GM_ROW_BYTES];
    if (is_short && w->n_rows > 1)
        moved = fmax(moved, (double)w->n_rows * c->value[PTO_COST_GM_ROW_CYCLES]);
    *out = (struct pto_cost){path.issue + moved, path.latency};
    return true;
}

/* Fractals of 16 x 32 bytes x 16; f32 takes two passes. */
struct pto_cost pto_cube_cost(const struct pto_costs *c, const struct pto_work *w)
{
    uint32_t size = pto_dtype_size(w->src_dtype);
    double depth = size > 0 && size <= 32 ? 32.0 / size : 16;
    double passes = w->src_dtype == PTO_F32 ? c->value[PTO_COST_CUBE_F32] : 1;
    double fractals = ceil(w->m / 16.0) * ceil(w->k / depth) * ceil(w->n / 16.0);

    return (struct pto_cost){c->value[PTO_COST_CUBE_FIXED] + passes * fractals, 0};
}
