/*
 * Which law an instruction is timed by.
 */
#include "kernels/pto/cost/cost.h"

#include <math.h>

#include "base/formats/csv.h"
#include "base/text/num.h"
#include "kernels/pto/cost/cost_data.h"
#include "kernels/pto/values/arith.h"

/* ---- the fitted A2/A3 table: cycles by operation, type and columns ---- */

/* "any" is 0 in both places. */
static uint64_t cost_key_of(enum pto_opcode op, enum pto_dtype t, uint64_t cols)
{
    return cols << 32 | (uint64_t)op << 8 | (uint64_t)t;
}

bool pto_table_load(struct pto_costs *c, struct str text)
{
    struct csv csv;
    struct pto_fit fit;

    csv_open(&csv, text);
    const int column[] = {csv_column(&csv, S("op")), csv_column(&csv, S("dtype")),
                          csv_column(&csv, S("cols")), csv_column(&csv, S("cycles_per_element")),
                          csv_column(&csv, S("fixed_cycles"))};
    while (csv_next(&csv)) {
        enum pto_dtype t = PTO_NO_DTYPE;
        uint64_t cols = 0;
        enum pto_opcode op = pto_cost_op(csv_cell(&csv, column[0]));
        struct str type = csv_cell(&csv, column[1]), width = csv_cell(&csv, column[2]);
        if (op == PTO_OP_NONE || (!str_equal(type, S("any")) && !pto_dtype_find(type, &t)) ||
            (!str_equal(width, S("any")) && !num_u64(width, &cols)) || cols > INT32_MAX ||
            !num_f64(csv_cell(&csv, column[3]), &fit.per_element) ||
            !num_f64(csv_cell(&csv, column[4]), &fit.fixed))
            return false;
        hash_put(&c->fit_index, cost_key_of(op, t, cols), (uint32_t)c->fits.n);
        vec_push(&c->fits, fit);
    }
    return true;
}

bool pto_table_find(const struct pto_costs *c, const struct pto_work *w, struct pto_fit *out)
{
    const struct {
        enum pto_dtype dtype;
        int32_t cols;
    } tries[] = {{w->src_dtype, w->v_col}, {w->src_dtype, 0}, {0, w->v_col}, {0, 0}};
    uint32_t at;

    if (w->arch != PTO_A2A3 || (w->v_col < w->cols && w->v_row > 1) || w->form != PTO_FORM_PLAIN ||
        (w->src_dtype != PTO_F32 && w->src_dtype != PTO_F16))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        if (hash_get(&c->fit_index, cost_key_of(w->op, tries[i].dtype, (uint64_t)tries[i].cols),
                     &at)) {
            *out = c->fits.at[at];
            return true;
        }
    }
    return false;
}

/* ---- transfers: latency + issue + bytes over rate of the path; and matrix products ---- */

/* The two vector cores of an AI core load and store side by side. */
static double streams(const struct pto_work *w)
{
    bool is_vector = w->src_space == PTO_VEC || w->dst_space == PTO_VEC;

    return (double)w->cores * (is_vector ? 2 : 1);
}

/* Bytes a cycle of a GM path with the other cores streaming too. */
static double shared_rate(const struct pto_costs *c, const struct pto_work *w, double rate)
{
    bool is_read = w->src_space == PTO_GM, is_vector = is_read && w->dst_space == PTO_VEC;
    static const enum pto_cost_key totals[PTO_ARCH_COUNT][3] = {
        [PTO_A2A3] = {PTO_COST_GM_WRITE_TOTAL, PTO_COST_GM_READ_TOTAL, PTO_COST_GM_READ_VECTOR},
        [PTO_A5] = {PTO_COST_A5_GM_WRITE_TOTAL, PTO_COST_A5_GM_READ_TOTAL,
                    PTO_COST_A5_GM_READ_TOTAL},
    };

    return w->cores > 1 ? fmin(rate, c->value[totals[w->arch][is_read + is_vector]] / streams(w))
                        : rate;
}

/* Cycles of the bytes; short rows take their time each. */
static double row_cycles(const struct pto_costs *c, const struct pto_work *w, double rate)
{
    double moved = (double)w->bytes / rate;
    bool is_short = w->row_bytes > 0 && (double)w->row_bytes <= c->value[PTO_COST_GM_ROW_BYTES];

    return is_short && w->n_rows > 1
               ? fmax(moved, (double)w->n_rows * c->value[PTO_COST_GM_ROW_CYCLES])
               : moved;
}

/* `part`: n cores that share panels of a product stand in a square of sqrt(n) x sqrt(n); sqrt(n)
 * of them need the same panel and one brings it in. */
struct pto_miss pto_miss_of(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_path *path = &c->path[w->arch][w->src_space][w->dst_space];
    double total = c->value[w->arch == PTO_A5 ? PTO_COST_A5_HBM : PTO_COST_A2A3_HBM];
    double rate =
        c->value[PTO_COST_GM_MISS] > 0 ? path->rate / c->value[PTO_COST_GM_MISS] : path->miss_rate;
    double least = c->value[PTO_COST_HBM_ROW], row = (double)w->row_bytes;
    struct pto_miss miss = {.part = w->is_panel && w->cores > 1 ? 1 / sqrt(w->cores) : 1};

    if (row <= 0)
        row = (double)w->bytes;
    if (rate > 0 && w->src_space == PTO_GM)
        miss.occupied = miss.part * fmax(1 / rate - 1 / shared_rate(c, w, path->rate), 0);
    miss.covered = row_cycles(c, w, shared_rate(c, w, path->rate)) -
                   (double)w->bytes / shared_rate(c, w, path->rate);
    miss.latency = fmax(path->miss_latency - path->latency, 0);
    if (w->cores > 1) {
        miss.service = miss.part * streams(w) / total * fmax(1, row > 0 ? least / row : 1);
        miss.written = streams(w) / total * c->value[PTO_COST_HBM_WRITE];
    }
    return miss;
}

/* False when no path joins the two spaces. */
static bool move_cost(const struct pto_costs *c, const struct pto_work *w, struct pto_cost *out)
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

    *out = (struct pto_cost){path.issue + row_cycles(c, w, path.rate), path.latency};
    return true;
}

/* Fractals of 16 x 32 bytes x 16. */
static struct pto_cost cube_cost(const struct pto_costs *c, const struct pto_work *w)
{
    enum pto_dtype t = w->src_dtype;
    uint32_t size = pto_dtype_size(t);
    double depth = size > 0 && size <= 32 ? 32.0 / size : 16, passes = 1;
    double fractals = ceil(w->m / 16.0) * ceil(w->k / depth) * ceil(w->n / 16.0);

    /* How often the cube goes over an operand of this type. Shapes of fp4 count pairs. */
    if (t == PTO_F32)
        passes = c->value[PTO_COST_CUBE_F32];
    else if (t == PTO_F4E2M1X2 || t == PTO_F4E1M2X2)
        passes = c->value[PTO_COST_CUBE_FP4];
    return (struct pto_cost){c->value[PTO_COST_CUBE_FIXED] + passes * fractals, 0};
}

/* ---- which law ---- */

static struct pto_cost at_least_nothing(double occupied, double latency)
{
    return (struct pto_cost){fmax(occupied, 0), fmax(latency, 0)};
}

static struct pto_cost issue(const struct pto_costs *c)
{
    return (struct pto_cost){c->value[PTO_COST_SYNC_ISSUE], 0};
}

static struct pto_cost vector(const struct pto_costs *c, const struct pto_work *w)
{
    const struct pto_law *law = &c->law[w->arch][w->op];
    struct pto_fit fit;

    if (w->v_row <= 0 || w->v_col <= 0)
        return issue(c);
    double slope = law->slope[pto_rate_of(w->src_dtype)];
    struct pto_terms t = w->arch == PTO_A5 ? pto_a5_terms(c, w) : pto_vector_terms(c, w);
    /* A function of A5 runs to its end before the next one starts, but for what overlaps. */
    if (w->arch == PTO_A5) {
        double whole = slope * t.units + t.busy + t.fixed + law->bias;
        double hidden = fmin(c->value[PTO_COST_A5_VF_OVERLAP], fmax(whole, 0));
        return at_least_nothing(whole - hidden, hidden);
    }
    double saved = w->is_apart && law->shape == PTO_SHAPE_BINARY && slope >= 2
                       ? c->value[PTO_COST_A2A3_BANK] * t.units
                       : 0;
    if (c->use_table && !law->is_replaced && pto_table_find(c, w, &fit))
        return at_least_nothing(fit.per_element * w->v_row * w->v_col - saved, fit.fixed);
    return at_least_nothing(slope * t.units + t.busy - saved, t.fixed + law->bias);
}

static bool scalar_key(enum pto_opcode op, enum pto_cost_key *key)
{
    static const struct {
        enum pto_opcode op;
        enum pto_cost_key key;
    } own[] = {
        {PTO_LOAD_SCALAR, PTO_COST_SCALAR_LOAD}, {PTO_STORE_SCALAR, PTO_COST_SCALAR_STORE},
        {PTO_TGETVAL, PTO_COST_SCALAR_TILE},     {PTO_TSETVAL, PTO_COST_SCALAR_TILE},
        {PTO_COMM_TWAIT, PTO_COST_COMM_WAIT},    {PTO_COMM_WAIT_ASYNC_EVENT, PTO_COST_COMM_WAIT},
    };

    *key = pto_arith_is_division(op) ? PTO_COST_SCALAR_DIV : PTO_COST_SCALAR_OP;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (own[i].op == op) {
            *key = own[i].key;
            return true;
        }
    return op >= PTO_FOR && op <= PTO_ARITH_BITCAST && op != PTO_CONSTANT;
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

    /* Views, allocations and casts cost nothing: the compiler folds them. */
    if (w->op == PTO_OP_NONE || w->op == PTO_CONSTANT || w->op == PTO_TRESHAPE ||
        (w->op >= PTO_CONVERSION_CAST && w->op <= PTO_DECLARE_GLOBAL))
        return (struct pto_cost){0, 0};
    if (scalar_key(w->op, &key))
        return (struct pto_cost){c->value[key], 0};
    if (pto_class_of(w->op) == PTO_CLASS_PRODUCT)
        return cube_cost(c, w);
    /* A loop of the scalar unit over the elements when they are put on its pipe. */
    if (w->pipe == PTO_PIPE_S && (w->op == PTO_TCI || w->op == PTO_TSCATTER ||
                                  w->op == PTO_MGATHER || w->op == PTO_MSCATTER)) {
        double elements = fmax((double)w->v_row * w->v_col, 0);
        return (struct pto_cost){
            fmax(c->value[PTO_COST_SCALAR_TCI] * elements, c->value[PTO_COST_SYNC_ISSUE]), 0};
    }
    /* On A5 the data of a FIFO is where it is needed: the consumer only waits. */
    if (w->arch == PTO_A5 &&
        (w->op == PTO_TPOP || w->op == PTO_TPOP_FROM_AIC || w->op == PTO_TPOP_FROM_AIV))
        return issue(c);
    if (w->bytes > 0 && is_between_spaces(w) && move_cost(c, w, &cost))
        return cost;
    if (c->law[w->arch][w->op].shape != PTO_SHAPE_NONE)
        return vector(c, w);
    return issue(c);
}
